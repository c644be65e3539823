"""Make sets of characters whole under case: with each character all that differ from it in case alone.

Source: ECMA-262, 14th edition (2023), section 22.2.2.7.3 (Canonicalize); Unicode 15, section 5.18 (caseless matching).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from commitgate.automaton.characters import CharacterSet

_CASED_POINTS = 0x20000
"""Beyond the first two planes stand ideographs, marks and private characters, which have no case."""
_BLOCK = 32
_CACHED_SETS = 256


@dataclass(frozen=True, slots=True)
class _Cases:
    """Hold the characters that have others of their case.

    Attributes:
        points: all of them, sorted.
        variants: for each of them all that are the same but for case, itself too.
        blocks: for each 32 of ``points`` the least and the greatest of their variants.
    """

    points: tuple[int, ...]
    variants: tuple[tuple[int, ...], ...]
    blocks: tuple[tuple[int, int], ...]

    def beside(self, first: int, last: int) -> Iterator[int]:
        """Yield what a range lacks of the variants of its characters."""
        at, end = bisect_left(self.points, first), bisect_right(self.points, last)
        while at < end:
            least, greatest = self.blocks[at // _BLOCK]
            if at % _BLOCK == 0 and at + _BLOCK <= end and first <= least and greatest <= last:
                at += _BLOCK
                continue
            for variant in self.variants[at]:
                if not first <= variant <= last:
                    yield variant
            at += 1


@cache
def _cases() -> _Cases:
    """Return what Unicode's simple case folding makes equal.

    Python knows the full folding alone, which may give several characters (``ß`` gives ``ss``). Two characters have
    the same simple folding exactly if they have the same full one: Unicode 15.1 gave the last three pairs that
    differed their simple folding. The dotless and the dotted I of Turkish fold to themselves.
    """
    groups: dict[str, list[int]] = {}
    for point in range(_CASED_POINTS):
        character = chr(point)
        full = character.casefold()
        if full != character:
            groups.setdefault(full, [ord(full)] if len(full) == 1 else []).append(point)
    found = {point: tuple(group) for group in groups.values() if len(group) > 1 for point in group}
    points = tuple(sorted(found))
    variants = tuple(found[point] for point in points)
    blocks = [variants[at : at + _BLOCK] for at in range(0, len(points), _BLOCK)]
    return _Cases(points, variants, tuple((min(map(min, block)), max(map(max, block))) for block in blocks))


@lru_cache(maxsize=_CACHED_SETS)
def with_all_cases(members: CharacterSet) -> CharacterSet:
    """Return the set with all characters that have the simple case folding of one of its own."""
    cases = _cases()
    added = {variant for first, last in members.ranges for variant in cases.beside(first, last)}
    return members.union(CharacterSet.of((point, point) for point in added)) if added else members


__all__ = ["with_all_cases"]
