"""Hold groups that are still open while a pattern is read, and tell the kinds of groups apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from commitgate.automaton.regex.errors import PatternError, PatternUnsupported
from commitgate.automaton.regex.notation import Notation
from commitgate.automaton.regex.syntax import Look, Node, alternated, concatenated

LOOKS = {"(?<=": (True, False), "(?<!": (True, True), "(?=": (False, False), "(?!": (False, True)}
"""The look-arounds: behind or ahead, negated or not."""

FLAG_GROUP = re.compile(r"\(\?([a-zA-Z]*)(?:(-)([a-zA-Z]*))?([:)])")
"""Flags for a group, or from here on."""

LEADING_FLAGS = re.compile(r"\(\?(?!R\))([a-zA-Z]+)\)")
"""Flags for all of the pattern; ``(?R)`` would be the pattern within itself."""

_EITHER_NAMED = re.compile(r"\(\?P?<([\w$]+)>")
_NAMED = re.compile(r"\(\?<([\w$]+)>")
_RECURSION = re.compile(r"\(\?(?:R|[+-]?[0-9]|&|P>)")


@dataclass(slots=True)
class Group:
    """Hold what was read of a group that is still open.

    Attributes:
        position: where it opens.
        outer_flags: what holds again when it is closed.
    """

    position: int
    outer_flags: frozenset[str]
    look: tuple[bool, bool] | None = None
    options: list[Node] = field(default_factory=list[Node])
    items: list[Node] = field(default_factory=list[Node])

    def begin_option(self) -> None:
        """End the option that is being read."""
        self.options.append(concatenated(self.items))
        self.items = []

    def close(self) -> Node:
        """Return what the group matches."""
        inner = alternated([*self.options, concatenated(self.items)])
        return inner if self.look is None else Look(inner, *self.look)


def end_of_name(pattern: str, at: int, notation: Notation) -> int | None:
    """Return where the name of a named group ends; None where no such group opens."""
    named = (_EITHER_NAMED if notation.is_extended else _NAMED).match(pattern, at)
    return None if named is None or named[1][0].isdigit() else named.end()


def group_error(pattern: str, at: int, notation: Notation) -> PatternError | PatternUnsupported:
    """Return what is wrong with a group of no known kind."""
    flags = FLAG_GROUP.match(pattern, at)
    if not notation.is_extended:
        return _ecma_error(pattern, at, flags)
    if pattern.startswith("(?P=", at):
        return PatternUnsupported("references back to a group", at)
    if pattern.startswith("(?>", at):
        return PatternUnsupported("groups that never give back what they took; write (?:...)", at)
    if pattern.startswith("(?(", at):
        return PatternUnsupported("groups that depend on another group; write both cases as alternatives", at)
    if _RECURSION.match(pattern, at):
        return PatternUnsupported("patterns within themselves; write a grammar", at)
    if pattern.startswith("(?#", at):
        return PatternError("the comment is never closed", at)
    if flags is not None:
        return PatternError("flags stand at the start of the pattern; write (?i:...) in the middle of it", at)
    return PatternError("there is no such group; write (?:...), (?=...), (?!...), (?<name>...) or (?i:...)", at)


def _ecma_error(pattern: str, at: int, flags: re.Match[str] | None) -> PatternError | PatternUnsupported:
    if pattern.startswith("(?P", at):
        return PatternError("ECMA-262 writes named groups (?<name>...)", at)
    if flags is not None and flags[4] == ":":
        return PatternUnsupported("groups with flags of their own", at)
    if flags is not None:
        message = "ECMA-262 has no flags inside a pattern; for either case write both letters, such as [Aa]"
        return PatternError(message, at)
    return PatternError("ECMA-262 has no such group; write (?:...), (?=...), (?!...) or (?<name>...)", at)


def read_flags(letters: str, known: Iterable[str]) -> frozenset[str]:
    """Return the letters as a set.

    Raises:
        ValueError: one is unknown or there twice; the message says which.
    """
    for index, letter in enumerate(letters):
        if letter not in known:
            raise ValueError(f"there is no flag {letter!r}; flags are {', '.join(known)}")
        if letter in letters[:index]:
            raise ValueError(f"the flag {letter!r} is given twice")
    return frozenset(letters)


__all__ = ["FLAG_GROUP", "LEADING_FLAGS", "LOOKS", "Group", "end_of_name", "group_error", "read_flags"]
