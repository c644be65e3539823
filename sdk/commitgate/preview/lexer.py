"""Judge the bytes of a JSON text strictly, and say how far its whole tokens and the units of an open string go.

The table of legal tokens stands in ``grammar``. What the lexer passed is the beginning of some JSON text, to the byte;
the first byte that cannot continue it ends it for good.
"""

from __future__ import annotations

import re
from typing import assert_never

from commitgate.preview.characters import UNITS, decode_units, unit_fault
from commitgate.preview.grammar import BYTE_ORDER_MARK, LEGAL, WORDS, Place, Token
from commitgate.preview.keys import KeySet
from commitgate.preview.number import NumberWalk
from commitgate.preview.state import ReaderState

_QUOTE = ord('"')
_WHITE_SPACE = b" \t\n\r"
_DELIMITERS = _WHITE_SPACE + b'{}[],:"'
"""What ends a number's spelling, in its right place or not; any other byte is a bad spelling."""
_SPACES = re.compile(rb"[ \t\n\r]*+")
_SHORT_NUMBER = rb"-?+(?:0|[1-9][0-9]{0,19}+)(?:\.[0-9]{1,20}+)?+"
_SHORT_NUMBERS = {
    # A whole one in front of what may follow it here, which most are: all others are walked byte by byte.
    Place.AFTER_ITEM: re.compile(_SHORT_NUMBER + rb"(?=[,\]])"),
    Place.AFTER_MEMBER: re.compile(_SHORT_NUMBER + rb"(?=[,}])"),
}


class Lexer:
    """Walk a JSON text in chunks cut anywhere. The work is linear in the chunk, whatever came before.

    Args:
        max_depth: most containers inside each other.

    Attributes:
        text: the bytes so far. After a fault it may go on past ``position``.
        position: bytes passed; after a fault, the offset of the first impossible byte.
        tokens_to: offset behind the last whole token, and behind white space after it.
        fault: why the text is refused; None while it can still become JSON.
    """

    __slots__ = (
        "_at",
        "_keys",
        "_max_depth",
        "_nesting",
        "_number",
        "_open",
        "_opened_at",
        "_place",
        "_units_to",
        "_word",
        "_word_at",
        "fault",
        "position",
        "text",
        "tokens_to",
    )

    def __init__(self, max_depth: int) -> None:
        self.text = bytearray()
        self.position = 0
        self.tokens_to = 0
        self.fault: ReaderState | None = None
        self._max_depth = max_depth
        self._nesting: list[Place] = []
        self._keys: list[KeySet] = []
        self._place = Place.START
        self._open: Token | None = None
        self._opened_at = 0
        self._units_to = 0
        self._number = NumberWalk()
        self._word = b""
        self._word_at = 0

    @property
    def state(self) -> ReaderState:
        """Return where the text stands while more may come."""
        if self.fault is not None:
            return self.fault
        if self._open is Token.NUMBER and not self._nesting and self._number.is_whole:
            return ReaderState.ACCEPT_IF_EOF
        return ReaderState.ACCEPT if self._place is Place.END else ReaderState.OPEN

    @property
    def has_root(self) -> bool:
        """Return whether the root value has begun, as an open container or string, or is whole."""
        return bool(self._nesting) or self._place is Place.END or self._open is Token.STRING

    @property
    def open_text(self) -> tuple[int, int] | None:
        """Return the offsets between which the whole units of the open string value stand; None where none is open."""
        return (self._opened_at + 1, self._units_to) if self._open is Token.STRING else None

    @property
    def is_nested(self) -> bool:
        """Return whether a container is open."""
        return bool(self._nesting)

    def feed(self, data: bytes) -> None:
        """Walk a chunk. Not to be called after a fault."""
        at = len(self.text)
        self.text += data
        end = len(self.text)
        while at < end and self.fault is None:
            at = self._begin(at) if self._open is None else self._continue(at)
            if self._open is None and self.fault is None:
                self.tokens_to = at
        self.position = at

    def finish(self) -> None:
        """Take the end of the text as the end of a number at the root."""
        if self.state is ReaderState.ACCEPT_IF_EOF:
            self._open = None
            self._place = Place.END
            self.tokens_to = self.position

    def _begin(self, at: int) -> int:
        """Pass white space, or the first byte of a token; return the offset of what follows."""
        byte = self.text[at]
        if byte in _WHITE_SPACE:
            if self._place is Place.START:
                self._place = Place.VALUE  # a byte order mark stands at the very start or is none
            spaces = _SPACES.match(self.text, at)
            return at + 1 if spaces is None else spaces.end()
        token = LEGAL[self._place].get(byte)
        if token is None:
            self.fault = _misfit(self._place)
            return at
        match token:
            case Token.COMMA:
                self._place = Place.VALUE if self._place is Place.AFTER_ITEM else Place.KEY
            case Token.NUMBER:
                return self._begin_number(at)
            case Token.KEY | Token.STRING:
                self._open = token
                self._opened_at = at
                self._units_to = at + 1
            case Token.COLON:
                self._place = Place.VALUE
            case Token.CLOSE:
                if self._nesting.pop() is Place.AFTER_MEMBER:
                    self._keys.pop()
                self._place = self._after_value()
            case Token.OBJECT | Token.ARRAY:
                return self._nest(token, at)
            case Token.WORD:
                self._open = token
                self._word, self._word_at = WORDS[byte], 0
                return at
            case _:
                assert_never(token)
        return at + 1

    def _begin_number(self, at: int) -> int:
        after = self._after_value()
        short = _SHORT_NUMBERS.get(after)
        found = None if short is None else short.match(self.text, at)
        if found is not None:
            self._place = after
            return found.end()
        self._open = Token.NUMBER
        self._number = NumberWalk()
        return at

    def _nest(self, token: Token, at: int) -> int:
        if len(self._nesting) == self._max_depth:
            self.fault = ReaderState.INVALID_DEPTH
            return at
        is_object = token is Token.OBJECT
        self._nesting.append(Place.AFTER_MEMBER if is_object else Place.AFTER_ITEM)
        if is_object:
            self._keys.append(KeySet(self.text))
        self._place = Place.FIRST_KEY if is_object else Place.FIRST_ITEM
        return at + 1

    def _after_value(self) -> Place:
        return self._nesting[-1] if self._nesting else Place.END

    def _continue(self, at: int) -> int:
        """Pass bytes of the open token; return the offset of what follows."""
        if self._open is Token.NUMBER:
            return self._continue_number(at)
        if self._open is Token.WORD:
            return self._continue_word(at)
        return self._continue_string()

    def _continue_string(self) -> int:
        # From the last whole unit on: a cut one is walked again when more of it has come.
        units = UNITS.match(self.text, self._units_to)
        end = self._units_to if units is None else units.end()
        self._units_to = end
        if end == len(self.text):
            return end
        if self.text[end] == _QUOTE:
            return self._close_string(end)
        found = unit_fault(self.text, end)
        if found is None:
            return len(self.text)
        offset, self.fault = found
        return offset

    def _close_string(self, at: int) -> int:
        if self._open is Token.KEY:
            name_at = self._opened_at + 1
            if not self._keys[-1].add(decode_units(bytes(self.text[name_at:at])), name_at):
                self.fault = ReaderState.INVALID_DUPLICATE_KEY
                return at
            self._place = Place.COLON
        else:
            self._place = self._after_value()
        self._open = None
        return at + 1

    def _continue_number(self, at: int) -> int:
        data = self.text
        end = self._number.walk(data, at)
        if end == len(data):
            return end
        after, byte = self._after_value(), data[end]
        if self._number.is_too_large:
            self.fault = ReaderState.INVALID_NUMBER_SIZE
        elif not self._number.is_whole or byte not in _DELIMITERS:
            self.fault = ReaderState.INVALID_NUMBER
        elif byte in _WHITE_SPACE or byte in LEGAL[after]:
            self._open, self._place = None, after
        else:
            self.fault = _misfit(after)
        return end

    def _continue_word(self, at: int) -> int:
        data = self.text
        is_mark = self._word is BYTE_ORDER_MARK
        for offset in range(at, len(data)):
            if data[offset] != self._word[self._word_at]:
                self.fault = ReaderState.INVALID_SYNTAX if is_mark else ReaderState.INVALID_LITERAL
                return offset
            self._word_at += 1
            if self._word_at == len(self._word):
                if is_mark:
                    self.fault = ReaderState.INVALID_BOM
                    return offset
                self._open, self._place = None, self._after_value()
                return offset + 1
        return len(data)


def _misfit(place: Place) -> ReaderState:
    return ReaderState.INVALID_TRAILING_DATA if place is Place.END else ReaderState.INVALID_SYNTAX


__all__ = ["Lexer"]
