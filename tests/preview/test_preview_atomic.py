"""Hold strings of a fixed set until they are closed, wherever the schema says so."""

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from preview_reading import shown
from pydantic import BaseModel, Field

from commitgate.json_value import JsonSchema
from commitgate.preview import PreviewReader

COLOUR: dict[str, Any] = {"enum": ["red", "reddish"]}


@dataclass(frozen=True)
class Asked:
    """Stand for a contract."""

    schema: JsonSchema
    documents: dict[str, JsonSchema] = field(default_factory=dict[str, JsonSchema])


HELD: list[tuple[str, dict[str, Any], bytes, Any]] = [
    ("enum at the root", COLOUR, b'"re', []),
    ("const", {"properties": {"k": {"const": "x"}}}, b'{"k":"', [{}]),
    ("enum in a property", {"properties": {"k": COLOUR}}, b'{"k":"red', [{}]),
    ("items", {"items": COLOUR}, b'["red","re', [["red"]]),
    ("prefix items", {"prefixItems": [{"type": "string"}, COLOUR]}, b'["free","re', [["free"]]),
    ("items after prefix items", {"prefixItems": [{}], "items": COLOUR}, b'["free","re', [["free"]]),
    ("items as a list", {"items": [{}, COLOUR]}, b'["free","re', [["free"]]),
    ("additional properties", {"properties": {"a": {}}, "additionalProperties": COLOUR}, b'{"z":"re', [{}]),
    ("pattern properties", {"patternProperties": {"^z": COLOUR}}, b'{"z":"re', [{}]),
    ("all of", {"allOf": [{"properties": {"k": COLOUR}}]}, b'{"k":"re', [{}]),
    ("any of", {"properties": {"k": {"anyOf": [{"type": "null"}, COLOUR]}}}, b'{"k":"re', [{}]),
    ("one of", {"oneOf": [{"properties": {"k": {"const": "a"}}}, {"properties": {"k": {}}}]}, b'{"k":"', [{}]),
    ("then", {"if": {}, "then": {"properties": {"k": COLOUR}}}, b'{"k":"re', [{}]),
    ("reference", {"$defs": {"c": COLOUR}, "properties": {"k": {"$ref": "#/$defs/c"}}}, b'{"k":"re', [{}]),
    ("quoted reference", {"$defs": {"a/b c": COLOUR}, "$ref": "#/$defs/a~1b%20c"}, b'"re', []),
    ("anchor", {"$defs": {"c": COLOUR | {"$anchor": "colour"}}, "$ref": "#colour"}, b'"re', []),
    ("reference by own identifier", {"$id": "urn:x", "$defs": {"c": COLOUR}, "$ref": "urn:x#/$defs/c"}, b'"re', []),
    (
        "reference by an inner identifier",
        {"$id": "https://x.example/a", "$defs": {"c": COLOUR | {"$id": "c"}}, "$ref": "https://x.example/c"},
        b'"re',
        [],
    ),
    ("discriminator", {"discriminator": {"propertyName": "k"}}, b'{"k":"re', [{}]),
    ("recursion", {"properties": {"k": COLOUR, "in": {"$ref": "#"}}}, b'{"in":{"in":{"k":"re', [{"in": {"in": {}}}]),
]


@pytest.mark.parametrize(("schema", "text", "expected"), [row[1:] for row in HELD], ids=[row[0] for row in HELD])
def test_string_of_a_fixed_set_is_held(schema: dict[str, Any], text: bytes, expected: Any) -> None:
    reader = PreviewReader(schema)
    assert shown(reader.feed(text)) == expected
    for byte in b'd"':
        preview = reader.feed(bytes((byte,)))
    assert shown(preview) != expected


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"k": {"type": "string"}, "other": COLOUR}},
        {"properties": {"k": {"$ref": "#/$defs/nowhere"}}},
        {"properties": {"k": {"$ref": "https://example.com/other.json"}}},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"properties": "not an object", "allOf": 3, "items": None},
        {},
        True,
        None,
    ],
)
def test_free_string_is_shown_while_it_is_open(schema: Any) -> None:
    assert PreviewReader(schema).feed(b'{"k":"re').value == {"k": "re"}


@pytest.mark.parametrize(
    ("path", "text", "held", "free"),
    [
        ("kind", b'{"kind":"ci', {}, b'{"king":"ci'),
        ("a/b", b'{"a":{"b":"ci', {"a": {}}, b'{"b":"ci'),
        (
            "rows/*/kind",
            b'{"rows":[{"kind":"x"},{"kind":"ci',
            {"rows": [{"kind": "x"}, {}]},
            b'{"rows":{"x":{"kind":"ci',
        ),
        ("*", b'["ci', [], b'{"x":"ci'),
        ("", b'"ci', None, b'["ci'),
    ],
)
def test_string_at_an_atomic_path_is_held(path: str, text: bytes, held: Any, free: bytes) -> None:
    assert PreviewReader(atomic_paths=[path]).feed(text).value == held
    assert "ci" in repr(PreviewReader(atomic_paths=[path]).feed(free).value)


def test_held_string_cut_inside_an_escape_is_shown_whole() -> None:
    reader = PreviewReader(COLOUR)
    for byte in rb'"r\u0065\ud83d\ude0':
        assert not reader.feed(bytes((byte,))).has_value
    assert reader.feed(b'0"').value == "re😀"


def test_schema_of_a_model_is_understood() -> None:
    class Circle(BaseModel):
        kind: Literal["circle"]
        label: str

    class Square(BaseModel):
        kind: Literal["square"]
        mode: Literal["thin", "thick"]

    class Drawing(BaseModel):
        shapes: list[Circle | Square] = Field(default_factory=list)

    reader = PreviewReader(Asked(Drawing.model_json_schema()))
    assert reader.feed(b'{"shapes":[{"kind":"circ').value == {"shapes": [{}]}
    assert reader.feed(b'le","label":"big').value == {"shapes": [{"kind": "circle", "label": "big"}]}
    assert reader.feed(b'"},{"mode":"th').value == {"shapes": [{"kind": "circle", "label": "big"}, {}]}


def test_reference_into_another_document_is_followed() -> None:
    asked = Asked(
        {"properties": {"k": {"$ref": "https://x.example/c#/definitions/colour"}}},
        {"https://x.example/c": {"definitions": {"colour": COLOUR}}},
    )
    assert shown(PreviewReader(asked).feed(b'{"k":"re')) == [{}]


def test_keys_that_the_text_invents_do_not_grow_the_places() -> None:
    reader = PreviewReader({"properties": {"k": COLOUR}, "additionalProperties": {"$ref": "#"}})
    for index in range(50):
        reader.feed(f'{{"n{index}":'.encode())
    assert shown(reader.feed(b'{"k":"re'))
    assert "re" not in repr(reader.feed(b"").value)
