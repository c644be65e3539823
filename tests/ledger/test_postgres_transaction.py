"""Transactional effects on a Postgres ledger: all of their rows or none, and what they may not do."""

import threading
from collections.abc import AsyncIterator, Callable

import anyio
import psycopg
import psycopg.errors
import pytest
from ledger.postgres_server import PostgresServer

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    EffectRejected,
    IllegalTransitionError,
    LeaseLostError,
    LedgerUnavailableError,
    MisuseError,
)
from commitgate.ledger import Claimed, Fingerprint, PostgresLedger, Record, State
from commitgate.ledger.postgres_connections import Bounds, Connections
from commitgate.ledger.postgres_transaction import PostgresTransaction
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.retry import OperationKey, operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")
OTHER = operation_key("case-4712")
DONE = b'"T-1"'


@pytest.fixture
async def ledger(postgres_url: str) -> AsyncIterator[PostgresLedger]:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE refund (id integer PRIMARY KEY, note text)")
        connection.execute(
            "CREATE TABLE late (id integer REFERENCES refund DEFERRABLE INITIALLY DEFERRED, note text)",
        )
    made = PostgresLedger(postgres_url)
    yield made
    await made.aclose()


async def start(ledger: PostgresLedger, fingerprint: Fingerprint, key: OperationKey = KEY) -> int:
    claimed = await ledger.claim(key, fingerprint, owner="first", lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL)
    assert isinstance(claimed, Claimed)
    await ledger.start_effect(key, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    return claimed.fence


async def row_of(ledger: PostgresLedger, key: OperationKey = KEY) -> Record:
    row = await ledger.read(key)
    assert row is not None
    return row


def refunds(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT id, note FROM refund ORDER BY id").fetchall()


def refund(connection: Transaction) -> bytes:
    connection.execute("INSERT INTO refund VALUES (%s, %s)", (1, "first"))
    return DONE


async def test_rows_of_the_effect_and_its_result_are_committed_together(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    assert ledger.has_transactions
    assert await ledger.transact(KEY, fence, refund) == DONE
    row = await row_of(ledger)
    assert (row.state, row.result, row.value, row.lease_expires_at) == (State.COMMITTED, DONE, b"1", None)
    assert refunds(postgres_url) == [(1, "first")]


async def test_before_the_commit_nobody_sees_anything(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    seen: list[object] = []

    def work(connection: Transaction) -> bytes:
        refund(connection)
        with psycopg.connect(postgres_url) as other:
            seen.append(other.execute("SELECT count(*) FROM refund").fetchone())
            seen.append(other.execute("SELECT state FROM commitgate_operation").fetchone())
        return DONE

    await ledger.transact(KEY, fence, work)
    assert seen == [(0,), ("effect_started",)]


@pytest.mark.parametrize("error", [EffectRejected("sold out"), OSError("x"), psycopg.OperationalError("x")], ids=repr)
async def test_what_the_effect_raises_rolls_back_and_comes_out_as_it_was(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint, error: Exception
) -> None:
    fence = await start(ledger, fingerprint)
    before = await row_of(ledger)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        raise error

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert caught.value.error is error
    assert refunds(postgres_url) == []
    assert await row_of(ledger) == before
    assert await ledger.transact(KEY, fence, refund) == DONE


async def test_an_error_of_the_database_is_the_effects(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        return refund(connection)

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, psycopg.errors.UniqueViolation)
    assert refunds(postgres_url) == []


async def test_an_effect_that_goes_on_after_a_failed_statement_is_not_committed(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM missing")
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, MisuseError)
    assert "let the error out" in str(caught.value.error)
    assert (await row_of(ledger)).state is State.EFFECT_STARTED
    assert refunds(postgres_url) == []


async def test_a_deferred_constraint_fails_inside_of_the_effect(
    ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        connection.execute("INSERT INTO late VALUES (7)")
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, psycopg.errors.ForeignKeyViolation)
    assert (await row_of(ledger)).state is State.EFFECT_STARTED


@pytest.mark.parametrize("is_stale", [True, False])
async def test_an_effect_is_not_run_under_a_claim_that_is_not_this_calls(
    ledger: PostgresLedger, fingerprint: Fingerprint, is_stale: bool
) -> None:
    fence = await start(ledger, fingerprint)
    if not is_stale:
        await ledger.mark_in_doubt(KEY, fence, reason="x")
    ran: list[object] = []
    with pytest.raises(LeaseLostError):
        await ledger.transact(KEY, fence - is_stale, lambda connection: ran.append(connection) or DONE)
    assert ran == []


async def test_an_effect_that_was_not_started_is_not_run(ledger: PostgresLedger, fingerprint: Fingerprint) -> None:
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    ran: list[object] = []
    for key in (KEY, OTHER):
        with pytest.raises(IllegalTransitionError):
            await ledger.transact(key, claimed.fence, lambda connection: ran.append(connection) or DONE)
    assert ran == []


REFUSED = [
    "COMMIT",
    "rollback",
    " /* a /* b */ SELECT */ -- SELECT\n (COMMIT)",
    "BEGIN",
    "START TRANSACTION",
    "END",
    "ABORT",
    "SAVEPOINT a",
    "RELEASE a",
    "PREPARE a AS SELECT 1",
    "PREPARE TRANSACTION 'a'",
    "EXECUTE a",
    "DEALLOCATE ALL",
    "SET search_path = x",
    "RESET ALL",
    "DISCARD ALL",
    "COPY refund TO STDOUT",
    "LISTEN a",
    "NOTIFY a",
    "LOCK refund",
    "DO $$ BEGIN END $$",
    "CREATE TABLE a (b int)",
    "DROP TABLE refund",
    "TRUNCATE refund",
    "",
    "--",
    "/* SELECT",
    "; SELECT 1",
]


@pytest.mark.parametrize("statement", REFUSED)
async def test_statements_that_do_more_than_read_and_write_rows_are_refused(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint, statement: str
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        with pytest.raises(MisuseError):
            connection.executemany(statement, [()])
        connection.execute(statement)
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, MisuseError)
    assert refunds(postgres_url) == []


@pytest.mark.parametrize("statement", ["SELECT 1; COMMIT", "SELECT 1; SELECT 2", "INSERT INTO refund VALUES (2); END"])
@pytest.mark.parametrize("parameters", [(), {"a": 1}])
async def test_two_statements_in_one_are_refused_by_the_server(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint, statement: str, parameters: object
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        connection.execute(f"/* {'%(a)s' if parameters else ''} */ {statement}", parameters)
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, psycopg.errors.SyntaxError)
    assert refunds(postgres_url) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE commitgate_operation SET state = 'released'",
        "delete  from only commitgate_operation",
        'INSERT INTO "commitgate_schema" (version) VALUES (9)',
        "WITH a AS (DELETE FROM public.commitgate_operation RETURNING 1) SELECT * FROM a",
        "UPDATE /* hidden */ commitgate_operation SET state = 'released'",
        "SELECT release_all()",
        "CALL release_them()",
        "INSERT INTO refund VALUES (2, 'and a trigger')",
        "SELECT empty_it()",
    ],
)
async def test_writes_on_the_ledgers_own_tables_are_refused_however_they_are_made(
    ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint, statement: str
) -> None:
    fence = await start(ledger, fingerprint)
    await start(ledger, fingerprint, OTHER)
    write = "UPDATE commitgate_operation SET state = 'released'"
    with psycopg.connect(postgres_url) as connection:
        for made in (
            f"CREATE FUNCTION release_all() RETURNS void LANGUAGE sql AS $$ {write} $$",
            "CREATE FUNCTION empty_it() RETURNS void LANGUAGE sql AS $$ TRUNCATE commitgate_operation $$",
            f"CREATE PROCEDURE release_them() LANGUAGE sql AS $$ {write} $$",
            f"CREATE FUNCTION release_too() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {write}; RETURN NEW; END $$",
            "CREATE CONSTRAINT TRIGGER too AFTER INSERT ON refund DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
            "WHEN (NEW.id = 2) EXECUTE FUNCTION release_too()",
        ):
            connection.execute(made.encode())

    def work(connection: Transaction) -> bytes:
        refund(connection)
        assert connection.execute("SELECT count(*) FROM commitgate_operation").fetchone() == (2,)
        connection.execute(statement)
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, MisuseError)
    assert "the ledger's own tables" in str(caught.value.error)
    assert refunds(postgres_url) == []
    assert {row.state for row in await ledger.list()} == {State.EFFECT_STARTED}


async def test_a_procedure_cannot_commit(ledger: PostgresLedger, postgres_url: str, fingerprint: Fingerprint) -> None:
    fence = await start(ledger, fingerprint)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE PROCEDURE settle() LANGUAGE plpgsql AS $$ BEGIN COMMIT; END $$")

    def work(connection: Transaction) -> bytes:
        refund(connection)
        connection.execute("CALL settle()")
        return DONE

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, psycopg.errors.InvalidTransactionTermination)
    assert refunds(postgres_url) == []


async def test_a_transaction_that_is_not_the_same_any_more_is_noticed(postgres_url: str) -> None:
    connections = Connections(postgres_url, most=2, bounds=Bounds(connect_s=10, lock_s=1, statement_s=10))

    def swap() -> None:
        with connections.lend() as loan:
            transaction = PostgresTransaction(loan)
            loan.connection.execute("COMMIT; BEGIN")
            transaction.settle()

    with pytest.raises(MisuseError, match="ended its transaction"):
        await anyio.to_thread.run_sync(swap)
    connections.close()


@pytest.mark.parametrize("is_local", [True, False])
async def test_settings_that_an_effect_changes_are_its_own(
    postgres_url: str, ledger: PostgresLedger, fingerprint: Fingerprint, is_local: bool
) -> None:
    fence = await start(ledger, fingerprint)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE seen (synchronous_commit text)")
        connection.execute(
            "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$"
        )
        connection.execute(
            "CREATE TRIGGER see BEFORE UPDATE ON commitgate_operation FOR EACH ROW EXECUTE FUNCTION see()"
        )

    def work(connection: Transaction) -> bytes:
        refund(connection)
        for name, text in (("search_path", "pg_catalog"), ("synchronous_commit", "off"), ("work_mem", "1MB")):
            connection.execute("SELECT set_config(%s, %s, %s)", (name, text, is_local))
        connection.execute("SELECT pg_advisory_lock(1)")
        return DONE

    await ledger.transact(KEY, fence, work)
    fence = await start(ledger, fingerprint, OTHER)
    found: list[object] = []

    def look(connection: Transaction) -> bytes:
        for statement in (
            "SELECT current_setting('work_mem') = '1MB'",
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
            "SELECT DISTINCT synchronous_commit FROM seen",
        ):
            found.extend(connection.execute(statement))
        return DONE

    await ledger.transact(OTHER, fence, look)
    assert found == [(False,), (0,), ("on",)]


async def test_what_an_effect_that_failed_locked_is_free_again(
    postgres_url: str, ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def lock_and_decline(connection: Transaction) -> bytes:
        connection.execute("SELECT pg_advisory_lock(11, 5)")
        raise EffectRejected("no")

    with pytest.raises(RolledBack):
        await ledger.transact(KEY, fence, lock_and_decline)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT pg_try_advisory_lock(11, 5)").fetchone() == (True,)


async def test_an_effect_runs_after_one_that_the_ledger_could_not_record(
    postgres_url: str, ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    def note(connection: Transaction) -> bytes:
        connection.execute("INSERT INTO refund (id) SELECT count(*) FROM refund")
        return DONE

    fence = await start(ledger, fingerprint)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER fail BEFORE UPDATE ON commitgate_operation FOR EACH ROW "
            "WHEN (NEW.state = 'committed' AND NEW.attempt < 2) EXECUTE FUNCTION fail()"
        )
    for _ in range(2):
        with pytest.raises(LedgerUnavailableError):
            await ledger.transact(KEY, fence, note)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DROP TRIGGER fail ON commitgate_operation")
    assert await ledger.transact(KEY, fence, note) == DONE


async def test_a_row_that_the_database_does_not_write_keeps_nothing_of_the_effect(
    postgres_url: str, ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$")
        connection.execute(
            "CREATE TRIGGER skip BEFORE UPDATE ON commitgate_operation FOR EACH ROW EXECUTE FUNCTION skip()"
        )
    with pytest.raises(LedgerUnavailableError, match="trigger"):
        await ledger.transact(KEY, fence, refund)
    assert refunds(postgres_url) == []


async def test_the_connection_is_the_effects_for_as_long_as_it_runs(
    ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)
    kept: list[Transaction] = []

    def work(connection: Transaction) -> bytes:
        kept.append(connection)
        return DONE

    await ledger.transact(KEY, fence, work)
    with pytest.raises(MisuseError, match="the effect is over"):
        kept[0].execute("SELECT 1")


async def test_another_thread_cannot_use_the_connection(ledger: PostgresLedger, fingerprint: Fingerprint) -> None:
    fence = await start(ledger, fingerprint)
    raised: list[object] = []

    def work(connection: Transaction) -> bytes:
        def use() -> None:
            try:
                connection.execute("SELECT 1")
            except MisuseError as error:
                raised.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        return DONE

    await ledger.transact(KEY, fence, work)
    assert raised == ["a transactional effect must use its connection in the thread in which it runs"]


@pytest.mark.parametrize("is_in_statement", [True, False])
async def test_an_effect_that_takes_too_long_is_ended_by_the_server(
    postgres_server: PostgresServer,
    ledger: PostgresLedger,
    postgres_url: str,
    fingerprint: Fingerprint,
    is_in_statement: bool,
) -> None:
    fence = await start(ledger, fingerprint)
    hasty = PostgresLedger(postgres_url, statement_timeout_s=0.1)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        if is_in_statement:
            connection.execute("SELECT pg_sleep(60)")
        postgres_server.wait_until("NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)", pid)
        return DONE

    with pytest.raises(RolledBack if is_in_statement else LedgerUnavailableError) as caught:
        await hasty.transact(KEY, fence, work)
    if isinstance(caught.value, RolledBack):
        assert isinstance(caught.value.error, psycopg.errors.QueryCanceled)
    assert (await row_of(ledger)).state is State.EFFECT_STARTED
    assert refunds(postgres_url) == []
    await hasty.aclose()


async def test_rows_are_handed_over_and_no_way_to_the_connection(
    ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        assert connection.executemany("INSERT INTO refund VALUES (%s, %s)", [(1, "a"), (2, "50 %"), (3, None)]) == 3
        assert connection.executemany("INSERT INTO refund VALUES (%s, %s)", []) == 0
        changed = connection.execute("UPDATE refund SET note = %(note)s WHERE id > 1", {"note": "b"})
        assert (changed.rowcount, changed.columns, changed.fetchone(), changed.fetchall()) == (2, (), None, [])
        rows = connection.execute("SELECT id, note FROM refund ORDER BY id")
        assert rows.columns == ("id", "note")
        assert rows.fetchone() == (1, "a")
        assert list(rows) == [(2, "b"), (3, "b")]
        assert rows.fetchone() is None
        assert connection.execute("SELECT note LIKE '%a' FROM refund WHERE id = 1").fetchall() == [(True,)]
        assert not hasattr(rows, "connection")
        return DONE

    await ledger.transact(KEY, fence, work)


async def test_effects_that_block_leave_a_connection_to_the_heartbeat(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url, connections=2)
    keys = [operation_key(str(number)) for number in range(3)]
    fences = [await start(ledger, fingerprint, key) for key in keys]
    fence = await start(ledger, fingerprint)
    is_inside, go_on = threading.Event(), threading.Event()

    def work(connection: Transaction) -> bytes:
        connection.execute("SELECT 1")
        is_inside.set()
        assert go_on.wait(30)
        return DONE

    async with anyio.create_task_group() as group:
        for key, given in zip(keys, fences, strict=True):
            group.start_soon(ledger.transact, key, given, work)
        await anyio.to_thread.run_sync(is_inside.wait)
        for _ in range(3):
            await ledger.extend(KEY, fence, lease_s=30.0)
        go_on.set()
    assert [row.state for row in await ledger.list() if row.key != KEY] == [State.COMMITTED] * 3
    await ledger.aclose()


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_a_connection_lost_in_the_effect_is_the_ledgers_fault_and_nothing_is_kept(
    postgres_server: PostgresServer,
    ledger: PostgresLedger,
    postgres_url: str,
    fingerprint: Fingerprint,
    is_noticed: bool,
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        refund(connection)
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        with postgres_server.connect() as other:
            assert other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,)).fetchone() == (True,)
        if is_noticed:
            connection.execute("SELECT 1")
        return DONE

    with pytest.raises(LedgerUnavailableError, match="cannot be used"):
        await ledger.transact(KEY, fence, work)
    assert (await row_of(ledger)).state is State.EFFECT_STARTED
    assert refunds(postgres_url) == []
    assert await ledger.transact(KEY, fence, refund) == DONE
    assert refunds(postgres_url) == [(1, "first")]


async def test_an_effect_with_a_connection_lost_says_what_it_raised_itself(
    postgres_server: PostgresServer, ledger: PostgresLedger, fingerprint: Fingerprint
) -> None:
    fence = await start(ledger, fingerprint)

    def work(connection: Transaction) -> bytes:
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        with postgres_server.connect() as other:
            other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
        raise EffectRejected("sold out")

    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, EffectRejected)


def exit_now(connection: Transaction) -> bytes:
    raise SystemExit(3)


@pytest.mark.parametrize("work", [exit_now], ids=["SystemExit"])
async def test_an_effect_that_wants_to_end_the_program_rolls_back(
    ledger: PostgresLedger, fingerprint: Fingerprint, work: Callable[[Transaction], bytes]
) -> None:
    fence = await start(ledger, fingerprint)
    with pytest.raises(RolledBack) as caught:
        await ledger.transact(KEY, fence, work)
    assert isinstance(caught.value.error, SystemExit)
