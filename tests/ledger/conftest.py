"""Fixtures of the ledger's tests: a clock that stands still, both stores, and one fingerprint."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commitgate.ledger import Fingerprint, Ledger, MemoryLedger, SqliteLedger


class StoppedClock:
    """Give the time that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def fingerprint() -> Fingerprint:
    return Fingerprint("language", "shop.refund", "1", "input")


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture(params=["memory", "sqlite"])
async def ledger(request: pytest.FixtureRequest, clock: StoppedClock, sqlite_path: Path) -> AsyncIterator[Ledger]:
    made: Ledger = MemoryLedger(clock=clock) if request.param == "memory" else SqliteLedger(sqlite_path, clock=clock)
    yield made
    await made.aclose()
