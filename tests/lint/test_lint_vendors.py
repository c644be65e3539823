"""What vendors would make of a schema: each case of the table is found where it stands, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from commitgate.automaton.json_schema import SchemaDocument
from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind
from commitgate.json_value import JsonSchema
from commitgate.limits import Limits
from commitgate.lint import Reaction, VendorReport, lint
from commitgate.lint.places import Depths
from commitgate.lint.vendor_cases import cases_of
from commitgate.lint.vendor_facts import CASES, FACTS, VENDOR_LIMITS, VENDORS

FLAG = {"type": "boolean"}
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
CORE: dict[str, Any] = {"type": "object", "properties": {"a": FLAG}, "required": ["a"], "additionalProperties": False}
OTHER: dict[str, JsonSchema] = {"https://example.com/b": {"type": "boolean"}}


def inside(schema: Any) -> dict[str, Any]:
    return {**CORE, "properties": {"a": schema}}


# A schema for each case; the ones beside it that it cannot do without stand in brackets.
SCHEMAS: dict[str, Any] = {
    "type_list": inside({"type": ["boolean", "null"]}),
    "enum": inside({"enum": ["x", "y"]}),
    "enum_of_numbers": inside({"enum": [1, 2]}),
    "enum_of_structures": inside({"enum": [[1], {}]}),
    "const": inside({"const": 1}),
    "optional_property": {**CORE, "required": []},
    "undeclared_required": {**CORE, "required": ["a", "b"], "additionalProperties": True},
    "required_alone": {"type": "object", "required": ["a"]},
    "closed_object": CORE,
    "typed_extra_properties": {**CORE, "additionalProperties": FLAG},
    "open_object": {"type": "object", "properties": {"a": FLAG}, "required": ["a"]},
    "min_properties": {**CORE, "minProperties": 1},
    "max_properties": {**CORE, "maxProperties": 1},
    "pattern_properties": {"type": "object", "patternProperties": {"^x": FLAG}, "additionalProperties": False},
    "pattern_beside_properties": {**CORE, "patternProperties": {"^x": FLAG}},
    "property_names": {"type": "object", "propertyNames": TEXT},
    "names_beside_properties": {**CORE, "propertyNames": TEXT},
    "unevaluated_properties": {**CORE, "unevaluatedProperties": False},
    "dependent_required": {**CORE, "dependentRequired": {"a": ["a"]}},
    "dependent_schemas": {**CORE, "dependentSchemas": {"a": True}},
    "min_length": inside({**TEXT, "minLength": 1}),
    "max_length": inside({**TEXT, "maxLength": 1}),
    "anchored_pattern": inside({**TEXT, "pattern": "^a$"}),
    "unanchored_pattern": inside({**TEXT, "pattern": "a"}),
    "look_around": inside({**TEXT, "pattern": "^(?=a)a$"}),
    "pattern_class": inside({**TEXT, "pattern": "^\\d$"}),
    "word_boundary": inside({**TEXT, "pattern": "^a\\b$"}),
    "pattern_with_length": inside({**TEXT, "pattern": "^a+$", "maxLength": 2}),
    "format_date_time": inside({**TEXT, "format": "date-time"}),
    "format_date": inside({**TEXT, "format": "date"}),
    "format_email": inside({**TEXT, "format": "email"}),
    "format_uuid": inside({**TEXT, "format": "uuid"}),
    "format_uri": inside({**TEXT, "format": "uri"}),
    "format_listed": inside({**TEXT, "format": "ipv4"}),
    "format_other": inside({**TEXT, "format": "json-pointer"}),
    "format_unknown": inside({**TEXT, "format": "no-such"}),
    "format_with_length": inside({**TEXT, "format": "uri", "maxLength": 40}),
    "integer_bound": inside({**WHOLE, "minimum": 1}),
    "integer_exclusive_bound": inside({**WHOLE, "exclusiveMinimum": 1}),
    "integer_two_bounds": inside({**WHOLE, "minimum": 1, "exclusiveMinimum": 0}),
    "number_minimum": inside({**NUMBER, "minimum": 1}),
    "number_maximum": inside({**NUMBER, "maximum": 1}),
    "number_exclusive_bound": inside({**NUMBER, "exclusiveMinimum": 1}),
    "multiple_of": inside({**WHOLE, "multipleOf": 2}),
    "min_items_one": inside({"type": "array", "items": FLAG, "minItems": 1}),
    "min_items": inside({"type": "array", "items": FLAG, "minItems": 2}),
    "max_items": inside({"type": "array", "items": FLAG, "maxItems": 2}),
    "max_items_alone": inside({"type": "array", "maxItems": 2}),
    "array_without_items": inside({"type": "array"}),
    "unevaluated_items": inside({"type": "array", "prefixItems": [FLAG], "unevaluatedItems": False}),
    "content_schema": inside({**TEXT, "contentMediaType": "application/json", "contentSchema": FLAG}),
    "dynamic_reference": inside({"$dynamicRef": "#x"}) | {"$defs": {"x": {**FLAG, "$dynamicAnchor": "x"}}},
    "unique_items": inside({"type": "array", "items": FLAG, "uniqueItems": True}),
    "contains": inside({"type": "array", "items": FLAG, "contains": {"const": True}}),
    "prefix_items": inside({"type": "array", "prefixItems": [FLAG]}),
    "prefix_beside_items": inside({"type": "array", "prefixItems": [FLAG], "items": TEXT}),
    "closed_tuple": inside({"type": "array", "prefixItems": [FLAG], "items": False}),
    "any_of": inside({"anyOf": [FLAG, TEXT]}),
    "root_any_of": {"anyOf": [FLAG, TEXT]},
    "any_of_beside_properties": {**CORE, "anyOf": [True]},
    "one_of": inside({"oneOf": [FLAG, TEXT]}),
    "one_of_overlapping": inside({"oneOf": [WHOLE, NUMBER]}),
    "all_of_one": inside({"allOf": [FLAG]}),
    "all_of_reference": inside({"allOf": [{"$ref": "#/$defs/x"}]}) | {"$defs": {"x": FLAG}},
    "all_of_many": inside({"allOf": [FLAG, True]}),
    "not": inside({**TEXT, "not": {"const": "x"}}),
    "if_then_else": inside({"if": TEXT, "then": TEXT, "else": FLAG}),
    "reference": inside({"$ref": "#/$defs/x"}) | {"$defs": {"x": FLAG}},
    "reference_with_siblings": inside({"$ref": "#/$defs/x", "const": True}) | {"$defs": {"x": FLAG}},
    "described_reference": inside({"$ref": "#/$defs/x", "description": "a flag"}) | {"$defs": {"x": FLAG}},
    "recursive_reference": {**CORE, "properties": {"a": FLAG, "b": {"$ref": "#"}}},
    "remote_reference": inside({"$ref": "https://example.com/b"}),
    "unknown_word": {**CORE, "colour": 3},
    "anchor_reference": inside({"$ref": "#x"}) | {"$defs": {"x": {**FLAG, "$anchor": "x"}}},
    "false_schema": {**CORE, "properties": {"a": FLAG, "b": False}},
    "untyped_object": {"properties": {"a": FLAG}, "required": ["a"], "additionalProperties": False},
    "untyped_length": inside({"minLength": 1}),
    "untyped_bound": inside({"minimum": 1}),
    "root_array": {"type": "array", "items": FLAG},
    "root_scalar": FLAG,
    "root_reference": {"$ref": "#/$defs/x", "$defs": {"x": CORE}},
    "root_without_properties": {"type": "object", "additionalProperties": FLAG},
    "empty_schema": {},
    "property_ordering": {**CORE, "propertyOrdering": ["a"]},
    "default": inside({**FLAG, "default": True}),
}


def vendor(schema: Any, name: str) -> VendorReport:
    documents = OTHER if "https" in str(schema) else None
    (found,) = [each for each in lint(schema, documents=documents, walks=0).vendors if each.name == name]
    return found


# Keywords of older drafts.
OLD: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2019-09/schema",
    "type": "array",
    "items": {"$recursiveRef": "#"},
    "dependencies": {"a": ["b"]},
}


def cases_in(schema: Any) -> list[tuple[str, str, str]]:
    document = SchemaDocument(schema, Limits(), OTHER)
    return list(cases_of(document, Depths(document)))


def cases(schema: Any) -> set[str]:
    documents = OTHER if "https" in str(schema) else None
    reports = lint(schema, documents=documents, walks=0).vendors
    return {note.case for report in reports for note in report.notes}


def test_table_and_words_speak_of_the_same_cases() -> None:
    assert {case for _, case in FACTS} == set(CASES)
    assert {(each.name, case) for each in VENDORS for case in CASES} == set(FACTS)
    assert {limit.vendor for limit in VENDOR_LIMITS} <= {each.name for each in VENDORS}


def test_every_case_has_a_schema() -> None:
    assert set(SCHEMAS) == set(CASES)


REFUSED_SOMEWHERE = [
    case for case in CASES if any(FACTS[each.name, case].reaction is not Reaction.TAKEN for each in VENDORS)
]


@pytest.mark.parametrize("case", REFUSED_SOMEWHERE)
def test_case_is_found_where_it_stands_and_not_in_the_core(case: str) -> None:
    assert case in cases(SCHEMAS[case])
    assert case == "closed_object" or case not in cases(CORE)


@pytest.mark.parametrize("name", [each.name for each in VENDORS])
def test_sound_core_is_taken_by_all_but_the_oldest(name: str) -> None:
    assert vendor(CORE, name).verdict == ("refuses" if name == "gemini_openapi" else "takes")


@pytest.mark.parametrize(
    ("case", "name", "verdict", "is_sure"),
    [
        ("optional_property", "openai", "refuses", True),
        ("recursive_reference", "anthropic", "refuses", True),
        ("integer_bound", "anthropic", "refuses", True),
        ("max_length", "gemini", "weakens", True),
        ("pattern_class", "llama_cpp", "weakens", True),
        ("not", "vllm", "weakens", True),
        ("not", "sglang", "refuses", True),
        ("not", "llguidance", "refuses", True),
        ("required_alone", "xgrammar", "weakens", True),
        ("unanchored_pattern", "xgrammar", "narrows", True),
        ("multiple_of", "vllm", "takes", False),
        ("format_listed", "xgrammar", "not known", False),
        ("type_list", "tgi", "refuses", True),
    ],
)
def test_verdict_follows_the_worst_that_is_known(case: str, name: str, verdict: str, is_sure: bool) -> None:
    found = vendor(SCHEMAS[case], name)
    assert (found.verdict, found.is_sure) == (verdict, is_sure)


def test_likely_refusal_stands_before_what_is_surely_ignored() -> None:
    schema = inside({"$ref": "#/$defs/x", "description": "short"}) | {"$defs": {"x": {**TEXT, "maxLength": 3}}}
    found = vendor(schema, "gemini")
    assert (found.verdict, found.is_sure) == ("refuses", False)
    assert [note.reaction for note in found.notes] == [Reaction.REFUSED, Reaction.IGNORED]


def test_note_names_keyword_places_and_source() -> None:
    schema = {**CORE, "properties": {f"p{number}": {**WHOLE, "minimum": 1} for number in range(7)}, "required": []}
    (note,) = [note for note in vendor(schema, "outlines").notes if note.case == "integer_bound"]
    assert (note.reaction, note.keyword, note.places) == (Reaction.IGNORED, "minimum", 7)
    assert note.pointers == tuple(f"/properties/p{number}" for number in range(5))
    assert note.source


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("openai", {**CORE, "properties": {"a": {"enum": [f"v{number}" for number in range(1_001)]}}}),
        ("openai", {**CORE, "properties": {"a": {"enum": [f"{number:060}" for number in range(251)]}}}),
        ("anthropic", {**CORE, "properties": {f"p{number}": FLAG for number in range(25)}, "required": []}),
        ("anthropic", {**CORE, "properties": {f"p{number}": {"type": ["boolean", "null"]} for number in range(17)}}),
    ],
)
def test_limits_of_vendors_are_counted(name: str, schema: Any) -> None:
    assert any("more than" in note.about for note in vendor(schema, name).notes)
    assert not any("more than" in note.about for note in vendor(CORE, name).notes)


def test_note_beside_a_reference_loses_nothing_where_nothing_constrains() -> None:
    schema = SCHEMAS["described_reference"]
    assert vendor(schema, "vllm").verdict == vendor(schema, "llama_cpp").verdict == "takes"
    assert vendor(schema, "openai").verdict == "refuses"


def test_exclusive_bound_of_a_number_is_not_taken_for_a_plain_one() -> None:
    schema = SCHEMAS["number_exclusive_bound"]
    assert vendor(schema, "gemini_openapi").verdict == "refuses"
    assert vendor(schema, "gemini").verdict == "not known"


def test_every_keyword_that_constrains_is_a_case_or_taken_by_all() -> None:
    # These are in the sound core: every vendor takes them as they stand, or they are told with what they stand beside.
    core = {"type", "properties", "items", "then", "else", "minContains", "maxContains", "additionalItems"}
    constraining = {word for word, keyword in KEYWORDS.items() if keyword.kind is Kind.ASSERTION} - core
    told = {
        case[2]
        for schema in [*SCHEMAS.values(), inside({"type": "integer", "maximum": 3, "exclusiveMaximum": 3}), OLD]
        for case in cases_in(schema)
    }
    assert constraining <= told


def test_what_was_not_measured_is_not_said_to_be() -> None:
    for each in VENDORS:
        if each.basis == "measured":
            assert FACTS[each.name, "number_exclusive_bound"].source.startswith("not measured")
    assert FACTS["openai", "number_exclusive_bound"].source == VENDORS[0].source
