"""Test what schemas may be called, and that a name which is no URI or belongs to two is told at once."""

from __future__ import annotations

import pytest

from commitgate.automaton import compile
from commitgate.errors import SchemaError
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.json_value import JsonObject


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"$id": "//[x", "properties": {"a": {"$ref": "b"}}}, "$ref"),
        ({"$id": "::::", "type": "integer"}, "$id"),
        ({"$id": "http://a.test/%", "type": "integer"}, "$id"),
        ({"$ref": "http://[/x"}, "$ref"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "id": "::::"}, "id"),
    ],
)
def test_name_that_is_no_uri_is_refused_with_its_keyword(schema: JsonObject, keyword: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile(schema)
    assert caught.value.keyword in (keyword, "$id")


@pytest.mark.parametrize("name", ["a name with spaces", "http://ä.test/ö", "urn:example:a"])
def test_name_that_can_be_written_as_a_uri_is_taken_by_automaton_and_schema_layer(name: str) -> None:
    schema: JsonObject = {"$id": name, "type": "integer"}
    assert compile(schema).accepts(b"1")
    assert SchemaLayer(schema).judge(1) == ()
    assert SchemaLayer(schema).judge("a")


def test_anchor_of_two_schemas_is_refused_where_a_reference_uses_it() -> None:
    definitions: JsonObject = {"a": {"$anchor": "x", "type": "integer"}, "b": {"$anchor": "x", "type": "string"}}
    with pytest.raises(SchemaError, match="two schemas") as caught:
        compile({"$defs": definitions, "$ref": "#x"})
    assert (caught.value.pointer, caught.value.keyword) == ("", "$ref")
    assert compile({"$defs": definitions, "type": "integer"}).accepts(b"1")


def test_id_of_two_schemas_is_refused_where_a_reference_uses_it() -> None:
    definitions: JsonObject = {
        "a": {"$id": "http://x.test/", "type": "integer"},
        "b": {"$id": "http://x.test/", "type": "string"},
    }
    with pytest.raises(SchemaError, match="two schemas"):
        compile({"$defs": definitions, "$ref": "http://x.test/"})


def test_schema_word_below_the_root_of_a_resource_says_nothing() -> None:
    inner: JsonObject = {
        "$schema": "http://json-schema.org/draft-04/schema",
        "id": "things/inner",
        "definitions": {"size": {"type": "integer"}},
        "properties": {"size": {"$ref": "#/definitions/inner/definitions/size"}},
    }
    automaton = compile({"definitions": {"inner": inner}, "$ref": "#/definitions/inner"})
    assert automaton.accepts(b'{"size": 1}')
    assert not automaton.accepts(b'{"size": "x"}')
