"""Hold the laws of previews on generated texts."""

import json
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import DOCUMENTS, content, pieces, read_at_once, unhurried

from commitgate.preview import Preview, PreviewReader, ReaderState

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
strings = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Draw a JSON text in one of several spellings."""
    indent = draw(st.sampled_from([None, 1]))
    return json.dumps(draw(values), ensure_ascii=draw(st.booleans()), indent=indent).encode()


def extends(new: Any, old: Any, pointer: str, final: frozenset[str]) -> bool:
    """Return whether ``new`` only adds to ``old``, and leaves what was final as it was."""
    if pointer in final:
        return type(new) is type(old) and new == old
    if isinstance(old, dict):
        same_order = list(new)[: len(old)] == list(old)
        return same_order and all(extends(new[key], old[key], f"{pointer}/{escaped(key)}", final) for key in old)
    if isinstance(old, list):
        return len(new) >= len(old) and all(extends(new[i], old[i], f"{pointer}/{i}", final) for i in range(len(old)))
    return isinstance(old, str) and new.startswith(old)


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def previews_of(text: bytes) -> list[Preview]:
    reader = PreviewReader()
    return [*(reader.feed(bytes((byte,))) for byte in text), reader.finish()]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_every_cut_in_one_two_and_three_parts_shows_the_same(text: bytes) -> None:
    by_length = [content(read_at_once(text[:length])) for length in range(len(text) + 1)]
    for cuts in [(), *combinations(range(1, len(text)), 1), *combinations(range(1, len(text)), 2)]:
        reader, length = PreviewReader(), 0
        for piece in pieces(text, cuts):
            length += len(piece)
            assert content(reader.feed(piece)) == by_length[length]


@unhurried
@given(text=documents() | st.binary(max_size=20), cuts=st.lists(st.integers(0, 200), max_size=6))
def test_chunking_never_matters(text: bytes, cuts: list[int]) -> None:
    reader, length = PreviewReader(), 0
    for piece in pieces(text, cuts):
        length += len(piece)
        assert content(reader.feed(piece)) == content(read_at_once(text[:length]))


@unhurried
@given(text=documents(), rest=st.binary(max_size=4))
def test_previews_only_grow_and_what_is_final_stays(text: bytes, rest: bytes) -> None:
    for old, new in pairwise(previews_of(text + rest)):
        assert not old.has_value or (new.has_value and extends(new.value, old.value, "", old.final_paths))
        assert old.final_paths <= new.final_paths


@unhurried
@given(text=documents())
def test_kept_previews_still_show_what_they_showed(text: bytes) -> None:
    reader = PreviewReader()
    kept = [(preview, content(preview)) for preview in (reader.feed(bytes((byte,))) for byte in text)]
    assert all(content(preview) == before for preview, before in kept)


@unhurried
@given(text=documents())
def test_last_preview_of_a_valid_text_is_its_value(text: bytes) -> None:
    reader = PreviewReader()
    reader.feed(text)
    last = reader.finish()
    expected = json.loads(text, parse_float=Decimal)
    assert last.state is ReaderState.ACCEPT
    assert last.value == expected
    assert repr(last.value) == repr(expected)
    assert "" in last.final_paths


@unhurried
@given(text=documents(), length=st.integers(0, 200))
def test_a_cut_document_is_never_accepted(text: bytes, length: int) -> None:
    cut = text[: min(length, len(text) - 1)]
    reader = PreviewReader()
    assert reader.feed(cut).state is not ReaderState.ACCEPT
    is_number = text[:1] in b"-0123456789"
    assert is_number or reader.finish().state is ReaderState.INCOMPLETE


@unhurried
@given(text=documents())
def test_every_value_is_final_once_the_text_is_whole(text: bytes) -> None:
    last = previews_of(text)[-1]
    todo, expected = [("", last.value)], set[str]()
    while todo:
        pointer, value = todo.pop()
        expected.add(pointer)
        if isinstance(value, dict):
            todo.extend((f"{pointer}/{escaped(key)}", inner) for key, inner in value.items())
        elif isinstance(value, list):
            todo.extend((f"{pointer}/{index}", inner) for index, inner in enumerate(value))
    assert last.final_paths == expected
