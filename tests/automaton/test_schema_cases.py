"""Schemas with texts that belong to them and texts that do not, each a place where an engine was found wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commitgate.automaton import compile
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonValue

CASES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("constraint_cases.json").read_text("utf-8"))

LONG_WORDS: list[JsonValue] = [f"item-{n}-{'abcdefghij'[n % 10] * (n * 7 % 23 + 1)}" for n in range(4000)]
LARGE: dict[str, tuple[JsonValue, list[str], list[str]]] = {
    "enum-1500-maxlength": (
        {"type": "string", "maxLength": 4, "enum": [*(f"{n:04}" for n in range(1500)), "12345", "abcdef"]},
        ['"0000"', '"0999"', '"1499"'],
        ['"1500"', '"000"', '"12345"', '"abcdef"', '""'],
    ),
    "enum-4000": (
        {"type": "object", "properties": {"n": {"enum": LONG_WORDS}}, "required": ["n"], "additionalProperties": False},
        ['{"n":"item-0-a"}', '{"n":"item-3999-jjj"}', '{"n":"item-1234-eeeeeeeeeeeeee"}'],
        ['{"n":"item-0-"}', '{"n":"item-4000-a"}', "{}"],
    ),
}
READ = [(case["id"], case["schema"], case["valid"], case["invalid"]) for case in CASES if not case.get("refused")]
READ += [(name, *case) for name, case in LARGE.items()]


@pytest.mark.parametrize(("name", "schema", "valid", "invalid"), READ, ids=[case[0] for case in READ])
def test_texts_of_the_case_are_told_apart(name: str, schema: JsonValue, valid: list[str], invalid: list[str]) -> None:
    automaton = compile(schema)
    assert [text for text in valid if not automaton.accepts(text.encode())] == [], name
    assert [text for text in invalid if automaton.accepts(text.encode())] == [], name
    assert [row for row in automaton.support if row.level == "checked"] == []


@pytest.mark.parametrize("case", [case for case in CASES if case.get("refused")], ids=lambda case: case["id"])
def test_what_cannot_be_enforced_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError):
        compile(case["schema"])
