"""Hold what is open in the middle of a character of a JSON string: UTF-8 continuation bytes, hex digits, halves.

Code points are never enumerated: a half-read character is kept as the ranges of code points that it can still become,
relative to the block of them that the bytes read so far leave open. So half-characters whose completions lead to the
same states are equal. Where bytes lead is given as runs ``(first, last, target)`` of bytes.

Source: RFC 8259 section 7 (escapes, surrogate pairs), RFC 3629 section 4 (well-formed UTF-8), Unicode 15 table 3-7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias, TypeVar

from commitgate.automaton.strings import LAST_CODE_POINT, CharacterState, Ranges

BACKSLASH = 0x5C
HEX_DIGITS = b"0123456789abcdef"

LEADS = (
    (1, range(0xC2, 0xE0), 0xC0, 0x80),
    (2, range(0xE0, 0xF0), 0xE0, 0x800),
    (3, range(0xF0, 0xF5), 0xF0, 0x10000),
)
"""Continuation bytes, lead bytes, the lead's tag bits, and the least code point that must not be spelled shorter."""
FIRST_LEAD, _LAST_LEAD = 0xC2, 0xF4
"""First and last lead byte of characters beyond ASCII."""
_WIDE_SHAPES = 4_096
"""Splits of the characters beyond ASCII that are remembered; most states have the one that allows all of them."""

TargetT = TypeVar("TargetT")
Target: TypeAlias = "CharacterState | LowHalf"
Block: TypeAlias = "tuple[tuple[int, int, Target], ...]"
Numbered: TypeAlias = "tuple[tuple[int, int, int], ...]"
"""Ranges of code points, each with the number of what it leads to."""


@dataclass(frozen=True, slots=True)
class LowHalf:
    r"""Stand between the halves of an escaped surrogate pair: ``\uDC00`` to ``\uDFFF`` must follow.

    Attributes:
        block: where each of the 1,024 low halves leads, relative to U+DC00.
        read: how much of the backslash and the ``u`` was read, 0 to 1.
    """

    block: Block
    read: int = 0

    def outgoing(self) -> Iterator[tuple[int, int, LowHalf | HexDigits]]:
        """Yield each run of live bytes with where it leads."""
        if self.read == 0:
            yield BACKSLASH, BACKSLASH, LowHalf(self.block, 1)
        else:
            shifted = tuple((low + 0xDC00, high + 0xDC00, to) for low, high, to in self.block)
            yield 0x75, 0x75, HexDigits(4, shifted)


@dataclass(frozen=True, slots=True)
class HalfCharacter:
    """Hold the continuation bytes still to come: ``left`` of them, for one of ``64 ** left`` code points."""

    left: int
    block: Block

    def outgoing(self) -> Iterator[tuple[int, int, Target | HalfCharacter]]:
        """Yield each run of live bytes with where it leads."""
        for first, last, block in _digits(self.block, 64, self.left):
            yield 0x80 + first, 0x80 + last, block[0][2] if self.left == 1 else HalfCharacter(self.left - 1, block)


@dataclass(frozen=True, slots=True)
class HexDigits:
    """Hold the hex digits still to come: ``left`` of them, for one of ``16 ** left`` code units."""

    left: int
    block: Block

    def outgoing(self, *, has_capitals: bool) -> Iterator[tuple[int, int, Target | HexDigits]]:
        """Yield each run of live bytes with where it leads; letters may also be capital where that is asked for."""
        for first, last, block in _digits(self.block, 16, self.left):
            target = block[0][2] if self.left == 1 else HexDigits(self.left - 1, block)
            for value in range(first, last + 1):
                byte = HEX_DIGITS[value]
                yield byte, byte, target
                if has_capitals and value > 9:
                    yield byte - 0x20, byte - 0x20, target


@dataclass(frozen=True, slots=True)
class AfterBackslash:
    """Stand behind a backslash."""


Pending: TypeAlias = "HalfCharacter | HexDigits | AfterBackslash | LowHalf | None"


def clip(ranges: Iterable[tuple[int, int, TargetT]], first: int, last: int) -> tuple[tuple[int, int, TargetT], ...]:
    """Return the part of the ranges in [first, last], relative to ``first``, neighbours with one target joined."""
    found: list[tuple[int, int, TargetT]] = []
    for low, high, target in ranges:
        low, high = max(low, first), min(high, last)
        if low > high:
            continue
        if found and found[-1][1] == low - first - 1 and found[-1][2] == target:
            found[-1] = (found[-1][0], high - first, target)
        else:
            found.append((low - first, high - first, target))
    return tuple(found)


def _edges(ranges: Iterable[tuple[int, int, TargetT]], size: int, count: int) -> list[int]:
    """Return the ends of runs of blocks of ``size`` code points that the ranges do not tell apart, 0 and count too."""
    cuts = {0, count}
    for low, high, _ in ranges:
        cuts |= {low // size, low // size + 1, high // size, high // size + 1}
    return sorted(cut for cut in cuts if 0 <= cut <= count)


def _digits(block: Block, base: int, left: int) -> Iterator[tuple[int, int, Block]]:
    """Yield runs of values of the next digit that leave the same block open, where one is left at all."""
    size = base ** (left - 1)
    for first, end in pairwise(_edges(block, size, base)):
        inside = clip(block, first * size, (first + 1) * size - 1)
        if inside:
            yield first, end - 1, inside


def high_halves(ranges: Ranges) -> list[tuple[int, int, Target]]:
    """Return where each high surrogate leads; whole runs of halves with one target stay one range."""
    astral = clip(ranges, 0x10000, LAST_CODE_POINT)
    found: list[tuple[int, int, Target]] = []
    for first, end in pairwise(_edges(astral, 0x400, 0x400)):
        block = clip(astral, first << 10, (first << 10) + 0x3FF)
        if block:
            found.append((0xD800 + first, 0xD800 + end - 1, LowHalf(block)))
    return found


@dataclass(frozen=True, slots=True)
class WideLeads:
    """Hold how the lead bytes of characters beyond ASCII split by where they lead, whatever the targets are.

    Attributes:
        numbers: for each lead byte from C2 to F4 the number of its half-character, from 1; 0 for none.
        halves: the half-characters by number, from 1, with numbers for targets.
    """

    numbers: bytes
    halves: tuple[tuple[int, Numbered], ...]

    def half(self, number: int, targets: tuple[CharacterState, ...]) -> HalfCharacter:
        """Return a half-character with its targets."""
        left, block = self.halves[number - 1]
        return HalfCharacter(left, tuple((low, high, targets[to]) for low, high, to in block))


@lru_cache(maxsize=_WIDE_SHAPES)
def wide_leads(ranges: Numbered) -> WideLeads:
    """Return how ranges of code points beyond ASCII split the lead bytes. Different numbers are different targets."""
    known: dict[tuple[int, Numbered], int] = {}
    numbers = bytearray()
    for left, leads, tag, least in LEADS:
        size = 1 << 6 * left
        for lead in leads:
            first = (lead - tag) * size
            shift = max(first, least) - first
            block = clip(ranges, first + shift, first + size - 1)
            half = (left, tuple((low + shift, high + shift, to) for low, high, to in block))
            numbers.append(known.setdefault(half, len(known) + 1) if block else 0)
    return WideLeads(bytes(numbers), tuple(known))


@dataclass(frozen=True, slots=True)
class Wide:
    """Hold where the lead bytes of characters beyond ASCII lead.

    Attributes:
        leads: how they split.
        targets: what is behind the whole characters, by number.
    """

    leads: WideLeads
    targets: tuple[CharacterState, ...]

    @staticmethod
    def of(ranges: Iterable[tuple[int, int, CharacterState]]) -> Wide | None:
        """Return where the ranges lead; None where none of them reaches beyond ASCII."""
        numbers: dict[CharacterState, int] = {}
        numbered = tuple(
            (max(low, 0x80), high, numbers.setdefault(following, len(numbers)))
            for low, high, following in ranges
            if high > 0x7F
        )
        return Wide(wide_leads(numbered), tuple(numbers)) if numbered else None

    def half(self, number: int) -> HalfCharacter:
        """Return the half-character of a number, counted from 0."""
        return self.leads.half(number + 1, self.targets)

    def after(self, byte: int) -> HalfCharacter | None:
        """Return the half-character behind a lead byte; None where it cannot follow."""
        number = self.leads.numbers[byte - FIRST_LEAD] if FIRST_LEAD <= byte <= _LAST_LEAD else 0
        return self.half(number - 1) if number else None


def writable_beyond_ascii(may_write: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Yield the code points beyond ASCII, surrogates among them, whose UTF-8 can be written.

    A vocabulary either spells every continuation byte, as all that know single bytes do, or the characters are left
    out: telling apart which of them some bytes still spell would cost far more than it gives.
    """
    if not all(may_write(byte) for byte in range(0x80, 0xC0)):
        return
    for left, leads, tag, least in LEADS:
        for lead in leads:
            if may_write(lead):
                first = (lead - tag) << 6 * left
                yield max(first, least), min(first + (1 << 6 * left) - 1, LAST_CODE_POINT)


def leading_to(pending: Pending, change: Callable[[CharacterState], CharacterState]) -> Pending:
    """Return the half-read character with every state that it leads to changed."""
    match pending:
        case HalfCharacter() | HexDigits():
            return type(pending)(pending.left, _block_to(pending.block, change))
        case LowHalf():
            return LowHalf(_block_to(pending.block, change), pending.read)
        case _:
            return pending


def _block_to(block: Block, change: Callable[[CharacterState], CharacterState]) -> Block:
    return tuple(
        (
            low,
            high,
            LowHalf(_block_to(target.block, change), target.read) if isinstance(target, LowHalf) else change(target),
        )
        for low, high, target in block
    )


__all__ = [
    "BACKSLASH",
    "FIRST_LEAD",
    "AfterBackslash",
    "HalfCharacter",
    "HexDigits",
    "LowHalf",
    "Pending",
    "Target",
    "Wide",
    "WideLeads",
    "clip",
    "high_halves",
    "leading_to",
    "writable_beyond_ascii",
]
