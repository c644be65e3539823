"""Hold the table of legal tokens: which may come at which place of a JSON text, by their first byte.

White space is legal between any two tokens, before the first and after the last, and stands in no row.
Source: RFC 8259 section 2.
"""

from __future__ import annotations

from enum import IntEnum, auto


class Place(IntEnum):
    """Say which tokens may come next."""

    START = auto()
    VALUE = auto()
    FIRST_ITEM = auto()
    FIRST_KEY = auto()
    KEY = auto()
    COLON = auto()
    AFTER_ITEM = auto()
    AFTER_MEMBER = auto()
    END = auto()


class Token(IntEnum):
    """Say what kind of token begins with a byte."""

    OBJECT = auto()
    ARRAY = auto()
    CLOSE = auto()
    COMMA = auto()
    COLON = auto()
    KEY = auto()
    STRING = auto()
    NUMBER = auto()
    WORD = auto()


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WORDS = {word[0]: word for word in (b"true", b"false", b"null", BYTE_ORDER_MARK)}
_VALUE = (
    {ord("{"): Token.OBJECT, ord("["): Token.ARRAY, ord('"'): Token.STRING}
    | dict.fromkeys(b"-0123456789", Token.NUMBER)
    | dict.fromkeys(b"tfn", Token.WORD)
)
LEGAL: dict[Place, dict[int, Token]] = {
    # A byte order mark is walked as a word, so that it is refused under its own name.
    Place.START: _VALUE | {BYTE_ORDER_MARK[0]: Token.WORD},
    Place.VALUE: _VALUE,
    Place.FIRST_ITEM: _VALUE | {ord("]"): Token.CLOSE},
    Place.FIRST_KEY: {ord('"'): Token.KEY, ord("}"): Token.CLOSE},
    Place.KEY: {ord('"'): Token.KEY},
    Place.COLON: {ord(":"): Token.COLON},
    Place.AFTER_ITEM: {ord(","): Token.COMMA, ord("]"): Token.CLOSE},
    Place.AFTER_MEMBER: {ord(","): Token.COMMA, ord("}"): Token.CLOSE},
    Place.END: {},
}

__all__ = ["BYTE_ORDER_MARK", "LEGAL", "WORDS", "Place", "Token"]
