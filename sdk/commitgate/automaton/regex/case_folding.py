"""Make sets of characters whole under case: with each character all that differ from it in case alone.

Source: ECMA-262, 14th edition (2023), section 22.2.2.7.3 (Canonicalize); Unicode 15, section 5.18 (caseless matching).
"""

from __future__ import annotations

from functools import cache, lru_cache

from commitgate.automaton.characters import CharacterSet

_CASED_POINTS = 0x20000
"""Beyond the first two planes stand ideographs, marks and private characters, which have no case."""
_CACHED_SETS = 256


@cache
def _variants() -> dict[int, tuple[int, ...]]:
    """Return for each character that has others of its case all of them, itself too.

    Python knows the full folding alone, which may give several characters (``ß`` gives ``ss``). Two characters have
    the same simple folding exactly if they have the same full one: Unicode 15.1 gave the last three pairs that
    differed their simple folding. The dotless and the dotted I of Turkish fold to themselves.
    """
    groups: dict[str, list[str]] = {}
    for point in range(_CASED_POINTS):
        character = chr(point)
        full = character.casefold()
        if full != character:
            groups.setdefault(full, [full] if len(full) == 1 else []).append(character)
    found: dict[int, tuple[int, ...]] = {}
    for group in groups.values():
        points = tuple(ord(character) for character in group)
        if len(points) > 1:
            found |= dict.fromkeys(points, points)
    return found


@cache
def _cased() -> CharacterSet:
    return CharacterSet.of((point, point) for point in _variants())


@lru_cache(maxsize=_CACHED_SETS)
def with_all_cases(members: CharacterSet) -> CharacterSet:
    """Return the set with all characters that have the simple case folding of one of its own."""
    variants = _variants()
    added = {
        variant
        for first, last in members.intersection(_cased()).ranges
        for point in range(first, last + 1)
        for variant in variants[point]
    }
    return members.union(CharacterSet.of((point, point) for point in added)) if added else members


__all__ = ["with_all_cases"]
