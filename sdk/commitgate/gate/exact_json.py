"""Write JSON values as text without losing a digit: integers and decimals keep what they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

from commitgate.json_value import JsonValue


def encode(value: JsonValue) -> bytes:
    """Return ``value`` as compact JSON in UTF-8; the same value always gives the same bytes.

    Args:
        value: finite numbers alone; nested at most as deep as the strict parse allows.
    """
    return "".join(_pieces(value)).encode()


def _pieces(value: JsonValue) -> Iterator[str]:
    match value:
        case dict():
            opening = "{"
            for key, member in value.items():
                yield opening + json.dumps(key, ensure_ascii=False) + ":"
                yield from _pieces(member)
                opening = ","
            yield "{}" if opening == "{" else "}"
        case list():
            opening = "["
            for item in value:
                yield opening
                yield from _pieces(item)
                opening = ","
            yield "[]" if opening == "[" else "]"
        case Decimal():
            yield str(value)
        case _:
            yield json.dumps(value, ensure_ascii=False, allow_nan=False)


__all__ = ["encode"]
