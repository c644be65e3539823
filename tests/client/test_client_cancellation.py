"""Cancelling a call, in every way there is: nothing is committed, nothing leaks, nothing is swallowed."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.client import Client, StructuredRun
from commitgate.effect import EffectContext
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Cancelled, Committed, Outcome
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

HALF: list[Step] = [{"text": '{"amount":1'}, {"wait": None}]
UNFINISHED: list[Step] = [{"text": PAYMENT}, {"wait": None}, STOP]
asyncio_alone = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)


def paying(client: Client, payments: object, **options: Any) -> StructuredRun[Any, Any]:
    return client.stream_structured(
        "scripted",
        Pay,
        prompt="x",
        effect=payments,
        operation_key="k",
        **options,
    )


async def committed_after(ledger: MemoryLedger, payments: Payments) -> Outcome[Any, Any]:
    """Call again with the same key: a released one may be claimed."""
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        return await client.generate_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")


@pytest.mark.parametrize("script", [HALF, UNFINISHED], ids=["half", "whole but unproven"])
async def test_cancel_from_another_task_ends_iteration_and_outcome(script: list[Step]) -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(script)
    async with (
        client_with(backend, ledger) as client,
        paying(client, payments) as run,
        anyio.create_task_group() as tasks,
    ):

        async def cancel() -> None:
            run.cancel()
            run.cancel()

        async for item in run:
            assert item.text_bytes > 0
            tasks.start_soon(cancel)
        outcome = await run.outcome()
    assert isinstance(outcome, Cancelled)
    assert outcome.partial_text == script[0]["text"]
    assert (backend.open_streams, payments.made) == (0, [])
    assert (await committed_after(ledger, payments)).name == "committed"


@pytest.mark.parametrize("key", [None, "k"])
async def test_cancel_inside_a_rule_hands_over_no_value(key: str | None) -> None:
    runs: list[StructuredRun[Any, Any]] = []
    options: Any = {"operation_key": key, "rules": [lambda payment: runs[0].cancel()]}
    async with (
        client_with(ScriptedBackend(GOOD)) as client,
        client.stream_structured("scripted", Pay, prompt="x", **options) as run,
    ):
        runs.append(run)
        assert isinstance(await run.outcome(), Cancelled)


async def test_cancel_reaches_a_call_in_the_middle_of_one_large_delta() -> None:
    text = '{"to":"' + "x" * 100_000
    async with (
        client_with(ScriptedBackend([{"text": text}, {"wait": None}])) as client,
        client.stream_structured("scripted", Pay, prompt="x") as run,
    ):
        async for _ in run:
            run.cancel()
        outcome = await run.outcome()
    assert isinstance(outcome, Cancelled)
    assert text.startswith(outcome.partial_text)
    assert 0 < len(outcome.partial_text) < len(text)


async def test_cancel_after_the_end_changes_nothing() -> None:
    async with client_with(ScriptedBackend(GOOD)) as client, paying(client, Payments()) as run:
        outcome = await run.outcome()
        run.cancel()
        assert await run.outcome() is outcome
    assert isinstance(outcome, Committed)
    assert await run.outcome() is outcome


async def test_cancel_before_the_start_sends_nothing() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        run = paying(client, Payments())
        run.cancel()
        async with run:
            assert isinstance(await run.outcome(), Cancelled)
    assert backend.requests == []


@pytest.mark.parametrize("script", [HALF, UNFINISHED], ids=["half", "whole but unproven"])
async def test_leaving_early_cancels(script: list[Step]) -> None:
    payments, backend = Payments(), ScriptedBackend(script)
    async with client_with(backend) as client:
        async with paying(client, payments) as run:
            async for _ in run:
                break
        assert run.is_done
        assert backend.open_streams == 0
        assert isinstance(await run.outcome(), Cancelled)
    assert payments.made == []


async def test_error_in_the_block_cancels_and_passes_bare() -> None:
    backend, runs = ScriptedBackend(HALF), list[StructuredRun[Any, Any]]()

    async def program() -> None:
        async with client_with(backend) as client, paying(client, Payments()) as run:
            runs.append(run)
            async for _ in run:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await program()
    (run,) = runs
    assert isinstance(await run.outcome(), Cancelled)
    assert backend.open_streams == 0


@pytest.mark.parametrize("script", [HALF, UNFINISHED], ids=["half", "whole but unproven"])
async def test_scope_of_the_caller_is_a_cancellation_and_no_timeout(script: list[Step]) -> None:
    ledger, payments, backend = MemoryLedger(), Payments(), ScriptedBackend(script)
    async with client_with(backend, ledger) as client:
        runs: list[StructuredRun[Any, Any]] = []
        with anyio.CancelScope() as scope:
            async with paying(client, payments) as run:
                runs.append(run)
                async for _ in run:
                    scope.cancel()
            pytest.fail("cancellation was swallowed")
        assert scope.cancelled_caught
        assert isinstance(await runs[0].outcome(), Cancelled)
        assert backend.open_streams == 0
    assert payments.made == []
    assert (await committed_after(ledger, payments)).name == "committed"


async def test_scope_around_a_plain_call_is_a_cancellation() -> None:
    backend, started = ScriptedBackend(HALF), anyio.Event()
    backend = ScriptedBackend([{"text": "{"}, {"wait": _Setting(started)}, {"wait": None}])
    async with client_with(backend) as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            await client.generate_structured("scripted", Pay, prompt="x")
            pytest.fail("cancellation was swallowed")

        tasks.start_soon(call)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert backend.open_streams == 0


class _Setting:
    """Sets an event instead of waiting for it."""

    def __init__(self, event: anyio.Event) -> None:
        self._event = event

    async def wait(self) -> None:
        self._event.set()


async def test_leaving_the_client_cancels_its_runs() -> None:
    backend = ScriptedBackend(HALF)
    outcomes: list[Outcome[Any, Any]] = []

    async def follow(client: Client, seen: anyio.Event) -> None:
        async with client.stream_structured("scripted", Pay, prompt="x") as run:
            async for _ in run:
                seen.set()
            outcomes.append(await run.outcome())

    async with anyio.create_task_group() as tasks, client_with(backend) as client:
        seen = [anyio.Event(), anyio.Event()]
        for event in seen:
            tasks.start_soon(follow, client, event)
        for event in seen:
            await event.wait()
    assert [outcome.name for outcome in outcomes] == ["cancelled", "cancelled"]
    assert backend.open_streams == 0


async def test_cancel_in_a_rule_commits_nothing() -> None:
    payments, entered = Payments(), anyio.Event()

    async def slow(payment: Pay) -> None:
        entered.set()
        await anyio.sleep_forever()

    async with client_with(ScriptedBackend(GOOD)) as client, paying(client, payments, rules=[slow]) as run:
        await entered.wait()
        run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
    assert payments.made == []


class SlowPayments(Payments):
    """An effect that stands still in its middle."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = anyio.Event()
        self.go_on = anyio.Event()

    async def __call__(self, value: Pay, context: EffectContext) -> str:
        self.entered.set()
        await self.go_on.wait()
        return await super().__call__(value, context)


async def test_cancel_in_the_effect_lets_it_finish_and_says_committed() -> None:
    ledger, payments = MemoryLedger(), SlowPayments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client, paying(client, payments) as run:
        await payments.entered.wait()
        run.cancel()
        payments.go_on.set()
        outcome = await run.outcome()
    assert isinstance(outcome, Committed)
    assert (outcome.result, len(payments.made)) == ("paid 100", 1)
    replayed = await committed_after(ledger, payments)
    assert isinstance(replayed, Committed)
    assert (replayed.is_replayed, len(payments.made)) == (True, 1)


async def test_scope_cancelled_in_the_effect_passes_on_and_the_commit_is_kept() -> None:
    ledger, payments = MemoryLedger(), SlowPayments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client, anyio.create_task_group() as tasks:
        runs: list[StructuredRun[Any, Any]] = []

        async def call(*, task_status: anyio.abc.TaskStatus[anyio.CancelScope]) -> None:
            with anyio.CancelScope() as scope:
                async with paying(client, payments) as run:
                    runs.append(run)
                    task_status.started(scope)
                    await run.outcome()
                pytest.fail("cancellation was swallowed")
            assert scope.cancelled_caught

        scope = await tasks.start(call)
        await payments.entered.wait()
        scope.cancel()
        payments.go_on.set()
        await anyio.wait_all_tasks_blocked()
        assert isinstance(await runs[0].outcome(), Committed)
    assert len(payments.made) == 1
    assert (await committed_after(ledger, payments)).name == "committed"
    assert len(payments.made) == 1


async def _cancel_natively(task: "asyncio.Task[None]", times: int) -> None:
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task


@asyncio_alone
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("script", [HALF, UNFINISHED], ids=["half", "whole but unproven"])
async def test_native_cancel_is_raised_again_and_releases_the_key(script: list[Step], times: int) -> None:
    ledger, payments = MemoryLedger(), Payments()
    started = anyio.Event()
    backend = ScriptedBackend([script[0], {"wait": _Setting(started)}, *script[1:]])
    async with client_with(backend, ledger) as client:

        async def call() -> None:
            await client.generate_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")

        task = asyncio.create_task(call())
        await started.wait()
        await _cancel_natively(task, times)
    assert (backend.open_streams, payments.made) == (0, [])
    assert (await committed_after(ledger, payments)).name == "committed"


@asyncio_alone
@pytest.mark.parametrize("times", [1, 2])
async def test_native_cancel_in_the_effect_cannot_tear_the_commit(times: int) -> None:
    ledger, payments = MemoryLedger(), SlowPayments()
    async with client_with(ScriptedBackend(GOOD), ledger) as client:

        async def call() -> None:
            await client.generate_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")

        task = asyncio.create_task(call())
        await payments.entered.wait()
        task.cancel()
        await asyncio.sleep(0)
        if times == 2:
            task.cancel()
            await asyncio.sleep(0)
        payments.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(payments.made) == 1
    replayed = await committed_after(ledger, payments)
    assert isinstance(replayed, Committed)
    assert (replayed.is_replayed, len(payments.made)) == (True, 1)


@asyncio_alone
async def test_timeout_of_asyncio_is_its_own_error_and_recorded_as_cancelled() -> None:
    backend = ScriptedBackend(HALF)
    async with client_with(backend) as client:
        run = client.stream_structured("scripted", Pay, prompt="x")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), run:
                await run.outcome()
        assert isinstance(await run.outcome(), Cancelled)
    assert backend.open_streams == 0


@asyncio_alone
async def test_native_cancel_of_the_clients_own_task_passes_bare() -> None:
    backend, started = ScriptedBackend(HALF), anyio.Event()
    backend = ScriptedBackend([{"text": "{"}, {"wait": _Setting(started)}, {"wait": None}])

    async def program() -> None:
        async with client_with(backend) as client:
            await client.generate_structured("scripted", Pay, prompt="x")

    task = asyncio.create_task(program())
    await started.wait()
    await _cancel_natively(task, 1)
    assert backend.open_streams == 0


async def test_scope_around_the_client_is_a_cancellation() -> None:
    backend = ScriptedBackend(HALF)
    with anyio.CancelScope() as scope:
        async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
            async for _ in run:
                scope.cancel()
    assert scope.cancelled_caught
    assert backend.open_streams == 0


async def test_scope_around_the_client_reaches_one_who_waits_for_the_outcome() -> None:
    backend = ScriptedBackend(HALF)
    with anyio.CancelScope() as scope:
        async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
            await anext(run)
            scope.cancel()
            await run.outcome()
            pytest.fail("cancellation was swallowed")
    assert scope.cancelled_caught
    assert backend.open_streams == 0


async def test_run_may_be_followed_in_one_task_and_left_in_another() -> None:
    backend, seen = ScriptedBackend(HALF), anyio.Event()
    async with client_with(backend) as client, anyio.create_task_group() as tasks:
        run = client.stream_structured("scripted", Pay, prompt="x")
        await run.__aenter__()

        async def follow(finish: Callable[[], Awaitable[None]]) -> None:
            async for _ in run:
                seen.set()
            await finish()

        done = anyio.Event()

        async def finish() -> None:
            done.set()

        tasks.start_soon(follow, finish)
        await seen.wait()
        await run.__aexit__(None, None, None)
        await done.wait()
    assert isinstance(await run.outcome(), Cancelled)


async def test_run_that_is_never_entered_starts_nothing() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        client.stream_structured("scripted", Pay, prompt="x")
    assert backend.requests == []
