"""Take a value out of the object that it was wrapped in, byte by byte as it stands there. Sans-IO."""

from __future__ import annotations

import re

from commitgate.backends.translation.translation import Restorer
from commitgate.tools.one_value import BLANK, ValueEnd

_AFTER_SCALAR = re.compile(rb"[ \t\r\n}]")
_IN_STRING = re.compile(rb'["\\]')
_SIMPLE = {34: b'"', 92: b"\\", 47: b"/", 98: b"\b", 102: b"\f", 110: b"\n", 114: b"\r", 116: b"\t"}
_QUOTE, _BACKSLASH, _LETTER_U = 34, 92, 117
_UNICODE_BYTES = 6
"""Bytes of an escape that names a UTF-16 code unit."""


class Unwrapping:
    """Return the value of an object's only member, without what stands around it.

    Args:
        inner: takes the value's bytes on; None where they are the result.
        decodes: a value that is a string becomes the text that it stands for, in UTF-8.
    """

    def __init__(self, inner: Restorer | None = None, *, decodes: bool = False) -> None:
        self._inner = inner
        self._decodes = decodes
        self._head = _Head()
        self._value: _Value | None = None

    def feed(self, data: bytes) -> bytes:
        """Return the bytes of the value in ``data``."""
        if self._value is None:
            at = self._head.feed(data)
            if at == len(data):
                return b""
            self._value = _value(data[at], decodes=self._decodes)
            data = data[at:]
        found = self._value.feed(data)
        return found if self._inner is None or not found else self._inner.feed(found)

    def finish(self) -> bytes:
        """Return what was held back."""
        return b"" if self._inner is None else self._inner.finish()


class _Head:
    """Find where the value of an object's first member begins; the text is known to be JSON."""

    def __init__(self) -> None:
        self._quotes = 0
        self._is_escaped = False
        self._has_colon = False

    def feed(self, data: bytes) -> int:
        """Return the offset of the value's first byte; the length of ``data`` where it does not begin there."""
        for at, byte in enumerate(data):
            if self._has_colon:
                if byte not in BLANK:
                    return at
            elif self._is_escaped:
                self._is_escaped = False
            elif self._quotes == 1 and byte == _BACKSLASH:
                self._is_escaped = True
            elif byte == _QUOTE:
                self._quotes += 1
            else:
                self._has_colon = self._quotes > 1 and byte == ord(":")
        return len(data)


class _Value:
    """Pass the bytes of one object, array, number or word on, and drop what stands behind."""

    def __init__(self, first: int) -> None:
        self._end = ValueEnd() if first in b"{[" else None
        self._is_over = False

    def feed(self, data: bytes) -> bytes:
        """Return the bytes of the value in ``data``."""
        if self._end is not None:
            return data[: self._end.feed(data)]
        if self._is_over:
            return b""
        found = _AFTER_SCALAR.search(data)
        self._is_over = found is not None
        return data if found is None else data[: found.start()]


class _StringValue(_Value):
    """Pass the bytes of one string on, its quotes included."""

    def __init__(self) -> None:
        self._quotes = 0
        self._is_escaped = False

    def feed(self, data: bytes) -> bytes:
        """Return the bytes of the string in ``data``."""
        at = 0
        while at < len(data) and self._quotes < 2:
            if self._is_escaped:
                self._is_escaped = False
                at += 1
                continue
            found = _IN_STRING.search(data, at)
            if found is None:
                return data
            at = found.end()
            self._is_escaped = found[0] == b"\\"
            self._quotes += found[0] == b'"'
        return data[:at]


class _DecodedString(_Value):
    """Pass the text that one string stands for on, in UTF-8; holds back no more than two escapes."""

    def __init__(self) -> None:
        self._held = b""
        self._quotes = 0

    def feed(self, data: bytes) -> bytes:
        """Return the text that the bytes of ``data`` complete."""
        if self._quotes > 1:
            return b""
        data = self._held + data
        found, at = bytearray(), 0
        while at < len(data):
            if data[at] == _QUOTE:
                self._quotes += 1
                at += 1
                if self._quotes > 1:
                    break
            elif data[at] == _BACKSLASH:
                escape, length = _escaped(data, at)
                if not length:
                    break
                found += escape
                at += length
            else:
                following = _IN_STRING.search(data, at)
                end = len(data) if following is None else following.start()
                found += data[at:end]
                at = end
        self._held = data[at:] if self._quotes < 2 else b""
        return bytes(found)


def _value(first: int, *, decodes: bool) -> _Value:
    if first != _QUOTE:
        return _Value(first)
    return _DecodedString() if decodes else _StringValue()


def _escaped(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the text of the escape at an offset, and the escape's length; 0 where it is not whole yet."""
    if len(data) <= at + 1:
        return b"", 0
    if data[at + 1] != _LETTER_U:
        return _SIMPLE[data[at + 1]], 2
    if len(data) < at + _UNICODE_BYTES:
        return b"", 0
    unit = int(data[at + 2 : at + _UNICODE_BYTES], 16)
    if not 0xD800 <= unit < 0xDC00:
        return chr(unit).encode("utf-8", "surrogatepass"), _UNICODE_BYTES
    if len(data) < at + 2 * _UNICODE_BYTES:
        return b"", 0
    low = int(data[at + _UNICODE_BYTES + 2 : at + 2 * _UNICODE_BYTES], 16)
    return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).encode(), 2 * _UNICODE_BYTES


__all__ = ["Unwrapping"]
