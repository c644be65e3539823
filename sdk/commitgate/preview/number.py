"""Walk a JSON number byte by byte, with bounds on its size.

The bounds are on: an unbounded number would make its conversion quadratic, or overflow the decimal type.
Source: RFC 8259 section 6.
"""

from __future__ import annotations

import sys
from enum import IntEnum, auto

NUMBER_BYTES = 4_096
"""Longest spelling of a number. Below Python's default bound on digits of an integer (4,300)."""
EXPONENT_DIGITS = 4
"""Most digits of an exponent, leading zeros not counted: what is shown must stay printable."""


class _Part(IntEnum):
    START = auto()
    MINUS = auto()
    ZERO = auto()
    INTEGER = auto()
    POINT = auto()
    FRACTION = auto()
    E = auto()
    SIGN = auto()
    EXPONENT_ZERO = auto()
    EXPONENT = auto()


def _row(*entries: tuple[bytes, _Part]) -> dict[int, _Part]:
    return {byte: part for members, part in entries for byte in members}


_DIGITS = b"0123456789"
_NEXT: dict[_Part, dict[int, _Part]] = {
    _Part.START: _row((b"-", _Part.MINUS), (b"0", _Part.ZERO), (b"123456789", _Part.INTEGER)),
    _Part.MINUS: _row((b"0", _Part.ZERO), (b"123456789", _Part.INTEGER)),
    _Part.ZERO: _row((b".", _Part.POINT), (b"eE", _Part.E)),
    _Part.INTEGER: _row((_DIGITS, _Part.INTEGER), (b".", _Part.POINT), (b"eE", _Part.E)),
    _Part.POINT: _row((_DIGITS, _Part.FRACTION)),
    _Part.FRACTION: _row((_DIGITS, _Part.FRACTION), (b"eE", _Part.E)),
    _Part.E: _row((b"+-", _Part.SIGN), (b"0", _Part.EXPONENT_ZERO), (b"123456789", _Part.EXPONENT)),
    _Part.SIGN: _row((b"0", _Part.EXPONENT_ZERO), (b"123456789", _Part.EXPONENT)),
    _Part.EXPONENT_ZERO: _row((b"0", _Part.EXPONENT_ZERO), (b"123456789", _Part.EXPONENT)),
    _Part.EXPONENT: _row((_DIGITS, _Part.EXPONENT)),
}
_WHOLE = frozenset((_Part.ZERO, _Part.INTEGER, _Part.FRACTION, _Part.EXPONENT_ZERO, _Part.EXPONENT))


class NumberWalk:
    """Walk one number, in as many pieces as it comes.

    Attributes:
        is_too_large: the byte at which the last walk stopped would exceed a bound.
    """

    __slots__ = ("_exponent_digits", "_most_bytes", "_part", "_size_bytes", "is_too_large")

    def __init__(self) -> None:
        self._part = _Part.START
        self._size_bytes = 0
        self._exponent_digits = 0
        # A host may have set Python's bound lower; 0 means that it has none.
        self._most_bytes = min(NUMBER_BYTES, sys.get_int_max_str_digits() or NUMBER_BYTES)
        self.is_too_large = False

    @property
    def is_whole(self) -> bool:
        """Return whether the number may end here."""
        return self._part in _WHOLE

    def walk(self, data: bytes | bytearray, at: int) -> int:
        """Return the offset of the first byte of ``data[at:]`` that does not continue the number, or its end."""
        for offset in range(at, len(data)):
            part = _NEXT[self._part].get(data[offset])
            if part is None:
                return offset
            if self._size_bytes == self._most_bytes or self._exponent_digits == EXPONENT_DIGITS:
                self.is_too_large = True
                return offset
            self._part = part
            self._size_bytes += 1
            if part is _Part.EXPONENT:
                self._exponent_digits += 1
        return len(data)


__all__ = ["EXPONENT_DIGITS", "NUMBER_BYTES", "NumberWalk"]
