"""Items of a place where no array can be: said, where the contract shows it, and never where one can be."""

from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field
from scripts import STOP, client_with

from commitgate import Choices, Contract
from commitgate.errors import MisuseError
from commitgate.pointer import child
from commitgate.run.array_place import may_hold_array, schema_may_hold_array
from commitgate.testing import ScriptedBackend, Step

OLD = "http://json-schema.org/draft-07/schema#"
CLOSED = {"additionalProperties": False}
ROWS: dict[str, Any] = {"type": "object", "properties": {"rows": {"type": "array"}, "name": {"type": "string"}}}
ROWS_TEXT: list[Step] = [{"text": '{"rows":[1,2],"name":"x"}'}, STOP]


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str
    tags: list[str] = []


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")
    lines: list[Line]
    first: Line | None = None
    kind: Literal["a", "b"] = "a"
    next: "Order | None" = None
    counts: dict[str, list[int]] = {}
    total: Annotated[Decimal, Field(ge=0)] = Decimal(0)


IMPOSSIBLE: dict[str, tuple[Any, str]] = {
    "another type": (ROWS, "/name"),
    "within another type": (ROWS, "/name/0"),
    "root of another type": (ROWS, ""),
    "closed": ({**ROWS, **CLOSED}, "/row"),
    "number of an item in an object": ({**ROWS, **CLOSED}, "/0"),
    "further keys of another type": ({**ROWS, "additionalProperties": {"type": "integer"}}, "/row"),
    "patterns of another type": ({**ROWS, **CLOSED, "patternProperties": {"^x": {"type": "integer"}}}, "/xrow"),
    "name in an array": ({"type": "array"}, "/rows"),
    "item of another type": ({"type": "array", "items": {"type": "string"}}, "/3"),
    "past the items": ({"$schema": OLD, "items": [True], "type": "array",
                        "additionalItems": False}, "/1"),
    "by a reference": ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, ""),
    "by one of all": ({"allOf": [ROWS, {"properties": {"rows": {"enum": ["x", None]}}}]}, "/rows"),
    "by every alternative": ({"anyOf": [{"type": "string"}, {"type": "object", **CLOSED}]}, "/rows"),
    "by each single one": ({"oneOf": [{"type": "string"}, {"type": "null"}]}, ""),
    "by the listed values": ({"enum": [{"rows": 1}, [[2]], 3]}, "/rows"),
    "by the one value": ({"const": {"rows": "x"}}, "/rows"),
    "false": ({"type": "object", "properties": {"rows": False}}, "/rows"),
    "of a model": (Order, "/lnes"),
    "text of a model": (Order, "/lines/0/text"),
    "number of a model": (Order, "/total"),
    "word of a model": (Order, "/kind"),
    "deep in a model": (Order, "/next/next/next/first/text"),
    "text": (Choices(["[1]"]), ""),
}  # fmt: skip

POSSIBLE: dict[str, tuple[Any, str]] = {
    "declared": (ROWS, "/rows"),
    "inside of any item": (ROWS, "/rows/7/x"),
    "further keys": (ROWS, "/row"),
    "a pattern's key": ({**ROWS, **CLOSED, "patternProperties": {"^x": {"type": "array"}}}, "/xrow"),
    "one of several types": ({"type": ["null", "array"]}, ""),
    "one alternative": ({"anyOf": [{"type": "string"}, ROWS]}, "/rows"),
    "a listed value": ({"enum": [1, {"rows": [2]}]}, "/rows"),
    "beside a reference": ({"$ref": "#/$defs/a", "$defs": {"a": True}, "type": "object"}, ""),
    "a reference to itself": ({"properties": {"a": {"$ref": "#"}}}, "/a/a/a"),
    "negation": ({"not": {"type": "array"}}, ""),
    "past the items of an old draft": (
        {"$schema": OLD, "type": "array", "items": [False], "additionalItems": {"type": "array"}},
        "/1",
    ),
    "beside what is no keyword": (
        {"$schema": OLD, "type": "array", "prefixItems": [{"type": "string"}], "items": {}},
        "/0",
    ),
    "any JSON": (True, "/x/0"),
    "of a model": (Order, "/lines"),
    "of a model's item": (Order, "/lines/12/tags"),
    "of a model's map": (Order, "/counts/a~1b"),
    "deep in a model": (Order, "/next/next/next/first/tags"),
}


@pytest.mark.anyio
@pytest.mark.parametrize(("schema", "pointer"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
async def test_items_where_no_array_can_be_are_a_misuse_at_once(schema: Any, pointer: str) -> None:
    contract = Contract.of(schema, name="the name")
    async with client_with(ScriptedBackend([])) as client:
        run = client.stream_structured("scripted", contract, prompt="x")
        with pytest.raises(MisuseError, match="must name an array, and an answer of the contract 'the name'"):
            run.items(pointer)


@pytest.mark.parametrize(("schema", "pointer"), POSSIBLE.values(), ids=POSSIBLE)
def test_items_where_an_array_can_be_are_waited_for(schema: Any, pointer: str) -> None:
    assert may_hold_array(Contract.of(schema), pointer)


@pytest.mark.anyio
@pytest.mark.parametrize("script", [ROWS_TEXT, [STOP]], ids=["answered", "nothing"])
async def test_schema_that_is_read_within_the_call_is_looked_at_then(script: list[Step]) -> None:
    async with (
        client_with(ScriptedBackend(script)) as client,
        client.stream_structured("scripted", {**ROWS, **CLOSED}, prompt="x") as run,
    ):
        items = run.items("/row")
        for _ in range(2):
            with pytest.raises(MisuseError, match="'/row' must name an array"):
                await anext(items)
        found = [item async for item in run.items("/rows")]
        assert len(found) == (2 if script is ROWS_TEXT else 0)
        await run.outcome()


@pytest.mark.anyio
async def test_what_an_open_schema_leaves_open_gives_no_items() -> None:
    async with (
        client_with(ScriptedBackend(ROWS_TEXT)) as client,
        client.stream_structured("scripted", ROWS, prompt="x") as run,
    ):
        assert [item async for item in run.items("/row")] == []


@pytest.mark.parametrize("pointer", ["rows", "/rows~2", "#/rows"])
@pytest.mark.anyio
async def test_what_is_no_pointer_is_a_misuse_at_once(pointer: str) -> None:
    async with client_with(ScriptedBackend([])) as client:
        run = client.stream_structured("scripted", ROWS, prompt="x")
        with pytest.raises(MisuseError, match="JSON pointer"):
            run.items(pointer)


def test_schemas_that_fan_out_are_walked_once() -> None:
    fanned: dict[str, Any] = {"$ref": "#/$defs/0", "$defs": {"40": {"type": "string"}}}
    for level in range(40):
        fanned["$defs"][str(level)] = {"anyOf": [{"$ref": f"#/$defs/{level + 1}"}, {"$ref": f"#/$defs/{level + 1}"}]}
    assert not schema_may_hold_array(fanned, "")


def test_schemas_and_pointers_without_an_end_are_not_followed_for_ever() -> None:
    assert schema_may_hold_array({"$ref": "#"}, "/a")
    assert schema_may_hold_array({"items": {"$ref": "#"}, "type": "array"}, "/0" * 100_000)
    chain: dict[str, Any] = {"$ref": "#/$defs/0", "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(9_000)}}
    chain["$defs"]["9000"] = {"type": "string"}
    assert schema_may_hold_array(chain, "")


keys = st.sampled_from(["a", "b", "0"])
values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, 1, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=5,
)


DIALECTS: dict[Any, str] = {
    Draft7Validator: OLD,
    Draft202012Validator: "https://json-schema.org/draft/2020-12/schema",
}


@st.composite
def schemas_of(draw: st.DrawFn, value: Any, dialect: Any, depth: int = 0) -> Any:
    """Draw a schema that allows a value, by several ways at once."""

    def inner(part: Any) -> Any:
        return draw(schemas_of(part, dialect, depth + 1)) if depth < 4 else True

    def other() -> Any:
        return draw(st.sampled_from([False, {"type": "string"}, {"const": 0}, {"type": "object", "maxProperties": 0}]))

    own = {dict: "object", list: "array", str: "string", int: "integer"}.get(type(value), "null")
    schema: dict[str, Any] = {}
    ways = [
        "type",
        "types",
        "enum",
        "const",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "object",
        "patterns",
        "items",
        "prefix",
    ]
    for way in draw(st.lists(st.sampled_from(ways), max_size=3, unique=True)):
        match way:
            case "type":
                schema["type"] = own
            case "types":
                schema["type"] = draw(st.permutations([own, "number"]))
            case "enum":
                schema["enum"] = draw(st.permutations([value, ["other"], 7]))
            case "const":
                schema["const"] = value
            case "allOf":
                schema["allOf"] = [inner(value), inner(value)]
            case "anyOf" | "oneOf":
                schema[way] = draw(st.permutations([inner(value), other()]))
            case "$ref":
                schema["$ref"] = "#/definitions/any"
                schema["type"] = own if dialect is Draft202012Validator else "string"
            case "object" if isinstance(value, dict):
                schema["properties"] = {key: inner(part) for key, part in value.items()}
                schema["additionalProperties"] = other()
            case "patterns" if isinstance(value, dict):
                first = dict(list(value.items())[:1])
                schema["patternProperties"] = {f"^{key}$": inner(part) for key, part in first.items()} | {"zz": other()}
                schema["additionalProperties"] = inner(value["b"]) if list(value) == ["a", "b"] else True
            case "items" if isinstance(value, list):
                schema["items"] = inner(value[0]) if len(value) == 1 else True
                schema.pop("additionalItems", None)
                if dialect is Draft202012Validator:  # where it is no keyword
                    schema["additionalItems"] = other()
            case "prefix" if isinstance(value, list):
                prefix, rest = ("prefixItems", "items"), ("items", "additionalItems")
                first, then = prefix if dialect is Draft202012Validator else rest
                schema[first] = [inner(part) for part in value]
                schema[then] = other()
                if dialect is Draft7Validator:
                    schema["prefixItems"] = [other()]
            case _:
                schema["properties"] = {"a": other()} if not isinstance(value, dict) else {}
    return schema


def arrays_in(value: Any, pointer: str = "") -> list[str]:
    found = [pointer] if isinstance(value, list) else []
    members = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for token, member in members:
        found += arrays_in(member, child(pointer, token))
    return found


@given(st.data(), values, st.sampled_from(list(DIALECTS)))
@settings(max_examples=200, deadline=None)
def test_no_place_of_an_array_that_a_schema_allows_is_called_impossible(
    data: st.DataObject, value: Any, dialect: Any
) -> None:
    schema = {**data.draw(schemas_of(value, dialect)), "$schema": DIALECTS[dialect], "definitions": {"any": {}}}
    assume(dialect(schema).is_valid(value))
    for pointer in arrays_in(value):
        assert schema_may_hold_array(schema, pointer), pointer
