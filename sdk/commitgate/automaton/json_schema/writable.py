"""Find the texts that an alphabet of bytes can write, so that no state waits for a character that cannot come."""

from __future__ import annotations

from functools import lru_cache

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.spelling import Spelling
from commitgate.automaton.text_language import TextLanguage, over_characters


@lru_cache(maxsize=16)
def writable_texts(spelling: Spelling) -> TextLanguage | None:
    """Return the texts of characters that a spelling can write; None where it can write every one."""
    short = [(point, point) for point in range(0x80) if spelling.text(chr(point)) is not None]
    members = CharacterSet.of([*short, *((first, last) for first, last in spelling.raw if last > 0x7F)])
    if members.complement().is_empty:
        return None
    return over_characters(members)


__all__ = ["writable_texts"]
