"""Tell how long the texts are that an automaton accepts from each of its states.

Counters over whole texts stay outside the automata, so it must be known whether a state still accepts a text of
``least`` to ``most`` characters. For each length the states that accept a text of exactly that length are one set,
a whole number whose bit n stands for state n. The sequence of these sets repeats from some length on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from commitgate.automaton.minimal import Row

MAX_LENGTH_WORK = 5_000_000
"""Most steps for telling lengths, in one automaton."""


class Lengths:
    """Answer questions about lengths, in characters. Every state must be live.

    Args:
        rows: where each state leads.
        accepting: where texts may end.
        sizes: how many characters each class holds.
        refuse: makes the error to raise when the work passes its limit.
    """

    __slots__ = (
        "_before",
        "_exact",
        "_longest",
        "_period",
        "_refuse",
        "_rows",
        "_seen",
        "_shortest",
        "_sizes",
        "_work",
        "accepting",
    )

    def __init__(
        self,
        rows: Sequence[Row],
        accepting: frozenset[int],
        sizes: tuple[int, ...],
        refuse: Callable[[int], Exception],
    ) -> None:
        self._rows = rows
        self._sizes = sizes
        self._refuse = refuse
        self._work = 0
        self.accepting = accepting
        self._before = _predecessors(rows)
        self._shortest: list[int] | None = None
        self._longest: list[int | None] | None = None
        self._exact: list[int] = []
        self._seen: dict[int, int] = {}
        self._period: tuple[int, int] | None = None

    def shortest(self) -> list[int]:
        """Return for each state the length of its shortest text."""
        if self._shortest is None:
            found = [-1] * len(self._rows)
            layer = list(self.accepting)
            for state in layer:
                found[state] = 0
            for state in layer:
                for previous in self._before[state]:
                    if found[previous] < 0:
                        found[previous] = found[state] + 1
                        layer.append(previous)
            self._shortest = found
        return self._shortest

    def longest(self) -> list[int | None]:
        """Return for each state the length of its longest text; None where there is no longest."""
        if self._longest is None:
            ahead = [len({target for _, target in row}) for row in self._rows]
            found: list[int | None] = [None] * len(self._rows)
            ready = [state for state, count in enumerate(ahead) if count == 0]
            for state in ready:
                found[state] = max((1 + (found[target] or 0) for _, target in self._rows[state]), default=0)
                for previous in self._before[state]:
                    ahead[previous] -= 1
                    if ahead[previous] == 0:
                        ready.append(previous)
            self._longest = found
        return self._longest

    def exactly(self, length: int) -> int:
        """Return the states that accept a text of exactly this length."""
        if self._period is not None and length >= self._period[0]:
            start, period = self._period
            length = start + (length - start) % period
        while len(self._exact) <= length:
            self._extend()
            if self._period is not None:
                return self.exactly(length)
        return self._exact[length]

    def period(self) -> tuple[int, int]:
        """Return the length from which the sequence of sets repeats, and its period."""
        while self._period is None:
            self._extend()
        return self._period

    def within(self, least: int, most: int) -> int:
        """Return the states that accept a text of ``least`` to ``most`` characters."""
        found = 0
        everything = (1 << len(self._rows)) - 1
        for length in range(least, most + 1):
            found |= self.exactly(length)
            if found == everything:
                break
            if self._period is not None and length >= max(least, self._period[0]) + self._period[1]:
                break
        return found

    def count(self, start: int, least: int, most: int | None, limit: int) -> int:
        """Return how many texts of ``least`` to ``most`` characters ``start`` accepts, at most ``limit``."""
        if most is None and self.longest()[start] is None:
            return limit
        ways = {start: 1}
        found = length = steps = 0
        while ways and (most is None or length <= most):
            if length >= least:
                found += self._ending(ways)
                if found >= limit:
                    return limit
            steps += sum(1 + len(self._rows[state]) for state in ways)
            if steps > MAX_LENGTH_WORK:
                raise self._refuse(MAX_LENGTH_WORK)
            following = self._one_further(ways, limit)
            if following == ways and most is not None:
                return min(limit, found + self._ending(ways) * (most - max(length, least - 1)))
            ways = following
            length += 1
        return found

    def _ending(self, ways: dict[int, int]) -> int:
        return sum(count for state, count in ways.items() if state in self.accepting)

    def _one_further(self, ways: dict[int, int], limit: int) -> dict[int, int]:
        found: dict[int, int] = {}
        for state, count in ways.items():
            for letter, target in self._rows[state]:
                found[target] = min(limit, found.get(target, 0) + count * self._sizes[letter])
        return found

    def _extend(self) -> None:
        if not self._exact:
            following = _members(self.accepting, len(self._rows))
        else:
            before = {previous for state in _bits(self._exact[-1]) for previous in self._before[state]}
            following = _members(before, len(self._rows))
        first = self._seen.setdefault(following, len(self._exact))
        if first < len(self._exact):
            self._period = (first, len(self._exact) - first)
        else:
            self._exact.append(following)
        self._work += len(self._rows)
        if self._work > MAX_LENGTH_WORK:
            raise self._refuse(MAX_LENGTH_WORK)


def _predecessors(rows: Sequence[Row]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in {target for _, target in row}:
            found[target].append(state)
    return found


def _members(states: Iterable[int], count: int) -> int:
    """Return the set as a whole number. Written as digits, since shifting once a state takes quadratic time."""
    digits = bytearray(b"0") * count
    for state in states:
        digits[count - 1 - state] = 0x31
    return int(digits, 2)


def _bits(members: int) -> Iterator[int]:
    """Yield the positions of the bits that are set."""
    for at, digit in enumerate(reversed(bin(members)[2:])):
        if digit == "1":
            yield at


__all__ = ["MAX_LENGTH_WORK", "Lengths"]
