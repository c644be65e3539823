r"""Read regular expressions of ECMA-262 with the meaning that the ``u`` flag gives them.

Where the strict grammar fails, what browsers accept without that flag is taken in its place as far as it is harmless
and authors write it: escapes of punctuation that need none (``\-``, ``\_``, ``\"``), lone brackets and braces, classes
as ends of ranges (``[\w-.]``) and quantified look-aheads. Letters are never escaped in vain: ``\Z`` would mean the
letter, which nobody wants.

The extended notation reads what other engines write as well, where all of them mean the same by it: ``(?P<name>...)``,
``\A``, ``\z``, flags. What they read in different ways it refuses.

Source: ECMA-262, 14th edition (2023), sections 22.2.1 and B.1.2; its proposal "Regular Expression Pattern Modifiers".
"""

from __future__ import annotations

import re

from commitgate.automaton.characters import ANY_CHARACTER
from commitgate.automaton.regex.case_folding import with_all_cases
from commitgate.automaton.regex.character_reader import MAX_COUNT, CharacterReader, read_count
from commitgate.automaton.regex.classes import WORD
from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.groups import (
    FLAG_GROUP,
    LEADING_FLAGS,
    LOOKS,
    Group,
    end_of_name,
    group_error,
    read_flags,
)
from commitgate.automaton.regex.notation import (
    DOT_TAKES_ALL,
    ECMA,
    EITHER_CASE,
    LINE_ANCHORS,
    VERBOSE,
    Notation,
)
from commitgate.automaton.regex.syntax import (
    NOTHING,
    Alternation,
    Characters,
    Look,
    Node,
    TextEnd,
    TextStart,
    WordBoundary,
    concatenated,
    repeated,
)

MAX_NESTING = 50
"""Most groups within one another; deeper ones could exhaust the stack."""

_QUANTIFIER = re.compile(r"([*+?]|\{([0-9]+)(?:(,)([0-9]*))?\})(\?)?")
_NEARLY_QUANTIFIER = re.compile(r"\{ *[0-9,]")
_LOOK_BEHINDS = ((True, False), (True, True))
_COMMENT = re.compile(r"\(\?#[^)]*\)")
_VERBOSE_SPACE = re.compile(r"(?:[ \t\n\r\v\f]|#[^\n]*)+")
_TEXT_ANCHORS = {"A": TextStart(), "z": TextEnd(), "Z": TextEnd()}


class _Parser(CharacterReader):
    def __init__(self, pattern: str, notation: Notation) -> None:
        super().__init__(pattern, notation)
        self.open = [Group(0, self.flags)]

    def parse(self) -> Node:
        if self.notation.is_extended:
            self._leading_flags()
        self._skip()
        while self.at < len(self.pattern):
            self._term()
            self._skip()
        if len(self.open) > 1:
            raise PatternError("the group is never closed", self.open[-1].position)
        return self.open[0].close()

    def _leading_flags(self) -> None:
        while found := LEADING_FLAGS.match(self.pattern, self.at):
            self.flags |= self._flags_of(found[1])
            self.at = found.end()

    def _flags_of(self, letters: str) -> frozenset[str]:
        try:
            return read_flags(letters, self.notation.known_flags)
        except ValueError as error:
            raise PatternError(str(error), self.at) from None

    def _skip(self) -> None:
        """Pass over comments and, where the pattern is verbose, over space."""
        while self.notation.is_extended:
            found = _COMMENT.match(self.pattern, self.at)
            if found is None and VERBOSE in self.flags:
                found = _VERBOSE_SPACE.match(self.pattern, self.at)
            if found is None:
                return
            self.at = found.end()

    def _term(self) -> None:
        character = self.pattern[self.at]
        start = self.at
        if character == "(":
            self._open()
            return
        if character == "|":
            self.at += 1
            self.open[-1].begin_option()
            return
        is_quantifiable = True
        if character == ")":
            group = self._close()
            start = group.position
            node, is_quantifiable = group.close(), group.look not in _LOOK_BEHINDS
        elif (assertion := self._assertion(character)) is not None:
            node, is_quantifiable = assertion, False
        else:
            node = self._atom(character)
        self._skip()
        self.open[-1].items.append(self._quantified(node, start, is_quantifiable=is_quantifiable))

    def _assertion(self, character: str) -> Node | None:
        """Read an anchor or a boundary; None where none stands here."""
        if character in "^$":
            self.at += 1
            is_start = character == "^"
            if LINE_ANCHORS in self.flags:
                # At the end of the text or beside what the dot leaves out: a line terminator.
                return Look(Characters(self.notation.dot), is_start, True)
            return TextStart() if is_start else TextEnd()
        letter = self.pattern[self.at + 1 : self.at + 2] if character == "\\" else ""
        if letter in ("b", "B"):
            self.at += 2
            return _cased_boundary(letter == "B") if EITHER_CASE in self.flags else WordBoundary(letter == "B")
        if self.notation.is_extended and letter in _TEXT_ANCHORS:
            self.at += 2
            return _TEXT_ANCHORS[letter]
        return None

    def _atom(self, character: str) -> Node:
        if character == ".":
            self.at += 1
            return Characters(ANY_CHARACTER if DOT_TAKES_ALL in self.flags else self.notation.dot)
        if character == "[":
            return Characters(self.read_class())
        if character == "\\":
            return Characters(self.in_all_cases(self.read_escape(is_in_class=False)))
        if _QUANTIFIER.match(self.pattern, self.at):
            raise PatternError("there is nothing to repeat", self.at)
        if self.notation.is_extended and _NEARLY_QUANTIFIER.match(self.pattern, self.at):
            raise PatternError("a count is written {2}, {2,} or {2,3}; write \\{ for the brace", self.at)
        self.at += 1
        return Characters(self.in_all_cases(self.letter(character)))

    def _quantified(self, node: Node, start: int, *, is_quantifiable: bool) -> Node:
        found = _QUANTIFIER.match(self.pattern, self.at)
        if found is None:
            return node
        if not is_quantifiable:
            raise PatternError("an assertion cannot be repeated", start)
        self.at = found.end()
        if self.notation.is_extended and found[5] is None and self.pattern.startswith("+", self.at):
            raise PatternUnsupported("quantifiers that never give back what they took; leave the second + out", self.at)
        symbol, least, comma, most = found[1], found[2], found[3], found[4]
        if least is None:
            return repeated(node, int(symbol == "+"), 1 if symbol == "?" else None)
        low = read_count(least)
        high = low if comma is None else read_count(most) if most else None
        if high is not None and high < low:
            raise PatternError("the bounds of the quantifier are out of order", found.start())
        return repeated(node, low, high)

    def _open(self) -> None:
        if len(self.open) > MAX_NESTING:
            raise PatternUnsupported(f"more than {MAX_NESTING} groups within one another", self.at)
        rest = self.pattern[self.at : self.at + 4]
        look = next((kind for kind in LOOKS if rest.startswith(kind)), None)
        name_end = end_of_name(self.pattern, self.at, self.notation)
        group = Group(self.at, self.flags)
        if look is not None:
            group.look = LOOKS[look]
            self.at += len(look)
        elif rest.startswith("(?:"):
            self.at += 3
        elif name_end is not None:
            self.at = name_end
        elif rest.startswith("(?"):
            self._open_with_flags()
        else:
            self.at += 1
        self.open.append(group)

    def _open_with_flags(self) -> None:
        found = FLAG_GROUP.match(self.pattern, self.at) if self.notation.is_extended else None
        if found is None or found[4] == ")":
            raise group_error(self.pattern, self.at, self.notation)
        added, removed = self._flags_of(found[1]), self._flags_of(found[3] or "")
        if added & removed or not added | removed:
            raise PatternError("a group sets or clears each flag once, such as (?i:...) or (?s-i:...)", self.at)
        self.flags = (self.flags | added) - removed
        self.at = found.end()

    def _close(self) -> Group:
        if len(self.open) == 1:
            raise PatternError("the bracket closes no group; write \\)", self.at)
        self.at += 1
        group = self.open.pop()
        self.flags = group.outer_flags
        return group


def _cased_boundary(is_negated: bool) -> Node:
    """Return a boundary of words that hold all that is a word character in either case."""
    word = Characters(with_all_cases(WORD))
    behind, ahead = Look(word, True, False), Look(word, False, False)
    not_behind, not_ahead = Look(word, True, True), Look(word, False, True)
    pairs = ((behind, ahead), (not_behind, not_ahead)) if is_negated else ((behind, not_ahead), (not_behind, ahead))
    return Alternation(tuple(concatenated(pair) for pair in pairs))


def parse(pattern: str, notation: Notation = ECMA) -> Node:
    """Return the parsed pattern.

    Raises:
        PatternError: it is malformed.
        PatternUnsupported: it refers back to groups, nests too deep, or uses what depends on how an engine searches.
    """
    return _Parser(pattern, notation).parse()


__all__ = ["MAX_COUNT", "MAX_NESTING", "NOTHING", "parse"]
