"""Check that the ledger can be reached, lasts, and is of a version that this release reads; it is only looked at."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from commitgate.errors import CommitgateError, LedgerUnavailableError
from commitgate.harmless import harmless
from commitgate.ledger import LEDGER_VARIABLE, Ledger, MemoryLedger, PostgresLedger, SqliteLedger, ledger_at
from commitgate.ledger.postgres_errors import mapped as mapped_postgres
from commitgate.ledger.postgres_schema import MIGRATIONS, check_version
from commitgate.ledger.sqlite_errors import mapped as mapped_sqlite
from commitgate.ledger.sqlite_schema import VERSION, version_of
from commitgate.preflight.check import Check, check
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from psycopg import Connection

_WAIT_S = 5.0
_CONNECT_S = 10


async def ledger_check(place: Ledger | str | os.PathLike[str] | None, *, is_used: bool) -> Check:
    """Return whether the ledger is fit to be used.

    Args:
        place: as ``Client(ledger=...)`` takes it; None for the default.
        is_used: something acts or has an operation key; else a ledger is looked at only where one is named.
    """
    if place is None and not is_used:
        return check("ledger", "not_applicable", "nothing is done because of it, so nothing has to be remembered")
    try:
        ledger = ledger_at(place, os.environ)
        if isinstance(ledger, MemoryLedger):
            found = "a ledger in memory is gone with the process"
            return check("ledger", "failed", found, "take a file on a local disk or a Postgres database")
        if isinstance(ledger, SqliteLedger):
            return await run_in_thread(lambda: _of_file(ledger.path))
        if isinstance(ledger, PostgresLedger):
            return await _of_postgres(ledger, place)
        await ledger.now()
    except CommitgateError as error:
        return check("ledger", "failed", harmless(str(error)), "make it reachable before the launch")
    return check("ledger", "passed", f"{type(ledger).__name__} answers")


def _of_file(path: str) -> Check:
    import sqlite3

    where = _shown(path)
    folder = Path(os.path.abspath(path)).parent
    if not os.path.exists(path):
        if not os.access(folder, os.W_OK | os.X_OK):
            found = f"{where} does not exist, and its folder is missing or cannot be written to"
            return check("ledger", "failed", found, "make the folder, or name another place")
        found = f"{where} does not exist yet; it is made at the first use, in a folder that can be written to"
        return check("ledger", "warned", found, "is it the right place? A new ledger knows nothing of earlier acts")
    with mapped_sqlite(path):
        uri = Path(os.path.abspath(path)).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)) as connection:
            version = version_of(connection, path)
    if not os.access(path, os.W_OK):
        return check("ledger", "failed", f"{where} cannot be written to", "give this user the right to write it")
    return _of_version(where, version, VERSION)


def _shown(path: str) -> str:
    """Return a path as it is told: a report is kept, and need not say whose folder it is."""
    home = str(Path.home())
    return harmless(f"~{path[len(home) :]}" if path.startswith(f"{home}{os.sep}") else path)


async def _of_postgres(ledger: PostgresLedger, place: object) -> Check:
    url = place if isinstance(place, str) else os.environ.get(LEDGER_VARIABLE)
    name = harmless(repr(ledger).removeprefix(type(ledger).__name__))
    if isinstance(place, PostgresLedger) or url is None:
        await ledger.now()
        return check("ledger", "passed", f"the database {name} answers, with tables of version {len(MIGRATIONS)}")
    await ledger.aclose()
    return await run_in_thread(lambda: _of_database(url, name))


def _of_database(url: str, name: str) -> Check:
    import psycopg

    with mapped_postgres(name), psycopg.connect(url, connect_timeout=_CONNECT_S, autocommit=True) as connection:
        is_durable = _one(connection, "SELECT current_setting('fsync')") == "on"
        version: object = 0
        if _one(connection, "SELECT to_regclass('commitgate_schema') IS NOT NULL"):
            version = _one(connection, "SELECT max(version) FROM commitgate_schema")
            check_version(version, name)
    found = _of_version(f"the database {name}", version if isinstance(version, int) else 0, len(MIGRATIONS))
    if is_durable:
        return found
    told = f"{found.found}; it runs with fsync off, and so forgets what it said was written"
    return check("ledger", "failed", told, "switch fsync on")


def _one(connection: Connection[tuple[object, ...]], statement: str) -> object:
    row = connection.execute(statement.encode()).fetchone()
    if row is None:
        raise LedgerUnavailableError("the database gave no answer to a question about itself")
    return row[0]


def _of_version(where: str, version: int, known: int) -> Check:
    if version == known:
        return check("ledger", "passed", f"{where} can be read, with tables of version {version}")
    if version == 0:
        found = f"{where} has no tables of a ledger yet; they are made at the first use"
        return check("ledger", "warned", found, "is it the right place? A new ledger knows nothing of earlier acts")
    found = f"{where} has tables of version {version}; the first use brings them to {known}, and older releases stop"
    return check("ledger", "warned", found, "take a copy first, and launch when no older release writes to it")


__all__ = ["ledger_check"]
