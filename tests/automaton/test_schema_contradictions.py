"""Contradictions are found when the contract is built, and told with the place where they lie."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.errors import UnsatisfiableError
from commitgate.json_value import JsonValue

DRAFT_4 = DRAFTS["4"][0]
DRAFT_7 = DRAFTS["7"][0]

CONTRADICTIONS: dict[str, tuple[dict[str, JsonValue], str]] = {
    "more keys than there are": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 3},
        "",
    ),
    "more keys than an enum of names has": (
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3},
        "",
    ),
    "more required keys than allowed": ({"type": "object", "required": ["a", "b"], "maxProperties": 1}, ""),
    "required keys and their dependents than allowed": (
        {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}, "maxProperties": 2},
        "",
    ),
    "a chain of dependents to a forbidden key": (
        {
            "type": "object",
            "required": ["a"],
            "dependentRequired": {"a": ["b"], "b": ["c"]},
            "properties": {"c": False},
        },
        "/properties/c",
    ),
    "a dependent key in draft 7": (
        {
            "$schema": DRAFT_7,
            "type": "object",
            "required": ["a"],
            "dependencies": {"a": ["b"]},
            "properties": {"b": False},
        },
        "/properties/b",
    ),
    "a dependent schema": (
        {"type": "object", "required": ["a", "b"], "dependentSchemas": {"a": {"maxProperties": 1}}},
        "",
    ),
    "a forbidden required key": (
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        "/properties/a",
    ),
    "a forbidden required key further in": (
        {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"type": "object", "required": ["a"], "properties": {"a": False}}},
        },
        "/properties/k/properties/a",
    ),
    "a required key behind a reference": (
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/short"}},
            "$defs": {"short": {"type": "string", "minLength": 2, "maxLength": 1}},
        },
        "/$defs/short",
    ),
    "a required key that a pattern forbids": (
        {"type": "object", "required": ["ab"], "patternProperties": {"^a": False}},
        "",
    ),
    "a required key that is no name": (
        {"type": "object", "required": ["b"], "propertyNames": {"pattern": "^a"}},
        "",
    ),
    "required keys of two places": (
        {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": False}}]},
        "/allOf/1/properties/a",
    ),
    "fewer items than contained": ({"type": "array", "contains": {"const": 1}, "minContains": 3, "maxItems": 2}, ""),
    "contained items that no item is": (
        {"type": "array", "contains": {"type": "string"}, "items": {"type": "integer"}},
        "",
    ),
    "fewer contained than asked for": (
        {"type": "array", "contains": {"type": "null"}, "items": {"type": "null"}, "minItems": 3, "maxContains": 2},
        "",
    ),
    "more distinct items than there are": (
        {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3},
        "",
    ),
    "an item that there cannot be": ({"type": "array", "minItems": 2, "prefixItems": [{}, False]}, "/prefixItems/1"),
    "patterns without a text in common": ({"type": "string", "allOf": [{"pattern": "^a"}, {"pattern": "^b"}]}, ""),
    "a pattern and a length": ({"type": "string", "pattern": "^a{3}$", "maxLength": 2}, ""),
    "a pattern and listed values": ({"enum": ["a", "b"], "pattern": "^c"}, ""),
    "a pattern that nothing matches": ({"type": "string", "pattern": "a^b"}, ""),
    "a format and a length": ({"type": "string", "format": "date", "maxLength": 9}, ""),
    "no integer between the bounds": ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, ""),
    "no integer between bounds of draft 4": (
        {
            "$schema": DRAFT_4,
            "type": "integer",
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": 2,
            "exclusiveMaximum": True,
        },
        "",
    ),
    "no multiple between the bounds": ({"type": "number", "minimum": 1, "maximum": 9, "multipleOf": 10}, ""),
    "bounds the wrong way round": ({"type": "number", "minimum": 2, "maximum": 1}, ""),
    "two equal branches": ({"oneOf": [{"type": "string"}, {"type": "string"}]}, ""),
    "two equal branches of objects": (
        {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["a"]}]},
        "",
    ),
    "two equal branches further in": (
        {"type": "array", "minItems": 1, "items": {"oneOf": [{"const": 1}, {"const": 1.0}]}},
        "/items",
    ),
    "everything negated": ({"not": {}}, ""),
    "a type and its negation": ({"type": "string", "not": {"type": "string"}}, ""),
    "a number and the negation of wider ones": ({"type": "integer", "minimum": 3, "not": {"minimum": 2}}, ""),
    "a condition that always holds": ({"if": True, "then": False}, ""),
    "a condition that never holds": ({"if": False, "else": False}, ""),
    "keys that nothing evaluates": ({"type": "object", "minProperties": 1, "unevaluatedProperties": False}, ""),
    "items that nothing evaluates": ({"type": "array", "minItems": 1, "unevaluatedItems": False}, ""),
    "no branch that fits": (
        {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"enum": ["a"]}},
            "anyOf": [{"properties": {"k": {"const": "b"}}}, {"properties": {"k": {"const": "c"}}}],
        },
        "/anyOf/0/properties/k",
    ),
    "recursion that requires itself": (
        {
            "$ref": "#/$defs/n",
            "$defs": {"n": {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/n"}}}},
        },
        "/$defs/n",
    ),
    "recursion that requires itself by way of another": (
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/b"}},
                "b": {"type": "object", "required": ["k"], "properties": {"k": {"$ref": "#/$defs/a"}}},
            },
        },
        "/$defs/a",
    ),
}


@pytest.mark.parametrize(("schema", "pointer"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradiction_is_told_with_its_place(schema: dict[str, JsonValue], pointer: str) -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        Contract.json_schema(schema)
    assert caught.value.pointer == pointer


@pytest.mark.parametrize("schema", [schema for schema, _ in CONTRADICTIONS.values()], ids=CONTRADICTIONS)
def test_part_without_a_value_is_left_out_where_nothing_requires_it(schema: dict[str, JsonValue]) -> None:
    definitions = {word: schema[word] for word in ("$defs", "$schema") if word in schema}
    part = {word: value for word, value in schema.items() if word not in definitions}
    automaton = compile({**definitions, "type": ["array", "object"], "items": part, "properties": {"p": part}})
    for text in ("[]", "{}", '{"q": 1}'):
        assert automaton.accepts(text.encode())
    assert not automaton.acceptor().feed(b'{"p"')


ALMOST: list[tuple[JsonValue, str]] = [
    (
        {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 2},
        '{"a":1,"b":2}',
    ),
    ({"type": "object", "required": ["a", "b"], "maxProperties": 2}, '{"a": 1, "b": 1}'),
    ({"type": "array", "contains": {"const": 1}, "minContains": 2, "maxItems": 2}, "[1, 1]"),
    ({"type": "array", "items": {"enum": [1, True, "1"]}, "uniqueItems": True, "minItems": 3}, '[true, 1, "1"]'),
    ({"type": "integer", "minimum": 1, "exclusiveMaximum": 2}, "1"),
    ({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, "1.5"),
    ({"type": "number", "minimum": 1, "maximum": 10, "multipleOf": 10}, "10"),
    ({"type": "string", "pattern": "^a{2}$", "maxLength": 2}, '"aa"'),
    ({"oneOf": [{"const": 1}, {"const": 1.0}, {"const": 2}]}, "2"),
    ({"type": "array", "items": {"$ref": "#"}, "minItems": 0}, "[[]]"),
    ({"type": "object", "required": ["a"], "propertyNames": {"pattern": "^a"}}, '{"a": 0}'),
    ({"type": "string", "format": "date", "maxLength": 10}, '"2024-02-29"'),
]


@pytest.mark.parametrize(("schema", "text"), ALMOST)
def test_schema_with_just_enough_room_is_no_contradiction(schema: JsonValue, text: str) -> None:
    assert compile(schema).accepts(text.encode())
