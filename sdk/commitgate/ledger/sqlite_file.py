"""Open a ledger's SQLite file: create it, tell it from other files, make its writes last."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from commitgate.errors import LedgerUnavailableError
from commitgate.ledger.sqlite_schema import bring_up_to_date, is_marked, number, version_of

if TYPE_CHECKING:
    import sqlite3

OWNER_ONLY = 0o600
"""Mode of a new file: it holds payloads and operation keys. SQLite gives its side files the same mode."""


def connect(
    path: str, *, busy_timeout_s: float, shares_database: bool = False, enforces_foreign_keys: bool = True
) -> sqlite3.Connection:
    """Return a connection whose tables are up to date. Blocks; raises what SQLite and the file system raise.

    Args:
        path: the file; made where it is missing, its folder is not.
        busy_timeout_s: how long one statement waits for another process.
        shares_database: whether the file is a database of the caller's, which is not made where it is missing.
        enforces_foreign_keys: whether foreign keys are enforced.

    Raises:
        LedgerUnavailableError: the file is another program's or a newer version's, or a shared one is missing.
    """
    import sqlite3

    if not shares_database:
        _create(path)
    elif not os.path.exists(path):
        raise LedgerUnavailableError(
            f"there is no database {path} for the ledger to share; check the path, or make the database first"
        )
    # mode=rw: where the file vanished in between, failing is right and an empty ledger would not be.
    uri = Path(os.path.abspath(path)).as_uri() + "?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False, cached_statements=32
    )
    try:
        is_own_file = _check_identity(connection, path, shares_database=shares_database)
        _set_durability(connection, path)
        bring_up_to_date(connection, path, is_own_file=is_own_file)
        connection.execute(f"PRAGMA foreign_keys = {int(enforces_foreign_keys)}")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: str) -> None:
    # An existing file must not be opened here: closing any descriptor of it drops the locks that this process's other
    # connections hold (https://www.sqlite.org/howtocorrupt.html, section 2.2).
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY))
    except FileExistsError:
        return


def _check_identity(connection: sqlite3.Connection, path: str, *, shares_database: bool) -> bool:
    """Return whether the file is, or is about to become, a ledger's own."""
    # In one transaction: between two, another process may make the tables of a new file.
    connection.execute("BEGIN")
    is_own = is_marked(connection)
    is_empty = not number(connection, "PRAGMA application_id") and not number(
        connection, "SELECT count(*) FROM sqlite_master"
    )
    version_of(connection, path)
    connection.execute("ROLLBACK")
    if not (is_own or is_empty or shares_database):
        raise LedgerUnavailableError(
            f"{path} is a database of another program; name another file for the ledger, or let it share this one on "
            "purpose: SqliteLedger(path, shares_database=True)"
        )
    return is_own or not shares_database


def _set_durability(connection: sqlite3.Connection, path: str) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise LedgerUnavailableError(
            f"the file system of {path} cannot hold a write-ahead log (journal mode {mode}); use a local disk"
        )
    # FULL: a commit is on the disk before it is reported, so a power cut cannot take it back.
    connection.execute("PRAGMA synchronous = FULL")


__all__ = ["OWNER_ONLY", "connect"]
