"""Ways to cancel that were reported to leak, to tear or to lie: what each leaves behind."""

import asyncio
import gc
import warnings
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, Pay, client_with

from commitgate.client import Client, StructuredRun
from commitgate.effect import EffectContext
from commitgate.ledger import MemoryLedger, State
from commitgate.outcome import Cancelled
from commitgate.testing import FaultPoint, ScriptedBackend, Step, fake_time

pytestmark = pytest.mark.anyio

OPEN: list[Step] = [{"text": '{"a'}, {"wait_s": 30}]
UNPROVEN: list[Step] = [{"text": PAYMENT}, {"wait_s": 30}, {"finish": "stop"}]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


asyncio_alone = pytest.mark.parametrize("anyio_backend", [fake_time("asyncio")], ids=["asyncio"])


class Slow:
    """A rule and an effect that take their time, and remember how far they came."""

    effect_name = "slow"

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.runs = 0

    async def check(self, value: Pay) -> None:
        self.begun.set()
        await anyio.sleep(30)

    async def __call__(self, value: Pay, context: EffectContext) -> None:
        self.begun.set()
        await anyio.sleep(1)
        self.runs += 1


async def recorded(ledger: MemoryLedger) -> tuple[State, str | None]:
    (row,) = await ledger.list()
    return row.state, row.reason


def streamed(client: Client, **options: Any) -> StructuredRun[Any, Any]:
    return client.stream_structured("scripted", Pay, prompt="x", operation_key="k", **options)


async def test_break_closes_the_stream_at_once() -> None:
    backend, ledger = ScriptedBackend(OPEN), MemoryLedger()
    async with client_with(backend, ledger) as client:
        async with streamed(client) as run:
            async for _ in run:
                break
        assert (backend.open_streams, anyio.current_time()) == (0, 0)
        assert isinstance(await run.outcome(), Cancelled)
    assert await recorded(ledger) == (State.RELEASED, "cancelled")


async def test_run_that_is_dropped_is_told_and_ended() -> None:
    backend = ScriptedBackend(OPEN)

    async def leave(client: Client) -> None:
        run = await streamed(client).__aenter__()
        async for _ in run:
            break
        del run
        gc.collect()

    async with client_with(backend) as client:
        with pytest.warns(ResourceWarning, match=r"test_client_given_cancellations\.py:\d+"):
            await leave(client)
        await anyio.sleep(1)
        assert backend.open_streams == 0


@asyncio_alone
@pytest.mark.parametrize("times", [1, 2])
async def test_cancelled_task_raises_its_cancellation(times: int) -> None:
    closing = anyio.Event()
    backend = ScriptedBackend(OPEN, fault_at={FaultPoint.CLOSING: closing})
    ledger = MemoryLedger()
    async with client_with(backend, ledger) as client:

        async def program() -> None:
            async with streamed(client) as run:
                async for _ in run:
                    pass

        task = asyncio.create_task(program())
        await anyio.wait_all_tasks_blocked()
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        closing.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The second one ends the wait for the closing, not the closing, which belongs to the client.
        await asyncio.sleep(1)
        assert backend.open_streams == 0
    assert await recorded(ledger) == (State.RELEASED, "cancelled")


async def test_callers_own_limit_is_a_cancellation_and_no_timeout() -> None:
    backend, ledger = ScriptedBackend(OPEN), MemoryLedger()
    async with client_with(backend, ledger) as client:
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.2):
                await client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
        assert backend.open_streams == 0
    assert await recorded(ledger) == (State.RELEASED, "cancelled")
    assert anyio.current_time() == pytest.approx(0.2)


@asyncio_alone
async def test_limit_of_asyncio_is_a_cancellation_and_no_timeout() -> None:
    backend, ledger = ScriptedBackend(OPEN), MemoryLedger()
    async with client_with(backend, ledger) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
        assert backend.open_streams == 0
    assert await recorded(ledger) == (State.RELEASED, "cancelled")


@pytest.mark.parametrize("is_rule_slow", [False, True], ids=["before the finish", "in a rule"])
async def test_cancel_before_the_effect_commits_nothing(is_rule_slow: bool) -> None:
    slow, ledger = Slow(), MemoryLedger()
    backend = ScriptedBackend([{"text": PAYMENT}, {"finish": "stop"}, {"done": True}] if is_rule_slow else UNPROVEN)
    async with (
        client_with(backend, ledger) as client,
        streamed(client, effect=slow, rules=[slow.check] if is_rule_slow else None) as run,
        anyio.create_task_group() as tasks,
    ):

        async def cancel() -> None:
            if is_rule_slow:
                await slow.begun.wait()
            else:
                await anyio.sleep(10)
            run.cancel()

        tasks.start_soon(cancel)
        assert isinstance(await run.outcome(), Cancelled)
    assert slow.runs == 0
    assert await recorded(ledger) == (State.RELEASED, "cancelled")


async def test_cancel_in_the_effect_leaves_a_trace() -> None:
    slow, ledger = Slow(), MemoryLedger()
    async with client_with(ScriptedBackend(GOOD), ledger) as client, streamed(client, effect=slow) as run:
        await slow.begun.wait()
        run.cancel()
        outcome = await run.outcome()
    state, _ = await recorded(ledger)
    assert (outcome.name, state, slow.runs) in [("committed", State.COMMITTED, 1), ("in_doubt", State.IN_DOUBT, 0)]


async def test_run_may_be_left_in_another_task() -> None:
    backend = ScriptedBackend(OPEN)
    async with client_with(backend) as client:
        run = await streamed(client).__aenter__()
        seen = anyio.Event()

        async def follow() -> None:
            async for _ in run:
                seen.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await seen.wait()
            await run.__aexit__(None, None, None)
        assert isinstance(await run.outcome(), Cancelled)
    assert backend.open_streams == 0


async def test_client_that_is_left_ends_its_runs() -> None:
    backend, ledger = ScriptedBackend(OPEN), MemoryLedger()
    entered: list[StructuredRun[Any, Any]] = []
    async with client_with(backend, ledger) as client:
        for key in ("a", "b"):
            run = client.stream_structured("scripted", Pay, prompt="x", operation_key=key)
            entered.append(await run.__aenter__())
        await anyio.sleep(1)
        assert backend.open_streams == 2
    assert backend.open_streams == 0
    for run in entered:
        assert isinstance(await run.outcome(), Cancelled)
    assert [(row.state, row.reason) for row in await ledger.list()] == [(State.RELEASED, "cancelled")] * 2


async def test_next_call_starts_at_once_after_a_break() -> None:
    backend = ScriptedBackend(OPEN, then=[GOOD])
    async with client_with(backend) as client:
        async with client.stream_structured("scripted", Pay, prompt="x") as run:
            async for _ in run:
                break
        outcome = await client.generate_structured("scripted", Pay, prompt="x")
    assert outcome.name == "committed"
    assert backend.opened_at == [0, 0]


async def test_run_that_is_never_entered_does_nothing() -> None:
    backend = ScriptedBackend(GOOD)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        async with client_with(backend) as client:
            client.stream_structured("scripted", Pay, prompt="x")
            gc.collect()
    assert (caught, backend.requests) == ([], [])


async def test_cancel_from_another_task_ends_iteration_without_a_cancellation() -> None:
    backend = ScriptedBackend(OPEN)
    async with (
        client_with(backend) as client,
        streamed(client) as run,
        anyio.create_task_group() as tasks,
    ):
        cancel: Callable[[], None] = run.cancel

        async def cancel_twice() -> None:
            await anyio.sleep(1)
            cancel()
            cancel()

        tasks.start_soon(cancel_twice)
        async for _ in run:
            pass
        assert isinstance(await run.outcome(), Cancelled)
        assert anyio.current_time() == 1
