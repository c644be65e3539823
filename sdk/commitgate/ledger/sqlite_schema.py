"""Hold the tables of a ledger in SQLite: make them, tell their version, bring older ones up to date.

The version stands in ``commitgate_ledger``, so that a ledger can share a database of which ``user_version`` and
``application_id`` are the caller's. In a file of its own it stands in ``user_version`` too: that is where the first
version kept it, and where a release that knows no other place looks before it refuses a newer file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.errors import LedgerUnavailableError

if TYPE_CHECKING:
    import sqlite3

APPLICATION_ID = 0x434D4754
"""Marks a SQLite file as a ledger's own ("CMGT"), so that no other program's database is taken for one."""

VERSION = 2
"""Version of the tables below."""

# Payloads come last in a row: telling whether a row may be deleted then reads no page of a large value.
TABLES: tuple[str, ...] = (
    """
    CREATE TABLE commitgate_operation (
        key BLOB NOT NULL PRIMARY KEY,
        state TEXT NOT NULL,
        fence INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        owner TEXT NOT NULL,
        lease_expires_at REAL,
        expires_at REAL,
        language_digest TEXT NOT NULL,
        effect_name TEXT,
        effect_version TEXT,
        effect_kind TEXT,
        input_fingerprint TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        decided_by BLOB,
        reason BLOB,
        receipt BLOB,
        result BLOB,
        value BLOB
    )
    """,
    "CREATE INDEX commitgate_operation_state ON commitgate_operation (state, updated_at)",
    """
    CREATE TABLE commitgate_ledger (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        version INTEGER NOT NULL,
        fence_floor INTEGER NOT NULL
    )
    """,
    "INSERT INTO commitgate_ledger (id, version, fence_floor) VALUES (1, 0, 0)",
)
"""Make the tables of a new ledger."""

MIGRATIONS: dict[int, tuple[str, ...]] = {
    # Renamed and not copied: that takes no longer in a large file than in a small one.
    1: (
        "ALTER TABLE operation RENAME TO commitgate_operation",
        "ALTER TABLE commitgate_operation ADD COLUMN expires_at REAL",
        "ALTER TABLE commitgate_operation ADD COLUMN effect_kind TEXT",
        "ALTER TABLE commitgate_operation ADD COLUMN decided_by BLOB",
        # The only kind that there was.
        "UPDATE commitgate_operation SET effect_kind = 'once' WHERE effect_name IS NOT NULL",
        *TABLES[1:],
    ),
}
"""Bring the tables from the version that is the key to the next. Entries are only ever added; a new state is a new
version too, though no table changes, so that no older program reads it."""


def bring_up_to_date(connection: sqlite3.Connection, path: str, *, is_own_file: bool) -> None:
    """Make or migrate the tables where they are not of this version; all in one transaction, or nothing.

    Args:
        connection: in no transaction.
        path: the file, for messages.
        is_own_file: whether the file's ``application_id`` and ``user_version`` are the ledger's.

    Raises:
        LedgerUnavailableError: they are of a newer version.
    """
    if version_of(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again under the lock: another process may have migrated meanwhile.
        found = version_of(connection, path)
        if found < VERSION:
            for statement in _way_from(found):
                connection.execute(statement)
            connection.execute("UPDATE commitgate_ledger SET version = ?", (VERSION,))
            if is_own_file:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """Return the version of the file's ledger tables, 0 where it has none.

    Raises:
        LedgerUnavailableError: it is newer than this release knows, or cannot be told.
    """
    version = number(connection, "PRAGMA user_version") if is_marked(connection) else 0
    if number(connection, "SELECT count(*) FROM sqlite_master WHERE name = 'commitgate_ledger'"):
        row = connection.execute("SELECT version FROM commitgate_ledger").fetchone()
        if row is None or not isinstance(row[0], int):
            raise LedgerUnavailableError(f"the ledger {path} has lost its version; restore it from a copy")
        version = max(version, row[0])
    if version > VERSION:
        raise LedgerUnavailableError(
            f"the ledger {path} was written by a newer commitgate (tables of version {version}, this one knows "
            f"{VERSION}); upgrade commitgate"
        )
    return version


def is_marked(connection: sqlite3.Connection) -> bool:
    """Say whether the file is a ledger's own."""
    return number(connection, "PRAGMA application_id") == APPLICATION_ID


def number(connection: sqlite3.Connection, statement: str) -> int:
    """Return the one number that ``statement`` gives."""
    return int(connection.execute(statement).fetchone()[0])


def _way_from(version: int) -> list[str]:
    if not version:
        return list(TABLES)
    return [statement for step in range(version, VERSION) for statement in MIGRATIONS[step]]


__all__ = ["APPLICATION_ID", "MIGRATIONS", "TABLES", "VERSION", "bring_up_to_date", "is_marked", "number", "version_of"]
