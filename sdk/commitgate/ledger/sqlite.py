"""Keep the ledger in one SQLite file: the default, for any number of processes on one host.

Each method is one whole transaction inside one worker-thread call. Cancelling the caller therefore leaves neither a
half-written row nor a lock: the thread finishes the transaction, whether anybody still waits for it or not.

A step is one durable write. SQLite has one writer at a time: while a transactional effect runs, every other step on the
same file waits, in other processes for at most ``busy_timeout_s``. No lease can be taken over meanwhile, for that
is a step too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar, checkpoint

from commitgate.argument import check_finite, check_kind
from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger.base import MOST_PRUNED, SCANNED_AT_ONCE, StepLedger, check_limit, check_prune
from commitgate.ledger.record import Record, Scanned, State
from commitgate.ledger.sqlite_errors import is_busy, mapped
from commitgate.ledger.sqlite_file import connect
from commitgate.ledger.sqlite_rows import delete_prunable, fence_floor, insert, load, load_after, load_latest, update
from commitgate.ledger.sqlite_transaction import check_outside, run_effect
from commitgate.ledger.states import advance, row_to_run
from commitgate.ledger.steps import Commit, Step
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    import sqlite3

ResultT = TypeVar("ResultT")

WRITING = "BEGIN IMMEDIATE"
READING = "BEGIN"
"""Reads from a snapshot: it waits for no writer of another process, and keeps none waiting."""

BUSY_TIMEOUT_S = 15.0
"""Default wait in seconds for other connections. SQLite lets them go in no order, so some wait long where many write:
of 256 connections that each wrote 8 times, at 4 ms a write, the slowest waited between 3 and 6 seconds."""

RETRY_OPEN_S = 0.01
"""Pause before opening is tried again: SQLite does not wait for a writer when it switches to the write-ahead log."""


class SqliteLedger(StepLedger):
    """Hold rows in a SQLite file with a write-ahead log, written through to the disk at every step.

    The file must lie on a local disk: network file systems do not keep SQLite's locks. A missing file is made, readable
    by its owner alone; a missing folder is an error, because it may be a disk that is not mounted, and a new, empty
    ledger would forget what was done. Nothing is opened before the first use. Safe to share between threads, tasks and
    event loops.

    With ``shares_database`` the ledger lives in a database of the caller's, such as a shop's, so that transactional
    effects write the caller's rows in the transaction that says that they ran. It adds tables of its own, whose names
    begin with ``commitgate_``, and touches nothing else, with one exception: the database is switched to a write-ahead
    log for good, which every SQLite since 2010 reads. A missing database is then an error, and not made.

    Args:
        path: the file.
        shares_database: whether the file is a database of the caller's; else another program's file is refused.
        enforces_foreign_keys: whether foreign keys hold for what transactional effects write. SQLite's own default is
            that they do not; here they do, so that no effect breaks in silence what the schema promises.
        clock: gives Unix time in seconds; the same on all processes that share the file.
        busy_timeout_s: how long to wait for other processes, > 0.

    Raises:
        MisuseError: ``path`` cannot be a file's name, or ``busy_timeout_s`` is out of range.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        shares_database: bool = False,
        enforces_foreign_keys: bool = True,
        clock: Callable[[], float] = time.time,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
    ) -> None:
        self._path = os.fspath(path)
        if not self._path or "\0" in self._path or self._path == ":memory:":
            raise MisuseError("SqliteLedger needs the path of a file; for a ledger in memory use MemoryLedger()")
        try:
            os.fsencode(self._path)
        except UnicodeEncodeError:
            raise MisuseError("the path of the ledger holds a character that no file name can have") from None
        check_finite("busy_timeout_s", busy_timeout_s, "a number of seconds > 0")
        if busy_timeout_s <= 0:
            raise MisuseError(f"busy_timeout_s must be a number of seconds > 0, found {busy_timeout_s!r}")
        check_kind("shares_database", shares_database, bool, "a bool")
        check_kind("enforces_foreign_keys", enforces_foreign_keys, bool, "a bool")
        self._shares_database = shares_database
        self._enforces_foreign_keys = enforces_foreign_keys
        self._clock = clock
        self._busy_timeout_s = busy_timeout_s
        self._lock = Lock()
        self._open: _OpenFile | None = None
        self._inherited: list[_OpenFile] = []
        self._is_closed = False
        # One at a time and event loop, so that waiting calls queue as tasks and not as threads; and not from the
        # common pool, where effects that block could starve the heartbeat.
        self._turns: RunVar[anyio.CapacityLimiter] = RunVar(f"turns of ledger {id(self)}")

    @property
    def path(self) -> str:
        """Return the file's path as given."""
        return self._path

    @property
    def has_transactions(self) -> bool:
        """Say that ``transact`` works."""
        return True

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        """Run a transactional effect; see ``Ledger.transact``."""

        def act(connection: sqlite3.Connection) -> bytes:
            before = row_to_run(key, load(connection, key), fence, now=self._clock())
            result = run_effect(connection, work, self)
            update(connection, advance(key, before, Commit(fence, result), now=self._clock()))
            return result

        return await self._in_thread(act)

    async def now(self) -> float:
        """Return the clock's time: that of this host, which all processes at the file share."""
        await checkpoint()
        return self._clock()

    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row, None where it was never claimed."""
        return await self._in_thread(lambda connection: load(connection, key), begin=READING)

    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """Return rows in the order of their last change; see ``Ledger.list``."""
        check_limit(limit)
        wanted = tuple(State) if states is None else tuple(states)

        def look(connection: sqlite3.Connection) -> tuple[Record, ...]:
            return load_latest(connection, wanted, limit, is_oldest_first=is_oldest_first)

        return await self._in_thread(look, begin=READING)

    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Return rows in the order of their keys; see ``Ledger.scan``."""
        check_limit(limit)
        return await self._in_thread(lambda connection: load_after(connection, after, limit), begin=READING)

    async def aclose(self) -> None:
        """Close the file; a later use raises ``LedgerUnavailableError``."""
        await anyio.to_thread.run_sync(self._close, limiter=self._turn())

    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Delete rows on which nothing can hang any more; see ``Ledger.prune``."""
        check_prune(older_than_s, limit)
        deleted = 0
        while deleted < limit:
            wanted = min(MOST_PRUNED, limit - deleted)
            found = await self._in_thread(partial(self._delete, older_than_s, wanted))
            deleted += found
            if found < wanted:
                break
        return deleted

    async def _take(self, key: OperationKey, step: Step) -> tuple[Record, float]:
        def take(connection: sqlite3.Connection) -> tuple[Record, float]:
            before = load(connection, key)
            # The clock is read under the write lock: waiting for it must not make the time stale.
            now = self._clock()
            floor = fence_floor(connection) if before is None else 0
            after = advance(key, before, step, now=now, fence_floor=floor)
            if before is None:
                insert(connection, after)
            elif after is not before:
                update(connection, after)
            return after, now

        return await self._in_thread(take)

    async def _in_thread(self, work: Callable[[sqlite3.Connection], ResultT], *, begin: str = WRITING) -> ResultT:
        check_outside(self)
        return await anyio.to_thread.run_sync(self._run, work, begin, limiter=self._turn())

    def _delete(self, older_than_s: float, limit: int, connection: sqlite3.Connection) -> int:
        return delete_prunable(connection, before=self._clock() - older_than_s, limit=limit)

    def _turn(self) -> anyio.CapacityLimiter:
        try:
            return self._turns.get()
        except LookupError:
            limiter = anyio.CapacityLimiter(1)
            self._turns.set(limiter)
            return limiter

    def _run(self, work: Callable[[sqlite3.Connection], ResultT], begin: str) -> ResultT:
        """Run ``work`` in one transaction, under the lock that makes the connection one thread's at a time."""
        with self._lock, mapped(self._path):
            connection = self._connection()
            try:
                connection.execute(begin)
                result = work(connection)
                _commit(connection)
            except BaseException:
                _roll_back(connection)
                raise
            return result

    def _connection(self) -> sqlite3.Connection:
        if self._is_closed:
            raise LedgerUnavailableError(f"the ledger {self._path} was closed; make a new one")
        opened = self._open
        if opened is not None and opened.process_id != os.getpid():
            # A connection must not be used, nor even closed, in a forked child; it is kept so that nothing closes it.
            self._inherited.append(opened)
            opened = None
        if opened is None:
            opened = self._open = _OpenFile(self._connect(), self._path)
        opened.check(self._path)
        return opened.connection

    def _connect(self) -> sqlite3.Connection:
        import sqlite3

        give_up_at = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                return connect(
                    self._path,
                    busy_timeout_s=self._busy_timeout_s,
                    shares_database=self._shares_database,
                    enforces_foreign_keys=self._enforces_foreign_keys,
                )
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() >= give_up_at:
                    raise
            time.sleep(RETRY_OPEN_S)

    def _close(self) -> None:
        with self._lock, mapped(self._path):
            self._is_closed = True
            opened, self._open = self._open, None
            if opened is not None and opened.process_id == os.getpid():
                opened.connection.close()


class _OpenFile:
    """Hold a connection with what tells whether it is still this process's and still the file of that name."""

    __slots__ = ("_identity", "connection", "process_id")

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self.connection = connection
        self.process_id = os.getpid()
        self._identity = _identity(path)

    def check(self, path: str) -> None:
        """Raise where the file was removed or replaced: what is written would go to a file that nobody finds."""
        try:
            found = _identity(path)
        except FileNotFoundError:
            found = None
        if found != self._identity:
            raise LedgerUnavailableError(
                f"the ledger {path} was removed or replaced while it was open; put the file back and start again"
            )


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _commit(connection: sqlite3.Connection) -> None:
    import sqlite3

    try:
        connection.execute("COMMIT")
    except sqlite3.IntegrityError as error:
        # Foreign keys that are checked late: the effect broke one, and no statement of its own could tell.
        raise RolledBack(error) from error


def _roll_back(connection: sqlite3.Connection) -> None:
    import sqlite3

    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error:
        # The error that led here is the one to report; SQLite rolls back by itself where it must.
        return


__all__ = ["SqliteLedger"]
