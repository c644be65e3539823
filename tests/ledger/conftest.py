"""Fixtures of the ledger's tests: a clock that stands still, all stores, and one fingerprint."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from ledger.postgres_server import PostgresServer
from ledger.sqlite_shop import make_shop

from commitgate.ledger import Fingerprint, Ledger, MemoryLedger, PostgresLedger, SqliteLedger


class StoppedClock:
    """Give the time that a test sets, and tell whoever wants to know of it."""

    def __init__(self) -> None:
        self._now = 1_000.0
        self.told: list[Callable[[float], None]] = []

    def __call__(self) -> float:
        return self._now

    @property
    def now(self) -> float:
        return self._now

    @now.setter
    def now(self, now: float) -> None:
        self._now = now
        for tell in self.told:
            tell(now)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def fingerprint() -> Fingerprint:
    return Fingerprint("language", "shop.refund", "1", "input")


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    make_shop(path)
    return path


@pytest.fixture
async def shop_ledger(shop: Path, clock: StoppedClock) -> AsyncIterator[SqliteLedger]:
    made = SqliteLedger(shop, shares_database=True, clock=clock)
    yield made
    await made.aclose()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def ledger(request: pytest.FixtureRequest, clock: StoppedClock, sqlite_path: Path) -> AsyncIterator[Ledger]:
    made: Ledger
    if request.param == "memory":
        made = MemoryLedger(clock=clock)
    elif request.param == "sqlite":
        made = SqliteLedger(sqlite_path, clock=clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url, set_clock = server.new_url_with_clock(clock.now)
        clock.told.append(set_clock)
        made = PostgresLedger(url)
    yield made
    await made.aclose()
