"""Test schemas whose size alone once made them slow: they end within the suite's own time limit."""

from __future__ import annotations

import pytest

from commitgate.automaton import compile
from commitgate.automaton.json_schema.structure import Dialect
from commitgate.json_value import JsonValue

KEYS = 3_000


@pytest.mark.parametrize("dialect", ["accept", "generate"])
def test_long_chain_of_required_keys_is_followed(dialect: Dialect) -> None:
    properties: dict[str, JsonValue] = {f"p{number}": {"type": "integer"} for number in range(KEYS)}
    needs: dict[str, JsonValue] = {f"p{number}": [f"p{number + 1}"] for number in range(KEYS - 1)}
    automaton = compile(
        {"type": "object", "properties": properties, "dependentRequired": needs, "additionalProperties": False},
        dialect=dialect,
    )
    last = f'{{"p{KEYS - 2}": 1, "p{KEYS - 1}": 2}}'.encode()
    assert automaton.accepts(last)
    assert not automaton.accepts(f'{{"p{KEYS - 2}": 1}}'.encode())


def test_keys_that_need_each_other_in_a_circle_come_together() -> None:
    needs: dict[str, JsonValue] = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}
    automaton = compile({"type": "object", "dependentRequired": needs})
    assert automaton.accepts(b'{"a":1,"b":1,"c":1}')
    assert not automaton.accepts(b'{"d":1,"a":1,"b":1}')
    assert automaton.accepts(b'{"c":1,"d":1,"b":1,"a":1}')


def test_many_overlapping_steps_are_checked_and_not_followed_side_by_side() -> None:
    branches: list[JsonValue] = [{"type": "integer", "multipleOf": step} for step in range(1, 1_001)]
    automaton = compile({"oneOf": branches})
    assert automaton.accepts(b"123457")
    assert ("oneOf", "", "checked") in {(row.keyword, row.pointer, row.level) for row in automaton.support}
