"""What comes over a real line becomes the events that it means, however it is cut and however it ends."""

from __future__ import annotations

import gzip
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio
import pytest
from anyio.lowlevel import checkpoint
from backends.remote.chat_words import ANSWER, DONE, answering, backend_at, delta, events_of, finish, request
from backends.remote.loopback import EVENT_STREAM, Asked, Line, closed_port, loopback

from commitgate.backends.base import ConnectionLost, Fault, Finish, Ping, StreamEvent, TextDelta
from commitgate.backends.wire.response import SLICE_BYTES
from commitgate.backends.wire.sse import SseDecoder
from commitgate.backends.wire.wire_event import RawEvent
from commitgate.errors import MisuseError
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

Send = Callable[[Line], Awaitable[None]]
SNOWMAN = delta("\N{SNOWMAN}")
WHOLE = json.dumps({"choices": [{"message": {"content": '{"a": 1}'}, "finish_reason": "stop"}]}).encode()


async def asked_with(send: Send, **changes: object) -> list[StreamEvent]:
    """Return what a request amounts to that is answered so."""

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await send(line)

    async with loopback(respond) as server:
        backend = backend_at(server)
        try:
            with anyio.fail_after(30):
                return await events_of(backend, request(**changes))
        finally:
            await backend.aclose()


def told(events: list[StreamEvent]) -> list[object]:
    """Return the text, then what is no sign of life."""
    text = b"".join(event.data for event in events if isinstance(event, TextDelta))
    rest = [event for event in events if not isinstance(event, TextDelta | Ping)]
    return [text, *rest]


def kinds(events: list[StreamEvent]) -> list[object]:
    text, *rest = told(events)
    return [text, *(type(event) for event in rest)]


async def test_answer_is_read_however_its_bytes_are_cut() -> None:
    body = delta('{"a": "') + SNOWMAN + delta('"}') + finish() + DONE
    for size in (1, 2, 3, 7, 64, len(body)):
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        async with loopback(answering(*pieces)) as server:
            backend = backend_at(server)
            assert kinds(await events_of(backend)) == ['{"a": "\N{SNOWMAN}"}'.encode(), Finish], f"pieces of {size}"
            await backend.aclose()


async def cut_in_chunks(line: Line) -> None:
    await line.head()
    await line.chunk(delta('{"a": '))
    await line.fin()


async def cut_within_a_chunk(line: Line) -> None:
    await line.head()
    await line.send(b"ff\r\n" + delta('{"a": '))
    await line.fin()


async def reset(line: Line) -> None:
    await line.head()
    await line.chunk(delta('{"a": '))
    await line.rst()


async def short_length(line: Line) -> None:
    await line.head(content_length="5000")
    await line.send(delta('{"a": '))
    await line.fin()


async def mid_line(line: Line) -> None:
    await line.head()
    await line.chunk(delta('{"a": ') + delta("1}")[:20])
    await line.fin()


async def mid_character(line: Line) -> None:
    await line.head()
    raw = delta('{"a": ') + 'data: {"choices": [{"index": 0, "delta": {"content": "\N{SNOWMAN}"}}]}'.encode()
    await line.chunk(raw[: raw.index(b"\xe2") + 1])
    await line.fin()


async def broken_chunks(line: Line) -> None:
    await line.head()
    await line.chunk(delta('{"a": '))
    await line.send(b"no size\r\n\r\n")
    await line.closed()


CUTS = [cut_in_chunks, cut_within_a_chunk, reset, short_length, mid_line, mid_character, broken_chunks]


@pytest.mark.parametrize("send", CUTS, ids=lambda send: send.__name__)
async def test_line_that_breaks_within_the_answer_is_lost(send: Send) -> None:
    found = kinds(await asked_with(send))
    assert found[1:] == [ConnectionLost]
    assert found[0] in (b'{"a": ', b""), "a reset may take with it what was not read yet"


async def test_clean_end_without_a_finish_proves_nothing() -> None:
    async def send(line: Line) -> None:
        await line.head()
        await line.chunk(delta('{"a": 1}'))
        await line.end()

    assert kinds(await asked_with(send)) == [b'{"a": 1}']


async def test_line_that_breaks_after_the_finish_changes_no_finish() -> None:
    async def send(line: Line) -> None:
        await line.head()
        await line.chunk(delta('{"a": 1}') + finish())
        await line.fin()

    assert kinds(await asked_with(send))[:2] == [b'{"a": 1}', Finish]


async def test_body_that_the_end_of_the_connection_ends_is_whole() -> None:
    async def send(line: Line) -> None:
        await line.head(connection="close")
        await line.send(ANSWER)
        await line.fin()

    assert kinds(await asked_with(send)) == [b'{"a": 1}', Finish]


async def test_server_that_closes_without_a_word_is_lost() -> None:
    assert kinds(await asked_with(lambda line: line.fin())) == [b"", ConnectionLost]


async def test_head_that_is_cut_is_lost() -> None:
    async def send(line: Line) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
        await line.fin()

    assert kinds(await asked_with(send)) == [b"", ConnectionLost]


async def test_what_does_not_speak_http_is_no_server() -> None:
    async def send(line: Line) -> None:
        await line.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await line.closed()

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("protocol", "not_http")


async def test_packed_answer_is_unpacked_though_nobody_asked_for_it() -> None:
    async def send(line: Line) -> None:
        await line.head(content_encoding="gzip")
        packed = gzip.compress(ANSWER)
        await line.chunk(packed[:30])
        await line.chunk(packed[30:])
        await line.end()

    assert kinds(await asked_with(send)) == [b'{"a": 1}', Finish]


async def test_server_that_sends_no_stream_is_read_all_the_same() -> None:
    async def send(line: Line) -> None:
        await line.head(headers={"content-type": "application/json"}, content_length=str(len(WHOLE)))
        await line.send(WHOLE)

    assert kinds(await asked_with(send)) == [b'{"a": 1}', Finish]


async def test_huge_line_is_no_answer() -> None:
    async def send(line: Line) -> None:
        await line.head()
        await line.send(b"%x\r\n" % (1 << 30))
        piece = b"data: " + b"x" * 65_536
        for _ in range(64):
            await line.send(piece)
        await line.closed()

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert fault.kind == "protocol"


async def test_redirect_is_not_followed() -> None:
    async def send(line: Line) -> None:
        await line.head(status=307, location="https://u:secret@elsewhere.example/v2?k=secret", content_length="0")

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == ("bad_request", 307)
    assert "https://elsewhere.example/v2" in fault.message
    assert "secret" not in fault.message


async def test_key_that_a_server_calls_its_answer_is_not_told() -> None:
    key = "sk-0123456789"

    async def respond(asked: Asked, line: Line) -> None:
        told = {"id": asked.headers["authorization"], "system_fingerprint": asked.headers["authorization"]}
        await line.head()
        await line.chunk(b"data: %b\n\n" % json.dumps({**told, "choices": []}).encode())
        await line.end()

    async with loopback(respond) as server:
        backend = backend_at(server, api_key=key)
        async with backend.open(request()) as stream:
            assert [event async for event in stream]
            assert (stream.identity.model_revision, stream.identity.request_id) == ("Bearer ***", "Bearer ***")
        await backend.aclose()


async def test_redirect_to_nowhere_is_not_followed_either() -> None:
    async def send(line: Line) -> None:
        await line.head(status=302, location="http://[", content_length="0")

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert fault.kind == "bad_request"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "bad_request"), (401, "auth"), (404, "bad_request"), (429, "rate_limit"), (503, "overload")],
)
async def test_status_of_failure_is_a_fault(status: int, kind: str) -> None:
    async def send(line: Line) -> None:
        body = b'{"error": {"message": "no", "type": "some"}}'
        headers = {"content-type": "application/json", "retry-after": "7", "x-request-id": "r-9"}
        await line.head(status=status, headers=headers, content_length=str(len(body)))
        await line.send(body)

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status, fault.request_id, fault.retry_after_s) == (kind, status, "r-9", 7.0)


async def test_page_in_place_of_an_answer_is_a_fault() -> None:
    async def send(line: Line) -> None:
        page = b"<html><body>Welcome</body></html>"
        await line.head(headers={"content-type": "text/html"}, content_length=str(len(page)))
        await line.send(page)

    (_, fault) = told(await asked_with(send))
    assert isinstance(fault, Fault)
    assert fault.kind == "protocol"


async def test_interim_heads_are_passed_over() -> None:
    async def send(line: Line) -> None:
        await line.send(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")
        await line.head()
        await line.chunk(ANSWER)
        await line.end()

    assert kinds(await asked_with(send)) == [b'{"a": 1}', Finish]


async def test_nobody_listening_is_unreachable() -> None:
    backend = backend_at(f"http://127.0.0.1:{closed_port()}")
    (fault,) = await events_of(backend)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("unreachable", "refused")
    await backend.aclose()


async def test_unknown_host_is_unreachable() -> None:
    backend = backend_at("http://no-such-host.invalid")
    (fault,) = await events_of(backend)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("unreachable", "dns")
    await backend.aclose()


async def test_limit_on_connecting_does_not_bound_the_answer() -> None:
    async def send(line: Line) -> None:
        # Time itself is what is tried here: more of it than the limit must pass.
        await anyio.sleep(0.1)
        await line.head()
        await line.chunk(ANSWER)
        await line.end()

    assert kinds(await asked_with(send, timeouts=Timeouts(connect_s=0.05))) == [b'{"a": 1}', Finish]


async def test_connection_is_used_again() -> None:
    async with loopback(answering()) as server:
        backend = backend_at(server)
        for _ in range(5):
            assert kinds(await events_of(backend))[1] is Finish
        assert (server.opened, len(server.asked)) == (1, 5)
        await backend.aclose()


async def test_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    closed = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        await answering()(asked, line)
        await line.fin()
        closed.set()

    async with loopback(respond) as server:
        backend = backend_at(server)
        assert kinds(await events_of(backend))[1] is Finish
        await closed.wait()
        assert kinds(await events_of(backend))[1] is Finish
        assert server.opened == 2
        await backend.aclose()


async def test_used_connection_that_breaks_without_a_word_is_lost() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        if len(server.asked) == 1:
            await answering()(asked, line)
        else:
            await line.rst()

    async with loopback(respond) as server:
        backend = backend_at(server)
        assert kinds(await events_of(backend))[1] is Finish
        assert kinds(await events_of(backend)) == [b"", ConnectionLost]
        assert server.opened == 1
        await backend.aclose()


async def test_cookies_are_not_kept() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head(set_cookie="a=b; Path=/")
        await line.chunk(ANSWER)
        await line.end()

    async with loopback(respond) as server:
        backend = backend_at(server)
        await events_of(backend)
        await events_of(backend)
        assert all("cookie" not in asked.headers for asked in server.asked)
        await backend.aclose()


async def test_names_and_deduplication_are_told_with_the_head() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head(headers={**EVENT_STREAM, "x-request-id": "r-1", "idempotency-replayed": "true"})
        await line.chunk(ANSWER)
        await line.end()

    async with loopback(respond) as server:
        backend = backend_at(server, name="far")
        async with backend.open(request()) as stream:
            assert (stream.identity.backend, stream.identity.model, stream.identity.request_id) == ("far", "m", None)
            await anext(aiter(stream))
            assert stream.identity.request_id == "r-1"
            assert stream.identity.server_dedup == "replayed"
        await backend.aclose()


async def test_names_that_come_with_the_answer_are_told() -> None:
    choice = b'"choices": [{"index": 0, "delta": {"content": "1"}}]'
    event = b'data: {"id": "c-9", "system_fingerprint": "fp-1", %b}\n\n' % choice
    async with (
        loopback(answering(event)) as server,
        aclosing(backend_at(server)) as backend,
        backend.open(request()) as stream,
    ):
        assert (stream.identity.model_revision, stream.identity.request_id) == (None, None)
        await anext(aiter(stream))
        assert (stream.identity.model_revision, stream.identity.request_id) == ("fp-1", "c-9")


async def test_rest_of_the_program_goes_on_while_a_few_bytes_are_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    body = gzip.compress(b"data: {}\n\n" * 50_000 + ANSWER)
    turns = 0
    reads_at = set[int]()

    class Noting(SseDecoder):
        def feed(self, data: bytes) -> list[RawEvent]:
            reads_at.add(turns)
            return super().feed(data)

    async def go_on() -> None:
        nonlocal turns
        while True:
            await checkpoint()
            turns += 1

    async def respond(line: Line) -> None:
        await line.head(content_encoding="gzip")
        await line.chunk(body)
        await line.end()

    monkeypatch.setattr("commitgate.backends.wire.response._DECODERS", {"sse": Noting})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go_on)
        assert kinds(await asked_with(respond)) == [b'{"a": 1}', Finish]
        tasks.cancel_scope.cancel()
    assert len(reads_at) >= 50_000 * 10 // SLICE_BYTES // 4  # in which order tasks run is nobody's business


def test_backend_of_one_event_loop_is_refused_in_another() -> None:
    backend = backend_at(f"http://127.0.0.1:{closed_port()}")

    async def ask() -> list[StreamEvent]:
        return await events_of(backend)

    async def ask_and_close() -> None:
        await ask()
        await backend.aclose()

    anyio.run(ask_and_close)
    anyio.run(ask_and_close)
    anyio.run(ask)
    with pytest.raises(MisuseError, match="event loop"):
        anyio.run(ask)
