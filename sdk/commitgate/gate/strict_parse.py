"""Parse a whole text as JSON, strictly: what RFC 8259 leaves open is refused here, and no digit is lost.

jiter 0.19 does the work. Measured with it: it refuses NaN and Infinity, equal keys (compared after unescaping), lone
surrogates in every form, a byte order mark, invalid UTF-8 and more than 201 levels. It lets pass numbers of any size,
so their size is checked here; its messages carry keys of the text, so they are never passed on. It places the end of an
unfinished text at its last byte; here it is the length of the text.
Source: RFC 8259; design, "Numbers".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from commitgate.gate.layers import Failure, Layer
from commitgate.gate.number_size import NUMBER_SIZE, oversized_number
from commitgate.json_value import JsonValue

PARSER_NESTING = 200
"""Deepest nesting that is ever parsed: just below what the parser itself can take."""

_PLACE = re.compile(r"at line (\d+) column (\d+)$")

_CODES = (
    ("Detected duplicate key", "duplicate_key", "two keys of one object are equal"),
    ("lone leading surrogate", "lone_surrogate", "half of a surrogate pair is no character"),
    ("unexpected end of hex escape", "lone_surrogate", "half of a surrogate pair is no character"),
    ("invalid unicode code point", "not_utf8", "the text is not UTF-8"),
    ("recursion limit exceeded", "nesting", f"nesting deeper than {PARSER_NESTING} levels"),
    ("number out of range", "number_size", NUMBER_SIZE),
    ("Internal error", "number_size", NUMBER_SIZE),
)

BREAKS_JSON = frozenset({"not_json", "lone_surrogate", "not_utf8"})
"""Codes of texts that are no JSON at all; the others are JSON that is refused on purpose."""

_Container: TypeAlias = "list[JsonValue] | dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class Parsed:
    """Hold a parsed value: integers as ``int``, every other number as ``Decimal`` from its lexeme."""

    value: JsonValue = field(repr=False)


def strict_parse(text: bytes, *, nesting: int) -> Parsed | Failure:
    """Parse ``text`` as one JSON value.

    Args:
        text: all of it, UTF-8.
        nesting: deepest allowed nesting of arrays and objects, >= 1; more than 200 is cut to 200.

    Returns:
        The value, or a failure of the parse layer whose ``data`` holds the byte offset as ``position``.
    """
    import jiter

    try:
        value = cast(
            JsonValue,
            jiter.from_json(
                text, allow_inf_nan=False, cache_mode="none", catch_duplicate_keys=True, float_mode="decimal"
            ),
        )
    except ValueError as error:
        return _fault(text, str(error))
    oversized = oversized_number(text)
    if oversized is not None:
        return _failure("number_size", NUMBER_SIZE, oversized)
    return _check_nesting(value, min(nesting, PARSER_NESTING)) or Parsed(value)


def _fault(text: bytes, message: str) -> Failure:
    if message.startswith("EOF"):
        return _failure("not_json", "the text is not JSON", len(text))
    place = _PLACE.search(message)
    position = _offset(text, int(place[1]), int(place[2])) if place else 0
    for start, code, words in _CODES:
        if message.startswith(start):
            return _failure(code, words, position)
    return _failure("not_json", "the text is not JSON", position)


def _offset(text: bytes, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index(b"\n", start) + 1
    return start + column - 1  # a line feed that is at fault is reported as column 0 of the next line


def _failure(code: str, message: str, position: int | None) -> Failure:
    data: JsonValue = None if position is None else {"position": position}
    return Failure(layer=Layer.PARSE, code=code, pointer="", message=message, data=data)


def _check_nesting(value: JsonValue, nesting: int) -> Failure | None:
    """Check the nesting below the parser's own limit."""
    level: list[JsonValue] = [value]
    depth = 0
    while level:
        containers: list[_Container] = [item for item in level if isinstance(item, list | dict)]
        depth += bool(containers)
        if depth > nesting:
            return _failure("nesting", f"nesting deeper than {nesting} levels", None)
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return None


__all__ = ["BREAKS_JSON", "PARSER_NESTING", "Parsed", "strict_parse"]
