"""Know the keys that an open object has, in a few bytes a key.

A set of strings takes 100 to 150 bytes a key, many times the text of an object with a million short ones. The text is
held anyway, so here a key is an offset into it and a hash: 18 to 36 bytes.
"""

from __future__ import annotations

from array import array

from commitgate.preview.characters import UNITS, decode_units

FEW_KEYS = 64
"""Up to this many, a dictionary is as small and much faster."""
_HASH = 0xFFFFFFFF


class KeySet:
    """Hold the decoded keys of one object.

    Args:
        text: the text that the keys stand in; only ever appended to.
    """

    __slots__ = ("_count", "_few", "_hashes", "_places", "_text")

    def __init__(self, text: bytearray) -> None:
        self._text = text
        self._few: dict[str, int] | None = {}
        self._count = 0
        # Open addressing, linear probing. A place is an offset, counted from 1; 0 is a free slot.
        self._places = array("Q")
        self._hashes = array("I")

    def add(self, name: str, at: int) -> bool:
        """Take a key in; return False where it is there already.

        Args:
            name: the decoded key.
            at: offset of its first byte after the quote.
        """
        if self._few is None:
            return self._add(name, at)
        if name in self._few:
            return False
        self._few[name] = at
        if len(self._few) > FEW_KEYS:
            self._resize(4 * FEW_KEYS)
            for few_name, few_at in self._few.items():
                self._add(few_name, few_at)
            self._few = None
        return True

    def _add(self, name: str, at: int) -> bool:
        places, hashes = self._places, self._hashes
        last, code = len(places) - 1, hash(name) & _HASH
        slot = code & last
        while place := places[slot]:
            if hashes[slot] == code and self._name_at(place - 1) == name:
                return False
            slot = (slot + 1) & last
        places[slot], hashes[slot] = at + 1, code
        self._count += 1
        if 3 * self._count > 2 * len(places):
            self._resize(2 * len(places))
        return True

    def _resize(self, slots: int) -> None:
        places, hashes, last = array("Q", bytes(8 * slots)), array("I", bytes(4 * slots)), slots - 1
        for place, code in zip(self._places, self._hashes, strict=True):
            if place:
                slot = code & last
                while places[slot]:
                    slot = (slot + 1) & last
                places[slot], hashes[slot] = place, code
        self._places, self._hashes = places, hashes

    def _name_at(self, at: int) -> str:
        units = UNITS.match(self._text, at)
        return decode_units(bytes(self._text[at : at if units is None else units.end()]))


__all__ = ["FEW_KEYS", "KeySet"]
