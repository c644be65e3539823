"""Processes that are killed, and processes and threads that race: the effect happens at most once."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from commitgate.effect import Effect, EffectContext
from commitgate.errors import InProgressError
from commitgate.ledger import (
    Applied,
    Claimed,
    Doubt,
    FaultPoint,
    Fingerprint,
    Ledger,
    MemoryLedger,
    Operation,
    Record,
    Replay,
    SqliteLedger,
    State,
)
from commitgate.ledger.states import LEASE_ENDED_REASON
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
PROGRAM = Path(__file__).parent / "killed_call.py"
RACERS = 8

# What stands in the docs beside each point: the state a kill leaves, how often the effect ran, what the next call gets.
AFTER_A_KILL: dict[FaultPoint, tuple[State | None, int, object]] = {
    FaultPoint.BEFORE_CLAIM: (None, 0, Applied("T-1")),
    FaultPoint.AFTER_CLAIM: (State.CLAIMED, 0, Applied("T-2")),
    FaultPoint.BEFORE_INTENT: (State.CLAIMED, 0, Applied("T-2")),
    FaultPoint.AFTER_INTENT: (State.EFFECT_STARTED, 0, Doubt(LEASE_ENDED_REASON)),
    FaultPoint.INSIDE_EFFECT: (State.EFFECT_STARTED, 1, Doubt(LEASE_ENDED_REASON)),
    FaultPoint.AFTER_EFFECT: (State.EFFECT_STARTED, 1, Doubt(LEASE_ENDED_REASON)),
    FaultPoint.AFTER_COMMIT: (State.COMMITTED, 1, Applied("T-1")),
}


def ignore() -> None:
    pass


def yielding_clock() -> float:
    """Let other threads run while a step is half taken."""
    time.sleep(0)
    return 1_000.0


def start_call(ledger_path: Path, effects_path: Path, killed_at: str = "none") -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), str(ledger_path), str(effects_path), killed_at, "30"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def effects_in(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


async def next_call(
    ledger: Ledger, fingerprint: Fingerprint, act: Callable[[], None], owner: str
) -> tuple[Replay[str] | None, object]:
    """Make one whole call; return what it replayed and how it ended."""

    async def effect(value: object, context: EffectContext) -> str:
        del value
        act()
        return f"T-{context.fence}"

    described = Effect[object, str](effect, name="shop.refund", version="1", adapter=None)
    try:
        async with anyio.create_task_group() as client:
            driven = Operation(ledger, client, KEY, fingerprint, described, owner=owner, on_lease_lost=ignore)
            async with driven:
                if driven.replay is not None:
                    return driven.replay, driven.replay.standing
                return None, await driven.commit(None, value_json=b"1", receipt_json=b"{}")
    except* InProgressError as group:
        raise group.exceptions[0] from None


def test_the_table_of_kills_names_every_fault_point() -> None:
    assert list(AFTER_A_KILL) == list(FaultPoint)


@pytest.mark.anyio
@pytest.mark.parametrize("point", list(FaultPoint))
async def test_a_killed_process_leaves_at_most_one_effect(
    sqlite_path: Path, tmp_path: Path, fingerprint: Fingerprint, point: FaultPoint
) -> None:
    state, effects, verdict = AFTER_A_KILL[point]
    effects_path = tmp_path / "effects"
    process = start_call(sqlite_path, effects_path, point.value)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL

    ledger = SqliteLedger(sqlite_path)
    row = await ledger.read(KEY)
    assert (None if row is None else row.state, effects_in(effects_path)) == (state, effects)
    assert (row is not None and row.value is not None) == (state not in (None, State.CLAIMED))
    ran: list[str] = []
    if state in (State.CLAIMED, State.EFFECT_STARTED):
        with pytest.raises(InProgressError):
            await next_call(ledger, fingerprint, lambda: ran.append("ran"), "second")
    await ledger.aclose()

    lease_ends_at = 1_000.0 if row is None else row.lease_expires_at or row.updated_at
    later = SqliteLedger(sqlite_path, clock=lambda: lease_ends_at + 1)
    _, found = await next_call(later, fingerprint, lambda: ran.append("ran"), "second")
    _, again = await next_call(later, fingerprint, lambda: ran.append("ran"), "third")
    await later.aclose()
    assert found == again == verdict
    assert effects_in(effects_path) + len(ran) <= 1


def test_processes_that_race_for_a_new_ledger_and_one_key_have_one_effect(sqlite_path: Path, tmp_path: Path) -> None:
    effects_path = tmp_path / "effects"
    processes = [start_call(sqlite_path, effects_path) for _ in range(4)]
    endings = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert endings.count("ran Applied") == 1
    assert set(endings) <= {"ran Applied", "replayed Applied", "held"}
    assert effects_in(effects_path) == 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("kind", ["memory", "sqlite shared", "sqlite apart"])
def test_threads_that_race_for_one_key_have_one_effect(
    sqlite_path: Path, fingerprint: Fingerprint, kind: str, backend: str
) -> None:
    shared: Ledger = MemoryLedger(clock=yielding_clock) if kind == "memory" else SqliteLedger(sqlite_path)
    barrier = threading.Barrier(RACERS, timeout=60)
    effects: list[int] = []

    async def race(number: int) -> str:
        ledger = SqliteLedger(sqlite_path) if kind == "sqlite apart" else shared
        barrier.wait()
        try:
            replay, verdict = await next_call(ledger, fingerprint, lambda: effects.append(number), str(number))
        except InProgressError:
            return "held"
        finally:
            if ledger is not shared:
                await ledger.aclose()
        assert verdict == Applied("T-1")
        return "ran" if replay is None else "replayed"

    with ThreadPoolExecutor(RACERS) as pool:
        endings = list(pool.map(lambda number: anyio.run(race, number, backend=backend), range(RACERS)))
    anyio.run(shared.aclose)
    assert endings.count("ran") == 1
    assert len(effects) == 1


@pytest.mark.anyio
async def test_tasks_that_race_for_a_lease_that_ended_get_one_claim(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    clock.now += 31
    found: list[object] = []

    async def claim(owner: str) -> None:
        try:
            found.append(await ledger.claim(KEY, fingerprint, owner=owner, lease_s=30.0))
        except InProgressError:
            found.append("held")

    async with anyio.create_task_group() as group:
        for number in range(RACERS):
            group.start_soon(claim, str(number))
    assert found.count("held") == RACERS - 1
    assert found.count(Claimed(2, 2)) == 1


@pytest.mark.anyio
async def test_tasks_that_race_for_an_effect_whose_lease_ended_all_get_the_doubt(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    await ledger.start_effect(KEY, 1, value=b"1", receipt=b"{}", lease_s=30.0)
    clock.now += 31
    found: list[object] = []

    async def claim(owner: str) -> None:
        row = await ledger.claim(KEY, fingerprint, owner=owner, lease_s=30.0)
        assert isinstance(row, Record)
        found.append(row.state)

    async with anyio.create_task_group() as group:
        for number in range(RACERS):
            group.start_soon(claim, str(number))
    assert found == [State.IN_DOUBT] * RACERS
