"""Make stores whose clock stands where a proof sets it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ledger.postgres_server import find_binaries, running_server
from proofs.commit_scene import Store, postgres_store, sqlite_store

from commitgate.ledger import Ledger, MemoryLedger

START_S = 1_000_000.0


@dataclass
class Clock:
    """Give the time that is set, and tell it to a store that keeps its own."""

    now: float = START_S
    tell: Callable[[float], None] = field(default=lambda now: None)

    def __call__(self) -> float:
        return self.now

    def set(self, now: float) -> None:
        """Set it."""
        self.now = now
        self.tell(now)


@dataclass(frozen=True)
class ClockedStore:
    """Hold a store with its clock and one ledger. In memory there is no database, and one ledger for all."""

    store: Store
    clock: Clock
    ledger: Ledger

    def another(self) -> Ledger:
        """Return another ledger on the same store, as another process has it."""
        if isinstance(self.ledger, MemoryLedger):
            return self.ledger
        return self.store.ledger() if self.store.is_postgres else self.store.ledger(clock=self.clock)


@contextmanager
def clocked_store(kind: str, folder: Path) -> Generator[ClockedStore]:
    """Make a store of the kind ``memory``, ``sqlite`` or ``postgres`` while the block runs."""
    clock = Clock()
    if kind == "memory":
        yield ClockedStore(Store(""), clock, MemoryLedger(clock=clock))
    elif kind == "sqlite":
        store = sqlite_store(folder)
        yield ClockedStore(store, clock, store.ledger(clock=clock))
    else:
        binaries = find_binaries()
        assert binaries is not None, "units of Postgres are listed only where there is one"
        with running_server(binaries) as server:
            url, clock.tell = server.new_url_with_clock(clock.now)
            store = postgres_store(url)
            yield ClockedStore(store, clock, store.ledger())
