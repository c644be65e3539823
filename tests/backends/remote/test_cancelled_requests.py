"""No cancellation, wherever it strikes, takes a connection or a place away for ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import ModuleType

import anyio
import httpx
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from backends.remote.chat_words import ANSWER, answering, backend_at, delta, events_of, request
from backends.remote.loopback import Asked, Line, Loopback, Respond, loopback

from commitgate.backends.base import Finish, WaitExpired
from commitgate.backends.remote import RemoteBackend
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

STEPS = 40
"""More than any request takes on loopback."""


@pytest.fixture(params=[httpx, httpx2], ids=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> ModuleType:
    found: ModuleType = request.param
    return found


@asynccontextmanager
async def one_connection(library: ModuleType, respond: Respond) -> AsyncIterator[tuple[Loopback, RemoteBackend]]:
    """Ask through a client that has one connection alone."""
    async with loopback(respond) as server:
        limits = library.Limits(max_connections=1)
        async with library.AsyncClient(limits=limits) as client:
            yield server, backend_at(server, http_client=client)


async def is_usable(backend: RemoteBackend) -> bool:
    """Say that a further request gets its answer, and at once."""
    with anyio.move_on_after(5):
        return any(isinstance(event, Finish) for event in await events_of(backend))
    return False


async def cancelled_after(steps: int, work: Callable[[], Awaitable[object]]) -> None:
    """Do work, and cancel it after so many turns of the event loop."""

    async def run(scope: anyio.CancelScope) -> None:
        with scope:
            await work()

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, scope)
        for _ in range(steps):
            await checkpoint()
        scope.cancel()


async def natively_cancelled_after(steps: int, work: Callable[[], Awaitable[object]]) -> None:
    async def run() -> None:
        await work()

    task = asyncio.create_task(run())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_request_cancelled_at_any_step_leaves_its_connection_usable(library: ModuleType) -> None:
    async with one_connection(library, answering(ANSWER[:30], ANSWER[30:])) as (_, backend):
        for steps in range(STEPS):
            await cancelled_after(steps, lambda: events_of(backend))
            assert await is_usable(backend), f"cancelled after {steps} steps"


async def test_request_cancelled_while_it_waits_for_anothers_connection_leaves_it_usable(library: ModuleType) -> None:
    async with one_connection(library, answering(ANSWER[:30], ANSWER[30:])) as (_, backend):
        for steps in range(STEPS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(events_of, backend)
                tasks.start_soon(cancelled_after, steps, lambda: events_of(backend))
                tasks.start_soon(cancelled_after, steps + 3, lambda: events_of(backend))
            assert await is_usable(backend), f"cancelled after {steps} steps"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_request_cancelled_by_asyncio_itself_leaves_its_connection_usable(
    library: ModuleType, anyio_backend: str
) -> None:
    async with one_connection(library, answering(ANSWER[:30], ANSWER[30:])) as (_, backend):
        for steps in range(STEPS):
            await natively_cancelled_after(steps, lambda: events_of(backend))
            assert await is_usable(backend), f"cancelled after {steps} steps"


async def test_steps_reach_to_the_end_of_a_request(library: ModuleType) -> None:
    seen: list[object] = []

    async def follow(backend: RemoteBackend) -> None:
        seen.extend(await events_of(backend))

    async with one_connection(library, answering(ANSWER[:30], ANSWER[30:])) as (_, backend):
        await cancelled_after(STEPS, lambda: follow(backend))
    assert seen, "a request takes more steps than are tried"


async def test_own_connections_and_places_outlive_cancellations() -> None:
    async with loopback(answering(ANSWER[:30], ANSWER[30:])) as server:
        backend = backend_at(server, connections=1)
        for steps in range(STEPS):
            await cancelled_after(steps, lambda: events_of(backend))
        assert await is_usable(backend)
        await backend.aclose()


async def test_server_sees_that_an_answer_is_left_early(library: ModuleType) -> None:
    left = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()
        left.set()

    async with one_connection(library, respond) as (_, backend):
        async with backend.open(request()) as stream:
            await anext(aiter(stream))
        with anyio.fail_after(5):
            await left.wait()


async def test_server_sees_that_a_wait_for_its_next_word_was_cancelled(library: ModuleType) -> None:
    waiting, left = anyio.Event(), anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        waiting.set()
        await line.closed()
        left.set()

    async with one_connection(library, respond) as (_, backend), anyio.create_task_group() as tasks:
        tasks.start_soon(events_of, backend)
        await waiting.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(5):
            await left.wait()
    assert left.is_set()


async def test_answer_is_closed_by_another_task_while_its_reader_waits(library: ModuleType) -> None:
    reading, left = anyio.Event(), anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()
        left.set()

    seen: list[object] = []

    async with one_connection(library, respond) as (_, backend):
        opened = backend.open(request())
        stream = await opened.__aenter__()

        async def read() -> None:
            async for event in stream:
                seen.append(event)
                reading.set()
            seen.append("over")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await reading.wait()
            await checkpoint()
            await opened.__aexit__(None, None, None)
            with anyio.fail_after(5):
                await left.wait()
    assert seen[-1] == "over"


async def test_place_is_waited_for_no_longer_than_the_limit() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.closed()

    async with loopback(respond) as server:
        backend = backend_at(server, connections=1)
        async with backend.open(request()):
            with pytest.raises(WaitExpired) as raised:
                await events_of(backend, request(timeouts=Timeouts(pool_s=0.01)))
        assert (raised.value.phase, raised.value.limit_s) == ("pool", 0.01)
        await backend.aclose()


async def test_connection_of_a_passed_client_is_waited_for_no_longer_than_the_limit(library: ModuleType) -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()

    async with one_connection(library, respond) as (_, backend):
        async with backend.open(request()) as stream:
            await anext(aiter(stream))
            with pytest.raises(WaitExpired) as raised:
                await events_of(backend, request(timeouts=Timeouts(pool_s=0.01)))
        assert raised.value.phase == "pool"


async def test_wait_for_a_passed_clients_connection_is_cancelled_at_once(library: ModuleType) -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()

    async with one_connection(library, respond) as (_, backend), backend.open(request()) as stream:
        await anext(aiter(stream))
        with anyio.fail_after(5), anyio.move_on_after(0.01) as scope:
            await events_of(backend)
        assert scope.cancelled_caught


async def test_client_that_tells_nothing_of_its_work_is_cancelled_too(library: ModuleType) -> None:
    async def hang(asked: object) -> None:
        del asked
        await anyio.sleep_forever()

    async with library.AsyncClient(transport=library.MockTransport(hang)) as client:
        backend = backend_at("http://127.0.0.1:1", http_client=client)
        with anyio.fail_after(5), anyio.move_on_after(0.01) as scope:
            await events_of(backend)
        assert scope.cancelled_caught
