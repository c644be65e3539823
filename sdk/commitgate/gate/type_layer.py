"""Make the typed value out of a parsed one, after the schema has said yes.

Plain JSON. Where the schema says ``integer``, 1.0 and 1e3 become ints; every other number that is not an integer
becomes a float, or stays a ``Decimal`` where the contract asks for decimals.

Types. pydantic reads JSON *text* in strict mode: it takes strings for dates and enums and lists for tuples, as JSON
has nothing better, and still takes no string for an integer. Its own reading loses digits of ``Decimal`` fields
(measured with 2.14: numbers pass through a float), so those digits are handed over as a string, from which it makes an
exact ``Decimal``. Which places these are, is marked in a schema that is made for this purpose alone.

A number that no float can hold (1e400, or 1e-400 which would turn into 0) is a failure, never infinity or zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.places import NUMBER_KIND, Place, Schemas
from commitgate.gate.pointer import shown_pointer
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core.core_schema import DecimalSchema

    from commitgate.contract import Contract

T = TypeVar("T")
Path: TypeAlias = "tuple[str | int, ...]"

NOT_REPRESENTABLE = "not_representable"
"""Code of a number that the wanted Python type cannot hold."""

NOT_A_TEXT = "not_a_text"
"""Code of a stored value that is no text, where the contract's value is one."""

VALIDATOR_ERROR = "validator_error"
"""Code of a validator of the caller's type that broke, instead of refusing the value."""

_PAYLOAD_FREE = frozenset(
    {
        "bool_type",
        "decimal_max_digits",
        "decimal_max_places",
        "decimal_type",
        "decimal_whole_digits",
        "dict_type",
        "enum",
        "extra_forbidden",
        "finite_number",
        "float_type",
        "frozen_set_type",
        "greater_than",
        "greater_than_equal",
        "int_type",
        "less_than",
        "less_than_equal",
        "list_type",
        "literal_error",
        "missing",
        "model_type",
        "multiple_of",
        "none_required",
        "set_type",
        "string_too_long",
        "string_too_short",
        "string_type",
        "too_long",
        "too_short",
        "tuple_type",
        "union_tag_not_found",
    }
)
"""pydantic's error types whose message is made of the type's own words alone."""


@dataclass(frozen=True, slots=True)
class Typed(Generic[T]):
    """Hold a typed value."""

    value: T = field(repr=False)


class TypeLayer(Generic[T]):
    """Make values of one contract's type. Building it may generate a schema: CPU work for a worker thread.

    Args:
        contract: says which type, and how plain JSON spells its numbers.
        takes_names: fields may go by their own names beside their aliases, as in stored values.
    """

    def __init__(self, contract: Contract[T], *, takes_names: bool = False) -> None:
        self._adapter = contract.type_adapter
        self._is_text = contract.text is not None
        self._takes_names = takes_names or None
        self._keeps_decimals = contract.numbers == "decimal"
        self._schemas = Schemas(
            contract.schema if self._adapter is None else _marked_schema(self._adapter), contract.documents
        )

    def shown_pointer(self, path: Path) -> str:
        """Return the JSON pointer of ``path`` with every key that the schema does not declare written as ``*``."""
        return shown_pointer(self._schemas, path)

    def judge(self, value: JsonValue) -> Typed[T] | tuple[Failure, ...]:
        """Return the typed value, or what stands against it.

        Args:
            value: as ``strict_parse`` gives it, already valid by the schema; of a text that is no JSON, the text.
        """
        if self._is_text and not isinstance(value, str):
            # Only a row of the ledger that was written for another contract can hold one.
            return (self._failure(NOT_A_TEXT, (), "the contract's value is a text"),)
        faults: list[Path] = []
        spelled = self._spell(value, self._schemas.root, (), faults)
        if faults:
            return tuple(
                self._failure(NOT_REPRESENTABLE, path, "a number is out of a float's range") for path in faults
            )
        if self._adapter is None:
            return Typed(cast(T, spelled))
        return self._validate(self._adapter, spelled)

    def _spell(self, value: JsonValue, place: Place, path: Path, faults: list[Path]) -> JsonValue:
        """Return ``value`` with each number as the type wants it; paths of those that cannot be go to ``faults``."""
        match value:
            case dict():
                return {
                    key: self._spell(member, place.property(key), (*path, key), faults) for key, member in value.items()
                }
            case list():
                return [
                    self._spell(item, place.item(index), (*path, index), faults) for index, item in enumerate(value)
                ]
            case Decimal():
                return self._number(value, place, path, faults)
            case int() if self._adapter is not None and place.number_kinds == frozenset({"number"}):
                return value if _fits_float(Decimal(value)) else self._fault(value, path, faults)
            case _:
                return value

    def _number(self, value: Decimal, place: Place, path: Path, faults: list[Path]) -> JsonValue:
        kinds = place.number_kinds
        if self._adapter is not None and "decimal" in kinds:
            return str(value)
        if "integer" in kinds and value == value.to_integral_value():
            return int(value)
        if self._adapter is None and self._keeps_decimals:
            return value
        if not _fits_float(value):
            return self._fault(value, path, faults)
        return value if self._adapter is not None else float(value)

    @staticmethod
    def _fault(value: JsonValue, path: Path, faults: list[Path]) -> JsonValue:
        faults.append(path)
        return value

    def _validate(self, adapter: TypeAdapter[T], spelled: JsonValue) -> Typed[T] | tuple[Failure, ...]:
        from pydantic import ValidationError

        try:
            return Typed(adapter.validate_json(encode(spelled), strict=True, by_name=self._takes_names))
        except ValidationError as error:
            return self._failures(error, spelled)
        except Exception as error:  # noqa: BLE001 - validators are the caller's code and may raise anything
            message = f"a validator of the type raised {type(error).__name__}; correct it"
            return (Failure(layer=Layer.TYPE, code=VALIDATOR_ERROR, pointer="", message=message, retryable=False),)

    def _failures(self, error: ValidationError, spelled: JsonValue) -> tuple[Failure, ...]:
        found: list[Failure] = []
        for detail in error.errors(include_url=False, include_context=False, include_input=False):
            code, words = detail["type"], detail["msg"]
            message = words if code in _PAYLOAD_FREE else f"the type does not take the value ({code})"
            found.append(self._failure(code, _path_in(spelled, detail["loc"]), message, {"message": words}))
        return tuple(found)

    def _failure(self, code: str, path: Path, message: str, data: JsonObject | None = None) -> Failure:
        facts: JsonObject = {"pointer": child("", *path), **(data or {})}
        pointer = self.shown_pointer(path)
        return Failure(layer=Layer.TYPE, code=code, pointer=pointer, message=message, data=facts)


def _fits_float(value: Decimal) -> bool:
    try:
        held = float(value)
    except OverflowError:
        return False
    return isfinite(held) and (held != 0 or value == 0)


def _path_in(value: JsonValue, location: Path) -> Path:
    """Return the part of pydantic's location that leads through ``value``: it also names union members."""
    path: list[str | int] = []
    for part in location:
        child = _child(value, part)
        if child is not None:
            path.append(part)
            (value,) = child
    return tuple(path)


def _child(value: JsonValue, part: str | int) -> tuple[JsonValue] | None:
    if isinstance(value, dict) and isinstance(part, str) and part in value:
        return (value[part],)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return (value[part],)
    return None


def _marked_schema(adapter: TypeAdapter[T]) -> JsonObject:
    from pydantic.json_schema import GenerateJsonSchema

    class Marking(GenerateJsonSchema):
        def decimal_schema(self, schema: DecimalSchema) -> dict[str, object]:
            return {**super().decimal_schema(schema), NUMBER_KIND: "decimal"}

    return cast(JsonObject, adapter.json_schema(mode="validation", schema_generator=Marking))


__all__ = ["NOT_A_TEXT", "NOT_REPRESENTABLE", "VALIDATOR_ERROR", "TypeLayer", "Typed"]
