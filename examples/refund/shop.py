"""Keep a shop: its orders and what it paid back in one SQLite file, the letters that it sent in a text file."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from commitgate import EffectRejected
from commitgate.ledger import Transaction

SCHEMA = """
    CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, item TEXT NOT NULL, paid_cents INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS refunds (
        number INTEGER PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, cents INTEGER NOT NULL CHECK (cents > 0)
    );
"""
ORDERS = (
    ("A-1001", "tea pot", 2450),
    ("A-1002", "desk lamp", 18900),
    ("A-1003", "radio", 7900),
    ("A-1004", "mirror", 5600),
    ("A-1005", "clock", 3300),
)


class Order(NamedTuple):
    """Hold what somebody ordered, and what was paid for it."""

    item: str
    paid_cents: int


class Shop:
    """Hold the shop.

    Args:
        folder: where its database and its outgoing letters lie; the database is made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self.database = folder / "shop.db"
        self._letters = folder / "letters.txt"
        with closing(sqlite3.connect(self.database)) as database, database:
            database.executescript(SCHEMA)
            database.executemany("INSERT OR IGNORE INTO orders VALUES (?, ?, ?)", ORDERS)

    def find(self, order_id: str) -> Order | None:
        """Return an order; None where there is none."""
        rows = self._read("SELECT item, paid_cents FROM orders WHERE id = ?", order_id)
        return Order(*rows[0]) if rows else None

    def pay_back(self, order_id: str, cents: int, database: Transaction) -> None:
        """Write a refund into the transaction that also says, in the ledger, that this call ran.

        Raises:
            EffectRejected: the shop's rule forbids it. The transaction is rolled back.
        """
        rows = database.execute(
            "INSERT INTO refunds (order_id, cents) SELECT id, :cents FROM orders WHERE id = :order_id "
            "AND :cents <= paid_cents AND NOT EXISTS (SELECT 1 FROM refunds WHERE order_id = :order_id)",
            {"order_id": order_id, "cents": cents},
        )
        if rows.rowcount != 1:
            raise EffectRejected("an order is refunded once, and no more is paid back than was paid for it")

    def post(self, text: str) -> None:
        """Send a letter. It cannot be called back, and a second one with the same words is a second letter."""
        with self._letters.open("a", encoding="utf-8") as letters:
            letters.write(f"{text}\n")

    def refunds(self) -> list[tuple[str, int]]:
        """Return what was paid back, as it lies in the file."""
        return self._read("SELECT order_id, cents FROM refunds ORDER BY number")

    def _read(self, query: str, *parameters: str) -> list[tuple[str, int]]:
        with closing(sqlite3.connect(self.database)) as database:
            return database.execute(query, parameters).fetchall()
