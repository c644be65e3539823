"""An event loop that is shut down cancels all tasks at once, those too that have not begun: nothing waits for ever."""

import asyncio
import gc
from collections.abc import Awaitable, Callable

import anyio
import pytest
from scripts import GOOD, PAY

from commitgate.client import Client
from commitgate.ledger import Fingerprint, MemoryLedger, Operation
from commitgate.retry import operation_key
from commitgate.testing import ScriptedBackend
from commitgate.tools import tool

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")]

MOST_TURNS = 12
"""Turns of the event loop after which all tasks have begun."""

PATIENCE_S = 30.0


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def make_a_call() -> None:
    async with Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=MemoryLedger()) as client:
        await client.generate_structured("scripted", PAY, prompt="x", operation_key="k")


@tool(effect="read")
def look_up(name: str) -> str:
    return name


async def run_tools() -> None:
    client = Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=MemoryLedger())
    async with client, client.stream_tools("scripted", tools=[look_up], prompt="x") as run:
        await run.outcome()


async def hold_a_key() -> None:
    async with anyio.create_task_group() as group:
        operation: Operation[object, object] = Operation(
            MemoryLedger(),
            group,
            operation_key("k"),
            Fingerprint("language", None, None, "input"),
            None,
            owner="first",
            on_lease_lost=group.cancel_scope.cancel,
        )
        async with operation:
            await anyio.sleep_forever()


@pytest.mark.parametrize("turns", range(MOST_TURNS))
@pytest.mark.parametrize("work", [make_a_call, run_tools, hold_a_key])
async def test_no_task_waits_for_one_that_never_begins(work: Callable[[], Awaitable[None]], turns: int) -> None:
    own = asyncio.all_tasks()
    working = asyncio.ensure_future(work())
    for _ in range(turns):
        await asyncio.sleep(0)
    tasks = asyncio.all_tasks() - own
    for task in tasks:
        task.cancel()
    _, waiting = await asyncio.wait(tasks, timeout=PATIENCE_S)
    assert not waiting
    assert working.cancelled()
    # Python warns of what never began when it is forgotten; here, and not in another test.
    del tasks, task, working, _
    gc.collect()
