"""Members and items are cut out of a text exactly as they are spelled."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.gate.exact_json import encode
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.tools.one_value import ValueEnd, is_one_value
from commitgate.tools.slices import items, members
from commitgate.tools.turn_language import read_turn

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
spellings = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 3, "\t"]),
        "separators": st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : "), ("\r\n,", "\t:")]),
    }
)


def spell(value: object, spelling: dict[str, Any]) -> bytes:
    return b" \n" + json.dumps(value, **spelling).encode("utf-8", "replace") + b"\t"


@settings(deadline=None)
@given(st.lists(values, max_size=5), spellings)
def test_items_are_the_text_without_what_stands_between_them(value: list[object], spelling: dict[str, Any]) -> None:
    text = spell(value, spelling)
    rest = text
    for each, item in zip(items(text), json.loads(text), strict=True):
        before, found, rest = rest.partition(each)
        assert found
        assert not before.strip(b" \t\r\n,[")
        assert json.loads(each) == item
    assert not rest.strip(b" \t\r\n[]")


@settings(deadline=None)
@given(st.dictionaries(st.text(), values, max_size=5), spellings)
def test_members_are_the_text_without_what_stands_between_them(
    value: dict[str, object], spelling: dict[str, Any]
) -> None:
    text = spell(value, spelling)
    rest = text
    found = list(members(text))
    assert {key: json.loads(each) for key, each in found} == json.loads(text)
    for key, each in found:
        _, mark, rest = rest.partition(
            json.dumps(key, ensure_ascii=spelling["ensure_ascii"]).encode("utf-8", "replace")
        )
        assert mark
        assert rest.lstrip(b" \t\r\n:").startswith(each)
        rest = rest.lstrip(b" \t\r\n:")[len(each) :]


def test_numbers_and_escapes_keep_their_spelling() -> None:
    text = rb'{"a":1.0e2,"\u0062":"\u0041\/","c":[ 1 , 9007199254740993],"d":-0}'
    assert list(members(text)) == [
        ("a", b"1.0e2"),
        ("b", rb'"\u0041\/"'),
        ("c", b"[ 1 , 9007199254740993]"),
        ("d", b"-0"),
    ]


@pytest.mark.parametrize("text", [b"", b"{", b"[1", b'[{"a":1]', b"[1 2]", b'["a]', b'{"a" 1}', b"3", b'{"a":}'])
def test_text_that_no_gate_accepts_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        list(items(text) if text.startswith(b"[") else members(text))


def test_many_items_take_time_in_proportion() -> None:
    text = b"[" + b",".join([b'{"a":"' + b"x" * 1_000 + b'"}'] * 2_000) + b"]"
    assert sum(map(len, items(text))) == 2_000 * 1_008


@settings(deadline=None)
@given(st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3), spellings, st.data())
def test_end_of_a_value_is_found_in_pieces_of_any_size(
    value: object, spelling: dict[str, Any], data: st.DataObject
) -> None:
    text = spell(value, spelling).rstrip()
    at, end = 0, ValueEnd()
    while at < len(text):
        assert not end.is_whole
        size = data.draw(st.integers(1, 7))
        assert end.feed(text[at : at + size]) == len(text[at : at + size])
        at += size
    assert end.is_whole
    assert end.feed(b"}") == 0


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (b"{}", True),
        (b" 1 ", True),
        (b'"a"', True),
        (b"1 2", False),
        (b"{}}", False),
        (b"", False),
        (b"NaN", False),
        (b"\xff", False),
        (b"[" * 100_000, False),
        ("{}".encode("utf-16"), False),
    ],
)
def test_one_value_is_told_from_other_texts(text: bytes, is_one: bool) -> None:
    assert is_one_value(text) is is_one


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.text(), values, max_size=3), min_size=1, max_size=3), spellings)
def test_stored_turn_gives_the_arguments_of_the_one_that_was_written(
    arguments: list[dict[str, object]], spelling: dict[str, Any]
) -> None:
    text = spell({"calls": [{"name": "pay", "arguments": each} for each in arguments]}, spelling)
    parsed = strict_parse(text, nesting=64)
    if not isinstance(parsed, Parsed):
        return
    written, stored = (read_turn(each, 1).calls for each in (text, encode(parsed.value)))
    for one, other in zip(written, stored, strict=True):
        assert strict_parse(one.arguments_json, nesting=64) == strict_parse(other.arguments_json, nesting=64)
