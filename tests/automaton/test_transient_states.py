"""Test that what belongs to one text alone is not kept: an automaton may read any number of texts."""

from __future__ import annotations

import json

import pytest

from commitgate.automaton import compile
from commitgate.json_value import JsonValue

OPEN_OBJECTS: list[JsonValue] = [
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"type": "object", "additionalProperties": {"type": "object"}},
    {"type": "object", "patternProperties": {"^k": {"type": "object"}}, "minProperties": 2},
]


def text_of(number: int) -> bytes:
    inner = {f"in{number}": [1, {"x": "y"}], "b": None}
    return json.dumps({"a": 1, f"key{number}": inner, f"k{number}": inner} | {"a": 1}).encode()


@pytest.mark.parametrize("schema", OPEN_OBJECTS, ids=str)
def test_undeclared_keys_of_many_texts_leave_nothing_behind(schema: JsonValue) -> None:
    automaton = compile(schema)
    for number in range(20):
        automaton.accepts(text_of(number))
    known = len(automaton.arena)
    for number in range(100, 300):
        automaton.accepts(text_of(number))
    assert len(automaton.arena) == known


def test_text_with_many_undeclared_keys_stays_within_the_limit_of_states() -> None:
    members = ", ".join(f'"key{number}": {{"a": {number}, "b": ["x"]}}' for number in range(12_000))
    automaton = compile({"type": "object"})
    assert automaton.accepts(b"{" + members.encode() + b"}")
    assert len(automaton.arena) < 5_000


def test_key_that_comes_twice_is_refused_among_many() -> None:
    members = ", ".join(f'"key{number}": {number}' for number in range(2_000))
    automaton = compile({"type": "object"})
    assert not automaton.accepts(b"{" + members.encode() + b', "key7": 1}')
