"""Hold character-level automata: what a string may contain, before it is spelled in JSON.

States are immutable values, equal where they mean the same language. ``ranges()`` gives the transitions as sorted,
disjoint ranges of code points; what no range covers is dead. A state is live: some text ends in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TypeAlias

LAST_CODE_POINT = 0x10FFFF
_SCALAR_VALUES = LAST_CODE_POINT + 1 - 0x800
_COUNTED_LENGTH = 8
"""A text of more characters can be spelled in more ways than anyone counts."""

Ranges: TypeAlias = "tuple[tuple[int, int, CharacterState], ...]"


class CharacterState(ABC):
    """Denote a language of texts, as sequences of Unicode scalar values. Hashable; equal where built the same."""

    @property
    @abstractmethod
    def nullable(self) -> bool:
        """Return whether the text may end here."""

    @abstractmethod
    def ranges(self) -> Ranges:
        """Return ``(first, last, next)`` for each range of code points that may follow, sorted and disjoint."""

    @abstractmethod
    def saturated(self, reach: int) -> CharacterState:
        """Return a state that agrees with this one on the first ``reach`` characters; see ``Term.saturated``."""

    @property
    def is_bounded(self) -> bool:
        """Return whether a count bounds the length of what may follow."""
        return False

    def uncounted(self) -> CharacterState | None:
        """Return the state that differs from this one in its counts alone; None where there is none, or counts matter.

        Counts matter where they keep a character from following. States that lead everywhere the uncounted one does
        share what is known of it.
        """
        return None

    def after_one(self, target: CharacterState) -> CharacterState:
        """Return ``target``, where the uncounted state leads, with the counts that this state leaves."""
        return target

    def counted(self, least: int, most: int | None) -> CharacterState:
        """Return this state with other counts."""
        del least, most
        return self

    @abstractmethod
    def size(self, limit: int) -> int:
        """Return how many texts may follow, at most ``limit``."""

    def holds(self, text: str) -> bool:
        """Return whether exactly ``text`` may follow."""
        state: CharacterState = self
        for character in text:
            point = ord(character)
            ranges = state.ranges()
            at = bisect_right(ranges, point, key=lambda entry: entry[0]) - 1
            if at < 0 or ranges[at][1] < point:
                return False
            state = ranges[at][2]
        return state.nullable

    @abstractmethod
    def describe(self) -> str:
        """Say in words what may come next."""


@dataclass(frozen=True, slots=True)
class Length(CharacterState):
    """Denote every text of ``least`` to ``most`` code points; ``most`` None has no upper bound."""

    least: int
    most: int | None

    @property
    def nullable(self) -> bool:
        return self.least == 0

    def ranges(self) -> Ranges:
        if self.most == 0:
            return ()
        following = Length(max(self.least - 1, 0), None if self.most is None else self.most - 1)
        return ((0, LAST_CODE_POINT, following),)

    def saturated(self, reach: int) -> Length:
        return Length(min(self.least, reach + 1), None if self.most is None or self.most > reach else self.most)

    @property
    def is_bounded(self) -> bool:
        return self.most is not None

    def uncounted(self) -> Length | None:
        if self.most == 0 or (self.most is None and self.least <= 1):
            return None
        return Length(min(self.least, 1), None)

    def after_one(self, target: CharacterState) -> CharacterState:
        return target.counted(max(self.least - 1, 0), None if self.most is None else self.most - 1)

    def counted(self, least: int, most: int | None) -> Length:
        return Length(least, most)

    def size(self, limit: int) -> int:
        if self.most is None or self.most > _COUNTED_LENGTH:
            return limit
        return min(limit, sum(_SCALAR_VALUES**length for length in range(self.least, self.most + 1)))

    def describe(self) -> str:
        if self.most == 0:
            return "the closing quote"
        bounds = [f"at least {self.least} more"] if self.least else []
        bounds += [f"at most {self.most} more"] if self.most is not None else []
        return "string characters" + (f" ({', '.join(bounds)})" if bounds else "")


class TextTable:
    """Hold sorted, distinct texts; compares by content and keeps its hash, since states refer to it often."""

    __slots__ = ("_hash", "texts")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self._hash = hash(texts)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, TextTable) and self.texts == other.texts)

    def groups(self, low: int, high: int, offset: int) -> list[tuple[int, int, int]]:
        """Return ``(code point, low, high)`` for each character that texts in the range have at ``offset``."""
        found: list[tuple[int, int, int]] = []
        at = low
        while at < high and len(self.texts[at]) == offset:
            at += 1
        while at < high:
            point = ord(self.texts[at][offset])
            end = bisect_left(self.texts, point + 1, at, high, key=lambda text: ord(text[offset]))
            found.append((point, at, end))
            at = end
        return found

    def describe(self, low: int, high: int, skipped: int) -> str:
        """Return the texts of a range in words, at most five of them."""
        left = [index for index in range(low, high) if not skipped >> index & 1]
        shown = ", ".join(repr(self.texts[index]) for index in left[:5])
        return shown + (f" and {len(left) - 5} more" if len(left) > 5 else "")


@dataclass(frozen=True, slots=True)
class OneOf(CharacterState):
    """Denote one of ``table.texts[low:high]``, each without its first ``offset`` characters.

    Attributes:
        skipped: bit n says that ``table.texts[n]`` is left out; so keys already seen need no table of their own.
    """

    table: TextTable
    low: int
    high: int
    offset: int = 0
    skipped: int = 0

    @property
    def nullable(self) -> bool:
        return len(self.table.texts[self.low]) == self.offset and not self.skipped >> self.low & 1

    def ranges(self) -> Ranges:
        groups = self.table.groups(self.low, self.high, self.offset)
        return tuple(
            (point, point, OneOf(self.table, low, high, self.offset + 1, self._skipped_of(low, high)))
            for point, low, high in groups
            if _is_any_left(self.skipped, low, high)
        )

    def _skipped_of(self, low: int, high: int) -> int:
        # What is left out elsewhere no longer matters, so that states meet again further on.
        return self.skipped & ((1 << high - low) - 1 << low)

    def saturated(self, reach: int) -> OneOf:
        del reach
        return self

    def size(self, limit: int) -> int:
        return min(limit, self.high - self.low - (self.skipped >> self.low).bit_count())

    def describe(self) -> str:
        return "the rest of one of " + self.table.describe(self.low, self.high, self.skipped)


def _is_any_left(skipped: int, low: int, high: int) -> bool:
    everything = (1 << high - low) - 1
    return skipped >> low & everything != everything


@dataclass(frozen=True, slots=True)
class NoneOf(CharacterState):
    """Denote the texts of ``base`` but those of ``table.texts[low:high]``, without their first ``offset`` characters.

    The state must be live: some text of ``base`` is none of these.
    """

    table: TextTable
    low: int
    high: int
    offset: int
    base: CharacterState

    @property
    def nullable(self) -> bool:
        return self.base.nullable and len(self.table.texts[self.low]) != self.offset

    def ranges(self) -> Ranges:
        found: list[tuple[int, int, CharacterState]] = []
        groups = self.table.groups(self.low, self.high, self.offset)
        at = 0
        for first, last, following in self.base.ranges():
            while at < len(groups) and groups[at][0] < first:
                at += 1
            start = first
            while at < len(groups) and groups[at][0] <= last:
                point, low, high = groups[at]
                if start < point:
                    found.append((start, point - 1, following))
                if _is_more_left(self.table, low, high, self.offset + 1, following):
                    found.append((point, point, NoneOf(self.table, low, high, self.offset + 1, following)))
                start = point + 1
                at += 1
            if start <= last:
                found.append((start, last, following))
        return tuple(found)

    def saturated(self, reach: int) -> CharacterState:
        # Which of few texts are left depends on the whole length, so a bound that is not far off stays.
        if self.base.is_bounded and not isinstance(self.base, Length):
            return self
        return NoneOf(self.table, self.low, self.high, self.offset, self.base.saturated(reach))

    @property
    def is_bounded(self) -> bool:
        return self.base.is_bounded

    def size(self, limit: int) -> int:
        return min(limit, _left(self.table, self.low, self.high, self.offset, self.base, limit))

    def describe(self) -> str:
        # The table may hold keys that the text itself wrote, and explanations must not show text.
        return f"{self.base.describe()}, but none of the {self.high - self.low} excluded here"


def one_of(texts: tuple[str, ...]) -> OneOf:
    """Return the state of any one of ``texts``: at least one, sorted and distinct."""
    return OneOf(TextTable(texts), 0, len(texts))


def one_left(table: TextTable, skipped: int) -> OneOf | None:
    """Return the state of any text of ``table`` but the skipped ones; None where none is left."""
    count = len(table.texts)
    return OneOf(table, 0, count, 0, skipped) if _is_any_left(skipped, 0, count) else None


def none_of(texts: tuple[str, ...], base: CharacterState) -> CharacterState:
    """Return the state of the texts of ``base`` but these, which are sorted and distinct; one must be left."""
    return NoneOf(TextTable(texts), 0, len(texts), 0, base) if texts else base


def none_left(texts: tuple[str, ...], base: CharacterState) -> CharacterState | None:
    """Return what ``none_of`` does, or None where ``base`` holds no other text."""
    if not texts or _is_more_left(TextTable(texts), 0, len(texts), 0, base):
        return none_of(texts, base)
    return None


def _is_more_left(table: TextTable, low: int, high: int, offset: int, base: CharacterState) -> bool:
    return _left(table, low, high, offset, base, 1) > 0


def _left(table: TextTable, low: int, high: int, offset: int, base: CharacterState, limit: int) -> int:
    """Return how many texts of ``base`` are not in the table, at least where it is below ``limit``."""
    size = base.size(high - low + limit)
    if size == high - low + limit:
        return limit
    return size - sum(base.holds(table.texts[index][offset:]) for index in range(low, high))


__all__ = [
    "LAST_CODE_POINT",
    "CharacterState",
    "Length",
    "NoneOf",
    "OneOf",
    "Ranges",
    "TextTable",
    "none_left",
    "none_of",
    "one_left",
    "one_of",
]
