"""Write JSON values so that equal ones are written alike: for comparing facts, and for digests.

Two values are equal where JSON Schema says so (core 4.2.2): numbers by their value however written, objects whatever
the order of their keys, true never as 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from math import isfinite
from typing import cast

from commitgate.errors import MisuseError

MAX_NESTING = 200
"""Deepest nesting of a value that is compared: as deep as the strict parse goes."""


def canonical(value: object) -> str:
    """Return one text for all values that are equal as JSON.

    Raises:
        MisuseError: it is no JSON, or nested deeper than ``MAX_NESTING``.
    """
    return _written(value, MAX_NESTING)


def digest_of(value: object) -> str:
    """Return the hexadecimal SHA-256 of the canonical text.

    Raises:
        MisuseError: as of ``canonical``.
    """
    return sha256(canonical(value).encode()).hexdigest()


def _written(value: object, room: int) -> str:
    if room < 0:
        raise MisuseError(f"a JSON value is nested deeper than {MAX_NESTING} levels")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        # In ASCII, because a text may hold half a surrogate pair, which UTF-8 cannot encode.
        return json.dumps(value)
    if isinstance(value, int | float | Decimal):
        return _number(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        if not all(isinstance(key, str) for key in members):
            raise MisuseError("a JSON object has keys of text alone")
        pairs = sorted((cast(str, key), member) for key, member in members.items())
        return "{" + ",".join(f"{json.dumps(key)}:{_written(member, room - 1)}" for key, member in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_written(item, room - 1) for item in cast("list[object]", value)) + "]"
    raise MisuseError(f"a JSON value is wanted, found {type(value).__name__}")


def _number(value: float | Decimal) -> str:
    if not isfinite(value):
        raise MisuseError("a number of JSON is finite, found one that is not")
    # Of a float its shortest text counts: 0.1 is one tenth, as it is in a case file.
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    sign, digits, exponent = exact.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    kept = text.rstrip("0")
    if not kept:
        return "0"
    return f"{'-' if sign else ''}{kept}e{cast(int, exponent) + len(text) - len(kept)}"


__all__ = ["MAX_NESTING", "canonical", "digest_of"]
