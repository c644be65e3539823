"""What no keyword of a place looked at: ``unevaluatedProperties`` and ``unevaluatedItems`` see through the others."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS, Oracle
from automaton.reading import assert_reads

from commitgate.automaton import compile
from commitgate.json_value import JsonValue
from commitgate.limits import Limits

A: JsonValue = {"properties": {"a": {"type": "integer"}}}
B: JsonValue = {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
LATE = ["2019-09", "2020-12"]

SEEN: dict[str, tuple[dict[str, JsonValue], list[str], list[str]]] = {
    "its own properties": ({"properties": {"a": {}}}, ["{}", '{"a": 1}'], ['{"b": 1}']),
    "patterns": ({"patternProperties": {"^a": {}}}, ['{"ab": 1}'], ['{"b": 1}']),
    "additional properties": ({"additionalProperties": {"type": "null"}}, ['{"b": null}'], ['{"b": 1}']),
    "all branches of allOf": ({"allOf": [A, B]}, ['{"a": 1, "b": 1}'], ['{"b": 1, "c": 1}', '{"a": "x", "b": 1}']),
    "branches of anyOf that hold": (
        {"anyOf": [A, B]},
        ["{}", '{"a": 1}', '{"b": 1}', '{"a": 1, "b": 1}'],
        ['{"b": "x"}', '{"c": 1}', '{"a": "x", "b": 1}'],
    ),
    "the branch of oneOf that holds": (
        {"oneOf": [{"properties": {"a": {}}, "required": ["a"]}, B]},
        ['{"a": 1}', '{"b": 1}'],
        ['{"a": 1, "b": 1}', "{}", '{"a": 1, "c": 1}'],
    ),
    "a reference": ({"$ref": "#/$defs/a", "$defs": {"a": A}}, ['{"a": 1}'], ['{"b": 1}', '{"a": "x"}']),
    "a condition and what follows from it": (
        {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": B, "else": {"properties": {"c": {}}}},
        ['{"a": 1, "b": 2}', '{"c": 1}', "{}"],
        ['{"a": 1, "b": 2, "c": 3}', '{"a": 2}', '{"a": 2, "c": 1}'],
    ),
    "a condition alone": ({"if": {"properties": {"a": {"const": 1}}}}, ["{}", '{"a": 1}'], ['{"a": 2}', '{"b": 1}']),
    "a dependent schema of a key that is there": (
        {"properties": {"k": {}}, "dependentSchemas": {"k": A}},
        ['{"k": 1, "a": 1}', '{"k": 1}', "{}"],
        ['{"a": 1}', '{"k": 1, "b": 1}'],
    ),
    "nothing under a negation": ({"not": {"not": A}}, ["{}"], ['{"a": 1}']),
    "nothing by names alone": ({"propertyNames": {"maxLength": 1}, "required": []}, ["{}"], ['{"a": 1}']),
    "a nested one": (
        {"allOf": [{**A, "unevaluatedProperties": {"type": "null"}}]},
        ['{"a": 1, "b": null}'],
        ['{"b": 1}'],
    ),
}


@pytest.mark.parametrize("draft", LATE)
@pytest.mark.parametrize(("schema", "valid", "invalid"), SEEN.values(), ids=SEEN)
def test_keys_that_another_keyword_looked_at_are_evaluated(
    draft: str, schema: dict[str, JsonValue], valid: list[str], invalid: list[str]
) -> None:
    closed = {"$schema": DRAFTS[draft][0], "type": "object", **schema, "unevaluatedProperties": False}
    # The other implementation reads these keywords wrongly in 2019-09.
    assert_reads(closed, valid, [*invalid, "[]"], judge=draft != "2019-09")


def test_what_is_not_evaluated_may_be_judged_instead_of_forbidden() -> None:
    schema: JsonValue = {"anyOf": [A, B], "unevaluatedProperties": {"type": "null"}}
    valid = ['{"a": null, "b": 1}', '{"a": 1, "b": 1, "c": null}', '{"b": null}']
    assert_reads(schema, valid, ['{"a": 1, "c": 2}', '{"a": "x", "b": 1}'])


def test_keys_evaluated_further_out_or_beside_do_not_count() -> None:
    schema: JsonValue = {"properties": {"a": {}}, "allOf": [{"unevaluatedProperties": False}]}
    assert_reads(schema, ["{}", "1"], ['{"a": 1}'])
    cousins: JsonValue = {"allOf": [A, {"properties": {"b": {}}, "unevaluatedProperties": False}]}
    assert_reads(cousins, ['{"b": 1}'], ['{"a": 1}', '{"a": 1, "b": 1}'])


ITEMS: dict[str, tuple[dict[str, JsonValue], list[str], list[str]]] = {
    "its own prefix": ({"prefixItems": [{"type": "null"}]}, ["[]", "[null]"], ["[1]", "[null, null]"]),
    "items for all": ({"items": {"type": "null"}}, ["[null, null]"], ["[1]"]),
    "the longest prefix of allOf": (
        {"allOf": [{"prefixItems": [{}]}, {"prefixItems": [{}, {"type": "null"}]}]},
        ["[1, null]", "[1]"],
        ["[1, 1]", "[1, null, 1]"],
    ),
    "branches of anyOf that hold": (
        {
            "prefixItems": [{"const": 1}],
            "anyOf": [{"prefixItems": [True, {"const": 2}]}, {"prefixItems": [True, True, {"const": 3}]}],
        },
        ["[1]", "[1, 2]", "[1, 9]", "[1, 9, 3]", "[1, 2, 3]"],
        ["[1, 2, 4]", "[1, 9, 4]", "[1, 2, 3, 4]", "[2]"],
    ),
    "a condition": (
        {"if": {"prefixItems": [{"const": 1}]}, "then": {"prefixItems": [{}, {}]}},
        ["[]", "[1, 2]"],
        ["[2]", "[1, 2, 3]"],
    ),
    "contained items": ({"contains": {"type": "null"}}, ["[null]", "[null, null]"], ["[]", "[1]", "[null, 1]"]),
    "contained items of two keywords": (
        {"allOf": [{"contains": {"type": "null"}}, {"contains": {"multipleOf": 2, "type": "integer"}}]},
        ["[null, 2]", "[4, 2, null]"],
        ["[null]", "[null, 2, 3]"],
    ),
}


@pytest.mark.parametrize(("schema", "valid", "invalid"), ITEMS.values(), ids=ITEMS)
def test_items_that_another_keyword_looked_at_are_evaluated(
    schema: dict[str, JsonValue], valid: list[str], invalid: list[str]
) -> None:
    assert_reads({"type": "array", **schema, "unevaluatedItems": False}, valid, [*invalid, "{}"])


def test_contained_items_are_not_evaluated_in_2019() -> None:
    schema: JsonValue = {"$schema": DRAFTS["2019-09"][0], "contains": {"type": "null"}, "unevaluatedItems": False}
    assert_reads({**schema, "items": [{}]}, ["[null]"], ["[null, null]", "[1, null]"], judge=False)


def test_items_evaluated_by_list_or_for_all_in_2019() -> None:
    schema: JsonValue = {"$schema": DRAFTS["2019-09"][0], "unevaluatedItems": {"type": "null"}}
    assert_reads({**schema, "items": [{}]}, ["[1, null]"], ["[1, 1]"])
    assert_reads({**schema, "items": [{}], "additionalItems": {}}, ["[1, 1]"], [])
    assert_reads({**schema, "items": {}}, ["[1, 1]"], [])


def test_evaluation_lost_among_too_many_branches_is_checked_later_and_forbids_nothing_valid() -> None:
    branches: list[JsonValue] = [{"properties": {f"k{n}": {"type": "integer"}}} for n in range(12)]
    schema: JsonValue = {"type": "object", "anyOf": branches, "unevaluatedProperties": False}
    automaton, oracle = compile(schema, limits=Limits(branches=20)), Oracle(schema)
    assert ("unevaluatedProperties", "checked") in {(row.keyword, row.level) for row in automaton.support}
    for text in (b"{}", b'{"k1": 1}', b'{"k1": 1, "k2": 2, "k11": 3}'):
        assert oracle.is_valid(text)
        assert automaton.accepts(text)


def test_evaluation_lost_in_a_meeting_of_branches_is_checked_later_and_forbids_nothing_valid() -> None:
    pairs: list[JsonValue] = [
        {
            "anyOf": [
                {"properties": {f"a{n}": {}}, "required": [f"a{n}"]},
                {"properties": {f"b{n}": {}}, "minProperties": 1},
            ]
        }
        for n in range(4)
    ]
    schema: JsonValue = {"type": "object", "allOf": pairs, "unevaluatedProperties": False}
    oracle, text = Oracle(schema), b'{"a0": 1, "a1": 1, "a2": 1, "b3": 1}'
    assert oracle.is_valid(text)
    for branches in (1, 2, 3, 5, 9, 17, 1000):
        assert compile(schema, limits=Limits(branches=branches)).accepts(text), branches
