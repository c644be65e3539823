"""Keep the automata of formats as text, since making one from its pattern takes up to 0.2 s of every process.

A table is the base-85 text of the deflated JSON of a list: fewest and most characters, the alphabet (starts, numbers,
count), the accepting states, and for each state where it leads, in pairs: how much higher the target's number is, and
which classes lead there, bit n for class n.
"""

from __future__ import annotations

import json
import zlib
from base64 import b85decode, b85encode

from commitgate.automaton.alphabet import Alphabet
from commitgate.automaton.dfa import Dfa
from commitgate.automaton.minimal import Row
from commitgate.automaton.text_language import TextLanguage


def table_of(language: TextLanguage) -> str:
    """Return the table of a language; its label is not in it."""
    alphabet = language.dfa.alphabet
    rows: list[list[int]] = []
    for state, row in enumerate(language.dfa.rows):
        classes: dict[int, int] = {}
        for letter, target in row:
            classes[target] = classes.get(target, 0) | 1 << letter
        rows.append([number for target, mask in classes.items() for number in (target - state, mask)])
    parts = (alphabet.starts, alphabet.numbers, alphabet.count, sorted(language.dfa.accepting), rows)
    text = json.dumps([language.least, language.most, *parts], separators=(",", ":"))
    return b85encode(zlib.compress(text.encode(), 9)).decode()


def language_of(table: str) -> TextLanguage:
    """Return the language of a table."""
    least, most, starts, numbers, count, accepting, packed = json.loads(zlib.decompress(b85decode(table)))
    letters = {mask: _bits(mask) for mask in {mask for pairs in packed for mask in pairs[1::2]}}
    rows: list[Row] = []
    for state, pairs in enumerate(packed):
        targets = zip(pairs[::2], pairs[1::2], strict=True)
        rows.append(tuple(sorted([(letter, state + ahead) for ahead, mask in targets for letter in letters[mask]])))
    dfa = Dfa(Alphabet(tuple(starts), tuple(numbers), count), tuple(rows), frozenset(accepting))
    return TextLanguage(dfa, least, most)


def _bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [at for at, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


__all__ = ["language_of", "table_of"]
