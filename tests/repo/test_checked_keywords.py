"""The table of keywords says of each where it is only checked, and is right about it both ways."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from automaton.schema_making import schemas
from hypothesis import given, settings

from commitgate.automaton import compile as compile_automaton
from commitgate.automaton import json_schema
from commitgate.automaton.json_schema.keywords import KEYWORDS
from commitgate.errors import ContractError
from commitgate.json_value import JsonValue

SOURCES = sorted(Path(json_schema.__file__).parent.glob("*.py"))
LARGE = "^(a|b)*a(a|b){30}$"
UNIQUE: JsonValue = {"uniqueItems": True}
EXAMPLES: dict[str, JsonValue] = {
    "enum": {"enum": [[number] for number in range(1_001)]},
    "multipleOf": {"multipleOf": 0.1234567},
    "pattern": {"pattern": LARGE},
    "format": {"format": "regex"},
    "uniqueItems": UNIQUE,
    "contains": {"allOf": [{"contains": {"const": number}} for number in range(5)]},
    "minContains": {"allOf": [{"contains": {"const": number}, "minContains": 2} for number in range(5)]},
    "maxContains": {"allOf": [{"contains": {"const": number}, "maxContains": 2} for number in range(5)]},
    "patternProperties": {"patternProperties": {LARGE: {}}},
    "additionalProperties": {"patternProperties": {LARGE: {}}, "additionalProperties": False},
    "unevaluatedItems": {"anyOf": [{"minItems": number} for number in range(1_001)], "unevaluatedItems": False},
    "unevaluatedProperties": {"patternProperties": {LARGE: {}}, "unevaluatedProperties": False},
    "maxProperties": {
        "allOf": [{"not": {"propertyNames": {"const": name}}} for name in "ab"],
        "maxProperties": 3,
    },
    "anyOf": {"anyOf": [{"type": "integer", "minimum": 10 * n, "maximum": 10 * n + 5} for n in range(101)]},
    "oneOf": {"oneOf": [UNIQUE, {"minItems": 2}]},
    "not": {"not": UNIQUE},
    "if": {"if": UNIQUE, "then": {"minItems": 3}},
    "then": {"if": UNIQUE, "then": {"minItems": 3}},
    "else": {"if": UNIQUE, "else": {"minItems": 3}},
    "$dynamicRef": {
        "$id": "https://example.com/root",
        "$defs": {
            "list": {
                "$id": "list",
                "items": {"$dynamicRef": "#item"},
                "$defs": {"any": {"$dynamicAnchor": "item"}},
            },
            "numbers": {"$id": "numbers", "$ref": "list", "$defs": {"n": {"$dynamicAnchor": "item", "type": "null"}}},
        },
        "properties": {"n": {"$ref": "numbers"}},
    },
    "$recursiveRef": {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$id": "https://example.com/root",
        "$defs": {
            "i": {"$id": "inner", "$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}},
            "o": {"$id": "outer", "$recursiveAnchor": True, "$ref": "inner", "maxProperties": 1},
        },
        "items": {"$ref": "outer"},
    },
}


def only_checked(schema: JsonValue) -> set[str]:
    """Return the keywords that are only checked for another reason than what bounds every keyword."""
    rows = [row for row in compile_automaton(schema).support if row.level == "checked"]
    return {row.keyword for row in rows if not ("beside it" in row.reason and "Limits." in row.reason)}


def test_each_keyword_that_is_said_to_be_checked_somewhere_has_an_example() -> None:
    assert EXAMPLES.keys() == {name for name, known in KEYWORDS.items() if known.checked_where}


@pytest.mark.parametrize("keyword", EXAMPLES)
def test_keyword_is_checked_where_the_table_says(keyword: str) -> None:
    assert keyword in only_checked(EXAMPLES[keyword])


def marked(source: Path) -> Iterator[str]:
    """Yield the keywords that a module marks by their names."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = ("check", "mark", "mark_keyword", "few_numbers", "complement", "try_complement")
            is_marking = node.func.attr in names
            yield from (
                argument.value
                for argument in node.args[:2]
                if is_marking and isinstance(argument, ast.Constant) and argument.value in KEYWORDS
            )


def test_every_keyword_that_the_code_marks_is_said_to_be_checked_somewhere() -> None:
    found = {name for source in SOURCES for name in marked(source)}
    assert {"uniqueItems", "oneOf", "multipleOf", "not"} <= found
    assert {name for name in found if not KEYWORDS[name].checked_where} == set()


@settings(max_examples=150, deadline=None)
@given(schemas("2020-12"))
def test_no_schema_has_a_keyword_checked_that_the_table_calls_decoded(schema: JsonValue) -> None:
    try:
        found = only_checked(schema)
    except ContractError:
        return
    assert {name for name in found if not KEYWORDS[name].checked_where} == set()
