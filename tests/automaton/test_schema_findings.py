"""Test combinations of keywords that once led to dead ends, wrong verdicts or untrue rows."""

from __future__ import annotations

import random

import pytest

from commitgate.automaton import compile
from commitgate.errors import UnsatisfiableError
from commitgate.json_value import JsonObject, JsonValue

NULL: JsonObject = {"type": "null"}
PAIRS: JsonObject = {"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}

ENTANGLED: list[JsonValue] = [
    {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {"^[0-9]$": NULL},
        "maxProperties": 2,
        "not": {"anyOf": [{"patternProperties": {"^(1|3|4)$": False}}, {"patternProperties": {"^(2|5)$": False}}]},
    },
    {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {"^[ab]$": {"type": "integer"}},
        "minProperties": 1,
        "not": {"patternProperties": {"^a$": {"minimum": 5}}},
    },
    {
        "type": "object",
        "patternProperties": {"^[ab]$": {"type": ["integer", "null"]}},
        "additionalProperties": False,
        "allOf": [
            {"not": {"patternProperties": {".": {"type": "integer"}}}},
            {"not": {"patternProperties": {".": {"type": "null"}}}},
        ],
    },
    {
        "type": "object",
        "properties": dict.fromkeys("abcde", NULL),
        "additionalProperties": False,
        "dependentRequired": PAIRS,
        "minProperties": 3,
        "maxProperties": 3,
    },
]


@pytest.mark.parametrize("schema", ENTANGLED, ids=range(len(ENTANGLED)))
def test_generated_objects_whose_keys_depend_on_each_other_never_end_dead(schema: JsonValue) -> None:
    automaton = compile(schema, dialect="generate")
    accepting = compile(schema)
    for seed in range(40):
        drawn, term, text = random.Random(seed), automaton.start, b""
        while not term.nullable or drawn.random() < 0.3:
            choices = list(term.successors())
            if not choices:
                break
            members, term = drawn.choice(choices)
            text += bytes([drawn.choice(members)])
        assert term.nullable, text
        assert accepting.accepts(text), text


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": dict.fromkeys("abcd", NULL),
            "additionalProperties": False,
            "dependentRequired": PAIRS,
            "minProperties": 3,
            "maxProperties": 3,
        },
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "additionalProperties": False,
            "dependentRequired": {"a": ["b"], "b": ["a"]},
            "minProperties": 1,
            "maxProperties": 1,
        },
        {
            "type": "object",
            "properties": {"a": {"type": ["integer", "string"]}},
            "additionalProperties": False,
            "allOf": [
                {"not": {"patternProperties": {"a": {"type": "integer"}}}},
                {"not": {"patternProperties": {"a": {"type": "string"}}}},
            ],
        },
    ],
)
def test_objects_whose_keys_cannot_all_be_had_are_found_empty(schema: JsonValue) -> None:
    with pytest.raises(UnsatisfiableError):
        compile(schema)


def test_value_listed_by_a_branch_that_is_only_checked_is_not_taken_out() -> None:
    automaton = compile({"oneOf": [{"enum": ["(", "a"], "format": "regex"}, {"const": "("}]})
    assert automaton.accepts(b'"("')
    assert ("format", "checked") in {(row.keyword, row.level) for row in automaton.support}


def test_keywords_that_say_nothing_alone_are_checked_where_the_other_is() -> None:
    automaton = compile({"contains": {"uniqueItems": True}, "maxContains": 1})
    levels = {row.keyword: row.level for row in automaton.support if row.pointer == ""}
    assert levels == {"contains": "checked", "maxContains": "checked"}


def test_many_conditions_over_one_discriminator_are_decoded() -> None:
    count = 20
    kinds: list[JsonValue] = [f"k{number}" for number in range(count)]
    conditions: list[JsonValue] = [
        {"if": {"properties": {"t": {"const": kind}}}, "then": {"required": [f"r{number}"]}}
        for number, kind in enumerate(kinds)
    ]
    automaton = compile(
        {"type": "object", "required": ["t"], "properties": {"t": {"enum": kinds}}, "allOf": conditions}
    )
    assert {row.level for row in automaton.support} == {"decoded"}
    assert automaton.accepts(b'{"t": "k13", "r13": 1}')
    assert not automaton.accepts(b'{"t": "k13", "r12": 1}')


def test_array_of_very_many_items_leaves_few_states_behind() -> None:
    automaton = compile({"type": "array", "maxItems": 50_000, "items": {"type": "integer"}})
    assert automaton.accepts(b"[" + b"1," * 49_999 + b"1]")
    assert not automaton.accepts(b"[" + b"1," * 50_000 + b"1]")
    assert len(automaton.arena) < 30_000


def test_evaluation_survives_keywords_that_evaluate_nothing() -> None:
    automaton = compile({"properties": {"a": {}}, "propertyNames": {"format": "regex"}, "unevaluatedProperties": False})
    assert automaton.accepts(b'{"a": 1}')
    assert not automaton.accepts(b'{"b": 1}')
