"""Others beside a transactional effect in SQLite: calls that wait, callers that race, processes that die or fork."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest
from ledger.sqlite_shop import KEY, claim_of, refund, refunds, start

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    InProgressError,
)
from commitgate.ledger import Claimed, FaultPoint, Fingerprint, SqliteLedger, State
from commitgate.ledger.transaction import Transaction
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio


@pytest.fixture
def ledger(shop_ledger: SqliteLedger) -> SqliteLedger:
    return shop_ledger


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
