"""Keep tickets in a SQLite file of the desk's own. Opening one is the effect that must not happen twice."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from ticket import Ticket

from commitgate import EffectContext

SCHEMA = """
    CREATE TABLE IF NOT EXISTS tickets (
        number INTEGER PRIMARY KEY, effect_key TEXT NOT NULL UNIQUE,
        earlier_id TEXT, priority TEXT NOT NULL, evidence TEXT NOT NULL, summary TEXT NOT NULL
    )
"""


class TicketTable:
    """Open tickets in a file.

    Args:
        path: the SQLite file, made on first use.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def open_ticket(self, ticket: Ticket, context: EffectContext) -> int:
        """Write one ticket and return its number. commitgate runs this at most once for each operation key."""
        row = (context.key, ticket.id, ticket.priority, json.dumps(ticket.evidence), ticket.summary)
        with closing(sqlite3.connect(self._path)) as database, database:
            database.execute(SCHEMA)
            cursor = database.execute(
                "INSERT INTO tickets (effect_key, earlier_id, priority, evidence, summary) VALUES (?, ?, ?, ?, ?)", row
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def rows(self) -> list[tuple[int, str | None, str, str, str]]:
        """Return all tickets as they lie in the file."""
        with closing(sqlite3.connect(self._path)) as database:
            database.execute(SCHEMA)
            query = "SELECT number, earlier_id, priority, evidence, summary FROM tickets ORDER BY number"
            return database.execute(query).fetchall()
