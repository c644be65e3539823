"""What sets the drafts apart: each schema is read in the draft that it names."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS
from automaton.reading import assert_reads

from commitgate.automaton import compile
from commitgate.errors import SchemaError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue

URIS = {name: uri for name, (uri, _) in DRAFTS.items()}
LATE = ["2019-09", "2020-12"]
EARLY = ["4", "6", "7"]


def written(draft: str, **schema: JsonValue) -> dict[str, JsonValue]:
    """Return a schema of a draft."""
    return {"$schema": URIS[draft], **schema}


def test_exclusive_bounds_are_booleans_in_draft_4() -> None:
    bounds: dict[str, JsonValue] = {"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False}
    assert_reads(written("4", **bounds), ["1.5", "3", '"x"'], ["1", "3.5", "0"])


@pytest.mark.parametrize("draft", ["6", "7", "2019-09", "2020-12"])
def test_exclusive_bounds_are_numbers_from_draft_6_on(draft: str) -> None:
    assert_reads(written(draft, exclusiveMinimum=1, exclusiveMaximum=3), ["1.5", "2.9"], ["1", "1.0", "3"])
    with pytest.raises(SchemaError):
        compile(written(draft, minimum=1, exclusiveMinimum=True))


def test_exclusive_bound_of_draft_4_must_be_a_boolean() -> None:
    with pytest.raises(SchemaError):
        compile(written("4", exclusiveMinimum=1))


def test_integer_is_a_spelling_in_draft_4_and_a_value_later() -> None:
    assert_reads(written("4", type="integer"), ["1", "-3", "0"], ["1.0", "1e2", "1.5"])
    for draft in ("6", "7", *LATE):
        assert_reads(written(draft, type="integer"), ["1", "1.0", "1e2", "-0.0", "150e-1"], ["1.5", "15e-1"])


@pytest.mark.parametrize("draft", EARLY)
def test_keywords_beside_a_reference_are_ignored_up_to_draft_7(draft: str) -> None:
    schema = written(draft, definitions={"a": {"type": "integer"}}, properties={"k": {"$ref": "#/definitions/a"}})
    beside: JsonValue = {"$ref": "#/definitions/a", "minimum": 5}
    assert_reads({**schema, "properties": {"k": beside}}, ['{"k": 1}', '{"k": 9}'], ['{"k": 1.5}', '{"k": "x"}'])


@pytest.mark.parametrize("draft", LATE)
def test_keywords_beside_a_reference_hold_from_2019_on(draft: str) -> None:
    schema = written(draft, properties={"k": {"$ref": "#/$defs/a", "minimum": 5}})
    assert_reads({**schema, "$defs": {"a": {"type": "integer"}}}, ['{"k": 9}'], ['{"k": 1}', '{"k": 9.5}'])


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09"])
def test_list_of_items_and_additional_items_up_to_2019(draft: str) -> None:
    schema = written(draft, items=[{"type": "integer"}, {"type": "string"}], additionalItems={"type": "null"})
    assert_reads(schema, ["[]", "[1]", '[1, "x", null, null]', '{"a": 1}'], ['["x"]', "[1, 2]", '[1, "x", 1]'])


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09"])
def test_additional_items_beside_one_schema_say_nothing(draft: str) -> None:
    schema = written(draft, items={"type": "integer"}, additionalItems={"type": "null"})
    assert_reads(schema, ["[1, 2, 3]"], ["[1, null]"])


def test_prefix_items_mean_something_from_2020_on_alone() -> None:
    assert_reads(written("2020-12", prefixItems=[{"type": "null"}], items={"type": "integer"}), ["[null, 1]"], ["[1]"])
    assert_reads(written("2019-09", prefixItems=[{"type": "null"}], items={"type": "integer"}), ["[1, 1]"], ["[null]"])
    with pytest.raises(SchemaError) as caught:
        compile(written("2020-12", items=[{}]))
    assert caught.value.keyword == "items"


@pytest.mark.parametrize("draft", EARLY)
def test_dependencies_name_keys_or_schemas(draft: str) -> None:
    schema = written(draft, dependencies={"a": ["b", "c"], "d": {"maxProperties": 1}})
    valid = ["{}", '{"a": 1, "b": 1, "c": 1}', '{"d": 1}', '{"b": 1}', "[1]"]
    assert_reads(schema, valid, ['{"a": 1, "b": 1}', '{"a": 1}', '{"d": 1, "b": 1}'])


@pytest.mark.parametrize("draft", LATE)
def test_dependent_keywords_from_2019_on(draft: str) -> None:
    schema = written(draft, dependentRequired={"a": ["b"]}, dependentSchemas={"d": {"maxProperties": 1}})
    assert_reads(schema, ['{"a": 1, "b": 1}', '{"d": 1}'], ['{"a": 1}', '{"d": 1, "b": 1}'])


@pytest.mark.parametrize(
    ("draft", "schema", "text"),
    [
        ("4", {"const": 1}, "2"),
        ("4", {"contains": {"type": "null"}}, "[1]"),
        ("4", {"propertyNames": {"maxLength": 1}}, '{"ab": 1}'),
        ("6", {"if": {"type": "integer"}, "then": {"minimum": 5}}, "1"),
        ("7", {"dependentRequired": {"a": ["b"]}}, '{"a": 1}'),
        ("7", {"contains": {"type": "null"}, "minContains": 2}, "[null]"),
        ("7", {"unevaluatedProperties": False}, '{"a": 1}'),
        ("2019-09", {"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, "1"),
        ("2020-12", {"additionalItems": False, "prefixItems": [{}]}, "[1, 2]"),
        ("2020-12", {"$recursiveRef": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, "1"),
    ],
)
def test_keyword_of_another_draft_is_an_annotation(draft: str, schema: dict[str, JsonValue], text: str) -> None:
    assert_reads({"$schema": URIS[draft], **schema}, [text], [])


def test_resources_are_named_by_id_in_draft_4_and_by_a_dollar_later() -> None:
    named: JsonValue = {"id": "http://example.com/root", "definitions": {"a": {"id": "item", "type": "null"}}}
    assert_reads({**named, "$schema": URIS["4"], "items": {"$ref": "http://example.com/item"}}, ["[null]"], ["[1]"])
    with pytest.raises(UnsupportedError):
        compile({**named, "$schema": URIS["7"], "items": {"$ref": "http://example.com/item"}})
    later: JsonValue = {"$id": "http://example.com/root", "definitions": {"a": {"$id": "item", "type": "null"}}}
    assert_reads({**later, "$schema": URIS["7"], "items": {"$ref": "http://example.com/item"}}, ["[null]"], ["[1]"])


@pytest.mark.parametrize(("draft", "word"), [("4", "id"), ("6", "$id"), ("7", "$id")])
def test_fragment_of_an_id_is_an_anchor_up_to_draft_7(draft: str, word: str) -> None:
    schema = written(draft, definitions={"a": {word: "#here", "type": "null"}}, items={"$ref": "#here"})
    assert_reads(schema, ["[null]"], ["[1]"])


@pytest.mark.parametrize("draft", ["4", "6", "7"])
def test_booleans_are_schemas_from_draft_6_on(draft: str) -> None:
    schema = written(draft, properties={"a": False})
    if draft == "4":
        with pytest.raises(SchemaError):
            compile(schema)
    else:
        assert_reads(schema, ["{}", '{"b": 1}'], ['{"a": 1}'])


def test_draft_is_2020_where_nothing_names_one() -> None:
    assert_reads({"prefixItems": [{"type": "null"}]}, ["[null]"], ["[1]"])


META: dict[str, JsonSchema] = {
    "https://example.com/no-validation": {
        "$schema": URIS["2020-12"],
        "$id": "https://example.com/no-validation",
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": True,
            "https://json-schema.org/draft/2020-12/vocab/applicator": True,
        },
    },
    "https://example.com/own-words": {
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": True,
            "https://example.com/vocab/own": True,
        },
    },
    "https://example.com/own-words-optional": {
        "$vocabulary": {
            "https://json-schema.org/draft/2020-12/vocab/core": True,
            "https://json-schema.org/draft/2020-12/vocab/validation": True,
            "https://example.com/vocab/own": False,
        },
    },
    "https://example.com/old": {"$schema": URIS["7"]},
}


def test_vocabulary_left_out_by_the_meta_schema_does_not_constrain() -> None:
    schema: JsonValue = {
        "$schema": "https://example.com/no-validation",
        "properties": {"a": {"type": "null"}, "b": False},
        "minProperties": 2,
    }
    assert_reads(schema, ["{}", '{"a": 1}'], ['{"b": 1}'], documents=META, judge=False)


def test_unknown_vocabulary_is_refused_where_it_is_required() -> None:
    with pytest.raises(UnsupportedError) as caught:
        compile({"$schema": "https://example.com/own-words"}, documents=META)
    assert (caught.value.pointer, caught.value.keyword) == ("", "$schema")
    schema: JsonValue = {"$schema": "https://example.com/own-words-optional", "type": "null"}
    assert_reads(schema, ["null"], ["1"], documents=META, judge=False)


def test_meta_schema_takes_the_draft_of_its_own_schema() -> None:
    schema: JsonValue = {"$schema": "https://example.com/old", "items": [{"type": "null"}]}
    assert_reads(schema, ["[null, 1]"], ["[1]"], documents=META, judge=False)
