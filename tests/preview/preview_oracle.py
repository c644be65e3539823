"""Judge whether bytes are the beginning of a JSON text, by recursive descent over the whole of them.

Written to share nothing with the reader: no chunks, no tables, and UTF-8 by the codec of the standard library.
"""

import codecs
from dataclasses import dataclass
from itertools import product

# A character that was begun can be ended by some of these, because what may follow is one range of bytes.
CONTINUATIONS = [bytes(rest) for length in range(4) for rest in product((0x80, 0x9F, 0xA0, 0xBF), repeat=length)]


def decodes(data: bytes) -> bool:
    """Return whether the bytes are well-formed UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


class CutError(Exception):
    """Raised where the bytes end before the text does."""


class ImpossibleError(Exception):
    """Raised at a byte that cannot continue the text."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass
class Descent:
    """Walk ``data`` from ``at``."""

    data: bytes
    at: int = 0

    def peek(self) -> bytes:
        if self.at >= len(self.data):
            raise CutError
        return self.data[self.at : self.at + 1]

    def expect(self, members: bytes) -> bytes:
        if (byte := self.peek()) not in members:
            raise ImpossibleError(self.at)
        self.at += 1
        return byte

    def space(self) -> None:
        while self.at < len(self.data) and self.peek() in b" \t\r\n":
            self.at += 1

    def value(self) -> None:
        match self.peek():
            case b"{":
                self.object()
            case b"[":
                self.array()
            case b'"':
                self.string()
            case b"t" | b"f" | b"n" as first:
                for letter in {b"t": b"true", b"f": b"false", b"n": b"null"}[first]:
                    self.expect(bytes((letter,)))
            case _:
                self.number()

    def object(self) -> None:
        self.expect(b"{")
        self.space()
        if self.peek() == b"}":
            self.at += 1
            return
        keys: set[str] = set()
        while True:
            key = self.string()
            if key in keys:
                raise ImpossibleError(self.at - 1)
            keys.add(key)
            self.space()
            self.expect(b":")
            self.space()
            self.value()
            self.space()
            if self.expect(b",}") == b"}":
                return
            self.space()

    def array(self) -> None:
        self.expect(b"[")
        self.space()
        if self.peek() == b"]":
            self.at += 1
            return
        while True:
            self.value()
            self.space()
            if self.expect(b",]") == b"]":
                return
            self.space()

    def string(self) -> str:
        self.expect(b'"')
        text = ""
        while (byte := self.peek()) != b'"':
            if byte < b" ":
                raise ImpossibleError(self.at)
            text += self.escape() if byte == b"\\" else self.character()
        self.at += 1
        return text

    def character(self) -> str:
        start = self.at
        while True:
            self.peek()
            self.at += 1
            read = self.data[start : self.at]
            if not any(decodes(read + rest) for rest in CONTINUATIONS):
                raise ImpossibleError(self.at - 1)
            if decodes(read):
                return read.decode()

    def escape(self) -> str:
        self.expect(b"\\")
        letter = self.expect(b'"\\/bfnrtu')
        if letter != b"u":
            return {b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}.get(letter, letter.decode())
        code = self.hexadecimal(low_only=False)
        if code < 0xD800 or code > 0xDFFF:
            return chr(code)
        self.expect(b"\\")
        self.expect(b"u")
        low = self.hexadecimal(low_only=True)
        return chr(0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00)

    def hexadecimal(self, *, low_only: bool) -> int:
        digits = b""
        for place in range(4):
            members = b"0123456789abcdefABCDEF"
            if low_only and place == 0:
                members = b"dD"
            if place == 1 and digits in (b"d", b"D"):
                members = b"cdefCDEF" if low_only else b"0123456789abAB"
            digits += self.expect(members)
        return int(digits, 16)

    def number(self) -> None:
        if self.peek() == b"-":
            self.at += 1
        if self.expect(b"0123456789") != b"0":
            self.digits()
        if self.at < len(self.data) and self.peek() == b".":
            self.at += 1
            self.expect(b"0123456789")
            self.digits()
        if self.at < len(self.data) and self.peek() in b"eE":
            self.at += 1
            if self.peek() in b"+-":
                self.at += 1
            self.expect(b"0123456789")
            self.digits()

    def digits(self) -> None:
        while self.at < len(self.data) and self.peek() in b"0123456789":
            self.at += 1


def verdict(data: bytes) -> int | None:
    """Return the offset of the first byte with which no JSON text begins, or None."""
    mark = codecs.BOM_UTF8
    if data[:1] == mark[:1]:
        # The readers' one exception: two bytes of a byte order mark pass, so that it is refused under its own name.
        agree = next((at for at in range(min(2, len(data))) if data[at] != mark[at]), min(2, len(data)))
        return agree if agree < len(data) else None
    descent = Descent(data)
    try:
        descent.space()
        descent.value()
        descent.space()
    except CutError:
        return None
    except ImpossibleError as error:
        return error.offset
    return descent.at if descent.at < len(data) else None
