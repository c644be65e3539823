"""Give a transactional effect its connection to a Postgres ledger's database, and see that it stays in its bounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import TYPE_CHECKING, Any, LiteralString, TypeAlias, cast

from commitgate.argument import check_text
from commitgate.errors import MisuseError
from commitgate.ledger.postgres_connections import Loan
from commitgate.ledger.transaction import LEDGER_TABLE_PREFIX, Parameters, Row, Rows

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    OpenConnection: TypeAlias = Connection[tuple[object, ...]]

_ALLOWED = ("CALL", "DELETE", "INSERT", "MERGE", "SELECT", "TABLE", "UPDATE", "VALUES", "WITH")
"""What a statement may begin with: what reads and writes rows. No routine ends a transaction that it did not begin."""

_SPACE = re.compile(r"\s|--[^\n]*|\(|/\*|\*/")
_WORD = re.compile(r"[A-Za-z]+")
_OWN_TABLE = re.compile(
    rf'\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO)\s+(?:ONLY\s+)?(?:[\w"]+\s*\.\s*)?"?{LEDGER_TABLE_PREFIX}',
    re.IGNORECASE,
)

# What another function or trigger wrote on the ledger's tables is counted too. TRUNCATE is not, but puts a table into
# another file.
_WRITES: LiteralString = """(
    SELECT array_agg((pg_relation_filenode(own), pg_stat_get_xact_tuples_inserted(own),
        pg_stat_get_xact_tuples_updated(own), pg_stat_get_xact_tuples_deleted(own))::text)
    FROM unnest(ARRAY['commitgate_operation'::regclass, 'commitgate_schema'::regclass]) AS tables (own)
)"""
_FACTS: LiteralString = f"SELECT pg_current_xact_id()::text, {_WRITES}"


class PostgresTransaction:
    """Run single statements that read and write rows; see ``Transaction``.

    Args:
        loan: a connection in a transaction, in which the operation's row is locked.
    """

    __slots__ = ("_before", "_connection", "_loan", "_search_path", "_thread")

    def __init__(self, loan: Loan) -> None:
        self._loan = loan
        self._connection: OpenConnection | None = loan.connection
        self._thread = get_ident()
        self._search_path = _one(loan.connection, "SELECT current_setting('search_path')")[0]
        self._before = _one(loan.connection, _FACTS)

    def execute(self, statement: str, parameters: Parameters = ()) -> Rows:
        """Run one statement; see ``Transaction.execute``. In Postgres one that fails ends the whole transaction."""
        connection = self._checked(statement)
        # With parameters, or prepared, a statement goes out in the protocol that takes one alone.
        given = parameters or None
        cursor = connection.cursor()
        return PostgresRows(cursor.execute(statement.encode(), cast("Any", given), prepare=None if given else True))

    def executemany(self, statement: str, rows: Iterable[Parameters]) -> int:
        """Run one statement for each of ``rows`` and return how many rows it changed; see ``execute``."""
        connection = self._checked(statement)
        cursor = connection.cursor()
        cursor.executemany(statement.encode(), cast("Any", rows))
        return max(0, cursor.rowcount)

    def close(self) -> None:
        """Take the connection away from the effect, for good."""
        self._connection = None

    def settle(self) -> None:
        """Check what the effect left behind, and take back what it set; what is deferred runs now.

        Raises:
            MisuseError: the transaction is not the same any more, failed, or holds writes on the ledger's tables.
            psycopg.Error: a deferred constraint or trigger fails.
        """
        from psycopg.pq import TransactionStatus

        connection = self._loan.connection
        if connection.info.transaction_status is not TransactionStatus.INTRANS:
            raise MisuseError(
                "a statement of the effect failed, so that Postgres keeps nothing of its transaction, and the effect "
                "went on; let the error out of it"
            )
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        connection.execute("SELECT set_config('search_path', %s, true)", (self._search_path,))
        self._loan.harden()
        transaction, writes = _one(connection, _FACTS)
        if transaction != self._before[0]:
            raise MisuseError("the effect ended its transaction; what it wrote before stands, and nothing else does")
        if writes != self._before[1]:
            raise MisuseError("the effect wrote on the ledger's own tables")

    def _checked(self, statement: str) -> OpenConnection:
        if self._connection is None:
            raise MisuseError("the effect is over, and its connection with it")
        if get_ident() != self._thread:
            # It could come late, and then write in somebody else's transaction.
            raise MisuseError("a transactional effect must use its connection in the thread in which it runs")
        check_text("statement", statement)
        word = _first_word(statement)
        if word not in _ALLOWED:
            raise MisuseError(
                f"a transactional effect runs statements that begin with {', '.join(_ALLOWED[:-1])} or {_ALLOWED[-1]}, "
                f"found {word[:20] or 'none'}"
            )
        if _OWN_TABLE.search(statement):
            raise MisuseError("a transactional effect must not write on the ledger's own tables")
        return self._connection


class PostgresRows:
    """Hold what a statement gave; see ``Rows``. The driver's cursor would give the connection away."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Cursor[tuple[object, ...]]) -> None:
        self._cursor = cursor

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement changed."""
        return self._cursor.rowcount

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns' names; empty for a statement that gives no rows."""
        return tuple(column.name for column in self._cursor.description or ())

    def fetchone(self) -> Row | None:
        """Return the next row; None after the last."""
        return self._cursor.fetchone() if self._cursor.description else None

    def fetchall(self) -> list[Row]:
        """Return all rows that are left."""
        return self._cursor.fetchall() if self._cursor.description else []

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows that are left."""
        return iter(self.fetchall())


def _first_word(statement: str) -> str:
    """Return the first word of a statement in capitals; comments, which nest, and brackets do not count."""
    position, depth = 0, 0
    while position < len(statement):
        found = _SPACE.match(statement, position)
        if found is not None:
            depth += {"/*": 1, "*/": -1}.get(found[0], 0)
        elif not depth:
            word = _WORD.match(statement, position)
            return "" if word is None else word[0].upper()
        position = position + 1 if found is None else found.end()
    return ""


def _one(connection: OpenConnection, statement: LiteralString) -> tuple[object, ...]:
    row = connection.execute(statement).fetchone()
    assert row is not None, "an expression without a table gives one row"
    return row


__all__ = ["PostgresRows", "PostgresTransaction"]
