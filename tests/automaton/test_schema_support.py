"""The support rows say of each keyword, place by place, whether it is decoded, checked later or only an annotation."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS

from commitgate.automaton import compile
from commitgate.automaton.formats import FORMATS
from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind
from commitgate.contract import Contract
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits

Levels = dict[tuple[str, str], str]


def levels(schema: JsonValue, limits: Limits | None = None) -> Levels:
    """Return the level of each keyword by keyword and place."""
    return {(row.keyword, row.pointer): row.level for row in compile(schema, limits=limits).support}


WHOLE: dict[str, JsonValue] = {
    "type": "object",
    "enum": [{"a": 1, "b": [1]}],
    "minimum": 0,
    "maximum": 5,
    "exclusiveMinimum": -1,
    "exclusiveMaximum": 6,
    "multipleOf": 0.5,
    "minLength": 1,
    "maxLength": 2,
    "pattern": "a",
    "format": "date",
    "prefixItems": [{}],
    "items": {},
    "minItems": 0,
    "maxItems": 3,
    "uniqueItems": False,
    "contains": True,
    "minContains": 0,
    "maxContains": 9,
    "unevaluatedItems": True,
    "properties": {"a": {"const": 1}},
    "patternProperties": {"b": True},
    "additionalProperties": True,
    "propertyNames": {"maxLength": 1},
    "unevaluatedProperties": True,
    "required": ["a"],
    "minProperties": 1,
    "maxProperties": 2,
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"b": True},
    "dependencies": {"a": ["b"]},
    "allOf": [True],
    "anyOf": [True],
    "oneOf": [True],
    "not": {"type": "string"},
    "if": True,
    "then": True,
    "else": False,
    "$ref": "#/$defs/x",
    "$dynamicRef": "#/$defs/x",
    "$defs": {"x": {}},
}


def test_every_keyword_that_constrains_has_a_row_and_is_decoded() -> None:
    found = levels(WHOLE)
    late = {name for name, known in KEYWORDS.items() if known.kind is Kind.ASSERTION and known.until >= 2020}
    assert {keyword for keyword, pointer in found if pointer == ""} == (late & WHOLE.keys())
    assert late - WHOLE.keys() == {"const"}
    assert found["const", "/properties/a"] == "decoded"
    assert set(found.values()) == {"decoded"}
    assert compile(WHOLE).accepts(b'{"b": [1], "a": 1}')


def test_annotations_and_unknown_words_have_no_row() -> None:
    assert levels({"title": "t", "x-own": {"type": 3}, "$comment": "c", "default": 1, "$defs": {"a": {}}}) == {}


def test_row_of_another_document_tells_its_address() -> None:
    documents: dict[str, JsonSchema] = {"https://example.com/a": {"items": {"maxLength": 3}}}
    rows = compile({"$ref": "https://example.com/a"}, documents=documents).support
    places = {(row.keyword, row.pointer) for row in rows}
    assert ("maxLength", "https://example.com/a#/items") in places


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"),
    [
        ({"type": "array", "uniqueItems": True}, "uniqueItems", ""),
        ({"properties": {"a": {"format": "regex"}}}, "format", "/properties/a"),
        ({"pattern": "^(a|b)*a(a|b){30}$"}, "pattern", ""),
        ({"patternProperties": {"^(a|b)*a(a|b){30}$": {"type": "null"}}}, "patternProperties", ""),
        ({"items": {"not": {"uniqueItems": True}}}, "not", "/items"),
        ({"if": {"uniqueItems": True}, "then": {"minItems": 3}}, "if", ""),
        ({"oneOf": [{"uniqueItems": True}, {"minItems": 2}]}, "oneOf", ""),
    ],
)
def test_what_cannot_be_decoded_is_checked_with_a_reason(
    schema: dict[str, JsonValue], keyword: str, pointer: str
) -> None:
    contract = Contract.json_schema(schema)
    row = next(row for row in compile(contract).support if (row.keyword, row.pointer) == (keyword, pointer))
    assert row.level == "checked"
    assert row.reason


def test_checked_part_lets_everything_through_and_what_stands_beside_it_still_holds() -> None:
    automaton = compile({"type": "string", "pattern": "^(a|b)*a(a|b){30}$", "maxLength": 3})
    assert automaton.accepts(b'"zzz"')
    assert not automaton.accepts(b'"zzzz"')
    assert not automaton.accepts(b"1")


def test_same_keyword_is_decoded_in_one_place_and_checked_in_another() -> None:
    items: JsonValue = {"uniqueItems": True}
    found = levels({"properties": {"few": {**items, "items": {"enum": [1, 2]}}, "any": items}})
    assert found["uniqueItems", "/properties/few"] == "decoded"
    assert found["uniqueItems", "/properties/any"] == "checked"


@pytest.mark.parametrize("draft", DRAFTS)
def test_known_formats_constrain_in_every_draft_unless_they_are_annotations(draft: str) -> None:
    schema: dict[str, JsonValue] = {"$schema": DRAFTS[draft][0], "format": "ipv4"}
    asserted, annotated = compile(schema), compile(schema, formats="annotate")
    assert not asserted.accepts(b'"x"')
    assert asserted.accepts(b'"127.0.0.1"')
    assert [(row.keyword, row.level, bool(row.reason)) for row in asserted.support] == [("format", "decoded", False)]
    assert annotated.accepts(b'"x"')
    assert [(row.keyword, row.level, bool(row.reason)) for row in annotated.support] == [("format", "annotation", True)]


def test_contract_decides_how_formats_are_meant() -> None:
    schema: JsonSchema = {"format": "ipv4"}
    annotated = Contract.json_schema(schema, formats="annotate")
    assert compile(annotated).accepts(b'"x"')
    assert not compile(annotated, formats="assert").accepts(b'"x"')
    assert annotated.language_digest != Contract.json_schema(schema).language_digest


@pytest.mark.parametrize("formats", ["assert", "annotate"])
def test_unknown_format_is_an_annotation_and_is_listed(formats: str) -> None:
    automaton = compile({"items": {"format": "colour"}}, formats="assert" if formats == "assert" else "annotate")
    assert automaton.accepts(b'["any"]')
    row = next(row for row in automaton.support if row.keyword == "format")
    assert (row.pointer, row.level) == ("/items", "annotation")
    assert row.reason == "the format is not known"


def test_formats_that_are_no_regular_language_are_checked_and_all_others_decoded() -> None:
    found = {name: levels({"format": name})["format", ""] for name in FORMATS}
    checked = {name for name, level in found.items() if level == "checked"}
    # Names with encoded labels must decode, which no automaton can tell.
    assert checked == {"regex", "hostname", "idn-hostname", "idn-email"}
    assert {found[name] for name in FORMATS if name not in checked} == {"decoded"}


def test_reading_a_text_changes_no_row() -> None:
    automaton = compile(WHOLE)
    before = automaton.support
    automaton.accepts(b'{"b": [1], "a": 1}')
    assert automaton.support == before
