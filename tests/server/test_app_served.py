"""A real server on the loopback, asked by the official client."""

import socket
import threading
from typing import Any

import anyio
import httpx
import openai
import pytest
import uvicorn.config
from asgi_calls import ANSWER
from chats import USER, body, function
from pydantic import BaseModel
from served_app import served

from commitgate.errors import MisuseError
from commitgate.testing import ScriptedBackend
from commitgate_local.server.running import check_exposure, listen
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio


class City(BaseModel):
    """Name a city."""

    city: str


@pytest.fixture
def anyio_backend() -> str:
    """Run the client under asyncio alone: the server has a loop of its own."""
    return "asyncio"


class Standstill:
    """Hold a script until it is given up, and tell threads about both."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.went = threading.Event()

    async def wait(self) -> None:
        self.came.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.went.set()


async def reached(event: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(event.wait, 10)


async def test_typed_answer_is_asked_for_and_read() -> None:
    backend = ScriptedBackend([{"text": '{"city": "Oslo"}'}, {"usage": [7, 5]}, {"finish": "stop"}])
    with served(backend) as server:
        async with server.client() as client:
            found = await client.chat.completions.parse(model="small", messages=[USER], response_format=City)
            assert [each.id async for each in client.models.list()] == ["small"]
    assert found.choices[0].message.parsed == City(city="Oslo")


async def test_stream_is_put_together() -> None:
    with served(ScriptedBackend(ANSWER, chunking="bytes")) as server:
        async with (
            server.client() as client,
            client.chat.completions.stream(
                model="small", messages=[USER], stream_options={"include_usage": True}
            ) as run,
        ):
            found = await run.get_final_completion()
    assert found.choices[0].message.content == "It is warm."
    assert found.usage is not None
    assert found.usage.total_tokens == 12


async def test_calls_of_tools_are_read() -> None:
    script = [{"text": '{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}'}, {"finish": "stop"}]
    with served(ScriptedBackend(script)) as server:
        async with server.client() as client:
            tools: Any = [function(strict=True)]
            found = await client.chat.completions.create(
                model="small", messages=[USER], tools=tools, tool_choice="required"
            )
    (call,) = found.choices[0].message.tool_calls or ()
    assert call.type == "function"
    assert call.function.arguments == '{"city": "Oslo"}'


async def test_errors_are_raised_by_their_kind() -> None:
    backend = ScriptedBackend([{"text": "a"}, {"fault": "server"}], then=[[{"fault": "overload"}]])
    with served(backend, token="token-of-tests") as server:
        async with server.client() as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.chat.completions.create(model="small", messages=[USER])
        async with server.client(api_key="token-of-tests") as client:
            ask = client.chat.completions.create
            with pytest.raises(openai.NotFoundError):
                await ask(model="large", messages=[USER])
            with pytest.raises(openai.BadRequestError):
                await ask(model="small", messages=[USER], stop=["x"])
            with pytest.raises(openai.APIError):
                async for _ in await ask(model="small", messages=[USER], stream=True):
                    pass
            with pytest.raises(openai.InternalServerError) as caught:
                await ask(model="small", messages=[USER])
    assert caught.value.status_code == 503
    assert caught.value.request_id is not None


@pytest.mark.parametrize("streams", [True, False])
async def test_key_replays(streams: bool) -> None:
    backend = ScriptedBackend(ANSWER, then=[[{"text": "Another."}, {"finish": "stop"}]])
    headers = {"Idempotency-Key": "order-7", "Content-Type": "application/json"}
    with served(backend) as server:
        async with httpx.AsyncClient() as client:
            replies = [
                await client.post(f"{server.url}/v1/chat/completions", content=body(stream=streams), headers=headers)
                for _ in range(2)
            ]
    assert replies[0].content == replies[1].content
    assert [reply.headers.get("idempotency-replayed") for reply in replies] == [None, "true"]
    assert len(backend.requests) == 1


@pytest.mark.parametrize("streams", [True, False])
async def test_client_that_drops_stops_the_work_and_frees_the_key(streams: bool) -> None:
    still = Standstill()
    backend = ScriptedBackend([{"text": "a"}, {"wait": still}], then=[ANSWER])
    headers = {"Idempotency-Key": "order-7"}
    with served(backend, limits=ServerLimits(concurrent_requests=1, queued_requests=0, drain_s=5)) as server:
        async with server.client() as client:
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(ask, client, streams, headers)
                    await reached(still.came)
                    scope.cancel()
        await reached(still.went)
        async with server.client(max_retries=5) as client:
            await ask(client, streams, headers)
    assert len(backend.requests) == 2
    assert backend.open_streams == 0


async def ask(client: openai.AsyncOpenAI, streams: bool, headers: dict[str, str]) -> None:
    answer: Any = await client.chat.completions.create(
        model="small", messages=[USER], stream=streams, extra_headers=headers
    )
    if streams:
        async for _ in answer:
            pass


async def test_server_that_is_told_to_stop_ends_what_runs_and_answers_health_meanwhile() -> None:
    still = Standstill()
    backend = ScriptedBackend([{"text": "a"}, {"wait": still}])
    with served(backend, limits=ServerLimits(drain_s=60)) as server:
        async with server.client() as client, httpx.AsyncClient() as plain:
            stream = await client.chat.completions.create(model="small", messages=[USER], stream=True)
            await reached(still.came)
            server.server.stop()
            while (response := await plain.get(f"{server.url}/health")).status_code == 200:
                pass
            assert response.json() == {"status": "draining"}
            with pytest.raises(openai.InternalServerError):
                await client.chat.completions.create(model="small", messages=[USER])
            await stream.close()
    assert still.went.is_set()


async def test_answer_that_does_not_end_is_cancelled_when_the_time_is_up() -> None:
    still = Standstill()
    with served(ScriptedBackend([{"text": "a"}, {"wait": still}]), limits=ServerLimits(drain_s=0)) as server:
        async with server.client() as client:
            stream = await client.chat.completions.create(model="small", messages=[USER], stream=True)
            await reached(still.came)
            server.server.stop()
            with pytest.raises(openai.APIError, match="shutting down"):
                async for _ in stream:
                    pass
    assert still.went.is_set()


@pytest.mark.parametrize(
    ("host", "has_token", "is_open", "is_taken"),
    [
        ("127.0.0.1", False, False, True),
        ("127.8.8.8", False, False, True),
        ("::1", False, False, True),
        ("localhost", False, False, True),
        ("0.0.0.0", False, False, False),
        ("::", False, False, False),
        ("example.org", False, False, False),
        ("0.0.0.0", True, False, True),
        ("0.0.0.0", False, True, True),
    ],
)
def test_address_that_others_reach_needs_a_token(host: str, has_token: bool, is_open: bool, is_taken: bool) -> None:
    try:
        check_exposure(host, has_token=has_token, is_open=is_open)
    except MisuseError:
        assert not is_taken
    else:
        assert is_taken


def test_port_that_is_taken_is_said_so() -> None:
    with listen("127.0.0.1", 0) as first, pytest.raises(MisuseError, match="nothing can listen"):
        listen("127.0.0.1", first.getsockname()[1])


class Gate:
    """Hold a script until a thread lets it go on."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    async def wait(self) -> None:
        assert await anyio.to_thread.run_sync(self.opened.wait, 10)


async def test_stream_that_is_kept_alive_is_read_as_any_other() -> None:
    gate, again = Gate(), Gate()
    script = [{"wait": gate}, {"text": "It is "}, {"wait": again}, {"text": "warm."}, {"finish": "stop"}]
    with served(ScriptedBackend(script), limits=ServerLimits(keep_alive_s=0.01)) as server:
        async with server.client() as client:
            # It comes with the first bytes, and before any text these can only be a comment.
            stream = await client.chat.completions.create(model="small", messages=[USER], stream=True)
            gate.opened.set()
            texts: list[str] = []
            async for chunk in stream:
                texts.append(chunk.choices[0].delta.content or "")
                if texts[-1] == "It is ":
                    again.opened.set()
    assert "".join(texts) == "It is warm."


async def test_client_that_reads_nothing_loses_its_place_and_its_connection() -> None:
    backend = ScriptedBackend([*({"text": "a" * 100_000} for _ in range(300)), {"finish": "stop"}], then=[ANSWER])
    limits = ServerLimits(write_s=0.2, concurrent_requests=1, drain_s=5)
    with served(backend, limits=limits) as server:
        data = body(stream=True)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            silent.connect(("127.0.0.1", int(server.url.rpartition(":")[2])))
            silent.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + data)
            async with server.client(max_retries=0) as client:
                # It waits for the one place, and gets it.
                found = await client.chat.completions.create(model="small", messages=[USER])
                assert found.choices[0].message.content == "It is warm."
            with anyio.fail_after(10):
                while server.server.connections:
                    await anyio.lowlevel.checkpoint()
    assert backend.open_streams == 0


async def test_head_without_end_is_refused_whatever_parsers_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    # What uvicorn would choose by itself: a parser that is not bounded, where there is one.
    monkeypatch.setitem(uvicorn.config.HTTP_PROTOCOLS, "auto", "parsers_that_are_not:Bounded")
    with served(ScriptedBackend([{"finish": "stop"}])) as server:
        host, port = server.url.removeprefix("http://").split(":")
        async with await anyio.connect_tcp(host, int(port)) as line:
            await line.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Word: ")
            with anyio.fail_after(10), pytest.raises(anyio.BrokenResourceError):
                await line.send(b"x" * 16_777_216)
