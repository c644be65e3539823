"""Split the 256 bytes into classes that a term cannot tell apart.

Source: Owens, Reppy and Turon, "Regular-expression derivatives re-examined", 2009, section 4.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import compress

_BYTES = range(256)


class Partition:
    """Split the 256 bytes into classes whose members have the same derivative. Class 0 holds the dead bytes.

    Attributes:
        class_of: 256 entries, byte to class.
        count: number of classes, the dead one included.
        representatives: one byte of each class; entry 0 has no meaning.
        live: the bytes that are not dead, ascending.
    """

    __slots__ = ("class_of", "count", "live", "representatives")

    def __init__(self, class_of: bytes) -> None:
        self.class_of = class_of
        self.count = max(class_of) + 1
        self.live = bytes(compress(_BYTES, class_of))
        self.representatives = (0, *(class_of.index(number) for number in range(1, self.count)))

    @staticmethod
    def of(keys: Mapping[int, Hashable]) -> Partition:
        """Return the partition in which bytes of equal keys share a class, and bytes without a key are dead."""
        numbers: dict[Hashable, int] = {}
        class_of = bytearray(256)
        for byte, key in keys.items():
            class_of[byte] = numbers.setdefault(key, len(numbers) + 1)
        return Partition(bytes(class_of))


__all__ = ["Partition"]
