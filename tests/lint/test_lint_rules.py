"""Each rule of lint: a source that it finds something in, and one beside it in which it finds nothing."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from commitgate.languages import Choices, Edge, Grammar, Machine, Regex
from commitgate.limits import Limits
from commitgate.lint import RULES, Finding, LintReport, lint


def closed(properties: dict[str, Any], *, required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Return an object schema that no rule but the one under test has much to say about."""
    names = list(properties) if required is None else required
    return {
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": False,
        **more,
    }


SHORT = {"type": "string", "maxLength": 9, "description": "a few words"}
FLAG = {"type": "boolean", "description": "yes or no"}
CARD = closed({"kind": {"const": "card"}, "number": SHORT})
CASH = closed({"kind": {"const": "cash"}, "till": SHORT})
BANK = closed({"kind": {"const": "bank"}, "iban": SHORT})
BARE = [closed({name: SHORT}) for name in ("number", "till", "iban")]
MANY = [f"value {number}" for number in range(101)]
NODE = {"type": "object", "properties": {"below": {"type": "array", "maxItems": 2, "items": {"$ref": "#"}}}}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = SHORT
    for _ in range(levels):
        schema = closed({"inner": schema})
    return schema


# The rule, what it finds something in, where, and what it finds nothing in.
CASES: list[tuple[str, Any, str, Any]] = [
    ("rejected", closed({"a": {"type": "string", "pattern": r"^(.)\1$"}}), "/properties/a", closed({"a": SHORT})),
    ("rejected", Regex(r"(.)\1"), "", Regex("(a|b){2}")),
    ("malformed", closed({"a": {"type": 3}}), "/properties/a", closed({"a": FLAG})),
    ("malformed", Grammar("root ::= ("), "", Grammar('root ::= "a"')),
    (
        "unsatisfiable",
        closed({"a": {"type": "integer", "minimum": 2, "maximum": 1}}),
        "/properties/a",
        closed({"a": FLAG}),
    ),
    ("unsatisfiable", False, "", True),
    ("too_large", {"pattern": "a" * 10_001}, "", {"pattern": "a" * 100}),
    (
        "checked_keyword",
        {"type": "array", "items": SHORT, "maxItems": 2, "uniqueItems": True},
        "",
        {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2, "uniqueItems": True},
    ),
    (
        "unknown_word",
        closed({"a": {"type": "string", "maxLenght": 3}}),
        "/properties/a",
        closed({"a": {"type": "string", "x-own": 3}}),
    ),
    ("unknown_word", {"type": "string", "format": "no-such"}, "", {"type": "string", "format": "date"}),
    (
        "undeclared_required",
        closed({"a": FLAG}, required=["a", "b"], additionalProperties=FLAG),
        "",
        closed({"a": FLAG}),
    ),
    ("missing_type", closed({"a": {"maxItems": 2}}), "/properties/a", closed({"a": {"type": "array", "maxItems": 2}})),
    ("missing_type", {"properties": {"type": FLAG}}, "", {"allOf": [{"properties": {"a": FLAG}}]}),
    ("any_value", closed({"a": {}}), "/properties/a", closed({"a": FLAG})),
    ("any_value", {"type": "array", "maxItems": 2}, "", {"type": "array", "items": FLAG, "maxItems": 2}),
    ("unbounded_string", closed({"a": {"type": "string"}}), "/properties/a", closed({"a": SHORT})),
    ("unbounded_string", {"type": "string", "pattern": "^a+$"}, "", {"type": "string", "pattern": "^a{1,9}$"}),
    ("unbounded_string", {"anyOf": [FLAG, {"type": "string"}]}, "/anyOf/1", {"anyOf": [FLAG, SHORT]}),
    ("unbounded_string", {"type": "string", "format": "uri"}, "", {"type": "string", "format": "uuid"}),
    ("unbounded_string", {"type": "string"}, "", {"type": "string", "allOf": [{"maxLength": 4}]}),
    ("unbounded_array", {"type": "array", "items": FLAG}, "", {"type": "array", "items": FLAG, "maxItems": 3}),
    ("unbounded_array", {"type": "array", "items": FLAG}, "", {"type": "array", "prefixItems": [FLAG], "items": False}),
    ("unbounded_object", {"type": "object", "additionalProperties": FLAG}, "", closed({"a": FLAG})),
    (
        "unbounded_object",
        {"type": "object", "additionalProperties": FLAG},
        "",
        {"type": "object", "additionalProperties": FLAG, "maxProperties": 3},
    ),
    ("unbounded_depth", NODE, "/properties/below/items", {"type": "array", "items": FLAG, "maxItems": 2}),
    ("unbounded_repeat", Regex("[a-z]+"), "", Regex("[a-z]{1,9}")),
    (
        "unbounded_repeat",
        Grammar('root ::= "(" root ")" | "x"'),
        "",
        Grammar('root ::= "(" inner ")" | "x"\ninner ::= "y"'),
    ),
    (
        "unbounded_repeat",
        Machine(start="s", accepting=["s"], edges=[Edge("s", "a", "s")]),
        "",
        Machine(start="s", accepting=["e"], edges=[Edge("s", "a", "e")]),
    ),
    ("unreachable_rule", Grammar('root ::= "a"\nother ::= "b"'), "", Grammar('root ::= "a" | other\nother ::= "b"')),
    (
        "long_text",
        {"type": "array", "items": SHORT, "minItems": 900, "maxItems": 900},
        "",
        {"type": "array", "items": SHORT, "maxItems": 2},
    ),
    ("fixed_value", closed({"a": {"const": "x"}, "b": FLAG}), "/properties/a", closed({"a": {"enum": ["x", "y"]}})),
    ("fixed_value", closed({"a": {"enum": ["x"]}}), "/properties/a", {"anyOf": [CARD, CASH]}),
    ("default_value", closed({"a": {**FLAG, "default": True}}, required=[]), "/properties/a", closed({"a": FLAG})),
    ("default_value", closed({"a": {**FLAG, "default": True}}), "/properties/a", closed({"a": FLAG}, default={})),
    (
        "read_only_value",
        closed({"a": {**FLAG, "readOnly": True}}),
        "/properties/a",
        closed({"a": {**FLAG, "readOnly": False}}),
    ),
    (
        "derived_value",
        closed({"created_at": {"type": "string", "format": "date-time"}}),
        "/properties/created_at",
        closed({"due": {"type": "string", "format": "date"}}),
    ),
    (
        "derived_value",
        closed({"createdAt": {"type": "string"}}),
        "/properties/createdAt",
        closed({"at": {"type": "string"}}),
    ),
    (
        "derived_value",
        closed({"total": {"type": "number"}}),
        "/properties/total",
        closed({"total": {"type": "string"}}),
    ),
    (
        "derived_value",
        closed({"line_count": {"type": "integer"}}),
        "/properties/line_count",
        closed({"country": {"type": "string"}}),
    ),
    ("derived_value", closed({"file_hash": {"type": "string"}}), "/properties/file_hash", closed({"hashing": FLAG})),
    (
        "invented_id",
        closed({"order": {"type": "string", "format": "uuid"}}),
        "/properties/order",
        closed({"order": SHORT}),
    ),
    (
        "invented_id",
        closed({"customerId": {"type": "string"}}),
        "/properties/customerId",
        closed({"customerId": {"type": "string", "pattern": "^C[0-9]{4}$"}}),
    ),
    (
        "nullable_optional",
        closed({"a": {"type": ["boolean", "null"]}}, required=[]),
        "/properties/a",
        closed({"a": {"type": ["boolean", "null"]}}),
    ),
    (
        "nullable_optional",
        closed({"a": {"anyOf": [FLAG, {"type": "null"}]}}, required=[]),
        "/properties/a",
        closed({"a": FLAG}, required=[]),
    ),
    (
        "optional_heavy",
        closed({f"p{n}": FLAG for n in range(6)}, required=[]),
        "",
        closed({f"p{n}": FLAG for n in range(6)}),
    ),
    ("open_object", {"type": "object", "properties": {"a": FLAG}}, "", closed({"a": FLAG})),
    (
        "missing_description",
        closed({"a": {"type": "boolean"}}),
        "",
        closed({"a": {"type": "boolean", "title": "Wanted"}}),
    ),
    (
        "missing_description",
        closed({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": {"type": "boolean"}}}),
        "",
        closed({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": FLAG}}),
    ),
    ("deep_nesting", nested(6), "/properties/inner" * 6, nested(5)),
    ("wide_choice", {"anyOf": BARE}, "", {"anyOf": [CARD, CASH, BANK]}),
    (
        "wide_choice",
        {"oneOf": [{"const": number} for number in range(11)]},
        "",
        {"oneOf": [{"const": number} for number in range(10)]},
    ),
    ("large_enum", {"enum": MANY}, "", {"enum": MANY[:100]}),
    ("large_enum", Choices(MANY), "", Choices(["a", "b"])),
    ("duplicate_schema", closed({"a": CARD, "b": CARD}), "/properties/a", closed({"a": CARD, "b": CASH})),
    ("single_choice", Choices(["yes", "yes"]), "", Choices(["yes", "no"])),
    ("prefix_choice", Choices(["no", "nothing"]), "", Choices(["no", "yes"])),
]


def of_code(report: LintReport, code: str) -> list[Finding]:
    return [found for found in report.findings if found.code == code]


@pytest.mark.parametrize(
    ("code", "source", "pointer", "other"), CASES, ids=[f"{number}-{case[0]}" for number, case in enumerate(CASES)]
)
def test_rule_finds_its_place_and_nothing_beside_it(code: str, source: Any, pointer: str, other: Any) -> None:
    (found,) = of_code(lint(source), code)
    assert found.pointer == pointer
    assert found.severity == RULES[code].severity
    assert found.message
    assert found.instead
    assert of_code(lint(other), code) == []


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(RULES)


def test_findings_come_errors_first() -> None:
    schema = closed({"a": {"type": "string", "pattern": r"(.)\1"}, "b": {"type": "string"}, "c": {"const": 1}})
    severities = [found.severity for found in lint(schema).findings]
    assert severities == sorted(severities, key=["error", "warning", "advice"].index)
    assert set(severities) == {"error", "warning", "advice"}


def test_more_findings_than_are_listed_are_counted() -> None:
    report = lint(closed({f"p{number}": {"type": "string"} for number in range(25)}))
    assert len(of_code(report, "unbounded_string")) == 20
    assert ("unbounded_string", 5) in report.omitted
    assert report.complexity.unbounded == 25


def test_branch_names_the_kind_and_so_is_not_called_fixed() -> None:
    schema = {"oneOf": [{"$ref": "#/$defs/card"}, {"$ref": "#/$defs/cash"}], "$defs": {"card": CARD, "cash": CASH}}
    assert of_code(lint(schema), "fixed_value") == []


def test_limit_of_the_contract_is_the_one_that_counts() -> None:
    assert lint({"enum": ["a", "b", "c"]}, limits=Limits(enum_values=2)).has("too_large")
    assert not lint({"enum": ["a", "b", "c"]}, limits=Limits(enum_values=3)).has("too_large")


class Order(BaseModel):
    note: str | None = None
    payer: Annotated[str, Field(description="who pays", max_length=9)]


def test_title_that_repeats_the_name_describes_nothing() -> None:
    (found,) = of_code(lint(Order), "missing_description")
    assert found.message == "1 of 2 properties have no description: note"


def test_default_of_null_is_told_once() -> None:
    report = lint(Order)
    assert of_code(report, "default_value") == []
    assert [found.pointer for found in of_code(report, "nullable_optional")] == ["/properties/note"]


def codes(schema: Any) -> set[str]:
    return {found.code for found in lint(schema, walks=0).findings}


def test_small_schema_with_bounds_and_words_has_a_clean_bill() -> None:
    schema = closed(
        {
            "kind": {"enum": ["bug", "wish"], "description": "what it is"},
            "title": SHORT,
            "urgent": FLAG,
            "due": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "description": "by when"},
            "labels": {"type": "array", "maxItems": 3, "items": SHORT, "description": "any"},
        }
    )
    assert lint(schema).findings == ()


@pytest.mark.parametrize("keyword", ["if", "not", "then", "contains"])
def test_condition_is_not_taken_for_what_the_model_writes(keyword: str) -> None:
    condition = {"properties": {"kind": {"const": "card"}, "total": {"type": "number", "default": 3}}}
    schema = closed({"kind": {"enum": ["card", "cash"], "description": "how it is paid"}}, required=["kind"])
    found = codes({**schema, "if": True, keyword: condition})
    assert found.isdisjoint({"fixed_value", "default_value", "derived_value", "missing_description", "missing_type"})


def test_property_is_not_a_condition_for_being_called_like_one() -> None:
    schema = closed({"if": closed({"not": {"const": "card"}})})
    assert [found.pointer for found in lint(schema).findings if found.code == "fixed_value"] == [
        "/properties/if/properties/not"
    ]


def test_words_that_generators_of_schemas_write_are_no_mistakes() -> None:
    schema = {**closed({"a": FLAG}), "discriminator": {"propertyName": "a"}, "propertyOrdering": ["a"]}
    assert "unknown_word" not in codes(schema)
    assert "unknown_word" in codes({**closed({"a": FLAG}), "discriminators": 1})


def test_place_that_holds_anything_is_told_apart_from_one_that_is_anything() -> None:
    schema = closed({"any": {}, "list": {"type": "array", "maxItems": 2}})
    found = {each.pointer: each for each in lint(schema).findings if each.code == "any_value"}
    assert found["/properties/any"].message == "any JSON may stand here"
    assert found["/properties/list"].message.startswith("it holds any JSON")


def test_format_without_a_longest_text_is_named() -> None:
    (found,) = [
        each
        for each in lint(closed({"at": {"type": "string", "format": "date-time"}})).findings
        if each.code == "unbounded_string"
    ]
    assert found.keyword == "format"
    assert "date-time" in found.message
