"""Hold the numbers of a set as a model should write them: the ``generate`` dialect.

No exponent, no negative zero, no zeros in front, and a bounded number of digits, so the numbers of a set that can be
written lie on a grid of finitely many points. What a text can still become is an interval of that grid, so a state is
live exactly if a member lies in it. A state keeps the digits of the text that reached it first, and is found again by
what those digits mean alone: bounds that are still tight, and the residue where a divisor counts.

Source: design, "The automaton" (the two dialects).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum

from commitgate.automaton.branching import Branching
from commitgate.automaton.multiples import step_at
from commitgate.automaton.number_room import MAX_RESIDUES, Room, grown_room, room_of, scaled
from commitgate.automaton.number_set import NumberSet
from commitgate.automaton.number_text import plain_number
from commitgate.automaton.terms import Arena, Term

_ZERO = Decimal(0)
_ABOVE_ZERO = NumberSet(_ZERO, is_low_open=True)


class NumbersTooFine(Exception):  # noqa: N818 - a verdict that callers turn into a support row, not a failure
    """Raised when a divisor tells too many digits apart to be written digit by digit; generate without it and check.

    Attributes:
        divisor: the divisor.
    """

    def __init__(self, divisor: Decimal) -> None:
        super().__init__(f"multiples of {plain_number(divisor)} need more than {MAX_RESIDUES} states")
        self.divisor = divisor


def generate_term(arena: Arena, numbers: NumberSet, *, integer_digits: int, fraction_digits: int) -> Term:
    """Return the term of the set's numbers as ``generate`` writes them; empty where none can be written.

    Args:
        integer_digits: most digits before the point, unless the set's bounds ask for more.
        fraction_digits: most digits after the point, unless the set's bounds or divisor ask for more.

    Raises:
        NumbersTooFine: a divisor tells too many digits apart.
    """
    key = (generate_term, numbers, integer_digits, fraction_digits)
    return arena.intern(key, lambda: _term(arena, numbers, integer_digits, fraction_digits))


def _term(arena: Arena, numbers: NumberSet, integer_digits: int, fraction_digits: int) -> Term:
    if numbers.values is not None:
        return _listed(arena, numbers.values)
    has_zero = numbers.contains(_ZERO)
    above, below = numbers.meet(_ABOVE_ZERO), numbers.mirrored().meet(_ABOVE_ZERO)
    positive = room_of(above, integer_digits, fraction_digits)
    negative = room_of(below, integer_digits, fraction_digits)
    if not (has_zero or positive or negative):
        positive, negative = grown_room(above, fraction_digits), grown_room(below, fraction_digits)
    above_term, below_term = _sides(arena, positive, negative, has_zero=has_zero)
    return arena.choice((above_term, arena.sequence(arena.literal(b"-"), below_term)))


def _listed(arena: Arena, values: tuple[Decimal, ...]) -> Term:
    return arena.literal_set(tuple(sorted({plain_number(value).encode() for value in values})))


def _sides(arena: Arena, positive: Room | None, negative: Room | None, *, has_zero: bool) -> tuple[Term, Term]:
    """Return the terms of the numbers of either sign, without it; states are shared where the signs mean the same."""
    zero = _listed(arena, (_ZERO,)) if has_zero else arena.empty
    above = zero if positive is None else _side(arena, positive)
    below = arena.empty if negative is None else above if negative == positive else _side(arena, negative)
    if not has_zero or positive is None:
        return above, below
    if isinstance(above, GeneratedNumber):
        return above.with_zero(), below
    return arena.choice((zero, above)), below


def _side(arena: Arena, room: Room) -> Term:
    """Return the term of a side's numbers without their sign; zero is none of them."""
    numbers = room.numbers
    if numbers.values is not None:
        return _listed(arena, numbers.values)
    assert numbers.divisor is not None
    too_fine = next((step for step in (numbers.divisor, *numbers.indivisible) if room.is_too_fine(step)), None)
    if too_fine is not None:
        if numbers.count(MAX_RESIDUES + 1) > MAX_RESIDUES:
            raise NumbersTooFine(too_fine)
        members = tuple(step_at(step, numbers.divisor) for step in numbers.steps().members())
        return _listed(arena, members)
    return _following(arena, Grid(room), Written(Phase.START))


class Phase(IntEnum):
    """Say which part of a number was read last."""

    START = 0
    ZERO = 1
    INTEGER = 2
    POINT = 3
    FRACTION = 4


@dataclass(frozen=True, slots=True)
class Written:
    """Hold what was written of a number, without its sign.

    Attributes:
        phase: the part read last.
        value: its digits as one integer.
        width: how many of them stand before the point.
        scale: how many of them stand after it.
        may_be_zero: all of them are 0, and zero is allowed.
    """

    phase: Phase
    value: int = 0
    width: int = 0
    scale: int = 0
    may_be_zero: bool = False


class Grid:
    """Hold the numbers of one sign that can be written, scaled to integers; compares by identity.

    Args:
        room: positive numbers of an interval, at least two, all of them multiples of a divisor.
    """

    __slots__ = (
        "_bounds",
        "_is_whole",
        "_moduli",
        "_skipped",
        "_step",
        "_steps",
        "integer_digits",
        "numbers",
        "places",
    )

    def __init__(self, room: Room) -> None:
        numbers, places = room.numbers, room.fraction_digits
        assert numbers.divisor is not None
        assert numbers.low is not None
        assert numbers.high is not None
        self.numbers = numbers
        self.integer_digits = room.integer_digits
        self.places = places
        self._step = scaled(numbers.divisor, places)
        low, high = scaled(numbers.low, places), scaled(numbers.high, places)
        # Bounds that the digits' number sets need no watching.
        self._bounds = [low] if low > self._step else []
        self._bounds += [high] if high + self._step < 10 ** (places + room.integer_digits) else []
        self._is_whole = self._step == low == 1 and not (numbers.indivisible or numbers.excluded)
        self._steps = numbers.steps()
        self._moduli = tuple(scaled(step, places) for step in (numbers.divisor, *numbers.indivisible))
        self._skipped = [scaled(value, places) for value in numbers.excluded]

    def may_end(self, written: Written) -> bool:
        """Return whether the number written is a member."""
        if written.phase in (Phase.START, Phase.POINT):
            return False
        if not written.value:
            return written.may_be_zero
        number = written.value * 10 ** (self.places - written.scale)
        return self._has_member(number, number + 1)

    def is_live(self, written: Written) -> bool:
        """Return whether what was written can become a member."""
        if written.phase is Phase.POINT and self.places == 0:
            return False
        if written.phase is Phase.START or written.may_be_zero:
            return True
        return any(self._has_member(*self._reach(written, left)) for left in self._left(written))

    def key(self, written: Written) -> Hashable:
        """Return a key such that texts of equal keys have the same continuations."""
        left = self._left(written)
        value = written.value
        skipped = any(self._is_any_skipped(*self._reach(written, digits)) for digits in left)
        residues = tuple(_residue(modulus, value, digits) for modulus in self._moduli if modulus > 1 for digits in left)
        bounds = tuple(self._stands(bound, written) for bound in self._bounds)
        width = written.width if written.phase is Phase.INTEGER else 0
        # Zeros after the point mean no more than other digits where zero and every other number may follow.
        zero = () if value or (written.may_be_zero and self._is_whole) else (written.may_be_zero,)
        place = written.phase, width, written.scale, zero
        return place, bounds, residues, value if skipped else None

    def _left(self, written: Written) -> range:
        """Return how many digits may follow, those after the point always counted in full; the most first."""
        if written.phase is Phase.INTEGER:
            return range(self.places + self.integer_digits - written.width, self.places - 1, -1)
        left = self.places - written.scale
        return range(left, left - 1, -1)

    @staticmethod
    def _reach(written: Written, left: int) -> tuple[int, int]:
        """Return the first scaled number that so many digits lead to, and the first one after them."""
        return written.value * 10**left, (written.value + 1) * 10**left

    def _has_member(self, start: int, end: int) -> bool:
        steps, step = self._steps, self._step
        assert steps.first is not None
        assert steps.last is not None
        first, last = max(-(-start // step), steps.first), min(-(-end // step) - 1, steps.last)
        if first > last or not (steps.moduli or steps.skipped):
            return first <= last
        return replace(steps, first=first, last=last).smallest() is not None

    def _is_any_skipped(self, start: int, end: int) -> bool:
        at = bisect_left(self._skipped, start)
        return at < len(self._skipped) and self._skipped[at] < end

    def _stands(self, bound: int, written: Written) -> int | None:
        """Return how the digits stand to a bound's first ones, -1, 0 or 1; None where their number alone decides."""
        left = self.places - written.scale
        if written.phase is Phase.INTEGER:
            whole = bound // 10**self.places
            wanted = len(str(whole)) if whole else 0
            if written.width > wanted:
                return None
            left += wanted - written.width
        first = bound // 10**left
        return (written.value > first) - (written.value < first)


def _residue(modulus: int, value: int, left: int) -> int | None:
    """Return the least number of ``left`` digits that makes ``value`` with them a multiple; None where none does."""
    wanted = -value * 10**left % modulus
    return wanted if wanted < 10**left else None


def _following(arena: Arena, grid: Grid, written: Written) -> Term:
    """Return the term of what may follow; empty where nothing can."""
    if written.width > grid.integer_digits or written.scale > grid.places:
        return arena.empty
    key = (GeneratedNumber, grid, grid.key(written))

    def make() -> Term:
        return GeneratedNumber(arena, grid, written) if grid.is_live(written) else arena.empty

    return arena.intern(key, make)


class GeneratedNumber(Branching):
    """Denote what remains of a number whose sign is known, in the ``generate`` dialect."""

    __slots__ = ("_grid", "_written")

    def __init__(self, arena: Arena, grid: Grid, written: Written) -> None:
        super().__init__(arena, nullable=grid.may_end(written))
        self._grid = grid
        self._written = written

    def with_zero(self) -> Term:
        """Return the term of the same numbers and zero. Asked only where nothing has been written."""
        return _following(self.arena, self._grid, replace(self._written, may_be_zero=True))

    def describe(self) -> str:
        return self._grid.numbers.describe()

    def _following(self) -> Iterator[tuple[int, Term]]:
        for byte, written in _next(self._written):
            yield byte, _following(self.arena, self._grid, written)


def _next(written: Written) -> Iterator[tuple[int, Written]]:
    """Yield each byte that the grammar allows next with what is written then."""
    phase = written.phase
    if phase in (Phase.ZERO, Phase.INTEGER):
        yield 0x2E, replace(written, phase=Phase.POINT)
    if phase is Phase.ZERO:
        return
    for byte in b"0123456789":
        value = written.value * 10 + byte - 0x30
        is_zero = written.may_be_zero and not value
        if phase in (Phase.POINT, Phase.FRACTION):
            yield byte, Written(Phase.FRACTION, value, written.width, written.scale + 1, is_zero)
        elif byte == 0x30 and phase is Phase.START:
            yield byte, Written(Phase.ZERO, 0, 1, 0, is_zero)
        else:
            yield byte, Written(Phase.INTEGER, value, written.width + 1)


__all__ = ["NumbersTooFine", "generate_term"]
