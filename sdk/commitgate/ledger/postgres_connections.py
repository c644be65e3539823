"""Lend connections to a Postgres server, each in a transaction that is durable once it is committed.

A few connections are kept open. None is opened before it is needed, in the thread that needs it, so what is wrong with
a server or a password is said at once and by the call that met it. No thread works in the background. One connection is
kept back for steps of the ledger: effects that run long cannot keep a lease from being renewed.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition
from typing import TYPE_CHECKING, LiteralString, TypeAlias

from commitgate.errors import LedgerUnavailableError, MissingExtraError, MisuseError
from commitgate.ledger.postgres_schema import prepare

if TYPE_CHECKING:
    from psycopg import Connection

    OpenConnection: TypeAlias = Connection[tuple[object, ...]]

_DEFAULTS = {
    "application_name": "commitgate",
    # A server that became a standby is left for the one that may be written.
    "target_session_attrs": "read-write",
    # A peer that fell silent is given up after about half a minute; COMMIT has no other bound.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
"""Parameters of libpq where the connection string says nothing about them."""

_NEVER = 1_000_000_000
"""Uses after which a statement is prepared by itself. Poolers may hand each transaction another session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bound how long things may take, in seconds, all > 0.

    Attributes:
        connect_s: opening one connection, for each address of the server.
        lock_s: waiting for another transaction, or for a connection that is in use.
        statement_s: running one statement, and what the program does between two.
    """

    connect_s: float
    lock_s: float
    statement_s: float


class Connections:
    """Keep up to ``most`` connections, for any number of threads.

    Args:
        conninfo: connection string of libpq, a URL or words.
        most: most connections at once, >= 2.
        bounds: how long things may take.

    Raises:
        MisuseError: ``conninfo`` is none. The message never shows it.
        MissingExtraError: psycopg is not installed.
    """

    def __init__(self, conninfo: str, *, most: int, bounds: Bounds) -> None:
        parameters = _parsed(conninfo)
        self.place = _place(parameters)
        # libpq counts whole seconds and takes no less than two.
        defaults = {**_DEFAULTS, "connect_timeout": str(max(2, round(bounds.connect_s)))}
        self._parameters = {**defaults, **parameters, "client_encoding": "UTF8"}
        self._most = most
        self._bounds = bounds
        self._is_closed = False
        self._shelves: dict[int, _Shelf] = {}

    @contextmanager
    def lend(self, *, for_effect: bool = False) -> Generator[Loan]:
        """Lend a connection in a transaction, which is rolled back unless the block commits it. Blocks.

        Args:
            for_effect: whether a caller's effect will run in it, which may take long.

        Raises:
            LedgerUnavailableError: all are in use for longer than allowed, or closed for good.
            psycopg.Error: what the server and the driver raise.
        """
        shelf = self._own_shelf()
        self._check_in(shelf, for_effect)
        loan: Loan | None = None
        is_whole = False
        try:
            loan = self._begin(shelf)
            yield loan
            is_whole = True
        finally:
            is_usable = loan is not None and loan.is_over()
            # What an effect took on for the session, such as locks, outlives a rollback; and the driver does not know
            # for sure what is still prepared after one.
            if loan is not None and for_effect:
                is_usable = is_usable and is_whole and loan.discard()
            with shelf.changed:
                shelf.lent -= 1
                shelf.effects -= for_effect
                is_kept = is_usable and not self._is_closed
                if loan is not None and is_kept:
                    shelf.idle.append(loan.session)
                shelf.changed.notify_all()
            if loan is not None and not is_kept:
                loan.session.connection.close()

    def close(self) -> None:
        """Close all, for good. Waits for those in use, though not longer than they may take. Blocks."""
        shelf = self._own_shelf()
        with shelf.changed:
            self._is_closed = True
            idle, shelf.idle = shelf.idle, []
            shelf.changed.notify_all()
            shelf.changed.wait_for(lambda: not shelf.lent, self._bounds.lock_s + self._bounds.statement_s)
        for session in idle:
            session.connection.close()

    def _own_shelf(self) -> _Shelf:
        # After a fork the connections are the parent's: closing one here would end it there. Neither may they be
        # forgotten, for forgetting closes them too. The parent's locks may be held by threads that are not here.
        return self._shelves.setdefault(os.getpid(), _Shelf())

    def _check_in(self, shelf: _Shelf, for_effect: bool) -> None:
        def is_free() -> bool:
            may_begin = not for_effect or shelf.effects < self._most - 1
            return self._is_closed or (shelf.lent < self._most and may_begin)

        with shelf.changed:
            if not shelf.changed.wait_for(is_free, self._bounds.lock_s):
                raise LedgerUnavailableError(
                    f"the ledger {self.place} has all of its {self._most} connections in use; allow more with "
                    "connections=..., or call again"
                )
            if self._is_closed:
                raise LedgerUnavailableError(f"the ledger {self.place} is closed; make a new one")
            shelf.lent += 1
            shelf.effects += for_effect

    def _begin(self, shelf: _Shelf) -> Loan:
        from psycopg import Error

        while True:
            with shelf.changed:
                session = shelf.idle.pop() if shelf.idle else None
            is_new = session is None
            session = self._open() if session is None else session
            try:
                return Loan(session, self._bounds)
            except BaseException as error:
                is_stale = isinstance(error, Error) and session.connection.closed and not is_new
                session.connection.close()
                # The server has ended an idle connection, as it does when it starts anew. Nothing was asked of it yet.
                if not is_stale:
                    raise

    def _open(self) -> Session:
        from psycopg import connect
        from psycopg.conninfo import make_conninfo

        conninfo = make_conninfo("", **self._parameters)
        connection: OpenConnection = connect(conninfo, autocommit=True, prepare_threshold=_NEVER)
        try:
            prepare(connection, self.place, lock_timeout_ms=_milliseconds(self._bounds.lock_s))
            row = connection.execute("SELECT current_setting('synchronous_commit')").fetchone()
        except BaseException:
            connection.close()
            raise
        # What is stronger than ``on`` is left to whoever set it.
        is_applied = row is not None and row[0] == "remote_apply"
        return Session(connection, "remote_apply" if is_applied else "on")


@dataclass(frozen=True, slots=True)
class Session:
    """Hold an open connection, and the durability that its transactions ask for."""

    connection: OpenConnection
    durability: LiteralString


class Loan:
    """Hold a connection in a transaction. Making it begins the transaction, and shows whether the connection lives."""

    __slots__ = ("_bounds", "connection", "session")

    def __init__(self, session: Session, bounds: Bounds) -> None:
        self.session = session
        self.connection = session.connection
        self._bounds = bounds
        # One message. The settings are the transaction's and not the session's, so they hold behind a pooler too; a
        # program that is halted in between does not keep the row locked for ever.
        self.connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {self._settings()}".encode())

    def harden(self) -> None:
        """Set the transaction's settings again, whatever was done to them meanwhile."""
        self.connection.execute(self._settings().encode())

    def commit(self) -> None:
        """Commit.

        No timeout of the server's bounds it, and so none ends its wait for a standby.

        Raises:
            psycopg.Error: it is unknown whether it was committed.
            LedgerUnavailableError: the server rolled it back.
        """
        if self.connection.execute("COMMIT").statusmessage != "COMMIT":
            # So it answers where a statement had failed.
            raise LedgerUnavailableError("the server rolled the ledger's transaction back; call again")

    def discard(self) -> bool:
        """Forget all that the session took on in the transaction that is over; say whether it can be used again."""
        from psycopg import Error

        try:
            self.connection.execute("DISCARD ALL")
        except Error:
            return False
        return True

    def is_over(self) -> bool:
        """End the transaction where it is still open; say whether the connection can be used again."""
        from psycopg import Error
        from psycopg.pq import TransactionStatus

        if self.connection.closed:
            return False
        try:
            if self.connection.info.transaction_status is not TransactionStatus.IDLE:
                self.connection.execute("ROLLBACK")
        except Error:
            # The error that led here is the one to report; the server rolls back when the connection ends.
            return False
        return self.connection.info.transaction_status is TransactionStatus.IDLE

    def _settings(self) -> str:
        statement_ms = _milliseconds(self._bounds.statement_s)
        return (
            f"SET LOCAL synchronous_commit = {self.session.durability}; "
            f"SET LOCAL lock_timeout = {_milliseconds(self._bounds.lock_s)}; "
            f"SET LOCAL statement_timeout = {statement_ms}; "
            f"SET LOCAL idle_in_transaction_session_timeout = {statement_ms}"
        )


@dataclass(slots=True)
class _Shelf:
    """Hold the connections of one process."""

    changed: Condition = field(default_factory=Condition)
    idle: list[Session] = field(default_factory=list["Session"])
    lent: int = 0
    effects: int = 0


def _parsed(conninfo: str) -> dict[str, str]:
    """Return the parameters of a connection string. The driver's own errors would show parts of it."""
    try:
        from psycopg import Pipeline, ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtraError("postgres", "a Postgres ledger") from None
    if not Pipeline.is_supported():
        # Older ones take several statements in one where there are no parameters, and so a COMMIT among them.
        raise MissingExtraError("postgres", "a Postgres ledger, with libpq of version 14 or later,")
    try:
        parameters = {name: str(text) for name, text in conninfo_to_dict(conninfo).items() if text is not None}
    except (ProgrammingError, UnicodeError):
        raise MisuseError(
            "conninfo is no connection string of libpq; write postgresql://user@host:port/database, with a password's "
            "special characters percent-encoded"
        ) from None
    # A password with an unencoded character is read as a part of what follows it, and would be shown as such.
    is_whole = all(port.isdecimal() for port in parameters.get("port", "").split(",") if port)
    hosts, database = parameters.get("host", "").split(","), parameters.get("dbname", "")
    if not is_whole or "@" in database or any("@" in host[1:] for host in hosts):
        raise MisuseError(
            "conninfo names no valid host, port and database; percent-encode a password's special characters"
        )
    return parameters


def _place(parameters: dict[str, str]) -> str:
    database, host = parameters.get("dbname", "of the user's name"), parameters.get("host", "the default host")
    return f"(Postgres database {database} at {host})"


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1_000))


__all__ = ["Bounds", "Connections", "Loan", "Session"]
