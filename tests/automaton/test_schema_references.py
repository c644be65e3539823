"""References: what they reach in the schema and in the documents passed in, and what they refuse to reach."""

from __future__ import annotations

import pytest
from automaton.oracle import DRAFTS
from automaton.reading import assert_reads

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.errors import SchemaError, UnsatisfiableError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue

URIS = {name: uri for name, (uri, _) in DRAFTS.items()}
DOCUMENTS: dict[str, JsonSchema] = {
    "https://example.com/address": {
        "type": "object",
        "properties": {"zip": {"$ref": "#/$defs/zip"}, "country": {"$ref": "country#code"}},
        "required": ["zip"],
        "$defs": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
    },
    "https://example.com/country": {"$defs": {"code": {"$anchor": "code", "enum": ["DE", "AT"]}}},
    "https://example.com/tree": {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    },
}
OLD: dict[str, JsonSchema] = {
    "https://example.com/old": {
        "$schema": URIS["7"],
        "definitions": {"pair": {"items": [{"type": "null"}]}},
    },
}
PLAIN: dict[str, JsonSchema] = {
    "https://example.com/plain-pair": {"$defs": {"pair": {"items": [{"type": "null"}], "prefixItems": [False]}}},
}


def test_reference_reaches_a_document_and_that_one_the_next() -> None:
    schema: JsonValue = {"properties": {"home": {"$ref": "https://example.com/address"}}}
    valid = ['{"home": {"zip": "12345", "country": "AT"}}', "{}"]
    invalid = ['{"home": {"zip": "1234"}}', '{"home": {"zip": "12345", "country": "XX"}}', '{"home": {}}']
    assert_reads(schema, valid, invalid, documents=DOCUMENTS)


def test_reference_into_a_document_by_pointer() -> None:
    schema: JsonValue = {"$ref": "https://example.com/address#/$defs/zip"}
    assert_reads(schema, ['"12345"'], ['"1"', "1"], documents=DOCUMENTS)


def test_root_of_a_document_is_its_own() -> None:
    schema: JsonValue = {"type": "array", "items": {"$ref": "https://example.com/tree"}}
    valid = ["[]", '[{"children": [{"children": []}]}]']
    assert_reads(schema, valid, ['[{"children": [[]]}]', '[{"a": 1}]'], documents=DOCUMENTS)


def test_relative_reference_follows_the_base_of_its_document() -> None:
    schema: JsonValue = {"$id": "https://example.com/person", "items": {"$ref": "address"}}
    assert_reads(schema, ['[{"zip": "12345"}]'], ["[1]"], documents=DOCUMENTS)


def test_document_with_a_draft_of_its_own_is_read_in_it() -> None:
    schema: JsonValue = {"$ref": "https://example.com/old#/definitions/pair"}
    assert_reads(schema, ["[null, 1]", "[]"], ["[1]"], documents=OLD, judge=False)


def test_document_without_a_draft_takes_the_one_of_what_refers_to_it() -> None:
    reference = "https://example.com/plain-pair#/$defs/pair"
    schema: JsonValue = {"$schema": URIS["2019-09"], "$ref": reference}
    assert_reads(schema, ["[null, 1]"], ["[1]"], documents=PLAIN, judge=False)
    with pytest.raises(SchemaError) as caught:
        compile({"$ref": reference}, documents=PLAIN)
    assert caught.value.keyword == "items"


def test_document_that_was_not_passed_in_is_refused_and_never_fetched() -> None:
    for reference in ("https://example.com/missing", "file:///etc/hosts", "missing.json", "/$defs/a"):
        with pytest.raises(UnsupportedError) as caught:
            compile({"properties": {"a": {"$ref": reference}}}, documents=DOCUMENTS)
        assert (caught.value.pointer, caught.value.keyword) == ("/properties/a", "$ref")


def test_documents_that_nothing_refers_to_do_not_count() -> None:
    broken: dict[str, JsonSchema] = {"https://example.com/broken": {"type": "nonsense"}}
    plain = Contract.json_schema({"type": "null"})
    assert Contract.json_schema({"type": "null"}, documents=broken).language_digest == plain.language_digest


def test_fault_in_a_document_is_told_with_its_address() -> None:
    broken: dict[str, JsonSchema] = {"https://example.com/broken": {"properties": {"a": {"type": "nonsense"}}}}
    with pytest.raises(SchemaError) as caught:
        compile({"$ref": "https://example.com/broken"}, documents=broken)
    assert caught.value.pointer == "https://example.com/broken#/properties/a"


def test_document_changes_the_language_digest() -> None:
    def digest(kind: str) -> str:
        documents: dict[str, JsonSchema] = {"https://example.com/a": {"type": kind}}
        return Contract.json_schema({"$ref": "https://example.com/a"}, documents=documents).language_digest

    assert digest("null") == digest("null") != digest("string")


def test_anchor_belongs_to_its_resource() -> None:
    schema: JsonValue = {
        "$defs": {
            "a": {"$anchor": "here", "type": "null"},
            "b": {"$id": "http://example.com/b", "$defs": {"c": {"$anchor": "here", "type": "integer"}}},
        },
        "prefixItems": [{"$ref": "#here"}, {"$ref": "http://example.com/b#here"}],
    }
    assert_reads(schema, ["[null, 1]"], ["[1]", "[null, null]"])


def test_embedded_resource_changes_the_base_of_what_lies_in_it() -> None:
    schema: JsonValue = {
        "$id": "http://example.com/root/",
        "$defs": {
            "list": {"$id": "list", "type": "array", "items": {"$ref": "#/$defs/item"}, "$defs": {"item": {"const": 1}}}
        },
        "$ref": "list",
    }
    assert_reads(schema, ["[]", "[1, 1]"], ["[2]", "1"])


@pytest.mark.parametrize(
    "reference", ["#nowhere", "#/$defs/b", "#/$defs/a/type", "#/properties", "http://example.com/a#x"]
)
def test_reference_to_nothing_is_refused(reference: str) -> None:
    schema: JsonValue = {"$defs": {"a": {"$id": "http://example.com/a", "type": "null"}}, "not": {"$ref": reference}}
    with pytest.raises(SchemaError) as caught:
        compile(schema)
    assert (caught.value.pointer, caught.value.keyword) in {
        ("/not", "$ref"),
        ("/$defs/a/type", None),
        ("/properties", None),
    }


@pytest.mark.parametrize("name", ["a~b", "a/b", "~1", "%", "a%25", "é", "^", '"'])
def test_escapes_of_a_pointer_reach_their_key(name: str) -> None:
    token = name.replace("~", "~0").replace("/", "~1")
    for spelled in (token.replace("%", "%25"), "".join(f"%{byte:02X}" for byte in token.encode())):
        assert_reads({"$defs": {name: {"type": "null"}}, "$ref": f"#/$defs/{spelled}"}, ["null"], ["1"])


def test_dynamic_reference_without_an_anchor_is_a_plain_one() -> None:
    schema: JsonValue = {"$defs": {"a": {"type": "null"}}, "items": {"$dynamicRef": "#/$defs/a"}}
    assert_reads(schema, ["[null]"], ["[1]"])


def test_dynamic_reference_goes_to_the_outermost_anchor() -> None:
    tree: JsonSchema = {
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    strict: JsonValue = {
        "$id": "https://example.com/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    valid, misspelt = '{"children": [{"data": 1}]}', '{"children": [{"daat": 1}]}'
    assert_reads(strict, [valid], [misspelt, '{"daat": 1}'], documents={"https://example.com/tree": tree})
    assert_reads(tree, [valid, misspelt], ['{"children": 1}'])


def test_recursive_reference_goes_to_the_outermost_root_that_takes_part() -> None:
    tree: JsonSchema = {
        "$schema": URIS["2019-09"],
        "$id": "https://example.com/tree",
        "$recursiveAnchor": True,
        "type": "object",
        "properties": {"data": True, "children": {"type": "array", "items": {"$recursiveRef": "#"}}},
    }
    strict: JsonValue = {
        "$schema": URIS["2019-09"],
        "$id": "https://example.com/strict",
        "$recursiveAnchor": True,
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    documents: dict[str, JsonSchema] = {"https://example.com/tree": tree}
    assert_reads(strict, ['{"children": [{"data": 1}]}'], ['{"children": [{"daat": 1}]}'], documents=documents)
    aside = {**strict, "$recursiveAnchor": False}
    assert_reads(aside, ['{"children": [{"daat": 1}]}'], ['{"daat": 1}'], documents=documents)


AMBIGUOUS: JsonValue = {
    "$id": "https://example.com/root",
    "$defs": {
        "list": {
            "$id": "list",
            "type": "array",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"any": {"$dynamicAnchor": "item"}},
        },
        "numbers": {"$id": "numbers", "$ref": "list", "$defs": {"n": {"$dynamicAnchor": "item", "type": "number"}}},
        "texts": {"$id": "texts", "$ref": "list", "$defs": {"t": {"$dynamicAnchor": "item", "type": "string"}}},
    },
    "properties": {"n": {"$ref": "numbers"}, "t": {"$ref": "texts"}},
}


def test_dynamic_reference_that_depends_on_the_way_is_checked_later_and_rejects_nothing_valid() -> None:
    automaton = compile(AMBIGUOUS)
    rows = [row for row in automaton.support if row.level == "checked"]
    assert {(row.keyword, row.pointer) for row in rows} == {("$dynamicRef", "/$defs/list/items")}
    assert "way" in rows[0].reason
    assert automaton.accepts(b'{"n": [1], "t": ["x"]}')
    assert not automaton.accepts(b'{"n": 1}')


def test_recursive_reference_that_depends_on_the_way_is_checked_later() -> None:
    inner: JsonSchema = {"$id": "inner", "$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}}
    schema: JsonValue = {
        "$schema": URIS["2019-09"],
        "$id": "https://example.com/root",
        "$defs": {"i": inner, "o": {"$id": "outer", "$recursiveAnchor": True, "$ref": "inner", "maxProperties": 1}},
        "items": {"$ref": "outer"},
    }
    automaton = compile(schema)
    assert ("$recursiveRef", "checked") in {(row.keyword, row.level) for row in automaton.support}
    assert automaton.accepts(b'[{"a": {"a": {}}}]')


def test_recursion_through_every_kind_of_keyword_is_read() -> None:
    schema: JsonValue = {
        "type": ["object", "array"],
        "properties": {"p": {"$ref": "#"}},
        "patternProperties": {"^x": {"$ref": "#"}},
        "additionalProperties": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        "prefixItems": [{"$ref": "#"}],
        "items": {"type": "integer"},
    }
    valid = ['{"p": [], "x": [[], 1], "other": null}', "[[[{}]], 2, 3]"]
    assert_reads(schema, valid, ['{"p": null}', '{"x": null}', "[1]", "[[], []]", "null"])


def test_self_reference_that_reads_nothing_is_refused_and_one_that_requires_itself_has_no_value() -> None:
    circles: list[JsonValue] = [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}, {"not": {"$ref": "#"}}]
    for schema in circles:
        with pytest.raises(SchemaError):
            compile(schema)
    with pytest.raises(UnsatisfiableError):
        compile({"type": "array", "minItems": 1, "items": {"$ref": "#"}})
