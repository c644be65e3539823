"""A transactional effect in SQLite: its rows and the ledger's word that it ran are there together, or not at all."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    IllegalTransitionError,
    InProgressError,
    LeaseLostError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import Claimed, FaultLedger, FaultPoint, Fingerprint, SqliteLedger, State
from commitgate.ledger.sqlite_authorizer import READABLE_PRAGMAS
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")
SHOP = """
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE refund (
        id INTEGER PRIMARY KEY,
        customer INTEGER REFERENCES customer (id),
        late INTEGER REFERENCES customer (id) DEFERRABLE INITIALLY DEFERRED,
        cents INTEGER CHECK (cents > 0),
        note TEXT UNIQUE
    );
    CREATE TABLE strict_note (note TEXT UNIQUE ON CONFLICT ROLLBACK);
    CREATE TABLE bad (id INTEGER);
    CREATE TRIGGER bad_meddles AFTER INSERT ON bad BEGIN UPDATE commitgate_operation SET fence = 99; END;
    INSERT INTO customer VALUES (1, 'Ada');
    INSERT INTO strict_note VALUES ('taken');
    PRAGMA user_version = 7;
    PRAGMA application_id = 1234;
"""
REFUND = "INSERT INTO refund (customer, cents) VALUES (1, 500)"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript(SHOP)
    connection.close()
    return path


@pytest.fixture
async def ledger(shop: Path, clock) -> AsyncIterator[SqliteLedger]:
    made = SqliteLedger(shop, shares_database=True, clock=clock)
    yield made
    await made.aclose()


async def start(ledger: Any, fingerprint: Fingerprint, *, key: str = KEY, owner: str = "first") -> int:
    claimed = await ledger.claim(key, fingerprint, owner=owner, lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL)
    assert isinstance(claimed, Claimed)
    if claimed.resumed is None:
        await ledger.start_effect(key, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    return claimed.fence


def ask(path: Path, statement: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def refunds(path: Path) -> int:
    return ask(path, "SELECT count(*) FROM refund")[0][0]


def refund(transaction: Transaction) -> bytes:
    transaction.execute(REFUND)
    return b'"T-1"'


async def test_rows_and_the_final_state_are_there_together(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    assert ledger.has_transactions
    fence = await start(ledger, fingerprint)
    seen: list[object] = []

    def watch(transaction: Transaction) -> bytes:
        result = refund(transaction)
        seen.append((refunds(shop), ask(shop, "SELECT state FROM commitgate_operation")))
        return result

    assert await ledger.transact(KEY, fence, watch) == b'"T-1"'
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.state, row.result, row.value, row.lease_expires_at) == (State.COMMITTED, b'"T-1"', b"1", None)
    assert seen == [(0, [("effect_started",)])]
    assert refunds(shop) == 1


def raise_own(transaction: Transaction) -> bytes:
    refund(transaction)
    raise ValueError("no")


def raise_interrupt(transaction: Transaction) -> bytes:
    refund(transaction)
    raise KeyboardInterrupt


def raise_exit(transaction: Transaction) -> bytes:
    refund(transaction)
    raise SystemExit(3)


def break_a_constraint(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSERT INTO refund (cents) VALUES (-1)")
    return b"1"


def break_a_foreign_key(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSERT INTO refund (customer) VALUES (99)")
    return b"1"


def break_a_foreign_key_that_is_checked_at_the_end(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSERT INTO refund (late) VALUES (99)")
    return b"1"


def misspell(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSRT INTO refund VALUES (1)")
    return b"1"


def name_a_missing_table(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.executemany("INSERT INTO refnd VALUES (?)", [(1,)])
    return b"1"


def run_two_statements(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute(f"{REFUND}; COMMIT")
    return b"1"


def drop_what_is_being_read(transaction: Transaction) -> bytes:
    refund(transaction)
    rows = transaction.execute("SELECT * FROM customer")
    transaction.execute("DROP TABLE strict_note")
    rows.fetchone()
    transaction.execute("DROP TABLE customer")
    return b"1"


def give_a_wrong_value(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSERT INTO customer VALUES (?, ?)", (2, object()))
    return b"1"


def let_sqlite_roll_back(transaction: Transaction) -> bytes:
    refund(transaction)
    transaction.execute("INSERT INTO strict_note VALUES ('taken')")
    return b"1"


def swallow_that_sqlite_rolled_back(transaction: Transaction) -> bytes:
    refund(transaction)
    with suppress(sqlite3.IntegrityError):
        transaction.execute("INSERT OR ROLLBACK INTO customer VALUES (1, 'again')")
    return b"1"


def go_on_after_sqlite_rolled_back(transaction: Transaction) -> bytes:
    refund(transaction)
    try:
        transaction.execute("INSERT INTO strict_note VALUES ('taken')")
    except sqlite3.IntegrityError:
        refund(transaction)
    return b"1"


@pytest.mark.parametrize(
    ("effect", "raised"),
    [
        (raise_own, ValueError),
        (raise_interrupt, KeyboardInterrupt),
        (raise_exit, SystemExit),
        (break_a_constraint, sqlite3.IntegrityError),
        (break_a_foreign_key, sqlite3.IntegrityError),
        (break_a_foreign_key_that_is_checked_at_the_end, sqlite3.IntegrityError),
        (misspell, sqlite3.OperationalError),
        (name_a_missing_table, sqlite3.OperationalError),
        (run_two_statements, (sqlite3.Warning, sqlite3.ProgrammingError)),
        (drop_what_is_being_read, sqlite3.OperationalError),
        (give_a_wrong_value, (sqlite3.InterfaceError, sqlite3.ProgrammingError)),
        (let_sqlite_roll_back, sqlite3.IntegrityError),
        (swallow_that_sqlite_rolled_back, sqlite3.IntegrityError),
        (go_on_after_sqlite_rolled_back, MisuseError),
    ],
    ids=lambda thing: thing.__name__ if callable(thing) and not isinstance(thing, type) else "",
)
async def test_an_effect_that_raises_or_breaks_a_rule_leaves_nothing_behind(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, effect: Callable[[Transaction], bytes], raised: Any
) -> None:
    fence = await start(ledger, fingerprint)
    before = await ledger.read(KEY)
    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, effect)
    assert isinstance(caught.value.error, raised)
    assert refunds(shop) == 0
    assert await ledger.read(KEY) == before
    assert await ledger.transact(KEY, fence, refund) == b'"T-1"'
    assert refunds(shop) == 1


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


async def claim_of(ledger: SqliteLedger, fingerprint: Fingerprint, name: str) -> int:
    claimed = await ledger.claim(operation_key(name), fingerprint, owner=name, lease_s=30.0)
    assert isinstance(claimed, Claimed)
    return claimed.fence


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


async def test_a_stale_fence_runs_nothing(ledger: SqliteLedger, fingerprint: Fingerprint, clock) -> None:
    ran: list[str] = []

    def effect(transaction: Transaction) -> bytes:
        del transaction
        ran.append("ran")
        return b"1"

    first = await start(ledger, fingerprint)
    clock.now += 31
    second = await start(ledger, fingerprint, owner="second")
    assert second == first + 1
    with pytest.raises(LeaseLostError):
        await ledger.transact(KEY, first, effect)
    assert ran == []
    await ledger.transact(KEY, second, effect)
    with pytest.raises(LeaseLostError):
        await ledger.transact(KEY, second, effect)
    assert ran == ["ran"]


async def test_an_effect_that_was_not_started_is_not_run(ledger: SqliteLedger, fingerprint: Fingerprint) -> None:
    fence = await claim_of(ledger, fingerprint, "case-4711")
    with pytest.raises(IllegalTransitionError):
        await ledger.transact(KEY, fence, raise_own)
    with pytest.raises(IllegalTransitionError):
        await ledger.transact(operation_key("never claimed"), 1, raise_own)


@pytest.mark.parametrize("swallowed", [False, True])
async def test_a_full_disk_under_an_effect_is_the_ledgers_fault(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, swallowed: bool
) -> None:
    fence = await start(ledger, fingerprint)
    opened = ledger._open
    assert opened is not None
    pages = opened.connection.execute("PRAGMA page_count").fetchone()[0]
    opened.connection.execute(f"PRAGMA max_page_count = {pages}")

    def effect(transaction: Transaction) -> bytes:
        refund(transaction)
        try:
            transaction.execute("INSERT INTO customer VALUES (2, zeroblob(1000000))")
        except sqlite3.OperationalError:
            if not swallowed:
                raise
        return b"1"

    with pytest.raises(LedgerUnavailableError, match="disk is full"):
        await ledger.transact(KEY, fence, effect)
    opened.connection.execute("PRAGMA max_page_count = 100000")
    assert refunds(shop) == 0
    assert await ledger.transact(KEY, fence, refund) == b'"T-1"'


async def test_a_lock_that_another_program_holds_is_the_ledgers_fault(shop: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(shop, shares_database=True, busy_timeout_s=0.05)
    fence = await start(ledger, fingerprint)
    other = sqlite3.connect(shop, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ran: list[str] = []
    with pytest.raises(LedgerUnavailableError, match="another process holds it"):
        await ledger.transact(KEY, fence, lambda _: bytes(len(ran.append("ran") or b"1")))
    assert ran == []
    row = await ledger.read(KEY)  # reading waits for nobody
    assert row is not None
    assert row.state is State.EFFECT_STARTED
    other.execute("ROLLBACK")
    other.close()
    await ledger.aclose()


async def test_a_lost_acknowledgement_is_settled_by_reading_back(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    async def lose(point: FaultPoint) -> None:
        if point is FaultPoint.AFTER_COMMIT:
            raise LedgerUnavailableError("the answer was lost")

    lossy = FaultLedger(ledger, lose)
    assert lossy.has_transactions
    fence = await start(lossy, fingerprint)
    with pytest.raises(LedgerUnavailableError, match="lost"):
        await lossy.transact(KEY, fence, refund)
    row = await lossy.read(KEY)
    assert row is not None
    assert (row.state, row.result) == (State.COMMITTED, b'"T-1"')
    assert refunds(shop) == 1


async def test_a_fault_inside_the_transaction_leaves_nothing_behind(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    reached: list[FaultPoint] = []

    async def fail(point: FaultPoint) -> None:
        reached.append(point)
        if point is FaultPoint.INSIDE_EFFECT:
            raise OSError("power cut")

    faulty = FaultLedger(ledger, fail)
    fence = await start(faulty, fingerprint)
    with pytest.raises(RolledBack) as caught:
        await faulty.transact(KEY, fence, refund)
    assert isinstance(caught.value.error, OSError)
    assert refunds(shop) == 0
    assert reached == [
        FaultPoint.BEFORE_CLAIM,
        FaultPoint.AFTER_CLAIM,
        FaultPoint.BEFORE_INTENT,
        FaultPoint.AFTER_INTENT,
        FaultPoint.INSIDE_EFFECT,
    ]


async def test_steps_of_other_calls_wait_while_an_effect_runs_and_then_all_happen(
    ledger: SqliteLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    beaten = [(f"call {number}", await claim_of(ledger, fingerprint, f"call {number}")) for number in range(8)]
    done: list[str] = []
    is_running, may_end = anyio.Event(), threading.Event()

    def effect(transaction: Transaction) -> bytes:
        anyio.from_thread.run_sync(is_running.set)
        assert may_end.wait(60)
        return refund(transaction)

    async def act() -> None:
        await ledger.transact(KEY, fence, effect)
        done.append("effect")

    async def beat(name: str, beaten_fence: int) -> None:
        await ledger.extend(operation_key(name), beaten_fence, lease_s=60.0)
        done.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(act)
        await is_running.wait()
        async with anyio.create_task_group() as beats:
            for name, beaten_fence in beaten:
                beats.start_soon(beat, name, beaten_fence)
            await anyio.wait_all_tasks_blocked()
            assert done == []
            may_end.set()
    assert sorted(done) == sorted(["effect", *(name for name, _ in beaten)])


CALLERS = 64


def test_callers_with_connections_of_their_own_wait_for_an_effect_and_see_no_lock(
    shop: Path, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Semaphore(0)
    connect = sqlite3.connect

    def connect_watched(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        if options.get("uri"):
            connection.set_trace_callback(lambda text: asked.release() if text == "BEGIN IMMEDIATE" else None)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_watched)
    holder = SqliteLedger(shop, shares_database=True)
    fence = anyio.run(start, holder, fingerprint)
    is_running, may_end = threading.Event(), threading.Event()

    def effect(transaction: Transaction) -> bytes:
        is_running.set()
        assert may_end.wait(60)
        return refund(transaction)

    async def call(number: int) -> object:
        ledger = SqliteLedger(shop, shares_database=True, busy_timeout_s=60.0)
        try:
            return await ledger.claim(operation_key(f"call {number}"), fingerprint, owner="x", lease_s=30.0)
        finally:
            await ledger.aclose()

    with ThreadPoolExecutor(CALLERS + 1) as pool:
        acting = pool.submit(anyio.run, holder.transact, KEY, fence, effect)
        assert is_running.wait(60)
        while asked.acquire(blocking=False):
            pass
        calls = [pool.submit(anyio.run, call, number) for number in range(CALLERS)]
        for _ in range(CALLERS):
            assert asked.acquire(timeout=60)
        may_end.set()
        assert acting.result(60) == b'"T-1"'
        assert [waiting.result(60) for waiting in calls] == [Claimed(1, 1)] * CALLERS
    anyio.run(holder.aclose)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_calls_that_race_for_one_key_have_one_effect(shop: Path, fingerprint: Fingerprint, backend: str) -> None:
    barrier = threading.Barrier(8, timeout=60)

    async def race(number: int) -> str:
        ledger = SqliteLedger(shop, shares_database=True)
        barrier.wait()
        try:
            return (await ledger.transact(KEY, await start(ledger, fingerprint, owner=str(number)), refund)).decode()
        except (InProgressError, AssertionError):
            return "held or replayed"
        finally:
            await ledger.aclose()

    with ThreadPoolExecutor(8) as pool:
        endings = list(pool.map(lambda number: anyio.run(race, number, backend=backend), range(8)))
    assert endings.count('"T-1"') == 1
    assert refunds(shop) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_by_an_effect_does_not_end_its_transaction(shop: Path) -> None:
    program = """
import os, sys, anyio
from commitgate.effect_kind import EffectKind
from commitgate.ledger import Fingerprint, SqliteLedger
from commitgate.retry import operation_key
ledger = SqliteLedger(sys.argv[1], shares_database=True)
key, fingerprint = operation_key("k"), Fingerprint("l", None, None, "i")
async def start():
    claimed = await ledger.claim(key, fingerprint, owner="p", lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL)
    await ledger.start_effect(key, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
def effect(transaction):
    transaction.execute("INSERT INTO refund (cents) VALUES (1)")
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    transaction.execute("INSERT INTO refund (cents) VALUES (2)")
    return b"1"
anyio.run(start)
anyio.run(ledger.transact, key, 1, effect)
assert anyio.run(ledger.read, key).state == "committed"
anyio.run(ledger.aclose)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program, str(shop)], check=True, timeout=60)
    assert refunds(shop) == 2


KILLED = """
import os, signal, sys, anyio
from commitgate.effect import Effect
from commitgate.effect_kind import EffectKind
from commitgate.ledger import FaultLedger, FaultPoint, Fingerprint, Operation, SqliteLedger
from commitgate.retry import operation_key

def refund(value, context):
    context.connection.execute("INSERT INTO refund (customer, cents) VALUES (1, 500)")
    return "T-1"

def ignore():
    pass

async def call(path, killed_at):
    async def reach(point):
        if point == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
    ledger = FaultLedger(SqliteLedger(path, shares_database=True, clock=lambda: 1000.0), reach)
    effect = Effect(refund, name="refund", version="1", adapter=None, kind=EffectKind.TRANSACTIONAL)
    async with anyio.create_task_group() as group:
        driven = Operation(ledger, group, operation_key("case-4711"), Fingerprint("l", "refund", "1", "i"), effect,
                           owner="first", on_lease_lost=ignore, lease_s=30.0)
        async with driven:
            await driven.commit(1, value_json=b"1", receipt_json=b"{}")

for killed_at in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        anyio.run(call, os.path.join(sys.argv[1], killed_at), killed_at)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL, killed_at
"""
LEFT_BY_A_KILL: dict[FaultPoint, tuple[list[str], int]] = {
    FaultPoint.BEFORE_CLAIM: ([], 0),
    FaultPoint.AFTER_CLAIM: (["claimed"], 0),
    FaultPoint.BEFORE_INTENT: (["claimed"], 0),
    FaultPoint.AFTER_INTENT: (["effect_started"], 0),
    FaultPoint.INSIDE_EFFECT: (["effect_started"], 0),
    FaultPoint.AFTER_COMMIT: (["committed"], 1),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_is_killed_at_any_point_leaves_an_effect_that_happens_exactly_once(
    shop: Path, tmp_path: Path
) -> None:
    for point in LEFT_BY_A_KILL:
        shutil.copy(shop, tmp_path / point)
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), *LEFT_BY_A_KILL], check=True, timeout=120)
    fingerprint = Fingerprint("l", "refund", "1", "i")

    async def call_again(path: Path) -> None:
        ledger = SqliteLedger(path, shares_database=True, clock=lambda: 2_000.0)
        found = await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL)
        if isinstance(found, Claimed):
            if found.resumed is None:
                await ledger.start_effect(KEY, found.fence, value=b"1", receipt=b"{}", lease_s=30.0)
            await ledger.transact(KEY, found.fence, refund)
        await ledger.aclose()

    for point, (states, effects) in LEFT_BY_A_KILL.items():
        path = tmp_path / point
        found = anyio.run(states_of, path)
        assert (point, found, refunds(path)) == (point, states, effects)
        anyio.run(call_again, path)
        assert (point, anyio.run(states_of, path), refunds(path)) == (point, ["committed"], 1)


async def states_of(path: Path) -> list[str]:
    ledger = SqliteLedger(path, shares_database=True)
    states = [row.state.value for row in await ledger.list()]
    await ledger.aclose()
    return states


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_native_cancellation_of_the_caller_leaves_the_whole_effect(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    is_running, may_end = threading.Event(), threading.Event()

    def effect(transaction: Transaction) -> bytes:
        result = refund(transaction)
        is_running.set()
        assert may_end.wait(60)
        return result

    task = asyncio.ensure_future(ledger.transact(KEY, fence, effect))
    await anyio.to_thread.run_sync(is_running.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    may_end.set()
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.state, row.result, refunds(shop)) == (State.COMMITTED, b'"T-1"', 1)
