"""The type layer: numbers as the type wants them, strict JSON, defaults, and no value in a failure."""

import dataclasses
import datetime
import enum
import uuid
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, field_validator
from typing_extensions import TypedDict

from commitgate.contract import Contract
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer


def typed(schema: object, text: str, **options: Any) -> object:
    """Return the value, or the failures as a tuple."""
    contract = Contract.of(schema, **options)
    parsed = strict_parse(text.encode(), nesting=64)
    assert isinstance(parsed, Parsed)
    result = TypeLayer(contract).judge(parsed.value)
    return result.value if isinstance(result, Typed) else result


def same(found: object, wanted: object) -> bool:
    return found == wanted and repr(found) == repr(wanted)


NUMBERS = {"type": "object", "properties": {"i": {"type": "integer"}, "n": {"type": "number"}}}


@pytest.mark.parametrize(
    ("text", "as_float", "as_decimal"),
    [
        ('{"i":1.0}', {"i": 1}, {"i": 1}),
        ('{"i":1e3}', {"i": 1000}, {"i": 1000}),
        ('{"i":9007199254740993}', {"i": 9007199254740993}, {"i": 9007199254740993}),
        ('{"n":1.0}', {"n": 1.0}, {"n": Decimal("1.0")}),
        ('{"n":1}', {"n": 1}, {"n": 1}),
        ('{"n":0.10}', {"n": 0.1}, {"n": Decimal("0.10")}),
        ('{"other":1.50}', {"other": 1.5}, {"other": Decimal("1.50")}),
    ],
)
def test_plain_json_spells_numbers_as_asked(text: str, as_float: object, as_decimal: object) -> None:
    assert same(typed(NUMBERS, text), as_float)
    assert same(typed(NUMBERS, text, numbers="decimal"), as_decimal)


@pytest.mark.parametrize(
    ("schema", "text", "wanted"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "[1.0]", [1]),
        ({"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "number"}}, "[1.0,1.0]", [1, 1.0]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "1.0", 1),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "2e0", 2),
        ({"type": ["integer", "null"]}, "2e0", 2),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, '{"a":1.0}', {"a": 1}),
        ({"type": "integer"}, "1.0", 1),
        ({"type": "number"}, "1.0", 1.0),
    ],
)
def test_integer_is_found_wherever_the_schema_says_it(schema: object, text: str, wanted: object) -> None:
    assert same(typed(schema, text), wanted)


def test_recursive_reference_is_followed() -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    schema = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    assert same(typed(schema, '{"next":{"next":{"n":3.0}}}'), {"next": {"next": {"n": 3}}})


class Float(BaseModel):
    x: float


class Exact(BaseModel):
    x: Decimal


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400", "1" + "0" * 400])
def test_number_that_no_float_can_hold_is_refused(number: str) -> None:
    failures = typed(Float, f'{{"x":{number}}}')
    assert isinstance(failures, tuple)
    (failure,) = failures
    assert isinstance(failure, Failure)
    assert (failure.layer, failure.code, failure.pointer) == (Layer.TYPE, "not_representable", "/x")


def test_plain_json_refuses_what_no_float_can_hold_unless_decimals_are_asked_for() -> None:
    assert isinstance(typed(NUMBERS, '{"n":1e400}'), tuple)
    assert same(typed(NUMBERS, '{"n":1e400}', numbers="decimal"), {"n": Decimal("1e400")})


@pytest.mark.parametrize("number", ["0.12345678901234567890123456789", "1.10", "1e400", "-0.0", "7", "1" + "0" * 40])
@pytest.mark.parametrize(
    "shape", [Exact, Annotated[Decimal, Field()], list[Decimal], dict[str, Decimal], Decimal | None]
)
def test_decimal_fields_keep_every_digit(shape: Any, number: str) -> None:
    frames = {Exact: '{{"x":{}}}', list[Decimal]: "[{}]", dict[str, Decimal]: '{{"k":{}}}'}
    found = typed(TypeAdapter(shape), frames.get(shape, "{}").format(number))
    value = found.x if isinstance(found, Exact) else found
    if isinstance(value, list):
        (value,) = value
    if isinstance(value, dict):
        value = value["k"]
    assert isinstance(value, Decimal)
    assert str(value) == str(Decimal(number))


class Colour(enum.Enum):
    RED = "red"


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    colour: Colour
    at: datetime.datetime
    pair: tuple[int, ...]
    tags: set[str]
    id: uuid.UUID
    kind: Literal["a"]
    many: int = 3
    anything: Any = None


def test_strict_model_takes_what_json_can_say() -> None:
    text = (
        '{"colour":"red","at":"2026-01-02T03:04:05Z","pair":[1,2.0],"tags":["x"],'
        '"id":"12345678-1234-5678-1234-567812345678","kind":"a","anything":1.5}'
    )
    found = _judged(Strict, text)
    assert isinstance(found, Strict)
    assert found.colour is Colour.RED
    assert found.pair == (1, 2)
    assert found.many == 3, "defaults are filled in"
    assert found.anything == 1.5


def _judged(shape: Any, text: str) -> object:
    """Judge by a contract that is wide enough for any type."""
    wide = dataclasses.replace(Contract.of(True), type_adapter=TypeAdapter(shape))
    parsed = strict_parse(text.encode(), nesting=64)
    assert isinstance(parsed, Parsed)
    result = TypeLayer(wide).judge(parsed.value)
    return result.value if isinstance(result, Typed) else result


@dataclasses.dataclass
class Point:
    x: int
    y: list[float]


class Named(TypedDict):
    x: int


@pytest.mark.parametrize(
    ("shape", "text", "wanted"),
    [
        (Point, '{"x":1.0,"y":[1,2.5]}', Point(1, [1.0, 2.5])),
        (Named, '{"x":1}', {"x": 1}),
        (list[int], "[1.0,2]", [1, 2]),
        (dict[str, int], '{"a":1e1}', {"a": 10}),
        (int, "1.0", 1),
        (float, "1", 1.0),
        (bool, "true", True),
        (str, '"1"', "1"),
        (int | str, '"1"', "1"),
        (Literal["a", "b"], '"b"', "b"),
    ],
)
def test_value_is_of_the_type_asked_for(shape: Any, text: str, wanted: object) -> None:
    assert same(typed(TypeAdapter(shape), text), wanted)


def _refuse(value: int) -> int:
    raise ValueError(f"canary {value}")


def _break(value: object) -> object:
    raise ZeroDivisionError("canary")


class Refusing(BaseModel):
    n: Annotated[int, BeforeValidator(_refuse)]


class Breaking(BaseModel):
    n: Annotated[int, BeforeValidator(_break)]


class Nested(BaseModel):
    pets: list[Refusing]

    @field_validator("pets")
    @classmethod
    def keep(cls, pets: list[Refusing]) -> list[Refusing]:
        return pets


def test_refusing_validator_is_a_failure_at_its_place_without_its_words() -> None:
    failures = typed(Nested, '{"pets":[{"n":77}]}')
    assert isinstance(failures, tuple)
    (failure,) = failures
    assert (failure.code, failure.pointer, failure.retryable) == ("value_error", "/pets/0/n", True)
    assert "canary" not in repr(failure)
    assert "canary 77" in failure.data["message"]


def test_breaking_validator_is_a_fault_of_its_own() -> None:
    failures = typed(Breaking, '{"n":1}')
    assert isinstance(failures, tuple)
    (failure,) = failures
    assert (failure.code, failure.retryable) == ("validator_error", False)
    assert "canary" not in repr(failure)
