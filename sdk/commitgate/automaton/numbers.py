"""Hold the languages of JSON numbers: every spelling of a value in ``accept``, the plain one in ``generate``.

In ``accept`` a number is judged by its value, not its spelling: ``1.0``, ``10e-1`` and ``1`` are the same integer.
The digits read so far, their scale and the exponent are kept in a ``Register`` inside the state; what a constraint
cannot tell apart is dropped from it, so that states stay few. A state from which no spelling can reach an allowed
value is dead at once.

Source: RFC 8259 section 6 (grammar); JSON Schema 2020-12 core section 4.2.3 (1.0 is an integer).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from itertools import chain

from commitgate.automaton.generated_number import NumbersTooFine, generate_term
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT, plain_number
from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term

DIGITS = b"0123456789"
_AFTER_DIGITS = ":"
"""Sorts behind every digit."""
DIGIT_SET = sum(1 << byte for byte in DIGITS)
NONZERO_DIGIT_SET = DIGIT_SET & ~(1 << 0x30)


class Phase(IntEnum):
    """Say which part of a number was read last."""

    START = 0
    MINUS = 1
    ZERO = 2
    INTEGER = 3
    POINT = 4
    FRACTION = 5
    EXPONENT = 6
    EXPONENT_SIGN = 7
    EXPONENT_DIGITS = 8


MAY_END = frozenset({Phase.ZERO, Phase.INTEGER, Phase.FRACTION, Phase.EXPONENT_DIGITS})


@dataclass(frozen=True, slots=True)
class Register:
    """Hold what was read of a number.

    Attributes:
        phase: the part read last.
        digits: number of digits read, exponent included.
        is_negative: a minus sign was read.
        significant: the mantissa's digits without leading zeros.
        scale: how many of the mantissa's digits stood after the point.
        exponent: the written exponent's magnitude so far, 0 before its first digit.
        exponent_is_negative: its sign.
    """

    phase: Phase = Phase.START
    digits: int = 0
    is_negative: bool = False
    significant: str = ""
    scale: int = 0
    exponent: int = 0
    exponent_is_negative: bool = False

    @property
    def signed_exponent(self) -> int:
        """Return the written exponent with its sign."""
        return -self.exponent if self.exponent_is_negative else self.exponent

    def reaches_exponent(self, wanted: int) -> bool:
        """Return whether the exponent digits still to come can make the written exponent ``wanted``."""
        if abs(wanted) > MAX_EXPONENT:
            return False
        if self.phase < Phase.EXPONENT_SIGN:
            return True
        if wanted and (wanted < 0) != self.exponent_is_negative:
            return False
        return self.exponent == 0 or str(abs(wanted)).startswith(str(self.exponent))


class NumberConstraint(ABC):
    """Say which values a number may have. Hashable."""

    @abstractmethod
    def allows(self, register: Register) -> bool:
        """Return whether the value read is allowed; asked only where a number may end."""

    @abstractmethod
    def is_reachable(self, register: Register) -> bool:
        """Return whether some continuation reaches an allowed value."""

    @abstractmethod
    def reduce(self, register: Register) -> Register:
        """Return an equivalent register without what this constraint cannot tell apart."""

    @abstractmethod
    def describe(self) -> str:
        """Say in words what is allowed."""


@dataclass(frozen=True, slots=True)
class AnyNumber(NumberConstraint):
    """Allow every number."""

    def allows(self, register: Register) -> bool:
        return True

    def is_reachable(self, register: Register) -> bool:
        return True

    def reduce(self, register: Register) -> Register:
        return replace(register, is_negative=False, significant="", scale=0, exponent_is_negative=False)

    def describe(self) -> str:
        return "a number"


@dataclass(frozen=True, slots=True)
class AnyInteger(NumberConstraint):
    """Allow every number without a fractional part, however it is spelled."""

    def allows(self, register: Register) -> bool:
        return not register.significant or _headroom(register) + register.signed_exponent >= 0

    def is_reachable(self, register: Register) -> bool:
        if not register.significant:
            return True
        headroom = _headroom(register)
        if register.exponent_is_negative:
            return headroom >= register.exponent
        if register.phase < Phase.EXPONENT_SIGN or register.exponent == 0:
            return headroom + MAX_EXPONENT >= 0
        return headroom + _largest_exponent(register.exponent) >= 0

    def reduce(self, register: Register) -> Register:
        register = replace(register, is_negative=False)
        if not register.significant:
            return replace(register, scale=0) if register.phase >= Phase.EXPONENT else register
        zeros = len(register.significant) - len(register.significant.rstrip("0"))
        if register.phase in (Phase.INTEGER, Phase.POINT, Phase.FRACTION):
            return replace(register, significant="1" + "0" * zeros)
        common = min(zeros, register.scale)
        return replace(register, significant="1" + "0" * (zeros - common), scale=register.scale - common)

    def describe(self) -> str:
        return "an integer"


class NumberIn(NumberConstraint):
    """Allow the listed values alone, however they are spelled.

    The values lie sorted by their significant digits, so what was read picks a range of them and a long enum is never
    gone through whole.

    Args:
        values: at least one, distinct.
    """

    __slots__ = ("_digits", "_hash", "_sorted", "values")

    def __init__(self, values: tuple[Decimal, ...]) -> None:
        self.values = values
        self._sorted = sorted(values, key=_digits_of)
        self._digits = [_digits_of(value) for value in self._sorted]
        self._hash = hash(values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, NumberIn) and self.values == other.values)

    def allows(self, register: Register) -> bool:
        digits = register.significant.rstrip("0")
        return any(self._equals(register, value) for value in self._with_digits(digits, digits))

    def is_reachable(self, register: Register) -> bool:
        read = register.significant
        # Digits that go on, or a value whose digits are all read and followed by zeros.
        going_on = self._with_digits(read, read + _AFTER_DIGITS)
        ended = self._with_digits(read.rstrip("0"), read.rstrip("0")) if read.endswith("0") else ()
        return any(self._can_become(register, value) for value in chain(going_on, ended))

    def _with_digits(self, first: str, last: str) -> Iterator[Decimal]:
        """Yield the values whose significant digits lie between two texts, both included."""
        start = bisect_left(self._digits, first)
        while start < len(self._digits) and self._digits[start] <= last:
            yield self._sorted[start]
            start += 1

    def reduce(self, register: Register) -> Register:
        return register

    def describe(self) -> str:
        shown = ", ".join(plain_number(value) for value in self.values[:5])
        more = len(self.values) - 5
        return f"the number {shown}" + (f" or one of {more} more" if more > 0 else "")

    @staticmethod
    def _equals(register: Register, value: Decimal) -> bool:
        wanted, power = _significance(value)
        if not wanted:
            return not register.significant
        if register.is_negative != value.is_signed() or register.significant.rstrip("0") != wanted:
            return False
        return register.signed_exponent == power - (len(register.significant) - register.scale)

    @staticmethod
    def _can_become(register: Register, value: Decimal) -> bool:
        wanted, power = _significance(value)
        if not wanted:
            return not register.significant
        if register.phase is Phase.START:
            return True
        if register.is_negative != value.is_signed():
            return False
        read = register.significant
        exponent = power - (len(read) - register.scale)
        if register.phase >= Phase.EXPONENT:
            return read.rstrip("0") == wanted and register.reaches_exponent(exponent)
        if read.rstrip("0") != wanted[: len(read)].rstrip("0"):
            return False
        if register.phase in (Phase.ZERO, Phase.MINUS):
            return True
        if register.phase is Phase.INTEGER:
            return exponent >= -MAX_EXPONENT
        return abs(exponent) <= MAX_EXPONENT


def _headroom(register: Register) -> int:
    """Return the power of ten by which the mantissa can be divided and stay an integer; negative where it is none."""
    zeros = len(register.significant) - len(register.significant.rstrip("0"))
    return zeros - register.scale


def _largest_exponent(read: int) -> int:
    """Return the largest exponent within the limit whose digits begin with those of ``read``, which is not 0."""
    largest, width = read, 1
    while read * 10 * width <= MAX_EXPONENT:
        width *= 10
        largest = min(read * width + width - 1, MAX_EXPONENT)
    return largest


def _digits_of(value: Decimal) -> str:
    return _significance(value)[0]


def _significance(value: Decimal) -> tuple[str, int]:
    """Return the digits of ``value`` without zeros at either end, and p such that it is 0.digits * 10 ** p."""
    digits = value.as_tuple().digits
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    return text.rstrip("0"), len(text) + exponent


class NumberText(Term):
    """Denote what remains of a number in the ``accept`` dialect."""

    __slots__ = ("constraint", "register")

    def __init__(self, arena: Arena, constraint: NumberConstraint, register: Register) -> None:
        nullable = register.phase in MAY_END and constraint.allows(register)
        super().__init__(arena, nullable=nullable)
        self.constraint = constraint
        self.register = register

    @staticmethod
    def make(arena: Arena, constraint: NumberConstraint, register: Register | None = None) -> Term:
        """Return the term of the numbers that ``constraint`` allows and that begin as ``register`` says."""
        reduced = constraint.reduce(register or Register())
        if reduced.digits > MAX_DIGITS or reduced.exponent > MAX_EXPONENT or not constraint.is_reachable(reduced):
            return arena.empty
        key = (NumberText, constraint, reduced)
        return arena.intern(key, lambda: NumberText(arena, constraint, reduced))

    def describe(self) -> str:
        return self.constraint.describe()

    def _partition(self) -> Partition:
        live: dict[int, int] = {}
        for byte, register in _following(self.register):
            if NumberText.make(self.arena, self.constraint, register) is not self.arena.empty:
                live[byte] = byte
        return Partition.of(live)

    def _derive(self, byte: int) -> Term:
        register = dict(_following(self.register))[byte]
        return NumberText.make(self.arena, self.constraint, register)


def _following(register: Register) -> Iterator[tuple[int, Register]]:
    """Yield each byte that the grammar allows next, with the register after it."""
    phase = register.phase
    if phase is Phase.START:
        yield 0x2D, replace(register, phase=Phase.MINUS, is_negative=True)
    if phase <= Phase.MINUS:
        yield 0x30, replace(register, phase=Phase.ZERO, digits=1)
    if phase in (Phase.START, Phase.MINUS, Phase.INTEGER):
        for byte in DIGITS if phase is Phase.INTEGER else DIGITS[1:]:
            yield byte, _with_digit(register, byte, Phase.INTEGER)
    if phase in (Phase.ZERO, Phase.INTEGER):
        yield 0x2E, replace(register, phase=Phase.POINT)
    if phase in (Phase.POINT, Phase.FRACTION):
        for byte in DIGITS:
            yield byte, _with_digit(register, byte, Phase.FRACTION)
    if phase in (Phase.ZERO, Phase.INTEGER, Phase.FRACTION):
        yield 0x45, replace(register, phase=Phase.EXPONENT)
        yield 0x65, replace(register, phase=Phase.EXPONENT)
    if phase is Phase.EXPONENT:
        yield 0x2B, replace(register, phase=Phase.EXPONENT_SIGN)
        yield 0x2D, replace(register, phase=Phase.EXPONENT_SIGN, exponent_is_negative=True)
    if phase >= Phase.EXPONENT:
        for byte in DIGITS:
            exponent = register.exponent * 10 + byte - 0x30
            yield byte, replace(register, phase=Phase.EXPONENT_DIGITS, digits=register.digits + 1, exponent=exponent)


def _with_digit(register: Register, byte: int, phase: Phase) -> Register:
    significant = register.significant + chr(byte)
    if significant == "0":
        significant = ""
    scale = register.scale + (phase is Phase.FRACTION)
    return replace(register, phase=phase, digits=register.digits + 1, significant=significant, scale=scale)


def generated_number(arena: Arena, *, is_integer: bool, integer_digits: int, fraction_digits: int) -> Term:
    """Return the term of numbers as ``generate`` writes them: no exponent, no negative zero, digits bounded."""
    digit_run, nonzero = arena.run(DIGIT_SET, 0, integer_digits - 1), arena.run(NONZERO_DIGIT_SET, 1, 1)
    minus = arena.choice((arena.epsilon, arena.literal(b"-")))
    zero = arena.literal(b"0")
    whole = arena.sequence(nonzero, digit_run)
    if is_integer:
        return arena.choice((zero, arena.sequence(minus, whole)))
    fraction = arena.sequence(arena.literal(b"."), arena.run(DIGIT_SET, 1, fraction_digits))
    maybe_fraction = arena.choice((arena.epsilon, fraction))
    zeros = arena.run(1 << 0x30, 0, fraction_digits // 2)
    rest = arena.run(DIGIT_SET, 0, fraction_digits - fraction_digits // 2 - 1)
    negative_part = arena.chain(arena.literal(b"-0."), zeros, nonzero, rest)
    return arena.choice(
        (
            arena.sequence(zero, maybe_fraction),
            arena.chain(minus, whole, maybe_fraction),
            negative_part,
        )
    )


__all__ = [
    "ANY_INTEGER",
    "ANY_NUMBER",
    "MAX_DIGITS",
    "MAX_EXPONENT",
    "AnyInteger",
    "AnyNumber",
    "NumberConstraint",
    "NumberIn",
    "NumberSet",
    "NumberText",
    "NumbersTooFine",
    "accept_term",
    "generate_term",
    "generated_number",
    "plain_number",
]
