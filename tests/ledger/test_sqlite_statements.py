"""What a transactional effect may do with the ledger's connection in SQLite, and what it may not."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest
from ledger.sqlite_shop import KEY, REFUND, ask, claim_of, refund, refunds, start

from commitgate.errors import (
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import Fingerprint, SqliteLedger
from commitgate.ledger.sqlite_authorizer import READABLE_PRAGMAS
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio


@pytest.fixture
def ledger(shop_ledger: SqliteLedger) -> SqliteLedger:
    return shop_ledger


FORBIDDEN = {
    "BEGIN": "cannot begin or end one",
    "COMMIT": "cannot begin or end one",
    "END TRANSACTION": "cannot begin or end one",
    "ROLLBACK": "cannot begin or end one",
    "SAVEPOINT s": "cannot begin or end one",
    "RELEASE s": "cannot begin or end one",
    "ROLLBACK TO s": "cannot begin or end one",
    "/* a comment */ cOmMiT": "cannot begin or end one",
    "ATTACH 'other.db' AS other": "own database",
    "ATTACH ':memory:' AS other": "own database",
    "DETACH main": "own database",
    "UPDATE commitgate_operation SET state = 'committed'": "may only read it",
    'UPDATE "COMMITGATE_operation" SET fence = 9': "may only read it",
    "UPDATE main.commitgate_operation SET fence = 9": "may only read it",
    "DELETE FROM commitgate_operation": "may only read it",
    "INSERT INTO commitgate_operation (key) VALUES (1)": "may only read it",
    "REPLACE INTO commitgate_ledger VALUES (1, 1, 1)": "may only read it",
    "UPDATE commitgate_ledger SET fence_floor = 0": "may only read it",
    "WITH x AS (SELECT 1) DELETE FROM commitgate_ledger": "may only read it",
    "DROP TABLE commitgate_operation": "may only read it",
    "DROP INDEX commitgate_operation_state": "may only read it",
    "ALTER TABLE commitgate_operation RENAME TO mine": "may only read it",
    "ALTER TABLE commitgate_operation ADD COLUMN mine": "may only read it",
    "ALTER TABLE commitgate_operation DROP COLUMN value": "may only read it",
    "CREATE INDEX mine ON commitgate_operation (owner)": "may only read it",
    "CREATE TRIGGER mine AFTER INSERT ON commitgate_operation BEGIN SELECT 1; END": "may only read it",
    "CREATE TABLE commitgate_mine (id)": "may only read it",
    "CREATE TABLE COMMITGATE_mine (id)": "may only read it",
    "CREATE VIEW commitgate_mine AS SELECT 1": "may only read it",
    "CREATE TABLE IF NOT EXISTS temp.commitgate_operation AS SELECT 1": "outlives",
    "CREATE TEMP TABLE customer (id)": "outlives",
    "CREATE TEMP VIEW customer AS SELECT 1": "outlives",
    "CREATE TEMP TRIGGER t AFTER INSERT ON commitgate_operation BEGIN SELECT 1; END": "outlives",
    "INSERT INTO bad VALUES (1)": "may only read it",
    "PRAGMA foreign_keys = OFF": "changes no setting",
    "PRAGMA foreign_keys(0)": "changes no setting",
    "PRAGMA user_version = 8": "changes no setting",
    "PRAGMA journal_mode = DELETE": "changes no setting",
    "PRAGMA journal_mode": "changes no setting",
    "PRAGMA writable_schema = ON": "changes no setting",
    "PRAGMA synchronous = OFF": "changes no setting",
    "PRAGMA wal_checkpoint": "changes no setting",
    "SELECT load_extension('x')": "no extension",
    "PRAGMA user_version = ''": "changes no setting",
    "CREATE TABLE temp.customer AS SELECT 1": "outlives",
    "CREATE VIRTUAL TABLE temp.mine USING fts5(x)": "outlives",
    "CREATE VIRTUAL TABLE commitgate USING fts5(x)": "may only read it",
    "EXPLAIN COMMIT": "cannot begin or end one",
    "ANALYZE": "does more",
    "REINDEX commitgate_operation_state": "may only read it",
}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing here depends on the event loop
@pytest.mark.parametrize("statement", FORBIDDEN)
async def test_a_statement_that_would_reach_out_of_the_transaction_is_refused(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, statement: str
) -> None:
    fence = await start(ledger, fingerprint)
    before = ask(shop, "SELECT * FROM commitgate_operation")
    refused: list[MisuseError] = []

    def effect(transaction: Transaction) -> bytes:
        refund(transaction)
        with pytest.raises(MisuseError, match=FORBIDDEN[statement]) as caught:
            transaction.execute(statement)
        refused.append(caught.value)
        assert ask(shop, "SELECT * FROM commitgate_operation") == before
        raise caught.value

    with pytest.raises(RolledBack) as rolled_back:
        await ledger.transact(KEY, fence, effect)
    assert [rolled_back.value.error] == refused
    assert ask(shop, "SELECT * FROM commitgate_operation") == before
    assert refunds(shop) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
        "CREATE INDEX temp.mine ON customer (id)",
        "ALTER TABLE temp.sqlite_master ADD COLUMN mine",
    ],
)
async def test_what_sqlite_itself_refuses_in_a_transaction_stays_refused(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, statement: str
) -> None:
    fence = await start(ledger, fingerprint)
    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, lambda transaction: str(transaction.execute(statement)).encode())
    assert isinstance(caught.value.error, sqlite3.OperationalError)
    assert [path.name for path in shop.parent.iterdir() if "copy" in path.name] == []


async def test_a_refused_statement_may_be_followed_by_others(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def effect(transaction: Transaction) -> bytes:
        with pytest.raises(MisuseError):
            transaction.execute("COMMIT")
        return refund(transaction)

    await ledger.transact(KEY, fence, effect)
    assert refunds(shop) == 1


async def test_the_ledgers_own_statements_are_refused_word_for_word(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    """The driver keeps compiled statements by their text: one that the ledger compiled must not slip through."""
    traced: list[str] = []
    fence = await start(ledger, fingerprint)
    opened = ledger._open
    assert opened is not None
    opened.connection.set_trace_callback(traced.append)
    await ledger.extend(KEY, fence, lease_s=30.0)
    opened.connection.set_trace_callback(None)
    (writing,) = [statement for statement in traced if statement.startswith("UPDATE")]
    before = ask(shop, "SELECT * FROM commitgate_operation")

    def effect(transaction: Transaction) -> bytes:
        with pytest.raises(MisuseError):
            transaction.execute(writing)
        with pytest.raises(MisuseError):
            transaction.execute("COMMIT")
        raise ValueError

    for _ in range(2):
        with pytest.raises(RolledBack):
            await ledger.transact(KEY, fence, effect)
    assert ask(shop, "SELECT * FROM commitgate_operation") == before


async def test_an_effect_may_change_tables_of_its_own_and_read_the_ledgers(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def effect(transaction: Transaction) -> bytes:
        transaction.execute("CREATE TABLE extra (commitgate_key TEXT PRIMARY KEY, n INTEGER)")
        transaction.execute("ALTER TABLE extra ADD COLUMN note TEXT")
        transaction.execute("ALTER TABLE extra RENAME COLUMN n TO number")
        transaction.execute("CREATE INDEX extra_number ON extra (number)")
        transaction.execute("CREATE VIEW seen AS SELECT state FROM commitgate_operation")
        transaction.execute("CREATE TRIGGER again AFTER INSERT ON extra BEGIN UPDATE customer SET name = 'Eve'; END")
        assert transaction.executemany("INSERT INTO extra VALUES (?, ?, ?)", [("a", 1, None), ("b", 2, None)]) == 2
        assert transaction.execute("UPDATE extra SET commitgate_key = :k WHERE number = 1", {"k": "c"}).rowcount == 1
        rows = transaction.execute("SELECT commitgate_key, number FROM extra ORDER BY number")
        assert rows.columns == ("commitgate_key", "number")
        assert rows.fetchone() == ("c", 1)
        assert list(rows) == [("b", 2)]
        assert rows.fetchone() is None
        assert transaction.execute("SELECT * FROM seen").fetchall() == [("effect_started",)]
        assert transaction.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
            "SELECT sum(i), upper('x') FROM n"
        ).fetchall() == [(6, "X")]
        transaction.execute("DROP TRIGGER again")
        transaction.execute("CREATE VIRTUAL TABLE words USING fts5 (word)")
        transaction.execute("INSERT INTO words VALUES ('whole')")
        assert transaction.execute("SELECT * FROM words WHERE words MATCH 'whole'").fetchall() == [("whole",)]
        transaction.execute("DROP TABLE words")
        return b"1"

    await ledger.transact(KEY, fence, effect)
    assert ask(shop, "SELECT name FROM customer") == [("Eve",)]
    assert ask(shop, "SELECT count(*) FROM extra") == [(2,)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", sorted(READABLE_PRAGMAS))
async def test_an_effect_may_ask_for_settings(ledger: SqliteLedger, fingerprint: Fingerprint, name: str) -> None:
    fence = await start(ledger, fingerprint)
    told: dict[str, object] = {}

    def effect(transaction: Transaction) -> bytes:
        told[name] = transaction.execute(f"PRAGMA {name}").fetchone()
        return b"1"

    await ledger.transact(KEY, fence, effect)
    expected = {"user_version": (7,), "application_id": (1234,), "foreign_keys": (1,), "encoding": ("UTF-8",)}
    assert told[name] == expected.get(name, told[name])


async def test_foreign_keys_are_not_enforced_where_that_is_asked_for(shop: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(shop, shares_database=True, enforces_foreign_keys=False)
    fence = await start(ledger, fingerprint)
    await ledger.transact(KEY, fence, lambda t: str(t.execute("INSERT INTO refund (customer) VALUES (99)")).encode())
    assert ask(shop, "SELECT customer FROM refund") == [(99,)]
    await ledger.aclose()


async def test_a_connection_kept_after_the_effect_is_useless(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    kept: list[Any] = []

    def effect(transaction: Transaction) -> bytes:
        rows = transaction.execute("SELECT id FROM customer UNION ALL SELECT 2")
        returning = transaction.execute("INSERT INTO refund (cents) VALUES (1), (2) RETURNING cents")
        assert rows.fetchone() == (1,)
        kept.extend((transaction, rows, returning, iter(rows)))
        return b"1"

    await ledger.transact(KEY, fence, effect)
    transaction, rows, returning, iterator = kept
    uses: list[Callable[[], object]] = [
        lambda: transaction.execute("SELECT 1"),
        lambda: transaction.executemany(REFUND, []),
        rows.fetchone,
        rows.fetchall,
        returning.fetchone,
        lambda: next(iterator),
    ]
    for use in uses:
        with pytest.raises(MisuseError, match="ends with it"):
            use()
    assert refunds(shop) == 2
    await ledger.release(operation_key("x"), await claim_of(ledger, fingerprint, "x"), ending="refused")


async def test_a_connection_is_the_effects_own_threads_alone(ledger: SqliteLedger, fingerprint: Fingerprint) -> None:
    fence = await start(ledger, fingerprint)

    def effect(transaction: Transaction) -> bytes:
        with ThreadPoolExecutor(1) as pool, pytest.raises(MisuseError, match="own thread"):
            pool.submit(transaction.execute, "SELECT 1").result()
        return b"1"

    await ledger.transact(KEY, fence, effect)


async def test_nothing_else_of_the_connection_is_within_reach(ledger: SqliteLedger, fingerprint: Fingerprint) -> None:
    fence = await start(ledger, fingerprint)
    offered: list[set[str]] = []

    def effect(transaction: Transaction) -> bytes:
        rows = transaction.execute("SELECT 1")
        with pytest.raises(AttributeError):
            transaction.row_factory = sqlite3.Row  # type: ignore[attr-defined] # what a program would try
        with pytest.raises(MisuseError, match="statement must be a str"):
            transaction.execute(b"SELECT 1")  # type: ignore[arg-type] # as above
        offered.extend({name for name in dir(thing) if not name.startswith("_")} for thing in (transaction, rows))
        return b"1"

    await ledger.transact(KEY, fence, effect)
    assert offered == [
        {"execute", "executemany"},
        {"rowcount", "columns", "fetchone", "fetchall"},
    ]


@pytest.mark.parametrize("call", ["read", "transact", "other"])
async def test_an_effect_that_calls_its_own_ledger_is_told_so_and_does_not_hang(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, call: str
) -> None:
    fence = await start(ledger, fingerprint)
    other = SqliteLedger(shop, shares_database=True, busy_timeout_s=0.01)

    async def nested() -> object:
        if call == "read":
            return await ledger.read(KEY)
        if call == "transact":
            return await ledger.transact(KEY, fence, refund)
        return await other.extend(KEY, fence, lease_s=30.0)

    def effect(transaction: Transaction) -> bytes:
        del transaction
        anyio.from_thread.run(nested)
        return b"1"

    with anyio.fail_after(20), pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, effect)
    assert isinstance(caught.value.error, LedgerUnavailableError if call == "other" else MisuseError)
    await other.aclose()
