"""Read one JSON value while it is written, and tell its characters: as they are spelled, or those that a string means.

The reader finds the value's end; that what lies before it is JSON is somebody else's business.
"""

from __future__ import annotations

import codecs
from typing import Final

from commitgate.preview.characters import UNITS, decode_units
from commitgate.tools.one_value import ValueEnd

_MOST_UNIT_BYTES: Final = 12
"""Bytes of the longest spelling of one character: a pair of surrogates, each escaped."""


class NotATurnError(ValueError):
    """Raised when bytes cannot be part of a turn."""


class ValueReader:
    """Follow one JSON value to its end, and tell its characters.

    Attributes:
        skipped: bytes of it that are not told: the opening quote of a text whose characters are.
        is_whole: its last byte was read.
    """

    def __init__(self, *, in_words: bool, is_string: bool, is_scalar: bool) -> None:
        self._in_words = in_words
        self._is_scalar = is_scalar
        self._is_string = is_string
        self._has_begun = False
        self._end = ValueEnd()
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._units = bytearray()
        self._escapes = False
        self.skipped = 1 if in_words else 0
        self.is_whole = False

    @staticmethod
    def of(first: int, *, in_words: bool) -> ValueReader:
        """Return the value that begins with a byte."""
        is_string = first == ord('"')
        if (in_words and not is_string) or first in b",:]}":
            raise NotATurnError
        return ValueReader(in_words=in_words, is_string=is_string, is_scalar=not is_string and first not in b"[{")

    def feed(self, data: bytes, at: int) -> tuple[int, str]:
        """Return the offset behind what was read, and the characters."""
        start = at
        if self._in_words:
            return self._read_words(data, at)
        if self._is_string:
            at = self._string_end(data, at)
        elif self._is_scalar:
            while at < len(data) and data[at] not in b",]} \t\r\n":
                at += 1
            self.is_whole = at < len(data)
        else:
            at = self._end.feed(data, at)
            self.is_whole = self._end.is_whole
        try:
            return at, self._decoder.decode(data[start:at])
        except UnicodeDecodeError:
            raise NotATurnError from None

    def _string_end(self, data: bytes, at: int) -> int:
        """Return the offset behind the closing quote, or the end of the data."""
        while at < len(data):
            byte = data[at]
            at += 1
            if self._escapes:
                self._escapes = False
            elif byte == ord("\\"):
                self._escapes = True
            elif byte == ord('"'):
                if self._has_begun:
                    self.is_whole = True
                    return at
                self._has_begun = True
        return at

    def _read_words(self, data: bytes, at: int) -> tuple[int, str]:
        """Read on in the inside of a string, and tell the characters that are whole."""
        self._units += data[at:]
        found = UNITS.match(self._units)
        end = found.end() if found else 0
        text = decode_units(bytes(self._units[:end]))
        rest = self._units[end:]
        if rest.startswith(b'"'):
            self.is_whole = True
            return len(data) - len(rest) + 1, text
        if len(rest) > _MOST_UNIT_BYTES:
            raise NotATurnError
        self._units = rest
        return len(data), text


__all__ = ["NotATurnError", "ValueReader"]
