"""Branches, negations and conditions: each is decoded exactly, whatever tells the alternatives apart."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS, Oracle
from automaton.reading import assert_reads

from commitgate.automaton import compile
from commitgate.json_value import JsonValue

CAT: JsonValue = {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}}
DOG: JsonValue = {"type": "object", "properties": {"kind": {"const": "dog"}, "tail": {"type": "boolean"}}}


def test_one_of_branches_told_apart_by_a_discriminator() -> None:
    schema: JsonValue = {"oneOf": [CAT, DOG], "required": ["kind"]}
    valid = ['{"kind": "cat", "lives": 9}', '{"kind": "dog", "lives": "x"}', '{"tail": 1, "kind": "cat"}']
    assert_reads(schema, valid, ['{"kind": "cow"}', '{"kind": "dog", "tail": 1}', '{"lives": 9}'])


def test_one_of_without_the_discriminator_takes_neither() -> None:
    assert_reads({"oneOf": [CAT, DOG]}, ['{"kind": "cat"}', '{"lives": "x"}', '{"tail": 1}'], ["{}", '{"lives": 1}'])


def test_one_of_branches_told_apart_by_type_or_language() -> None:
    schema: JsonValue = {
        "oneOf": [
            {"type": "integer"},
            {"type": ["null", "boolean"]},
            {"type": "string", "pattern": "^a"},
            {"type": "string", "pattern": "^b"},
        ]
    }
    assert_reads(schema, ["1", "null", "true", '"ax"', '"bx"'], ['"c"', "1.5", "[]", '""'])


@pytest.mark.parametrize(
    ("branches", "valid", "invalid"),
    [
        ([{"minimum": 0}, {"maximum": 10}], ["-1", "11", "10.5"], ["0", "10", "5", '"x"', "null"]),
        ([{"type": "number"}, {"type": "integer"}], ["1.5"], ["1", "1.0", '"x"']),
        ([{"pattern": "a"}, {"pattern": "b"}], ['"a"', '"xb"'], ['"ab"', '""', "1"]),
        ([{"maxLength": 2}, {"minLength": 2}], ['"a"', '"abc"'], ['"ab"', "1"]),
        ([{"multipleOf": 2}, {"multipleOf": 3}, {"multipleOf": 5}], ["2", "3", "25"], ["6", "10", "30", "1", '"x"']),
        ([{"required": ["a"]}, {"required": ["b"]}], ['{"a": 1}', '{"b": 1, "c": 1}'], ['{"a": 1, "b": 1}', "{}", "1"]),
        ([{"minItems": 1}, {"maxItems": 2}], ["[]", "[1, 2, 3]"], ["[1]", "[1, 2]", "1"]),
        ([{"enum": [1, 2, "a"]}, {"enum": [2, 3, "a", None]}], ["1", "3", "null"], ["2", '"a"', "4"]),
        ([{"const": {"a": 1}}, {"required": ["a"], "type": "object"}], ['{"a": 2}'], ['{"a": 1}', "{}"]),
        ([True, {"type": "object"}], ["1", "[]", "null"], ["{}", '{"a": 1}']),
        ([True, False], ["1", "{}"], []),
        ([{"contains": {"const": 1}}, {"contains": {"const": 2}}], ["[1]", "[2, 3]"], ["[1, 2]", "[3]", "[]"]),
        (
            [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}}}],
            ['{"a": "x"}', '{"a": 1}', '{"a": 3.5}'][1:],
            ['{"a": 4}', '{"a": "x", "b": 1}'][:1],
        ),
    ],
)
def test_one_of_takes_out_what_branches_have_in_common(
    branches: JsonValue, valid: list[str], invalid: list[str]
) -> None:
    assert_reads({"oneOf": branches}, valid, invalid)


def test_three_branches_that_all_hold_are_refused_as_two_are() -> None:
    schema: JsonValue = {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}]}
    assert_reads(schema, ['{"a": 1}', '{"c": 1, "d": 1}'], ['{"a": 1, "b": 1}', '{"a": 1, "b": 1, "c": 1}', "{}"])


def test_one_of_that_is_too_wide_is_checked_later_and_takes_every_valid_text() -> None:
    branches: list[JsonValue] = [{"type": "object", "properties": {f"k{n}": {"type": "null"}}} for n in range(100)]
    automaton, oracle = compile({"oneOf": branches}), Oracle({"oneOf": branches})
    rows = {(row.keyword, row.level): row.reason for row in automaton.support}
    assert rows["oneOf", "checked"]
    valid = b"{" + b", ".join(b'"k%d": 1' % number for number in range(99)) + b"}"
    assert oracle.is_valid(valid)
    assert automaton.accepts(valid)
    assert not oracle.is_valid(b'{"k1": null}')


@pytest.mark.parametrize(
    ("negated", "valid", "invalid"),
    [
        ({"type": "string"}, ["1", "null", "[]"], ['"x"', '""']),
        ({"const": 1}, ["2", "true", '"1"'], ["1", "1.0", "10e-1"]),
        ({"const": {"a": [1]}}, ['{"a": [2]}', '{"a": [1], "b": 1}', "{}"], ['{"a": [1.0]}']),
        ({"enum": [None, "a"]}, ["1", '"b"'], ["null", '"a"', '"\\u0061"']),
        ({"minimum": 3}, ["2", "2.9"], ["3", '"x"']),
        ({"multipleOf": 2}, ["1", "2.5"], ["2", "0", "null"]),
        ({"pattern": "^a"}, ['"b"', '""'], ['"ab"', "1"]),
        ({"minLength": 2}, ['"a"', '"😀"'], ['"ab"', "1"]),
        ({"required": ["a"]}, ["{}", '{"b": 1}'], ['{"a": 1}', "1"]),
        ({"properties": {"a": {"type": "null"}}}, ['{"a": 1}'], ["{}", '{"a": null}', "1"]),
        ({"additionalProperties": {"type": "null"}}, ['{"a": 1}', '{"a": null, "b": 1}'], ["{}", '{"a": null}', "[]"]),
        ({"patternProperties": {"^a": {"type": "null"}}}, ['{"ab": 1}'], ['{"b": 1}', '{"a": null}']),
        ({"propertyNames": {"maxLength": 1}}, ['{"ab": 1}', '{"a": 1, "bc": 1}'], ["{}", '{"a": 1}']),
        ({"minProperties": 2}, ["{}", '{"a": 1}'], ['{"a": 1, "b": 1}', "1"]),
        ({"maxProperties": 1}, ['{"a": 1, "b": 1}'], ["{}", '{"a": 1}']),
        ({"dependentRequired": {"a": ["b"]}}, ['{"a": 1}', '{"a": 1, "c": 1}'], ["{}", '{"a": 1, "b": 1}']),
        ({"items": {"type": "null"}}, ["[1]", "[null, 1]"], ["[]", "[null]"]),
        ({"prefixItems": [{"type": "null"}], "items": False}, ["[1]", "[null, null]"], ["[]", "[null]"]),
        ({"contains": {"type": "null"}}, ["[]", "[1]"], ["[null]", "[1, null]", "{}"]),
        ({"contains": {"type": "null"}, "maxContains": 1}, ["[]", "[null, 1, null]"], ["[null]", "[1, null]"]),
        ({"minItems": 1, "maxItems": 2}, ["[]", "[1, 2, 3]"], ["[1]", "[1, 2]"]),
        ({"not": {"type": "string"}}, ['"x"'], ["1", "null"]),
        ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, ["2"], ["3", '"x"', "null"]),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, ["2", "3.5", '"x"'], ["3"]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, ["4", "1.5"], ["3.5", "1", "null"]),
        ({"if": {"type": "integer"}, "then": {"minimum": 3}}, ["2"], ["3", '"x"', "1.5"]),
    ],
)
def test_negation_takes_what_the_schema_does_not(negated: JsonValue, valid: list[str], invalid: list[str]) -> None:
    assert_reads({"not": negated}, valid, invalid)


def test_negation_of_unique_items_is_checked_later() -> None:
    automaton = compile({"not": {"uniqueItems": True}})
    assert ("not", "checked") in {(row.keyword, row.level) for row in automaton.support}
    assert automaton.accepts(b"[1, 1]")


def test_negation_under_recursion_turns_at_every_level() -> None:
    schema: JsonValue = {"type": "object", "properties": {"a": {"not": {"$ref": "#"}}}}
    valid = ["{}", '{"a": 1}', '{"a": {"a": {}}}', '{"a": {"a": {"a": {"a": {}}}}}']
    assert_reads(schema, valid, ["1", '{"a": {}}', '{"a": {"b": 1}}', '{"a": {"a": 1}}', '{"a": {"a": {"a": {}}}}'])


CONDITION: dict[str, JsonValue] = {"if": {"type": "integer"}, "then": {"minimum": 3}, "else": {"maxLength": 1}}


@pytest.mark.parametrize("draft", ["7", "2019-09", "2020-12"])
def test_condition_chooses_between_then_and_else(draft: str) -> None:
    schema: JsonValue = {"$schema": DRAFTS[draft][0], **CONDITION}
    assert_reads(schema, ["3", "0.5", '"a"', "null"], ["2", '"ab"'])


def test_parts_of_a_condition_mean_nothing_alone() -> None:
    assert_reads({"then": {"minimum": 3}, "else": False}, ["2", "null"], [])
    assert_reads({"if": {"type": "integer"}}, ["2", "null"], [])
    assert_reads({"if": {"type": "integer"}, "then": {"minimum": 3}}, ["3", "null"], ["2"])
    assert_reads({"if": {"type": "integer"}, "else": {"maxLength": 1}}, ["2", '"a"'], ['"ab"'])


def test_condition_on_a_key_that_may_be_missing_holds_without_it() -> None:
    schema: JsonValue = {
        "type": "object",
        "if": {"properties": {"country": {"const": "US"}}},
        "then": {"required": ["state"]},
        "else": {"required": ["region"]},
    }
    valid = ['{"country": "US", "state": 1}', '{"state": 1}', '{"region": 1, "country": "DE"}']
    assert_reads(schema, valid, ["{}", '{"country": "US"}', '{"country": "DE", "state": 1}', '{"region": 1}'])


def test_chain_of_conditions_is_decoded() -> None:
    kinds = ("a", "b", "c")
    schema: JsonValue = {
        "type": "object",
        "properties": {"k": {"enum": list(kinds)}},
        "required": ["k"],
        "allOf": [{"if": {"properties": {"k": {"const": k}}}, "then": {"required": [f"for {k}"]}} for k in kinds],
    }
    assert_reads(schema, ['{"k": "a", "for a": 1}', '{"for c": 1, "k": "c"}'], ['{"k": "a", "for b": 1}', '{"k": "d"}'])


def test_siblings_of_branches_hold_beside_them() -> None:
    schema: JsonValue = {
        "type": "string",
        "minLength": 2,
        "anyOf": [{"pattern": "^a"}, {"maxLength": 3}],
        "allOf": [{"pattern": "b$"}],
        "not": {"const": "xb"},
    }
    assert_reads(schema, ['"ab"', '"axxxb"', '"xxb"'], ['"b"', '"xxxb"', '"xb"', '"axx"', "1"])
