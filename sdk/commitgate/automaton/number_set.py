"""Hold sets of numbers that schemas can speak of, closed under meeting and complement.

A set is an interval of the multiples of a number, without the multiples of others and without some values; or a list
of values. Sets are kept in one normal form: an interval of multiples begins and ends at a member, so the empty set is
known at once and is never a ``NumberSet``.

Source: JSON Schema 2020-12 validation sections 6.1.1 to 6.2.5.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal

from commitgate.automaton.multiples import Steps, common_multiple, is_multiple, step_at, steps_up_to
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT, plain_number

_BEYOND = Decimal((0, (1,), MAX_DIGITS + MAX_EXPONENT))
"""No number that may be written is as large, so zero is its only multiple."""
_MAX_REDUCED = 64
"""Most indivisible steps that are compared pairwise."""


@dataclass(frozen=True, slots=True)
class NumberSet:
    """Denote a set of numbers that is not empty. Made by ``between``, ``of_values``, ``meet`` and ``complement``.

    Attributes:
        low: the lower bound; None where there is none.
        high: the upper bound; None where there is none.
        is_low_open: ``low`` itself is no member.
        is_high_open: ``high`` itself is no member.
        divisor: every member is a multiple of it (1 says integer); None where any number will do.
        indivisible: no member is a multiple of any of these; sorted.
        excluded: no member is one of these; sorted.
        values: the members themselves, sorted, all other fields empty; None where they are not listed.
    """

    low: Decimal | None = None
    high: Decimal | None = None
    is_low_open: bool = False
    is_high_open: bool = False
    divisor: Decimal | None = None
    indivisible: tuple[Decimal, ...] = ()
    excluded: tuple[Decimal, ...] = ()
    values: tuple[Decimal, ...] | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Lists may be long, and states ask often.
        bounds = (self.low, self.high, self.is_low_open, self.is_high_open)
        object.__setattr__(self, "_hash", hash((bounds, self.divisor, self.indivisible, self.excluded, self.values)))

    def __hash__(self) -> int:
        return self._hash

    @staticmethod
    def of_values(values: Iterable[Decimal]) -> NumberSet | None:
        """Return the set of exactly these values; None where there are none."""
        found = _sorted(values)
        return NumberSet(values=found) if found else None

    @staticmethod
    def between(
        low: Decimal | None = None,
        high: Decimal | None = None,
        *,
        is_low_open: bool = False,
        is_high_open: bool = False,
        divisor: Decimal | None = None,
        indivisible: Iterable[Decimal] = (),
        excluded: Iterable[Decimal] = (),
    ) -> NumberSet | None:
        """Return the set of the numbers between two bounds that a divisor divides and so on; None where it is empty.

        Args:
            divisor: positive; None allows any number.
            indivisible: each positive.
        """
        return _normal(
            NumberSet(
                low,
                high,
                is_low_open and low is not None,
                is_high_open and high is not None,
                divisor,
                tuple(indivisible),
                tuple(excluded),
            )
        )

    @property
    def is_integral(self) -> bool:
        """Return whether every member is known to be an integer."""
        if self.values is not None:
            return all(is_multiple(value, Decimal(1)) for value in self.values)
        return self.divisor is not None and is_multiple(self.divisor, Decimal(1))

    def contains(self, value: Decimal) -> bool:
        """Return whether a value is a member."""
        if self.values is not None:
            return _holds(self.values, value)
        return self._is_between(value) and self._is_on_step(value) and not _holds(self.excluded, value)

    def meet(self, other: NumberSet) -> NumberSet | None:
        """Return the set of the common members; None where there is none."""
        if self.values is not None:
            return NumberSet.of_values(filter(other.contains, self.values))
        if other.values is not None:
            return other.meet(self)
        low, is_low_open = _tighter(self._lower(), other._lower())
        high, is_high_open = _tighter(self._upper(), other._upper(), is_upper=True)
        divisors = [divisor for divisor in (self.divisor, other.divisor) if divisor is not None]
        divisor = common_multiple(*divisors) if len(divisors) == 2 else (divisors or [None])[0]
        indivisible, excluded = self.indivisible + other.indivisible, self.excluded + other.excluded
        return _normal(NumberSet(low, high, is_low_open, is_high_open, divisor, indivisible, excluded))

    def coarser(self) -> NumberSet:
        """Return a larger set that asks for no multiples but integers, where all members are integers."""
        if self.values is not None:
            return self
        step = Decimal(1) if self.is_integral else None
        found = _normal(replace(self, divisor=step, indivisible=()))
        assert found is not None
        return found

    def complement(self) -> tuple[NumberSet, ...]:
        """Return all other numbers, as disjoint sets."""
        return tuple(found for found in self._outside() if found is not None)

    def without(self, other: NumberSet) -> tuple[NumberSet, ...]:
        """Return the members that are not in ``other``, as disjoint sets."""
        if other.values is not None and self.values is not None:
            rest = NumberSet.of_values(value for value in self.values if not other.contains(value))
            return () if rest is None else (rest,)
        met = (self.meet(part) for part in other.complement())
        return tuple(found for found in met if found is not None)

    def mirrored(self) -> NumberSet:
        """Return the set of the members' negatives."""
        low, high = _negative(self.high), _negative(self.low)
        excluded = _sorted(value.copy_negate() for value in self.excluded)
        values = None if self.values is None else _sorted(value.copy_negate() for value in self.values)
        return NumberSet(
            low, high, self.is_high_open, self.is_low_open, self.divisor, self.indivisible, excluded, values
        )

    def count(self, limit: int) -> int:
        """Return the number of members, at most ``limit``; where it passes a million it may be too large."""
        if self.values is not None:
            return min(len(self.values), limit)
        return limit if self.divisor is None else self.steps().count(limit)

    def steps(self) -> Steps:
        """Return how often the divisor goes into each member. Asked only where there is a divisor."""
        assert self.divisor is not None
        divisor = self.divisor
        first = None if self.low is None else -steps_up_to(self.low.copy_negate(), divisor)
        last = None if self.high is None else steps_up_to(self.high, divisor)
        if first is not None and self.is_low_open and step_at(first, divisor) == self.low:
            first += 1
        if last is not None and self.is_high_open and step_at(last, divisor) == self.high:
            last -= 1
        moduli = tuple(steps_up_to(step, divisor) for step in self.indivisible)
        return Steps(first, last, moduli, frozenset(steps_up_to(value, divisor) for value in self.excluded))

    def listed(self, most: int) -> tuple[Decimal, ...] | None:
        """Return the members, sorted; None where they are more than ``most``."""
        if self.values is not None:
            return self.values if len(self.values) <= most else None
        if self.divisor is None or self.low is None or self.high is None or self.count(most + 1) > most:
            return None
        divisor = self.divisor
        return tuple(step_at(step, divisor) for step in self.steps().members())

    def describe(self) -> str:
        """Say in words what the members are."""
        if self.values is not None:
            return _list_in_words("the number ", self.values, "or one of {} more")
        words = "a number" if self.divisor is None else f"a multiple of {plain_number(self.divisor)}"
        if self.divisor == 1:
            words = "an integer"
        if self.low is not None:
            words += f"{' above' if self.is_low_open else ' of at least'} {plain_number(self.low)}"
        if self.high is not None:
            joint = " and" if self.low is not None else ""
            words += f"{joint}{' below' if self.is_high_open else ' of at most'} {plain_number(self.high)}"
        if self.indivisible:
            words += _list_in_words(", no multiple of ", self.indivisible, "or {} more")
        if self.excluded:
            words += _list_in_words(", but not ", self.excluded, "or {} more")
        return words

    def _lower(self) -> tuple[Decimal | None, bool]:
        return self.low, self.is_low_open

    def _upper(self) -> tuple[Decimal | None, bool]:
        return self.high, self.is_high_open

    def _is_between(self, value: Decimal) -> bool:
        if self.low is not None and (value < self.low or (self.is_low_open and value == self.low)):
            return False
        return self.high is None or value < self.high or (not self.is_high_open and value == self.high)

    def _is_on_step(self, value: Decimal) -> bool:
        if self.divisor is not None and not is_multiple(value, self.divisor):
            return False
        return not any(is_multiple(value, step) for step in self.indivisible)

    def _outside(self) -> Iterator[NumberSet | None]:
        if self.values is not None:
            yield NumberSet.between(excluded=self.values)
            return
        if self.low is not None:
            yield NumberSet.between(high=self.low, is_high_open=not self.is_low_open)
        if self.high is not None:
            yield NumberSet.between(self.high, is_low_open=not self.is_high_open)
        inside = NumberSet(self.low, self.high, self.is_low_open, self.is_high_open)
        if self.divisor is not None:
            yield _normal(replace(inside, indivisible=(self.divisor,)))
        for index, step in enumerate(self.indivisible):
            divisor = step if self.divisor is None else common_multiple(step, self.divisor)
            yield _normal(replace(inside, divisor=divisor, indivisible=self.indivisible[:index]))
        yield NumberSet.of_values(self.excluded)


def _normal(raw: NumberSet) -> NumberSet | None:
    """Return the normal form of a set that lists no values; None where it is empty."""
    if raw.divisor is None and not raw.indivisible and not raw.excluded:
        return _bounded(_unsigned_zero(raw.low), _unsigned_zero(raw.high), raw)
    if raw.divisor is not None and raw.divisor >= _BEYOND:
        return NumberSet.of_values(
            filter(replace(raw, divisor=None, excluded=_sorted(raw.excluded)).contains, (_ZERO,))
        )
    steps = _reduced(raw)
    if steps is None:
        return None
    found = replace(
        raw,
        low=_unsigned_zero(raw.low),
        high=_unsigned_zero(raw.high),
        indivisible=tuple(step for step in steps if step < _BEYOND),
        excluded=_sorted((*raw.excluded, _ZERO)) if any(step >= _BEYOND for step in steps) else _sorted(raw.excluded),
    )
    candidates = replace(found, excluded=())
    found = replace(found, excluded=tuple(filter(candidates.contains, found.excluded)))
    return _normal_interval(found) if found.divisor is None else _normal_steps(found, found.divisor)


def _bounded(low: Decimal | None, high: Decimal | None, raw: NumberSet) -> NumberSet | None:
    """Return the numbers between two bounds, open where those of ``raw`` are; None where there are none."""
    if low is None or high is None or low < high:
        return NumberSet(low, high, raw.is_low_open, raw.is_high_open)
    is_point = low == high and not raw.is_low_open and not raw.is_high_open
    return NumberSet.of_values((low,) if is_point else ())


def _reduced(raw: NumberSet) -> list[Decimal] | None:
    """Return the indivisible steps that say more than the others do; None where the divisor contradicts one."""
    steps: set[Decimal] = set(raw.indivisible)
    if raw.divisor is not None:
        steps = {common_multiple(step, raw.divisor) for step in steps}
        if raw.divisor in steps:
            return None
    ordered = sorted(steps)
    if len(ordered) > _MAX_REDUCED:
        return ordered
    kept: list[Decimal] = []
    for step in ordered:
        if not any(is_multiple(step, smaller) for smaller in kept):
            kept.append(step)
    return kept


def _normal_interval(found: NumberSet) -> NumberSet | None:
    low, high = found.low, found.high
    if low is not None and high is not None and low >= high:
        return NumberSet.of_values((low,) if low == high and found.contains(low) else ())
    is_low_open = found.is_low_open or (low is not None and not found.contains(low))
    is_high_open = found.is_high_open or (high is not None and not found.contains(high))
    excluded = tuple(value for value in found.excluded if value not in (low, high))
    return replace(found, is_low_open=is_low_open, is_high_open=is_high_open, excluded=excluded)


def _normal_steps(found: NumberSet, divisor: Decimal) -> NumberSet | None:
    steps = found.steps()
    if steps.first is not None and steps.last is not None and steps.first > steps.last:
        return None
    first = None if steps.first is None else steps.smallest()
    last = None if steps.last is None else steps.largest()
    if (first is None) != (steps.first is None) or (last is None) != (steps.last is None):
        return None
    if first is not None and first == last:
        return NumberSet.of_values((step_at(first, divisor),))
    low = None if first is None else step_at(first, divisor)
    high = None if last is None else step_at(last, divisor)
    bounded = replace(found, low=low, high=high, is_low_open=False, is_high_open=False, excluded=())
    return replace(bounded, excluded=tuple(filter(bounded.contains, found.excluded)))


def _tighter(
    first: tuple[Decimal | None, bool], second: tuple[Decimal | None, bool], *, is_upper: bool = False
) -> tuple[Decimal | None, bool]:
    """Return the bound that allows less of two, each a value and whether it is open."""
    if first[0] is None or second[0] is None:
        return second if first[0] is None else first
    if first[0] == second[0]:
        return first[0], first[1] or second[1]
    return first if (first[0] > second[0]) != is_upper else second


def _sorted(values: Iterable[Decimal]) -> tuple[Decimal, ...]:
    return tuple(sorted({value if value else _ZERO for value in values}))


def _negative(bound: Decimal | None) -> Decimal | None:
    return None if bound is None else _unsigned_zero(bound.copy_negate())


def _unsigned_zero(bound: Decimal | None) -> Decimal | None:
    return _ZERO if bound is not None and not bound else bound


def _holds(ordered: tuple[Decimal, ...], value: Decimal) -> bool:
    at = bisect_left(ordered, value)
    return at < len(ordered) and ordered[at] == value


def _list_in_words(start: str, values: tuple[Decimal, ...], rest: str) -> str:
    more = len(values) - 5
    return start + ", ".join(map(plain_number, values[:5])) + (" " + rest.format(more) if more > 0 else "")


_ZERO = Decimal(0)

ANY_NUMBER = NumberSet()
"""Every number."""
ANY_INTEGER = NumberSet(divisor=Decimal(1))
"""Every integer, however it is spelled."""

__all__ = ["ANY_INTEGER", "ANY_NUMBER", "NumberSet"]
