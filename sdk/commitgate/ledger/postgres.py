"""Keep the ledger in a Postgres database: for any number of processes on any number of hosts.

Each method is one whole transaction inside one worker-thread call, so cancelling the caller leaves neither a
half-written row nor a lock. Leases run by the database's clock, whatever the clocks of the hosts say.

An answer can be lost where the transaction was not: an error says that nobody knows, and reading the key back settles
it. ``read`` therefore waits for whoever is still writing the row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import LiteralString, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from commitgate.argument import check_finite, check_int, check_text
from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger.base import MOST_PRUNED, SCANNED_AT_ONCE, StepLedger, check_limit, check_prune
from commitgate.ledger.postgres_connections import Bounds, Connections, Loan
from commitgate.ledger.postgres_errors import mapped
from commitgate.ledger.postgres_rows import (
    delete_old,
    insert,
    load,
    load_after,
    load_latest,
    lock_fence_floor,
    time_of,
    update,
)
from commitgate.ledger.postgres_transaction import PostgresTransaction
from commitgate.ledger.record import Record, Scanned, State
from commitgate.ledger.states import advance, in_progress, row_to_run
from commitgate.ledger.steps import Claim, Commit, Extend, Step
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry.keys import OperationKey

ResultT = TypeVar("ResultT")

_MOST_RACES = 10
"""Most times that a claim begins anew because another call made the row first; the second time finds that row."""

_MOST_SECONDS = 86_400
"""Longest time limit, in seconds."""


class PostgresLedger(StepLedger):
    """Hold rows in the tables ``commitgate_operation`` and ``commitgate_schema``, made at the first use.

    They lie in the first schema of the user's ``search_path``. Nothing is opened before the first use. Safe to share
    between threads, tasks and event loops. It needs the extra ``postgres`` and PostgreSQL 14 or later. The server must
    not run with ``fsync`` off: it would lose what it said was written.

    Args:
        conninfo: connection string of libpq: ``postgresql://user@host/database``, or ``host=... dbname=...``. It may
            hold a password, and is never shown.
        connections: most connections at once, >= 2; one is kept back for steps that are short.
        connect_timeout_s: how long opening a connection may take, > 0, unless ``conninfo`` says; counted in whole
            seconds, no fewer than 2.
        lock_timeout_s: how long to wait for another transaction on the same key, and for a free connection, > 0.
        statement_timeout_s: how long one statement may take, and the program between two of them, > 0. COMMIT is not
            bounded by it: a server that waits for its standby is waited for.

    Raises:
        MisuseError: an argument is out of range, or ``conninfo`` no connection string.
        MissingExtraError: psycopg is not installed.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        connections: int = 4,
        connect_timeout_s: float = 10.0,
        lock_timeout_s: float = 5.0,
        statement_timeout_s: float = 30.0,
    ) -> None:
        check_text("conninfo", conninfo)
        check_int("connections", connections)
        if connections < 2:
            raise MisuseError(f"connections must be >= 2, found {connections}")
        bounds = Bounds(
            connect_s=_positive("connect_timeout_s", connect_timeout_s),
            lock_s=_positive("lock_timeout_s", lock_timeout_s),
            statement_s=_positive("statement_timeout_s", statement_timeout_s),
        )
        self._connections = Connections(conninfo, most=connections, bounds=bounds)
        # Threads of their own for each event loop: waiting calls queue as tasks, and effects that block can starve
        # neither the steps nor, in the common pool, anything else.
        self._step_turns = _Turns(f"{connections} steps of ledger {id(self)}", connections)
        self._effect_turns = _Turns(f"{connections} effects of ledger {id(self)}", connections - 1)

    def __repr__(self) -> str:
        """Show where the ledger lies, and no password."""
        return f"{type(self).__name__}{self._connections.place}"

    @property
    def has_transactions(self) -> bool:
        """Say that ``transact`` works."""
        return True

    async def now(self) -> float:
        """Return the database's time, which all hosts share."""
        return await self._in_thread(lambda loan: time_of(loan.connection), has_writes=False)

    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row, None where it was never claimed; waits for a transaction that is writing it."""

        def look(loan: Loan) -> Record | None:
            return self._load(loan, key, "FOR SHARE")[0]

        return await self._in_thread(look, has_writes=False)

    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """Return rows in the order of their last change; see ``Ledger.list``."""
        check_limit(limit)
        wanted = tuple(State) if states is None else tuple(states)

        def look(loan: Loan) -> tuple[Record, ...]:
            return load_latest(loan.connection, wanted, limit, is_oldest_first=is_oldest_first)

        return await self._in_thread(look, has_writes=False)

    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Return rows in the order of their keys; see ``Ledger.scan``."""
        check_limit(limit)
        return await self._in_thread(lambda loan: load_after(loan.connection, after, limit), has_writes=False)

    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Delete rows on which nothing can hang any more; see ``Ledger.prune``."""
        check_prune(older_than_s, limit)
        pruned = 0
        while pruned < limit:
            most = min(MOST_PRUNED, limit - pruned)
            found = await self._in_thread(lambda loan, most=most: delete_old(loan.connection, older_than_s, most))
            pruned += found
            if found < most:
                break
        return pruned

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        """Run a transactional effect; see ``Ledger.transact``."""
        turn = self._effect_turns.here()
        return await anyio.to_thread.run_sync(self._transact, key, fence, work, limiter=turn)

    async def aclose(self) -> None:
        """Close the connections; a later use raises ``LedgerUnavailableError``."""
        await anyio.to_thread.run_sync(self._connections.close, limiter=anyio.CapacityLimiter(1))

    async def _take(self, key: OperationKey, step: Step) -> tuple[Record, float]:
        def take(loan: Loan) -> tuple[Record, float] | None:
            if isinstance(step, Claim):
                return self._claim_in(loan, key, step)
            # A heartbeat leaves payloads where they lie.
            before, now = self._load(loan, key, "FOR UPDATE", has_payloads=not isinstance(step, Extend))
            after = advance(key, before, step, now=now)
            if before is not None and after is not before:
                update(loan.connection, before, after)
            return after, now

        for _ in range(_MOST_RACES):
            taken = await self._in_thread(take)
            if taken is not None:
                return taken
        raise LedgerUnavailableError(f"the ledger {self._connections.place} loses the row as often as it is made")

    def _claim_in(self, loan: Loan, key: OperationKey, claim: Claim) -> tuple[Record, float] | None:
        """Claim in the loan's transaction; None where another call made or deleted the row meanwhile."""
        from psycopg.errors import LockNotAvailable

        seen, now = self._load(loan, key)
        if seen is None:
            made = advance(key, None, claim, now=now, fence_floor=lock_fence_floor(loan.connection))
            return (made, now) if insert(loan.connection, made) else None
        if advance(key, seen, claim, now=now) is seen:
            # Settled, or held by another: there is nothing to write, and so nothing to wait for.
            return seen, now
        try:
            before, now = self._load(loan, key, "FOR UPDATE")
        except LockNotAvailable as error:
            # Its lease has ended, and yet it is at work: in the middle of a long transaction.
            raise in_progress((seen.lease_expires_at or now) - now) from error
        if before is None:
            return None
        after = advance(key, before, claim, now=now)
        if after is not before:
            update(loan.connection, before, after)
        return after, now

    def _load(
        self, loan: Loan, key: OperationKey, lock: LiteralString = "", *, has_payloads: bool = True
    ) -> tuple[Record | None, float]:
        return load(loan.connection, key, self._connections.place, lock=lock, has_payloads=has_payloads)

    async def _in_thread(self, work: Callable[[Loan], ResultT], *, has_writes: bool = True) -> ResultT:
        def run() -> ResultT:
            with mapped(self._connections.place), self._connections.lend() as loan:
                result = work(loan)
                if has_writes:
                    loan.commit()
                return result

        return await anyio.to_thread.run_sync(run, limiter=self._step_turns.here())

    def _transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        with mapped(self._connections.place), self._connections.lend(for_effect=True) as loan:
            found, now = self._load(loan, key, "FOR UPDATE")
            before = row_to_run(key, found, fence, now=now)
            result = _run(loan, work)
            _, now = self._load(loan, key, has_payloads=False)
            update(loan.connection, before, advance(key, before, Commit(fence, result), now=now))
            loan.commit()
        return result


def _run(loan: Loan, work: Callable[[Transaction], bytes]) -> bytes:
    from psycopg import Error

    transaction = PostgresTransaction(loan)
    try:
        result = work(transaction)
        transaction.close()
        transaction.settle()
    except BaseException as error:
        transaction.close()
        if isinstance(error, Error) and loan.connection.closed:
            # Not the effect's own fault: it may be run again.
            raise
        raise RolledBack(error) from error
    return result


class _Turns:
    """Hold one limiter for each event loop."""

    __slots__ = ("_limiters", "_most")

    def __init__(self, name: str, most: int) -> None:
        self._limiters: RunVar[anyio.CapacityLimiter] = RunVar(name)
        self._most = most

    def here(self) -> anyio.CapacityLimiter:
        """Return the running event loop's limiter."""
        try:
            return self._limiters.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(self._most)
            self._limiters.set(limiter)
            return limiter


def _positive(name: str, seconds: float) -> float:
    check_finite(name, seconds, "a number of seconds > 0")
    if not 0 < seconds <= _MOST_SECONDS:
        raise MisuseError(f"{name} must be a number of seconds > 0 and <= {_MOST_SECONDS}, found {seconds!r}")
    return seconds


__all__ = ["PostgresLedger"]
