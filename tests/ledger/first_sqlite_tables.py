"""Make a ledger's file as the first version made it: statement by statement, with the tables of that time."""

import os
import sqlite3
from pathlib import Path
from typing import Any

TABLE = """
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
        """
ROWS: tuple[tuple[Any, ...], ...] = (
    (b"claimed", "claimed", 1, 1, "o", 1030.0, "l", "refund", "1", "i", 1.0, 2.0, None, None, None, None),
    (b"started", "effect_started", 2, 2, "o", 1030.0, "l", "refund", "1", "i", 1.0, 3.0, None, b"{}", None, b"1"),
    (b"done", "committed", 7, 3, "o", None, "l", "refund", "1", "i", 1.0, 4.0, None, b"{}", b'"T-1"', b"\0" * 9000),
    (b"plain", "committed", 1, 1, "o", None, "l", None, None, "i", 1.0, 5.0, None, b"{}", None, b"[]"),
    (b"no", "failed_before_effect", 1, 1, "o", None, "l", "r", "1", "i", 1.0, 6.0, b"\xed\xa0\x80", b"{}", None, b"1"),
    (b"doubt", "in_doubt", 1, 1, "o", None, "l", "refund", "1", "i", 1.0, 7.0, b"lost", b"{}", None, b"1"),
    ("schlüssel".encode(), "released", 4, 4, "o", None, "l", None, None, "i", 1.0, 8.0, b"refused", None, None, None),
)
"""A row of each state that there was, with all that a row could hold."""


def make(path: Path) -> None:
    """Make the file with its rows, and close it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "BEGIN IMMEDIATE",
        TABLE,
        f"PRAGMA application_id = {0x434D4754}",
        "PRAGMA user_version = 1",
        "COMMIT",
    ):
        connection.execute(statement)
    connection.executemany(f"INSERT INTO operation VALUES ({', '.join('?' * 16)})", ROWS)
    connection.close()
