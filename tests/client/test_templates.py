"""A template's schema is fixed but for its parameters; what fills them stays within bounds and changes nothing else."""

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from unicodedata import normalize

import pytest
from guide import blocks_of, run_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts import client_with

from commitgate import Contract, ContractTemplate, Limits, Risk
from commitgate.automaton import compile
from commitgate.errors import (
    LimitExceededError,
    MisuseError,
    NotationError,
    ParameterError,
    SchemaError,
    UnsatisfiableError,
    UnsupportedError,
)
from commitgate.gate.hidden_characters import hidden_characters
from commitgate.outcome import Committed
from commitgate.template import Count, EnumValues, Number, OneOfSchemas, Text
from commitgate.testing import ScriptedBackend

INVOICE = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
NOTE = {"type": "string", "maxLength": 20}


def order_schema() -> dict[str, Any]:
    return {
        "title": "order",
        "type": "object",
        "properties": {
            "customer": {"const": Text("customer", characters=20)},
            "region": {"type": "string", "enum": EnumValues("regions", most=3, characters=10)},
            "amount": {"type": "number", "minimum": 0, "maximum": Number("limit", least=0, most=10_000)},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": Count("tags", most=5)},
            "item": OneOfSchemas("item", {"invoice": INVOICE, "note": NOTE}),
        },
        "required": ["region", "amount", "item"],
        "additionalProperties": False,
    }


ORDER = ContractTemplate.of(order_schema())
GIVEN: dict[str, Any] = {"customer": "c-1", "regions": ["north", "south"], "limit": 500, "tags": 2, "item": "invoice"}


def accepts(contract: Contract[Any], value: object) -> bool:
    return compile(contract).accepts(json.dumps(value).encode())


def test_filled_contract_is_that_of_the_schema_with_the_values_in_it() -> None:
    schema = order_schema()
    properties = schema["properties"]
    properties["customer"] = {"const": "c-1"}
    properties["region"]["enum"] = ["north", "south"]
    properties["amount"]["maximum"] = 500
    properties["tags"]["maxItems"] = 2
    properties["item"] = INVOICE
    filled = ORDER.fill(**GIVEN)
    assert filled.schema == schema
    by_hand = Contract.json_schema(schema)
    assert (filled.full_digest, filled.language_digest) == (by_hand.full_digest, by_hand.language_digest)
    assert (filled.name, filled.template_digest) == ("order", ORDER.digest)
    assert accepts(filled, {"region": "south", "amount": 500, "item": {"number": 1}})
    assert not accepts(filled, {"region": "east", "amount": 500, "item": {"number": 1}})
    assert not accepts(filled, {"region": "south", "amount": 501, "item": {"number": 1}})
    assert not accepts(filled, {"region": "south", "amount": 500, "item": "text"})


@pytest.mark.anyio
async def test_filled_contract_is_used_in_a_call_like_any_other() -> None:
    backend = ScriptedBackend([{"text": '{"region":"north","amount":2,"item":"x"}'}, {"finish": "stop"}])
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", ORDER.fill(**{**GIVEN, "item": "note"}), prompt="x")
    assert isinstance(outcome, Committed)
    assert outcome.value == {"region": "north", "amount": 2, "item": "x"}


def nfc(text: str) -> str:
    return normalize("NFC", text)


VISIBLE = st.text(
    st.characters(exclude_categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me"]), min_size=1, max_size=8
).filter(lambda text: not hidden_characters(text))
MANY = ContractTemplate.of(
    {
        "type": "object",
        "properties": {"a": {"enum": EnumValues("values", most=6, characters=8)}, "b": {"const": Text("one")}},
        "required": ["a"],
        "additionalProperties": False,
    }
)


@settings(max_examples=60, deadline=None)
@given(st.lists(VISIBLE, min_size=1, max_size=6, unique_by=nfc), VISIBLE, VISIBLE)
def test_any_texts_within_bounds_are_accepted_there_and_nothing_else_is(texts: list[str], one: str, other: str) -> None:
    filled = MANY.fill(values=texts, one=one)
    automaton = compile(filled)
    for text in {*texts, one, other, texts[0] + "x"}:
        for value in (text, [text], {"enum": text}):
            assert automaton.accepts(json.dumps({"a": value}).encode()) == (value in texts)
            assert automaton.accepts(json.dumps({"a": texts[0], "b": value}).encode()) == (value == one)
    assert filled.schema == {
        "type": "object",
        "properties": {"a": {"enum": texts}, "b": {"const": one}},
        "required": ["a"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("text", ['"}', '", "type": "object', "$ref", "\\u0022", "{}", "a/b~1", "%2f", "null"])
def test_text_that_looks_like_a_schema_is_a_text(text: str) -> None:
    template = ContractTemplate.of({"properties": {"a": {"enum": EnumValues("values", most=1)}}, "required": ["a"]})
    filled = template.fill(values=[text])
    assert filled.schema == {"properties": {"a": {"enum": [text]}}, "required": ["a"]}
    assert accepts(filled, {"a": text})
    assert not accepts(filled, {"a": "x"})


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GIVEN.items() if key != name}


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"regions": "north"}, "the parameter regions must be a list of str, found str"),
        ({"regions": {"north"}}, "regions must be a list of str, found set"),
        ({"regions": [1]}, "number 1 of the parameter regions must be a str, found int"),
        ({"limit": "500"}, "the parameter limit must be a number, found str"),
        ({"limit": True}, "limit must be a number, found bool"),
        ({"tags": 1.0}, "the parameter tags must be an int, found float"),
        ({"tags": True}, "tags must be an int, found bool"),
        ({"customer": ["c"]}, "the text of the parameter customer must be a str, found list"),
        ({"item": INVOICE}, "the parameter item must be the name of one of its schemas, found dict"),
        ({"surprise": 1}, "fill takes the parameters customer, regions, limit, tags, item: 1 unknown$"),
    ],
)
def test_argument_of_the_wrong_kind_is_misuse(change: dict[str, Any], wanted: str) -> None:
    with pytest.raises(MisuseError, match=wanted) as raised:
        ORDER.fill(**{**GIVEN, **change})
    assert "surprise" not in str(raised.value)


class LongText(str):
    """Say that it is short."""

    def __len__(self) -> int:
        return 1


class SmallNumber(int):
    """Say that it is within every bound."""

    def __le__(self, other: object) -> bool:
        return True

    __ge__ = __le__


class SmallDecimal(Decimal):
    """Say that it is small."""

    def __str__(self) -> str:
        return "5"

    __repr__ = __str__


class ShortList(list[str]):
    """Say that it is short."""

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "change",
    [
        {"regions": ShortList(["a", "b", "c", "d"])},
        {"regions": [LongText("a" * 11)]},
        {"customer": LongText("c" * 21)},
        {"tags": SmallNumber(6)},
        {"limit": SmallNumber(10_001)},
        {"limit": SmallDecimal(10_001)},
    ],
)
def test_value_counts_for_what_it_is_and_not_for_what_its_class_says(change: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        ORDER.fill(**{**GIVEN, **change})


def test_values_of_own_classes_become_plain_ones() -> None:
    filled = ORDER.fill(**{**GIVEN, "limit": SmallNumber(500), "regions": [LongText("north")]})
    properties: Any = cast("Any", filled.schema)["properties"]
    assert type(properties["amount"]["maximum"]) is int
    assert type(properties["region"]["enum"][0]) is str


def test_misspelled_name_is_told_beside_the_one_that_it_resembles() -> None:
    with pytest.raises(MisuseError, match=r"regions missing; region is unknown, did you mean regions\?$"):
        ORDER.fill(**without("regions"), region=["north"])


def test_faulty_pattern_is_told_with_its_parameter() -> None:
    with pytest.raises(NotationError, match=r"^the pattern of the parameter codes: .*character 0") as raised:
        EnumValues("codes", most=2, pattern="[a")
    assert raised.value.position == 0


@pytest.mark.parametrize("name", list(GIVEN))
def test_missing_argument_is_named(name: str) -> None:
    with pytest.raises(MisuseError, match=f": {name} missing"):
        ORDER.fill(**without(name))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("regions", [], "takes 1 to 3 texts, found 0"),
        ("regions", ["a", "b", "c", "d"], "takes 1 to 3 texts, found 4"),
        ("regions", ["a", "b", "a"], "takes different texts; numbers 1 and 3 are the same"),
        ("regions", ["\u00e9", "e\u0301"], "numbers 1 and 2 are the same"),
        ("regions", ["a", "secret-text"], "takes texts of 1 to 10 characters; number 2 has 11"),
        ("regions", [""], "number 1 has 0"),
        ("customer", "", "the text has 0"),
        ("customer", "x" * 21, "the text has 21"),
        ("limit", -1, "takes a number from 0 to 10000"),
        ("limit", 10_000.5, "takes a number from 0 to 10000"),
        ("limit", float("nan"), "takes a number from 0 to 10000"),
        ("limit", float("inf"), "takes a number from 0 to 10000"),
        ("limit", Decimal("sNaN"), "takes a number from 0 to 10000"),
        ("limit", Decimal("1e-999999"), "takes a number from 0 to 10000"),
        ("limit", Decimal("0." + "1" * 1_001), "of at most 1000 digits"),
        pytest.param("limit", 10**100_000, "takes a number from 0 to 10000", id="huge"),
        ("tags", 6, "takes a whole number from 0 to 5"),
        ("tags", -1, "takes a whole number from 0 to 5"),
        ("item", "secret-name", "takes the name of one of its 2 schemas"),
    ],
)
def test_value_out_of_bounds_is_refused_by_its_parameters_name(name: str, value: object, wanted: str) -> None:
    with pytest.raises(ParameterError, match=wanted) as raised:
        ORDER.fill(**{**GIVEN, name: value})
    assert raised.value.parameter == name
    assert name in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["a\n", "\x1b[2J", "a\tb", "\x00", "\u202eabc", "a\u200bb", "\u2028", "\ue000", "\ud800", "a\u00adb\u00ad\u00ad"],
)
@pytest.mark.parametrize("name", ["regions", "customer"])
def test_text_that_acts_on_its_reader_or_hides_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParameterError, match="takes no characters that control, break lines, hide or are private"):
        ORDER.fill(**{**GIVEN, name: [text] if name == "regions" else text})


def test_values_at_the_bounds_are_taken() -> None:
    for limit in (0, 10_000, 10_000.0, Decimal("0.1")):
        filled = ORDER.fill(customer="x" * 20, regions=("a" * 10, "b", "c"), limit=limit, tags=5, item="note")
        assert accepts(filled, {"region": "b", "amount": 0, "item": "x"})


def test_pattern_matches_each_text_from_end_to_end() -> None:
    template = ContractTemplate.of({"enum": EnumValues("codes", most=4, pattern="[A-Z]{2}|x+")})
    assert template.fill(codes=["AB", "xxx"]).schema == {"enum": ["AB", "xxx"]}
    for bad in ("ABC", "aAB", "AB ", "y"):
        with pytest.raises(
            ParameterError, match="takes texts that its pattern matches from end to end; not so number 2"
        ):
            template.fill(codes=["AB", bad])
    with pytest.raises(NotationError):
        EnumValues("codes", most=4, pattern="(")


def test_values_that_no_value_satisfies_are_found_when_it_is_filled() -> None:
    template = ContractTemplate.of(
        {"type": "integer", "minimum": Number("low", least=0, most=9), "maximum": Number("high", least=0, most=9)}
    )
    assert accepts(template.fill(low=3, high=3), 3)
    with pytest.raises(UnsatisfiableError):
        template.fill(low=4, high=3)


def test_template_whose_bounds_cross_in_every_sample_is_made_all_the_same() -> None:
    template = ContractTemplate.of(
        {"type": "integer", "minimum": Number("low", least=5, most=9), "maximum": Number("high", least=4, most=8)}
    )
    assert accepts(template.fill(low=5, high=8), 7)


def at(place: str, parameter: object) -> Any:
    """Return a schema with a parameter at one place."""
    schemas: dict[str, Any] = {
        "minimum": {"type": "integer", "minimum": parameter},
        "maxLength": {"type": "string", "maxLength": parameter},
        "enum": {"enum": parameter},
        "enum item": {"enum": ["x", parameter]},
        "const": {"const": parameter},
        "const below": {"const": {"enum": parameter}},
        "default": {"default": parameter},
        "title": {"title": parameter},
        "examples": {"examples": [{"enum": parameter}]},
        "property": {"properties": {"enum": parameter}},
        "items": {"items": parameter},
        "required": {"required": parameter},
        "required item": {"required": [parameter]},
        "type": {"type": parameter},
        "pattern": {"pattern": parameter},
        "unknown": {"unknown": {"enum": parameter}},
        "$ref": {"$ref": parameter},
        "draft 4": {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "number",
            "maximum": 1,
            "exclusiveMaximum": parameter,
        },
        "multipleOf": {"multipleOf": parameter},
        "beside a reference": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"a": {}},
            "properties": {"b": {"$ref": "#/definitions/a", "enum": parameter}},
        },
        "$defs": {"$defs": {"a": {"enum": parameter}}},
    }
    return schemas[place]


KINDS: dict[str, Callable[[], object]] = {
    "enum": lambda: EnumValues("p", most=2),
    "text": lambda: Text("p"),
    "number": lambda: Number("p", least=0.5, most=2),
    "count": lambda: Count("p", most=2),
    "zero": lambda: Number("p", least=0, most=2),
    "schemas": lambda: OneOfSchemas("p", {"a": True}),
}
RIGHT = {
    ("minimum", "number"),
    ("minimum", "count"),
    ("minimum", "zero"),
    ("multipleOf", "number"),
    ("maxLength", "count"),
    ("enum", "enum"),
    ("const", "text"),
    ("const", "number"),
    ("const", "count"),
    ("const", "zero"),
    ("property", "schemas"),
    ("items", "schemas"),
    ("$defs", "enum"),
}
PLACES = [
    "minimum",
    "maxLength",
    "enum",
    "enum item",
    "const",
    "const below",
    "default",
    "title",
    "examples",
    "property",
    "items",
    "required",
    "required item",
    "type",
    "pattern",
    "unknown",
    "$ref",
    "draft 4",
    "multipleOf",
    "beside a reference",
    "$defs",
]


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("place", PLACES)
def test_parameter_stands_only_where_its_kind_constrains(place: str, kind: str) -> None:
    schema = at(place, KINDS[kind]())
    if (place, kind) in RIGHT:
        assert list(ContractTemplate.of(schema).parameters) == ["p"]
    else:
        with pytest.raises((SchemaError, UnsupportedError)):
            ContractTemplate.of(schema)


def test_misplaced_parameter_is_named_with_its_place() -> None:
    with pytest.raises(SchemaError, match="the parameter p must be the value of enum, where it constrains") as raised:
        ContractTemplate.of({"properties": {"a/b": {"default": EnumValues("p", most=2)}}})
    assert raised.value.pointer == "/properties/a~1b/default"


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"title": EnumValues("p", most=2)}, "the parameter p must be the value of enum, .* found at /title"),
        ({"type": Text("p")}, "the parameter p must be the value of const, .* found at /type"),
        ({"$ref": Text("p")}, "the parameter p must be the value of const, .* found at /\\$ref"),
        ({"properties": {"enum": EnumValues("p", most=2)}}, "must be the value of enum, .* found at /properties/enum"),
        ({"pattern": Text("p")}, "the parameter p must be the value of const, .* found at /pattern"),
    ],
)
def test_misplaced_parameter_is_told_as_that_where_its_samples_break_the_schema_too(schema: Any, wanted: str) -> None:
    with pytest.raises(SchemaError, match=wanted):
        ContractTemplate.of(schema)


def test_parameters_of_a_template_cannot_be_exchanged_under_its_digest() -> None:
    template = ContractTemplate.of({"type": "string", "maxLength": Count("p", most=5)})
    template.parameters["p"] = Count("p", most=50)
    with pytest.raises(ParameterError):
        template.fill(p=50)
    template.described["name"] = "another"
    assert template.described["name"] == "schema"


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda: ContractTemplate.of({"type": "string"}), "has no parameters"),
        (lambda: ContractTemplate.of("x"), "schema must be a dict in which parameters stand"),
        (lambda: ContractTemplate.of(Number("p", least=0, most=1)), "schema must be a dict"),
        (
            lambda: ContractTemplate.of(
                {"anyOf": [{"enum": EnumValues("p", most=2)}, {"enum": EnumValues("p", most=3)}]}
            ),
            "two different parameters have the name p",
        ),
        (lambda: ContractTemplate.of({"enum": EnumValues("p", most=2)}, name=3), "name must be a str"),
        (lambda: ContractTemplate.of({"enum": EnumValues("p", most=2)}, risk="effect"), "risk must be a Risk"),
        (lambda: ContractTemplate.of({"enum": EnumValues("p", most=2)}, limits=3), "limits must be a Limits"),
        (lambda: EnumValues("1p", most=2), "the name of a parameter must be a letter"),
        (lambda: EnumValues("p" * 65, most=2), "the name of a parameter must be a letter"),
        (lambda: EnumValues(3, most=2), "name must be a str"),
        (lambda: EnumValues("p", most=0), "1 <= least <= most"),
        (lambda: EnumValues("p", most=2, least=0), "1 <= least <= most"),
        (lambda: EnumValues("p", most=2, least=3), "1 <= least <= most"),
        (lambda: EnumValues("p", most=2.0), "most must be an int"),
        (lambda: EnumValues("p", most=2, characters=0), "characters of the parameter p must be >= 1"),
        (lambda: EnumValues("p", most=2, pattern=3), "pattern must be a str or None"),
        (lambda: Number("p", least=2, most=1), "least of the parameter p must not be larger than most"),
        (lambda: Number("p", least=0, most=float("inf")), "most must be finite"),
        (lambda: Number("p", least="0", most=1), "least must be a number, found str"),
        (lambda: Count("p", least=-1, most=1), "0 <= least <= most"),
        (lambda: Count("p", most=1.5), "most must be an int"),
        (lambda: Count("p", most=10**1_000), "most of the parameter p is too large"),
        (lambda: OneOfSchemas("p", {}), "must have 1 to 100 schemas, found 0"),
        (lambda: OneOfSchemas("p", {str(n): True for n in range(101)}), "found 101"),
        (lambda: OneOfSchemas("p", [True]), "schemas of the parameter p must be a dict"),
        (lambda: OneOfSchemas("p", {"a": 3}), "each schema of the parameter p must be a dict or a boolean"),
        (lambda: OneOfSchemas("p", {" ": True}), "is blank"),
        (lambda: OneOfSchemas("p", {"a": {"enum": EnumValues("q", most=1)}}), "hold no parameters of their own"),
    ],
)
def test_template_that_contradicts_itself_is_misuse(make: Callable[[], object], wanted: str) -> None:
    with pytest.raises(MisuseError, match=wanted):
        make()


@pytest.mark.parametrize(
    "schema", [{"$parameter": 1}, {"properties": {"$parameter": {}}}, {"enum": [{"$parameter": 1}]}]
)
def test_key_by_which_parameters_are_shown_is_no_key_of_a_schema(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"the key \$parameter"):
        ContractTemplate.of({"allOf": [schema], "enum": EnumValues("p", most=2)})
    with pytest.raises(SchemaError, match=r"the key \$parameter"):
        OneOfSchemas("p", {"a": schema})


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        ({"enum": EnumValues("p", most=2), "type": "strange"}, SchemaError),
        ({"enum": EnumValues("p", most=2), "x": {1, 2}}, SchemaError),
        ({"enum": EnumValues("p", most=2), 3: 4}, SchemaError),
        ({"items": OneOfSchemas("p", {"a": {"type": "strange"}})}, SchemaError),
        ({"items": OneOfSchemas("p", {"a": True, "b": {"$ref": "#/$defs/missing"}})}, SchemaError),
        ({"items": OneOfSchemas("p", {"a": True, "b": {"pattern": "(?<!a)b\\1"}})}, (SchemaError, UnsupportedError)),
        ({"enum": EnumValues("p", most=100_001, characters=1)}, LimitExceededError),
        ({"enum": EnumValues("p", most=10_000_000)}, LimitExceededError),
        ({"enum": EnumValues("p", most=10, characters=1_000_000)}, LimitExceededError),
        ({"const": Text("p", characters=1_000_000)}, LimitExceededError),
    ],
)
def test_schema_that_some_values_would_break_makes_no_template(schema: Any, error: Any) -> None:
    with pytest.raises(error):
        ContractTemplate.of(schema)


def test_schema_that_holds_itself_is_refused() -> None:
    schema: dict[str, Any] = {"enum": EnumValues("p", most=2)}
    schema["not"] = schema
    with pytest.raises(LimitExceededError):
        ContractTemplate.of(schema)


def test_largest_fill_is_within_the_limits_that_the_template_has() -> None:
    limits = Limits(enum_values=10)
    ContractTemplate.of({"enum": EnumValues("p", most=10)}, limits=limits)
    with pytest.raises(LimitExceededError, match="the parameter p can take 11 texts") as raised:
        ContractTemplate.of({"enum": EnumValues("p", most=11)}, limits=limits)
    assert (raised.value.limit_name, raised.value.limit, raised.value.found) == ("enum_values", 10, 11)


def test_longest_texts_are_counted_before_they_are_made() -> None:
    limits = Limits(schema_bytes=2_000)
    for parameter in (EnumValues("p", most=10, characters=40), Text("p", characters=400)):
        keyword = "enum" if isinstance(parameter, EnumValues) else "const"
        ContractTemplate.of({keyword: parameter}, limits=limits)
        larger = replace(parameter, characters=501)
        with pytest.raises(LimitExceededError, match="the parameter p can take") as raised:
            ContractTemplate.of({keyword: larger}, limits=limits)
        assert (raised.value.limit_name, raised.value.limit) == ("schema_bytes", 2_000)


def test_as_many_schemas_as_there_may_be_are_taken() -> None:
    assert len(OneOfSchemas("p", {str(number): True for number in range(100)}).names) == 100


def test_template_of_choices() -> None:
    template = ContractTemplate.of(EnumValues("teams", most=3, characters=5))
    filled = template.fill(teams=["red", "blue"])
    assert (filled.name, filled.template_digest) == ("choices", template.digest)
    assert compile(filled).accepts(b"red")
    assert not compile(filled).accepts(b'"red"')
    assert not compile(filled).accepts(b"green")


def test_template_of_whole_schemas() -> None:
    template = ContractTemplate.of(OneOfSchemas("what", {"invoice": INVOICE, "note": NOTE}), name="message")
    assert template.fill(what="note").schema == NOTE
    assert accepts(template.fill(what="invoice"), {"number": 1})
    assert template.fill(what="note").name == "message"


def test_parameter_that_stands_twice_is_filled_twice() -> None:
    regions = EnumValues("regions", most=2)
    template = ContractTemplate.of({"properties": {"from": {"enum": regions}, "to": {"enum": regions}}})
    filled = template.fill(regions=["a"])
    assert filled.schema == {"properties": {"from": {"enum": ["a"]}, "to": {"enum": ["a"]}}}


def test_checks_and_settings_of_the_template_are_those_of_its_contracts() -> None:
    def allow(value: object, context: object) -> bool:
        return True

    template = ContractTemplate.of(
        {"enum": EnumValues("p", most=2)},
        name="n",
        version="2",
        risk=Risk.EFFECT,
        refusal=True,
        authorize=allow,
        numbers="decimal",
        limits=Limits(nesting=3),
    )
    filled = template.fill(p=["a"])
    assert (filled.name, filled.version, filled.risk, filled.refusal) == ("n", "2", Risk.EFFECT, True)
    assert (filled.authorize, filled.numbers, filled.limits.nesting) == ((allow,), "decimal", 3)


def test_template_is_described_as_json_with_its_parameters_in_their_places() -> None:
    described = json.loads(json.dumps(ORDER.described))
    assert described["schema"]["properties"]["region"] == {
        "type": "string",
        "enum": {
            "$parameter": {
                "kind": "enum_values",
                "name": "regions",
                "characters": 10,
                "pattern": None,
                "least": 1,
                "most": 3,
            }
        },
    }
    assert described["schema"]["properties"]["item"] == {
        "$parameter": {"kind": "one_of_schemas", "name": "item", "schemas": {"invoice": INVOICE, "note": NOTE}}
    }


CHANGES: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "schema": lambda schema, _: schema.update(minProperties=1),
    "prose": lambda schema, _: schema.update(description="x"),
    "order of keys": lambda schema, _: schema.update(properties=dict(reversed(schema["properties"].items()))),
    "bound": lambda schema, _: schema["properties"]["amount"].update(maximum=Number("limit", least=0, most=10_001)),
    "name of a parameter": lambda schema, _: schema["properties"]["tags"].update(maxItems=Count("t", most=5)),
    "kind": lambda schema, _: schema["properties"]["amount"].update(maximum=Count("limit", least=0, most=10_000)),
    "pattern": lambda schema, _: schema["properties"].update(
        customer={"const": Text("customer", characters=20, pattern=".*")}
    ),
    "schemas to choose from": lambda schema, _: schema["properties"].update(
        item=OneOfSchemas("item", {"invoice": INVOICE})
    ),
    "name": lambda _, options: options.update(name="x"),
    "version": lambda _, options: options.update(version="x"),
    "formats": lambda _, options: options.update(formats="annotate"),
    "refusal": lambda _, options: options.update(refusal=True),
    "limits": lambda _, options: options.update(limits=Limits(nesting=3)),
    "documents": lambda _, options: options.update(documents={"urn:a": True}),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_digest_changes_with_all_that_a_reviewer_reads(change: str) -> None:
    schema, options = order_schema(), dict[str, Any]()
    CHANGES[change](schema, options)
    assert ContractTemplate.of(schema, **options).digest != ORDER.digest
    assert ContractTemplate.of(order_schema()).digest == ORDER.digest


def test_what_was_given_may_change_later_without_changing_the_template() -> None:
    schema, invoice = order_schema(), copy.deepcopy(INVOICE)
    schema["properties"]["item"] = OneOfSchemas("item", {"invoice": invoice, "note": NOTE})
    template = ContractTemplate.of(schema)
    schema["properties"]["region"]["type"] = "null"
    invoice["required"] = []
    described: Any = template.described["schema"]
    described["properties"]["item"]["$parameter"]["schemas"]["invoice"]["required"].clear()
    assert template.digest == ORDER.digest
    assert template.fill(**GIVEN).full_digest == ORDER.fill(**GIVEN).full_digest


def test_template_digest_stays_as_long_as_the_full_digest_does() -> None:
    filled = ORDER.fill(**GIVEN)

    def rule(value: object) -> None:
        return None

    assert Contract.of(filled, rules=[rule], risk=Risk.EFFECT, numbers="decimal").template_digest == ORDER.digest
    assert replace(filled, prose="strip").template_digest == ORDER.digest
    assert pickle.loads(pickle.dumps(filled)).template_digest == ORDER.digest
    assert copy.deepcopy(filled).template_digest == ORDER.digest


@pytest.mark.parametrize(
    "change",
    [
        {"schema": {"type": "string"}},
        {"name": "x"},
        {"version": "x"},
        {"limits": Limits(nesting=3)},
        {"formats": "annotate"},
        {"refusal": True},
    ],
)
def test_changed_contract_has_no_template_any_more(change: dict[str, Any]) -> None:
    changed = replace(ORDER.fill(**GIVEN), **change)
    assert (changed.template_digest, changed.filled_digest) == (None, None)
    assert replace(changed, name="order").template_digest is None


def test_digest_of_a_template_is_a_digest() -> None:
    with pytest.raises(MisuseError, match="template_digest must be a digest"):
        replace(Contract.json_schema({"type": "string"}), template_digest="abc")


def test_no_argument_is_shown_by_a_template_or_contract() -> None:
    filled = ORDER.fill(**{**GIVEN, "regions": ["secret"]})
    assert "secret" not in repr(filled) + repr(ORDER)


@pytest.mark.anyio
async def test_every_block_of_the_page_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = '{"region":"north","cents":5000,"about":{"number":7}}'
    backend = ScriptedBackend([{"text": text}, {"finish": "stop"}], name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.setenv("COMMITGATE_LEDGER", str(tmp_path / "ledger.db"))
    names = await run_blocks(blocks_of("templates.md"), "templates")
    assert names["outcome"].value == json.loads(text)
    shown = capsys.readouterr().out
    assert "regions - the parameter regions takes different texts; numbers 1 and 2 are the same" in shown
    assert f"nobody reviewed {names['wider'].full_digest}" in shown
