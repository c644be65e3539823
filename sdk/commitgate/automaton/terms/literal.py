"""Denote texts that are written out: none, the empty one, one, one of several, and runs of bytes out of a set."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from commitgate.automaton.partition import Partition
from commitgate.automaton.terms.term import Term

if TYPE_CHECKING:
    from commitgate.automaton.terms.arena import Arena

_SHOWN_TEXTS = 5
"""How many of several texts are named in words."""


class Empty(Term):
    """Denote no text at all: the dead state."""

    __slots__ = ()

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena, nullable=False)

    def describe(self) -> str:
        return "nothing: the text cannot be continued"

    def _partition(self) -> Partition:
        return Partition(bytes(256))

    def _derive(self, byte: int) -> Term:
        return self


class Epsilon(Term):
    """Denote the empty text alone: nothing but the end can follow."""

    __slots__ = ()

    def __init__(self, arena: Arena) -> None:
        super().__init__(arena, nullable=True)

    def describe(self) -> str:
        return "the end of the text"

    def ways_on(self) -> Iterator[str]:
        return iter(())

    def _partition(self) -> Partition:
        return Partition(bytes(256))

    def _derive(self, byte: int) -> Term:
        return self.arena.empty


class Literal(Term):
    """Denote exactly ``data[offset:]``."""

    __slots__ = ("data", "offset")

    derives_any_byte = True

    def __init__(self, arena: Arena, data: bytes, offset: int) -> None:
        super().__init__(arena, nullable=False)
        self.data = data
        self.offset = offset

    @property
    def least_bytes(self) -> int:
        return len(self.data) - self.offset

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        return _printable(self.data[self.offset :])

    def _partition(self) -> Partition:
        return Partition.of({self.data[self.offset]: True})

    def _derive(self, byte: int) -> Term:
        if byte != self.data[self.offset]:
            return self.arena.empty
        return self.arena.literal(self.data, self.offset + 1)


class LiteralSet(Term):
    """Denote one of ``texts[low:high]``, each without its first ``offset`` bytes, which all of them share.

    One term stands for a whole range of the sorted array, so a large enum costs one object and not a chain of nodes.
    """

    __slots__ = ("high", "low", "offset", "texts")

    derives_any_byte = True

    def __init__(self, arena: Arena, texts: tuple[bytes, ...], low: int, high: int, offset: int) -> None:
        super().__init__(arena, nullable=len(texts[low]) == offset)
        self.texts = texts
        self.low = low
        self.high = high
        self.offset = offset

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        first = self._first()
        shown = [_printable(text[self.offset :]) for text in self.texts[first : min(self.high, first + _SHOWN_TEXTS)]]
        if self.high - first == 1:
            return shown[0]
        more = self.high - first - len(shown)
        return "one of " + ", ".join(shown) + (f" and {more} more" if more else "")

    def _first(self) -> int:
        return self.low + 1 if self.nullable else self.low

    def _partition(self) -> Partition:
        found: dict[int, int] = {}
        at = self._first()
        while at < self.high:
            byte = self.texts[at][self.offset]
            found[byte] = byte
            at = self._end_of(byte, at)
        return Partition.of(found)

    def _end_of(self, byte: int, start: int) -> int:
        return bisect_left(self.texts, byte + 1, start, self.high, key=lambda text: text[self.offset])

    def _derive(self, byte: int) -> Term:
        start = bisect_left(self.texts, byte, self._first(), self.high, key=lambda text: text[self.offset])
        end = self._end_of(byte, start)
        return self.arena.literal_range(self.texts, start, end, self.offset + 1)


class Run(Term):
    """Denote ``least`` to ``most`` bytes out of a set; ``most`` None has no upper bound."""

    __slots__ = ("least", "members", "most")

    derives_any_byte = True

    def __init__(self, arena: Arena, members: int, least: int, most: int | None) -> None:
        super().__init__(arena, nullable=least == 0)
        self.members = members
        self.least = least
        self.most = most

    def saturated(self, reach: int) -> Term:
        least = min(self.least, reach + 1)
        most = None if self.most is None or self.most > reach else self.most
        return self.arena.run(self.members, least, most)

    @property
    def comes_apart(self) -> bool:
        return True

    def describe(self) -> str:
        shown = bytes(byte for byte in range(256) if self.members >> byte & 1)
        names = {b"\t\n\r ": "white space", b"0123456789": "digits", b"123456789": "a digit from 1 to 9"}
        return names.get(shown) or f"bytes of {_printable(shown[:16])}"

    def _partition(self) -> Partition:
        return Partition(bytes(self.members >> byte & 1 for byte in range(256)))

    def _derive(self, byte: int) -> Term:
        if not self.members >> byte & 1:
            return self.arena.empty
        most = None if self.most is None else self.most - 1
        return self.arena.run(self.members, max(self.least - 1, 0), most)


def _printable(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace"))


__all__ = ["Empty", "Epsilon", "Literal", "LiteralSet", "Run"]
