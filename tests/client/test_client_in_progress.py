"""Calls that find their key held by another: they are told so, or wait for it."""

from typing import Any

import anyio
import pytest
from scripts import GOOD, Pay, Payments, Stop, client_with, only_row

from commitgate import EffectContext, EffectKind, Timeouts
from commitgate.client import Client
from commitgate.errors import InProgressError, KeyConflictError
from commitgate.ledger import FaultLedger, FaultPoint, MemoryLedger, Record, State
from commitgate.outcome import Cancelled, Committed, InDoubt, NeedsApproval, TimedOut
from commitgate.testing import ScriptedBackend, fake_time

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return fake_time(request.param)


class LoopClock:
    """Give the time of the event loop, so that leases end in its time."""

    def __call__(self) -> float:
        return anyio.current_time()


async def call(client: Client, **options: Any) -> Any:
    return await client.generate_structured("scripted", Pay, **{"prompt": "x", "operation_key": "k", **options})


class Held:
    """Run one call up to a point, and another beside it that waits for its key."""

    def __init__(self, point: FaultPoint, **options: Any) -> None:
        self.ledger = MemoryLedger(clock=LoopClock())
        self.stop = Stop(point)
        self.backend = ScriptedBackend(GOOD)
        self.options = options
        self.endings: dict[str, Any] = {}

    async def first(self) -> None:
        async with client_with(ScriptedBackend(GOOD), FaultLedger(self.ledger, self.stop)) as client:
            self.endings["first"] = await call(client, **self.options)

    async def second(self, **options: Any) -> None:
        async with client_with(self.backend, self.ledger) as client:
            self.endings["second"] = await call(client, **{**self.options, "in_progress": "wait", **options})


async def test_call_that_waits_gets_what_the_other_committed() -> None:
    payments = Payments()
    held = Held(FaultPoint.BEFORE_INTENT, effect=payments)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        group.start_soon(held.second)
        await anyio.sleep(100)
        assert held.endings == {}
        held.stop.go_on.set()
    first, second = held.endings["first"], held.endings["second"]
    assert (second.result, second.is_replayed, second.receipt) == (first.result, True, first.receipt)
    assert (len(payments.made), held.backend.requests) == (1, [])


async def test_call_that_waits_is_soon_told() -> None:
    held = Held(FaultPoint.BEFORE_INTENT)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        group.start_soon(held.second)
        await anyio.sleep(100)
        held.stop.go_on.set()
    assert 100.0 <= anyio.current_time() <= 102.0


async def test_call_that_waits_goes_on_where_the_other_chose_nothing() -> None:
    payments = Payments()
    held = Held(FaultPoint.AFTER_CLAIM, effect=payments)
    async with anyio.create_task_group() as group, anyio.create_task_group() as other:
        other.start_soon(held.first)
        await held.stop.reached.wait()
        group.start_soon(held.second)
        await anyio.sleep(1)
        other.cancel_scope.cancel()
        held.stop.go_on.set()
    second = held.endings["second"]
    assert (second.result, second.is_replayed) == ("paid 100", False)
    assert (len(payments.made), len(held.backend.requests)) == (1, 1)


@pytest.mark.parametrize(
    ("state", "kind", "ending"),
    [
        (State.CLAIMED, EffectKind.ONCE, Committed),
        (State.EFFECT_STARTED, EffectKind.BY_KEY, Committed),
        (State.EFFECT_STARTED, EffectKind.ONCE, InDoubt),
    ],
)
async def test_call_that_waits_takes_over_from_a_dead_one(state: State, kind: EffectKind, ending: type[object]) -> None:
    runs: list[EffectContext] = []

    async def deed(value: Pay, context: EffectContext) -> None:
        runs.append(context)

    marked: Any = deed
    marked.effect_kind = kind
    held = Held(FaultPoint.AFTER_CLAIM if state is State.CLAIMED else FaultPoint.AFTER_INTENT, effect=deed)
    left: list[Record] = []
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        left.append(await only_row(held.ledger))
        group.cancel_scope.cancel()
        held.stop.go_on.set()
    # What a killed process leaves: nobody renews the lease, and nobody gives the key back.
    rows: Any = held.ledger
    rows._rows[left[0].key] = left[0]
    runs.clear()
    await held.second()
    assert isinstance(held.endings["second"], ending)
    assert anyio.current_time() == pytest.approx(30.0, abs=0.1)
    assert [each.fence for each in runs] == ([] if ending is InDoubt else [2])


async def test_wait_ends_with_the_calls_time() -> None:
    held = Held(FaultPoint.BEFORE_INTENT)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        await held.second(timeouts=Timeouts(total_s=45.0))
        assert anyio.current_time() == pytest.approx(45.0, abs=0.1)
        held.stop.go_on.set()
    late = held.endings["second"]
    assert isinstance(late, TimedOut)
    assert (late.phase, late.limit_s, held.backend.requests) == ("total", 45.0, [])
    assert isinstance(held.endings["first"], Committed)


async def test_wait_can_be_cancelled() -> None:
    held = Held(FaultPoint.BEFORE_INTENT)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        with anyio.move_on_after(10) as scope:
            await held.second()
        assert scope.cancelled_caught
        async with (
            client_with(held.backend, held.ledger) as client,
            client.stream_structured("scripted", Pay, prompt="x", operation_key="k", in_progress="wait") as run,
        ):
            await anyio.sleep(10)
            run.cancel()
            assert isinstance(await run.outcome(), Cancelled)
        held.stop.go_on.set()
    assert held.backend.requests == []
    assert isinstance(held.endings["first"], Committed)


async def test_call_that_does_not_wait_is_told_at_once() -> None:
    held = Held(FaultPoint.BEFORE_INTENT)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        async with client_with(held.backend, held.ledger) as client:
            with pytest.raises(InProgressError):
                await call(client)
        assert anyio.current_time() == 0.0
        held.stop.go_on.set()


async def test_conflict_is_told_and_not_waited_out() -> None:
    held = Held(FaultPoint.BEFORE_INTENT)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        async with client_with(held.backend, held.ledger) as client:
            with pytest.raises(KeyConflictError):
                await call(client, prompt="y", in_progress="wait")
        held.stop.go_on.set()


async def test_many_that_wait_all_get_the_one_effect() -> None:
    payments = Payments()
    held = Held(FaultPoint.BEFORE_INTENT, effect=payments)
    endings: list[Any] = []

    async def wait() -> None:
        async with client_with(held.backend, held.ledger) as client:
            endings.append(await call(client, effect=payments, in_progress="wait"))

    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        for _ in range(10):
            group.start_soon(wait)
        await anyio.sleep(10)
        held.stop.go_on.set()
    assert [each.result for each in endings] == ["paid 100"] * 10
    assert (len(payments.made), held.backend.requests) == (1, [])


async def test_proposal_of_the_other_call_is_what_the_waiting_one_gets() -> None:
    def person(value: Pay, context: object) -> bool:
        return True

    held = Held(FaultPoint.BEFORE_INTENT, approve=person)
    async with anyio.create_task_group() as group:
        group.start_soon(held.first)
        await held.stop.reached.wait()
        group.start_soon(held.second)
        await anyio.sleep(10)
        held.stop.go_on.set()
    assert isinstance(held.endings["second"], NeedsApproval)
    assert held.backend.requests == []
