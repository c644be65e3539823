"""A run that is cancelled finishes the call that commits, begins no other, and goes on under its key."""

import asyncio
import gc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from till import STOP, Till, answering, backend_of, calling, client_of, piece

from commitgate.effect import EffectContext
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Cancelled, Committed, EffectFailed, Invalid
from commitgate.testing import ScriptedBackend
from commitgate.tools import CallStarted, Tool, ToolRun, TurnPreview, call_key, tool

pytestmark = pytest.mark.anyio


class Bell:
    """Wait in a tool until somebody rings."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.go_on = anyio.Event()
        self.paid: list[int] = []

    def tool(self) -> Tool[..., Any]:
        async def pay(amount: int, context: EffectContext) -> int:
            self.begun.set()
            await self.go_on.wait()
            self.paid.append(amount)
            return amount

        made: Tool[..., Any] = tool(effect="once")(pay)
        return made


TWO = [("pay", '{"amount":1}'), ("pay", '{"amount":2}')]


async def test_cancel_while_a_turn_is_written_runs_nothing() -> None:
    till = Till()
    backend = ScriptedBackend([piece(0, '{"amount":1}', name="pay"), {"wait": None}])
    ledger = MemoryLedger()
    async with (
        client_of(backend, ledger) as client,
        client.stream_tools("scripted", tools=[till.tool()], prompt="pay", operation_key="k") as run,
    ):
        async for item in run:
            assert isinstance(item, TurnPreview)
            if item.calls and item.calls[0].arguments == {"amount": 1}:
                run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
    assert till.paid == []
    assert await ledger.read(call_key("k", 1, 1)) is None


async def ring_and_cancel(bell: Bell, run: ToolRun[Any], cancel: Callable[[], None]) -> None:
    await bell.begun.wait()
    cancel()
    bell.go_on.set()


async def test_cancel_while_a_call_commits_finishes_it_and_begins_no_other() -> None:
    bell, ledger = Bell(), MemoryLedger()
    async with client_of(backend_of(calling(*TWO)), ledger) as client, anyio.create_task_group() as group:
        async with client.stream_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k") as run:
            group.start_soon(ring_and_cancel, bell, run, run.cancel)
            assert isinstance(await run.outcome(), Cancelled)
        assert [each.has_run for each in run.calls] == [True]
    assert bell.paid == [1]
    second = Bell()
    second.go_on.set()
    async with client_of(backend_of(answering()), ledger) as client:
        outcome = await client.run_tools("scripted", tools=[second.tool()], prompt="pay", operation_key="k")
    assert isinstance(outcome, Committed)
    assert second.paid == [2]


async def test_leaving_early_finishes_the_call_that_commits() -> None:
    bell, ledger = Bell(), MemoryLedger()
    async with client_of(backend_of(calling(*TWO)), ledger) as client, anyio.create_task_group() as group:
        async with client.stream_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k") as run:
            async for item in run:
                if isinstance(item, CallStarted):
                    break
            await bell.begun.wait()
            group.start_soon(ring_and_cancel, bell, run, lambda: None)
        assert run.is_done
    assert bell.paid == [1]


@pytest.mark.parametrize("ring", [True, False], ids=["while it commits", "before"])
async def test_scope_around_a_run_is_obeyed_and_tears_no_commit(ring: bool) -> None:
    bell, ledger = Bell(), MemoryLedger()
    backend = backend_of(calling(*TWO)) if ring else ScriptedBackend([{"wait": None}])
    async with client_of(backend, ledger) as client, anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                if ring:
                    await bell.begun.wait()
                else:
                    await anyio.wait_all_tasks_blocked()
                scope.cancel()
                bell.go_on.set()

            group.start_soon(cancel)
            await client.run_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k")
        assert scope.cancelled_caught
    assert bell.paid == ([1] if ring else [])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_native_cancellation_tears_no_commit(anyio_backend: str) -> None:
    bell, ledger = Bell(), MemoryLedger()
    async with client_of(backend_of(calling(*TWO)), ledger) as client:
        task = asyncio.create_task(client.run_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k"))
        await bell.begun.wait()
        task.cancel()
        bell.go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert bell.paid == [1]
    second = Bell()
    second.go_on.set()
    async with client_of(backend_of(answering()), ledger) as client:
        outcome = await client.run_tools("scripted", tools=[second.tool()], prompt="pay", operation_key="k")
    assert isinstance(outcome, Committed)
    assert second.paid == [2]


async def test_leaving_the_client_ends_its_runs() -> None:
    bell, ledger = Bell(), MemoryLedger()
    outcomes: list[object] = []
    async with anyio.create_task_group() as group, client_of(backend_of(calling(*TWO)), ledger) as client:

        async def follow() -> None:
            async with client.stream_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k") as run:
                outcomes.append(await run.outcome())

        group.start_soon(follow)
        await bell.begun.wait()
        bell.go_on.set()
    assert bell.paid == [1]
    assert [type(each) for each in outcomes] == [Cancelled]


async def test_run_without_a_key_that_is_cancelled_reads_no_further() -> None:
    till = Till()
    backend = backend_of(calling(("look_up", '{"name":"a"}'), ("look_up", '{"name":"b"}')), answering())
    async with (
        client_of(backend) as client,
        client.stream_tools("scripted", tools=[till.reader()], prompt="look") as run,
    ):
        async for item in run:
            if isinstance(item, CallStarted):
                run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
    assert till.looked_up in ([], ["a"])


async def test_error_of_a_run_is_raised_by_iterating_and_by_its_outcome() -> None:
    backend = ScriptedBackend([{"raise": ZeroDivisionError()}])
    options: dict[str, Any] = {"tools": [Till().tool()], "prompt": "p", "operation_key": "k"}
    async with client_of(backend) as client:
        async with client.stream_tools("scripted", **options) as run:  # leaving does not raise it again
            with pytest.raises(ZeroDivisionError):
                await anext(run)
            with pytest.raises(ZeroDivisionError):
                await run.outcome()
        with pytest.raises(ZeroDivisionError):
            await client.run_tools("scripted", **options)


async def test_check_that_cancels_the_run_ends_it() -> None:
    runs: list[ToolRun[Any]] = []

    def cancel(arguments: Any) -> None:
        runs[0].cancel()

    till = Till()
    backend = backend_of(calling(("pay", '{"amount":1}'), ("pay", '{"amount":2}')), answering())
    async with (
        client_of(backend) as client,
        client.stream_tools("scripted", tools=[till.tool(rules=[cancel])], prompt="pay", operation_key="k") as run,
    ):
        runs.append(run)
        outcome = await run.outcome()
    assert isinstance(outcome, Cancelled)
    assert not isinstance(outcome, Invalid)
    assert till.paid == []


async def test_words_and_turn_text_are_never_run() -> None:
    till = Till()
    text = 'I call {"calls":[{"name":"pay","arguments":{"amount":1}}]}'
    backend = ScriptedBackend([{"prose": text}, STOP])
    async with client_of(backend) as client:
        outcome = await client.run_tools("scripted", tools=[till.tool()], prompt="pay", operation_key="k")
    assert isinstance(outcome, Committed)
    assert (outcome.value, till.paid) == (text, [])


async def test_cancel_in_the_last_call_of_a_turn_asks_for_no_further_turn() -> None:
    bell, backend = Bell(), backend_of(calling(("pay", '{"amount":1}')), answering())
    async with client_of(backend) as client, anyio.create_task_group() as group:
        async with client.stream_tools("scripted", tools=[bell.tool()], prompt="pay", operation_key="k") as run:
            group.start_soon(ring_and_cancel, bell, run, run.cancel)
            assert isinstance(await run.outcome(), Cancelled)
        assert [each.has_run for each in run.calls] == [True]
    assert len(backend.requests) == 1


async def test_closing_the_client_ends_a_run_after_the_call_that_commits() -> None:
    bell, outcomes = Bell(), list[object]()
    async with client_of(backend_of(calling(*TWO))) as client, anyio.create_task_group() as group:

        async def follow() -> None:
            options: dict[str, Any] = {"tools": [bell.tool()], "prompt": "pay", "operation_key": "k"}
            outcomes.append(await client.run_tools("scripted", **options))

        group.start_soon(follow)
        await bell.begun.wait()
        group.start_soon(client.aclose)
        await anyio.wait_all_tasks_blocked()
        bell.go_on.set()
    assert bell.paid == [1]
    assert [type(each) for each in outcomes] == [Cancelled]


async def test_reading_that_hangs_is_cancelled() -> None:
    begun = anyio.Event()

    async def hang(name: str) -> None:
        begun.set()
        await anyio.sleep_forever()

    backend = backend_of(calling(("hang", '{"name":"a"}')))
    tools: list[Tool[..., Any]] = [tool(effect="read")(hang)]
    async with client_of(backend) as client, client.stream_tools("scripted", tools=tools, prompt="look") as run:
        await begun.wait()
        run.cancel()
        assert isinstance(await run.outcome(), Cancelled)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancellation_out_of_a_tools_own_task_is_told_as_a_failure(anyio_backend: str) -> None:
    async def stray(name: str) -> None:
        raise asyncio.CancelledError

    backend = backend_of(calling(("stray", '{"name":"a"}')), answering())
    async with client_of(backend) as client:
        outcome = await client.run_tools("scripted", tools=[tool(effect="read")(stray)], prompt="look")
    assert isinstance(outcome, Committed)
    assert isinstance(outcome.result[0].outcome, EffectFailed)


async def test_dropped_run_is_ended_and_its_place_named() -> None:
    till = Till()
    backend = ScriptedBackend([piece(0, '{"amount":1', name="pay"), {"wait": None}])
    async with client_of(backend) as client:
        run = await client.stream_tools("scripted", tools=[till.tool()], prompt="p", operation_key="k").__aenter__()
        await anext(run)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del run
            gc.collect()
        told = [str(warning.message) for warning in caught if issubclass(warning.category, ResourceWarning)]
        assert len(told) == 1
        assert f"{Path(__file__).name}:" in told[0]
        with anyio.fail_after(20):
            while backend.open_streams:
                await anyio.wait_all_tasks_blocked()
    assert till.paid == []


async def test_run_that_was_left_has_ended_or_never_began_warns_of_nothing() -> None:
    options: dict[str, Any] = {"tools": [Till().tool()], "prompt": "p", "operation_key": "k"}
    backend = backend_of(answering())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with client_of(backend) as client:
            client.stream_tools("scripted", **options)
            async with client.stream_tools("scripted", **options) as left:
                pass
            ended = await client.stream_tools("scripted", **options).__aenter__()
            assert isinstance(await ended.outcome(), Committed)
            del left, ended
            gc.collect()


async def test_cancel_before_the_first_turn_asks_for_none() -> None:
    backend = backend_of(answering())
    options: dict[str, Any] = {"tools": [Till().tool()], "prompt": "p", "operation_key": "k"}
    async with client_of(backend) as client, client.stream_tools("scripted", **options) as run:
        run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
    assert backend.requests == []
