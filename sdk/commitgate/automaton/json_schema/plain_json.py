"""Check that a schema is plain JSON, before anything is read out of it."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import cast

from commitgate.automaton.numbers import MAX_EXPONENT
from commitgate.errors import LimitExceededError, SchemaError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits
from commitgate.pointer import child


def check_size(root: JsonValue, limits: Limits) -> None:
    """Check that the schema is JSON at all, and within its limits of nesting and size.

    Raises:
        SchemaError: it holds something that JSON cannot.
        LimitExceededError: it is nested deeper or is larger than a limit.
    """
    _check_json(root, limits)
    text = json.dumps(root, ensure_ascii=False, separators=(",", ":"), default=str)
    if len(text.encode()) > limits.schema_bytes:
        raise too_large("schema_bytes", limits.schema_bytes, len(text.encode()), "")


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


def _check_json(root: JsonValue, limits: Limits) -> None:
    stack: list[tuple[object, str, int]] = [(root, "", 0)]
    while stack:
        value, pointer, depth = stack.pop()
        if depth > limits.schema_nesting:
            raise too_large("schema_nesting", limits.schema_nesting, depth, pointer)
        if isinstance(value, dict):
            for key, item in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    raise SchemaError(f"a key at {pointer or 'the root'} is not a string", pointer=pointer)
                _check_text(key, pointer)
                stack.append((item, child(pointer, key), depth + 1))
        elif isinstance(value, list):
            items = cast("list[object]", value)
            stack.extend((item, child(pointer, index), depth + 1) for index, item in enumerate(items))
        elif isinstance(value, float | int | Decimal) and not isinstance(value, bool):
            _check_number(value, pointer)
        elif isinstance(value, str):
            _check_text(value, pointer)
        elif not (value is None or isinstance(value, bool)):
            raise SchemaError(
                f"the value at {pointer or 'the root'} is a {type(value).__name__}, which is not JSON; "
                "pass plain dicts, lists, strings, numbers, booleans and None",
                pointer=pointer,
            )


def _check_text(text: str, pointer: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SchemaError(
            f"a string at {pointer or 'the root'} holds half a surrogate pair, which no UTF-8 text can; correct it",
            pointer=pointer,
        )


def _check_number(value: float | Decimal, pointer: str) -> None:
    number = exact(value)
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
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def kind_of(value: object) -> str:
    """Return the JSON type of a value in words."""
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


__all__ = ["check_size", "exact", "kind_of", "too_large"]
