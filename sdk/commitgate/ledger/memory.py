"""Keep the ledger in memory: for tests, and for calls whose promise may end with the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from threading import Lock

from anyio.lowlevel import checkpoint

from commitgate.ledger.base import MOST_PRUNED, SCANNED_AT_ONCE, StepLedger, check_limit, check_prune
from commitgate.ledger.record import Record, Scanned, State
from commitgate.ledger.states import advance, is_prunable
from commitgate.ledger.steps import Step
from commitgate.retry.keys import OperationKey


class MemoryLedger(StepLedger):
    """Hold rows in a dict. It forgets everything when the process ends, so it protects no effect across a crash.

    Args:
        clock: gives Unix time in seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._rows: dict[OperationKey, Record] = {}
        self._fence_floor = 0
        self._lock = Lock()

    async def now(self) -> float:
        """Return the clock's time."""
        await checkpoint()
        return self._clock()

    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row, None where it was never claimed."""
        await checkpoint()
        return self._rows.get(key)

    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """Return rows in the order of their last change; see ``Ledger.list``."""
        check_limit(limit)
        await checkpoint()
        with self._lock:
            rows = [row for row in self._rows.values() if states is None or row.state in states]
        rows.sort(key=lambda row: row.key)
        rows.sort(key=lambda row: row.updated_at, reverse=not is_oldest_first)
        return tuple(rows[:limit])

    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Return rows in the order of their keys; see ``Ledger.scan``."""
        check_limit(limit)
        await checkpoint()
        with self._lock:
            found = sorted((key.encode(), row) for key, row in self._rows.items() if key.encode() > after)
        return tuple(Scanned(key, row) for key, row in found[:limit])

    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Delete rows on which nothing can hang any more; see ``Ledger.prune``."""
        check_prune(older_than_s, limit)
        await checkpoint()
        with self._lock:
            before = self._clock() - older_than_s
            doomed = [row for row in self._rows.values() if is_prunable(row, before=before)][:limit]
            for row in doomed:
                del self._rows[row.key]
                self._fence_floor = max(self._fence_floor, row.fence)
        return len(doomed)

    async def aclose(self) -> None:
        """Do nothing: the rows stay readable."""
        await checkpoint()

    async def _take(self, key: OperationKey, step: Step) -> tuple[Record, float]:
        # Cancellation is delivered here, before the step, and never between its parts.
        await checkpoint()
        with self._lock:
            now = self._clock()
            row = advance(key, self._rows.get(key), step, now=now, fence_floor=self._fence_floor)
            self._rows[key] = row
            return row, now


__all__ = ["MemoryLedger"]
