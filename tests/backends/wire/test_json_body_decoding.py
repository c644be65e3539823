"""Bodies of plain JSON give their objects as soon as they are whole, and nothing that was not closed."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.wire.json_body import MAX_BODY_BYTES, JsonBodyDecoder

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('[]{}",\\ é\u2028'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\'), inner, max_size=3),
    max_leaves=4,
)
objects = st.dictionaries(st.text('ab[]{}"\\', max_size=3), values, max_size=2)


def decoded(chunks: Iterable[bytes]) -> tuple[list[object], JsonBodyDecoder]:
    decoder = JsonBodyDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [json.loads(event.data) for event in (*events, *decoder.finish())], decoder


def bytewise(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


@settings(deadline=None)
@given(objects, st.booleans())
def test_object_is_given_however_it_was_cut(value: dict[str, object], ascii_only: bool) -> None:
    body = b"\n\r\n \t" + json.dumps(value, ensure_ascii=ascii_only).encode() + b"\n"
    for chunks in ([body], bytewise(body)):
        found, decoder = decoded(chunks)
        assert found == [value]
        assert decoder.is_whole
        assert not decoder.is_array


@settings(deadline=None)
@given(st.lists(objects, max_size=4), st.sampled_from([None, 2]))
def test_items_of_an_array_are_given_however_it_was_cut(items: list[dict[str, object]], indent: int | None) -> None:
    body = json.dumps(items, indent=indent, ensure_ascii=False).encode()
    for chunks in ([body], bytewise(body)):
        found, decoder = decoded(chunks)
        assert found == items
        assert decoder.is_whole
        assert decoder.is_array


@settings(deadline=None)
@given(st.lists(objects, min_size=1, max_size=3))
def test_a_cut_never_adds_items(items: list[dict[str, object]]) -> None:
    body = json.dumps(items).encode()
    for length in range(len(body)):
        found, decoder = decoded([body[:length]])
        assert found == items[: len(found)]
        assert not decoder.is_whole or length == 0


def test_items_come_out_as_they_become_whole() -> None:
    decoder = JsonBodyDecoder()
    assert [len(decoder.feed(part)) for part in (b'[{"a":', b"1}", b",{", b'"b":"}"', b"}\n", b"]")] == [
        0,
        1,
        0,
        0,
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{} {}", "json_trailing"),
        (b"[{}] x", "json_trailing"),
        (b"[{},]", "not_json"),
        (b"[,{}]", "not_json"),
        (b"[{} {}]", "not_json"),
        (b"[[{}]]", "not_json"),
        (b"[1]", "not_json"),
        (b"null", "not_json"),
        (b"<html>", "not_json"),
        (b'"text"', "not_json"),
        (b"\xef", "not_json"),
    ],
)
def test_body_that_is_neither_is_a_fault(body: bytes, code: str) -> None:
    for chunks in ([body], bytewise(body)):
        _, decoder = decoded(chunks)
        assert decoder.fault is not None
        assert decoder.fault.code == code


def test_mark_before_the_object_is_taken_off() -> None:
    assert decoded([b"\xef", b"\xbb\xbf{}"])[0] == [{}]


def test_blank_lines_without_end_take_no_memory() -> None:
    decoder = JsonBodyDecoder(most_bytes=8)
    for _ in range(1_000):
        assert decoder.feed(b"\n" * 1_000) == []
    assert decoder.fault is None


@pytest.mark.parametrize(("extra", "is_fine"), [(-1, True), (0, True), (1, False)])
def test_object_has_a_limit(extra: int, is_fine: bool) -> None:
    body = b'{"a":"' + b"x" * (MAX_BODY_BYTES - 8 + extra) + b'"}'
    decoder = JsonBodyDecoder()
    found = [event for start in range(0, len(body), 65_536) for event in decoder.feed(body[start : start + 65_536])]
    assert (len(found) == 1, decoder.fault is None) == (is_fine, is_fine)


def test_items_have_a_limit_that_each_meets_anew() -> None:
    decoder = JsonBodyDecoder(most_item_bytes=8)
    assert len(decoder.feed(b'[{"a":12},{"a":12},{"a":12}')) == 3
    assert decoder.feed(b',{"a":123},{}]') == []
    assert decoder.fault is not None
    assert decoder.fault.code == "event_too_large"


class CountedBytes(bytes):
    """Bytes that count how many of them are copied."""

    copied_bytes = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        if isinstance(found, bytes):
            self.copied_bytes += len(found)
        return found


def test_each_byte_of_an_array_is_copied_a_few_times_at_most() -> None:
    decoder = JsonBodyDecoder()
    assert len(decoder.feed(b"[{} ,")) == 1
    chunk = CountedBytes(b" {} ," * 1_000)
    assert len(decoder.feed(chunk)) == 1_000
    assert chunk.copied_bytes <= 3 * len(chunk)
