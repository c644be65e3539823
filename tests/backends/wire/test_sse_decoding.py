"""Event streams are cut into events as the standard says, whatever the network did to them, in bounded memory."""

import itertools
import tracemalloc
from collections.abc import Iterable

import pytest
from backends.wire.event_stream_reference import LINE_END
from backends.wire.event_stream_reference import events as reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commitgate.backends.wire.sse import MAX_STRAY_BYTES, SseDecoder
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, RawEvent

PIECES = (
    *(b"\n", b"\r", b"\r\n", b":", b" ", b"data", b"data:", b"data: ", b"event", b"event: x", b"id: 1", b"id: \0"),
    *(
        b"retry: 3",
        b"a",
        b"{}",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\0",
        b"foo: bar",
        b": c",
        b"\x0b",
    ),
)

bodies = st.lists(st.sampled_from(PIECES), max_size=24).map(b"".join)


def decoded(chunks: Iterable[bytes], *, is_clean: bool = True) -> list[tuple[bytes, str]]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    events += decoder.finish() if is_clean else []
    assert decoder.fault is None
    return [(event.data, event.name) for event in events]


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


@pytest.mark.parametrize("cut", [lambda body: [body], bytewise], ids=["whole", "bytewise"])
@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b"data: a\n\n", [(b"a", "")]),
        (b"data: a\r\rdata: b\r\r", [(b"a", ""), (b"b", "")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [(b"a", ""), (b"b", "")]),
        (b"data: a\n\r\n", [(b"a", "")]),
        (b"data: a\r\ndata: b\r\n\r\n", [(b"a\nb", "")]),
        (b"data: a\rdata: b\r\r", [(b"a\nb", "")]),
        (b"data:a\n\n", [(b"a", "")]),
        (b"data:  a \n\n", [(b" a ", "")]),
        (b"data: a\ndata: b\ndata\ndata:\n\n", [(b"a\nb\n\n", "")]),
        (b"data\n\n", [(b"", "")]),
        (b"data:\n\n", [(b"", "")]),
        (b"event: ping\n\n", []),
        (b"event: ping\n\ndata: a\n\n", [(b"a", "")]),
        (b"event: x\ndata: a\n\n", [(b"a", "x")]),
        (b"data: a\nevent:y\nevent: z\n\n", [(b"a", "z")]),
        (b":\n\n: keep-alive\ndata: a\n: b\n\n\n\n", [(b"a", "")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(b"a", "")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (
            b"data: \xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\x1c\n\n",
            [(b"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\x1c", "")],
        ),
        (b"data: \xff\n\n", [(b"\xff", "")]),
        (b"Data: a\nDATA: b\n\n", []),
        (b" data: a\n\n", []),
        (b"data : a\n\n", []),
        (b"data: a: b\n\n", [(b"a: b", "")]),
        (b"retry: 10\nid: 4\ndata: a\n\n", [(b"a", "")]),
    ],
)
def test_lines_are_read_as_the_standard_says(body: bytes, wanted: list[tuple[bytes, str]], cut) -> None:
    assert decoded(cut(body)) == wanted
    assert decoded(cut(body), is_clean=False) == wanted


@settings(deadline=None)
@given(bodies, st.lists(st.integers(0, 80)))
@example(b"data: a\r", [7])
@example(b"data\r\ndata\r\n\n", [5])
@example(b"\xef\xbb\xbf", [1, 2])
@example(b"data: a\r\n\r\ndata", [8, 9, 10])
def test_any_cut_gives_what_a_slow_reading_of_the_standard_gives(body: bytes, cuts: list[int]) -> None:
    offsets = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    chunks = [body[start:stop] for start, stop in itertools.pairwise(offsets)]
    wanted = reference(body)
    if LINE_END.split(body.removeprefix(b"\xef\xbb\xbf"))[-1] == b"data":  # half a line, if not more
        wanted = reference(body[:-4])
    assert decoded(chunks) == wanted
    assert decoded(bytewise(body)) == wanted


@settings(deadline=None)
@given(bodies)
def test_a_cut_never_adds_events(body: bytes) -> None:
    whole = decoded([body])
    for length in range(len(body)):
        part = decoded([body[:length]], is_clean=False)
        assert part == whole[: len(part)]


def test_clean_end_gives_what_is_pending_and_says_that_its_own_end_is_missing() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"event: x\ndata: a") == []
    assert not decoder.is_whole
    assert decoder.finish() == [RawEvent(b"a", "x", is_ended=False)]


@pytest.mark.parametrize("body", [b"", b"data: a\n\n", b": half a comment", b"data: a\n\n:", b"event: x\n"])
def test_body_is_whole_where_no_data_is_pending(body: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(body)
    assert decoder.is_whole


@pytest.mark.parametrize("body", [b"da", b"data: a", b"data: a\n", b"data: a\ndata: b"])
def test_body_is_not_whole_where_data_is_pending(body: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(body)
    assert not decoder.is_whole


def test_id_with_a_nul_is_none() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 7\ndata: a\n\n")
    assert decoder.last_event_id == "7"
    decoder.feed(b"id: 8\0\ndata: a\n\n")
    assert decoder.last_event_id == "7"
    decoder.feed(b"id\ndata: a\n\n")
    assert decoder.last_event_id == ""


def test_text_of_unknown_fields_is_kept_apart() -> None:
    decoder = SseDecoder()
    decoder.feed(b'x: 1\ndata: a\n\n{\n  "error": {\n')
    decoder.feed(b'    "code": 3\n  }\n\n}')
    assert decoder.finish() == []
    assert decoder.stray == b'{\n  "error": {\n    "code": 3\n  }\n}'


@pytest.mark.parametrize("body", [b"d", b"dat", b"data", b"even", b"i", b"retr"])
def test_half_a_name_of_a_field_is_no_text_of_its_own(body: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(body)
    assert not decoder.is_whole
    assert decoder.finish() == []
    assert decoder.stray == b""


def test_text_of_unknown_fields_is_kept_up_to_a_limit() -> None:
    decoder = SseDecoder()
    for _ in range(3):
        decoder.feed(b"x" * (MAX_STRAY_BYTES // 2 - 1) + b"\n")
    assert len(decoder.stray) == MAX_STRAY_BYTES


@pytest.mark.parametrize("chunk", [1 << 16, 1 << 20, 1 << 23])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"data: " + b"x" * (MAX_EVENT_BYTES - 6), None),
        (b"data: " + b"x" * (MAX_EVENT_BYTES - 5), "line_too_long"),
        (b": " + b"x" * (MAX_EVENT_BYTES - 2), None),
        (b": " + b"x" * (MAX_EVENT_BYTES - 1), "line_too_long"),
        (b"event: " + b"x" * MAX_EVENT_BYTES, "line_too_long"),
        (b"data: a\n" * (MAX_EVENT_BYTES // 7), None),
        (b"data: a\n" * (MAX_EVENT_BYTES // 7 + 1), "event_too_large"),
        (b"data:\n" * (MAX_EVENT_BYTES // 5 + 1), "event_too_large"),
        ((b"data: " + b"x" * 500_000 + b"\n\n") * 5, None),
    ],
    ids=[
        "event at",
        "event over",
        "line at",
        "line over",
        "name over",
        "lines at",
        "lines over",
        "empty lines",
        "many",
    ],
)
def test_events_and_lines_have_a_limit_that_each_meets_anew(body: bytes, code: str | None, chunk: int) -> None:
    decoder = SseDecoder()
    for start in range(0, len(body), chunk):
        decoder.feed(body[start : start + chunk])
    decoder.feed(b"\n\n")
    assert (None if decoder.fault is None else decoder.fault.code) == code


def test_events_before_a_fault_are_given_and_none_after_it() -> None:
    decoder = SseDecoder(most_bytes=8)
    assert decoder.feed(b"data: a\n\ndata: too long\n\ndata: b\n\n") == [RawEvent(b"a")]
    assert decoder.fault is not None
    assert decoder.feed(b"data: c\n\n") == decoder.finish() == []


@pytest.mark.parametrize("piece", [b":\n", b": keep-alive\n\n", b"\n", b"event: ping\n\n", b"id: 1\n", b"x: y\n", b":"])
def test_signs_of_life_without_end_take_no_memory(piece: bytes) -> None:
    decoder = SseDecoder(most_bytes=16_384)
    chunk = piece * (8_192 // len(piece))
    decoder.feed(chunk)
    tracemalloc.start()
    try:
        for _ in range(100):
            decoder.feed(chunk)
        current, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert current < 2 * MAX_STRAY_BYTES
