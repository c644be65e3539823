"""Find the ledger that a command is about, and use it: never make one by looking for it.

A ledger that does not exist is made by whatever opens it first. For a program that is about to store something that is
right; for a person who looks it would hide a wrong path behind an empty list. So the place is looked at first.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import anyio
import typer

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.harmless import harmless
from commitgate.ledger import LEDGER_VARIABLE, Ledger, PostgresLedger, SqliteLedger, ledger_at
from commitgate.ledger.record import Record
from commitgate.ledger.sqlite_errors import mapped
from commitgate.ledger.sqlite_schema import is_marked
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

LedgerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="SQLite file or postgresql:// URL of the ledger; else what COMMITGATE_LEDGER names, or the default file.",
        metavar="PLACE",
    ),
]
KeyArgument: TypeAlias = Annotated[str, typer.Argument(help="The operation key.", metavar="KEY")]
ByOption: TypeAlias = Annotated[str, typer.Option(help="Who says so; kept in the ledger.", metavar="NAME")]

_MOST_REASON_CHARACTERS = 2_000
_CONNECT_S = 10
_BUSY_S = 5.0


def check_reason(reason: str | None) -> None:
    """Check what a person gives as a reason.

    Raises:
        CommandError: it is too long.
    """
    if reason is not None and len(reason) > _MOST_REASON_CHARACTERS:
        raise CommandError(f"--reason may have at most {_MOST_REASON_CHARACTERS} characters, found {len(reason)}")


@dataclass(frozen=True, slots=True)
class Place:
    """Hold a ledger that exists.

    Attributes:
        ledger: it.
        name: what messages call it; no password is in it, but it may hold any character.
        file: its file, None where it lies in no file of this machine.
    """

    ledger: Ledger
    name: str
    file: str | None

    def run(self, work: Callable[[Ledger], Awaitable[T]]) -> T:
        """Run ``work`` to its end in an event loop of its own."""
        return anyio.run(work, self.ledger)

    def now(self) -> float:
        """Return the ledger's time, by which leases and expiries run."""
        return anyio.run(self.ledger.now)

    def row(self, key: OperationKey) -> Record:
        """Return the row of a key.

        Raises:
            CommandError: there is none.
            LedgerError: the ledger cannot be read.
        """
        found = anyio.run(self.ledger.read, key)
        if found is None:
            raise CommandError(f"no row of {self.name} has this key", ExitCode.NO_SUCH_KEY)
        return found


@contextmanager
def opened(place: str | None) -> Generator[Place]:
    """Find the ledger, and close it when the block is left.

    Args:
        place: a path, a URL, or None for the default.

    Raises:
        CommandError: there is no ledger at this place.
        LedgerError: it cannot be looked at.
        MisuseError: it is the name of no place.
    """
    found = _found(place)
    try:
        yield found
    finally:
        anyio.run(found.ledger.aclose)


def _found(place: str | None) -> Place:
    ledger = ledger_at(place, os.environ)
    if isinstance(ledger, SqliteLedger):
        return _found_file(ledger.path)
    if isinstance(ledger, PostgresLedger):
        name = f"the ledger {repr(ledger).removeprefix(type(ledger).__name__)}"
        _look_at_server(place or os.environ[LEDGER_VARIABLE], name)
        return Place(ledger, name, None)
    raise AssertionError("a place leads to a file or to a server")


def _found_file(path: str) -> Place:
    if not os.path.isfile(path):
        found = "is no file" if os.path.exists(path) else "does not exist"
        raise CommandError(
            f"the ledger {path} {found}, and looking does not make one; give --ledger PATH", ExitCode.LEDGER_UNAVAILABLE
        )
    with looked_at(path) as connection:
        is_own = is_marked(connection)
        # The second name is that of the first version; no other program's table of that name is taken for it.
        names = ("commitgate_operation", "operation" if is_own else "commitgate_operation")
        has_rows = _has_table(connection, names)
    if not has_rows:
        raise CommandError(
            f"{path} is a file without a ledger in it, and looking does not make one; give --ledger PATH",
            ExitCode.LEDGER_UNAVAILABLE,
        )
    return Place(SqliteLedger(path, shares_database=not is_own), f"the ledger {path}", path)


@contextmanager
def looked_at(path: str) -> Generator[sqlite3.Connection]:
    """Open a SQLite file for reading alone. Blocks.

    Raises:
        LedgerUnavailableError: it cannot be read; also for what the block meets.
    """
    import sqlite3

    with mapped(path):
        uri = Path(os.path.abspath(path)).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)) as connection:
            yield connection


def _has_table(connection: sqlite3.Connection, names: tuple[str, str]) -> bool:
    statement = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN (?, ?)"
    return bool(connection.execute(statement, names).fetchone()[0])


def _look_at_server(url: str, name: str) -> None:
    import psycopg

    from commitgate.ledger.postgres_errors import mapped as mapped_postgres

    with (
        mapped_postgres(name.removeprefix("the ledger ")),
        psycopg.connect(url, connect_timeout=_CONNECT_S, autocommit=True) as connection,
    ):
        row = connection.execute("SELECT to_regclass('commitgate_operation') IS NOT NULL").fetchone()
    if row is None or not row[0]:
        raise CommandError(
            f"{harmless(name)} has no tables of a ledger, and looking does not make them; check the database and its "
            "search_path",
            ExitCode.LEDGER_UNAVAILABLE,
        )


__all__ = ["ByOption", "KeyArgument", "LedgerOption", "Place", "check_reason", "looked_at", "opened"]
