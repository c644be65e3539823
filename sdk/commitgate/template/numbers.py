"""Let a bound of a schema be a parameter: a number between two, or a length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from decimal import Decimal
from typing import cast

from commitgate.argument import check_int, wrong_kind
from commitgate.automaton.json_schema.plain_json import exact
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT
from commitgate.errors import MisuseError, ParameterError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.template.parameter import Parameter

_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const"})
_LENGTHS = frozenset(
    {
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
    }
)


@dataclass(frozen=True, slots=True)
class Number(Parameter):
    """Stand for a number: the value of ``minimum``, ``maximum``, their exclusive forms, ``multipleOf`` or ``const``.

    Args:
        name: what ``fill`` calls it.
        least: smallest number that it takes.
        most: largest number that it takes.
    """

    _: KW_ONLY
    least: int | float | Decimal
    most: int | float | Decimal

    def __post_init__(self) -> None:
        Parameter.__post_init__(self)
        if _decimal("least", self.least) > _decimal("most", self.most):
            raise MisuseError(f"least of the parameter {self.name} must not be larger than most")

    @property
    def keywords(self) -> frozenset[str]:
        """Return the keywords whose value it may be."""
        return _NUMBERS

    def value_of(self, argument: object) -> JsonValue:
        """Return the number."""
        argument = _plain_number(argument)
        try:
            number = _decimal(f"the parameter {self.name}", argument)
        except _UnboundedError:
            raise ParameterError(self.name, self._wanted()) from None
        if not exact(self.least) <= number <= exact(self.most):
            raise ParameterError(self.name, self._wanted())
        return cast("JsonValue", argument)

    def samples(self) -> Sequence[JsonValue]:
        """Return the two bounds."""
        return (self.least, self.most)

    def widest(self, keyword: str) -> JsonObject:
        """Return the schema with the bound at which it holds least off."""
        return _widest(keyword, self.least, self.most)

    def described(self) -> JsonObject:
        """Return it as a reviewer reads it."""
        return {"kind": "number", "name": self.name, "least": self.least, "most": self.most}

    def _wanted(self) -> str:
        return f"takes a number from {self.least} to {self.most}, of at most {MAX_DIGITS} digits"


@dataclass(frozen=True, slots=True)
class Count(Parameter):
    """Stand for a whole number: where ``Number`` may, and as the value of ``maxLength``, ``minItems`` and their like.

    Args:
        name: what ``fill`` calls it.
        most: largest number that it takes.
        least: smallest number that it takes, >= 0.
    """

    _: KW_ONLY
    most: int
    least: int = 0

    def __post_init__(self) -> None:
        Parameter.__post_init__(self)
        for name, bound in (("least", self.least), ("most", self.most)):
            check_int(name, bound)
            if bound.bit_length() > MAX_EXPONENT:
                raise MisuseError(f"{name} of the parameter {self.name} is too large")
        if not 0 <= self.least <= self.most:
            raise MisuseError(f"the bounds of the parameter {self.name} must be 0 <= least <= most")

    @property
    def keywords(self) -> frozenset[str]:
        """Return the keywords whose value it may be."""
        return _NUMBERS | _LENGTHS

    def value_of(self, argument: object) -> JsonValue:
        """Return the number."""
        check_int(f"the parameter {self.name}", argument)
        number = cast("int", _plain_number(argument))
        if not self.least <= number <= self.most:
            raise ParameterError(self.name, f"takes a whole number from {self.least} to {self.most}")
        return number

    def samples(self) -> Sequence[JsonValue]:
        """Return the two bounds."""
        return (self.least, self.most)

    def widest(self, keyword: str) -> JsonObject:
        """Return the schema with the bound at which it holds least off."""
        return _widest(keyword, self.least, self.most)

    def described(self) -> JsonObject:
        """Return it as a reviewer reads it."""
        return {"kind": "count", "name": self.name, "least": self.least, "most": self.most}


def _widest(keyword: str, least: float | Decimal, most: float | Decimal) -> JsonObject:
    if keyword == "const":
        return {"type": "number", "minimum": least, "maximum": most}
    if keyword == "multipleOf":
        return {}
    is_upper = keyword.startswith("max") or keyword == "exclusiveMaximum"
    return {keyword: most if is_upper else least}


def _plain_number(value: object) -> object:
    """Return a number of a class of the caller's as the plain number that it holds, and all else as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return Decimal(value) if isinstance(value, Decimal) else value


class _UnboundedError(MisuseError):
    """Raised for a number that no schema can hold."""


def _decimal(name: str, value: object) -> Decimal:
    """Return a number as a decimal.

    Raises:
        MisuseError: it is none, or one that no schema can hold (``_UnboundedError``).
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise wrong_kind(name, "a number", value)
    unbounded = _UnboundedError(
        f"{name} must be finite, of at most {MAX_DIGITS} digits, below 10 to the {MAX_EXPONENT}"
    )
    # Turning a huge integer into digits takes time by the square of its size; its bits tell enough.
    if isinstance(value, int) and value.bit_length() > 4 * MAX_EXPONENT:
        raise unbounded
    number = exact(value)
    if not number.is_finite() or len(number.as_tuple().digits) > MAX_DIGITS:
        raise unbounded
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise unbounded
    return number


__all__ = ["Count", "Number"]
