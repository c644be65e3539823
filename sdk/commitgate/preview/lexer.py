"""Judge the bytes of a JSON text strictly, and cut them into whole tokens and the open string's tail.

The table of legal tokens stands in ``grammar``. What the lexer passed is the beginning of some JSON text, to the byte;
the first byte that cannot continue it ends it for good.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from commitgate.preview.characters import UNITS, unit_fault
from commitgate.preview.grammar import BYTE_ORDER_MARK, LEGAL, WORDS, Place, Token
from commitgate.preview.number import NumberWalk
from commitgate.preview.state import ReaderState

_QUOTE = ord('"')
_WHITE_SPACE = b" \t\n\r"
_DELIMITERS = _WHITE_SPACE + b'{}[],:"'
"""What ends a number's spelling, in its right place or not; any other byte is a bad spelling."""
_SPACES = re.compile(rb"[ \t\n\r]*+")


@dataclass(slots=True)
class Scan:
    """Say what one chunk brought.

    Attributes:
        closing: whole units of the string that was being streamed when the chunk came.
        tokens: whole tokens, the held one included, and white space; a streamed string stands there as ``""``.
        key_ends: offset, in the text, of the closing quote of each key among ``tokens``.
        opening: whole units of a string value that began in this chunk and is still open; None where there is none.
    """

    closing: bytes
    tokens: bytes
    key_ends: list[int]
    opening: bytes | None


class _Chunk:
    """Keep what is noted while one chunk is walked; offsets count from the start of ``data``."""

    __slots__ = ("base", "closed_at", "complete_to", "data", "key_ends", "opened_at", "units_to")

    def __init__(self, data: bytes, base: int) -> None:
        self.data = data
        self.base = base
        self.complete_to = 0
        self.units_to = 0
        self.opened_at: int | None = None
        self.closed_at: int | None = None
        self.key_ends: list[int] = []


class Lexer:
    """Walk a JSON text in chunks cut anywhere. The work is linear in the chunk, whatever came before.

    Args:
        max_depth: most containers inside each other.

    Attributes:
        position: bytes passed; after a fault, the offset of the first impossible byte.
        fault: why the text is refused; None while it can still become JSON.
    """

    __slots__ = (
        "_carry",
        "_held",
        "_is_streamed",
        "_max_depth",
        "_nesting",
        "_number",
        "_open",
        "_place",
        "_word",
        "_word_at",
        "fault",
        "position",
    )

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._nesting: list[Place] = []
        self._place = Place.START
        self._open: Token | None = None
        self._is_streamed = False
        self._number = NumberWalk()
        self._word = b""
        self._word_at = 0
        self._held: list[bytes] = []
        self._carry = b""
        self.position = 0
        self.fault: ReaderState | None = None

    @property
    def state(self) -> ReaderState:
        """Return where the text stands while more may come."""
        if self.fault is not None:
            return self.fault
        if self._open is Token.NUMBER and not self._nesting and self._number.is_whole:
            return ReaderState.ACCEPT_IF_EOF
        return ReaderState.ACCEPT if self._place is Place.END else ReaderState.OPEN

    def feed(self, data: bytes) -> Scan:
        """Walk a chunk and say what it brought. Not to be called after a fault."""
        chunk = _Chunk(self._carry + data, self.position - len(self._carry))
        self._carry = b""
        at, end = 0, len(chunk.data)
        while at < end and self.fault is None:
            at = self._begin(chunk, at) if self._open is None else self._continue(chunk, at)
            if self._open is None and self.fault is None:
                chunk.complete_to = at
        self.position = chunk.base + at
        return self._scan(chunk, at)

    def stream(self) -> None:
        """Hold no more of the string that is open: its text is taken as it comes, ``""`` stands for it later."""
        self._is_streamed = True
        self._held = [b'"']

    def fail(self, fault: ReaderState, position: int) -> None:
        """Refuse the text from ``position`` on."""
        self.fault = fault
        self.position = position

    def finish(self) -> bytes:
        """Take the end of the text as the end of a number at the root; return that number, or nothing."""
        if self.state is not ReaderState.ACCEPT_IF_EOF:
            return b""
        self._open = None
        self._place = Place.END
        return b"".join(self._held) + b" "

    def _scan(self, chunk: _Chunk, at: int) -> Scan:
        is_string = self._open is Token.STRING or self._open is Token.KEY
        # A cut character is carried into the next chunk; a byte that was refused belongs to no token.
        held_to = chunk.units_to if is_string else at
        closing, tokens, opening, start = b"", b"", None, 0
        if self._is_streamed:
            start = held_to if chunk.closed_at is None else chunk.closed_at
            closing = chunk.data[:start]
        if chunk.complete_to:
            # The space ends the last token for any backend of ijson: some wait for the byte that follows.
            tokens = b"".join(self._held) + chunk.data[start : chunk.complete_to] + b" "
            self._is_streamed = False
            self._held.clear()
            start = chunk.complete_to
        if start < held_to:
            self._held.append(chunk.data[start:held_to])
        if self._open is Token.STRING and chunk.opened_at is not None:
            opening = chunk.data[chunk.opened_at + 1 : chunk.units_to]
        return Scan(closing, tokens, chunk.key_ends, opening)

    def _begin(self, chunk: _Chunk, at: int) -> int:
        """Pass white space, or the first byte of a token; return the offset of what follows."""
        byte = chunk.data[at]
        if byte in _WHITE_SPACE:
            if self._place is Place.START:
                self._place = Place.VALUE  # a byte order mark stands at the very start or is none
            spaces = _SPACES.match(chunk.data, at)
            return at + 1 if spaces is None else spaces.end()
        token = LEGAL[self._place].get(byte)
        if token is None:
            self.fault = _misfit(self._place)
            return at
        match token:
            case Token.OBJECT | Token.ARRAY:
                return self._nest(token, at)
            case Token.CLOSE:
                self._nesting.pop()
                self._place = self._after_value()
            case Token.COMMA:
                self._place = Place.VALUE if self._place is Place.AFTER_ITEM else Place.KEY
            case Token.COLON:
                self._place = Place.VALUE
            case Token.KEY | Token.STRING:
                self._open = token
                chunk.opened_at = at
                chunk.units_to = at + 1
            case Token.NUMBER:
                self._open = token
                self._number = NumberWalk()
                return at
            case Token.WORD:
                self._open = token
                self._word, self._word_at = WORDS[byte], 0
                return at
            case _:
                assert_never(token)
        return at + 1

    def _nest(self, token: Token, at: int) -> int:
        if len(self._nesting) == self._max_depth:
            self.fault = ReaderState.INVALID_DEPTH
            return at
        is_object = token is Token.OBJECT
        self._nesting.append(Place.AFTER_MEMBER if is_object else Place.AFTER_ITEM)
        self._place = Place.FIRST_KEY if is_object else Place.FIRST_ITEM
        return at + 1

    def _after_value(self) -> Place:
        return self._nesting[-1] if self._nesting else Place.END

    def _continue(self, chunk: _Chunk, at: int) -> int:
        """Pass bytes of the open token; return the offset of what follows."""
        if self._open is Token.NUMBER:
            return self._continue_number(chunk.data, at)
        if self._open is Token.WORD:
            return self._continue_word(chunk.data, at)
        return self._continue_string(chunk, at)

    def _continue_string(self, chunk: _Chunk, at: int) -> int:
        units = UNITS.match(chunk.data, at)
        end = at if units is None else units.end()
        chunk.units_to = end
        if end == len(chunk.data):
            return end
        if chunk.data[end] == _QUOTE:
            self._close_string(chunk, end)
            return end + 1
        found = unit_fault(chunk.data, end)
        if found is None:
            self._carry = chunk.data[end:]
            return len(chunk.data)
        offset, self.fault = found
        return offset

    def _close_string(self, chunk: _Chunk, at: int) -> None:
        if chunk.closed_at is None:
            chunk.closed_at = at
        if self._open is Token.KEY:
            chunk.key_ends.append(chunk.base + at)
            self._place = Place.COLON
        else:
            self._place = self._after_value()
        self._open = None

    def _continue_number(self, data: bytes, at: int) -> int:
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

    def _continue_word(self, data: bytes, at: int) -> int:
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


__all__ = ["Lexer", "Scan"]
