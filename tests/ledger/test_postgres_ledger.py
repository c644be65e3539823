"""What only the Postgres store can get wrong: its server, its locks, its clock, its errors."""

import asyncio
import logging
import os
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import anyio
import psycopg
import psycopg.errors
import pytest
from ledger.postgres_server import PASSWORD, PostgresServer

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LedgerError,
    LedgerUnavailableError,
    MissingExtraError,
    MisuseError,
)
from commitgate.ledger import Claimed, Fingerprint, PostgresLedger, Record, State, ledger_at
from commitgate.ledger.postgres_connections import Bounds, Connections
from commitgate.ledger.postgres_errors import advice, mapped
from commitgate.ledger.postgres_schema import FENCE_LOCK, LOCK_SPACE, MIGRATIONS, migrate
from commitgate.ledger.states import is_prunable
from commitgate.retry import OperationKey, operation_key

KEY = operation_key("case-4711")
OTHER = operation_key("case-4712")
RACERS = 8
WAIT_S = 30.0
BOUNDS = Bounds(connect_s=10, lock_s=1, statement_s=10)


async def claim(ledger: PostgresLedger, fingerprint: Fingerprint, key: OperationKey = KEY) -> int:
    claimed = await ledger.claim(key, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    return claimed.fence


async def state_of(ledger: PostgresLedger, key: OperationKey = KEY) -> State | None:
    row = await ledger.read(key)
    return None if row is None else row.state


def schema_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT current_schema()").fetchone()
        assert row is not None
        return str(row[0])


def lock_row(url: str) -> psycopg.Connection:
    """Return a connection that holds the lock of all rows until it is rolled back."""
    connection = psycopg.connect(url)
    connection.execute("SELECT key FROM commitgate_operation FOR UPDATE")
    return connection


@pytest.mark.anyio
async def test_nothing_is_opened_before_the_first_use_and_nothing_is_left_open(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    name = f"lifecycle {schema_of(postgres_url)}"
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
    with postgres_server.connect() as observer:
        ledger = PostgresLedger(f"{postgres_url}&application_name={name.replace(' ', '%20')}")
        assert observer.execute(count, (name,)).fetchone() == (0,)
        await claim(ledger, fingerprint)
        await claim(ledger, fingerprint, OTHER)
        assert observer.execute(count, (name,)).fetchone() == (1,)
        await ledger.aclose()
    postgres_server.wait_until("NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = %s)", name)
    with pytest.raises(LedgerUnavailableError, match="closed"):
        await ledger.read(KEY)
    again = PostgresLedger(postgres_url)
    assert await state_of(again) is State.CLAIMED
    await again.aclose()


def test_closing_waits_for_what_is_under_way_and_closes_it(postgres_url: str) -> None:
    connections = Connections(postgres_url, most=2, bounds=BOUNDS)
    is_lent, go_on = threading.Event(), threading.Event()
    ended: list[object] = []

    def step() -> None:
        with connections.lend() as loan:
            is_lent.set()
            assert go_on.wait(WAIT_S)
            loan.commit()
            ended.append("committed")
        ended.append(loan.connection.closed)

    def close() -> None:
        connections.close()
        ended.append("closed")

    threads = [threading.Thread(target=target) for target in (step, close)]
    threads[0].start()
    assert is_lent.wait(WAIT_S)
    threads[1].start()
    threads[1].join(0.2)  # what does not wait has ended by then
    go_on.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert ended[0] == "committed"
    assert set(ended[1:]) == {"closed", True}


def test_a_step_that_is_refused_gives_its_connection_back(postgres_url: str) -> None:
    connections = Connections(postgres_url, most=2, bounds=BOUNDS)
    with pytest.raises(LedgerError), connections.lend() as first:
        raise LedgerError("refused")
    with connections.lend() as second:
        assert second.connection is first.connection
    connections.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("server_default", "found"), [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply",) * 2]
)
async def test_every_write_is_durable_when_it_is_told_whatever_the_server_does_by_default(
    postgres_url: str, fingerprint: Fingerprint, server_default: str, found: str
) -> None:
    ledger = PostgresLedger(postgres_url + f"%20-csynchronous_commit%3D{server_default}")
    await claim(ledger, fingerprint)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE seen (setting text)")
        connection.execute(
            "CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$"
        )
        connection.execute(
            "CREATE TRIGGER see BEFORE INSERT OR UPDATE ON commitgate_operation FOR EACH ROW EXECUTE FUNCTION see()"
        )
        await claim(ledger, fingerprint, OTHER)
        await ledger.extend(KEY, 1, lease_s=60.0)
        assert connection.execute("SELECT setting FROM seen").fetchall() == [(found,)] * 2
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_commit_takes_as_long_as_it_takes(postgres_url: str, fingerprint: Fingerprint) -> None:
    ledger = PostgresLedger(postgres_url, statement_timeout_s=0.1)
    await claim(ledger, fingerprint)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER rest AFTER INSERT ON commitgate_operation DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION rest()"
        )
    await claim(ledger, fingerprint, OTHER)
    assert await state_of(ledger, OTHER) is State.CLAIMED
    await ledger.aclose()


def test_a_transaction_that_has_failed_is_not_committed(postgres_url: str) -> None:
    connections = Connections(postgres_url, most=2, bounds=BOUNDS)
    with connections.lend() as loan:
        with pytest.raises(psycopg.errors.UndefinedTable):
            loan.connection.execute("SELECT * FROM missing")
        with pytest.raises(LedgerUnavailableError, match="rolled"):
            loan.commit()
    connections.close()


@pytest.mark.anyio
async def test_time_is_the_databases_whatever_the_hosts_clock_says(
    postgres_url: str, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = "SELECT extract(epoch FROM clock_timestamp())::double precision"
    ledger = PostgresLedger(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        (before,) = connection.execute(now).fetchone() or (0.0,)
        monkeypatch.setattr(time, "time", lambda: 3_600.0)
        await claim(ledger, fingerprint)
        monkeypatch.setattr(time, "time", lambda: 9e9)
        with pytest.raises(InProgressError) as caught:
            await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        row = await ledger.read(KEY)
        (after,) = connection.execute(now).fetchone() or (0.0,)
    assert row is not None
    assert before <= row.updated_at <= after
    assert row.lease_expires_at == pytest.approx(row.updated_at + 30.0)
    assert 0 < caught.value.lease_remaining_s <= 30.0
    await ledger.aclose()


@pytest.mark.anyio
async def test_the_time_of_a_step_is_read_after_it_has_waited_for_the_row(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    holder = lock_row(postgres_url)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: ledger.extend(KEY, fence, lease_s=30.0))
        await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
        (released_at,) = holder.execute(
            "SELECT extract(epoch FROM clock_timestamp())::double precision"
        ).fetchone() or (0.0,)
        holder.rollback()
    holder.close()
    row = await ledger.read(KEY)
    assert row is not None
    assert row.updated_at >= released_at
    await ledger.aclose()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("is_shared", [True, False])
def test_threads_that_race_for_a_new_ledger_and_one_key_get_one_claim(
    postgres_url: str, fingerprint: Fingerprint, is_shared: bool, backend: str
) -> None:
    shared = PostgresLedger(postgres_url)
    barrier = threading.Barrier(RACERS, timeout=60)

    async def race(number: int) -> object:
        ledger = shared if is_shared else PostgresLedger(postgres_url)
        barrier.wait()
        try:
            return await ledger.claim(KEY, fingerprint, owner=str(number), lease_s=30.0)
        except InProgressError:
            return "held"
        finally:
            if ledger is not shared:
                await ledger.aclose()

    with ThreadPoolExecutor(RACERS) as pool:
        found = list(pool.map(lambda number: anyio.run(race, number, backend=backend), range(RACERS)))
    anyio.run(shared.aclose)
    assert found.count("held") == RACERS - 1
    assert found.count(Claimed(1, 1)) == 1


def test_processes_that_race_for_a_new_database_and_one_key_get_one_claim(postgres_url: str) -> None:
    program = """
import os, sys, anyio
from commitgate.errors import InProgressError
from commitgate.ledger import Fingerprint, PostgresLedger
from commitgate.retry import operation_key
async def main():
    ledger = PostgresLedger(sys.argv[1])
    try:
        fingerprint = Fingerprint("l", None, None, "i")
        print(await ledger.claim(operation_key("key"), fingerprint, owner=str(os.getpid()), lease_s=30.0))
    except InProgressError:
        print("held")
    finally:
        await ledger.aclose()
sys.stdin.read()
anyio.run(main)
"""
    command = [sys.executable, "-c", program, postgres_url]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        endings = list(pool.map(lambda process: process.communicate(timeout=120)[0].strip(), processes))
    assert sorted(endings) == ["Claimed(fence=1, attempt=1)", "held", "held", "held"]


@pytest.mark.anyio
async def test_a_claim_does_not_wait_for_a_row_on_which_there_is_nothing_to_write(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url, lock_timeout_s=0.1)
    await claim(ledger, fingerprint)
    await ledger.commit_value(OTHER, await claim(ledger, fingerprint, OTHER), value=b"1", receipt=b"{}")
    holder = lock_row(postgres_url)
    with pytest.raises(InProgressError) as caught:
        await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
    assert 0 < caught.value.lease_remaining_s <= 30.0
    with pytest.raises(KeyConflictError):
        await ledger.claim(KEY, replace(fingerprint, input_fingerprint="x"), owner="second", lease_s=30.0)
    replayed = await ledger.claim(OTHER, fingerprint, owner="second", lease_s=30.0)
    assert isinstance(replayed, Record)
    assert (replayed.state, replayed.value) == (State.COMMITTED, b"1")
    for use in (ledger.extend(KEY, 1, lease_s=30.0), ledger.read(KEY)):
        with pytest.raises(LedgerUnavailableError, match="another transaction has held the row"):
            await use
    holder.rollback()
    holder.close()
    await ledger.extend(KEY, 1, lease_s=30.0)
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_claim_that_waited_for_another_one_decides_by_what_that_one_left(
    postgres_server: PostgresServer, fingerprint: Fingerprint
) -> None:
    url, set_clock = postgres_server.new_url_with_clock(1_000.0)
    ledger = PostgresLedger(url)
    await claim(ledger, fingerprint)
    set_clock(2_000.0)
    first = lock_row(url)
    first.execute("UPDATE commitgate_operation SET fence = 2, owner = 'other', lease_expires_at = 2030")
    refused: list[InProgressError] = []

    async def second() -> None:
        with pytest.raises(InProgressError) as caught:
            await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
        refused.append(caught.value)

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
        first.commit()
    first.close()
    assert [error.lease_remaining_s for error in refused] == [30.0]
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.owner, row.fence) == ("other", 2)
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_row_that_is_written_for_long_is_held_though_its_lease_has_ended(
    postgres_server: PostgresServer, fingerprint: Fingerprint
) -> None:
    url, set_clock = postgres_server.new_url_with_clock(1_000.0)
    ledger = PostgresLedger(url, lock_timeout_s=0.1)
    await claim(ledger, fingerprint)
    set_clock(2_000.0)
    holder = lock_row(url)
    with pytest.raises(InProgressError) as caught:
        await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)
    assert caught.value.lease_remaining_s == 0
    holder.rollback()
    holder.close()
    assert await ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0) == Claimed(2, 2)
    await ledger.aclose()


@pytest.mark.anyio
async def test_connections_that_the_server_ended_while_idle_are_replaced_unseen(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    name = f"idle_{schema_of(postgres_url)}"
    ledger = PostgresLedger(f"{postgres_url}&application_name={name}")
    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(claim, ledger, fingerprint, operation_key(str(number)))
    with postgres_server.connect() as connection:
        ended = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = %s"
        rows = connection.execute(ended, (name,)).fetchall()
    assert rows
    assert set(rows) == {(True,)}
    assert await claim(ledger, fingerprint) == 1
    await ledger.aclose()


@pytest.mark.anyio
async def test_text_that_postgres_cannot_hold_as_text_is_kept(postgres_url: str) -> None:
    odd = "a\0é\ud800"
    fingerprint = Fingerprint(odd, odd, odd, odd)
    ledger = PostgresLedger(postgres_url)
    await ledger.claim(KEY, fingerprint, owner=odd, lease_s=30.0, effect_kind=EffectKind.ONCE)
    await ledger.start_effect(KEY, 1, value=b"\0\xff1", receipt=b"\0", lease_s=30.0)
    await ledger.mark_in_doubt(KEY, 1, reason=odd)
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.fingerprint, row.owner, row.reason) == (fingerprint, odd, odd)
    assert (row.value, row.receipt) == (b"\0\xff1", b"\0")
    proposed = await ledger.claim(OTHER, fingerprint, owner=odd, lease_s=30.0)
    assert isinstance(proposed, Claimed)
    await ledger.propose(OTHER, proposed.fence, value=b"1", receipt=b"{}", reason=odd, expires_s=None)
    assert (await ledger.reject(OTHER, by=odd, reason=odd)).decided_by == odd
    assert (await ledger.list(states=[State.REJECTED]))[0].decided_by == odd
    await ledger.aclose()


@pytest.mark.anyio
async def test_renewing_a_lease_leaves_a_large_value_where_it_lies(postgres_url: str, fingerprint: Fingerprint) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    await ledger.start_effect(KEY, fence, value=os.urandom(100_000), receipt=b"{}", lease_s=30.0)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        named = "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = 'commitgate_operation'::regclass"
        (table,) = connection.execute(named).fetchone() or ("",)
        pieces = f"SELECT DISTINCT chunk_id FROM {table}".encode()
        before = connection.execute(pieces).fetchall()
        await ledger.extend(KEY, fence, lease_s=30.0)
        assert len(before) == 1
        assert connection.execute(pieces).fetchall() == before
    row = await ledger.read(KEY)
    assert row is not None
    assert len(row.value or b"") == 100_000
    await ledger.aclose()


@pytest.mark.anyio
async def test_an_approved_value_is_the_only_one_that_may_be_acted_on(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    await ledger.propose(KEY, fence, value=b"1", receipt=b"{}", reason="large", expires_s=None)
    await ledger.approve(KEY, by="somebody")
    fence = await claim(ledger, fingerprint)
    with pytest.raises(IllegalTransitionError):
        await ledger.start_effect(KEY, fence, value=b"2", receipt=b"{}", lease_s=30.0)
    with pytest.raises(IllegalTransitionError):
        await ledger.commit_value(KEY, fence, value=b"2", receipt=b"{}")
    await ledger.start_effect(KEY, fence, value=b"1", receipt=b"{}", lease_s=30.0)
    await ledger.aclose()


# Schema


async def use(url: str) -> None:
    ledger = PostgresLedger(url)
    try:
        await ledger.read(KEY)
    finally:
        await ledger.aclose()


@pytest.mark.anyio
async def test_rows_of_an_older_version_are_kept_when_the_tables_are_brought_up_to_date(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    later = (*MIGRATIONS, ("ALTER TABLE commitgate_operation ADD COLUMN more text DEFAULT 'x' NOT NULL",))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        migrate(connection, "x", lock_timeout_ms=1_000, migrations=MIGRATIONS[:1])
        ledger = PostgresLedger(postgres_url)
        await claim(ledger, fingerprint)
        await ledger.aclose()
        migrate(connection, "x", lock_timeout_ms=1_000, migrations=later)
        assert connection.execute("SELECT version FROM commitgate_schema").fetchall() == [(len(later),)]
        assert connection.execute("SELECT state, more FROM commitgate_operation").fetchall() == [("claimed", "x")]


@pytest.mark.anyio
async def test_a_migration_that_fails_changes_nothing(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            migrate(connection, "x", lock_timeout_ms=1_000, migrations=(*MIGRATIONS, ("DROP TABLE missing",)))
        assert connection.execute("SELECT to_regclass('commitgate_schema')").fetchone() == (None,)


@pytest.mark.anyio
async def test_tables_of_a_newer_version_are_refused_at_once_and_while_in_use(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE commitgate_schema SET version = version + 1")
        for step in (ledger.extend(KEY, fence, lease_s=30.0), ledger.read(KEY), use(postgres_url)):
            with pytest.raises(LedgerUnavailableError, match="upgrade commitgate"):
                await step
        connection.execute("UPDATE commitgate_schema SET version = version - 1")
    await ledger.extend(KEY, fence, lease_s=30.0)
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("statement", "advised"),
    [
        ("CREATE TABLE commitgate_operation (id integer)", "another program made it"),
        ("CREATE TABLE commitgate_schema (version integer)", "lost the row of its version"),
        ("CREATE TABLE commitgate_schema AS SELECT 1 AS version", "not as commitgate made them"),
    ],
)
async def test_tables_that_another_program_made_are_left_alone(postgres_url: str, statement: str, advised: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(statement.encode())
        with pytest.raises(LedgerUnavailableError, match=advised):
            await use(postgres_url)
        tables = connection.execute("SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace")
        assert tables.fetchall() == [(statement.split()[2],)]


@pytest.mark.anyio
async def test_a_schema_that_does_not_exist_is_unavailable(postgres_server: PostgresServer) -> None:
    with pytest.raises(LedgerUnavailableError, match="no schema of search_path exists"):
        await use(postgres_server.url(search_path="missing"))


@pytest.mark.anyio
@pytest.mark.parametrize("change", ["state = 'FOO'", "reason = '\\xff'", "key = '\\xff'", "effect_kind = 'FOO'"])
async def test_a_row_of_postgres_that_is_damaged_is_a_ledger_error(
    postgres_url: str, fingerprint: Fingerprint, change: str
) -> None:
    ledger = PostgresLedger(postgres_url)
    await claim(ledger, fingerprint)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"UPDATE commitgate_operation SET {change}".encode())
    uses = (ledger.list(), ledger.read(KEY), ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0))
    for used in uses[: 1 if change.startswith("key") else 3]:
        if "state" in change and used.__name__ == "list":
            assert await used == ()  # no state of this release
            continue
        with pytest.raises(LedgerUnavailableError, match="row is damaged"):
            await used
    for unused in uses[1 if change.startswith("key") else 3 :]:
        unused.close()
    await ledger.aclose()


# Errors


def shown_by(error: BaseException) -> str:
    return "".join(traceback.format_exception(error, chain=True)) + repr(error) + repr(vars(error))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("change", "advised"),
    [
        (lambda server: server.url(password=f"{PASSWORD}-wrong"), "cannot be reached"),
        (lambda server: server.url(database="missing"), "cannot be reached"),
        (lambda server: server.url().replace("host=", "host=%2Fmissing"), "cannot be reached"),
        (lambda server: server.url() + "&options=-cdefault_transaction_read_only%3Don", "cannot be reached"),
        (lambda server: f"postgresql://u:{PASSWORD}@127.0.0.1:1/x", "cannot be reached"),
    ],
    ids=["password", "database", "socket", "read-only", "port"],
)
async def test_a_server_that_cannot_be_used_is_unavailable_and_no_password_is_shown(
    postgres_server: PostgresServer,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[PostgresServer], str],
    advised: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    ledger = PostgresLedger(change(postgres_server))
    with pytest.raises(LedgerUnavailableError, match=advised) as caught:
        await ledger.read(KEY)
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)
    assert PASSWORD not in shown_by(caught.value) + repr(ledger) + str(ledger) + caplog.text
    await ledger.aclose()


@pytest.mark.parametrize(
    "conninfo",
    [
        f"postgresql://u:{PASSWORD}/x@host/db",
        f"postgresql://u:12/{PASSWORD}@host/db",
        f"postgresql://u:a@{PASSWORD}@host/db",
        f"postgresql://u:%zz{PASSWORD}@host/db",
        f"postgresql://u@host/db?pasword={PASSWORD}",
        f"password={PASSWORD} user",
        f"password='{PASSWORD}",
        f"{PASSWORD}\0",
        f"{PASSWORD}\ud800",
        f"password={PASSWORD} port=x",
    ],
)
def test_what_is_no_connection_string_is_misuse_and_not_shown(conninfo: str) -> None:
    with pytest.raises(MisuseError) as caught:
        PostgresLedger(conninfo)
    assert PASSWORD not in shown_by(caught.value).replace(repr(conninfo), "")


@pytest.mark.parametrize(
    "options",
    [
        {"connections": 1},
        {"connections": True},
        {"connections": "4"},
        {"lock_timeout_s": 0},
        {"statement_timeout_s": float("inf")},
        {"connect_timeout_s": None},
        {"connect_timeout_s": 1e9},
    ],
    ids=repr,
)
def test_options_out_of_range_are_misuse(options: Any) -> None:
    with pytest.raises(MisuseError):
        PostgresLedger("postgresql://", **options)


def all_exceptions() -> list[type[Exception]]:
    """Return every class of exception that psycopg can raise."""
    found = [psycopg.Warning, psycopg.Error]
    for kind in found:
        found += [child for child in kind.__subclasses__() if child not in found]
    return sorted((kind for kind in found if kind.__module__.startswith("psycopg")), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", all_exceptions(), ids=lambda kind: kind.__name__)
def test_every_exception_of_psycopg_is_mapped_with_advice_of_its_own(kind: type[Exception]) -> None:
    raised = kind("canary")
    with pytest.raises(LedgerUnavailableError, match=r"the ledger x cannot be used: ") as caught, mapped("x"):
        raise raised
    assert caught.value.__cause__ is raised
    assert "canary" not in str(caught.value)
    told = advice(raised)
    assert not re.search("reports the code|the driver's own interface", told)
    if getattr(kind, "sqlstate", None) is None:
        assert kind.__base__ is not None
        assert told != advice(kind.__base__()), "every class without a code has advice of its own"


def test_the_exceptions_of_psycopg_are_found() -> None:
    found = all_exceptions()
    assert len(found) > 200
    assert {psycopg.OperationalError, psycopg.errors.UniqueViolation, psycopg.errors.ConnectionTimeout} <= set(found)


def test_a_code_that_is_not_known_is_told() -> None:
    error = psycopg.DatabaseError("canary")
    error.sqlstate = "ZZ999"
    assert advice(error) == "the server reports the code ZZ999"


@pytest.mark.anyio
async def test_no_payload_reaches_the_servers_log(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    canary = f"canary-{schema_of(postgres_url)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused here'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON commitgate_operation FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    with pytest.raises(LedgerUnavailableError, match="trigger") as caught:
        await ledger.start_effect(KEY, fence, value=canary.encode(), receipt=canary.encode(), lease_s=30.0)
    log = (postgres_server.folder / "log").read_text()
    assert "refused here" in log
    for text in (canary, canary.encode().hex()):
        assert text not in log + shown_by(caught.value)
    await ledger.aclose()


def test_a_missing_driver_is_named_with_its_extra() -> None:
    program = """
import sys
sys.modules["psycopg"] = None
from commitgate.errors import MissingExtraError
from commitgate.ledger import ledger_at
try:
    ledger_at("postgresql://u:canary@host/db", {})
except MissingExtraError as error:
    assert "commitgate[postgres]" in str(error) and "canary" not in str(error)
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 7
    assert MissingExtraError("postgres", "x").extra == "postgres"


def test_importing_the_package_does_not_load_psycopg() -> None:
    program = "import sys, commitgate.ledger; sys.exit(bool('psycopg' in sys.modules))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_url_is_a_place_for_a_ledger(scheme: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = f"{scheme}://user:{PASSWORD}@host/shop"
    monkeypatch.chdir(tmp_path)
    for ledger in (ledger_at(url, {}), ledger_at(None, {"COMMITGATE_LEDGER": url})):
        assert isinstance(ledger, PostgresLedger)
        assert repr(ledger) == "PostgresLedger(Postgres database shop at host)"


# Cancellation, threads and processes


@pytest.mark.anyio
async def test_cancelling_a_step_that_waits_for_a_lock_tears_nothing(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    holder = lock_row(postgres_url)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: ledger.start_effect(KEY, fence, value=b"1", receipt=b"{}", lease_s=30.0))
        await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
        group.cancel_scope.cancel()
        holder.rollback()
        holder.close()
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.state, row.value, row.receipt) == (State.EFFECT_STARTED, b"1", b"{}")
    await ledger.aclose()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_native_cancellation_of_a_step_that_waits_for_a_lock_tears_nothing(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    fence = await claim(ledger, fingerprint)
    holder = lock_row(postgres_url)
    started = ledger.start_effect(KEY, fence, value=b"1", receipt=b"{}", lease_s=30.0)
    task = asyncio.ensure_future(started)
    await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    holder.rollback()
    holder.close()
    # Closing waits for the thread that goes on.
    await ledger.aclose()
    again = PostgresLedger(postgres_url, lock_timeout_s=0.5)
    row = await again.read(KEY)
    assert row is not None
    assert (row.state, row.value, row.receipt) == (State.EFFECT_STARTED, b"1", b"{}")
    await again.extend(KEY, fence, lease_s=30.0)
    await again.aclose()


def test_connections_that_are_all_in_use_are_told_and_one_is_kept_for_steps(postgres_url: str) -> None:
    connections = Connections(postgres_url, most=2, bounds=Bounds(connect_s=10, lock_s=0.05, statement_s=10))
    with connections.lend(for_effect=True):
        with pytest.raises(LedgerUnavailableError, match="in use"), connections.lend(for_effect=True):
            pass
        with pytest.raises(LedgerUnavailableError, match="connections="), connections.lend(), connections.lend():
            pass
    with connections.lend() as first, connections.lend() as second:
        assert first.connection is not second.connection
    connections.close()


def test_one_ledger_in_postgres_serves_several_event_loops(postgres_url: str, fingerprint: Fingerprint) -> None:
    ledger = PostgresLedger(postgres_url)

    async def claimed(name: str) -> object:
        return await ledger.claim(operation_key(name), fingerprint, owner="first", lease_s=30.0)

    assert anyio.run(claimed, "a", backend="asyncio") == Claimed(1, 1)
    assert anyio.run(claimed, "b", backend="trio") == Claimed(1, 1)
    anyio.run(ledger.aclose)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_connections_for_itself(postgres_url: str) -> None:
    program = """
import os, sys, anyio, psycopg
from commitgate.ledger import Claimed, Fingerprint, PostgresLedger
from commitgate.retry import operation_key
ledger = PostgresLedger(sys.argv[1])
fingerprint = Fingerprint("l", None, None, "i")
def claim(name):
    return anyio.run(lambda: ledger.claim(operation_key(name), fingerprint, owner=name, lease_s=30.0))
connect = psycopg.connect
opened_by = []
def remember(*args, **options):
    opened_by.append(os.getpid())
    return connect(*args, **options)
psycopg.connect = remember
assert claim("parent") == Claimed(1, 1)
child = os.fork()
if child == 0:
    is_right = claim("child") == claim("child 2") == Claimed(1, 1) and opened_by == [os.getppid(), os.getpid()]
    anyio.run(ledger.aclose)
    os._exit(0 if is_right else 1)
assert os.waitpid(child, 0)[1] == 0
assert claim("after") == Claimed(1, 1)
assert opened_by == [os.getpid()]
rows = anyio.run(ledger.list)
assert {row.key for row in rows} == {"parent", "child", "child 2", "after"}, rows
anyio.run(ledger.aclose)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program, postgres_url], check=True, timeout=60)


# Pruning


@pytest.mark.anyio
async def test_what_is_pruned_is_what_the_table_of_states_says(
    postgres_server: PostgresServer, fingerprint: Fingerprint
) -> None:
    url, _ = postgres_server.new_url_with_clock(1_000.0)
    ledger = PostgresLedger(url)
    await ledger.list()
    times = (None, 400.0, 500.0, 600.0)
    rows = [
        Record(
            key=operation_key(str(number)),
            state=state,
            fence=number + 1,
            attempt=1,
            owner="first",
            lease_expires_at=lease,
            expires_at=expires,
            fingerprint=fingerprint,
            created_at=1.0,
            updated_at=updated,
        )
        for number, (state, lease, expires, updated) in enumerate(product(State, times, times, times[1:]))
    ]
    statement = (
        "INSERT INTO commitgate_operation (key, state, fence, attempt, owner, lease_expires_at, expires_at, "
        "language_digest, input_fingerprint, created_at, updated_at) VALUES (%s, %s, %s, 1, 'x', %s, %s, '', '', 1, %s)"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        cells = [
            (row.key.encode(), row.state.value, row.fence, row.lease_expires_at, row.expires_at, row.updated_at)
            for row in rows
        ]
        connection.cursor().executemany(statement, cells)
        doomed = {row.key: row.fence for row in rows if is_prunable(row, before=500.0)}
        assert 0 < len(doomed) < len(rows)
        assert await ledger.prune(older_than_s=500.0, limit=7) == 7
        assert await ledger.prune(older_than_s=500.0) == len(doomed) - 7
        left = {bytes(key).decode() for (key,) in connection.execute("SELECT key FROM commitgate_operation")}
        assert left == {row.key for row in rows} - doomed.keys()
        floor = connection.execute("SELECT fence_floor FROM commitgate_schema").fetchone()
        assert floor == (max(doomed.values()),)
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_row_that_is_being_written_is_not_waited_for_when_pruning(
    postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    for key in (KEY, OTHER):
        await ledger.release(key, await claim(ledger, fingerprint, key), ending="refused")
    holder = psycopg.connect(postgres_url)
    holder.execute("SELECT key FROM commitgate_operation WHERE key = %s FOR UPDATE", (KEY.encode(),))
    assert await ledger.prune(older_than_s=0.0) == 1
    holder.rollback()
    holder.close()
    assert await state_of(ledger) is State.RELEASED
    await ledger.aclose()


@pytest.mark.anyio
async def test_more_rows_than_one_transaction_deletes_are_pruned_in_several(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, fingerprint: Fingerprint
) -> None:
    monkeypatch.setattr("commitgate.ledger.postgres.MOST_PRUNED", 2)
    ledger = PostgresLedger(postgres_url)
    for number in range(5):
        key = operation_key(str(number))
        await ledger.release(key, await claim(ledger, fingerprint, key), ending="refused")
    assert await ledger.prune(older_than_s=0.0, limit=5) == 5
    assert await ledger.list() == ()
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_new_key_waits_for_pruning_so_that_its_fence_is_above_all_that_were_deleted(
    postgres_server: PostgresServer, postgres_url: str, fingerprint: Fingerprint
) -> None:
    ledger = PostgresLedger(postgres_url)
    await ledger.list()
    pruner = psycopg.connect(postgres_url)
    pruner.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_SPACE, FENCE_LOCK))
    pruner.execute("UPDATE commitgate_schema SET fence_floor = 41")
    found: list[int] = []

    async def first() -> None:
        found.append(await claim(ledger, fingerprint))

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
        pruner.commit()
    pruner.close()
    assert found == [42]
    await ledger.aclose()


@pytest.mark.anyio
async def test_the_errors_of_the_table_are_not_those_of_the_store(postgres_url: str, fingerprint: Fingerprint) -> None:
    ledger = PostgresLedger(postgres_url, connections=2)
    for _ in range(5):
        with pytest.raises(LedgerError) as caught:
            await ledger.extend(KEY, 1, lease_s=30.0)
        assert not isinstance(caught.value, LedgerUnavailableError)
    assert await ledger.list() == ()
    await ledger.aclose()
