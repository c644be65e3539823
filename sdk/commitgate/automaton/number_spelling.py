"""Hold every spelling of the numbers of a set: the ``accept`` dialect.

A number is judged by its value, not its spelling: ``1.0``, ``10e-1`` and ``1`` are the same integer. A state keeps the
digits of the text that reached it first, and is found again by what those digits mean to the set alone.

Source: RFC 8259 section 6 (grammar); JSON Schema 2020-12 core section 4.2.3 (1.0 is an integer).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum

from commitgate.automaton.branching import Branching
from commitgate.automaton.exponent_text import exponent_text
from commitgate.automaton.magnitudes import Magnitudes, magnitudes
from commitgate.automaton.mantissa import Mantissa
from commitgate.automaton.number_set import ANY_INTEGER, NumberSet
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT
from commitgate.automaton.terms import Arena, Term


class Phase(IntEnum):
    """Say which part of a number was read last."""

    MINUS = 0
    ZERO = 1
    INTEGER = 2
    POINT = 3
    FRACTION = 4


_MAY_END = frozenset({Phase.ZERO, Phase.INTEGER, Phase.FRACTION})
_SPARE_DIGITS = 2 * MAX_EXPONENT
"""With as many digits left, their number decides nothing that a token can tell."""


def accept_term(arena: Arena, numbers: NumberSet, *, is_literal_integer: bool = False) -> Term:
    """Return the term of every spelling of the set's numbers, within ``MAX_DIGITS`` and ``MAX_EXPONENT``.

    Args:
        is_literal_integer: only integers written without point and exponent count, as in draft 4; empty where the
            set has no integer.

    A state from which no spelling can reach a member is dead; only near the last of ``MAX_DIGITS`` digits a state may
    count as live although the digits left do not suffice.
    """
    if is_literal_integer:
        integers = numbers.meet(ANY_INTEGER)
        if integers is None:
            return arena.empty
        return arena.intern((NumberStart, numbers, 0), lambda: NumberStart(arena, integers, most_exponent=0))
    return arena.intern((NumberStart, numbers), lambda: NumberStart(arena, numbers))


class NumberStart(Branching):
    """Denote the numbers of a set."""

    __slots__ = ("_sides", "numbers")

    def __init__(self, arena: Arena, numbers: NumberSet, *, most_exponent: int = MAX_EXPONENT) -> None:
        super().__init__(arena, nullable=False)
        self.numbers = numbers
        self._sides = magnitudes(numbers, most_exponent=most_exponent)

    def describe(self) -> str:
        return self.numbers.describe()

    def _following(self) -> Iterator[tuple[int, Term]]:
        positive, negative = self._sides
        yield 0x2D, _spelling(self.arena, self.numbers, negative, Phase.MINUS, Mantissa())
        for byte, phase, mantissa in _digits(Phase.MINUS, Mantissa()):
            yield byte, _spelling(self.arena, self.numbers, positive, phase, mantissa)


def _spelling(arena: Arena, numbers: NumberSet, side: Magnitudes, phase: Phase, mantissa: Mantissa) -> Term:
    """Return the term of what may follow; empty where nothing can."""
    key = (NumberSpelling, side, phase, side.key(mantissa))

    def make() -> Term:
        may_end = phase in _MAY_END and bool(side.exponents(mantissa) >> MAX_EXPONENT & 1)
        room = MAX_DIGITS - mantissa.digits
        if room < 0 or not (may_end or (room > 0 and side.is_reachable(mantissa))):
            return arena.empty
        return NumberSpelling(arena, numbers, side, phase, mantissa, may_end=may_end)

    return arena.intern(key, make)


class NumberSpelling(Branching):
    """Denote what remains of a number whose sign is known.

    Args:
        numbers: says in words what is allowed.
        side: the magnitudes that are allowed.
        mantissa: the digits of one text that leads here; any other has the same continuations.
        may_end: the value read is allowed.
    """

    __slots__ = ("_mantissa", "_phase", "_side", "numbers")

    def __init__(
        self, arena: Arena, numbers: NumberSet, side: Magnitudes, phase: Phase, mantissa: Mantissa, *, may_end: bool
    ) -> None:
        super().__init__(arena, nullable=may_end)
        self.numbers = numbers
        self._side = side
        self._phase = phase
        self._mantissa = mantissa

    def describe(self) -> str:
        return self.numbers.describe()

    def saturated(self, reach: int) -> Term:
        mantissa = self._mantissa
        if not self._side.is_free or mantissa.digits + reach + _SPARE_DIGITS > MAX_DIGITS:
            return self
        return _spelling(self.arena, self.numbers, self._side, self._phase, replace(mantissa, digits=0))

    def _following(self) -> Iterator[tuple[int, Term]]:
        for byte, phase, mantissa in _digits(self._phase, self._mantissa):
            yield byte, _spelling(self.arena, self.numbers, self._side, phase, mantissa)
        if not self._side.has_exponents:
            return
        if self._phase in (Phase.ZERO, Phase.INTEGER):
            pointed = replace(self._mantissa, may_grow=False)
            yield 0x2E, _spelling(self.arena, self.numbers, self._side, Phase.POINT, pointed)
        if self._phase in _MAY_END:
            after = exponent_text(self.arena, self._side.exponents(self._mantissa), self._mantissa.digits)
            yield 0x45, after
            yield 0x65, after


def _digits(phase: Phase, mantissa: Mantissa) -> Iterator[tuple[int, Phase, Mantissa]]:
    """Yield each digit that the grammar allows next, with the phase and the mantissa after it."""
    if phase is Phase.ZERO:
        return
    following = Phase.INTEGER if phase <= Phase.INTEGER else Phase.FRACTION
    for byte in b"0123456789":
        grown = mantissa.with_digit(chr(byte), is_fraction=following is Phase.FRACTION)
        if phase is Phase.MINUS and byte == 0x30:
            yield byte, Phase.ZERO, replace(grown, may_grow=False)
        else:
            yield byte, following, grown


__all__ = ["accept_term"]
