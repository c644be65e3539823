"""Spell character-level automata as the inside of a JSON string: UTF-8 bytes and escapes.

A ``StringBody`` stands behind an opening quote and ends with the closing one. Code points are never enumerated: a
half-read character is kept as the ranges of code points that it can still become, relative to the block of them that
the bytes read so far leave open. So half-characters whose completions lead to the same states are one term.

Source: RFC 8259 section 7 (escapes, surrogate pairs), RFC 3629 section 4 (well-formed UTF-8), Unicode 15 table 3-7.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from commitgate.automaton.partition import Partition
from commitgate.automaton.strings import LAST_CODE_POINT, CharacterState, Ranges
from commitgate.automaton.terms import Arena, Term

QUOTE = 0x22
BACKSLASH = 0x5C
SHORT_ESCAPES = {0x22: 0x22, 0x5C: 0x5C, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09}
"""The byte after a backslash, and the code point that it stands for (RFC 8259 section 7, but for the solidus)."""
SOLIDUS = 0x2F
HEX_DIGITS = b"0123456789abcdef"

_LEADS = (
    (1, range(0xC2, 0xE0), 0xC0, 0x80),
    (2, range(0xE0, 0xF0), 0xE0, 0x800),
    (3, range(0xF0, 0xF5), 0xF0, 0x10000),
)
"""Continuation bytes, lead bytes, the lead's tag bits, and the least code point that must not be spelled shorter."""

Interval: TypeAlias = "tuple[int, int]"
Target: TypeAlias = "CharacterState | LowHalf"
Block: TypeAlias = "tuple[tuple[int, int, Target], ...]"


@dataclass(frozen=True, slots=True)
class LowHalf:
    r"""Stand between the halves of an escaped surrogate pair: ``\uDC00`` to ``\uDFFF`` must follow.

    Attributes:
        block: where each of the 1,024 low halves leads, relative to U+DC00.
        read: how much of the backslash and the ``u`` was read, 0 to 1.
    """

    block: Block
    read: int = 0


@dataclass(frozen=True, slots=True)
class HalfCharacter:
    """Hold the continuation bytes still to come: ``left`` of them, for one of ``64 ** left`` code points."""

    left: int
    block: Block


@dataclass(frozen=True, slots=True)
class HexDigits:
    """Hold the hex digits still to come: ``left`` of them, for one of ``16 ** left`` code units."""

    left: int
    block: Block


@dataclass(frozen=True, slots=True)
class AfterBackslash:
    """Stand behind a backslash."""


Pending: TypeAlias = "HalfCharacter | HexDigits | AfterBackslash | LowHalf | None"


def _clip(ranges: Iterable[tuple[int, int, Target]], first: int, last: int) -> Block:
    """Return the part of the ranges in [first, last], relative to ``first``, neighbours with one target joined."""
    found: list[tuple[int, int, Target]] = []
    for low, high, target in ranges:
        low, high = max(low, first), min(high, last)
        if low > high:
            continue
        if found and found[-1][1] == low - first - 1 and found[-1][2] == target:
            found[-1] = (found[-1][0], high - first, target)
        else:
            found.append((low - first, high - first, target))
    return tuple(found)


def _common(ranges: Ranges, allowed: tuple[Interval, ...]) -> list[tuple[int, int, CharacterState]]:
    return [
        (max(low, first), min(high, last), following)
        for low, high, following in ranges
        for first, last in allowed
        if max(low, first) <= min(high, last)
    ]


@dataclass(frozen=True)
class Spelling:
    """Say which spellings of a character are legal.

    Attributes:
        is_canonical: only the spelling that ``json.dumps(ensure_ascii=False)`` writes; else every one of RFC 8259.
        alphabet: the bytes that can be written, sorted; None for all 256.
    """

    is_canonical: bool
    alphabet: bytes | None = None

    @cached_property
    def raw(self) -> tuple[Interval, ...]:
        """Return the code points that may stand unescaped: no controls, quote, backslash, surrogates or unspellable.

        Beyond ASCII a vocabulary either spells every continuation byte, as all that know single bytes do, or the
        characters are left out: telling apart which of them some bytes still spell would cost far more than it gives.
        """
        return tuple(_without_surrogates(self._well_spelled()))

    def _well_spelled(self) -> Iterator[Interval]:
        for byte in range(0x20, 0x80):
            if byte not in (QUOTE, BACKSLASH) and self.may_write(byte):
                yield byte, byte
        if not all(self.may_write(byte) for byte in range(0x80, 0xC0)):
            return
        for left, leads, tag, least in _LEADS:
            for lead in leads:
                if self.may_write(lead):
                    first = (lead - tag) << 6 * left
                    yield max(first, least), min(first + (1 << 6 * left) - 1, LAST_CODE_POINT)

    def may_write(self, byte: int) -> bool:
        """Return whether the alphabet holds ``byte``."""
        return self.alphabet is None or byte in self.alphabet

    @cached_property
    def escaped_controls(self) -> tuple[Interval, ...]:
        r"""Return the control characters that the canonical spelling writes as ``\u00XX``."""
        short = set(SHORT_ESCAPES.values())
        writable = all(self.may_write(byte) for byte in b"\\u0")
        return tuple(
            (point, point)
            for point in range(0x20)
            if writable and point not in short and all(self.may_write(digit) for digit in b"%02x" % point)
        )

    def text(self, text: str) -> bytes | None:
        """Return the canonical spelling of ``text`` without quotes; None where the alphabet cannot write it."""
        parts: list[bytes] = []
        short = {point: bytes((BACKSLASH, byte)) for byte, point in SHORT_ESCAPES.items()}
        for character in text:
            point = ord(character)
            raw = character.encode("utf-8", "surrogatepass")
            if point in short:
                raw = short[point]
            elif point < 0x20 or 0xD800 <= point < 0xE000 or not all(self.may_write(byte) for byte in raw):
                raw = _unicode_escape(character)
            parts.append(raw)
        spelled = b"".join(parts)
        return spelled if all(self.may_write(byte) for byte in spelled) else None


def _unicode_escape(character: str) -> bytes:
    units = character.encode("utf-16-be", "surrogatepass")
    return b"".join(b"\\u%04x" % int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2))


def _joined(intervals: Iterable[Interval]) -> Iterator[Interval]:
    open_first, open_last = 0, -2
    for first, last in intervals:
        if first == open_last + 1:
            open_last = last
            continue
        if open_last >= 0:
            yield open_first, open_last
        open_first, open_last = first, last
    if open_last >= 0:
        yield open_first, open_last


def _without_surrogates(intervals: Iterable[Interval]) -> Iterator[Interval]:
    for first, last in _joined(intervals):
        if last < 0xD800 or first > 0xDFFF:
            yield first, last
            continue
        if first < 0xD800:
            yield first, 0xD7FF
        if last > 0xDFFF:
            yield 0xE000, last


class StringBody(Term):
    """Denote what follows in a JSON string up to and including its closing quote."""

    __slots__ = ("_model", "_targets", "pending", "spelling", "state")

    def __init__(self, arena: Arena, state: CharacterState, pending: Pending, spelling: Spelling) -> None:
        super().__init__(arena, nullable=False)
        self.state = state
        self.pending = pending
        self.spelling = spelling
        self._targets: dict[int, Hashable] = {}
        self._model: StringBody | None = None

    @staticmethod
    def make(arena: Arena, state: CharacterState, spelling: Spelling, pending: Pending = None) -> StringBody:
        """Return the term that stands in ``state``, with ``pending`` of a half-read character."""
        key = (StringBody, state, pending, spelling)
        return arena.intern(key, lambda: StringBody(arena, state, pending, spelling))

    @property
    def shared_key(self) -> Hashable | None:
        return (StringBody, self.state, self.pending, self.spelling)

    def saturated(self, reach: int) -> Term:
        if self.pending is not None:
            return self
        return StringBody.make(self.arena, self.state.saturated(reach), self.spelling)

    def describe(self) -> str:
        if isinstance(self.pending, HalfCharacter):
            return "the rest of a UTF-8 character"
        if self.pending is not None:
            return "the rest of an escape sequence"
        closing = " or the closing quote" if self.state.nullable and self.state.ranges() else ""
        return self.state.describe() + closing

    def _partition(self) -> Partition:
        self._model = self._counter_free()
        if self._model is not None:
            return self._model.partition
        self._targets = dict(self._outgoing())
        return Partition.of(self._targets)

    def _counter_free(self) -> StringBody | None:
        """Return the term that differs from this one in its counters alone; None where it has none.

        A long bounded string has a state for each character. All of them share the model's partition and targets, and
        keep nothing of their own but the count.
        """
        model = self.state.uncounted()
        if model is None:
            return None
        pending = _leading_to(self.pending, lambda target: target.counted(0, None))
        return StringBody.make(self.arena, model, self.spelling, pending)

    def _target(self, byte: int) -> Hashable:
        if self._model is None:
            return self._targets[byte]
        target = self._model._target(byte)
        if target is self.arena.epsilon:
            return target
        if isinstance(target, CharacterState):
            return self.state.after_one(target)
        assert isinstance(target, HalfCharacter | HexDigits | AfterBackslash | LowHalf)
        return _leading_to(target, self.state.after_one)

    def _derive(self, byte: int) -> Term:
        target = self._target(byte)
        if target is self.arena.epsilon:
            return self.arena.epsilon
        if isinstance(target, CharacterState):
            return StringBody.make(self.arena, target, self.spelling)
        assert isinstance(target, HalfCharacter | HexDigits | AfterBackslash | LowHalf)
        return StringBody.make(self.arena, self.state, self.spelling, target)

    def _outgoing(self) -> Iterator[tuple[int, Hashable]]:
        """Yield each live byte with where it leads: a state, a pending half, or the end of the string."""
        pending = self.pending
        if pending is None:
            return self._characters()
        if isinstance(pending, HalfCharacter):
            return _digits(pending, 64, lambda value: (0x80 + value,))
        if isinstance(pending, HexDigits):
            return _digits(pending, 16, self._hex_bytes)
        if isinstance(pending, LowHalf):
            return _low_half(pending)
        return self._escapes()

    def _hex_bytes(self, value: int) -> tuple[int, ...]:
        lower = HEX_DIGITS[value]
        if self.spelling.is_canonical or value < 10:
            return (lower,)
        return (lower, lower - 0x20)

    def _characters(self) -> Iterator[tuple[int, Hashable]]:
        if self.state.nullable and self.spelling.may_write(QUOTE):
            yield QUOTE, self.arena.epsilon
        if self._has_escapes() and self.spelling.may_write(BACKSLASH):
            yield BACKSLASH, AfterBackslash()
        ranges = _common(self.state.ranges(), self.spelling.raw)
        for low, high, following in ranges:
            for point in range(low, min(high, 0x7F) + 1):
                yield point, following
        wide = [entry for entry in ranges if entry[1] > 0x7F]
        if wide:
            yield from self._wide_characters(wide)

    def _has_escapes(self) -> bool:
        if not self.spelling.is_canonical:
            return bool(self.state.ranges())
        return next(self._escapes(), None) is not None

    @staticmethod
    def _wide_characters(ranges: list[tuple[int, int, CharacterState]]) -> Iterator[tuple[int, Hashable]]:
        for left, leads, tag, least in _LEADS:
            size = 1 << 6 * left
            for lead in leads:
                first = (lead - tag) * size
                shift = max(first, least) - first
                block = _clip(ranges, first + shift, first + size - 1)
                if block:
                    yield lead, HalfCharacter(left, tuple((low + shift, high + shift, to) for low, high, to in block))

    def _escapes(self) -> Iterator[tuple[int, Hashable]]:
        ranges = self.state.ranges()
        short = SHORT_ESCAPES if self.spelling.is_canonical else {**SHORT_ESCAPES, SOLIDUS: SOLIDUS}
        for byte, point in short.items():
            for low, high, following in ranges:
                if low <= point <= high and self.spelling.may_write(byte):
                    yield byte, following
        block = self._escaped_units(ranges)
        if block:
            yield 0x75, HexDigits(4, block)

    def _escaped_units(self, ranges: Ranges) -> Block:
        if self.spelling.is_canonical:
            return _clip(_common(ranges, self.spelling.escaped_controls), 0, 0xFFFF)
        plain = _common(ranges, ((0, 0xD7FF), (0xE000, 0xFFFF)))
        return _clip(sorted([*plain, *_high_halves(ranges)], key=lambda entry: entry[0]), 0, 0xFFFF)


def _leading_to(pending: Pending, change: Callable[[CharacterState], CharacterState]) -> Pending:
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


def _digits(
    pending: HalfCharacter | HexDigits, base: int, spellings: Callable[[int], tuple[int, ...]]
) -> Iterator[tuple[int, Hashable]]:
    size = base ** (pending.left - 1)
    for value in range(base):
        block = _clip(pending.block, value * size, (value + 1) * size - 1)
        if block:
            target = block[0][2] if pending.left == 1 else type(pending)(pending.left - 1, block)
            for byte in spellings(value):
                yield byte, target


def _low_half(pending: LowHalf) -> Iterator[tuple[int, Hashable]]:
    if pending.read == 0:
        yield BACKSLASH, LowHalf(pending.block, 1)
    else:
        yield 0x75, HexDigits(4, tuple((low + 0xDC00, high + 0xDC00, to) for low, high, to in pending.block))


def _high_halves(ranges: Ranges) -> list[tuple[int, int, Target]]:
    """Return where each high surrogate leads; whole runs of halves with one target stay one range."""
    astral = _clip(ranges, 0x10000, LAST_CODE_POINT)
    cuts = {0, 0x400}
    for low, high, _ in astral:
        cuts |= {low >> 10, (low >> 10) + 1, high >> 10, (high >> 10) + 1}
    edges = sorted(cuts)
    found: list[tuple[int, int, Target]] = []
    for first, end in pairwise(edges):
        block = _clip(astral, first << 10, (first << 10) + 0x3FF)
        if block:
            found.append((0xD800 + first, 0xD800 + end - 1, LowHalf(block)))
    return found


__all__ = ["Spelling", "StringBody"]
