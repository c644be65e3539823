"""Split the code points into classes that an automaton cannot tell apart.

Automata over Unicode have few classes but these may have many ranges, so states keep one entry a class and the ranges
are kept once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commitgate.automaton.characters import FIRST_SURROGATE, LAST_SURROGATE, CharacterSet
from commitgate.automaton.strings import LAST_CODE_POINT

NO_CLASS = -1


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Say of which class each code point is.

    Attributes:
        starts: the first code point of each interval; the first one is 0.
        numbers: the class of each interval; ``NO_CLASS`` where no state moves. Neighbours differ.
        count: number of classes, from 0 on.
    """

    starts: tuple[int, ...]
    numbers: tuple[int, ...]
    count: int

    @staticmethod
    def of(pieces: Iterable[tuple[int, int]], count: int) -> Alphabet:
        """Return the alphabet of ``(start, class)``, sorted by start; neighbours of one class are joined."""
        starts: list[int] = []
        numbers: list[int] = []
        for start, number in pieces:
            if not numbers or numbers[-1] != number:
                starts.append(start)
                numbers.append(number)
        return Alphabet(tuple(starts), tuple(numbers), count)

    @staticmethod
    def telling_apart(sets: Sequence[CharacterSet]) -> tuple[Alphabet, list[int]]:
        """Return the coarsest alphabet that tells the sets apart, and each set as a mask (bit n stands for class n)."""
        changes: dict[int, int] = {0: 0}
        for index, members in enumerate(sets):
            for first, last in members.ranges:
                changes[first] = changes.get(first, 0) ^ 1 << index
                changes[last + 1] = changes.get(last + 1, 0) ^ 1 << index
        changes.pop(LAST_CODE_POINT + 1, None)
        numbers: dict[int, int] = {0: NO_CLASS}
        pieces: list[tuple[int, int]] = []
        inside = 0
        for start in sorted(changes):
            inside ^= changes[start]
            pieces.append((start, numbers.setdefault(inside, len(numbers) - 1)))
        masks = [0] * len(sets)
        for signature, number in numbers.items():
            while signature:
                lowest = signature & -signature
                masks[lowest.bit_length() - 1] |= 1 << number
                signature ^= lowest
        return Alphabet.of(pieces, len(numbers) - 1), masks

    def pieces(self) -> Iterator[tuple[int, int, int]]:
        """Yield ``(first, last, class)`` for each interval, those of no class too."""
        ends = (*self.starts[1:], LAST_CODE_POINT + 1)
        for start, end, number in zip(self.starts, ends, self.numbers, strict=True):
            yield start, end - 1, number

    def number_of(self, point: int) -> int:
        """Return the class of a code point."""
        return self.numbers[bisect_right(self.starts, point) - 1]

    def sizes(self) -> tuple[int, ...]:
        """Return how many code points each class holds."""
        found = [0] * self.count
        for first, last, number in self.pieces():
            if number != NO_CLASS:
                found[number] += last - first + 1
        return tuple(found)

    def product(self, other: Alphabet) -> tuple[Alphabet, list[tuple[int, int]]]:
        """Return the alphabet that both refine to, and for each of its classes the class in either."""
        numbers: dict[tuple[int, int], int] = {(NO_CLASS, NO_CLASS): NO_CLASS}
        pieces: list[tuple[int, int]] = []
        mine, theirs = 0, 0
        start = 0
        while start <= LAST_CODE_POINT:
            pair = (self.numbers[mine], other.numbers[theirs])
            pieces.append((start, numbers.setdefault(pair, len(numbers) - 1)))
            my_end = self.starts[mine + 1] if mine + 1 < len(self.starts) else LAST_CODE_POINT + 1
            their_end = other.starts[theirs + 1] if theirs + 1 < len(other.starts) else LAST_CODE_POINT + 1
            start = min(my_end, their_end)
            mine += start == my_end
            theirs += start == their_end
        pairs = [pair for pair, number in numbers.items() if number != NO_CLASS]
        return Alphabet.of(pieces, len(pairs)), pairs

    def completed(self) -> Alphabet:
        """Return the alphabet in which the scalar values of no class are one further class."""
        found: list[tuple[int, int]] = []
        for first, last, number in self.pieces():
            if number != NO_CLASS:
                found.append((first, number))
                continue
            if first < FIRST_SURROGATE:
                found.append((first, self.count))
            if first <= LAST_SURROGATE and last >= FIRST_SURROGATE:
                found.append((max(first, FIRST_SURROGATE), NO_CLASS))
            if last > LAST_SURROGATE:
                found.append((max(first, LAST_SURROGATE + 1), self.count))
        return Alphabet.of(found, self.count + any(number == self.count for _, number in found))

    def coarsened(self, numbers: Sequence[int]) -> tuple[Alphabet, list[int]]:
        """Join classes and number them in the order of their first code points.

        Args:
            numbers: for each class the name of the class that it joins, ``NO_CLASS`` for none.

        Returns:
            The alphabet, and for each old class the new one.
        """
        order: dict[int, int] = {NO_CLASS: NO_CLASS}
        pieces: list[tuple[int, int]] = []
        for first, _, number in self.pieces():
            name = NO_CLASS if number == NO_CLASS else numbers[number]
            pieces.append((first, order.setdefault(name, len(order) - 1)))
        return Alphabet.of(pieces, len(order) - 1), [order[name] for name in numbers]


WHOLE_ALPHABET = Alphabet((0, FIRST_SURROGATE, LAST_SURROGATE + 1), (0, NO_CLASS, 0), 1)
"""The alphabet of one class: all scalar values."""

__all__ = ["NO_CLASS", "WHOLE_ALPHABET", "Alphabet"]
