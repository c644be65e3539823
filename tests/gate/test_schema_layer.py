"""The schema layer: exact numbers, our own words, and nothing fetched."""

import socket
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import compile
from commitgate.errors import SchemaError
from commitgate.gate.layers import Failure
from commitgate.gate.schema_layer import FAILURES_KEPT, SchemaLayer

FINITE = st.floats(allow_nan=False, allow_infinity=False)

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def judge(schema: object, value: object) -> tuple[Failure, ...]:
    return SchemaLayer(schema).judge(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"multipleOf": 0.01}, Decimal("19.99")),
        ({"type": "integer"}, Decimal("1.0")),
        ({"type": "integer"}, Decimal("1e3")),
        ({"const": 0.1}, Decimal("0.10")),
        ({"enum": [100]}, Decimal("1e2")),
        ({"type": "number"}, Decimal("1e400")),
        ({"minimum": 9007199254740993}, 9007199254740993),
        ({"const": 1e23}, Decimal("1e23")),
        ({"enum": [{"a": [1e23, 5e-324]}]}, {"a": [Decimal("1e23"), Decimal("5e-324")]}),
        ({"minimum": 9.5e22, "maximum": 9.5e22}, Decimal("9.5e22")),
        ({"const": Decimal("0.10000000000000000000001")}, Decimal("0.10000000000000000000001")),
        ({"multipleOf": 0.01}, Decimal("1e400")),
        ({"multipleOf": 1e-8}, 12391239123),
        ({"multipleOf": Decimal("1e-400")}, Decimal("3e-400")),
        ({"minimum": Decimal("1e399")}, Decimal("1e400")),
        ({"const": 10**400}, Decimal("1e400")),
        ({"enum": [-(10**999)]}, -(10**999)),
        ({"maximum": 0}, Decimal("-0.0")),
        ({"uniqueItems": True}, [10**400, Decimal("1.00000000000000000001"), 1]),
        (True, None),
    ],
)
def test_valid_value_has_no_failures(schema: object, value: object) -> None:
    assert judge(schema, value) == ()


@settings(deadline=None)
@given(number=FINITE)
@pytest.mark.parametrize("keyword", ["const", "enum", "minimum", "maximum", "multipleOf"])
def test_float_of_a_schema_means_its_shortest_spelling(keyword: str, number: float) -> None:
    if keyword == "multipleOf":
        number = abs(number) or 1.0
    schema = {keyword: [number] if keyword == "enum" else number}
    assert judge(schema, Decimal(repr(number))) == ()


@settings(max_examples=50, deadline=None)
@given(number=FINITE)
def test_automaton_and_layer_agree_on_a_float(number: float) -> None:
    for schema in ({"const": number}, {"enum": [number, "x"]}):
        assert compile(schema).accepts(repr(number).encode())
        assert judge(schema, Decimal(repr(number))) == ()


@pytest.mark.parametrize(
    ("schema", "value", "code", "pointer"),
    [
        ({"multipleOf": 0.1}, Decimal("0.30000000000000001"), "multipleOf", ""),
        ({"const": 0.1}, Decimal("0.1000000000000000055511151231257827"), "const", ""),
        ({"minimum": 9007199254740993}, 9007199254740992, "minimum", ""),
        ({"maximum": 9007199254740992}, Decimal("9007199254740992.5"), "maximum", ""),
        ({"type": "integer"}, Decimal("1.5"), "type", ""),
        ({"multipleOf": 3}, Decimal("1e400"), "multipleOf", ""),
        ({"multipleOf": 7}, 10**999, "multipleOf", ""),
        ({"maximum": Decimal("1e399")}, Decimal("1e400"), "maximum", ""),
        ({"exclusiveMinimum": 0}, Decimal("-1e-400"), "exclusiveMinimum", ""),
        ({"uniqueItems": True}, [10**400, Decimal("1e400")], "uniqueItems", ""),
        ({"$schema": DRAFT_4, "type": "integer"}, Decimal("1.0"), "type", ""),
        ({"properties": {"a": {"type": "string"}}}, {"a": 1}, "type", "/a"),
        ({"properties": {"a/~": {"type": "string"}}}, {"a/~": 1}, "type", "/a~1~0"),
        ({"required": ["a"]}, {}, "required", ""),
        ({"items": {"type": "integer"}}, [1, 2, "x"], "type", "/2"),
        ({"properties": {}, "additionalProperties": False}, {"q": 1}, "additionalProperties", ""),
        ({"additionalProperties": False}, {"q": 1}, "additionalProperties", ""),
        ({"properties": {"a": False}}, {"a": 1}, "false", "/a"),
        (False, 1, "false", ""),
        ({"uniqueItems": True}, [Decimal("1.0"), 1], "uniqueItems", ""),
        ({"pattern": "^\\d$"}, "٣", "pattern", ""),
        ({"minLength": 2}, "a", "minLength", ""),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, None, "anyOf", ""),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"enum": [1]}}}}, [1, 2], "enum", "/1"),
    ],
)
def test_failure_names_keyword_and_place(schema: object, value: object, code: str, pointer: str) -> None:
    (failure,) = judge(schema, value)
    assert (failure.code, failure.pointer) == (code, pointer)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"const": 1},
        {"enum": [1]},
        {"maxLength": 1},
        {"pattern": "^x$"},
        {"anyOf": [{"type": "integer"}]},
        {"oneOf": [{"type": "integer"}]},
        {"not": {}},
        {"format": "x", "type": "null"},
        {"contentMediaType": "application/json", "type": "null"},
    ],
)
@pytest.mark.parametrize("place", ["root", "member", "item", "key"])
def test_failure_shows_nothing_of_the_value(schema: object, place: str) -> None:
    schemas = {
        "root": (schema, "canary"),
        "member": ({"additionalProperties": schema}, {"canary": "canary"}),
        "item": ({"items": schema}, ["canary"]),
        "key": ({"propertyNames": schema}, {"canary": 1}),
    }
    failures = judge(*schemas[place])
    assert failures
    assert "canary" not in repr(failures)


def test_undeclared_key_is_starred_in_what_is_shown_and_exact_in_the_data() -> None:
    (failure,) = judge({"additionalProperties": {"type": "integer"}}, {"canary": "x"})
    assert failure.pointer == "/*"
    assert isinstance(failure.data, dict)
    assert failure.data["pointer"] == "/canary"


def test_draft_4_reads_exclusive_bounds_as_words_beside_the_bound() -> None:
    layer = SchemaLayer({"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True, "maximum": 2})
    assert layer.judge(Decimal("1.0000000000000000001")) == ()
    assert layer.judge(2) == ()
    assert layer.judge(1) != ()


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema"])
def test_siblings_of_a_reference_are_ignored_up_to_draft_7(draft: str) -> None:
    schema = {"$ref": "#/definitions/a", "pattern": "^b$", "definitions": {"a": {"type": "string"}}}
    assert SchemaLayer({"$schema": draft, **schema}).judge("a") == ()
    assert SchemaLayer(schema).judge("a") != ()


def test_failures_are_bounded() -> None:
    assert len(judge({"items": {"type": "string"}}, [1] * (FAILURES_KEPT - 1))) == FAILURES_KEPT - 1
    assert len(judge({"items": {"type": "string"}}, [1] * (FAILURES_KEPT + 1))) == FAILURES_KEPT


def test_hostile_pattern_takes_linear_time() -> None:
    assert judge({"pattern": "^(a+)+$"}, "a" * 100_000 + "b")[0].code == "pattern"


@pytest.mark.parametrize("schema", [{"type": "nothing"}, {"minLength": -1}, {"properties": 3}])
def test_what_is_no_schema_is_an_error(schema: object) -> None:
    with pytest.raises(SchemaError):
        SchemaLayer(schema)


def test_reference_out_of_the_schema_opens_no_socket_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("true")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(0.0)
        monkeypatch.chdir(tmp_path)
        references = [
            f"http://127.0.0.1:{port}/schema.json",
            outside.as_uri(),
            "outside.json",
            "#/$defs/missing",
        ]
        for reference in references:
            for schema in ({"$ref": reference}, {"properties": {"a": {"$ref": reference}}}):
                with pytest.raises(SchemaError):
                    SchemaLayer(schema)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("name", ["ä", "a b", "a%25b", "日本", 'q"'])
def test_reference_in_any_characters_is_followed(name: str) -> None:
    layer = SchemaLayer({"$ref": f"#/$defs/{name}", "$defs": {name.replace("%25", "%"): {"type": "null"}}})
    assert layer.judge(None) == ()
    assert layer.judge(1) != ()


def test_word_like_a_reference_inside_a_constant_is_left_alone() -> None:
    layer = SchemaLayer({"const": {"$ref": "ä"}})
    assert layer.judge({"$ref": "ä"}) == ()
