"""The short version of the long measurements: streams cut at every byte, and inside lexemes."""

import pytest
from proofs.client_cuts import CLIENT_CUTS
from proofs.cuts import CUTS
from proofs.inner_cuts import INNER_CUTS
from proofs.part import Part

PARTS: tuple[Part, ...] = (CUTS, INNER_CUTS, CLIENT_CUTS)
UNITS = [(part, unit) for part in PARTS for unit in part.units(short=True)]


@pytest.mark.parametrize(("part", "unit"), UNITS, ids=[f"{part.name} {unit}" for part, unit in UNITS])
def test_streams_that_are_cut_anywhere_keep_every_promise(part: Part, unit: str) -> None:
    result = part.run(unit)
    assert result.faults == []
    assert [row for row in part.summarise({unit: result}) if not row.held] == []
