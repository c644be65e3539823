"""Take finished items out of previews."""

import json
import sys
import tracemalloc
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import pieces, unhurried

from commitgate.errors import MisuseError
from commitgate.preview import Item, ItemCursor, PreviewReader

leaves = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


def take_all(text: str, pointer: str = "", size: int = 1) -> list[Item]:
    reader, cursor, found = PreviewReader(), ItemCursor(pointer), list[Item]()
    for start in range(0, len(text), size):
        found += cursor.take(reader.feed(text[start : start + size]))
    found += cursor.take(reader.finish())
    return found


def test_items_come_as_they_are_finished() -> None:
    reader, cursor = PreviewReader(), ItemCursor("/rows")
    steps = ['{"n":1', ',"ro', 'ws":', "[", '{"a":', "1", "}", ",", "2", ",", '"thr', 'ee"', "]", "}"]
    found = [[item.value for item in cursor.take(reader.feed(step))] for step in steps]
    assert found == [[], [], [], [], [], [], [{"a": 1}], [], [], [2], [], ["three"], [], []]


def test_item_says_where_it_stands() -> None:
    found = take_all('{"a/b":[[],[["swordfish"],[1.50]]]}', "/a~1b/1")
    assert found == [
        Item(index=0, pointer="/a~1b/1/0", value=["swordfish"]),
        Item(index=1, pointer="/a~1b/1/1", value=[Decimal("1.50")]),
    ]
    assert "swordfish" not in repr(found[0])


@pytest.mark.parametrize(
    ("text", "pointer", "expected"),
    [
        ("[1,2]", "", [1, 2]),
        ("[]", "", []),
        ('[[1],[2,[3]],"x"]', "/1", [2, [3]]),
        ('[[1],{"0":[4]}]', "/1/0", [4]),
        ('{"":[1]}', "/", [1]),
        ('{"":{"":[1]}}', "//", [1]),
        ('{"~":{"/":[1]}}', "/~0/~1", [1]),
        ('{"b":[9],"a":{"x":[8],"b":[1]},"c":[7]}', "/a/b", [1]),
        ('{"a":[[5]],"b":{"a":[6]}}', "/a", [[5]]),
        ('{"a":[1]}', "/b", []),
        ('{"a":null}', "/a", []),
        ("null", "", []),
        ('{"a":5}', "/a/b", []),
        ('{"a":null}', "/a/b", []),
        ('{"a":5,"b":[1]}', "/a/b", []),
        ("[[1]]", "/00", []),
        ("[[1]]", "/-", []),
        ("[[1]]", "/1", []),
        ("7", "/a", []),
        ("[[1],[2]]", "/a", []),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_pointer_leads_to_the_array(text: str, pointer: str, expected: list[Any], size: int) -> None:
    assert [item.value for item in take_all(text, pointer, size)] == expected


@pytest.mark.parametrize(
    ("text", "pointer", "word"),
    [
        ('{"a":1}', "", "object"),
        ('{"a":{}', "/a", "object"),
        ('"x"', "", "string"),
        ("[true,", "/0", "boolean"),
        ("[1.5,", "/0", "number"),
    ],
)
def test_another_type_in_the_array_s_place_is_misuse(text: str, pointer: str, word: str) -> None:
    reader, cursor = PreviewReader(), ItemCursor(pointer)
    preview = reader.feed(text)
    for _ in range(2):
        with pytest.raises(MisuseError, match=f"array, found an? {word}"):
            cursor.take(preview)


@pytest.mark.parametrize("pointer", ["a", "a/b", "/a~2", "/~", "#/a", " "])
def test_what_is_no_pointer_is_misuse(pointer: str) -> None:
    with pytest.raises(MisuseError, match="pointer"):
        ItemCursor(pointer)


def test_pointer_of_another_kind_is_misuse() -> None:
    with pytest.raises(MisuseError, match="pointer"):
        ItemCursor(3)  # pyright: ignore[reportArgumentType] - what is tested is that it fails


def test_each_item_comes_once_whichever_previews_are_taken() -> None:
    reader, cursor = PreviewReader(), ItemCursor()
    kept = [reader.feed(piece) for piece in ("[1,", "2,", "3,", "4]")]
    assert [[item.value for item in cursor.take(kept[index])] for index in (1, 0, 1, 3, 2)] == [
        [1, 2],
        [],
        [],
        [3, 4],
        [],
    ]


def test_preview_of_another_text_is_misuse() -> None:
    cursor = ItemCursor()
    cursor.take(PreviewReader().feed("[1,"))
    with pytest.raises(MisuseError, match="new ItemCursor"):
        cursor.take(PreviewReader().feed("[1,"))


def test_cursors_do_not_disturb_each_other() -> None:
    reader, first, second = PreviewReader(), ItemCursor("/a"), ItemCursor("/b")
    preview = reader.feed('{"a":[1],"b":[2')
    assert [item.value for item in first.take(preview)] == [1]
    assert [item.value for item in second.take(reader.feed("]}"))] == [2]
    assert preview.value == {"a": [1], "b": []}


def test_unfinished_item_of_an_invalid_text_never_comes() -> None:
    reader, cursor = PreviewReader(), ItemCursor()
    assert [item.value for item in cursor.take(reader.feed('[1,{"a":2}x'))] == [1, {"a": 2}]
    assert cursor.take(reader.feed(",3,")) == []


def test_items_are_read_only() -> None:
    (item,) = take_all("[[1]]")
    assert isinstance(item.value, list)
    with pytest.raises(TypeError, match="read-only"):
        item.value.append(2)


@unhurried
@given(st.lists(values, max_size=5), values, st.lists(st.integers(0, 100), max_size=6))
def test_items_are_those_of_the_array_in_any_chunks(items: list[Any], other: Any, cuts: list[int]) -> None:
    text = json.dumps({"x": other, "rows": items, "y": other}).encode()
    reader, cursor, found = PreviewReader(), ItemCursor("/rows"), list[Item]()
    for piece in pieces(text, cuts):
        found += cursor.take(reader.feed(piece))
    assert [(item.index, item.value) for item in found] == list(enumerate(items))


def test_call_costs_the_same_early_and_late() -> None:
    reader, cursor, calls = PreviewReader(), ItemCursor("/rows"), list[int]()
    cursor.take(reader.feed('{"rows":['))
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    for _ in range(2_000):
        preview, count, before = reader.feed('{"a":[1,"b"]},'), 0, sys.getprofile()
        sys.setprofile(note)
        try:
            cursor.take(preview)
        finally:
            sys.setprofile(before)
        calls.append(count)
    assert calls[-1] == calls[1]


def test_cursor_holds_nothing_of_what_it_handed_out() -> None:
    reader, cursor = PreviewReader(), ItemCursor()
    cursor.take(reader.feed("["))
    row = '{"a":"' + "x" * 10 + '","b":[1.25,2.5]},'
    taken = 0
    tracemalloc.start()
    try:
        for number in range(4_000):
            taken += len(cursor.take(reader.feed(row)))
            if number == 100:
                before = tracemalloc.get_traced_memory()[0]
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert taken == 4_000
    assert held <= 1.5 * 4_000 * len(row), "the text itself, and its spare room"
