"""Ways to leave a call that were reported to leak, over a real line: the server sees it, and the next call runs."""

from __future__ import annotations

import gc
from contextlib import aclosing

import anyio
import pytest
from backends.remote.given_calls import GOOD, KEY, PAY, asking
from backends.remote.loopback import Asked, Line, loopback
from backends.remote.wire_script import ChatWire, Script, play, playing

from commitgate import Client
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.remote import RemoteBackend

pytestmark = pytest.mark.anyio

WAITING: Script = [{"text": '{"amount":1,'}, {"wait": True}]


class Watched:
    """Answer the first request by half an answer, notice who leaves it, and answer further ones rightly."""

    def __init__(self) -> None:
        self.left = anyio.Event()

    async def __call__(self, asked: Asked, line: Line) -> None:
        if not self.left.is_set() and asked.connection == 1:
            await play(line, ChatWire(), WAITING)
            self.left.set()
        else:
            await playing("openai_chat", GOOD)(asked, line)


async def test_next_call_gets_the_one_connection_after_a_break() -> None:
    watched = Watched()
    async with asking(watched, connections=1) as (client, server):
        async with client.stream_structured("far/m", PAY, prompt="pay") as run:
            async for _ in run:
                break
        with anyio.fail_after(5):
            await watched.left.wait()
            outcome = await client.generate_structured("far/m", PAY, prompt="pay")
        assert (outcome.name, (await run.outcome()).name) == ("committed", "cancelled")
    assert server.opened == 2


async def test_server_sees_that_a_run_was_dropped() -> None:
    watched = Watched()

    async def leave(client: Client) -> None:
        run = await client.stream_structured("far/m", PAY, prompt="pay").__aenter__()
        async for _ in run:
            break
        del run
        gc.collect()

    async with asking(watched, connections=1) as (client, _):
        with pytest.warns(ResourceWarning, match=r"test_given_wire_cancellations\.py:\d+"):
            await leave(client)
        with anyio.fail_after(5):
            await watched.left.wait()
            assert (await client.generate_structured("far/m", PAY, prompt="pay")).name == "committed"


async def test_server_sees_a_callers_own_limit() -> None:
    watched = Watched()
    async with asking(watched, connections=1) as (client, _):
        with pytest.raises(TimeoutError):
            with anyio.fail_after(0.2):
                await client.generate_structured("far/m", PAY, prompt="pay")
        with anyio.fail_after(5):
            await watched.left.wait()
            assert (await client.generate_structured("far/m", PAY, prompt="pay")).name == "committed"


async def test_run_may_be_left_in_another_task() -> None:
    watched = Watched()
    async with asking(watched, connections=1) as (client, _):
        run = await client.stream_structured("far/m", PAY, prompt="pay").__aenter__()
        seen = anyio.Event()

        async def follow() -> None:
            async for _ in run:
                seen.set()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow)
                await seen.wait()
                await run.__aexit__(None, None, None)
            await watched.left.wait()
            assert (await client.generate_structured("far/m", PAY, prompt="pay")).name == "committed"


async def test_client_that_is_left_closes_its_lines() -> None:
    both = 0
    gone = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        nonlocal both
        await play(line, ChatWire(), WAITING)
        both += 1
        if both == 2:
            gone.set()

    async with loopback(respond) as server:
        backend = RemoteBackend(DIALECTS["openai_chat"](), base_url=server.url, api_key=KEY)
        async with aclosing(backend):
            async with Client(backends={"far": backend}) as client:
                runs = [await client.stream_structured("far/m", PAY, prompt="pay").__aenter__() for _ in range(2)]
                for run in runs:
                    await anext(aiter(run))
            with anyio.fail_after(5):
                await gone.wait()
            assert [(await run.outcome()).name for run in runs] == ["cancelled"] * 2
    assert server.opened == 2


async def test_run_that_is_never_entered_asks_nothing() -> None:
    async with asking(playing("openai_chat", GOOD)) as (client, server):
        client.stream_structured("far/m", PAY, prompt="pay")
        gc.collect()
    assert server.opened == 0
