"""Hold exact arithmetic on multiples: of decimals, and of the whole numbers that count their steps.

``Decimal`` rounds to its context in nearly every operation, so all arithmetic here is on ratios of integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import gcd, lcm

_MAX_SCANNED = 1 << 21
"""Most steps looked at one by one, so that no schema takes more than about a second."""
_FIRST_CHUNK = 64


def decimal_of(numerator: int, denominator: int = 1) -> Decimal:
    """Return the ratio as a decimal, exactly.

    Args:
        numerator: any integer.
        denominator: positive, with no prime factors but 2 and 5.
    """
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    while rest > 1:
        fives, rest = fives + 1, rest // 5
    scale = max(twos, fives)
    coefficient = Decimal(numerator * 2 ** (scale - twos) * 5 ** (scale - fives))
    sign, digits, _ = coefficient.as_tuple()
    return Decimal((sign, digits, -scale))


def is_multiple(value: Decimal, divisor: Decimal) -> bool:
    """Return whether ``value`` is an integer times ``divisor``, which is positive."""
    numerator, denominator = value.as_integer_ratio()
    step, parts = divisor.as_integer_ratio()
    return numerator * parts % (denominator * step) == 0


def common_multiple(first: Decimal, second: Decimal) -> Decimal:
    """Return the least number that is a multiple of both, which are positive."""
    numerator, denominator = first.as_integer_ratio()
    other_numerator, other_denominator = second.as_integer_ratio()
    return decimal_of(lcm(numerator, other_numerator), gcd(denominator, other_denominator))


def steps_up_to(value: Decimal, divisor: Decimal) -> int:
    """Return the largest integer k with k * divisor <= value."""
    numerator, denominator = value.as_integer_ratio()
    step, parts = divisor.as_integer_ratio()
    return numerator * parts // (denominator * step)


def step_at(count: int, divisor: Decimal) -> Decimal:
    """Return count * divisor, exactly."""
    step, parts = divisor.as_integer_ratio()
    common = gcd(count, parts)
    return decimal_of(count // common * step, parts // common)


@dataclass(frozen=True, slots=True)
class Steps:
    """Denote the integers of a range that no modulus divides, some others left out.

    Attributes:
        first: the smallest; None where there is none.
        last: the largest; None where there is none.
        moduli: integers above 1 that divide no member.
        skipped: integers that are no members.
    """

    first: int | None
    last: int | None
    moduli: tuple[int, ...] = ()
    skipped: frozenset[int] = frozenset()

    def smallest(self) -> int | None:
        """Return the smallest member; None where the range is empty. Asked only where ``first`` is one."""
        assert self.first is not None
        for start, blocked in self._chunks(self.first, 1, self.last):
            found = blocked.find(0)
            if found >= 0:
                return start + found
        return None

    def largest(self) -> int | None:
        """Return the largest member; None where the range is empty. Asked only where ``last`` is one."""
        assert self.last is not None
        for start, blocked in self._chunks(self.last, -1, self.first):
            found = blocked.find(0)
            if found >= 0:
                return start - found
        return None

    def members(self) -> Iterator[int]:
        """Yield the members from the smallest on. Asked only where ``first`` is one."""
        assert self.first is not None
        for start, blocked in self._chunks(self.first, 1, self.last):
            yield from (start + position for position, mark in enumerate(blocked) if not mark)

    def count(self, limit: int) -> int:
        """Return the number of members, at most ``limit``; beyond about two million steps it may be too large."""
        if self.first is None or self.last is None:
            return limit
        if not self.moduli:
            inside = sum(self.first <= step <= self.last for step in self.skipped)
            return min(max(self.last - self.first + 1 - inside, 0), limit)
        total, scanned = 0, 0
        for _, blocked in self._chunks(self.first, 1, self.last):
            scanned += len(blocked)
            total += blocked.count(0)
            if total >= limit or scanned >= _MAX_SCANNED:
                break
        is_whole = scanned > self.last - self.first
        return min(total, limit) if is_whole or total >= limit else limit

    def _chunks(self, start: int, direction: int, end: int | None) -> Iterator[tuple[int, bytearray]]:
        """Yield runs of steps in a direction: where each starts, and a byte a step that is 1 where it is no member."""
        size, scanned = _FIRST_CHUNK, 0
        while end is None or (end - start) * direction >= 0:
            length = size if end is None else min(size, (end - start) * direction + 1)
            # Runs without a member grow with the square of the number of moduli at most, so this end is never met
            # by schemas that fit in memory; calling the next step a member keeps the set too large, never too small.
            yield start, self._blocked(start, direction, length) if scanned < _MAX_SCANNED else bytearray(length)
            scanned += length
            start += direction * length
            size = min(size * 2, 1 << 18)

    def _blocked(self, start: int, direction: int, length: int) -> bytearray:
        blocked = bytearray(length)
        for modulus in self.moduli:
            offset = -start * direction % modulus
            if offset < length:
                step = min(modulus, length)
                blocked[offset::step] = b"\1" * len(range(offset, length, step))
        if len(self.skipped) > length:
            for position in range(length):
                if start + direction * position in self.skipped:
                    blocked[position] = 1
        else:
            for skipped in self.skipped:
                if 0 <= (skipped - start) * direction < length:
                    blocked[(skipped - start) * direction] = 1
        return blocked


__all__ = ["Steps", "common_multiple", "decimal_of", "is_multiple", "step_at", "steps_up_to"]
