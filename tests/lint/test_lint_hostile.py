"""Schemas made to hurt: lint comes to an end with them, and what it tells stays small."""

from __future__ import annotations

from typing import Any

import pytest

from commitgate.harmless import harmless
from commitgate.languages import Choices, Grammar, Regex
from commitgate.lint import lint
from commitgate.lint.report import LintReport

TEXT = {"type": "string"}


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema whose value has 2 ** levels leaves."""
    definitions: dict[str, Any] = {f"d{levels}": TEXT}
    for level in range(levels):
        target = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = {"type": "object", "properties": {"l": target, "r": target}, "required": ["l", "r"]}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def chain(links: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{links}": TEXT}
    definitions |= {f"d{link}": {"$ref": f"#/$defs/d{link + 1}"} for link in range(links)}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = TEXT
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


LARGE: dict[str, Any] = {
    "doubling references": doubling(30),
    "a chain of references": chain(2_000),
    "a huge enum": {"enum": [f"value {number}" for number in range(30_000)]},
    "an enum past its limit": {"enum": list(range(100_001))},
    "many properties": {"type": "object", "properties": {f"p{number}": TEXT for number in range(3_000)}},
    "many faults": {"type": "object", "properties": {f"p{number}": {"pattern": r"(.)\1"} for number in range(2_000)}},
    "deep nesting": nested(60),
    "nesting past its limit": nested(2_000),
    "a circle": {"$ref": "#"},
    "a wide circle": {"anyOf": [{"type": "object", "properties": {f"p{n}": {"$ref": "#"}}} for n in range(300)]},
    "multiplying branches": {"allOf": [{"anyOf": [{"minLength": n}, {"maxLength": n}]} for n in range(1, 40)]},
    "long names": {"type": "object", "properties": {f"{'k' * 5_000}{number}": {} for number in range(150)}},
    "a large count": {"type": "array", "contains": {"type": "object"}, "minContains": 1_000},
    "choices that begin each other": Choices(["a" * length for length in range(1, 900)]),
    "nested repeats": Regex("((a{1,100}){1,100}){1,100}"),
    "rules without end": Grammar(
        "root ::= a0\n" + "".join(f"a{n} ::= a{n + 1}\n" for n in range(2_000)) + 'a2000 ::= "x"'
    ),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LARGE)
def test_hostile_source_comes_to_an_end(name: str) -> None:
    report = lint(LARGE[name])
    assert len(report.findings) <= 20 * 10
    assert all(len(found.message) < 1_000 for found in report.findings)


def test_reading_faults_one_by_one_is_given_up_and_said() -> None:
    report = lint(LARGE["many faults"])
    assert not report.is_complete
    assert not report.is_usable
    assert 4 <= len([found for found in report.findings if found.code == "rejected"]) <= 20


def test_names_of_a_schema_stay_harmless_where_messages_quote_them() -> None:
    name = "a\u001b[31m\u202eb"
    report: LintReport = lint(
        {"type": "object", "properties": {name: {"type": "boolean"}}, "required": [name, name * 2]}
    )
    for found in report.findings:
        assert harmless(found.message) == found.message
        assert harmless(found.instead) == found.instead


def test_large_schema_is_worked_out_less_often() -> None:
    contradictions = {f"p{number}": {"type": "integer", "minimum": 2, "maximum": 1} for number in range(2_500)}
    report = lint({"type": "object", "properties": contradictions, "required": list(contradictions)})
    assert not report.is_complete
    assert len([found for found in report.findings if found.code == "unsatisfiable"]) == 2
