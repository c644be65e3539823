"""Each way in which a call is ended early, side by side: what is recorded of it, and that nothing stays open."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest
from client.scripts import PAYMENT, STOP, Pay

from commitgate import Client, EffectContext, Retry, Timeouts
from commitgate.outcome import Outcome
from commitgate.run.structured_run import StructuredRun
from commitgate.testing import MemoryLedger, ScriptedBackend, Step, fake_time


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, Mapping[str, Any]]:
    """Run each test on both event loops, in time that jumps over waits."""
    return fake_time(request.param)


pytestmark = pytest.mark.anyio

HALF: Step = {"text": '{"a'}
WHOLE: Step = {"text": PAYMENT}
SILENT: Step = {"wait": None}
FREE = Timeouts(pool_s=None, connect_s=None, first_event_s=None, idle_s=None, progress_s=None, total_s=None)
EVERY_SECOND: Step = {"repeat": {"ping": True, "every_s": 1, "for_s": 1_000}}
WHITE: list[Step] = [step for _ in range(20) for step in ({"wait_s": 1}, {"text": " "})]


async def waiting_rule(value: Pay) -> None:
    await anyio.sleep(1_000)


async def waiting_effect(value: Pay, context: EffectContext) -> None:
    await anyio.sleep(5)


def only(**limits: float) -> Timeouts:
    return replace(FREE, **limits)


OURS: dict[str, tuple[list[Step], dict[str, Any], str]] = {
    "no free place": ([{"pool": "busy"}], {"timeouts": only(pool_s=3)}, "timed_out pool"),
    "no connection": ([{"connect": "black hole"}], {"timeouts": only(connect_s=3)}, "timed_out connect"),
    "no first event": ([SILENT], {"timeouts": only(first_event_s=3)}, "timed_out first_event"),
    "silence": ([HALF, SILENT], {"timeouts": only(idle_s=3)}, "timed_out idle"),
    "signs of life alone": ([HALF, EVERY_SECOND], {"timeouts": only(idle_s=3, progress_s=9)}, "timed_out progress"),
    "white space alone": (
        [{"text": "{"}, *WHITE],
        {"timeouts": only(idle_s=3, progress_s=9)},
        "timed_out progress",
    ),
    "all of the call": ([HALF, EVERY_SECOND], {"timeouts": only(total_s=20)}, "timed_out total"),
    "a rule that waits": ([WHOLE, STOP], {"timeouts": only(total_s=20), "rules": [waiting_rule]}, "timed_out total"),
    "a wait before a retry": (
        [{"fault": "overload", "retry_after_s": 50}],
        {"timeouts": only(total_s=20), "retry": Retry()},
        "timed_out total",
    ),
    "an effect that waits": (
        [WHOLE, STOP],
        {"timeouts": only(total_s=2), "effect": waiting_effect, "operation_key": "k"},
        "in_doubt",
    ),
}


@pytest.mark.parametrize("way", OURS)
async def test_limit_of_ours_ends_the_call_in_its_own_phase(way: str) -> None:
    script, options, wanted = OURS[way]
    backend = ScriptedBackend(script)
    async with Client(backends={"s": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured("s", Pay, prompt="x", **{"retry": Retry(attempts=1), **options})
    assert " ".join(filter(None, (outcome.name, getattr(outcome, "phase", "")))) == wanted
    assert backend.open_streams == 0


Following = StructuredRun[Pay, None]


async def cancel_at_once(run: Following) -> None:
    run.cancel()


async def cancel_from_another_task(run: Following) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_later, run)
        async for _ in run:
            pass


async def _cancel_later(run: Following) -> None:
    await anyio.sleep(2)
    run.cancel()
    run.cancel()


async def move_on(run: Following) -> None:
    with anyio.move_on_after(2) as scope:
        await run.outcome()
    assert scope.cancelled_caught
    run.cancel()


async def leave(run: Following) -> None:
    await anyio.sleep(2)


THEIRS: dict[str, tuple[list[Step], dict[str, Any]]] = {
    "before the first event": ([SILENT], {}),
    "in the middle": ([HALF, SILENT], {}),
    "after the last byte, before the finish": ([WHOLE, SILENT, STOP], {}),
    "in a rule": ([WHOLE, STOP], {"rules": [waiting_rule]}),
    "in a wait between requests": ([{"fault": "overload", "retry_after_s": 50}], {"retry": Retry()}),
    "in a wait for a place": ([{"pool": "busy"}], {}),
    "in a wait for a connection": ([{"connect": "black hole"}], {}),
}


@pytest.mark.parametrize("when", THEIRS)
@pytest.mark.parametrize("how", [cancel_at_once, cancel_from_another_task, move_on, leave])
async def test_cancelling_is_recorded_as_cancelled_wherever_the_call_stands(
    when: str, how: Callable[[Following], Awaitable[None]]
) -> None:
    script, options = THEIRS[when]
    backend, payments = ScriptedBackend(script), list[Pay]()

    async def pay(value: Pay, context: EffectContext) -> None:
        payments.append(value)

    ledger = MemoryLedger()
    options = {"timeouts": FREE, "effect": pay, "operation_key": "k", **options}
    async with Client(backends={"s": backend}, ledger=ledger) as client:
        async with client.stream_structured("s", Pay, prompt="x", **options) as run:
            await how(run)
        outcome: Outcome[Pay, None] = await run.outcome()
        assert outcome.name == "cancelled"
        assert (backend.open_streams, payments) == (0, [])
        # The key was given back: another call with it may choose.
        again = ScriptedBackend([WHOLE, STOP])
        async with Client(backends={"s": again}, ledger=ledger) as other:
            after = await other.generate_structured("s", Pay, prompt="x", effect=pay, operation_key="k")
        assert after.name == "committed"


async def test_cancelling_in_the_effect_lets_it_end_first() -> None:
    backend = ScriptedBackend([WHOLE, STOP])
    async with Client(backends={"s": backend}, ledger=MemoryLedger()) as client:
        options: dict[str, Any] = {"effect": waiting_effect, "operation_key": "k"}
        async with client.stream_structured("s", Pay, prompt="x", **options) as run:
            await anyio.sleep(2)
        assert (await run.outcome()).name == "committed"


async def test_time_limit_of_the_caller_is_the_callers_own() -> None:
    backend = ScriptedBackend([HALF, SILENT])
    async with Client(backends={"s": backend}, ledger=MemoryLedger()) as client:
        with pytest.raises(TimeoutError), anyio.fail_after(2):
            await client.generate_structured("s", Pay, prompt="x", timeouts=FREE)
    assert backend.open_streams == 0
