"""Read-only values, and the parts that previews share."""

import copy
import json
import pickle
import random
import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_reading import DOCUMENTS, content, pieces, read_at_once, unhurried

from commitgate.preview import Preview, PreviewReader

TEXT = b'{"a":[1,{"b":"c"}],"s":"text","n":[[2],[3]]}'
PLAIN: dict[str, Any] = {"a": [1, {"b": "c"}], "s": "text", "n": [[2], [3]]}

CHANGES: list[Callable[[Any], object]] = [
    lambda value: value.__setitem__("s", 1),
    lambda value: value.__delitem__("s"),
    lambda value: value.clear(),
    lambda value: value.pop("s"),
    lambda value: value.popitem(),
    lambda value: value.setdefault("x", 1),
    lambda value: value.update(x=1),
    lambda value: value.__ior__({"x": 1}),
    lambda value: value.__init__({"x": 1}),
    lambda value: value["a"].__setitem__(0, 1),
    lambda value: value["a"].__delitem__(0),
    lambda value: value["a"].append(1),
    lambda value: value["a"].extend([1]),
    lambda value: value["a"].insert(0, 1),
    lambda value: value["a"].remove(1),
    lambda value: value["a"].pop(),
    lambda value: value["a"].clear(),
    lambda value: value["a"].sort(),
    lambda value: value["a"].reverse(),
    lambda value: value["a"].__iadd__([1]),
    lambda value: value["a"].__imul__(2),
    lambda value: value["a"].__init__([1]),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("length", [len(TEXT), len(TEXT) - 1])
def test_no_change_gets_through(change: Callable[[Any], object], length: int) -> None:
    preview = read_at_once(TEXT[:length])
    with pytest.raises(TypeError, match="deepcopy"):
        change(preview.value)
    assert preview.value == PLAIN


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_plain_and_may_be_changed(copied: Callable[[Any], Any]) -> None:
    preview = read_at_once(TEXT)
    plain = copied(preview.value)
    assert plain == PLAIN
    assert {type(plain), type(plain["a"][1])} == {dict}
    assert {type(plain["a"]), type(plain["n"][0])} == {list}
    plain["a"].append("more")
    assert preview.value == PLAIN


def test_shallow_copies_are_plain_at_the_top() -> None:
    value: Any = read_at_once(TEXT).value
    for made in (copy.copy(value), value.copy(), dict(value), value | {}):
        assert type(made) is dict
    for made in (copy.copy(value["a"]), value["a"].copy(), list(value["a"]), value["a"][:], value["a"] + []):
        assert type(made) is list


def test_values_pass_for_plain_ones() -> None:
    value: Any = read_at_once(TEXT).value
    assert isinstance(value, dict)
    assert isinstance(value["a"], list)
    assert (value, repr(value)) == (PLAIN, repr(PLAIN))
    assert json.loads(json.dumps(value)) == PLAIN
    assert json.dumps(value, indent=1) == json.dumps(PLAIN, indent=1)


def test_finished_parts_are_the_same_objects_in_later_previews() -> None:
    reader = PreviewReader()
    values: list[Any] = [
        reader.feed(piece).value for piece in (b'{"a":[[1],{"b":2}],"c":{"d":"o', b'pen"', b"},", b'"e":3}')
    ]
    assert len({id(value["a"]) for value in values}) == 1
    assert len({id(value["c"]) for value in values[1:]}) <= 2
    assert values[2]["c"] is values[3]["c"]
    assert [value["c"] for value in values] == [{"d": "o"}, {"d": "open"}, {"d": "open"}, {"d": "open"}]


def test_parts_are_shared_when_previews_are_read_after_all_were_taken() -> None:
    reader = PreviewReader()
    kept = [reader.feed(piece) for piece in (b'{"a":[1,[2]]', b',"b":"x', b'y"}')]
    values: list[Any] = [preview.value for preview in kept]
    assert values == [{"a": [1, [2]]}, {"a": [1, [2]], "b": "x"}, {"a": [1, [2]], "b": "xy"}]
    assert values[0]["a"] is values[1]["a"] is values[2]["a"]


def test_where_nothing_came_the_value_is_the_same_object() -> None:
    reader = PreviewReader()
    first, second = reader.feed(b'{"a":[{"b":"c'), reader.feed(b"")
    assert first.value is first.value
    assert first.value is second.value
    assert reader.feed(b"\\").value is first.value


@unhurried
@given(st.sampled_from(DOCUMENTS), st.randoms(use_true_random=False))
def test_previews_show_the_same_in_whatever_order_they_are_read(text: bytes, chance: random.Random) -> None:
    reader, length = PreviewReader(), 0
    kept: list[tuple[int, Preview]] = []
    for piece in pieces(text, chance.choices(range(len(text) + 1), k=8)):
        length += len(piece)
        kept.append((length, reader.feed(piece)))
    for length, preview in chance.choices(kept, k=3 * len(kept)):
        assert content(preview) == content(read_at_once(text[:length]))


def test_reading_at_every_item_makes_each_item_once() -> None:
    reader = PreviewReader()
    reader.feed(b"[")
    seen: list[Any] = [reader.feed(b'{"k":[1,"a"]},').value for _ in range(50)]
    for old, new in pairwise(seen):
        assert all(one is other for one, other in zip(old, new, strict=False))


def test_equal_keys_of_different_objects_are_one_string() -> None:
    value: Any = read_at_once(b'[{"some key":1},{"some key":2}]').value
    (one,), (other,) = value
    assert one is other


BODIES = {
    "one string": b'"' + b"abcd efg" * 7_000 + b'"',
    "one string of escapes": b'"' + b"a\\n\\u00e9 " * 6_000 + b'"',
    "one string of emoji": b'"' + "😀é".encode() * 10_000 + b'"',
    "digits": b"[" + b"1," * 30_000 + b"1]",
    "numbers": b"[" + b",".join(b"%d" % number for number in range(10**6, 10**6 + 8_000)) + b"]",
    "decimals": b"[" + b"1.5," * 15_000 + b"1.5]",
    "literals": b"[" + b"true,null," * 6_000 + b"1]",
    "empty strings": b"[" + b'"",' * 20_000 + b'""]',
    "empty arrays": b"[" + b"[]," * 20_000 + b"[]]",
    "empty objects": b"[" + b"{}," * 20_000 + b"{}]",
    "members": b"{" + b",".join(b'"k%d":1' % number for number in range(6_000)) + b"}",
    "members with short keys": b"{" + b",".join(b'"%x":1' % number for number in range(8_000)) + b"}",
    "key": b'{"' + b"k" * 60_000 + b'":1}',
    "nested members": b"[" + b",".join([b'{"a":' * 60 + b"1" + b',"b":[1,2,3,{"c":null}]}' * 60] * 30) + b"]",
}


@pytest.mark.parametrize("text", BODIES.values(), ids=BODIES)
def test_memory_is_at_most_ten_times_the_text(text: bytes) -> None:
    PreviewReader().feed(b"[]")
    tracemalloc.start()
    try:
        reader = PreviewReader()
        newest = None
        for start in range(0, len(text), 4):
            newest = reader.feed(text[start : start + 4])
        assert newest is not None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reader.state == "accept"
    assert peak <= 10 * len(text)
