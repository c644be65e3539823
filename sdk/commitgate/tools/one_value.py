"""Find the end of one JSON value in bytes that arrive piece by piece, and say whether a whole text is one.

The finder knows brackets and strings alone. It says nothing of whether the bytes are JSON; it need not: as long as they
are, it knows the end of the value to the byte, and once they are not, the gate refuses the text for good.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Never

BLANK = b" \t\r\n"
"""JSON's white space."""

_OUTSIDE = re.compile(rb'["\[\]{}]')
_INSIDE = re.compile(rb'["\\]')


class ValueEnd:
    """Follow one object or array to its closing bracket. Each byte is looked at once.

    Attributes:
        is_whole: its last byte was read.
    """

    __slots__ = ("_depth", "_is_escaped", "_is_in_string", "is_whole")

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_string = False
        self._is_escaped = False
        self.is_whole = False

    def feed(self, data: bytes | bytearray, start: int = 0) -> int:
        """Read on.

        Args:
            data: holds the next bytes; white space may stand before the value.
            start: offset at which they begin.

        Returns:
            The offset behind the last byte of the value; short of the end of ``data`` only where the value is whole.
        """
        at = start
        while at < len(data) and not self.is_whole:
            at = self._in_string(data, at) if self._is_in_string else self._outside(data, at)
        return at

    def _in_string(self, data: bytes | bytearray, at: int) -> int:
        if self._is_escaped:
            self._is_escaped = False
            return at + 1
        found = _INSIDE.search(data, at)
        if found is None:
            return len(data)
        self._is_escaped = found[0] == b"\\"
        self._is_in_string = self._is_escaped
        return found.end()

    def _outside(self, data: bytes | bytearray, at: int) -> int:
        found = _OUTSIDE.search(data, at)
        if found is None:
            return len(data)
        if found[0] == b'"':
            self._is_in_string = True
        elif found[0] in b"[{":
            self._depth += 1
        else:
            self._depth -= 1
            self.is_whole = self._depth <= 0
        return found.end()


def is_one_value(text: bytes) -> bool:
    """Return whether a text is exactly one JSON value in UTF-8, white space around it aside."""
    with suppress(ValueError, RecursionError):
        json.loads(text.decode(), parse_constant=_no_constant)
        return True
    return False


def is_blank(text: bytes | bytearray) -> bool:
    """Return whether a text is JSON white space alone, or nothing."""
    return not text.strip(BLANK)


def _no_constant(name: str) -> Never:
    raise ValueError(name)


__all__ = ["BLANK", "ValueEnd", "is_blank", "is_one_value"]
