"""The short version of the long measurement: calls at once over sockets, half of them cancelled."""

import pytest
from proofs.concurrency import CONCURRENCY


@pytest.mark.parametrize("unit", CONCURRENCY.units(short=True))
def test_calls_at_once_leave_nothing_behind(unit: str) -> None:
    result = CONCURRENCY.run(unit)
    assert result.faults == []
    # How soon a socket is free depends on the machine: the long run tells it.
    assert [row for row in CONCURRENCY.summarise({unit: result})[:2] if not row.held] == []
