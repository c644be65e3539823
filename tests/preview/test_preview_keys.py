"""Refuse equal keys, in objects of any size."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import read_at_once, unhurried

from commitgate.preview import PreviewReader
from commitgate.preview.keys import FEW_KEYS, KeySet


def members(count: int) -> bytes:
    return b",".join(b'"k%d":%d' % (number, number) for number in range(count))


@pytest.mark.parametrize("count", [1, FEW_KEYS - 1, FEW_KEYS, FEW_KEYS + 1, FEW_KEYS + 2, 171, 1_000])
@pytest.mark.parametrize("again", [b"k0", b"k%d", b"\\u006b0"])
def test_a_key_that_is_there_is_refused_at_its_closing_quote(count: int, again: bytes) -> None:
    key = again % (count - 1) if b"%" in again else again
    text = b"{" + members(count) + b',"' + key
    reader = PreviewReader()
    before = reader.feed(text)
    after = reader.feed(b'":1}')
    assert (before.state, after.state, reader.position) == ("open", "invalid:duplicate_key", len(text))
    assert after.value == before.value == {f"k{number}": number for number in range(count)}


def test_keys_of_a_wide_object_are_its_own() -> None:
    text = b'{"a":{%b},"k1":1,"b":[{%b},{%b}],"k2":{%b}}' % ((members(200),) * 4)
    assert read_at_once(text).state == "accept"
    assert read_at_once(text[:-1] + b',"k1":1}').state == "invalid:duplicate_key"


@unhurried
@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=3), max_size=300), st.integers(0, 3))
def test_a_key_set_is_a_set(names: list[str], extra: int) -> None:
    # Names that stand in the text as they are; a few that are there already come again at the end.
    safe = [name for name in names if not set(name) & set('"\\') and name.isprintable()]
    text = bytearray()
    known, seen = KeySet(text), set[str]()
    for name in [*(f"n{number}" for number in range(100 * extra)), *safe, *safe[:extra]]:
        at = len(text)
        text += name.encode() + b'"'
        assert known.add(name, at) is (name not in seen)
        seen.add(name)


def test_a_wide_object_takes_a_few_bytes_a_key() -> None:
    count = 50_000
    text = b"".join(b'k%06d"' % number for number in range(count))
    known = KeySet(bytearray(text))
    tracemalloc.start()
    try:
        assert all(known.add(f"k{number:06}", 8 * number) for number in range(count))
        assert tracemalloc.get_traced_memory()[0] <= 40 * count
    finally:
        tracemalloc.stop()
    assert not any(known.add(f"k{number:06}", 0) for number in range(0, count, 1_000))
