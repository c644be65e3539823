"""The short version of the long measurements of the commit: kills, races, lost answers, clocks, cancellations, ends."""

import pytest
from proofs.part import Part
from proofs.prove import COMMIT_PARTS

UNITS = [(part, unit) for part in COMMIT_PARTS for unit in part.units(short=True)]


@pytest.mark.parametrize(("part", "unit"), UNITS, ids=[f"{part.name} {unit}" for part, unit in UNITS])
def test_commits_keep_every_promise(part: Part, unit: str) -> None:
    result = part.run(unit)
    assert list(result.faults) == []
    assert [row for row in part.summarise({unit: result}) if not row.held] == []
