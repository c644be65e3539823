"""Say how a pattern is read: as JSON Schema means it, or with what else authors of patterns write."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.regex.classes import DOT

EITHER_CASE = "i"
LINE_ANCHORS = "m"
DOT_TAKES_ALL = "s"
VERBOSE = "x"
UNICODE = "u"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notation:
    """Say how a pattern is read.

    Attributes:
        is_extended: also read what other engines write and has one meaning everywhere, and refuse what has several.
        flags: letters that hold from the start of the pattern.
        known_flags: letters that the pattern itself may set.
        dot: what ``.`` takes; ``^`` and ``$`` at lines stand beside the rest.
    """

    is_extended: bool = False
    flags: frozenset[str] = frozenset()
    known_flags: str = ""
    dot: CharacterSet = DOT


ECMA = Notation()
"""As the keyword ``pattern`` of JSON Schema is read."""

__all__ = ["DOT_TAKES_ALL", "ECMA", "EITHER_CASE", "LINE_ANCHORS", "UNICODE", "VERBOSE", "Notation"]
