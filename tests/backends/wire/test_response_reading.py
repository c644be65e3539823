"""An answer is read by its status and its content type, errors win over finishes, and only a finish proves an end."""

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterable

import pytest

from commitgate.backends.base import (
    ConnectionLost,
    Fault,
    Finish,
    FinishReason,
    Notice,
    Ping,
    StreamEvent,
    TextDelta,
    Usage,
)
from commitgate.backends.wire.errors import MAX_ERROR_BODY_BYTES
from commitgate.backends.wire.response import MAX_FINISH_CHARACTERS, SLICE_BYTES, ResponseReader
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, Framing, WireEvent, WireFaultError
from commitgate.backends.words import read_finish

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}


class PlainReader:
    """Read a made-up format: ``{"text"}``, ``{"finish"}``, ``{"usage"}``."""

    def __init__(self) -> None:
        self.finish_native: str | None = None
        self.is_terminal = False
        self.wholes = 0
        self.names: list[str] = []

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        self.names.append(event.name)
        if event.value is None:
            self.is_terminal = True
            return
        if "text" in event.value:
            if not isinstance(event.value["text"], str):
                raise WireFaultError("wrong_type", "text is no text")
            yield TextDelta(event.value["text"].encode())
        if "usage" in event.value:
            yield Usage(1, 2)
        if "finish" in event.value:
            self.finish_native = str(event.value["finish"])
            yield read_finish(self.finish_native)
        if "late" in event.value:
            raise WireFaultError("wrong_type", "late is no field")

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        self.wholes += 1
        return self.read(event)

    def close(self) -> Iterable[StreamEvent]:
        return () if self.is_terminal or self.finish_native is None else (Notice("missing_done"),)


def sse(*values: object) -> bytes:
    return b"".join(b"data: %s\n\n" % (v if isinstance(v, bytes) else json.dumps(v).encode()) for v in values)


def read(
    body: bytes,
    *,
    status: int = 200,
    headers: dict[str, str] = SSE,
    framing: Framing = "sse",
    is_clean: bool = True,
    chunk: int = 1 << 30,
    reader: PlainReader | None = None,
) -> list[StreamEvent]:
    """Return what a body means, signs of life left out."""
    response = ResponseReader(reader or PlainReader(), status, headers, framing, 0.0)
    events = [event for at in range(0, len(body), chunk) for event in response.feed(body[at : at + chunk])]
    return [event for event in (*events, *response.end(is_clean=is_clean)) if event != Ping()]


TEXT, STOP = {"text": "a"}, {"finish": "stop"}
DONE = b"[DONE]"
A = TextDelta(b"a")
FINISH = Finish(FinishReason.STOP, "stop")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/event-stream", sse(TEXT, STOP, DONE)),
        ("TEXT/Event-Stream;charset=UTF-8", sse(TEXT, STOP, DONE)),
        (" text/event-stream , text/event-stream", sse(TEXT, STOP, DONE)),
        ("application/x-ndjson", b'{"text":"a"}\n{"finish":"stop"}'),
        ("Application/NDJSON; charset=utf-8", b'{"text":"a"}\n{"finish":"stop"}\n'),
        ("application/jsonl", b'{"text":"a"}\n{"finish":"stop"}\n'),
        ("application/json", b'{"text":"a","finish":"stop"}'),
        ("application/json;charset=utf-8", b'\n\n[{"text":"a"},\n{"finish":"stop"}]'),
        ("application/problem+json", b'{"text":"a","finish":"stop"}'),
    ],
)
def test_content_type_decides_the_reading(content_type: str, body: bytes) -> None:
    for name in ("content-type", "Content-Type"):
        found = read(body, headers={name: content_type}, framing="json" if "event" in content_type else "sse")
        assert [event for event in found if not isinstance(event, Notice)] == [A, FINISH]


@pytest.mark.parametrize("framing", ["sse", "ndjson", "json"])
@pytest.mark.parametrize("headers", [{}, {"content-type": ""}])
def test_body_without_content_type_is_read_as_usual(framing: Framing, headers: dict[str, str]) -> None:
    body = {
        "sse": sse(TEXT, STOP),
        "ndjson": b'{"text":"a"}\n{"finish":"stop"}',
        "json": b'{"text":"a","finish":"stop"}',
    }
    found = read(body[framing], headers=headers, framing=framing)
    assert found[:2] == [A, FINISH]


def test_one_object_is_a_whole_answer_and_items_of_an_array_are_events() -> None:
    whole, items = PlainReader(), PlainReader()
    read(b'{"text":"a"}', headers=JSON, reader=whole)
    read(b'[{"text":"a"}]', headers=JSON, reader=items)
    assert (whole.wholes, items.wholes) == (1, 0)


@pytest.mark.parametrize("content_type", ["text/html", "text/plain; charset=utf-8", "application/octet-stream", "x"])
def test_other_content_is_a_fault_of_protocol_with_its_words(content_type: str) -> None:
    (fault,) = read(b"<html><h1>Please  sign\x1b in</h1></html>", headers={"content-type": content_type})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status, fault.code) == ("protocol", None, "content_type")
    assert fault.detail == "Please sign\\u001b in"
    assert "sign" not in repr(fault)


def test_error_within_other_content_is_told() -> None:
    (fault,) = read(b'{"error":{"type":"overloaded_error"}}', headers={"content-type": "text/plain"})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("overload", "overloaded_error")


@pytest.mark.parametrize("headers", [SSE, JSON, NDJSON, {}])
@pytest.mark.parametrize("is_clean", [True, False])
def test_empty_body_proves_nothing(headers: dict[str, str], is_clean: bool) -> None:
    assert read(b"", headers=headers, is_clean=is_clean) == ([] if is_clean else [ConnectionLost()])


def test_end_marker_alone_proves_nothing() -> None:
    assert read(sse(TEXT, DONE)) == [A]


def test_pending_event_is_read_at_a_clean_end_and_dropped_at_a_broken_one() -> None:
    body = sse(TEXT, STOP).rstrip()
    assert read(body) == [*[A, FINISH, ConnectionLost()][:2], Notice("missing_done")]
    assert read(body, is_clean=False) == [A, ConnectionLost()]


@pytest.mark.parametrize("cut", [b'data: {"fin', b'data: {"a":"\xe2', b"data: {", b"dat", b'data: {"a":1\n'])
@pytest.mark.parametrize("is_clean", [True, False])
def test_half_an_event_is_a_broken_line_and_no_fault(cut: bytes, is_clean: bool) -> None:
    assert read(sse(TEXT) + cut, is_clean=is_clean) == [A, ConnectionLost()]
    assert read(b'{"text":"a"}\n{"finish"', headers=NDJSON, is_clean=is_clean) == [A, ConnectionLost()]


@pytest.mark.parametrize("is_clean", [True, False])
def test_object_that_was_closed_is_whole_however_the_body_ends(is_clean: bool) -> None:
    found = read(b'{"text":"a","finish":"stop"}', headers=JSON, is_clean=is_clean)
    assert found[:2] == [A, FINISH]
    assert read(b'{"text":"a","finish":"stop"', headers=JSON, is_clean=is_clean) == [ConnectionLost()]


@pytest.mark.parametrize(
    ("junk", "code"),
    [
        (b"data: {oops\n\n", "not_json"),
        (b"data: 3\n\n", "not_object"),
        (b'data: {"a":"\xff"}\n\n', "not_utf8"),
        (b'data: {"text":3}\n\n', "wrong_type"),
        (b"data: " + b"x" * MAX_EVENT_BYTES + b"\n\n", "line_too_long"),
        (b"x" * (MAX_EVENT_BYTES + 1), "line_too_long"),
        (b"data: " + b'{"a":' * 50_000 + b"\n\n", "too_deep"),
    ],
    ids=["no json", "no object", "no utf-8", "wrong type", "long", "endless", "deep"],
)
def test_junk_counts_until_the_finish(junk: bytes, code: str) -> None:
    before = read(sse(TEXT) + junk + sse(STOP, DONE))
    assert [type(event) for event in before] == [TextDelta, Fault]
    assert isinstance(before[1], Fault)
    assert (before[1].kind, before[1].code) == ("protocol", code)
    behind = read(sse(TEXT, STOP) + junk + junk)
    assert behind[:3] == [A, FINISH, Notice("junk_after_finish")]
    assert Notice("junk_after_finish") not in behind[3:]
    assert read(sse(TEXT, STOP, DONE) + junk) == [A, FINISH]
    assert read(sse(TEXT, DONE) + junk) == [A]


def test_events_before_a_fault_within_one_event_stand() -> None:
    found = read(sse({"text": "a", "late": 1}))
    assert found[0] == A
    assert isinstance(found[1], Fault)


@pytest.mark.parametrize("beside", [{}, {"text": "b"}])
def test_error_wins_over_a_finish_before_it(beside: dict[str, str]) -> None:
    error = {"error": {"type": "overloaded_error"}, **beside}
    found = read(sse(TEXT, STOP, error, DONE))
    assert [type(event) for event in found] == [TextDelta, Finish, *([TextDelta] if beside else []), Fault]
    assert isinstance(found[-1], Fault)
    assert found[-1].kind == "overload"


def test_finish_beside_an_error_does_not_count() -> None:
    assert [type(event) for event in read(sse({"error": "x", **STOP}))] == [Fault]


def test_nothing_comes_behind_a_failure_but_the_counts_are_kept() -> None:
    reader = PlainReader()
    response = ResponseReader(reader, 200, SSE, "sse", 0.0)
    (fault,) = response.feed(sse({"error": {"type": "server_error"}}))
    assert isinstance(fault, Fault)
    assert response.is_over
    assert response.feed(sse(TEXT, {"usage": 1}, STOP, {"error": 1}, DONE)) == []
    assert response.end(is_clean=False) == []
    assert (response.usage, response.finish_native, reader.is_terminal) == (Usage(1, 2), None, True)


def test_same_finish_is_told_once() -> None:
    assert read(sse(TEXT, STOP, STOP, DONE)) == [A, FINISH]
    other = read(sse(TEXT, STOP, {"finish": "length"}, DONE))
    assert other[1:] == [FINISH, Finish(FinishReason.LENGTH, "length")]


@pytest.mark.parametrize("is_clean", [True, False])
def test_line_that_breaks_behind_the_finish_is_told_and_no_more(is_clean: bool) -> None:
    wanted = Notice("missing_done") if is_clean else ConnectionLost()
    assert read(sse(TEXT, STOP), is_clean=is_clean) == [A, FINISH, wanted]


@pytest.mark.parametrize(
    "tail",
    ['{"error": {"code": 503, "status": "UNAVAILABLE"}}', '[{\n"error": {"code": 503, "status": "UNAVAILABLE"}\n}]\n'],
)
@pytest.mark.parametrize("is_clean", [True, False])
def test_bare_error_behind_the_events_is_read(tail: str, is_clean: bool) -> None:
    body = sse(TEXT) + tail.encode() + (b"" if is_clean else b"\n")
    found = read(body, is_clean=is_clean)
    assert found[0] == A
    assert isinstance(found[1], Fault)
    assert (found[1].kind, found[1].code) == ("overload", "UNAVAILABLE")


def test_stray_text_is_a_fault_only_where_it_is_all_there_is() -> None:
    assert read(sse(TEXT) + b"foo: bar\n\n" + sse(STOP, DONE)) == [A, FINISH]
    assert read(b"foo: bar\n\n" + sse(TEXT)) == [A]
    (fault,) = read(b"<html>\n<body>Sign in</body>")
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("protocol", "not_events")


def test_error_event_whose_data_is_no_json_is_an_error() -> None:
    (fault,) = read(b"event: error\ndata: Unauthorized\n\n")
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.detail) == ("auth", "Unauthorized")


def test_list_of_errors_as_an_event_is_an_error() -> None:
    (fault,) = read(sse([{"error": {"code": 503, "status": "UNAVAILABLE"}}]))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("overload", "UNAVAILABLE")


@pytest.mark.parametrize("is_packed", [True, False])
def test_reading_slowly_gives_the_same_little_by_little(is_packed: bool) -> None:
    body = sse(*[TEXT] * 1_000, STOP)
    headers = {**SSE, "content-encoding": "gzip"} if is_packed else SSE
    response = ResponseReader(PlainReader(), 200, headers, "sse", 0.0)
    slices = list(response.feed_slowly(gzip.compress(body) if is_packed else body))
    assert len(slices) == -(-len(body) // SLICE_BYTES)
    assert [event for events in slices for event in events] == [A] * 1_000 + [FINISH]


def test_what_means_nothing_is_one_sign_of_life_when_read_slowly_too() -> None:
    response = ResponseReader(PlainReader(), 200, SSE, "sse", 0.0)
    found = [event for events in response.feed_slowly(b":" * 3 * SLICE_BYTES) for event in events]
    assert found == [Ping()]
    assert list(response.feed_slowly(b"")) == []


KEY = "sk-0123456789"


def test_key_that_a_server_quotes_is_in_nothing_that_is_kept() -> None:
    body = json.dumps({"error": {"message": f"no key {KEY}!", "code": KEY}, "request_id": KEY}).encode()
    headers = {**JSON, "x-request-id": KEY, "location": f"https://{KEY}.example/v1"}
    for status in (200, 307, 401):
        response = ResponseReader(PlainReader(), status, headers, "sse", 0.0, secret=KEY)
        (fault,) = [*response.feed(body), *response.end(is_clean=True)][-1:]
        assert isinstance(fault, Fault)
        assert KEY not in f"{fault!r}{fault.detail}{fault.message}{response.request_id}"
        assert fault.detail == "no key ***!"


def test_key_that_a_server_calls_its_end_is_in_no_finish_word() -> None:
    response = ResponseReader(PlainReader(), 200, SSE, "sse", 0.0, secret=KEY)
    (finish,) = response.feed(sse({"finish": "x" * (MAX_FINISH_CHARACTERS - 3) + KEY}))
    assert isinstance(finish, Finish)
    assert finish.native.endswith("xxx***")
    assert KEY not in f"{finish!r}{response.finish_native}"


def test_key_too_short_to_be_told_from_words_changes_none() -> None:
    response = ResponseReader(PlainReader(), 401, JSON, "sse", 0.0, secret="k")
    (fault,) = [*response.feed(b'{"error": "bad key"}'), *response.end(is_clean=True)][-1:]
    assert isinstance(fault, Fault)
    assert fault.detail == "bad key"


def test_names_of_events_are_handed_on() -> None:
    reader = PlainReader()
    read(b"event: x\ndata: {}\n\ndata: {}\n\n", reader=reader)
    assert reader.names == ["x", ""]


@pytest.mark.parametrize(
    "piece", [b": keep-alive\n\n", b"\n", b"event: ping\n\n", b"data: {}\n\n", b"data:\n\n", b"da"]
)
def test_what_means_nothing_is_one_sign_of_life(piece: bytes) -> None:
    response = ResponseReader(PlainReader(), 200, SSE, "sse", 0.0)
    assert response.feed(piece * 3) == [Ping()]
    assert response.feed(b"") == []


def test_sign_of_life_is_not_told_beside_events() -> None:
    response = ResponseReader(PlainReader(), 200, SSE, "sse", 0.0)
    assert response.feed(b":\n\n" + sse(TEXT) + b":\n\n") == [A]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_packed_body_is_unpacked(pack, chunk: int) -> None:
    headers = {**SSE, "Content-Encoding": "gzip" if pack is gzip.compress else "deflate"}
    packed = pack(sse(TEXT, STOP, DONE))
    assert read(packed, headers=headers, chunk=chunk) == [A, FINISH]
    cut = read(packed[:-1], headers=headers, chunk=chunk)
    assert cut[-1] == ConnectionLost()


def test_packed_error_is_unpacked() -> None:
    body = gzip.compress(b'{"error":{"type":"overloaded_error","message":"busy"}}')
    (fault,) = read(body, status=529, headers={"content-encoding": "gzip"})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status, fault.detail) == ("overload", 529, "busy")


@pytest.mark.parametrize(("encoding", "body"), [("br", b"x"), ("gzip", b"not packed at all")])
def test_body_that_cannot_be_unpacked_is_a_fault(encoding: str, body: bytes) -> None:
    (fault,) = read(body, headers={**SSE, "content-encoding": encoding})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("protocol", "packed")
    (fault,) = read(body, status=404, headers={"content-encoding": encoding})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == ("bad_request", 404)


def test_bomb_is_a_fault_of_protocol() -> None:
    (fault,) = read(gzip.compress(b":\n" * 4_000_000), headers={**SSE, "content-encoding": "gzip"})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("protocol", "packed")


def test_endless_body_of_an_error_is_read_to_a_limit() -> None:
    response = ResponseReader(PlainReader(), 500, {}, "sse", 0.0)
    assert response.feed(b"x" * (MAX_ERROR_BODY_BYTES - 1)) == [Ping()]
    (fault,) = response.feed(b"xx")
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == ("server", 500)
    assert response.is_over
    assert response.feed(b"x" * 100_000) == response.end(is_clean=True) == []


@pytest.mark.parametrize("is_clean", [True, False])
def test_status_of_a_failure_is_told_however_its_body_ends(is_clean: bool) -> None:
    (fault,) = read(b'{"error":{"mess', status=503, headers=JSON, is_clean=is_clean)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == ("overload", 503)


@pytest.mark.parametrize("headers", [SSE, NDJSON, JSON])
def test_signs_of_life_without_end_take_no_memory(headers: dict[str, str]) -> None:
    response = ResponseReader(PlainReader(), 200, headers, "sse", 0.0)
    chunk = (b": keep-alive\n\n" if headers is SSE else b"\n\n") * 500
    response.feed(chunk)
    tracemalloc.start()
    try:
        for _ in range(200):
            assert response.feed(chunk) == [Ping()]
        current, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert current < 50_000


def test_request_id_of_the_head_is_known_and_told_with_failures() -> None:
    response = ResponseReader(PlainReader(), 200, {**SSE, "X-Request-Id": "req_1"}, "sse", 0.0)
    assert response.request_id == "req_1"
    (fault,) = response.feed(sse({"error": {"type": "server_error"}}))
    assert isinstance(fault, Fault)
    assert fault.request_id == "req_1"


@pytest.mark.parametrize("value", ["", "x" * 129, "two words", "a\nb", "\u00e9"])
def test_request_id_that_could_be_anything_is_none(value: str) -> None:
    assert ResponseReader(PlainReader(), 200, {**SSE, "x-request-id": value}, "sse", 0.0).request_id is None


@pytest.mark.parametrize("status", [204, 205, 206, 207, 226, 299])
@pytest.mark.parametrize("headers", [SSE, {}])
def test_part_of_an_answer_is_none_whatever_it_says(status: int, headers: dict[str, str]) -> None:
    (fault,) = read(sse(TEXT, STOP, DONE), status=status, headers=headers)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == ("protocol", status)


def test_finish_word_is_cut_and_made_harmless() -> None:
    word = "\x1b]0;a\x07\u202e" + "x" * 1_000
    response = ResponseReader(PlainReader(), 200, SSE, "sse", 0.0)
    (finish,) = response.feed(sse({"finish": word}))
    assert isinstance(finish, Finish)
    assert finish.reason is FinishReason.UNKNOWN
    assert finish.native == response.finish_native
    assert finish.native.startswith("\\u001b]0;a\\u0007\\u202exxx")
    assert len(finish.native) == MAX_FINISH_CHARACTERS
