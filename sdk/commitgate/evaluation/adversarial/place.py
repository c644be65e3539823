"""Find places in a text of JSON while it streams by. Sans-IO."""

from __future__ import annotations

from enum import StrEnum

_QUOTE, _BACKSLASH, _U = b'"\\u'
_OPENING, _CLOSING = frozenset(b"{["), frozenset(b"}]")
_DIGITS, _LETTERS = frozenset(b"-0123456789.eE+"), frozenset(b"abcdefghijklmnopqrstuvwxyz")
_HEX_DIGITS = 4


class Place(StrEnum):
    """Name a place in an answer; the answer has passed up to it and no further."""

    START = "start"
    """Before anything came."""
    OPENED = "opened"
    """After a bracket that opens."""
    IN_KEY = "in_key"
    AFTER_KEY = "after_key"
    AFTER_COLON = "after_colon"
    IN_STRING = "in_string"
    IN_ESCAPE = "in_escape"
    """Behind a backslash."""
    IN_HEX = "in_hex"
    """In the digits of ``\\uXXXX``."""
    IN_CHARACTER = "in_character"
    """Between the bytes of one character of UTF-8."""
    IN_NUMBER = "in_number"
    """Behind a digit."""
    IN_WORD = "in_word"
    """In ``true``, ``false`` or ``null``."""
    AFTER_COMMA = "after_comma"
    WHOLE = "whole"
    """After the last byte of the value, as far as brackets and quotes tell; a number at the root never is."""
    UNFINISHED = "unfinished"
    """After the last text, in place of the finish."""
    FINISHED = "finished"
    """After the finish."""


class PlaceFinder:
    """Say after each byte of a text of JSON at which place it stands."""

    def __init__(self) -> None:
        self._objects: list[bool] = []
        self._is_text = self._is_escape = self._is_key = self._wants_key = False
        self._hex_left = self._bytes_left = 0

    def feed(self, byte: int) -> Place | None:
        """Take one byte; return the place after it, None where it has no name."""
        if self._is_text:
            return self._in_text(byte)
        if byte == _QUOTE:
            self._is_text, self._is_key = True, self._wants_key
            return None
        if byte in _OPENING:
            self._objects.append(byte == b"{"[0])
            self._wants_key = self._objects[-1]
            return Place.OPENED
        if byte in _CLOSING:
            if self._objects:
                self._objects.pop()
            return None if self._objects else Place.WHOLE
        return self._between(byte)

    def _between(self, byte: int) -> Place | None:
        if byte == b":"[0]:
            self._wants_key = False
            return Place.AFTER_COLON
        if byte == b","[0]:
            self._wants_key = bool(self._objects) and self._objects[-1]
            return Place.AFTER_COMMA
        if byte in _DIGITS:
            return Place.IN_NUMBER
        return Place.IN_WORD if byte in _LETTERS else None

    def _in_text(self, byte: int) -> Place | None:
        if self._is_escape:
            self._is_escape = False
            self._hex_left = _HEX_DIGITS if byte == _U else 0
            return Place.IN_HEX if self._hex_left else self._inside()
        if self._hex_left:
            self._hex_left -= 1
            return Place.IN_HEX if self._hex_left else self._inside()
        if byte == _BACKSLASH:
            self._is_escape = True
            return Place.IN_ESCAPE
        if byte == _QUOTE:
            self._is_text = False
            return Place.AFTER_KEY if self._is_key else None if self._objects else Place.WHOLE
        self._bytes_left = self._bytes_left - 1 if 0x80 <= byte < 0xC0 else _continuations(byte)
        return Place.IN_CHARACTER if self._bytes_left > 0 else self._inside()

    def _inside(self) -> Place:
        return Place.IN_KEY if self._is_key else Place.IN_STRING


def _continuations(byte: int) -> int:
    return 0 if byte < 0xC0 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3


__all__ = ["Place", "PlaceFinder"]
