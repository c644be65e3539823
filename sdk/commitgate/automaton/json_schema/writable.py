"""Find the texts that an alphabet of bytes can write, so that no state waits for a character that cannot come."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from commitgate.automaton.alphabet import Alphabet
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.dfa import explore
from commitgate.automaton.spelling import Spelling
from commitgate.automaton.text_language import TextLanguage, bounded


@lru_cache(maxsize=16)
def writable_texts(spelling: Spelling) -> TextLanguage | None:
    """Return the texts of characters that a spelling can write; None where it can write every one."""
    short = [(point, point) for point in range(0x80) if spelling.text(chr(point)) is not None]
    members = CharacterSet.of([*short, *((first, last) for first, last in spelling.raw if last > 0x7F)])
    if members.complement().is_empty:
        return None
    alphabet, (mask,) = Alphabet.telling_apart([members])

    def successors(state: int) -> Iterator[tuple[int, int]]:
        return ((number, state) for number in range(alphabet.count) if mask >> number & 1)

    return bounded(explore(alphabet, 0, successors, lambda _: True))


__all__ = ["writable_texts"]
