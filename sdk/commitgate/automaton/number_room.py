"""Hold which numbers of a set can be written in plain digits, and how many digits that takes.

Source: design, "The automaton" (output limits keep generation finite).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from math import gcd

from commitgate.automaton.mantissa import significance
from commitgate.automaton.number_set import NumberSet
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT

MAX_RESIDUES = 10_000
"""Most classes of digits that a divisor may tell apart; each is a state with a mask of its own."""
_MAX_MEANT = 40
"""Bounds and divisors of at most so many digits are taken at their word; longer ones say "no limit"."""
_MAX_FRACTION = MAX_DIGITS + MAX_EXPONENT


@dataclass(frozen=True, slots=True)
class Room:
    """Hold the positive numbers of a set that can be written with so many digits before and after the point."""

    numbers: NumberSet
    integer_digits: int
    fraction_digits: int

    def is_too_fine(self, step: Decimal) -> bool:
        """Return whether the multiples of a step tell more than ``MAX_RESIDUES`` classes of digits apart."""
        modulus = scaled(step, self.fraction_digits)
        for left in range(self.fraction_digits + self.integer_digits):
            shared = gcd(modulus, 10**left)
            if min(-(-(10**left) // shared), modulus // shared) > MAX_RESIDUES:
                return True
        return False


def room_of(side: NumberSet | None, integer_digits: int, fraction_digits: int) -> Room | None:
    """Return the numbers of a side that can be written; None where there are none."""
    if side is None:
        return None
    if side.values is not None:
        widths = [significance(value)[1] for value in side.values]
        return Room(side, max(*widths, 1), fraction_digits)
    low = None if side.low == side.divisor else side.low
    needed = 0 if low is None else significance(low)[1]
    meant = 0 if side.high is None else significance(side.high)[1]
    width = max(integer_digits, needed, meant if meant <= _MAX_MEANT else 0)
    places = [_places(bound) for bound in (low, side.high) if bound is not None]
    scale = max(fraction_digits, *(place for place in (*places, 0) if place <= _MAX_MEANT))
    if side.divisor is not None:
        scale = _places(side.divisor) if _places(side.divisor) <= max(scale, _MAX_MEANT) else scale
    return _on_grid(side, width, scale)


def grown_room(side: NumberSet | None, fraction_digits: int) -> Room | None:
    """Return the numbers of a side with the fewest more digits that any of them needs; None where that is too many."""
    if side is None:
        return None
    short, long = fraction_digits - 1, fraction_digits
    while (found := side.meet(_grid_of(long))) is None:
        if long >= _MAX_FRACTION:
            return None
        short, long = long, min(2 * long + 1, _MAX_FRACTION)
    while long - short > 1:
        middle = (short + long) // 2
        nearer = side.meet(_grid_of(middle))
        short, long, found = (middle, long, found) if nearer is None else (short, middle, nearer)
    least = found.values[0] if found.values is not None else found.low
    assert least is not None
    return _on_grid(side, max(significance(least)[1], 1), long)


def _on_grid(side: NumberSet, integer_digits: int, fraction_digits: int) -> Room | None:
    width = max(integer_digits, 1)
    grid = replace(_grid_of(fraction_digits), high=Decimal((0, (1,), width)), is_high_open=True)
    found = side.meet(grid)
    return None if found is None else Room(found, width, fraction_digits)


def _grid_of(fraction_digits: int) -> NumberSet:
    return NumberSet(divisor=Decimal((0, (1,), -fraction_digits)))


def _places(value: Decimal) -> int:
    """Return how many digits after the point a value needs."""
    digits, power = significance(value)
    return max(len(digits) - power, 0)


def scaled(value: Decimal, places: int) -> int:
    """Return value * 10 ** places, which is an integer."""
    numerator, denominator = value.as_integer_ratio()
    return numerator * 10**places // denominator


__all__ = ["MAX_RESIDUES", "Room", "grown_room", "room_of", "scaled"]
