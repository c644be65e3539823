r"""Read regular expressions of ECMA-262 with the meaning that the ``u`` flag gives them.

Where the strict grammar fails, what browsers accept without that flag is taken in its place as far as it is harmless
and authors write it: escapes of punctuation that need none (``\-``, ``\_``, ``\"``), lone brackets and braces, classes
as ends of ranges (``[\w-.]``) and quantified look-aheads. Letters are never escaped in vain: ``\Z`` would mean the
letter, which nobody wants.

Source: ECMA-262, 14th edition (2023), sections 22.2.1 and B.1.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.regex.classes import CLASS_ESCAPES, DOT, property_set
from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.syntax import (
    NOTHING,
    Characters,
    Look,
    Node,
    TextEnd,
    TextStart,
    WordBoundary,
    alternated,
    concatenated,
    repeated,
)

MAX_NESTING = 50
"""Most groups within one another; deeper ones could exhaust the stack."""
MAX_COUNT = 1 << 53
"""Counts beyond this one are all the same."""

_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]+)(?:(,)([0-9]*))?\})(\?)?")
_GROUPS = {"(?:": None, "(?=": (False, False), "(?!": (False, True), "(?<=": (True, False), "(?<!": (True, True)}
_LOOK_BEHINDS = ((True, False), (True, True))
_NAMED_GROUP = re.compile(r"\(\?<([\w$]+)>")
_CONTROLS = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_FLAGS = re.compile(r"\(\?[a-zA-Z]*(?:-[a-zA-Z]*)?([:)])")
_CAPTURING = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]?|(\((?!\?)|\(\?<(?![=!]))", re.DOTALL)


@dataclass(slots=True)
class _Group:
    """Hold what was read of a group that is still open."""

    position: int
    look: tuple[bool, bool] | None = None
    options: list[Node] = field(default_factory=list[Node])
    items: list[Node] = field(default_factory=list[Node])

    def close(self) -> Node:
        inner = alternated([*self.options, concatenated(self.items)])
        return inner if self.look is None else Look(inner, *self.look)


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.open = [_Group(0)]

    def parse(self) -> Node:
        while self.at < len(self.pattern):
            self._term()
        if len(self.open) > 1:
            raise PatternError("the group is never closed", self.open[-1].position)
        return self.open[0].close()

    def _term(self) -> None:
        character = self.pattern[self.at]
        start = self.at
        if character == "(":
            self._open()
            return
        if character == "|":
            self.at += 1
            self.open[-1].options.append(concatenated(self.open[-1].items))
            self.open[-1].items = []
            return
        is_quantifiable = True
        if character == ")":
            group = self._close()
            start = group.position
            node, is_quantifiable = group.close(), group.look not in _LOOK_BEHINDS
        elif character in "^$":
            self.at += 1
            node, is_quantifiable = (TextStart() if character == "^" else TextEnd()), False
        elif character == "\\" and self.pattern[self.at + 1 : self.at + 2] in ("b", "B"):
            node, is_quantifiable = WordBoundary(self.pattern[self.at + 1] == "B"), False
            self.at += 2
        else:
            node = self._atom(character)
        self.open[-1].items.append(self._quantified(node, start, is_quantifiable=is_quantifiable))

    def _atom(self, character: str) -> Node:
        if character == ".":
            self.at += 1
            return Characters(DOT)
        if character == "[":
            return Characters(self._class())
        if character == "\\":
            return Characters(self._escape(is_in_class=False))
        if _QUANTIFIER.match(self.pattern, self.at):
            raise PatternError("there is nothing to repeat", self.at)
        self.at += 1
        return Characters(CharacterSet.of_text(character))

    def _quantified(self, node: Node, start: int, *, is_quantifiable: bool) -> Node:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return node
        if not is_quantifiable:
            raise PatternError("an assertion cannot be repeated", start)
        self.at = found.end()
        symbol, least, comma, most = found[1], found[2], found[3], found[4]
        if least is None:
            return repeated(node, int(symbol == "+"), 1 if symbol == "?" else None)
        low = _count(least)
        high = low if comma is None else _count(most) if most else None
        if high is not None and high < low:
            raise PatternError("the bounds of the quantifier are out of order", found.start())
        return repeated(node, low, high)

    def _open(self) -> None:
        if len(self.open) > MAX_NESTING:
            raise PatternUnsupported(f"more than {MAX_NESTING} groups within one another", self.at)
        rest = self.pattern[self.at : self.at + 4]
        look = next((kind for kind in ("(?<=", "(?<!", "(?:", "(?=", "(?!") if rest.startswith(kind)), None)
        named = _NAMED_GROUP.match(self.pattern, self.at)
        group = _Group(self.at)
        if look is not None:
            group.look = _GROUPS[look]
            self.at += len(look)
        elif named is not None and not named[1][0].isdigit():
            self.at = named.end()
        elif rest.startswith("(?"):
            raise self._group_error()
        else:
            self.at += 1
        self.open.append(group)

    def _group_error(self) -> PatternError | PatternUnsupported:
        if self.pattern.startswith("(?P", self.at):
            return PatternError("ECMA-262 writes named groups (?<name>...)", self.at)
        flags = _FLAGS.match(self.pattern, self.at)
        if flags is not None and flags[1] == ":":
            return PatternUnsupported("groups with flags of their own", self.at)
        if flags is not None:
            message = "ECMA-262 has no flags inside a pattern; for either case write both letters, such as [Aa]"
            return PatternError(message, self.at)
        return PatternError("ECMA-262 has no such group; write (?:...), (?=...), (?!...) or (?<name>...)", self.at)

    def _close(self) -> _Group:
        if len(self.open) == 1:
            raise PatternError("the bracket closes no group; write \\)", self.at)
        self.at += 1
        return self.open.pop()

    def _class(self) -> CharacterSet:
        start = self.at
        self.at += 1
        is_negated = self.pattern.startswith("^", self.at)
        self.at += is_negated
        members: list[CharacterSet] = []
        while not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise PatternError("the class is never closed", start)
            members.extend(self._class_range())
        self.at += 1
        found = CharacterSet(()).union(*members)
        return found.complement() if is_negated else found

    def _class_range(self) -> list[CharacterSet]:
        start = self.at
        low = self._class_atom()
        if not self.pattern.startswith("-", self.at) or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
            return [low[0]]
        self.at += 1
        high = self._class_atom()
        if low[1] is None or high[1] is None:
            return [low[0], high[0], CharacterSet.of_text("-")]
        if low[1] > high[1]:
            raise PatternError("the range is out of order", start)
        return [CharacterSet.of([(low[1], high[1])])]

    def _class_atom(self) -> tuple[CharacterSet, int | None]:
        """Return the characters, and the code point where it is one character."""
        character = self.pattern[self.at]
        if character != "\\":
            self.at += 1
            return CharacterSet.of_text(character), ord(character)
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in CLASS_ESCAPES or following in ("p", "P"):
            return self._escape(is_in_class=True), None
        point = self._escaped_point(is_in_class=True)
        return CharacterSet.of([(point, point)]), point

    def _escape(self, *, is_in_class: bool) -> CharacterSet:
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in CLASS_ESCAPES:
            self.at += 2
            return CLASS_ESCAPES[following]
        if following in ("p", "P"):
            return self._property()
        point = self._escaped_point(is_in_class=is_in_class)
        return CharacterSet.of([(point, point)])

    def _property(self) -> CharacterSet:
        found = re.compile(r"\\[pP]\{([A-Za-z0-9_]+)(?:=([A-Za-z0-9_]+))?\}").match(self.pattern, self.at)
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
            raise PatternError(_hint(following), start)
        return ord(following)

    def _digit_escape(self, start: int, *, is_in_class: bool) -> int:
        digits = re.compile("[0-9]+").match(self.pattern, start + 1)
        assert digits is not None
        if digits[0] == "0":
            return 0
        groups = sum(1 for found in _CAPTURING.finditer(self.pattern) if found[1])
        if not is_in_class and digits[0][0] != "0" and _count(digits[0]) <= groups:
            raise PatternUnsupported("references back to a group", start)
        raise PatternError(f"there is no group {digits[0]}; write a character as \\xHH or \\uHHHH", start)

    def _refuse_named_reference(self, start: int) -> None:
        found = re.compile(r"\\k<([\w$]+)>").match(self.pattern, start)
        if found is not None and f"(?<{found[1]}>" in self.pattern:
            raise PatternUnsupported("references back to a group", start)
        raise PatternError("the reference names no group", start)

    def _hex(self, count: int, start: int) -> int:
        digits = self.pattern[self.at : self.at + count]
        if len(digits) != count or not all(digit in "0123456789abcdefABCDEF" for digit in digits):
            raise PatternError(f"write {count} hexadecimal digits", start)
        self.at += count
        return int(digits, 16)

    def _unicode_escape(self) -> int:
        start = self.at
        braced = re.compile(r"\\u\{([0-9a-fA-F]+)\}").match(self.pattern, start)
        if braced is not None:
            digits = braced[1].lstrip("0") or "0"
            if len(digits) > 6 or int(digits, 16) > 0x10FFFF:
                raise PatternError("there is no such code point", start)
            self.at = braced.end()
            return int(digits, 16)
        self.at += 2
        unit = self._hex(4, start)
        low = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.pattern, self.at)
        if 0xD800 <= unit <= 0xDBFF and low is not None:
            self.at = low.end()
            return 0x10000 + ((unit - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        return unit


def _count(digits: str) -> int:
    return min(int(digits), MAX_COUNT) if len(digits) < 20 else MAX_COUNT


def _hint(letter: str) -> str:
    hints = {"A": "^ for the start of the text", "Z": "$ for the end of the text", "z": "$ for the end of the text"}
    return f"ECMA-262 has no \\{letter}; write {hints.get(letter, letter)}"


def parse(pattern: str) -> Node:
    """Return the parsed pattern.

    Raises:
        PatternError: it is malformed.
        PatternUnsupported: it refers back to groups, nests too deep, or sets flags of its own.
    """
    return _Parser(pattern).parse()


__all__ = ["MAX_COUNT", "MAX_NESTING", "NOTHING", "parse"]
