"""Write JSON so that no reader rounds its numbers: one that a double would change stands as ``{"$number": "0.10"}``.

A key that begins with ``$`` gets one ``$`` more, so that no value can look like such a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Final, cast

from commitgate.json_value import JsonValue

_NUMBER: Final = "$number"
_SAFE: Final = 2**53
"""From here on doubles, and so JavaScript's numbers, leave integers out."""
_MOST_DIGITS: Final = 4_300
"""Characters past which a number stays a ``Decimal``: an int takes time that grows with their square."""


def exact(value: object) -> JsonValue:
    """Return a value as JSON that everyone reads alike."""
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -_SAFE < value < _SAFE else {_NUMBER: _digits(value)}
    if isinstance(value, Decimal):
        return {_NUMBER: str(value)}
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value).items()
        return {_escaped(str(key)): exact(item) for key, item in members}
    if isinstance(value, Sequence):
        return [exact(item) for item in cast("Sequence[object]", value)]
    return value if isinstance(value, float) else str(value)


def inexact(value: JsonValue) -> JsonValue:
    """Return the value that was written so: integers as ints, other exact numbers as ``Decimal``.

    Raises:
        ValueError: an object looks like a number and is none.
    """
    if isinstance(value, list):
        return [inexact(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _NUMBER in value:
        return _number(value)
    return {key[1:] if key.startswith("$") else key: inexact(item) for key, item in value.items()}


def _number(found: dict[str, JsonValue]) -> JsonValue:
    text = found[_NUMBER]
    if len(found) != 1 or not isinstance(text, str):
        raise ValueError("no number")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError("no number") from None
    if not number.is_finite():
        raise ValueError("no number")
    is_whole = number.as_tuple().exponent == 0 and len(text) <= _MOST_DIGITS
    return int(number) if is_whole else number


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _digits(value: int) -> str:
    # By way of Decimal, which takes integers of any length.
    return f"{Decimal(value):f}"


__all__ = ["exact", "inexact"]
