"""Templates that no filling satisfies: said when they are made, where it can be told, and never of others."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate import Contract, ContractTemplate
from commitgate.errors import ContractError, UnsatisfiableError
from commitgate.template import Count, EnumValues, Number, OneOfSchemas, Text


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


EMPTY: dict[str, Any] = {
    "texts that must be numbers": {"type": "integer", "enum": EnumValues("values", most=3)},
    "text that must be an object": {"type": "object", "const": Text("text")},
    "texts shorter than allowed": objects(a={"enum": EnumValues("values", most=3, characters=5), "minLength": 6}),
    "bounds that never meet": {"type": "integer", "minimum": Number("low", least=10, most=20), "maximum": 9},
    "open bounds that never meet": {
        "type": "number",
        "exclusiveMinimum": Number("low", least=1, most=2),
        "exclusiveMaximum": Count("high", most=1),
    },
    "number out of its place": {"type": "number", "minimum": 5, "const": Number("number", least=1, most=4)},
    "lengths that never meet": {"type": "array", "minItems": Count("count", least=4, most=9), "maxItems": 3},
    "schemas that none can be": {
        "type": "string",
        "allOf": [OneOfSchemas("schemas", {"a": {"type": "integer"}, "b": {"type": "object"}})],
    },
    "part without parameters": objects(
        a={"enum": EnumValues("values", most=3)}, b={"type": "string", "minLength": 3, "maxLength": 2}
    ),
    "required and forbidden": {
        **objects(a={"enum": EnumValues("values", most=3)}, b=False),
    },
    "whole schema": OneOfSchemas("schemas", {"a": False, "b": {"allOf": [{"type": "null"}, {"type": "string"}]}}),
}


@pytest.mark.parametrize("schema", EMPTY.values(), ids=EMPTY)
def test_template_that_no_filling_satisfies_is_refused_when_it_is_made(schema: Any) -> None:
    with pytest.raises(UnsatisfiableError, match="whatever the template is filled with: "):
        ContractTemplate.of(schema)


FILLED: dict[str, tuple[Any, dict[str, Any]]] = {
    "between the bounds": (
        {
            "type": "integer",
            "minimum": Number("low", least=0, most=1),
            "multipleOf": 7,
            "maximum": Count("high", most=7),
        },
        {"low": 1, "high": 7},
    ),
    "in the pattern": ({"enum": EnumValues("values", most=3), "pattern": "^(north|south)$"}, {"values": ["north"]}),
    "in the limit of the text": ({"const": Text("text"), "enum": ["north"]}, {"text": "north"}),
    "under a negation": (
        {"type": "integer", "enum": [1, 2], "not": {"minimum": Number("low", least=-9, most=9), "maximum": 9}},
        {"low": 2},
    ),
    "one alone": (
        {"oneOf": [{"const": 1}, {"type": "integer", "minimum": Number("low", least=0, most=1), "maximum": 1}]},
        {"low": 0},
    ),
}


@pytest.mark.parametrize(("schema", "arguments"), FILLED.values(), ids=FILLED)
def test_template_that_one_filling_satisfies_is_made(schema: Any, arguments: dict[str, Any]) -> None:
    assert ContractTemplate.of(schema).fill(**arguments).template_digest


def test_what_turns_is_left_to_the_filling() -> None:
    schema = {"type": "integer", "enum": EnumValues("values", most=3), "not": {"const": 5}}
    with pytest.raises(UnsatisfiableError, match=r"^(?!whatever)"):
        ContractTemplate.of(schema).fill(values=["a"])


numbers = st.integers(0, 3)
turns = st.sampled_from(["not", "if", "anyOf", "allOf", "oneOf", "contains"])


@st.composite
def templates(draw: st.DrawFn) -> tuple[Any, int]:
    """Draw a schema with one number in it, and a value for that."""
    least = draw(numbers)
    most = draw(st.integers(least, 3))
    keyword = draw(
        st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "minItems", "maxItems"])
    )
    schema: Any = {keyword: Count("count", least=least, most=most)}
    for _ in range(draw(st.integers(0, 3))):
        beside = {"enum": draw(st.lists(st.sampled_from([0, 1, 2, 3, [], [1], [1, 2]]), min_size=1, max_size=4))}
        turn = draw(turns)
        if turn == "if":
            schema = {"if": schema, "then": beside, "else": draw(st.booleans())}
        elif turn in ("not", "contains"):
            schema = {turn: schema, **beside}
        else:
            schema = {turn: [schema, beside]}
    return schema, draw(st.integers(least, most))


@given(templates())
@settings(max_examples=150, deadline=None)
def test_no_template_that_a_filling_satisfies_is_called_empty(drawn: tuple[Any, int]) -> None:
    schema, count = drawn
    try:
        Contract.json_schema(_with(schema, count))
    except ContractError:
        return
    ContractTemplate.of(schema).fill(count=count)


def _with(value: Any, count: int) -> Any:
    if isinstance(value, Count):
        return count
    if isinstance(value, dict):
        return {key: _with(item, count) for key, item in value.items()}
    return [_with(item, count) for item in value] if isinstance(value, list) else value
