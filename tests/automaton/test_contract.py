"""Contracts: what builds, what is refused with which place, and what the digests depend on."""

from __future__ import annotations

import copy
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Annotated, Literal, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field, PastDate, TypeAdapter, WithJsonSchema
from typing_extensions import TypedDict

from commitgate.automaton import compile
from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind
from commitgate.contract import Contract
from commitgate.errors import (
    ContractError,
    LimitExceededError,
    MisuseError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedError,
)
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.json_value import JsonValue
from commitgate.languages import Edge
from commitgate.limits import Limits
from commitgate.lint import lint
from commitgate.template import ContractTemplate, EnumValues


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"pattern": r"^(a|b)\1$"}, "pattern"),
        ({"patternProperties": {r"(.)\1": {}}}, "patternProperties"),
        ({"$ref": "https://example.com/other.json"}, "$ref"),
        ({"$ref": "other.json#/$defs/a"}, "$ref"),
        ({"$dynamicRef": "https://example.com/other.json#node"}, "$dynamicRef"),
        ({"$id": "https://example.com/own", "$schema": "https://example.com/own-draft"}, "$schema"),
    ],
)
def test_keyword_that_cannot_be_enforced_is_refused_with_its_place(schema: dict[str, JsonValue], keyword: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Contract.json_schema({"type": "object", "properties": {"a/b": schema}})
    assert caught.value.keyword == keyword
    assert caught.value.pointer == "/properties/a~1b"
    assert caught.value.reason


@pytest.mark.parametrize("uri", ["https://json-schema.org/draft/2099-01/schema", "http://json-schema.org/schema#", "x"])
def test_unknown_draft_is_refused(uri: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        Contract.json_schema({"$schema": uri, "type": "integer"})
    assert (caught.value.pointer, caught.value.keyword) == ("", "$schema")


ANNOTATIONS: dict[str, JsonValue] = {
    "$comment": "c",
    "title": "t",
    "description": "d",
    "default": "x",
    "examples": ["x"],
    "deprecated": True,
    "readOnly": True,
    "writeOnly": True,
    "contentEncoding": "base64",
    "contentMediaType": "application/json",
    "contentSchema": {"type": "null"},
}
NAMES: dict[str, JsonValue] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$vocabulary": {},
    "$id": "https://example.com/x",
    "$anchor": "x",
    "$dynamicAnchor": "x",
    "$recursiveAnchor": True,
    "id": "https://example.com/x",
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_annotation_neither_constrains_nor_is_refused(name: str) -> None:
    contract = Contract.json_schema({name: ANNOTATIONS[name], "type": "integer"})
    assert compile(contract).accepts(b"1")
    assert contract.language_digest == Contract.json_schema({"type": "integer"}).language_digest


@pytest.mark.parametrize("name", NAMES)
def test_name_of_a_schema_constrains_nothing(name: str) -> None:
    contract = Contract.json_schema({name: NAMES[name], "type": "integer"})
    automaton = compile(contract)
    assert contract.language_digest == Contract.json_schema({"type": "integer"}).language_digest
    assert automaton.accepts(b"1")
    assert not automaton.accepts(b'"1"')
    assert [row.keyword for row in automaton.support] == ["type"]


def test_every_annotation_of_the_keyword_table_is_held_to_that() -> None:
    table = {name for name, known in KEYWORDS.items() if known.kind is Kind.ANNOTATION}
    assert table <= ANNOTATIONS.keys() | NAMES.keys()


@pytest.mark.parametrize("schema", [{"x-own": 1}, {"format": "own-format"}, {"nullable": True}])
def test_unknown_word_is_an_annotation(schema: dict[str, JsonValue]) -> None:
    assert compile(schema).accepts(b'"anything"')


@pytest.mark.parametrize(
    ("schema", "pointer", "keyword"),
    [
        ({"type": "strin"}, "", "type"),
        ({"type": []}, "", "type"),
        ({"properties": {"a": 3}}, "/properties/a", None),
        ({"properties": []}, "", "properties"),
        ({"required": ["a", "a"]}, "", "required"),
        ({"required": "a"}, "", "required"),
        ({"items": [{}]}, "", "items"),
        ({"minLength": -1}, "", "minLength"),
        ({"minLength": 1.5}, "", "minLength"),
        ({"maxItems": True}, "", "maxItems"),
        ({"anyOf": []}, "", "anyOf"),
        ({"enum": "a"}, "", "enum"),
        ({"$ref": "#/$defs/missing"}, "", "$ref"),
        ({"$ref": 3}, "", "$ref"),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "/$defs/b", "$ref"),
        ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "", "$ref"),
        ({"const": float("nan")}, "/const", None),
        ({"const": float("inf")}, "/const", None),
        ({"const": Decimal("1e500")}, "/const", None),
        ({"const": "\ud800"}, "/const", None),
        ({"const": {"\udc00": 1}}, "/const", None),
    ],
)
def test_malformed_schema_is_refused_with_its_place(
    schema: dict[str, JsonValue], pointer: str, keyword: str | None
) -> None:
    with pytest.raises(SchemaError) as caught:
        Contract.json_schema(schema)
    assert (caught.value.pointer, caught.value.keyword) == (pointer, keyword)


@pytest.mark.parametrize("schema", [{"const": {1, 2}}, {"const": object()}, {"const": (1, 2)}, {"const": {1: 2}}])
def test_schema_that_is_not_json_is_refused(schema: dict[str, JsonValue]) -> None:
    with pytest.raises(SchemaError):
        Contract.json_schema(schema)


@pytest.mark.parametrize("schema", [None, "x", 3, [1], (1,), {1}, print, test_schema_that_is_not_json_is_refused])
def test_value_that_is_no_schema_is_misuse(schema: object) -> None:
    with pytest.raises(MisuseError):
        Contract.of(schema)  # pyright: ignore[reportCallIssue, reportArgumentType] - the wrong type is the point


@pytest.mark.parametrize(
    ("schema", "advice"),
    [('{"type": "string"}', "json.loads"), (b"{}", "json.loads"), (int, "Contract.of"), (None, "dict"), ([{}], "dict")],
)
def test_value_that_is_no_json_schema_is_misuse_with_the_way_out(schema: dict[str, object], advice: str) -> None:
    with pytest.raises(MisuseError, match=advice):
        Contract.json_schema(schema)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("style", "compact"),
        ("limits", {"nesting": 3}),
        ("numbers", "decimals"),
        ("formats", "asert"),
        ("formats", ["assert"]),
        ("documents", [{}]),
    ],
)
def test_argument_of_the_wrong_kind_is_misuse(name: str, value: str) -> None:
    with pytest.raises(MisuseError, match=name):
        Contract[JsonValue](name="n", schema={}, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("dialect", "gen"), ("formats", "asert"), ("style", "compact"), ("limits", 3), ("documents", [{}])],
)
@pytest.mark.parametrize("given", [{}, Contract.json_schema({})])
def test_compiling_with_an_argument_of_the_wrong_kind_is_misuse(given: JsonValue, name: str, value: str) -> None:
    with pytest.raises(MisuseError, match=name):
        compile(given, **{name: value})


@pytest.mark.parametrize(("name", "value"), [("formats", "asert"), ("documents", [{}]), ("documents", {"a": {}})])
def test_schema_layer_with_an_argument_of_the_wrong_kind_is_misuse(name: str, value: str) -> None:
    with pytest.raises(MisuseError, match=name.removesuffix("s")):
        SchemaLayer({}, **{name: value})


def test_text_that_is_no_bytes_is_misuse() -> None:
    automaton = compile(True)
    text = cast("bytes", "1")
    for read in (automaton.accepts, automaton.acceptor().feed):
        with pytest.raises(MisuseError, match="bytes"):
            read(text)
    assert automaton.accepts(bytearray(b"1"))


def rule_of_ours(_value: object) -> None:
    """Find nothing wrong."""


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda contract: pickle.loads(pickle.dumps(contract))])
@pytest.mark.parametrize(
    "contract",
    [
        Contract.json_schema({"$ref": "https://example.com/a"}, documents={"https://example.com/a": {"type": "null"}}),
        Contract.json_schema({"type": "null"}, name="n", version="2", numbers="decimal", rules=[rule_of_ours]),
        Contract.of(TypeAdapter(dict[str, list[int] | None])),
    ],
)
def test_contract_can_be_copied_and_pickled(
    contract: Contract[object], copied: Callable[[Contract[object]], Contract[object]]
) -> None:
    other = copied(contract)
    assert (other.full_digest, other.language_digest) == (contract.full_digest, contract.language_digest)
    assert (other.rules, other.documents, other.numbers) == (contract.rules, contract.documents, contract.numbers)
    assert compile(other).accepts(b"null") is compile(contract).accepts(b"null")
    assert (other.type_adapter is None) is (contract.type_adapter is None)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (False, ""),
        ({"enum": []}, ""),
        ({"type": "string", "enum": [1, None]}, ""),
        ({"type": "string", "minLength": 3, "maxLength": 2}, ""),
        ({"type": "array", "minItems": 2, "maxItems": 1}, ""),
        ({"type": "array", "minItems": 1, "items": False}, "/items"),
        ({"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}, "/properties/a"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, "/additionalProperties"),
        ({"type": "object", "properties": {"me": {"$ref": "#"}}, "required": ["me"]}, ""),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "type": "integer"}, ""),
        ({"const": 1.5, "type": "integer"}, ""),
    ],
)
def test_schema_without_any_value_is_refused_with_the_contradiction(
    schema: bool | dict[str, JsonValue], pointer: str
) -> None:
    with pytest.raises(UnsatisfiableError) as caught:
        Contract.json_schema(schema)
    assert caught.value.pointer == pointer


def test_impossible_optional_part_is_left_out_and_not_refused() -> None:
    schema: JsonValue = {"type": "object", "properties": {"a": False, "b": {"type": "null"}}}
    generate, accept = compile(schema, dialect="generate"), compile(schema)
    assert generate.accepts(b'{"b": null}')
    assert not generate.start.walk(b'{"a').nullable
    assert not accept.accepts(b'{"a": 1}')
    assert accept.accepts(b'{"b": null}')


LIMITED: list[tuple[str, int, JsonValue, JsonValue]] = [
    ("schema_bytes", 20, {"title": "abcd"}, {"title": "abcdefghijk"}),
    ("schema_nesting", 3, {"items": {"items": {}}}, {"items": {"items": {"items": {"items": {}}}}}),
    ("properties", 2, {"properties": {"a": {}, "b": {}}}, {"properties": {"a": {"properties": {"b": {}, "c": {}}}}}),
    ("enum_values", 2, {"enum": [1, 2]}, {"enum": [1, 2, 3]}),
    ("nodes", 3, {"items": {"type": "null"}}, {"prefixItems": [{"type": "null"}, {"type": "string"}]}),
    ("nesting", 2, {"const": [[1]]}, {"const": [[[1]]]}),
]


@pytest.mark.parametrize(("name", "limit", "at", "over"), LIMITED)
def test_limit_lets_through_what_is_at_it_and_refuses_what_is_over(
    name: str, limit: int, at: JsonValue, over: JsonValue
) -> None:
    limits = Limits(**{name: limit})
    compile(at, limits=limits)
    compile(over)
    with pytest.raises(LimitExceededError) as caught:
        compile(over, limits=limits)
    assert caught.value.limit_name == name
    assert caught.value.limit == limit
    assert caught.value.found > limit


@pytest.mark.parametrize(
    ("at", "over", "keyword"),
    [
        ({"enum": [[1], [2]]}, {"enum": [[1], [2], [3]]}, "enum"),
        ({"anyOf": [{"type": "object"}, {"type": "array"}]}, {"anyOf": [{"minItems": n} for n in (1, 2, 3)]}, "anyOf"),
        ({"oneOf": [{"type": "object"}, {"type": "array"}]}, {"oneOf": [{"minItems": n} for n in (1, 2, 3)]}, "oneOf"),
    ],
)
def test_alternatives_past_their_limit_are_checked_later_and_never_narrowed(
    at: JsonValue, over: JsonValue, keyword: str
) -> None:
    limits = Limits(branches=2)
    assert {row.level for row in compile(at, limits=limits).support} == {"decoded"}
    assert {row.level for row in compile(over).support} == {"decoded"}
    wide = compile(over, limits=limits)
    assert next(row for row in wide.support if row.keyword == keyword).level == "checked"
    assert wide.accepts(b"[1]")
    assert wide.accepts(b'{"a": 1}')


def test_long_chain_of_references_is_read_and_a_long_chain_of_branches_refused() -> None:
    chain: dict[str, JsonValue] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(3000)}
    chain["d3000"] = {"type": "null"}
    assert compile({"$defs": chain, "$ref": "#/$defs/d0"}).accepts(b"null")
    branches: dict[str, JsonValue] = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"type": "string"}]} for n in range(3000)
    }
    branches["d3000"] = {"type": "null"}
    with pytest.raises(LimitExceededError) as caught:
        compile({"$defs": branches, "$ref": "#/$defs/d0"})
    assert caught.value.limit_name == "reference_depth"


def test_doubling_by_reference_stays_small() -> None:
    doubled: dict[str, JsonValue] = {
        f"d{n}": {"prefixItems": [{"$ref": f"#/$defs/d{n + 1}"}] * 2, "minItems": 2} for n in range(30)
    }
    doubled["d30"] = {"type": "null"}
    automaton = compile({"$defs": doubled, "$ref": "#/$defs/d0"}, dialect="generate")
    assert automaton.acceptor().feed(b"[" * 30 + b"null")


def test_large_enum_is_one_small_term_at_each_step() -> None:
    values = [f"value-{number:06d}" for number in range(20_000)]
    automaton = compile({"enum": values}, dialect="generate")
    assert automaton.accepts(b'"value-019999"')
    assert not automaton.accepts(b'"value-020000"')
    assert len(automaton.arena) < 100


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    label: str = Field(min_length=1, max_length=9)
    weights: dict[str, float] = {}
    colours: list[Colour] = []


class Whole(BaseModel):
    id: str | None = None
    kind: Literal["a", "b"] = "a"
    count: int
    pair: tuple[int, str] = (1, "")
    part: Part
    parent: Whole | None = None
    anything: object = None


@dataclass
class Point:
    x: float
    y: float = 0.0


class Row(TypedDict):
    name: str


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Whole, b'{"count": 1, "part": {"label": "x"}, "parent": {"count": 2, "part": {"label": "y"}}}'),
        (Point, b'{"x": 1.5}'),
        (Row, b'{"name": "n"}'),
        (list[Point], b'[{"x": 1}]'),
        (int, b"3"),
        (Literal["a", "b"], b'"b"'),
        (Colour, b'"red"'),
        (str | None, b"null"),
        (TypeAdapter(dict[str, list[int]]), b'{"a": [1]}'),
    ],
)
def test_schema_that_pydantic_writes_compiles_in_both_dialects(kind: type[object], text: bytes) -> None:
    contract = Contract.of(kind)
    assert compile(contract).accepts(text)
    assert compile(contract, dialect="generate").accepts(text)
    assert contract.type_adapter is not None


def test_prose_changes_the_full_digest_alone() -> None:
    bare, told = Contract.json_schema({"type": "string"}), Contract.json_schema({"type": "string", "title": "t"})
    assert bare.language_digest == told.language_digest
    assert bare.full_digest != told.full_digest


@pytest.mark.parametrize(
    "other", [{"type": "integer"}, {"type": "string", "maxLength": 3}, {"const": {"title": "t"}}, True]
)
def test_constraint_changes_the_language_digest(other: bool | dict[str, JsonValue]) -> None:
    assert Contract.json_schema(other).language_digest != Contract.json_schema({"type": "string"}).language_digest


def test_value_of_a_constant_is_not_taken_for_prose() -> None:
    first, second = {"const": {"title": "a"}}, {"const": {"title": "b"}}
    assert Contract.json_schema(first).language_digest != Contract.json_schema(second).language_digest


def test_schema_changed_after_the_contract_was_built_changes_nothing() -> None:
    schema: dict[str, JsonValue] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    contract = Contract.json_schema(schema)
    before = contract.language_digest
    schema["properties"] = {}
    assert contract.schema != schema
    assert Contract.of(contract, name="other").language_digest == before


def test_support_lists_each_constraining_keyword_with_its_place() -> None:
    rows = compile({"type": "object", "title": "t", "properties": {"a": {"maxLength": 3}}}).support
    assert {(row.keyword, row.pointer, row.level) for row in rows} == {
        ("type", "", "decoded"),
        ("properties", "", "decoded"),
        ("maxLength", "/properties/a", "decoded"),
    }


def test_every_refusal_is_a_contract_error_with_a_sentence() -> None:
    for schema in ({"pattern": "("}, {"type": "x"}, {"enum": []}):
        with pytest.raises(ContractError, match=r"\w+ .+"):
            Contract.json_schema(schema)


def test_numbers_of_a_contract_can_be_chosen_anew() -> None:
    given = Contract.json_schema({"type": "number"}, numbers="decimal")
    assert Contract.of(given).numbers == "decimal"
    assert Contract.of(given, version="2").numbers == "decimal"
    assert Contract.of(given, numbers="float").numbers == "float"
    assert Contract.of(Contract.json_schema({"type": "number"}), numbers="decimal").numbers == "decimal"


def test_schema_that_a_reference_reaches_below_an_annotation_counts_in_the_digest() -> None:
    def hidden(name: str) -> Contract[JsonValue]:
        return Contract.json_schema({"$ref": "#/x-types/a", "x-types": {"a": {"type": name}}})

    assert compile(hidden("integer")).accepts(b"1")
    assert hidden("integer").language_digest != hidden("boolean").language_digest


def test_number_and_the_text_of_it_have_different_digests() -> None:
    number, text = Contract.json_schema({"const": Decimal("1.5")}), Contract.json_schema({"const": "1.5"})
    assert number.language_digest != text.language_digest
    assert number.language_digest == Contract.json_schema({"const": 1.5}).language_digest
    assert Contract.json_schema({"const": True}).language_digest != Contract.json_schema({"const": 1}).language_digest


def test_schema_that_holds_itself_is_refused_and_not_followed_for_ever() -> None:
    schema: dict[str, JsonValue] = {"type": "object"}
    schema["properties"] = {"me": schema}
    with pytest.raises(LimitExceededError) as caught:
        Contract.json_schema(schema)
    assert caught.value.limit_name == "schema_nesting"


def test_schema_far_deeper_than_the_limit_is_a_typed_error() -> None:
    schema: dict[str, JsonValue] = {}
    for _ in range(5_000):
        schema = {"items": schema}
    with pytest.raises(LimitExceededError):
        Contract.json_schema(schema)


def test_parts_shared_in_memory_count_as_often_as_they_are_written() -> None:
    part: JsonValue = [1]
    for _ in range(60):
        part = [part, part]
    with pytest.raises(LimitExceededError) as caught:
        Contract.json_schema({"const": part})
    assert caught.value.limit_name == "schema_bytes"


class Price(BaseModel):
    amount: Decimal


@pytest.mark.parametrize("kind", [complex, Literal[Colour.RED]])
def test_type_that_texts_of_its_schema_seldom_make_is_refused(kind: type[object]) -> None:
    with pytest.raises(SchemaError, match="no JSON Schema to steer a model with"):
        Contract.of(kind)


def test_keys_that_are_numbers_are_written_as_such() -> None:
    automaton = compile(Contract.of(dict[int, str]), dialect="generate")
    assert automaton.accepts(b'{"12": "x", "-3": "y"}')
    assert not automaton.accepts(b'{"a": "x"}')
    assert not automaton.accepts(b'{"1.5": "x"}')


def test_decimal_is_written_as_a_number() -> None:
    automaton = compile(Contract.of(Price), dialect="generate")
    assert automaton.accepts(b'{"amount": 1.25}')
    assert not automaton.accepts(b'{"amount": "1.25"}')


@pytest.mark.parametrize("reference", ["#/anyOf/" + "9" * 5000, "#/anyOf/00", "#/anyOf/01", "#/anyOf/-1", "#/anyOf/٠"])
def test_reference_to_no_index_of_an_array_names_nothing(reference: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile({"$ref": reference, "anyOf": [True]})
    assert caught.value.keyword == "$ref"


@pytest.mark.parametrize("reference", ["#/$defs/%", "#/$defs/%Z1", "#/$defs/a%2"])
def test_reference_with_half_an_escape_is_refused(reference: str) -> None:
    with pytest.raises(SchemaError, match="%25"):
        compile({"$ref": reference, "$defs": {"%": True, "a%2": True}})


@pytest.mark.parametrize("name", ["ä", "a b", "a/b", "a~b", "a%b", "日本", 'q"'])
def test_reference_reaches_a_name_of_any_characters(name: str) -> None:
    token = name.replace("%", "%25").replace("~", "~0").replace("/", "~1")
    assert compile({"$ref": f"#/$defs/{token}", "$defs": {name: {"type": "null"}}}).accepts(b"null")


class Number(IntEnum):
    """Stand for an integer with a name."""

    ONE = 1


class Text(str):
    """Stand for a text that spells itself in a way of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        return "other"

    __repr__ = __str__


class Fraction(float):
    """Stand for a number that spells itself in a way of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Fraction"


def test_subclasses_of_plain_types_count_as_what_they_hold() -> None:
    odd = Contract.json_schema({Text("enum"): [Fraction(1.5), Text("a"), Number.ONE]})
    assert odd.language_digest == Contract.json_schema({"enum": [1.5, "a", 1]}).language_digest
    assert isinstance(odd.schema, dict)
    values = odd.schema["enum"]
    assert isinstance(values, list)
    assert [type(value) for value in values] == [float, str, int]


@pytest.mark.timeout(10)
def test_huge_integer_is_refused_without_spelling_it() -> None:
    with pytest.raises(SchemaError, match="beyond 10 to the 400"):
        Contract.json_schema({"const": 1 << 2**24})


def test_type_that_names_an_unknown_one_is_misuse() -> None:
    with pytest.raises(MisuseError):
        Contract.of(list["Unknown"])  # noqa: F821 - the unknown name is the point


def test_instance_of_a_model_is_refused_with_what_to_pass() -> None:
    with pytest.raises(MisuseError, match="pass the class Price itself") as caught:
        Contract.of(Price(amount=Decimal("1.25")))  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert "1.25" not in str(caught.value)


@dataclass
class Parcel:
    weight: int


class Bare:
    pass


class Abstract(ABC):
    @abstractmethod
    def do(self) -> None: ...


TEMPLATE = ContractTemplate.of({"enum": EnumValues("names", most=2)})


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (Parcel(1), "^schema is an instance of Parcel; pass the class Parcel itself$"),
        (Edge("a", "b", "c"), "^schema is an instance of Edge;"),
        (EnumValues("names", most=2), "^schema is an instance of EnumValues;"),
        (Bare(), "^schema is an instance of Bare; pass the class Bare itself$"),
        (TEMPLATE, r"^schema is a template; fill it first: template.fill\(...\)$"),
        (Bare, "is not a type that pydantic can read"),
        (Abstract, "is not a type that pydantic can read"),
        (list[Bare], "is not a type that pydantic can read"),
        (object(), "is not a type that pydantic can read"),
    ],
)
def test_instance_in_place_of_its_class_is_misuse(schema: object, said: str) -> None:
    for make in (Contract.of, lint):
        with pytest.raises(MisuseError, match=said):
            cast("Callable[[object], object]", make)(schema)


def test_schema_may_be_any_mapping() -> None:
    contract = Contract.json_schema(MappingProxyType({"type": "integer"}))
    assert contract.schema == {"type": "integer"}


def test_reference_to_nothing_is_refused_also_where_no_value_reaches_it() -> None:
    with pytest.raises(SchemaError) as caught:
        compile({"const": None, "prefixItems": [{"$ref": "#/$defs/gone"}]})
    assert (caught.value.pointer, caught.value.keyword) == ("/prefixItems/0", "$ref")


class Meeting(BaseModel):
    title: str
    start: Annotated[datetime, Field(gt=datetime(2026, 1, 1))]


class Calendar(BaseModel):
    meetings: list[Meeting] = []


@dataclass
class Birth:
    name: str
    day: PastDate | None


class Births(TypedDict):
    found: list[PastDate]


class Called(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    inside: list[Callable[[], int]]


class Held(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    one: int
    inside: dict[str, int]
    other: Callable[[], int]


class Odd:
    pass


class Odds(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    odd: Odd


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    [
        (Meeting, "the field Meeting.start", "bounds on a moment"),
        (Calendar, "the field Meeting.start", "bounds on a moment"),
        (list[Calendar], "the field Meeting.start", "bounds on a moment"),
        (Birth, "the field Birth.day", "depends on the clock"),
        (Births, "the field Births.found", "depends on the clock"),
        (Called, "the field Called.inside", "a callable"),
        (Held, "the field Held.other", "a callable"),
        (Odds, "the field Odds.odd", "instances of Odd"),
        (PastDate, "this type", "depends on the clock"),
    ],
)
def test_refused_type_is_named_by_its_field_with_the_way_out(kind: type[object], place: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Contract.of(kind)
    assert str(caught.value).startswith(f"{place} has no JSON Schema to steer a model with: ")
    assert reason in str(caught.value)
    assert WithJsonSchema.__name__ in str(caught.value)
