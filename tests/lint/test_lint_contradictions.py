"""What lint says of schemas and patterns that nothing satisfies: which parts contradict each other, and where."""

import pytest

from commitgate import Contract, Limits, Regex
from commitgate.errors import UnsatisfiableError
from commitgate.lint import Finding, lint
from commitgate.lint.pattern_contradiction import contradiction_position

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


def contradictions(schema: dict[str, object]) -> list[Finding]:
    with pytest.raises(UnsatisfiableError):
        Contract.of(schema)
    return [found for found in lint(schema).findings if found.code == "unsatisfiable"]


@pytest.mark.parametrize(
    ("schema", "pointer", "words"),
    [
        (
            {**CLOSED, "required": ["a", "b"]},
            "",
            "required at the root wants b, which does not stand in properties there, and additionalProperties there is",
        ),
        (
            {"type": "object", "properties": {"x": {**CLOSED, "required": ["b", "c"]}}, "required": ["x"]},
            "/properties/x",
            "required at /properties/x wants b, c, which do not stand in properties there, and additionalProperties",
        ),
        (
            {"type": "object", "properties": {"a": True}, "required": ["b"], "unevaluatedProperties": False},
            "",
            "wants b, which does not stand in properties there, and unevaluatedProperties there is false",
        ),
        (
            {"type": "object", "allOf": [CLOSED, {"required": ["b"]}]},
            "/allOf/1",
            "required at /allOf/1 wants b, which does not stand in properties at /allOf/0, and additionalProperties at",
        ),
        (
            {**CLOSED, "patternProperties": {"^b": {"type": "null"}}, "required": ["bee", "c"]},
            "",
            "required at the root wants c, which",
        ),
    ],
)
def test_a_required_key_that_is_forbidden_is_named(schema: dict[str, object], pointer: str, words: str) -> None:
    (found,) = contradictions(schema)
    assert (found.pointer, found.keyword) == (pointer, "required")
    assert words in found.message
    assert "declare it" in found.instead


def test_what_is_said_of_the_rest_is_of_the_schema_without_the_key() -> None:
    report = lint({**CLOSED, "required": ["a", "b"]})
    assert report.is_complete
    assert not {found.code for found in report.findings} & {"any_value", "undeclared_required", "open_object"}
    assert report.complexity.optional_properties == 0


def test_a_key_that_a_pattern_allows_is_not_blamed() -> None:
    schema = {**CLOSED, "patternProperties": {"^b": True}, "required": ["bee"], "minProperties": 3, "maxProperties": 2}
    (found,) = contradictions(schema)
    assert "bee" not in found.message
    assert "minProperties, maxProperties" in found.message


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword", "words"),
    [
        ({"type": "object", "required": ["a"], "not": {"required": ["a"]}}, "", "not", "not at the root forbids all"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "not": {"type": "string"}}}, "required": ["a"]},
            "/properties/a",
            "not",
            "not at /properties/a forbids all",
        ),
        ({"oneOf": [CLOSED, CLOSED]}, "", "oneOf", "oneOf at the root allows nothing"),
        ({"anyOf": [False, {"not": {}}]}, "", "anyOf", "none of the branches of anyOf at the root has one"),
        (
            {"type": "string", "minLength": 5, "maxLength": 2},
            "",
            "type",
            "type, minLength, maxLength at the root contradict each other",
        ),
    ],
)
def test_the_keywords_that_contradict_are_named(
    schema: dict[str, object], pointer: str, keyword: str, words: str
) -> None:
    (found,) = contradictions(schema)
    assert (found.pointer, found.keyword) == (pointer, keyword)
    assert words in found.message


def test_a_contradiction_in_a_large_schema_keeps_the_plain_words() -> None:
    many: dict[str, object] = {f"key{index}": {"type": "string"} for index in range(2_000)}
    (found,) = contradictions({"type": "object", "properties": many, "minProperties": 3, "maxProperties": 2})
    assert found.message == "no value can satisfy the schema; the contradiction is at the root"


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("a^b", 1),
        ("$a", 1),
        ("(a(b^c))", 4),
        (r"[(^]\(a^b", 7),
        ("x(?:a^|b^)", 8),
        ("(?!b)a^c", 6),
        ("[^\\s\\S]", 0),
        ("a", None),
        ("a(b", None),
        ("a^" + "b" * 200, None),
    ],
)
def test_a_pattern_without_a_text_is_told_where_it_contradicts_itself(pattern: str, position: int | None) -> None:
    assert contradiction_position(Regex(pattern), Limits()) == position
    if position is not None:
        (found,) = lint(Regex(pattern)).findings
        assert (found.code, found.position) == ("unsatisfiable", position)


def test_looking_for_the_place_takes_no_more_than_one_pattern_may() -> None:
    assert contradiction_position(Regex("(?=(.*a.{15}))(?=(.*b.{10}))x"), Limits()) is None
