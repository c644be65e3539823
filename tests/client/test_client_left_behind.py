"""What a cancelled call leaves behind: threads that nothing can stop, whose work is dropped and is in nobody's way."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import pytest
from client.scripts import GOOD, Pay, Payments, client_with

from commitgate import Client
from commitgate.backends.base import BackendIdentity, Event, GenerationRequest, Message
from commitgate.backends.local import LocalBackend
from commitgate.contract import Contract
from commitgate.ledger import MemoryLedger, State
from commitgate.run.structured_run import StructuredRun
from commitgate.testing import FaultPoint, ScriptedBackend, Step

pytestmark = pytest.mark.anyio
asyncio_alone = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
HALF: list[Step] = [{"text": '{"a'}, {"wait": None}]


@pytest.mark.parametrize("layer", ["evidence", "authorize", "approve"])
async def test_check_in_a_thread_is_left_behind_and_its_answer_dropped(layer: str) -> None:
    begun, may_go_on, gone = threading.Event(), threading.Event(), threading.Event()

    def check(value: Pay, context: object) -> None:
        begun.set()
        may_go_on.wait(20)
        gone.set()

    ledger, payments = MemoryLedger(), Payments()
    options: Any = {layer: check if layer != "evidence" else [check], "effect": payments, "operation_key": "k"}
    try:
        async with (
            client_with(ScriptedBackend(GOOD), ledger) as client,
            client.stream_structured("scripted", Pay, prompt="x", **options) as run,
        ):
            await anyio.to_thread.run_sync(begun.wait)
            run.cancel()
            # It ends although the check still waits.
            assert (await run.outcome()).name == "cancelled"
            assert not gone.is_set()
    finally:
        may_go_on.set()
    await anyio.to_thread.run_sync(gone.wait)
    (row,) = await ledger.list()
    assert (row.state, payments.made) == (State.RELEASED, [])


class SlowToLoad:
    """A model that cannot be loaded before a test says so."""

    identity = BackendIdentity(backend="local", model="slow")

    def __init__(self) -> None:
        self.may_load = threading.Event()

    def load(self, name: str) -> "SlowToLoad":
        self.may_load.wait(20)
        return self

    def prepare(self, contract: Contract[object]) -> None: ...

    def generate(
        self, request: GenerationRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> None: ...


async def test_requests_cancelled_while_a_model_loads_take_no_threads_from_others() -> None:
    model = SlowToLoad()
    backend = LocalBackend(load=model.load)
    threads = anyio.to_thread.current_default_thread_limiter()
    asked = GenerationRequest(model="slow", contract=Contract.of(Pay), messages=(Message("user", "x"),))

    async def ask() -> None:
        async with backend.open(asked):
            pytest.fail("nothing was loaded")

    try:
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert threads.borrowed_tokens == 0
    finally:
        model.may_load.set()


async def test_sibling_that_fails_cancels_the_call_and_its_error_is_what_is_raised() -> None:
    backend, ledger = ScriptedBackend(HALF), MemoryLedger()

    async def fail(run: StructuredRun[Pay, None]) -> None:
        await anext(run)
        raise ZeroDivisionError

    async def follow(client: Client) -> None:
        async with (
            anyio.create_task_group() as tasks,
            client.stream_structured("scripted", Pay, prompt="x", operation_key="k") as run,
        ):
            tasks.start_soon(fail, run)
            await run.outcome()

    async with client_with(backend, ledger) as client:
        with pytest.raises(ExceptionGroup) as caught:
            await follow(client)
        assert caught.group_contains(ZeroDivisionError)
    (row,) = await ledger.list()
    assert (row.state, row.reason, backend.open_streams) == (State.RELEASED, "cancelled", 0)


@asyncio_alone
async def test_wait_for_of_asyncio_is_its_own_error_and_recorded_as_cancelled() -> None:
    backend, ledger = ScriptedBackend(HALF), MemoryLedger()
    async with client_with(backend, ledger) as client:
        call = client.generate_structured("scripted", Pay, prompt="x", operation_key="k")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call, 0.1)
    (row,) = await ledger.list()
    assert (row.state, row.reason, backend.open_streams) == (State.RELEASED, "cancelled", 0)


@asyncio_alone
async def test_task_group_of_asyncio_whose_member_fails_cancels_the_call() -> None:
    backend, ledger = ScriptedBackend(HALF), MemoryLedger()

    async def fail(run: StructuredRun[Pay, None]) -> None:
        await anext(run)
        raise ZeroDivisionError

    async def follow(client: Client) -> None:
        async with (
            asyncio.TaskGroup() as tasks,
            client.stream_structured("scripted", Pay, prompt="x", operation_key="k") as run,
        ):
            tasks.create_task(fail(run))
            await run.outcome()

    async with client_with(backend, ledger) as client:
        with pytest.raises(ExceptionGroup) as caught:
            await follow(client)
        assert caught.group_contains(ZeroDivisionError)
    (row,) = await ledger.list()
    assert (row.state, row.reason, backend.open_streams) == (State.RELEASED, "cancelled", 0)


class Hanging:
    """Says that it was reached, and waits for ever."""

    def __init__(self) -> None:
        self.reached = anyio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await anyio.sleep_forever()


@pytest.mark.parametrize("point", [FaultPoint.OPENING, FaultPoint.FIRST_EVENT, FaultPoint.MID_TEXT])
async def test_request_that_is_cancelled_half_open_is_closed(point: FaultPoint) -> None:
    hanging = Hanging()
    backend = ScriptedBackend(GOOD, fault_at={point: hanging})
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        await hanging.reached.wait()
        assert backend.open_streams == 1
        run.cancel()
        run.cancel()
        assert (await run.outcome()).name == "cancelled"
        assert backend.open_streams == 0
