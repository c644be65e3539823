"""Spell character-level automata as the inside of a JSON string: UTF-8 bytes and escapes.

A ``StringBody`` stands behind an opening quote and ends with the closing one.

Source: RFC 8259 section 7 (escapes, surrogate pairs), RFC 3629 section 4 (well-formed UTF-8), Unicode 15 table 3-7.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from commitgate.automaton.character_steps import after_character
from commitgate.automaton.half_characters import (
    BACKSLASH,
    AfterBackslash,
    HalfCharacter,
    HexDigits,
    LowHalf,
    Pending,
    Target,
    Wide,
    clip,
    high_halves,
    leading_to,
    writable_beyond_ascii,
)
from commitgate.automaton.partition import Partition
from commitgate.automaton.strings import CharacterState, Ranges
from commitgate.automaton.terms import Arena, Term

QUOTE = 0x22
SHORT_ESCAPES = {0x22: 0x22, 0x5C: 0x5C, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09}
"""The byte after a backslash, and the code point that it stands for (RFC 8259 section 7, but for the solidus)."""
SOLIDUS = 0x2F
_WIDE = slice(0xC2, 0xF5)
"""Lead bytes of characters beyond ASCII."""

Interval: TypeAlias = "tuple[int, int]"
Run: TypeAlias = "tuple[int, int, Hashable]"
"""First and last of a run of bytes, and where all of them lead."""


def _common(ranges: Ranges, allowed: tuple[Interval, ...]) -> list[tuple[int, int, CharacterState]]:
    """Return the ranges within the allowed intervals; both are sorted."""
    found: list[tuple[int, int, CharacterState]] = []
    at = 0
    for low, high, following in ranges:
        while at < len(allowed) and allowed[at][1] < low:
            at += 1
        inside = at
        while inside < len(allowed) and allowed[inside][0] <= high:
            first, last = allowed[inside]
            found.append((max(low, first), min(high, last), following))
            inside += 1
    return found


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
        """Return the code points that may stand unescaped: no controls, quote, backslash, surrogates or unspellable."""
        return tuple(_without_surrogates(self._well_spelled()))

    def _well_spelled(self) -> Iterator[Interval]:
        for byte in range(0x20, 0x80):
            if byte not in (QUOTE, BACKSLASH) and self.may_write(byte):
                yield byte, byte
        yield from writable_beyond_ascii(self.may_write)

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

    @cached_property
    def _plain(self) -> bytes:
        """Return the bytes of ASCII that stand for themselves."""
        return bytes(byte for byte in range(0x20, 0x80) if byte not in (QUOTE, BACKSLASH) and self.may_write(byte))

    def text(self, text: str) -> bytes | None:
        """Return the canonical spelling of ``text`` without quotes; None where the alphabet cannot write it."""
        whole = text.encode("utf-8", "surrogatepass")
        if not whole.translate(None, self._plain):
            return whole
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

    __slots__ = ("_model", "_targets", "_wide", "pending", "spelling", "state")

    derives_any_byte = True

    def __init__(self, arena: Arena, state: CharacterState, pending: Pending, spelling: Spelling) -> None:
        super().__init__(arena, nullable=False)
        self.state = state
        self.pending = pending
        self.spelling = spelling
        self._targets: list[Hashable] = []
        self._wide: Wide | None = None
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

    @property
    def comes_apart(self) -> bool:
        return True

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
        class_of = bytearray(256)
        numbers: dict[Hashable, int] = {}
        for first, last, target in self._outgoing():
            number = numbers.setdefault(target, len(numbers) + 1)
            class_of[first : last + 1] = bytes((number,)) * (last + 1 - first)
        self._targets = list(numbers)
        if self._wide is not None:
            # Half-characters come after all that is told apart without them, and are made when they are met.
            offset = len(numbers)
            class_of[_WIDE] = bytes(number and number + offset for number in self._wide.leads.numbers)
        return Partition(bytes(class_of))

    def _counter_free(self) -> StringBody | None:
        """Return the term that differs from this one in its counters alone; None where it has none.

        A long bounded string has a state for each character. All of them share the model's partition and targets, and
        keep nothing of their own but the count.
        """
        model = self.state.uncounted()
        if model is None:
            return None
        pending = leading_to(self.pending, lambda target: target.counted(0, None))
        return StringBody.make(self.arena, model, self.spelling, pending)

    def _target(self, byte: int) -> Hashable:
        if self._model is None:
            number = self.partition.class_of[byte] - 1
            if self._wide is None or number < len(self._targets):
                return self._targets[number]
            return self._wide.half(number - len(self._targets))
        target = self._model._target(byte)
        if target is self.arena.epsilon:
            return target
        if isinstance(target, CharacterState):
            return self.state.after_one(target)
        assert isinstance(target, HalfCharacter | HexDigits | AfterBackslash | LowHalf)
        return leading_to(target, self.state.after_one)

    def _derive(self, byte: int) -> Term:
        if self._is_plain(byte):
            return self._after_plain(byte)
        if not self.partition.class_of[byte]:
            return self.arena.empty
        target = self._target(byte)
        if target is self.arena.epsilon:
            return self.arena.epsilon
        if isinstance(target, CharacterState):
            return StringBody.make(self.arena, target, self.spelling)
        assert isinstance(target, HalfCharacter | HexDigits | AfterBackslash | LowHalf)
        return StringBody.make(self.arena, self.state, self.spelling, target)

    def _is_plain(self, byte: int) -> bool:
        """Return whether the byte is a character or the closing quote, and asking for it alone costs least."""
        return self.pending is None and 0x20 <= byte < 0x80 and byte != BACKSLASH and not self.has_partition

    def _after_plain(self, byte: int) -> Term:
        arena = self.arena
        if not self.spelling.may_write(byte):
            return arena.empty
        if byte == QUOTE:
            return arena.epsilon if self.state.nullable else arena.empty
        following = after_character(self.state, byte)
        return arena.empty if following is None else StringBody.make(arena, following, self.spelling)

    def _outgoing(self) -> Iterator[Run]:
        """Yield each run of live bytes with where it leads: a state, a pending half, or the end of the string.

        Lead bytes of characters beyond ASCII are kept apart.
        """
        pending = self.pending
        if pending is None:
            return self._characters()
        if isinstance(pending, HexDigits):
            return pending.outgoing(has_capitals=not self.spelling.is_canonical)
        if isinstance(pending, HalfCharacter | LowHalf):
            return pending.outgoing()
        return self._escapes(self.state.ranges())

    def _characters(self) -> Iterator[Run]:
        if self.state.nullable and self.spelling.may_write(QUOTE):
            yield QUOTE, QUOTE, self.arena.epsilon
        everything = self.state.ranges()
        if self._has_escapes(everything) and self.spelling.may_write(BACKSLASH):
            yield BACKSLASH, BACKSLASH, AfterBackslash()
        ranges = _common(everything, self.spelling.raw)
        for low, high, following in ranges:
            if low <= 0x7F:
                yield low, min(high, 0x7F), following
        self._wide = Wide.of(ranges)

    def _has_escapes(self, ranges: Ranges) -> bool:
        if not self.spelling.is_canonical:
            return bool(ranges)
        return next(self._escapes(ranges), None) is not None

    def _escapes(self, ranges: Ranges) -> Iterator[Run]:
        short = SHORT_ESCAPES if self.spelling.is_canonical else {**SHORT_ESCAPES, SOLIDUS: SOLIDUS}
        for byte, point in short.items():
            for low, high, following in ranges:
                if low <= point <= high and self.spelling.may_write(byte):
                    yield byte, byte, following
        block = self._escaped_units(ranges)
        if block:
            yield 0x75, 0x75, HexDigits(4, block)

    def _escaped_units(self, ranges: Ranges) -> tuple[tuple[int, int, Target], ...]:
        if self.spelling.is_canonical:
            return clip(_common(ranges, self.spelling.escaped_controls), 0, 0xFFFF)
        plain = _common(ranges, ((0, 0xD7FF), (0xE000, 0xFFFF)))
        return clip(sorted([*plain, *high_halves(ranges)], key=lambda entry: entry[0]), 0, 0xFFFF)


__all__ = ["Spelling", "StringBody"]
