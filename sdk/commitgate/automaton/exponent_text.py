"""Hold what remains of a number after its ``e``: the exponents that make an allowed value.

The mantissa is known by then, so the allowed exponents are a set of small integers, kept as bits. A state means the
same for every number and constraint that leaves the same exponents.

Source: RFC 8259 section 6 (exp).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass

from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT
from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term

_WIDTH = len(str(MAX_EXPONENT))
_MAGNITUDES = MAX_EXPONENT + 1
_TEN = (1 << 10) - 1
_HUNDRED = (1 << 100) - 1


def exponent_text(arena: Arena, allowed: int, digits: int) -> Term:
    """Return the term of the exponents that may follow an ``e``; empty where there is none.

    Args:
        allowed: bit ``e + MAX_EXPONENT`` says that the exponent e may be written.
        digits: how many digits the mantissa has.
    """
    downward = int(f"{allowed & (1 << _MAGNITUDES) - 1:0{_MAGNITUDES}b}"[::-1], 2)
    return _term(arena, _Sign(allowed >> MAX_EXPONENT, downward, digits))


class _Place(Hashable):
    """Say where in an exponent a text stands, and what may follow there."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_live(self) -> bool:
        """Return whether an allowed exponent can still be written."""

    @property
    @abstractmethod
    def may_end(self) -> bool:
        """Return whether what was read is an allowed exponent."""

    @abstractmethod
    def following(self, byte: int) -> _Place:
        """Return the place after a sign or digit."""

    @abstractmethod
    def saturated(self, reach: int) -> _Place:
        """Return a place that agrees on the next ``reach`` bytes; see ``Term.saturated``."""


@dataclass(frozen=True, slots=True)
class _Sign(_Place):
    """Stand behind the ``e``.

    Attributes:
        upward: bit n says that the exponent n may be written.
        downward: bit n says that the exponent -n may be written.
        digits: how many digits have been read.
    """

    upward: int
    downward: int
    digits: int

    @property
    def is_live(self) -> bool:
        return _fits(self.upward | self.downward, self.digits)

    @property
    def may_end(self) -> bool:
        return False

    def following(self, byte: int) -> _Place:
        if byte == 0x2D:
            return _Magnitude(self.downward, self.digits, is_begun=False)
        upward = _Magnitude(self.upward, self.digits, is_begun=False)
        return upward if byte == 0x2B else upward.following(byte)

    def saturated(self, reach: int) -> _Place:
        return _Sign(self.upward, self.downward, _counted(self.digits, reach))


@dataclass(frozen=True, slots=True)
class _Magnitude(_Place):
    """Stand before the first digit of an exponent that is not zero.

    Attributes:
        allowed: bit n says that the magnitude n may be written.
        digits: how many digits have been read.
        is_begun: a zero has been read.
    """

    allowed: int
    digits: int
    is_begun: bool

    @property
    def is_live(self) -> bool:
        return self.may_end or _fits(self.allowed, self.digits)

    @property
    def may_end(self) -> bool:
        return self.is_begun and self.digits <= MAX_DIGITS and bool(self.allowed & 1)

    def following(self, byte: int) -> _Place:
        digit = byte - 0x30
        if not 0 <= digit <= 9:
            return _NOWHERE
        if digit == 0:
            return _Magnitude(self.allowed, self.digits + 1, is_begun=True)
        may_end, tens = bool(self.allowed >> digit & 1), self.allowed >> 10 * digit & _TEN
        return _Tail.of(may_end, tens, self.allowed >> 100 * digit & _HUNDRED, MAX_DIGITS - self.digits - 1)

    def saturated(self, reach: int) -> _Place:
        return _Magnitude(self.allowed, _counted(self.digits, reach), self.is_begun)


@dataclass(frozen=True, slots=True)
class _Tail(_Place):
    """Stand behind a digit of an exponent that is not zero.

    Attributes:
        ends: what was read is allowed as it stands.
        tens: bit n says that the one digit n may follow.
        hundreds: bit n says that the two digits of n may follow.
    """

    ends: bool
    tens: int
    hundreds: int

    @staticmethod
    def of(ends: bool, tens: int, hundreds: int, room: int) -> _Tail:
        """Return the place where at most ``room`` digits may follow; negative where there was one too many."""
        return _Tail(ends and room >= 0, tens if room > 0 else 0, hundreds if room > 1 else 0)

    @property
    def is_live(self) -> bool:
        return self.ends or bool(self.tens or self.hundreds)

    @property
    def may_end(self) -> bool:
        return self.ends

    def following(self, byte: int) -> _Place:
        digit = byte - 0x30
        if not 0 <= digit <= 9:
            return _NOWHERE
        return _Tail(bool(self.tens >> digit & 1), self.hundreds >> 10 * digit & _TEN, 0)

    def saturated(self, reach: int) -> _Place:
        del reach
        return self


_NOWHERE = _Tail(ends=False, tens=0, hundreds=0)


def _fits(allowed: int, digits: int) -> bool:
    """Return whether an allowed magnitude can be written after so many digits."""
    room = min(MAX_DIGITS - digits, _WIDTH)
    return room > 0 and bool(allowed & (1 << 10**room) - 1)


def _counted(digits: int, reach: int) -> int:
    return digits if digits + reach + _WIDTH > MAX_DIGITS else 0


def _term(arena: Arena, place: _Place) -> Term:
    if not place.is_live:
        return arena.empty
    return arena.intern((ExponentText, place), lambda: ExponentText(arena, place))


class ExponentText(Term):
    """Denote what remains of an exponent."""

    __slots__ = ("state",)

    def __init__(self, arena: Arena, state: _Place) -> None:
        super().__init__(arena, nullable=state.may_end)
        self.state = state

    def describe(self) -> str:
        return "an exponent that makes an allowed number"

    def saturated(self, reach: int) -> Term:
        return _term(self.arena, self.state.saturated(reach))

    def _partition(self) -> Partition:
        following = {byte: self.state.following(byte) for byte in b"+-0123456789"}
        return Partition.of({byte: place for byte, place in following.items() if place.is_live})

    def _derive(self, byte: int) -> Term:
        return _term(self.arena, self.state.following(byte))


__all__ = ["exponent_text"]
