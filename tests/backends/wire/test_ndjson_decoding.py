"""Bodies of one JSON object a line are cut at line feeds alone, whatever the network did to them, in bounded memory."""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commitgate.backends.wire.ndjson import NdjsonDecoder
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, RawEvent

bodies = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"{}", b"a", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\xff"]),
    max_size=16,
).map(b"".join)


def decoded(chunks: Iterable[bytes], *, is_clean: bool = True) -> list[bytes]:
    decoder = NdjsonDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    events += decoder.finish() if is_clean else []
    assert decoder.fault is None
    return [event.data for event in events]


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\r\n\r\n\n', [b'{"a":1}\r']),
        (b"\n \n\t\n{}\n", [b"{}"]),
        (b'\xef\xbb\xbf{"a":1}\n', [b'{"a":1}']),
        (b'{"a":"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c"}\n', [b'{"a":"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c"}']),
        (b"", []),
    ],
)
def test_lines_end_with_line_feeds_alone(body: bytes, wanted: list[bytes]) -> None:
    assert decoded([body]) == decoded(bytewise(body)) == decoded([body], is_clean=False) == wanted


@settings(deadline=None)
@given(bodies, st.lists(st.integers(0, 40)))
@example(b"\xef\xbb", [1])
def test_any_cut_gives_the_same_lines(body: bytes, cuts: list[int]) -> None:
    offsets = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    chunks = [body[start:stop] for start, stop in itertools.pairwise(offsets)]
    wanted = [line for line in body.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    assert decoded(chunks) == decoded(bytewise(body)) == wanted


@settings(deadline=None)
@given(bodies)
def test_a_cut_never_adds_lines(body: bytes) -> None:
    whole = decoded([body])
    for length in range(len(body)):
        part = decoded([body[:length]], is_clean=False)
        assert part == whole[: len(part)]


def test_clean_end_gives_the_last_line_and_says_that_its_own_end_is_missing() -> None:
    decoder = NdjsonDecoder()
    assert decoder.feed(b"{}\n{}") == [RawEvent(b"{}")]
    assert not decoder.is_whole
    assert decoder.finish() == [RawEvent(b"{}", is_ended=False)]


@pytest.mark.parametrize("body", [b"", b"{}\n", b"{}\n \r"])
def test_body_is_whole_where_no_line_is_pending(body: bytes) -> None:
    decoder = NdjsonDecoder()
    decoder.feed(body)
    assert decoder.is_whole


@pytest.mark.parametrize("chunk", [1 << 16, 1 << 23])
@pytest.mark.parametrize("length", [MAX_EVENT_BYTES - 1, MAX_EVENT_BYTES, MAX_EVENT_BYTES + 1])
def test_lines_have_a_limit_that_each_meets_anew(length: int, chunk: int) -> None:
    decoder = NdjsonDecoder()
    body = (b"x" * length + b"\n") * 3
    found = [event for start in range(0, len(body), chunk) for event in decoder.feed(body[start : start + chunk])]
    assert len(found) == (3 if length <= MAX_EVENT_BYTES else 0)
    assert (decoder.fault is None) == (length <= MAX_EVENT_BYTES)


def test_lines_before_a_fault_are_given_and_none_after_it() -> None:
    decoder = NdjsonDecoder(most_bytes=4)
    assert decoder.feed(b"{}\nlonger\n{}\n") == [RawEvent(b"{}")]
    assert decoder.fault is not None
    assert decoder.feed(b"{}\n") == decoder.finish() == []
