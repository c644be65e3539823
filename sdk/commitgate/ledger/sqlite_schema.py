"""Open a ledger's SQLite file: create it, tell it from other files, bring its tables up to date."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from commitgate.errors import LedgerUnavailableError

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x434D4754
"""Marks a SQLite file as a ledger ("CMGT"), so that no other program's database is ever written to."""

OWNER_ONLY = 0o600
"""Mode of a new file: it holds payloads and operation keys. SQLite gives its side files the same mode."""

# Each entry brings the tables from version n, its index, to n + 1. Entries are only ever added; a new state is
# a new version too, though no table changes, so that no older program reads it. Payloads come last in a row: renewing a
# lease then rewrites the row's first page and not the pages of a large value.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE operation (
            key BLOB NOT NULL PRIMARY KEY,
            state TEXT NOT NULL,
            fence INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            owner TEXT NOT NULL,
            lease_expires_at REAL,
            language_digest TEXT NOT NULL,
            effect_name TEXT,
            effect_version TEXT,
            input_fingerprint TEXT NOT NULL,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL,
            reason BLOB,
            receipt BLOB,
            result BLOB,
            value BLOB
        )
        """,
    ),
)


def connect(path: str, *, busy_timeout_s: float) -> sqlite3.Connection:
    """Return a connection whose tables are up to date. Blocks; raises what SQLite and the file system raise.

    Args:
        path: the file; made where it is missing, its folder is not.
        busy_timeout_s: how long one statement waits for another process.

    Raises:
        LedgerUnavailableError: the file is another program's or a newer version's.
    """
    import sqlite3

    _create(path)
    # mode=rw: where the file vanished in between, failing is right and an empty ledger would not be.
    uri = Path(os.path.abspath(path)).as_uri() + "?mode=rw"
    connection = sqlite3.connect(
        uri, uri=True, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False, cached_statements=32
    )
    try:
        _check_identity(connection, path)
        _set_durability(connection, path)
        _migrate(connection, path)
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


def _check_identity(connection: sqlite3.Connection, path: str) -> None:
    # In one transaction: between two, another process may make the tables of a new file.
    connection.execute("BEGIN")
    application_id = _number(connection, "PRAGMA application_id")
    is_new = not application_id and not _number(connection, "SELECT count(*) FROM sqlite_master")
    connection.execute("ROLLBACK")
    if application_id != APPLICATION_ID and not is_new:
        raise LedgerUnavailableError(f"{path} is a database of another program; name another file for the ledger")
    _version(connection, path)


def _set_durability(connection: sqlite3.Connection, path: str) -> None:
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise LedgerUnavailableError(
            f"the file system of {path} cannot hold a write-ahead log (journal mode {mode}); use a local disk"
        )
    # FULL: a commit is on the disk before it is reported, so a power cut cannot take it back.
    connection.execute("PRAGMA synchronous = FULL")


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    if _version(connection, path) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have migrated meanwhile.
        for migration in MIGRATIONS[_version(connection, path) :]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: str) -> int:
    version = _number(connection, "PRAGMA user_version")
    if version > len(MIGRATIONS):
        raise LedgerUnavailableError(
            f"the ledger {path} was written by a newer commitgate (tables of version {version}, this one knows "
            f"{len(MIGRATIONS)}); upgrade commitgate"
        )
    return version


def _number(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])


__all__ = ["APPLICATION_ID", "MIGRATIONS", "OWNER_ONLY", "connect"]
