"""Cut the members and items out of a JSON text as they are spelled, without parsing or writing anything anew.

What a model wrote is judged and handed on byte for byte: a number read and written again may be another one. The text
must be one that the gate has accepted; then brackets, strings, commas and colons are all that has to be known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from commitgate.tools.one_value import ValueEnd

_BLANK = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^,\]} \t\r\n]+")


def members(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the keys of an object, decoded, each with its value as it is spelled.

    Args:
        text: a JSON object that was accepted, white space around it allowed.

    Raises:
        ValueError: it is none.
    """
    at = _after(text, 0, b"{")
    while not text.startswith(b"}", at):
        key, at = _value(text, at)
        at = _after(text, at, b":")
        value, at = _value(text, at)
        yield json.loads(key), value
        at = _after_value(text, at, b"}")


def items(text: bytes) -> Iterator[bytes]:
    """Yield the items of an array as they are spelled.

    Args:
        text: a JSON array that was accepted, white space around it allowed.

    Raises:
        ValueError: it is none.
    """
    at = _after(text, 0, b"[")
    while not text.startswith(b"]", at):
        value, at = _value(text, at)
        yield value
        at = _after_value(text, at, b"]")


def _value(text: bytes, at: int) -> tuple[bytes, int]:
    """Return the value that begins at an offset, and the offset of what stands behind it."""
    start = at
    if text[at : at + 1] in (b"{", b"["):
        found = ValueEnd()
        at = found.feed(text, at)
        if not found.is_whole:
            raise ValueError("the text ends inside a value")
    else:
        match = (_STRING if text[at : at + 1] == b'"' else _SCALAR).match(text, at)
        if match is None:
            raise ValueError(f"no value begins at byte {at}")
        at = match.end()
    return text[start:at], _skip(text, at)


def _after_value(text: bytes, at: int, closing: bytes) -> int:
    """Return the offset of the next member or item, or of the closing bracket."""
    return at if text.startswith(closing, at) else _after(text, at, b",")


def _after(text: bytes, at: int, mark: bytes) -> int:
    at = _skip(text, at)
    if not text.startswith(mark, at):
        raise ValueError(f"{mark.decode()} was expected at byte {at}")
    return _skip(text, at + 1)


def _skip(text: bytes, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


__all__ = ["items", "members"]
