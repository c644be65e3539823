"""Write texts of an automaton at random: draw live bytes for a while, then take a shortest way to an end."""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random

from commitgate.automaton import Term

MOST_STATES = 20_000
"""Most states that the search for an end looks at."""

_QUOTES = frozenset(b"\"'")

_CONTINUATION = range(0x80, 0xC0)
_FEW = 16


def finish(state: Term) -> bytes | None:
    """Return a short text after which ``state`` accepts; None where no end is found within ``MOST_STATES``.

    Where much may follow a quote is tried first: inside a key each other byte leads to a state of its own.
    """
    seen = {state}
    waiting: list[tuple[int, int, bytes, Term]] = [(0, 0, b"", state)]
    while waiting:
        cost, _, text, at = heappop(waiting)
        if at.nullable:
            return text
        ways = list(at.successors())
        is_inside = bool(ways) and ways[0][0][0] in _CONTINUATION
        for number, (members, following) in enumerate(ways):
            if following not in seen:
                if len(seen) >= MOST_STATES:
                    return None
                seen.add(following)
                is_quick = len(ways) <= _FEW or _QUOTES.issuperset(members) or (is_inside and number == 0)
                further = 1 if is_quick else 8
                heappush(waiting, (cost + further, len(seen), text + members[:1], following))
    return None


def write(start: Term, draw: Random, *, length: int = 60) -> bytes:
    """Return a text that leads from ``start`` to an accepting state.

    Args:
        start: the state before the text; not the empty term.
        draw: chooses the bytes; plain letters and signs more often than what is beyond ASCII.
        length: from how many bytes on the shortest way to an end is taken; before, an end becomes likelier by and by.
    """
    text, state = bytearray(), start
    while len(text) < length:
        if state.nullable and draw.random() < 0.02 + len(text) / length / 2:
            return bytes(text)
        ways = list(state.successors())
        if not ways:
            break
        plain = [way for way in ways if way[0][0] < 0x80]
        members, state = draw.choice(plain if plain and draw.random() < 0.9 else ways)
        text.append(draw.choice(members))
    rest = finish(state)
    assert rest is not None, ("no end is near", bytes(text))
    return bytes(text) + rest


def write_many(start: Term, seed: int, count: int, *, length: int = 60) -> list[bytes]:
    """Return ``count`` distinct texts, of lengths up to about ``length``; fewer where the language has fewer."""
    draw = Random(seed)
    found: dict[bytes, None] = {}
    for _ in range(5 * count):
        found[write(start, draw, length=draw.randrange(1, length + 1))] = None
        if len(found) == count:
            break
    return list(found)
