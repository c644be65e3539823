"""Hold sets of characters as ranges of code points.

Texts are sequences of Unicode scalar values, so surrogates (U+D800 to U+DFFF) are in no set.

Source: Unicode 15, section 3.9, D76 (scalar values).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from commitgate.automaton.strings import LAST_CODE_POINT

FIRST_SURROGATE = 0xD800
LAST_SURROGATE = 0xDFFF


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """Hold code points.

    Attributes:
        ranges: ``(first, last)``, sorted and disjoint; neighbours are joined and surrogates are left out, so that equal
            sets are equal objects.
    """

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def of(ranges: Iterable[tuple[int, int]]) -> CharacterSet:
        """Return the set of all ``(first, last)``, in any order; what is no scalar value is left out."""
        found: list[tuple[int, int]] = []
        for first, last in sorted(_scalars(ranges)):
            if found and first <= found[-1][1] + 1:
                found[-1] = (found[-1][0], max(found[-1][1], last))
            else:
                found.append((first, last))
        return CharacterSet(tuple(found))

    @staticmethod
    def of_text(text: str) -> CharacterSet:
        """Return the set of the characters of ``text``."""
        return CharacterSet.of((ord(character), ord(character)) for character in text)

    @property
    def is_empty(self) -> bool:
        """Return whether the set holds nothing."""
        return not self.ranges

    def __contains__(self, point: int) -> bool:
        at = bisect_right(self.ranges, (point, LAST_CODE_POINT)) - 1
        return at >= 0 and self.ranges[at][1] >= point

    def __len__(self) -> int:
        """Return the number of code points."""
        return sum(last - first + 1 for first, last in self.ranges)

    def union(self, *others: CharacterSet) -> CharacterSet:
        """Return what is in any of the sets."""
        return CharacterSet.of(entry for member in (self, *others) for entry in member.ranges)

    def complement(self) -> CharacterSet:
        """Return the scalar values that are not in the set."""
        found: list[tuple[int, int]] = []
        start = 0
        for first, last in self.ranges:
            if start < first:
                found.append((start, first - 1))
            start = last + 1
        if start <= LAST_CODE_POINT:
            found.append((start, LAST_CODE_POINT))
        return CharacterSet.of(found)

    def intersection(self, other: CharacterSet) -> CharacterSet:
        """Return what is in both sets."""
        found: list[tuple[int, int]] = []
        mine, theirs = 0, 0
        while mine < len(self.ranges) and theirs < len(other.ranges):
            first = max(self.ranges[mine][0], other.ranges[theirs][0])
            last = min(self.ranges[mine][1], other.ranges[theirs][1])
            if first <= last:
                found.append((first, last))
            if self.ranges[mine][1] < other.ranges[theirs][1]:
                mine += 1
            else:
                theirs += 1
        return CharacterSet(tuple(found))


def _scalars(ranges: Iterable[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    for first, last in ranges:
        if last < FIRST_SURROGATE or first > LAST_SURROGATE:
            if first <= last:
                yield first, last
            continue
        if first < FIRST_SURROGATE:
            yield first, FIRST_SURROGATE - 1
        if last > LAST_SURROGATE:
            yield LAST_SURROGATE + 1, last


ANY_CHARACTER = CharacterSet.of([(0, LAST_CODE_POINT)])

__all__ = ["ANY_CHARACTER", "FIRST_SURROGATE", "LAST_SURROGATE", "CharacterSet"]
