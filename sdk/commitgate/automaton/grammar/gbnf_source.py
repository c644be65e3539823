"""Read the smallest pieces of a GBNF grammar: white space, names, counts, texts in quotes and character classes.

Source: llama.cpp, grammars/README.md for the notation; src/llama-grammar.cpp for what its parser takes where the
notation's description leaves it open.
"""

from __future__ import annotations

import re

from commitgate.automaton.characters import FIRST_SURROGATE, LAST_SURROGATE, CharacterSet
from commitgate.automaton.regex.parser import MAX_COUNT
from commitgate.automaton.strings import LAST_CODE_POINT
from commitgate.errors import NotationError

# What is passed is never given back: the marks to do so would take a hundred times the text's memory.
_SPACE = re.compile(r"(?:[ \t]++|#[^\r\n]*+)*+")
_SPACE_AND_LINE_ENDS = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)*+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NAME = re.compile("[A-Za-z0-9_-]+")
_DIGITS = re.compile("[0-9]+")
_HEX = re.compile("[0-9A-Fa-f]*")
_QUOTED = re.compile(r'[^"\\]*')
_MEMBERS = re.compile(r"[^\]\\-]+")
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"} | {character: character for character in '\\"[]-'}
_COUNT_DIGITS = 20
"""More digits than ``MAX_COUNT`` has; where they end no number needs to be made of them."""


class Source:
    """Hold a grammar's text and how far it is read.

    Args:
        text: the grammar.

    Attributes:
        at: offset of what comes next, in characters.

    Raises:
        NotationError: there is a U+0000 in it, where llama.cpp would stop reading.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        null = text.find("\0")
        if null >= 0:
            raise self.error("found U+0000, which ends a grammar unread; write \\x00", null)

    @property
    def next(self) -> str:
        """Return the next character, ``""`` at the end."""
        return self.text[self.at : self.at + 1]

    def error(self, message: str, at: int | None = None) -> NotationError:
        """Return an error at an offset; None takes what comes next."""
        at = self.at if at is None else at
        return NotationError(f"{self.place(at)}: {message}", keyword="grammar", position=at)

    def place(self, at: int) -> str:
        """Return the line and the column of an offset, in words."""
        line, begin = 1, 0
        for end in _LINE_END.finditer(self.text, 0, at):
            line, begin = line + 1, end.end()
        return f"line {line}, column {at - begin + 1}"

    def found(self) -> str:
        """Return what comes next, in words."""
        character = self.next
        if not character:
            return "the end of the grammar"
        if character in "\r\n":
            return "the end of the line"
        return repr(character) if character.isascii() and character.isprintable() else f"U+{ord(character):04X}"

    def skip(self, *, line_ends: bool) -> None:
        """Pass white space and comments, and ends of lines where they separate nothing."""
        found = (_SPACE_AND_LINE_ENDS if line_ends else _SPACE).match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def take(self, expected: str) -> bool:
        """Pass ``expected`` and return True where it comes next."""
        is_there = self.text.startswith(expected, self.at)
        self.at += len(expected) * is_there
        return is_there

    def name(self) -> str | None:
        """Pass a rule's name and return it; None where none comes next."""
        found = _NAME.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def quoted(self) -> str:
        """Pass a text in double quotes and return it without them."""
        opened = self.at
        self.at += 1
        pieces: list[str] = []
        while True:
            plain = _QUOTED.match(self.text, self.at)
            assert plain is not None
            pieces.append(plain[0])
            self.at = plain.end()
            if not self.next:
                raise self.error("a text begins here whose closing '\"' is missing", opened)
            if self.take('"'):
                return "".join(pieces)
            pieces.append(self._escaped())

    def character_class(self) -> CharacterSet:
        """Pass a class in square brackets and return its members."""
        opened = self.at
        self.at += 1
        is_negated = self.take("^")
        ranges: set[tuple[int, int]] = set()
        while not self.take("]"):
            if not self.next:
                raise self.error("a class begins here whose closing ']' is missing", opened)
            self._members(ranges)
        if not ranges:
            wanted = ". for any character" if is_negated else '"" for the empty text'
            raise self.error(f"found a class without members; write {wanted}", opened)
        members = CharacterSet.of(ranges)
        return members.complement() if is_negated else members

    def counts(self, *, line_ends: bool) -> tuple[int, int | None]:
        """Pass the counts of a repetition in braces and return the least and the most; None is no bound."""
        self.at += 1
        self.skip(line_ends=line_ends)
        least = self._count(line_ends=line_ends)
        if self.take("}"):
            return least, least
        if not self.take(","):
            raise self.error(f"wanted ',' or '}}' behind a count, found {self.found()}")
        self.skip(line_ends=line_ends)
        most_at = self.at
        most = None if self.next == "}" else self._count(line_ends=line_ends)
        if not self.take("}"):
            raise self.error(f"wanted '}}' behind the counts, found {self.found()}")
        if most is not None and most < least:
            raise self.error("the most of a repetition is smaller than the least", most_at)
        return least, most

    def _count(self, *, line_ends: bool) -> int:
        digits = _DIGITS.match(self.text, self.at)
        if digits is None:
            raise self.error(f"wanted a count, found {self.found()}; write {{0,n}} for at most n")
        self.at = digits.end()
        self.skip(line_ends=line_ends)
        significant = digits[0].lstrip("0")
        return MAX_COUNT if len(significant) >= _COUNT_DIGITS else min(int(significant or "0"), MAX_COUNT)

    def _members(self, ranges: set[tuple[int, int]]) -> None:
        """Pass members of a class: a run of single characters, and the range that its last one may begin."""
        begin = self.at
        run = _MEMBERS.match(self.text, self.at)
        if run is None:
            low = self._member()
        else:
            self.at = run.end()
            begin = self.at - 1
            low = self.text[begin]
            ranges.update((ord(each), ord(each)) for each in set(run[0][:-1]))
        high = low
        if self.next == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
            self.at += 1
            high = self._member()
        if high < low:
            raise self.error(f"the range ends with U+{ord(high):04X}, before its first U+{ord(low):04X}", begin)
        ranges.add((ord(low), ord(high)))

    def _member(self) -> str:
        if self.next == "\\":
            return self._escaped()
        self.at += 1
        return self.text[self.at - 1]

    def _escaped(self) -> str:
        """Pass an escape and return its character."""
        begin = self.at
        letter = self.text[begin + 1 : begin + 2]
        self.at += 2
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        length = _HEX_DIGITS.get(letter)
        if length is None:
            wanted = '\\n, \\r, \\t, \\\\, \\", \\[, \\], \\-, \\xNN, \\uNNNN or \\UNNNNNNNN'
            raise self.error(f"found an escape that GBNF does not have; it has {wanted}", begin)
        digits = _HEX.match(self.text, self.at, self.at + length)
        assert digits is not None
        if len(digits[0]) < length:
            raise self.error(f"\\{letter} needs {length} hexadecimal digits, found {len(digits[0])}", begin)
        self.at = digits.end()
        point = int(digits[0], 16)
        if FIRST_SURROGATE <= point <= LAST_SURROGATE:
            raise self.error("a surrogate is no character; write its pair as one \\UNNNNNNNN", begin)
        if point > LAST_CODE_POINT:
            raise self.error("found a number beyond U+10FFFF, the last character", begin)
        return chr(point)


__all__ = ["Source"]
