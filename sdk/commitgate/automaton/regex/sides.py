"""Tell what may stand on either side of a place in a pattern: an end of the text, or which characters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.regex.syntax import (
    Alternation,
    Characters,
    Concatenation,
    Look,
    Node,
    Repeat,
    TextEnd,
    TextStart,
    WordBoundary,
)

NO_CHARACTER = CharacterSet(())


@dataclass(frozen=True, slots=True)
class Side:
    """Say what may stand on one side of a place.

    Attributes:
        has_end: the text may end there.
        members: the characters that may stand there.
    """

    has_end: bool
    members: CharacterSet

    @property
    def is_end(self) -> bool | None:
        """Return whether the text ends there; None where that depends on the text."""
        return None if self.has_end and not self.members.is_empty else self.has_end

    def is_among(self, members: CharacterSet) -> bool | None:
        """Return whether one of these characters stands there; None where that depends on the text."""
        both = self.members.intersection(members)
        if both.is_empty:
            return False
        return True if both == self.members and not self.has_end else None


END = Side(True, NO_CHARACTER)
"""Outside the whole pattern."""


@dataclass(frozen=True, slots=True)
class Rim:
    """Say with what the texts of a node begin, or end.

    Attributes:
        members: the characters.
        is_nullable: it may match the empty text.
    """

    members: CharacterSet
    is_nullable: bool


class Rims:
    """Work out the rims of the nodes of one pattern, each once.

    Attributes:
        work: ranges that were joined so far.
    """

    def __init__(self) -> None:
        self.work = 0
        self._known: dict[tuple[int, bool], Rim] = {}

    def first(self, node: Node) -> Rim:
        """Return with what the texts of a node begin."""
        return self._rim(node, False)

    def last(self, node: Node) -> Rim:
        """Return with what the texts of a node end."""
        return self._rim(node, True)

    def _rim(self, node: Node, is_last: bool) -> Rim:
        # Nodes stay as long as their pattern does, and to hash them would cost more than this saves.
        key = (id(node), is_last)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._rim_of(node, is_last)
        return known

    def _rim_of(self, node: Node, is_last: bool) -> Rim:
        match node:
            case Characters(members):
                return Rim(members, False)
            case Concatenation(items):
                return self._rim_of_row(items[::-1] if is_last else items, is_last)
            case Alternation(options):
                rims = [self._rim(option, is_last) for option in options]
                return Rim(self.joined(rim.members for rim in rims), any(rim.is_nullable for rim in rims))
            case Repeat(item, least):
                rim = self._rim(item, is_last)
                return Rim(rim.members, rim.is_nullable or least == 0)
            case TextStart() | TextEnd() | WordBoundary() | Look():
                return Rim(NO_CHARACTER, True)
            case _:
                assert_never(node)

    def _rim_of_row(self, items: tuple[Node, ...], is_last: bool) -> Rim:
        found: list[CharacterSet] = []
        for item in items:
            rim = self._rim(item, is_last)
            found.append(rim.members)
            if not rim.is_nullable:
                return Rim(self.joined(found), False)
        return Rim(self.joined(found), True)

    def joined(self, sets: Iterable[CharacterSet]) -> CharacterSet:
        """Return the characters of all sets."""
        distinct = {id(members): members for members in sets if not members.is_empty}
        self.work += 1 + sum(len(members.ranges) for members in distinct.values())
        parts = list(distinct.values())
        return parts[0] if len(parts) == 1 else NO_CHARACTER.union(*parts)

    def beyond(self, side: Side, rim: Rim) -> Side:
        """Return what stands beside the far end of what has this rim there."""
        if not rim.is_nullable:
            return Side(False, rim.members)
        return Side(side.has_end, self.joined((side.members, rim.members)))


__all__ = ["END", "Rim", "Rims", "Side"]
