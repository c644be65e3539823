"""Read plain text and the inside of a JSON string: whole characters, cut ones, and the first byte that fits none.

A *unit* is what spells one character: a byte of ASCII, a UTF-8 sequence, a two-letter escape, a ``\\uXXXX`` escape, or
two of these that are a surrogate pair. A text may be cut inside a unit at any byte.

Source: RFC 8259 section 7 (strings), RFC 3629 section 4 (well-formed UTF-8), Unicode section 3.8 (surrogates).
"""

from __future__ import annotations

import json
import re
from typing import cast

from commitgate.preview.state import ReaderState

_WIDE = rb"""
        [\xc2-\xdf][\x80-\xbf]
      | \xe0[\xa0-\xbf][\x80-\xbf]
      | [\xe1-\xec\xee\xef][\x80-\xbf]{2}
      | \xed[\x80-\x9f][\x80-\xbf]
      | \xf0[\x90-\xbf][\x80-\xbf]{2}
      | [\xf1-\xf3][\x80-\xbf]{3}
      | \xf4[\x80-\x8f][\x80-\xbf]{2}
"""

CHARACTERS = re.compile(rb"(?: [\x00-\x7f]++ |" + _WIDE + rb")*+", re.VERBOSE)
"""Match as many whole characters as there are; a class is possessive, so the time is linear in what is matched."""

UNITS = re.compile(
    rb"""(?:
        [ !\x23-\x5b\x5d-\x7f]++
      | """
    + _WIDE
    + rb"""
      | \\["\\/bfnrt]
      | \\u(?: [0-9A-Ca-cEFef][0-9A-Fa-f]{3}
             | [Dd][0-7][0-9A-Fa-f]{2}
             | [Dd][89ABab][0-9A-Fa-f]{2} \\u[Dd][C-Fc-f][0-9A-Fa-f]{2} )
    )*+""",
    re.VERBOSE,
)
"""Match as many whole units of the inside of a string as there are."""

_BACKSLASH = 0x5C
_HEX = b"0123456789abcdefABCDEF"
_LOW_SURROGATE = (b"\\", b"u", b"dD", b"cdefCDEF", _HEX, _HEX)


def decode_units(units: bytes) -> str:
    """Return the text that whole units spell."""
    if _BACKSLASH in units:
        # The units are known to be well-formed, so this neither fails nor lets a lone surrogate through.
        return cast("str", json.loads(b'"' + units + b'"'))
    return units.decode()


def unit_fault(data: bytes | bytearray, at: int) -> tuple[int, ReaderState] | None:
    """Find the first byte of ``data[at:]`` that no unit can have there; None where they are the start of one.

    Args:
        data: bytes of a string, cut anywhere.
        at: offset of the unit; no whole unit stands there and no closing quote.

    Returns:
        The offset of the impossible byte and the reason, or None.
    """
    first = data[at]
    if first < 0x20:
        return at, ReaderState.INVALID_CONTROL_CHAR
    if first == _BACKSLASH:
        return _escape_fault(data, at)
    return utf8_fault(data, at)


def _escape_fault(data: bytes | bytearray, at: int) -> tuple[int, ReaderState] | None:
    if at + 1 < len(data) and data[at + 1] != ord("u"):
        return at + 1, ReaderState.INVALID_ESCAPE
    digits = data[at + 2 : at + 6]
    is_surrogate = digits[:1] in (b"d", b"D")
    for offset, byte in enumerate(digits):
        if byte not in _HEX:
            return at + 2 + offset, ReaderState.INVALID_ESCAPE
        if offset == 1 and is_surrogate and byte in b"cdefCDEF":
            return at + 3, ReaderState.INVALID_LONE_SURROGATE
    # Only the first half of a pair is not yet a whole unit with its four digits.
    for offset, byte in enumerate(data[at + 6 : at + 12]):
        if byte not in _LOW_SURROGATE[offset]:
            is_spelled_well = offset < 2 or byte in _HEX
            reason = ReaderState.INVALID_LONE_SURROGATE if is_spelled_well else ReaderState.INVALID_ESCAPE
            return at + 6 + offset, reason
    return None


def utf8_fault(data: bytes | bytearray, at: int) -> tuple[int, ReaderState] | None:
    """Find the first byte of ``data[at:]`` that UTF-8 cannot have there; None where they are the start of a character.

    Args:
        data: bytes, cut anywhere.
        at: offset of a character that is no ASCII and not whole.
    """
    first = data[at]
    if not 0xC2 <= first <= 0xF4:
        return at, ReaderState.INVALID_UTF8
    low = {0xE0: 0xA0, 0xF0: 0x90}.get(first, 0x80)
    high = {0xED: 0x9F, 0xF4: 0x8F}.get(first, 0xBF)
    for offset in range(at + 1, len(data)):
        if not low <= data[offset] <= high:
            return offset, ReaderState.INVALID_UTF8
        low, high = 0x80, 0xBF
    return None


__all__ = ["CHARACTERS", "UNITS", "decode_units", "unit_fault", "utf8_fault"]
