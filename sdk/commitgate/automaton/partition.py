"""Split the 256 bytes into classes that a term cannot tell apart.

Source: Owens, Reppy and Turon, "Regular-expression derivatives re-examined", 2009, section 4.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class Partition:
    """Split the 256 bytes into classes whose members have the same derivative. Class 0 holds the dead bytes.

    Attributes:
        class_of: 256 entries, byte to class.
        count: number of classes, the dead one included.
        representatives: one byte of each class; entry 0 has no meaning.
    """

    __slots__ = ("class_of", "count", "representatives")

    def __init__(self, class_of: bytes) -> None:
        self.class_of = class_of
        self.count = max(class_of) + 1
        first: dict[int, int] = {}
        for byte, number in enumerate(class_of):
            first.setdefault(number, byte)
        self.representatives = tuple(first.get(number, 0) for number in range(self.count))

    @staticmethod
    def of(keys: Iterable[Hashable | None]) -> Partition:
        """Return the partition of 256 keys, one a byte; None marks a dead byte, equal keys share a class."""
        numbers: dict[Hashable, int] = {}
        return Partition(bytes(0 if key is None else numbers.setdefault(key, len(numbers) + 1) for key in keys))


__all__ = ["Partition"]
