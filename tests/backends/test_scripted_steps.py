"""Each step of a script is played as the events that its provider would have sent."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from commitgate.backends.base import (
    ConnectionLost,
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    Notice,
    Ping,
    TextDelta,
    Usage,
    WaitExpired,
)
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.testing import ScriptedBackend, Step, fake_time
from commitgate.testing.playback import REPEATED_CHARACTERS
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

REQUEST = GenerationRequest(model="m", contract=Contract.of(True), messages=(Message("user", "x"),))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


async def played(*script: Step, request: GenerationRequest = REQUEST) -> list[Event]:
    async with ScriptedBackend(script).open(request) as stream:
        return [event async for event in stream]


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ({"usage": {"completion_tokens": 16}}, [Usage(None, 16)]),
        ({"usage": {"input_tokens": 3, "output_tokens": 4}}, [Usage(3, 4)]),
        ({"usage": {"completion_tokens": "many"}}, [Ping()]),
        ({"type": "content_block_stop", "index": 0}, [Ping()]),
        (
            {"type": "response.completed", "response": {"usage": {"output_tokens": 4}}},
            [Usage(None, 4), Finish(FinishReason.STOP, "completed")],
        ),
        (
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
            [Finish(FinishReason.LENGTH, "max_output_tokens")],
        ),
        (
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}},
            [Finish(FinishReason.CONTENT_FILTER, "content_filter")],
        ),
        (
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "steered"}}},
            [Finish(FinishReason.UNKNOWN, "incomplete:steered")],
        ),
        ({"type": "response.incomplete"}, [Finish(FinishReason.UNKNOWN, "incomplete:unknown")]),
    ],
)
async def test_event_of_a_provider_is_read(event: Mapping[str, object], wanted: list[Event]) -> None:
    assert await played({"event": event}) == wanted


@pytest.mark.parametrize(
    ("event", "kind", "code"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "secret"}}, "overload", "overloaded_error"),
        ({"type": "error", "error": {"type": "rate_limit_error"}}, "rate_limit", "rate_limit_error"),
        ({"type": "error", "code": "server_error", "message": "secret"}, "server", "server_error"),
        ({"object": "error", "type": "BadRequestError", "code": 400}, "bad_request", "BadRequestError"),
        ({"error": "secret"}, "server", None),
        ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, "rate_limit", "RESOURCE_EXHAUSTED"),
        ({"error": {"message": "secret", "http_status_code": 422}}, "bad_request", None),
        ({"error": {"code": "secret is sk-1"}}, "server", None),
        (
            {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded"}}},
            "rate_limit",
            "rate_limit_exceeded",
        ),
        ({"type": "response.failed", "response": {}}, "server", None),
    ],
)
async def test_error_in_a_stream_is_a_fault_without_status(event: Mapping[str, object], kind: str, code: str) -> None:
    (fault,) = await played({"event": event})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code, fault.status) == (kind, code, None)
    assert "secret" not in repr(fault)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_raw_lines_are_read_as_events(end: str) -> None:
    lines = [": keep-alive", "event: x", 'data: {"usage":', 'data: {"output_tokens": 2}}', "", "data: [DONE]", "", ""]
    assert await played({"raw": end.join(lines)}) == [Ping(), Usage(None, 2), Ping()]


@pytest.mark.parametrize(
    "raw", ["data: {oops\n\n", b"data: \xff\n\n", "<html>", "data: 3\n\n", "data: " + "[" * 200_000]
)
async def test_raw_bytes_that_are_no_event_are_a_fault_of_protocol(raw: str | bytes) -> None:
    (fault,) = await played({"raw": raw})
    assert isinstance(fault, Fault)
    assert fault.kind == "protocol"


async def test_http_failure_is_a_fault_with_what_its_head_tells() -> None:
    head = {
        "status": 429,
        "headers": {"Retry-After-Ms": "250", "retry-after": "9", "X-Request-Id": "r1"},
        "body": {"error": {"type": "insufficient_quota", "message": "key sk-1"}},
    }
    wanted = Fault("quota", "the server answered with status 429", 429, "insufficient_quota", 0.25, "r1")
    assert await played({"http": head}) == [wanted]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key"}}}, "auth"),
        ({"status": 401, "body": '{"error": "Unauthorized"}'}, "auth"),
        ({"status": 503}, "overload"),
        ({"status": 500, "body": b"<html>"}, "server"),
        ({"status": 409, "body": {"code": "idempotency_in_progress"}}, "in_progress"),
        ({"status": 422, "body": {"code": "idempotency_key_reused"}}, "conflict"),
        ({"status": 429, "body": [{"error": {"status": "RESOURCE_EXHAUSTED"}}]}, "rate_limit"),
        ({"status": 302}, "protocol"),
        ({"headers": {"content-type": "text/html"}, "body": "<html>"}, "protocol"),
        (
            {"headers": {"content-type": "application/json"}, "body": {"error": {"type": "overloaded_error"}}},
            "overload",
        ),
        ({"headers": {"Content-Type": "application/json; charset=utf-8"}, "body": {"choices": []}}, "protocol"),
    ],
)
async def test_http_answer_that_is_no_stream_is_a_fault(head: Mapping[str, object], kind: str) -> None:
    (fault,) = await played({"http": head})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.retry_after_s) == (kind, None)


async def test_http_head_of_a_stream_means_nothing() -> None:
    head = {"headers": {"content-type": "text/event-stream; charset=utf-8"}}
    assert await played({"http": head}, {"text": "a"}) == [TextDelta(b"a")]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ([{"finish": "stop"}, {"close": "eof"}], [Notice("missing_done")]),
        ([{"finish": "stop"}, {"done": True}, {"close": "eof"}], [Ping()]),
        ([{"finish": "stop"}], []),
        ([{"text": "a"}, {"close": "eof"}], []),
        ([{"text": "a"}, {"close": "fin"}], [ConnectionLost()]),
        ([{"finish": "stop"}, {"close": "rst"}], [ConnectionLost()]),
    ],
)
async def test_end_of_a_stream_is_told(script: list[Step], wanted: list[Event]) -> None:
    assert (await played(*script))[1:] == wanted


async def test_repeated_step_is_never_written_out() -> None:
    step: Step = {"repeat": {"text": "x", "count": 10**15}, "prefix": "["}
    async with ScriptedBackend([step]).open(REQUEST) as stream:
        events = aiter(stream)
        piece = TextDelta(b"x" * REPEATED_CHARACTERS)
        assert [await anext(events) for _ in range(3)] == [TextDelta(b"["), piece, piece]


async def test_repeated_text_is_as_long_as_it_is_written_however_it_is_cut() -> None:
    for text, times in (("xy", 5_000), ("x", 1), ("é" * 5_000, 3)):
        async with ScriptedBackend([{"repeat": {"text": text, "count": times}}], chunking=7).open(REQUEST) as stream:
            found = b"".join([event.data async for event in stream if isinstance(event, TextDelta)])
        assert found == (text * times).encode()


async def test_pings_come_in_their_rhythm() -> None:
    began, moments = anyio.current_time(), list[float]()
    async with ScriptedBackend([{"repeat": {"ping": True, "every_s": 15, "for_s": 50}}]).open(REQUEST) as stream:
        async for event in stream:
            assert event == Ping()
            moments.append(anyio.current_time() - began)
    assert moments == [15, 30, 45]


async def test_wait_follows_the_clock() -> None:
    began = anyio.current_time()
    assert await played({"wait_s": 30}, {"text": "a"}) == [TextDelta(b"a")]
    assert anyio.current_time() - began == 30


@pytest.mark.parametrize(("step", "phase"), [({"connect": "black hole"}, "connect"), ({"pool": "busy"}, "pool")])
async def test_request_that_never_goes_out_runs_into_its_limit(step: Step, phase: str) -> None:
    timeouts = Timeouts(pool_s=7, connect_s=7)
    backend = ScriptedBackend([step])
    request = GenerationRequest(model="m", contract=REQUEST.contract, messages=REQUEST.messages, timeouts=timeouts)
    with pytest.raises(WaitExpired) as caught:
        async with backend.open(request):
            pytest.fail("it was opened")
    assert (caught.value.phase, caught.value.limit_s, backend.open_streams) == (phase, 7, 0)
    assert anyio.current_time() == 7


@pytest.mark.parametrize(
    "step",
    [
        "text",
        {"done": False},
        {"ping": 1},
        {"close": "slowly"},
        {"event": "error"},
        {"raw": 3},
        {"wait_s": -1},
        {"wait_s": float("nan")},
        {"connect": "soon"},
        {"pool": "full"},
        {"http": {"status": 99}},
        {"http": {"status": 200, "boddy": ""}},
        {"http": {"headers": {"a": 1}}},
        {"http": {"body": 3}},
        {"repeat": {"text": "a"}},
        {"repeat": {"finish": "stop", "count": 2}},
        {"repeat": {"ping": True, "for_s": 3}},
        {"repeat": {"ping": True, "for_s": 3, "every_s": 1, "count": 3}},
        {"repeat": {"text": "a", "count": -1}},
        {"fault": "bad luck"},
    ],
)
def test_step_that_cannot_be_played_is_named(step: Any) -> None:
    with pytest.raises(MisuseError, match="step 1"):
        ScriptedBackend([{"text": "a"}, step])


def test_hold_up_before_the_request_stands_first() -> None:
    with pytest.raises(MisuseError, match="step 1 must come first"):
        ScriptedBackend([{"text": "a"}, {"connect": "black hole"}])
