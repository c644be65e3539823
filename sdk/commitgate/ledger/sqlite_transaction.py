"""Run a transactional effect on the ledger's connection, and keep it from everything but its own rows.

The effect's statements run on the ledger's own connection, between its BEGIN and its COMMIT. Nothing else of the
connection is handed out, and what is handed out ends with the effect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING
from weakref import WeakSet

from commitgate.argument import check_kind
from commitgate.errors import MisuseError
from commitgate.ledger.sqlite_authorizer import authorizer
from commitgate.ledger.sqlite_errors import is_fault
from commitgate.ledger.transaction import Parameters, RolledBack, Row

if TYPE_CHECKING:
    import sqlite3


def run_effect(connection: sqlite3.Connection, work: Callable[[SqliteTransaction], bytes], ledger: object) -> bytes:
    """Run ``work`` in the transaction that ``connection`` is in, and return its result.

    Args:
        connection: the ledger's, in a transaction.
        work: the effect.
        ledger: whose connection it is; ``check_outside`` refuses it until ``work`` returns.

    Raises:
        RolledBack: ``work`` raised, or a statement of it ended the transaction; the caller must roll back.
        sqlite3.Error: the database failed under ``work``, whatever ``work`` made of that; as above.
    """
    guard = Guard(connection, ledger)
    raised: BaseException | None = None
    with guard.open():
        try:
            result = work(SqliteTransaction(guard))
        except BaseException as error:  # noqa: BLE001 - told to the one who asked, whatever it is
            raised, result = error, b""
    if guard.fault is not None and isinstance(raised, Exception | None):
        raise guard.fault
    raised = guard.ended_by if raised is None else raised
    if raised is not None:
        raise RolledBack(raised) from raised
    return result


def check_outside(ledger: object) -> None:
    """Check that this is not inside a transactional effect of ``ledger``, which would wait for itself for ever.

    Raises:
        MisuseError: it is.
    """
    guard = _RUNNING.get()
    if guard is not None and guard.is_open_on(ledger):
        raise MisuseError(
            "a transactional effect holds its ledger until it returns: make no call with the same ledger inside it"
        )


class SqliteTransaction:
    """Run an effect's statements, as long as the effect runs and in its thread alone; see ``Transaction``."""

    __slots__ = ("_guard",)

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def execute(self, statement: str, parameters: Parameters = ()) -> SqliteRows:
        """Run one statement; see ``Transaction.execute``."""
        check_kind("statement", statement, str, "a str")
        with self._guard.stepping():
            cursor = self._guard.cursor()
            cursor.execute(statement, parameters)
            return SqliteRows(self._guard, cursor)

    def executemany(self, statement: str, rows: Iterable[Parameters]) -> int:
        """Run one statement for each of ``rows``; see ``Transaction.executemany``."""
        check_kind("statement", statement, str, "a str")
        with self._guard.stepping():
            cursor = self._guard.cursor()
            cursor.executemany(statement, rows)
            return cursor.rowcount


class SqliteRows:
    """Hold what a statement gave; see ``Rows``."""

    __slots__ = ("_cursor", "_guard")

    def __init__(self, guard: Guard, cursor: sqlite3.Cursor) -> None:
        self._guard = guard
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement changed; -1 where it changes none."""
        return self._cursor.rowcount

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns' names."""
        return tuple(column[0] for column in self._cursor.description or ())

    def fetchone(self) -> Row | None:
        """Return the next row; None after the last."""
        with self._guard.stepping():
            return self._cursor.fetchone()

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        with self._guard.stepping():
            return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows that are left."""
        while (row := self.fetchone()) is not None:
            yield row


class Guard:
    """Stand between an effect and the connection: say what it may do and when, and keep what went wrong.

    Attributes:
        fault: the first error that was the database's own: a full disk, a damaged file. None for none.
        ended_by: the error with which SQLite ended the transaction; None while it stands.
    """

    __slots__ = ("_connection", "_cursors", "_ledger", "_refused", "_thread", "ended_by", "fault")

    def __init__(self, connection: sqlite3.Connection, ledger: object) -> None:
        self._connection = connection
        self._ledger = ledger
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()
        self._refused: str | None = None
        self._thread: int | None = None
        self.fault: Exception | None = None
        self.ended_by: Exception | None = None

    def is_open_on(self, ledger: object) -> bool:
        """Say whether the effect still runs, and on this ledger."""
        return self._thread is not None and self._ledger is ledger

    @contextmanager
    def open(self) -> Generator[None]:
        """Let the block run statements from its own thread; afterwards nothing can."""
        self._thread = threading.get_ident()
        before = _RUNNING.set(self)
        self._connection.set_authorizer(self._authorizer())
        try:
            yield
        finally:
            self._thread = None
            for cursor in list(self._cursors):
                cursor.close()
            self._connection.set_authorizer(None)
            _RUNNING.reset(before)

    def cursor(self) -> sqlite3.Cursor:
        """Return a new cursor, which is closed with the effect."""
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        return cursor

    @contextmanager
    def stepping(self) -> Generator[None]:
        """Run a step of a statement in the block: check that it may, and keep what its errors mean.

        Raises:
            MisuseError: the effect has returned, or this is another thread, or the statement was refused.
        """
        import sqlite3

        self._check()
        self._refused = None
        try:
            yield
        except sqlite3.Error as error:
            if self._refused is not None:
                raise MisuseError(self._refused) from None
            if is_fault(error) and self.fault is None:
                self.fault = error
            if not self._connection.in_transaction:
                self.ended_by = self.ended_by or error
                self._begin_again()
            raise

    def _begin_again(self) -> None:
        """Begin a transaction that will be rolled back.

        SQLite has ended the effect's own. A statement into which another one's rows are fed goes on after that one
        failed, and would write for good what the effect is told was undone.
        """
        import sqlite3

        self._connection.set_authorizer(None)
        # Where even that fails, the database is out of order, and takes no other statement either.
        with suppress(sqlite3.Error):
            self._connection.execute("BEGIN")
        self._connection.set_authorizer(self._authorizer())

    def _check(self) -> None:
        if self._thread is None:
            raise MisuseError("the connection of a transactional effect ends with it; do not keep it")
        if self._thread != threading.get_ident():
            raise MisuseError("the connection of a transactional effect is used in the effect's own thread alone")
        if self.ended_by is not None:
            raise MisuseError("SQLite rolled the transaction back after an error; let the effect raise that error")

    def _authorizer(self) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
        import sqlite3

        refused_for = authorizer()

        def authorize(
            action: int, first: str | None, second: str | None, database: str | None, source: str | None
        ) -> int:
            del source
            refused = refused_for(action, first, second, database)
            self._refused = self._refused or refused
            return sqlite3.SQLITE_OK if refused is None else sqlite3.SQLITE_DENY

        return authorize


_RUNNING: ContextVar[Guard | None] = ContextVar("transactional effect", default=None)


__all__ = ["Guard", "SqliteRows", "SqliteTransaction", "check_outside", "run_effect"]
