"""Hold what the numbers of one sign may be, as their digits are read from the left.

A number is read as its significant digits and its power: 0.digits * 10 ** power. Digits meet the bounds one by one;
once they have left a bound's digits, only the power still counts, so that states stay few.

Source: design, "The automaton" (number spellings).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from dataclasses import replace
from decimal import Decimal

from commitgate.automaton.mantissa import LESS, MORE, Bound, Mantissa, Step, significance
from commitgate.automaton.multiples import Steps
from commitgate.automaton.number_set import ANY_NUMBER, NumberSet
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT

_AFTER_DIGITS = ":"
"""Sorts behind every digit."""
_ALL_EXPONENTS = (1 << 2 * MAX_EXPONENT + 1) - 1
_ABOVE_ZERO = NumberSet(Decimal(0), is_low_open=True)


class Magnitudes:
    """Hold the numbers of one sign, without it.

    Args:
        positive: all of them but zero; None where there are none.
        has_zero: zero is one of them.
        most_exponent: largest magnitude of a written exponent; 0 says that digits alone are written.
    """

    __slots__ = (
        "_digits",
        "_hash",
        "_high",
        "_identity",
        "_indivisible",
        "_least_power",
        "_listed",
        "_low",
        "_most_exponent",
        "_step",
        "_steps",
        "has_zero",
        "is_free",
        "positive",
    )

    def __init__(self, positive: NumberSet | None, *, has_zero: bool, most_exponent: int = MAX_EXPONENT) -> None:
        self.positive = positive
        self.has_zero = has_zero
        self._most_exponent = most_exponent
        self.is_free = has_zero and positive == _ABOVE_ZERO
        self._identity = (has_zero, most_exponent, positive)
        self._hash = hash(self._identity)
        known = positive or ANY_NUMBER
        self._steps: Steps | None = None if known.divisor is None else known.steps()
        self._step = None if known.divisor is None else Step.of(known.divisor)
        self._indivisible = tuple(map(Step.of, known.indivisible))
        low = None if known.divisor is not None and known.low == known.divisor else known.low
        self._low = Bound(*significance(low), known.is_low_open) if low else None
        self._high = Bound(*significance(known.high), known.is_high_open) if known.high else None
        self._least_power = significance(known.low)[1] if known.low else -2 * MAX_DIGITS
        self._listed = sorted(map(significance, known.excluded if known.values is None else known.values))
        self._digits = [digits for digits, _ in self._listed]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Magnitudes) and self._identity == other._identity)

    def key(self, mantissa: Mantissa) -> Hashable:
        """Return a key such that mantissas of equal keys have the same exponents and continuations."""
        if self.is_free:
            return mantissa.digits
        text = mantissa.significant
        if not text:
            return mantissa.digits, mantissa.scale
        is_listed = next(self._within_reach(text), None) is not None
        if self._is_list:
            return (mantissa.digits, mantissa.power, text) if is_listed else None
        power = mantissa.power if self._low or self._high or is_listed else None
        bounds = tuple(bound.status(text) for bound in (self._low, self._high) if bound is not None)
        steps = tuple(step.state(text) for step in self._all_steps())
        return mantissa.digits, power, bounds, (mantissa.scale, *steps) if steps else None, text if is_listed else None

    def exponents(self, mantissa: Mantissa) -> int:
        """Return the exponents that make an allowed value: bit ``e + MAX_EXPONENT`` stands for e."""
        if not mantissa.significant:
            return _ALL_EXPONENTS if self.has_zero else 0
        if self.positive is None:
            return 0
        if self.is_free:
            return _ALL_EXPONENTS
        listed = self._exponents_listed(mantissa)
        return listed if self._is_list else self._exponents_between(mantissa) & ~listed

    def is_reachable(self, mantissa: Mantissa) -> bool:
        """Return whether some continuation is allowed; asked only where another digit still fits.

        It is exact up to the last few digits that a number may have: a value that needs more digits than are left
        still counts as reachable, unless none is left.
        """
        if not mantissa.significant:
            return self.has_zero or (self.positive is not None and self._is_any_below(mantissa))
        if self.positive is None:
            return False
        if self._is_list:
            return any(self._can_become(mantissa, power) for _, power in self._within_reach(mantissa.significant))
        first, last = self._powers(mantissa)
        if self._step is None or first > last:
            return first <= last
        return self._is_multiple_within(mantissa.significant, first, last, self._step)

    @property
    def has_exponents(self) -> bool:
        """Return whether points and exponents may be written."""
        return self._most_exponent > 0

    @property
    def _is_list(self) -> bool:
        return self.positive is not None and self.positive.values is not None

    def _all_steps(self) -> Iterator[Step]:
        if self._step is not None:
            yield self._step
        yield from self._indivisible

    def _within_reach(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the listed digits and powers that ``text`` may grow into, or has grown into but for zeros."""
        if not self._listed:
            return
        if text.endswith("0"):
            yield from self._between(text.rstrip("0"), text.rstrip("0"))
        yield from self._between(text, text + _AFTER_DIGITS)

    def _between(self, first: str, last: str) -> Iterator[tuple[str, int]]:
        at = bisect_left(self._digits, first)
        while at < len(self._digits) and self._digits[at] <= last:
            yield self._listed[at]
            at += 1

    def _can_become(self, mantissa: Mantissa, power: int) -> bool:
        exponent = power - mantissa.power
        return exponent >= -self._most_exponent and (mantissa.may_grow or exponent <= self._most_exponent)

    def _exponents_listed(self, mantissa: Mantissa) -> int:
        if not self._listed:
            return 0
        text, found = mantissa.significant.rstrip("0"), 0
        for _, power in self._between(text, text):
            shift = power - mantissa.power + MAX_EXPONENT
            found |= 1 << shift if 0 <= shift <= 2 * MAX_EXPONENT else 0
        return found

    def _exponents_between(self, mantissa: Mantissa) -> int:
        first, last = -self._most_exponent, self._most_exponent
        if self._low is not None:
            difference = _compare(mantissa.significant, self._low.digits)
            is_short = difference < 0 or (difference == 0 and self._low.is_open)
            first = max(first, self._low.power - mantissa.power + is_short)
        if self._high is not None:
            difference = _compare(mantissa.significant, self._high.digits)
            is_long = difference > 0 or (difference == 0 and self._high.is_open)
            last = min(last, self._high.power - mantissa.power - is_long)
        if self._step is not None:
            least = self._step.least_exponent(mantissa)
            first = last + 1 if least is None else max(first, least)
        for step in self._indivisible:
            least = step.least_exponent(mantissa)
            last = last if least is None else min(last, least - 1)
        return 0 if first > last else (1 << last - first + 1) - 1 << first + MAX_EXPONENT

    def _powers(self, mantissa: Mantissa) -> tuple[int, int]:
        """Return the first and last power that a value beginning with these digits may have."""
        first = mantissa.power - self._most_exponent
        last = mantissa.power + self._most_exponent + (MAX_DIGITS - mantissa.digits if mantissa.may_grow else 0)
        if self._low is not None:
            first = max(first, self._low.power + (self._low.status(mantissa.significant) == LESS))
        if self._high is not None:
            status = self._high.status(mantissa.significant)
            # All of the bound's digits are read: what follows is the bound itself or more.
            is_over = status == MORE or (status == len(self._high.digits) and self._high.is_open)
            last = min(last, self._high.power - is_over)
        return first, last

    def _is_any_below(self, mantissa: Mantissa) -> bool:
        """Return whether a value can begin with the zeros read."""
        if mantissa.may_grow:
            return True
        most = self._most_exponent - mantissa.scale
        least = -mantissa.scale - MAX_DIGITS - self._most_exponent
        if self._is_list:
            return any(least <= power <= most for _, power in self._listed)
        return self._least_power <= most and (self._high is None or self._high.power >= least)

    def _is_multiple_within(self, text: str, first: int, last: int, step: Step) -> bool:
        """Return whether a member begins with these digits and has one of the powers."""
        size = step.size
        first = max(first, size + step.power)
        if first > last:
            return False
        # Where the digits still to come outnumber the step's, one of them will fit.
        likely = min(max(len(text) + step.power + size + 1, first), last)
        return self._has_member(text, likely, step) or any(
            self._has_member(text, power, step) for power in range(last, first - 1, -1)
        )

    def _has_member(self, text: str, power: int, step: Step) -> bool:
        assert self._steps is not None
        shift = power - len(text) - step.power
        scale, divisor = (10**shift, step.coefficient) if shift >= 0 else (1, step.coefficient * 10**-shift)
        start, end = int(text) * scale, (int(text) + 1) * scale
        first, last = -(-start // divisor), -(-end // divisor) - 1
        first = first if self._steps.first is None else max(first, self._steps.first)
        last = last if self._steps.last is None else min(last, self._steps.last)
        if first > last or not (self._steps.moduli or self._steps.skipped):
            return first <= last
        return replace(self._steps, first=first, last=last).smallest() is not None


def magnitudes(numbers: NumberSet, *, most_exponent: int = MAX_EXPONENT) -> tuple[Magnitudes, Magnitudes]:
    """Return the magnitudes of a set's numbers, those without a minus sign first; zero belongs to both."""
    has_zero = numbers.contains(Decimal(0))
    sides = (side.meet(_ABOVE_ZERO) for side in (numbers, numbers.mirrored()))
    positive, negative = (Magnitudes(side, has_zero=has_zero, most_exponent=most_exponent) for side in sides)
    return positive, positive if positive == negative else negative


def _compare(significant: str, wanted: str) -> int:
    stripped = significant.rstrip("0")
    return (stripped > wanted) - (stripped < wanted)


__all__ = ["Magnitudes", "magnitudes"]
