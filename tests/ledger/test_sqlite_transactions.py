"""A transactional effect in SQLite: its rows and the ledger's word that it ran are there together, or not at all."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from ledger.sqlite_shop import KEY, REFUND, ask, claim_of, refund, refunds, start

from commitgate.errors import (
    IllegalTransitionError,
    LeaseLostError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import FaultLedger, FaultPoint, Fingerprint, SqliteLedger, State
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio


@pytest.fixture
def ledger(shop_ledger: SqliteLedger) -> SqliteLedger:
    return shop_ledger


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


def roll_back_amid_a_statement(transaction: Transaction) -> bytes:
    def rows() -> Iterator[tuple[int]]:
        yield (500,)
        with suppress(sqlite3.IntegrityError):
            transaction.execute("INSERT INTO strict_note VALUES ('taken')")
        yield (501,)

    refund(transaction)
    with suppress(Exception):
        transaction.executemany("INSERT INTO refund (cents) VALUES (?)", rows())
    return b"1"


def roll_back_while_a_parameter_is_written(transaction: Transaction) -> bytes:
    class Cents:
        def __conform__(self, protocol: object) -> int:
            with suppress(sqlite3.IntegrityError):
                transaction.execute("INSERT INTO strict_note VALUES ('taken')")
            return 500

    with suppress(Exception):
        transaction.execute("INSERT INTO refund (cents) VALUES (?)", (Cents(),))
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
        (roll_back_amid_a_statement, sqlite3.IntegrityError),
        (roll_back_while_a_parameter_is_written, sqlite3.IntegrityError),
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


def fill_the_disk(ledger: SqliteLedger, *, is_full: bool) -> None:
    opened = ledger._open
    assert opened is not None
    pages = opened.connection.execute("PRAGMA page_count").fetchone()[0] if is_full else 100_000
    opened.connection.execute(f"PRAGMA max_page_count = {pages}")


def fill(transaction: Transaction) -> None:
    refund(transaction)
    transaction.execute("INSERT INTO customer VALUES (2, zeroblob(1000000))")


@pytest.mark.parametrize("swallowed", [False, True])
async def test_a_full_disk_under_an_effect_is_the_ledgers_fault(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint, swallowed: bool
) -> None:
    fence = await start(ledger, fingerprint)
    fill_the_disk(ledger, is_full=True)

    def effect(transaction: Transaction) -> bytes:
        try:
            fill(transaction)
        except sqlite3.OperationalError:
            if not swallowed:
                raise
        return b"1"

    with pytest.raises(LedgerUnavailableError, match="disk is full"):
        await ledger.transact(KEY, fence, effect)
    fill_the_disk(ledger, is_full=False)
    assert refunds(shop) == 0
    assert await ledger.transact(KEY, fence, refund) == b'"T-1"'


async def test_an_interrupt_is_told_though_the_disk_was_full(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    fill_the_disk(ledger, is_full=True)

    def effect(transaction: Transaction) -> bytes:
        with suppress(sqlite3.OperationalError):
            fill(transaction)
        raise KeyboardInterrupt

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, effect)
    assert isinstance(caught.value.error, KeyboardInterrupt)
    assert refunds(shop) == 0


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


async def test_an_effect_that_was_found_in_doubt_meanwhile_is_not_run(
    ledger: SqliteLedger, shop: Path, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    await ledger.mark_in_doubt(KEY, fence, reason="x")
    with pytest.raises(LeaseLostError):
        await ledger.transact(KEY, fence, refund)
    assert refunds(shop) == 0
