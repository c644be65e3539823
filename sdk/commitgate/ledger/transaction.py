"""Give a transactional effect a connection on which it can write, and nothing else.

The rows that it writes and the ledger's word that it ran are one transaction: both are there, or neither. So the
connection takes single statements that read and write rows. It refuses what would end the transaction or reach out of
it, and writes on the ledger's own tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

Parameters: TypeAlias = "Sequence[object] | Mapping[str, object]"
Row: TypeAlias = "tuple[object, ...]"
"""A row of the caller's own tables."""

LEDGER_TABLE_PREFIX = "commitgate_"
"""What the names of the ledger's own tables begin with; an effect may read them, and never write them."""


class Rows(Protocol):
    """Hold what a statement gave."""

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement changed; -1 where that is not known."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns' names; empty for a statement that gives no rows."""
        ...

    def fetchone(self) -> Row | None:
        """Return the next row; None after the last."""
        ...

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows that are left."""
        ...


class Transaction(Protocol):
    """Run statements in the transaction that will also say that the effect ran. Use it inside the effect alone."""

    def execute(self, statement: str, parameters: Parameters = ()) -> Rows:
        """Run one statement.

        Args:
            statement: SQL of the ledger's database: ``?`` or ``:name`` for parameters in SQLite, ``%s`` or
                ``%(name)s`` in Postgres.
            parameters: its values.

        Raises:
            MisuseError: it would end the transaction, reach out of the database, or write on the ledger's own tables.
            Exception: whatever the database's driver raises.
        """
        ...

    def executemany(self, statement: str, rows: Iterable[Parameters]) -> int:
        """Run one statement for each of ``rows`` and return how many rows it changed; see ``execute``."""
        ...


class RolledBack(Exception):  # noqa: N818 - it says what became of a transaction, and never reaches a caller
    """Raised by ``Ledger.transact`` where the effect raised: the database is as it was before.

    Attributes:
        error: what the effect raised.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__("the effect raised; its transaction was rolled back")
        self.error = error


__all__ = ["LEDGER_TABLE_PREFIX", "Parameters", "RolledBack", "Row", "Rows", "Transaction"]
