"""The short version of the long measurements of the commit: kills, races, lost answers, clocks, cancellations, ends."""

from pathlib import Path

import pytest
from proofs.part import Part
from proofs.prove import COMMIT_PARTS
from proofs.state import State

UNITS = [(part, unit) for part in COMMIT_PARTS for unit in part.units(short=True)]


@pytest.mark.parametrize(("part", "unit"), UNITS, ids=[f"{part.name} {unit}" for part, unit in UNITS])
def test_commits_keep_every_promise(part: Part, unit: str, tmp_path: Path) -> None:
    result = part.run(unit)
    State(part, [unit], folder=tmp_path).add(unit, result)
    assert State(part, [unit], folder=tmp_path).done[unit].counts == result.counts
    assert list(result.faults) == []
    assert [row for row in part.summarise({unit: result}) if not row.held] == []
