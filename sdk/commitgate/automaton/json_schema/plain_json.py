"""Check that a schema is plain JSON, before anything is read out of it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import cast

from commitgate.automaton.number_text import MAX_EXPONENT, plain_number
from commitgate.errors import LimitExceededError, SchemaError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits
from commitgate.pointer import child

_HUGE_BITS = (10 ** (MAX_EXPONENT + 1)).bit_length()
_SMALL = 1 << 53
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_SPELLED_IN_ONE_WAY = frozenset({str, int, bool, type(None)})
_UNCHANGING = frozenset({*_SPELLED_IN_ONE_WAY, float})
"""Python's own types whose values need no copy."""


def plain_copy(root: JsonValue, limits: Limits) -> JsonValue:
    """Return an own copy of the schema, after checking that it is JSON at all and within its limits.

    Raises:
        SchemaError: it holds something that JSON cannot.
        LimitExceededError: it is nested deeper or is larger than a limit.
    """
    size = len(canonical(root, has_fractions=_check_json(root, limits)).encode())
    if size > limits.schema_bytes:
        raise too_large("schema_bytes", limits.schema_bytes, size, "")
    return _copy(root)


def canonical(value: JsonValue, *, has_fractions: bool | None = None) -> str:
    """Return the one text of a checked JSON value: compact, keys in their order, numbers by value (1.0 is 1).

    Args:
        value: it.
        has_fractions: what ``holds_fractions`` says of it; None looks.
    """
    spells = holds_fractions(value) if has_fractions is None else has_fractions
    return _spelled(value) if spells else _ENCODER.encode(value)


def holds_fractions(root: JsonValue) -> bool:
    """Return whether a value holds a number that may be spelled in several ways: any but an ``int``."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend([item for item in value.values() if type(item) not in _SPELLED_IN_ONE_WAY])
        elif isinstance(value, list):
            waiting.extend([item for item in value if type(item) not in _SPELLED_IN_ONE_WAY])
        elif isinstance(value, float | Decimal):
            return True
    return False


def _spelled(value: JsonValue) -> str:
    if isinstance(value, dict):
        members = (f"{_ENCODER.encode(key)}:{_spelled(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_spelled, value)) + "]"
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return plain_number(exact(value))
    return _ENCODER.encode(value)


def _copy(value: JsonValue) -> JsonValue:
    """Return the value made of Python's own types alone; subclasses of them spell themselves in ways of their own."""
    if type(value) in _UNCHANGING:
        return value
    match value:
        case dict():
            return {str.__str__(key): _copy(item) for key, item in value.items()}
        case list():
            return [_copy(item) for item in value]
        case str():
            return str.__str__(value)
        case float():
            return float.__float__(value)
        case int() if not isinstance(value, bool):
            return int.__int__(value)
        case _:
            return value


def too_large(limit_name: str, limit: int, found: int, pointer: str, keyword: str | None = None) -> LimitExceededError:
    """Return the error of a schema that exceeds a limit at a place."""
    return LimitExceededError(
        f"the schema exceeds Limits.{limit_name} = {limit} at {pointer or 'the root'}; "
        "make it smaller or raise the limit",
        limit_name=limit_name,
        limit=limit,
        found=found,
        pointer=pointer,
        keyword=keyword,
    )


def _check_json(root: JsonValue, limits: Limits) -> bool:
    """Check a value, and return whether it holds fractions."""
    has_fractions = False
    stack: list[tuple[object, str, int]] = [(root, "", 0)]
    count = 1
    while stack:
        value, pointer, depth = stack.pop()
        if depth > limits.schema_nesting:
            raise too_large("schema_nesting", limits.schema_nesting, depth, pointer)
        is_last = depth == limits.schema_nesting
        if isinstance(value, dict):
            members = cast("dict[object, object]", value)
            # Every value takes at least a byte; parts that are shared in memory count each time, as in the text.
            count += len(members)
            for key, item in members.items():
                if not isinstance(key, str):
                    raise SchemaError(f"a key at {pointer or 'the root'} is not a string", pointer=pointer)
                if not key.isascii():
                    _check_text(key, pointer)
                if is_last or not (item.isascii() if type(item) is str else _is_sound(item)):
                    stack.append((item, child(pointer, key), depth + 1))
        elif isinstance(value, list):
            items = cast("list[object]", value)
            count += len(items)
            for index, item in enumerate(items):
                if is_last or not (item.isascii() if type(item) is str else _is_sound(item)):
                    stack.append((item, child(pointer, index), depth + 1))
        elif isinstance(value, float | int | Decimal) and not isinstance(value, bool):
            _check_number(value, pointer)
            has_fractions = has_fractions or not isinstance(value, int)
        elif isinstance(value, str):
            _check_text(value, pointer)
        elif not (value is None or isinstance(value, bool)):
            raise SchemaError(
                f"the value at {pointer or 'the root'} is a {type(value).__name__}, which is not JSON; "
                "pass plain dicts, lists, strings, numbers, booleans and None",
                pointer=pointer,
            )
        if count > limits.schema_bytes:
            raise too_large("schema_bytes", limits.schema_bytes, limits.schema_bytes + 1, "")
    return has_fractions


def _is_sound(value: object) -> bool:
    """Return whether there is nothing to say about a value that is no plain string, wherever it stands."""
    return value is None or isinstance(value, bool) or (type(value) is int and abs(value) < _SMALL)


def _check_text(text: str, pointer: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SchemaError(
            f"a string at {pointer or 'the root'} holds half a surrogate pair, which no UTF-8 text can; correct it",
            pointer=pointer,
        )


def _check_number(value: float | Decimal, pointer: str) -> None:
    # Turning a huge integer into digits takes time by the square of its size; its bits tell enough.
    is_huge = isinstance(value, int) and value.bit_length() > _HUGE_BITS
    number = Decimal(f"1e{MAX_EXPONENT + 1}") if is_huge else exact(value)
    if not number.is_finite():
        raise SchemaError(
            f"the number at {pointer or 'the root'} is not finite, which JSON cannot hold", pointer=pointer
        )
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise SchemaError(
            f"the number at {pointer or 'the root'} lies beyond 10 to the {MAX_EXPONENT}; write a smaller one",
            pointer=pointer,
        )


def exact(value: float | Decimal) -> Decimal:
    """Return a schema's number as a decimal, a float as its shortest spelling means it."""
    return Decimal(float.__repr__(value)) if isinstance(value, float) else Decimal(value)


def kind_of(value: object) -> str:
    """Return the JSON type of a value in words."""
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


__all__ = ["canonical", "exact", "holds_fractions", "kind_of", "plain_copy", "too_large"]
