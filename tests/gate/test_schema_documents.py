"""References of the schema layer: the schema, the documents passed in, and nothing else in the world."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commitgate.errors import SchemaError, UnsupportedError
from commitgate.gate.places import Schemas
from commitgate.gate.pointer import shown_pointer
from commitgate.gate.references import References
from commitgate.gate.schema_layer import SchemaLayer

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"

DOCUMENTS = {
    "https://example.com/types": {"$defs": {"name": {"type": "string", "pattern": "^\\d$", "format": "ipv4"}}},
    "https://example.com/folder/a.json": {"properties": {"b": {"$ref": "b.json"}}},
    "https://example.com/folder/b.json": {"type": "integer"},
    "urn:example:c": {"$id": "https://example.com/c", "$defs": {"x": {"$anchor": "X", "const": 0.1}}},
}


def is_valid(schema: object, value: object) -> bool:
    return SchemaLayer(schema, documents=DOCUMENTS).judge(value) == ()


def test_reference_into_a_document_is_followed_with_its_patterns_and_formats() -> None:
    layer = SchemaLayer({"$ref": "https://example.com/types#/$defs/name"}, documents=DOCUMENTS)
    assert sorted(failure.code for failure in layer.judge("٣")) == ["format", "pattern"]
    assert [failure.code for failure in layer.judge("7")] == ["format"]


def test_document_may_refer_to_its_neighbour() -> None:
    schema = {"$id": "https://example.com/folder/", "items": {"$ref": "a.json"}}
    assert is_valid(schema, [{"b": 1}])
    assert not is_valid(schema, [{"b": "x"}])


def test_document_is_found_by_the_uri_that_it_was_passed_under() -> None:
    from decimal import Decimal

    assert is_valid({"$ref": "urn:example:c#X"}, Decimal("0.1"))
    assert not is_valid({"$ref": "urn:example:c#X"}, 1)


def test_document_without_a_draft_is_read_in_the_schemas() -> None:
    documents = {"https://example.com/old": {"definitions": {"a": {"type": "null"}}, "items": [{"type": "null"}]}}
    layer = SchemaLayer({"$schema": DRAFT_7, "$ref": "https://example.com/old"}, documents=documents)
    assert layer.judge([None, 1]) == ()
    assert layer.judge([1]) != ()


def test_document_that_nothing_refers_to_may_be_incomplete() -> None:
    documents = {"https://example.com/broken": {"$ref": "https://example.com/missing"}}
    assert SchemaLayer({"type": "null"}, documents=documents).judge(None) == ()
    with pytest.raises(SchemaError):
        SchemaLayer({"$ref": "https://example.com/broken"}, documents=documents)


def test_meta_schema_of_ones_own_decides_which_keywords_count() -> None:
    documents = {
        "https://example.com/meta": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/meta",
            "$vocabulary": {
                "https://json-schema.org/draft/2020-12/vocab/core": True,
                "https://json-schema.org/draft/2020-12/vocab/applicator": True,
            },
        }
    }
    schema = {
        "$schema": "https://example.com/meta",
        "properties": {"a": {"pattern": "^x$", "type": "null"}, "b": False},
    }
    layer = SchemaLayer(schema, documents=documents)
    assert layer.judge({"a": "y"}) == ()
    assert layer.judge({"b": 1}) != ()


def test_unknown_meta_schema_is_an_error() -> None:
    with pytest.raises(UnsupportedError):
        SchemaLayer({"$schema": "https://example.com/unknown"})


PROGRAM = """
import json, sys
from pathlib import Path

from commitgate.errors import ContractError
from commitgate.gate.schema_layer import SchemaLayer

SchemaLayer({"$ref": "https://example.com/a"}, documents={"https://example.com/a": {"format": "date"}}).judge("x")

seen = []
WATCHED = ("open", "os.open", "socket.", "urllib.", "subprocess.", "os.system", "http.")
sys.addaudithook(lambda event, arguments: seen.append(event) if event.startswith(WATCHED) else None)
refused = 0
for reference in json.loads(sys.argv[1]):
    for schema in ({"$ref": reference}, {"$schema": reference}, {"$id": reference, "$ref": "x"}):
        for documents in ({}, {"https://example.com/a": {"$ref": reference}}):
            try:
                SchemaLayer(schema, documents=documents)
            except ContractError:
                refused += 1
print(json.dumps([refused, seen]))
"""


def test_nothing_is_opened_whatever_a_reference_names(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    references = [outside.as_uri(), "http://127.0.0.1:9/a", "https://127.0.0.1:9/a", "ftp://127.0.0.1/a", "a.json"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(references)], capture_output=True, check=True, cwd=tmp_path
    )
    refused, seen = json.loads(done.stdout)
    assert seen == []
    assert refused == len(references) * 6


def test_reference_to_a_file_is_not_read_though_it_is_there(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("true")
    for schema in ({"$ref": outside.as_uri()}, {"$id": tmp_path.as_uri() + "/", "$ref": "outside.json"}):
        with pytest.raises(SchemaError):
            SchemaLayer(schema)
        with pytest.raises(SchemaError):
            SchemaLayer(schema, documents=DOCUMENTS)


@pytest.mark.parametrize(
    ("schema", "path", "shown"),
    [
        ({"$ref": "#/definitions/a", "definitions": {"a": {"properties": {"k": True}}}}, ["k"], "/k"),
        (
            {
                "$schema": DRAFT_4,
                "id": "http://x/",
                "$ref": "y#",
                "definitions": {"a": {"id": "y", "properties": {"k": {}}}},
            },
            ["k"],
            "/k",
        ),
        ({"$ref": "#a", "definitions": {"a": {"$id": "#a", "properties": {"k": True}}}}, ["k"], "/k"),
        ({"$id": "http://x/a/b", "$ref": "c", "$defs": {"a": {"$id": "c", "properties": {"k": True}}}}, ["k"], "/k"),
        ({"$ref": "#A", "$defs": {"a": {"$anchor": "A", "properties": {"k": True}}}}, ["k"], "/k"),
        ({"$id": "urn:x:y", "$ref": "#A", "$defs": {"a": {"$anchor": "A", "properties": {"k": True}}}}, ["k"], "/k"),
        ({"$dynamicRef": "#A", "$defs": {"a": {"$dynamicAnchor": "A", "properties": {"k": True}}}}, ["k"], "/k"),
        (
            {"$schema": DRAFT_2019, "$recursiveAnchor": True, "properties": {"k": {"$recursiveRef": "#"}}},
            ["k", "k"],
            "/k/k",
        ),
        ({"items": [{"properties": {"k": True}}], "additionalItems": {"properties": {"l": True}}}, [0, "k"], "/0/k"),
        ({"items": [{"properties": {"k": True}}], "additionalItems": {"properties": {"l": True}}}, [7, "l"], "/7/l"),
        ({"dependencies": {"k": {"properties": {"l": True}}}}, ["l"], "/l"),
        ({"$ref": "https://example.com/folder/a.json"}, ["b"], "/b"),
        ({"$ref": "https://example.com/nowhere"}, ["k"], "/*"),
        ({"$ref": "http://["}, ["k"], "/*"),
        ({"$ref": "#"}, ["k"], "/*"),
    ],
)
def test_place_of_a_value_is_found_in_every_draft(schema: object, path: list[str | int], shown: str) -> None:
    assert shown_pointer(Schemas(schema, DOCUMENTS), path) == shown


def test_pattern_that_cannot_be_read_says_nothing_about_a_place() -> None:
    schemas = Schemas({"patternProperties": {"(": {"properties": {"k": True}}}})
    assert shown_pointer(schemas, ["a", "k"]) == "/*/*"


def test_every_schema_that_a_dynamic_reference_may_mean_is_found() -> None:
    schema = {
        "$dynamicRef": "#A",
        "$defs": {
            "a": {"$dynamicAnchor": "A"},
            "b": {"$id": "b", "$defs": {"c": {"$dynamicAnchor": "A", "title": "c"}}},
        },
    }
    found = list(References(schema).applied_in_place(schema))
    assert [node.get("title") for node in found if isinstance(node, dict)] == [None, "c"]
