"""Hold a small shop's orders in memory, and look at a query before it runs. Nothing here can write."""

import sqlite3
from contextlib import closing
from pathlib import Path

from commitgate import CheckContext, RuleViolation

FOLDER = Path(__file__).parent
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
MOST_ROWS = 20
MOST_STEPS = 1_000_000


class OrderDatabase:
    """Answer queries; every one is planned by SQLite's EXPLAIN first, which runs nothing."""

    def __init__(self) -> None:
        # Authorization runs in a worker thread. Statements are not kept: SQLite asks ``_judge`` only when it reads one.
        self._database = sqlite3.connect(":memory:", check_same_thread=False, cached_statements=0)
        self._database.executescript((FOLDER / "orders.sql").read_text("utf-8"))
        self._database.set_authorizer(self._judge)
        self._read: set[str] = set()

    def _judge(self, action: int, table: str | None, column: str | None, *_: str | None) -> int:
        """Let SQLite read and nothing else; note which columns a query wants."""
        if action == sqlite3.SQLITE_READ:
            self._read.add(f"{table}.{column}")
        return sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY

    def columns_of(self, query: str) -> frozenset[str]:
        """Return the columns that a query reads, as ``table.column``.

        Raises:
            sqlite3.Error: SQLite cannot plan it, or it does not only read.
        """
        self._read.clear()
        with closing(self._database.execute(f"EXPLAIN {query}")):
            return frozenset(self._read)

    def can_be_planned(self, query: str) -> RuleViolation | None:
        """Refuse a query that SQLite cannot plan. A rule."""
        try:
            self.columns_of(query)
        except sqlite3.Error:
            return RuleViolation("no_plan", "the query must be one that SQLite can plan, and only read")
        return None

    def may_be_seen(self, query: str, context: CheckContext) -> RuleViolation | None:
        """Refuse columns that the caller may not see. Neither grammar nor model knows of this authorization check."""
        if "customers.phone" in self.columns_of(query) and context.principal != "manager":
            return RuleViolation("private_column", "the caller may not see telephone numbers")
        return None

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Run a query and return its first rows; one that takes too long ends as ``sqlite3.OperationalError``."""
        self._database.set_progress_handler(lambda: 1, MOST_STEPS)
        with closing(self._database.execute(query)) as cursor:
            return cursor.fetchmany(MOST_ROWS)
