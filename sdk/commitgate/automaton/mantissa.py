"""Hold a number's digits as they are read from the left, and how they stand to bounds and divisors.

A number is its significant digits and its power: 0.digits * 10 ** power.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import gcd

LESS, MORE = -1, -2
"""How digits stand to a bound's once they differ."""


@dataclass(frozen=True, slots=True)
class Mantissa:
    """Hold the digits that were read of a number, up to its exponent.

    Attributes:
        significant: without zeros in front.
        scale: how many digits, zeros included, stood after the point.
        digits: how many digits were read in all.
        may_grow: digits before the point may still come.
    """

    significant: str = ""
    scale: int = 0
    digits: int = 0
    may_grow: bool = True

    @property
    def power(self) -> int:
        """Return p such that the value is 0.significant * 10 ** p."""
        return len(self.significant) - self.scale

    def with_digit(self, digit: str, *, is_fraction: bool) -> Mantissa:
        """Return the mantissa with one more digit."""
        significant = self.significant + digit if self.significant or digit != "0" else ""
        return Mantissa(significant, self.scale + is_fraction, self.digits + 1, self.may_grow)


@dataclass(frozen=True, slots=True)
class Bound:
    """Hold the value 0.digits * 10 ** power as a bound; ``is_open`` leaves it out itself."""

    digits: str
    power: int
    is_open: bool

    def status(self, significant: str) -> int:
        """Return how digits stand to those of the bound: less, more, or how many of them are read and equal."""
        wanted = self.digits
        if significant == wanted[: len(significant)]:
            return len(significant)
        if len(significant) > len(wanted) and significant.rstrip("0") == wanted:
            return len(wanted)
        return LESS if significant < wanted else MORE


@dataclass(frozen=True, slots=True)
class Step:
    """Hold the divisor coefficient * 10 ** power, whose coefficient is 2 ** twos * 5 ** fives * rest.

    Attributes:
        size: number of the coefficient's digits.
    """

    coefficient: int
    size: int
    power: int
    twos: int
    fives: int
    rest: int

    @staticmethod
    def of(divisor: Decimal) -> Step:
        digits, power = significance(divisor)
        # Python refuses to read an integer of thousands of digits; a decimal is read in full.
        coefficient, fives = int(Decimal(digits)), 0
        twos = (coefficient & -coefficient).bit_length() - 1
        rest = coefficient >> twos
        while rest % 5 == 0:
            fives, rest = fives + 1, rest // 5
        return Step(coefficient, len(digits), power - len(digits), twos, fives, rest)

    def state(self, significant: str) -> tuple[int, int]:
        """Return the digits' residue, and the least power of ten whose product with them the coefficient may divide."""
        stripped = significant.rstrip("0")
        core = int(stripped)
        twos = gcd(core, 1 << self.twos).bit_length() - 1
        fives, power = 0, gcd(core, 5**self.fives)
        while power > 1:
            fives, power = fives + 1, power // 5
        zeros = len(significant) - len(stripped)
        residue = core * pow(10, zeros, self.coefficient) % self.coefficient
        return residue, max(self.twos - twos, self.fives - fives) - zeros

    def least_exponent(self, mantissa: Mantissa) -> int | None:
        """Return the least exponent with which the mantissa is a multiple; None where it never is."""
        residue, power = self.state(mantissa.significant)
        return None if residue % self.rest else mantissa.scale + self.power + power


def significance(value: Decimal) -> tuple[str, int]:
    """Return the digits of ``value`` without zeros at either end, and p such that it is 0.digits * 10 ** p."""
    digits = value.as_tuple().digits
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    return text.rstrip("0"), len(text) + exponent


__all__ = ["LESS", "MORE", "Bound", "Mantissa", "Step", "significance"]
