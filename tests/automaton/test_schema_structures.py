"""Arrays and objects: what is counted, what must differ, which keys need which others, and how keys are named."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from automaton.oracle import DRAFTS
from automaton.reading import assert_reads

from commitgate.automaton import compile
from commitgate.json_value import JsonValue
from commitgate.limits import Limits
from commitgate.style import FreeSpace, Style

NULL: JsonValue = {"type": "null"}
ARRAYS: dict[str, tuple[dict[str, JsonValue], list[str], list[str]]] = {
    "contains one": ({"contains": NULL}, ["[null]", "[1, null]", "[null, null]"], ["[]", "[1]"]),
    "contains several": ({"contains": NULL, "minContains": 2}, ["[null, 1, null]"], ["[null]", "[1, 1]", "[]"]),
    "contains at most": ({"contains": NULL, "maxContains": 1}, ["[null, 1]"], ["[null, null]", "[]"]),
    "contains none or some": ({"contains": NULL, "minContains": 0}, ["[]", "[1]", "[null]"], []),
    "contains none or one": (
        {"contains": NULL, "minContains": 0, "maxContains": 1},
        ["[]", "[null]"],
        ["[null, null]"],
    ),
    "contains what overlaps": (
        {"allOf": [{"contains": {"minimum": 2}}, {"contains": {"maximum": 3}}], "items": {"type": "integer"}},
        ["[2]", "[1, 9]", "[3]"],
        ["[1]", "[9]", "[]"],
    ),
    "contains beside bounds": (
        {"contains": {"const": 1}, "minContains": 2, "maxItems": 3},
        ["[1, 1]", "[1, 2, 1]"],
        ["[1, 2, 2]", "[1, 1, 2, 2]"],
    ),
    "contains beside a prefix": (
        {"prefixItems": [{"const": 1}], "contains": {"const": 2}, "items": {"enum": [2, 3]}},
        ["[1, 2]", "[1, 3, 2]"],
        ["[1]", "[1, 3]", "[2]"],
    ),
    "counts mean nothing alone": ({"minContains": 2, "maxContains": 3}, ["[]", "[1]"], []),
    "distinct values": (
        {"items": {"enum": [1, 1.5, "1", True, None]}, "uniqueItems": True},
        ['[1, true, "1", null, 1.5]', "[]"],
        ["[1, 1.0]", "[true, true]", '["1", 1, "\\u0031"]', "[null, 1, null]"],
    ),
    "distinct values and how many": (
        {"items": {"type": "boolean"}, "uniqueItems": True, "minItems": 2},
        ["[true, false]", "[false, true]"],
        ["[true]", "[true, true]", "[true, false, true]"],
    ),
    "not distinct": ({"items": {"enum": [1]}, "uniqueItems": False}, ["[1, 1]"], ["[2]"]),
    "one item at most": ({"uniqueItems": True, "maxItems": 1}, ["[[]]", "[]"], ["[1, 2]"]),
    "a number of items written as a decimal": (
        {"minItems": 1.0, "maxItems": 2.0},
        ["[1]", "[1, 2]"],
        ["[]", "[1, 2, 3]"],
    ),
}


@pytest.mark.parametrize(("schema", "valid", "invalid"), ARRAYS.values(), ids=ARRAYS)
def test_items_are_counted_and_compared(schema: dict[str, JsonValue], valid: list[str], invalid: list[str]) -> None:
    assert_reads({"type": "array", **schema}, valid, invalid)


def test_distinct_items_of_any_kind_are_checked_later() -> None:
    automaton = compile({"type": "array", "uniqueItems": True})
    assert [(row.keyword, row.level) for row in automaton.support] == [("type", "decoded"), ("uniqueItems", "checked")]
    assert automaton.accepts(b"[1, 1]")


def test_a_few_dozen_values_are_remembered_and_more_are_not() -> None:
    def level(count: int) -> str:
        values: list[JsonValue] = list(range(count))
        rows = compile({"items": {"enum": values}, "uniqueItems": True}).support
        return next(row.level for row in rows if row.keyword == "uniqueItems")

    assert level(64) == "decoded"
    assert level(65) == "checked"


OBJECTS: dict[str, tuple[dict[str, JsonValue], list[str], list[str]]] = {
    "numbers of keys": (
        {"minProperties": 1, "maxProperties": 2},
        ['{"a": 1}', '{"a": 1, "b": 1}'],
        ["{}", '{"a":1,"b":1,"c":1}'],
    ),
    "needs in a chain": (
        {"dependentRequired": {"a": ["b"], "b": ["c", "d"]}},
        ["{}", '{"c": 1}', '{"d": 1, "c": 1, "b": 1}', '{"a": 1, "b": 1, "c": 1, "d": 1}'],
        ['{"a": 1}', '{"b": 1, "c": 1}', '{"a": 1, "b": 1, "c": 1}'],
    ),
    "needs in a circle": (
        {"dependentRequired": {"a": ["b"], "b": ["a"]}},
        ["{}", '{"b": 1, "a": 1}'],
        ['{"a": 1}', '{"b": 1}'],
    ),
    "an empty need": ({"dependentRequired": {"a": []}}, ['{"a": 1}', "{}"], []),
    "names by a pattern": ({"propertyNames": {"pattern": "^[a-c]+$"}}, ['{"ab": 1}', "{}"], ['{"ad": 1}', '{"": 1}']),
    "names that are listed": (
        {"propertyNames": {"enum": ["a", "b"]}, "minProperties": 1},
        ['{"b": 1}', '{"a": 1, "b": 1}'],
        ["{}", '{"c": 1}'],
    ),
    "no names": ({"propertyNames": False}, ["{}"], ['{"a": 1}']),
    "names of another type": ({"propertyNames": {"type": "integer"}}, ["{}"], ['{"1": 1}']),
    "patterns that overlap": (
        {"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 3}}},
        ['{"ab": 3, "a": 1, "b": 3.5}', '{"c": "x"}'],
        ['{"ab": 2}', '{"ab": 3.5}', '{"a": 1.5}', '{"xb": 1}'],
    ),
    "patterns beside properties": (
        {
            "properties": {"ab": {"maximum": 5}},
            "patternProperties": {"^a": {"minimum": 3}},
            "additionalProperties": False,
        },
        ['{"ab": 4}', '{"ax": 9}'],
        ['{"ab": 2}', '{"ab": 6}', '{"b": 1}'],
    ),
    "a pattern anywhere": ({"patternProperties": {"x": False}}, ['{"a": 1}'], ['{"axb": 1}', '{"x": 1}']),
    "a required key that is not declared": (
        {"required": ["z"], "additionalProperties": {"type": "integer"}},
        ['{"z": 1}', '{"a": 2, "z": 1}'],
        ['{"z": "x"}', "{}"],
    ),
    "a dependent schema": (
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}, "required": ["b"]}}},
        ['{"b": "x"}', '{"a": 1, "b": 1}', "{}"],
        ['{"a": 1}', '{"b": "x", "a": 1}'],
    ),
    "forbidden together": ({"not": {"required": ["a", "b"]}}, ['{"a": 1}', "{}"], ['{"b": 1, "a": 1}']),
}


@pytest.mark.parametrize(("schema", "valid", "invalid"), OBJECTS.values(), ids=OBJECTS)
def test_keys_are_counted_named_and_needed(schema: dict[str, JsonValue], valid: list[str], invalid: list[str]) -> None:
    assert_reads({"type": "object", **schema}, valid, [*invalid, "[]"])


def test_dependent_keys_are_written_in_the_order_of_the_schema_only_where_what_they_need_can_still_come() -> None:
    schema: JsonValue = {
        "type": "object",
        "properties": {"a": NULL, "b": NULL, "c": NULL},
        "dependentRequired": {"c": ["a"]},
        "additionalProperties": False,
    }
    generate = compile(schema, dialect="generate", style=Style(white_space="compact"))
    assert generate.accepts(b'{"a":null,"c":null}')
    assert not generate.acceptor().feed(b'{"b":null,"')
    accept = compile(schema)
    assert accept.accepts(b'{"c": null, "a": null}')
    assert not accept.accepts(b'{"c": null, "b": null}')


def test_most_keys_leave_room_for_the_required_ones() -> None:
    schema: JsonValue = {
        "type": "object",
        "properties": dict.fromkeys("abc", NULL),
        "required": ["c"],
        "maxProperties": 2,
        "additionalProperties": False,
    }
    generate = compile(schema, dialect="generate", style=Style(white_space="compact"))
    assert generate.accepts(b'{"a":null,"c":null}')
    assert not generate.acceptor().feed(b'{"a":null,"b')


def test_free_keys_are_written_where_the_fewest_ask_for_them() -> None:
    schema: JsonValue = {"type": "object", "properties": {"a": NULL}, "minProperties": 2}
    generate = compile(schema, dialect="generate")
    assert generate.accepts(b'{"a": null, "x": 1}')
    assert not generate.accepts(b'{"a": null}')


@pytest.mark.parametrize("style", [Style(property_order="any"), Style(white_space="compact", property_order="any")])
def test_any_order_is_written_where_it_is_asked_for(style: Style) -> None:
    schema: JsonValue = {"properties": dict.fromkeys("abc", NULL), "required": ["a", "c"], "type": "object"}
    generate = compile(schema, dialect="generate", style=style)
    separators = (",", ":") if style.white_space == "compact" else (", ", ": ")
    for order in permutations("abc"):
        assert generate.accepts(json.dumps(dict.fromkeys(order), separators=separators).encode())
    assert not compile(schema, dialect="generate").accepts(b'{"c": null, "a": null}')


@pytest.mark.parametrize(
    ("style", "written", "not_written"),
    [
        (
            Style(),
            '{"a": [1, 2]}',
            ['{"a":[1,2]}', '{"a": [1,2]}', '{"a": [1, 2] }', '{ "a": [1, 2]}', '{"a" : [1, 2]}'],
        ),
        (Style(white_space="compact"), '{"a":[1,2]}', ['{"a": [1, 2]}', '{"a":[1, 2]}', '{"a":[1,2] }']),
        (Style(white_space=FreeSpace(2)), '{ \n"a" :\t[1 , 2\n\n]}', ['{"a":   [1,2]}', '{"a": [1\t\t\t,2]}']),
    ],
)
def test_style_decides_what_stands_between_tokens(style: Style, written: str, not_written: list[str]) -> None:
    schema: JsonValue = {"type": "object", "properties": {"a": {"items": {"type": "integer"}}}, "required": ["a"]}
    generate = compile(schema, dialect="generate", style=style)
    assert generate.accepts(written.encode())
    for text in not_written:
        assert not generate.accepts(text.encode()), text
        assert compile(schema, style=style).accepts(text.encode()), text


def test_free_white_space_takes_any_up_to_its_bound_and_compact_ones_too() -> None:
    generate = compile({"items": {"type": "null"}}, dialect="generate", style=Style(white_space=FreeSpace(3)))
    assert generate.accepts(b"[null,null]")
    assert generate.accepts(b"[   null \t\n,\r\r\rnull]")
    assert not generate.accepts(b"[    null]")


def test_lengths_that_the_schema_leaves_open_are_bounded_when_written_and_not_when_read() -> None:
    limits = Limits(array_items=2, string_characters=3, free_properties=1, key_characters=2)
    schema: JsonValue = {"type": ["array", "string", "object"], "additionalProperties": NULL, "items": NULL}
    generate, accept = compile(schema, dialect="generate", limits=limits), compile(schema, limits=limits)
    for inside, beyond in (
        (b"[null, null]", b"[null, null, null]"),
        (b'"abc"', b'"abcd"'),
        (b'{"ab": null}', b'{"abc": null}'),
        (b'{"a": null}', b'{"a": null, "b": null}'),
    ):
        assert generate.accepts(inside)
        assert not generate.accepts(beyond)
        assert accept.accepts(beyond)


def test_schema_that_asks_for_more_than_the_bounds_on_writing_is_written_all_the_same() -> None:
    limits = Limits(array_items=2, string_characters=3, free_properties=1, key_characters=2)
    asking: list[tuple[JsonValue, str]] = [
        ({"type": "array", "items": NULL, "minItems": 4}, "[null, null, null, null]"),
        ({"type": "string", "minLength": 5}, '"abcde"'),
        ({"type": "object", "minProperties": 2, "additionalProperties": NULL}, '{"a": null, "b": null}'),
        ({"type": "object", "propertyNames": {"minLength": 4}, "minProperties": 1}, '{"abcd": null}'),
        ({"type": "string", "pattern": "^a{9}$"}, '"aaaaaaaaa"'),
    ]
    for schema, text in asking:
        assert compile(schema, dialect="generate", limits=limits).accepts(text.encode()), text


def test_number_keywords_of_draft_4_and_later_meet_with_types() -> None:
    schema: JsonValue = {"type": ["integer", "string"], "minimum": 2.5, "multipleOf": 1.5}
    assert_reads(schema, ["3", "6.0", '"x"'], ["4", "4.5", "1.5", "0"])
    assert_reads({**schema, "$schema": DRAFTS["4"][0]}, ["3", '"x"'], ["6.0", "4.5"])
