r"""Read what matches one character of a pattern: escapes, classes and Unicode properties.

Source: ECMA-262, 14th edition (2023), sections 22.2.1 (ClassRanges, CharacterEscape) and B.1.2.
"""

from __future__ import annotations

import re

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.regex.case_folding import with_all_cases
from commitgate.automaton.regex.classes import CLASS_ESCAPES, property_set
from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.notation import EITHER_CASE, Notation

MAX_COUNT = 1 << 53
"""Counts beyond this one are all the same."""

_CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_CAPTURING = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|(\((?![?])|\(\?P?<(?![=!]))", re.DOTALL)
_PROPERTY = re.compile(r"\\[pP]\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}")
_BRACED = re.compile(r"\\[ux]\{([0-9a-fA-F]+)\}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_DIGITS = re.compile("[0-9]+")
_NAMED_REFERENCE = re.compile(r"\\k<([\w$]+)>")
_POSIX_CLASS = re.compile(r"\[:\^?[a-zA-Z]*:\]")
_DOUBLED = ("&&", "--", "||", "~~")
_HEX_DIGITS = "0123456789abcdefABCDEF"


class CharacterReader:
    """Read single characters and classes of a pattern, moving ``at`` behind them."""

    def __init__(self, pattern: str, notation: Notation) -> None:
        self.pattern = pattern
        self.notation = notation
        self.at = 0
        self.flags = notation.flags
        self._letters: dict[str, CharacterSet] = {}

    def letter(self, character: str) -> CharacterSet:
        """Return the set of one character; one that comes again is the same object."""
        found = self._letters.get(character)
        if found is None:
            found = self._letters[character] = CharacterSet.of_text(character)
        return found

    def in_all_cases(self, members: CharacterSet) -> CharacterSet:
        """Return the set as the flags mean it."""
        return with_all_cases(members) if EITHER_CASE in self.flags else members

    def read_class(self) -> CharacterSet:
        """Read a class in brackets."""
        start = self.at
        self.at += 1
        is_negated = self.pattern.startswith("^", self.at)
        self.at += is_negated
        if self.notation.is_extended and self.pattern.startswith("]", self.at):
            # ECMA-262 ends the class here; Python and Rust take the bracket for its first member.
            message = "an empty class is read in two ways; write \\] for the bracket, [\\s\\S] for any character"
            raise PatternError(message, start)
        members: dict[CharacterSet, None] = {}
        while not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise PatternError("the class is never closed", start)
            members.update(dict.fromkeys(self._class_range()))
        self.at += 1
        joined = next(iter(members)) if len(members) == 1 else CharacterSet(()).union(*members)
        found = self.in_all_cases(joined)
        return found.complement() if is_negated else found

    def read_escape(self, *, is_in_class: bool) -> CharacterSet:
        """Read an escape that stands for one or several characters, the flags not yet minded."""
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in CLASS_ESCAPES:
            self.at += 2
            if following.isupper():
                return self.in_all_cases(CLASS_ESCAPES[following.lower()]).complement()
            return CLASS_ESCAPES[following]
        if following in ("p", "P"):
            return self._property()
        point = self._escaped_point(is_in_class=is_in_class)
        return CharacterSet.of([(point, point)])

    def _class_range(self) -> list[CharacterSet]:
        start = self.at
        low = self._class_atom()
        if not self.pattern.startswith("-", self.at) or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return [low[0]]
        self._refuse_operator()
        self.at += 1
        high = self._class_atom()
        if low[1] is None or high[1] is None:
            return [low[0], high[0], CharacterSet.of_text("-")]
        if low[1] > high[1]:
            raise PatternError("the range is out of order", start)
        return [CharacterSet.of([(low[1], high[1])])]

    def _refuse_operator(self) -> None:
        """Refuse what other engines read as sets within sets, and ECMA-262 as single characters."""
        if not self.notation.is_extended:
            return
        if self.pattern[self.at : self.at + 2] in _DOUBLED:
            sign = self.pattern[self.at]
            message = f"{sign * 2} in a class joins or cuts sets in some engines; for the sign itself write \\{sign}"
            raise PatternError(message, self.at)
        if _POSIX_CLASS.match(self.pattern, self.at):
            raise PatternError("there are no such classes; write \\p{Alphabetic}, \\d or the like", self.at)

    def _class_atom(self) -> tuple[CharacterSet, int | None]:
        """Return the characters, and the code point where it is one character."""
        self._refuse_operator()
        character = self.pattern[self.at]
        if character != "\\":
            self.at += 1
            return self.letter(character), ord(character)
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in CLASS_ESCAPES or following in ("p", "P"):
            return self.read_escape(is_in_class=True), None
        point = self._escaped_point(is_in_class=True)
        return CharacterSet.of([(point, point)]), point

    def _property(self) -> CharacterSet:
        found = _PROPERTY.match(self.pattern, self.at)
        if found is None:
            raise PatternError("write \\p{Name} or \\p{Name=Value}", self.at)
        members = property_set(found[1], found[2])
        if members is None:
            raise PatternError(f"there is no Unicode property {found[0][3:-1]!r}", self.at)
        is_negated = self.pattern[self.at + 1] == "P"
        self.at = found.end()
        return members.complement() if is_negated else members

    def _escaped_point(self, *, is_in_class: bool) -> int:
        start = self.at
        following = self.pattern[start + 1 : start + 2]
        if following == "":
            raise PatternError("the pattern ends in a backslash", start)
        if following == "u":
            return self._unicode_escape()
        if self.notation.is_extended and following in ("U", "x", "a"):
            return self._extended_escape(following)
        self.at += 2
        if following == "x":
            return self._hex(2, start)
        if following == "c":
            letter = self.pattern[self.at : self.at + 1]
            if not (letter.isascii() and letter.isalpha()):
                raise PatternError("write a letter behind \\c", start)
            self.at += 1
            return ord(letter) % 32
        if following == "b" and is_in_class:
            return 0x08
        if following.isdigit() and following.isascii():
            return self._digit_escape(start, is_in_class=is_in_class)
        if following in _CONTROLS:
            return ord(_CONTROLS[following])
        if following == "k":
            self._refuse_named_reference(start)
        if following.isascii() and following.isalpha():
            raise PatternError(self._hint(following), start)
        return ord(following)

    def _extended_escape(self, letter: str) -> int:
        start = self.at
        braced = _BRACED.match(self.pattern, start)
        if letter == "x" and braced is not None:
            return self._braced(braced)
        self.at += 2
        if letter == "a":
            return 0x07
        point = self._hex(8 if letter == "U" else 2, start)
        if point > 0x10FFFF:
            raise PatternError("there is no such code point", start)
        return point

    def _hint(self, letter: str) -> str:
        if self.notation.is_extended:
            return f"there is no escape \\{letter}; write {letter}, or \\\\{letter} for a backslash before it"
        hints = {"A": "^ for the start of the text", "Z": "$ for the end of the text", "z": "$ for the end of the text"}
        return f"ECMA-262 has no \\{letter}; write {hints.get(letter, letter)}"

    def _digit_escape(self, start: int, *, is_in_class: bool) -> int:
        digits = _DIGITS.match(self.pattern, start + 1)
        assert digits is not None
        if digits[0] == "0":
            return 0
        groups = sum(1 for found in _CAPTURING.finditer(self.pattern) if found[1])
        if not is_in_class and digits[0][0] != "0" and read_count(digits[0]) <= groups:
            raise PatternUnsupported("references back to a group", start)
        raise PatternError(f"there is no group {digits[0]}; write a character as \\xHH or \\uHHHH", start)

    def _refuse_named_reference(self, start: int) -> None:
        found = _NAMED_REFERENCE.match(self.pattern, start)
        openings = ("(?<", "(?P<") if self.notation.is_extended else ("(?<",)
        if found is not None and any(f"{opening}{found[1]}>" in self.pattern for opening in openings):
            raise PatternUnsupported("references back to a group", start)
        raise PatternError("the reference names no group", start)

    def _hex(self, count: int, start: int) -> int:
        digits = self.pattern[self.at : self.at + count]
        if len(digits) != count or not all(digit in _HEX_DIGITS for digit in digits):
            raise PatternError(f"write {count} hexadecimal digits", start)
        self.at += count
        return int(digits, 16)

    def _unicode_escape(self) -> int:
        start = self.at
        braced = _BRACED.match(self.pattern, start)
        if braced is not None:
            return self._braced(braced)
        self.at += 2
        unit = self._hex(4, start)
        low = _LOW_SURROGATE.match(self.pattern, self.at)
        if 0xD800 <= unit <= 0xDBFF and low is not None:
            self.at = low.end()
            return 0x10000 + ((unit - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return unit

    def _braced(self, found: re.Match[str]) -> int:
        digits = found[1].lstrip("0") or "0"
        if len(digits) > 6 or int(digits, 16) > 0x10FFFF:
            raise PatternError("there is no such code point", self.at)
        self.at = found.end()
        return int(digits, 16)


def read_count(digits: str) -> int:
    """Return the number, at most ``MAX_COUNT``."""
    significant = digits.lstrip("0")
    return min(int(significant or "0"), MAX_COUNT) if len(significant) < 20 else MAX_COUNT


__all__ = ["MAX_COUNT", "CharacterReader", "read_count"]
