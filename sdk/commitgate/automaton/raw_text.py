"""Hold terms of plain text: characters in UTF-8 as they stand, without quotes and escapes, and repetition.

Counters stay in the term, so that ``a{1,100000}`` costs one state for each character that a text has, and none before.

Source: RFC 3629 section 4 (well-formed UTF-8).
"""

from __future__ import annotations

from collections import abc
from collections.abc import Hashable, Iterable, Iterator

from commitgate.automaton.character_steps import after_character
from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.counts import counts_of_counts
from commitgate.automaton.half_characters import FIRST_LEAD, HalfCharacter, Wide, writable_beyond_ascii
from commitgate.automaton.partition import Partition
from commitgate.automaton.strings import CharacterState, Length
from commitgate.automaton.terms import Arena, Sequence, Term
from commitgate.automaton.text_language import characters_in_words

_LAST_ASCII = 0x7F
_WHOLE = Length(0, 0)
"""What a half-read character leads to here: the character is whole."""


def spellable(alphabet: bytes | None) -> CharacterSet:
    """Return the characters whose UTF-8 can be written with these bytes; all of them for None."""
    if alphabet is None:
        return ANY_CHARACTER
    members = frozenset(alphabet)
    ascii_alone = ((byte, byte) for byte in members if byte <= _LAST_ASCII)
    return CharacterSet.of([*ascii_alone, *writable_beyond_ascii(members.__contains__)])


class OneCharacter(Term):
    """Denote the UTF-8 of one character of a set that is not empty."""

    __slots__ = ("members",)

    derives_any_byte = True

    def __init__(self, arena: Arena, members: CharacterSet) -> None:
        super().__init__(arena, nullable=False)
        self.members = members

    @staticmethod
    def make(arena: Arena, members: CharacterSet) -> Term:
        """Return the term; the empty one for an empty set."""
        if members.is_empty:
            return arena.empty
        return arena.intern((OneCharacter, members), lambda: OneCharacter(arena, members))

    def describe(self) -> str:
        return characters_in_words(self.members)

    def _wide(self) -> Wide | None:
        return Wide.of((low, high, _WHOLE) for low, high in self.members.ranges)

    def _partition(self) -> Partition:
        keys: dict[int, Hashable] = {byte: 0 for byte in range(_LAST_ASCII + 1) if byte in self.members}
        return Partition.of({**keys, **_lead_keys(self._wide())})

    def _derive(self, byte: int) -> Term:
        arena = self.arena
        if byte <= _LAST_ASCII:
            return arena.epsilon if byte in self.members else arena.empty
        wide = self._wide()
        half = None if wide is None else wide.after(byte)
        return arena.empty if half is None else RestOfCharacter.make(arena, half)


class RestOfCharacter(Term):
    """Denote the continuation bytes of a character that is half read."""

    __slots__ = ("half",)

    def __init__(self, arena: Arena, half: HalfCharacter) -> None:
        super().__init__(arena, nullable=False)
        self.half = half

    @staticmethod
    def make(arena: Arena, half: HalfCharacter) -> Term:
        """Return the term."""
        return arena.intern((RestOfCharacter, half), lambda: RestOfCharacter(arena, half))

    @property
    def least_bytes(self) -> int:
        return self.half.left

    def describe(self) -> str:
        return "the rest of a UTF-8 character"

    def _partition(self) -> Partition:
        return _partition_of(self.half)

    def _derive(self, byte: int) -> Term:
        target = _after(self.half, byte)
        return RestOfCharacter.make(self.arena, target) if isinstance(target, HalfCharacter) else self.arena.epsilon


class Standing(Term):
    """Denote the texts that remain in a state of a character-level automaton."""

    __slots__ = ("pending", "state")

    derives_any_byte = True

    def __init__(self, arena: Arena, state: CharacterState, pending: HalfCharacter | None) -> None:
        super().__init__(arena, nullable=pending is None and state.nullable)
        self.state = state
        self.pending = pending

    @staticmethod
    def make(arena: Arena, state: CharacterState, pending: HalfCharacter | None = None) -> Term:
        """Return the term that stands in ``state``, with ``pending`` of a half-read character."""
        if pending is None and state.nullable and not state.ranges():
            return arena.epsilon
        return arena.intern((Standing, state, pending), lambda: Standing(arena, state, pending))

    def saturated(self, reach: int) -> Term:
        return self if self.pending is not None else Standing.make(self.arena, self.state.saturated(reach))

    def describe(self) -> str:
        return "the rest of a UTF-8 character" if self.pending is not None else self.state.describe()

    def _partition(self) -> Partition:
        if self.pending is not None:
            return _partition_of(self.pending)
        keys: dict[int, Hashable] = {}
        for low, high, following in self.state.ranges():
            keys.update(dict.fromkeys(range(low, min(high, _LAST_ASCII) + 1), following))
        return Partition.of({**keys, **_lead_keys(Wide.of(self.state.ranges()))})

    def _derive(self, byte: int) -> Term:
        arena = self.arena
        if self.pending is not None:
            target = _after(self.pending, byte)
            if isinstance(target, HalfCharacter):
                return Standing.make(arena, self.state, target)
            return Standing.make(arena, target) if isinstance(target, CharacterState) else arena.empty
        if byte <= _LAST_ASCII:
            following = after_character(self.state, byte)
            return arena.empty if following is None else Standing.make(arena, following)
        wide = Wide.of(self.state.ranges())
        half = None if wide is None else wide.after(byte)
        return arena.empty if half is None else Standing.make(arena, self.state, half)


def _partition_of(half: HalfCharacter) -> Partition:
    return Partition.of({byte: target for first, last, target in half.outgoing() for byte in range(first, last + 1)})


def _after(half: HalfCharacter, byte: int) -> Hashable:
    """Return where a byte leads; None where it cannot follow."""
    return next((target for first, last, target in half.outgoing() if first <= byte <= last), None)


def _lead_keys(wide: Wide | None) -> dict[int, Hashable]:
    """Return the number of the half-character behind each lead byte that may follow."""
    numbers = b"" if wide is None else wide.leads.numbers
    return {FIRST_LEAD + at: number for at, number in enumerate(numbers) if number}


class Repeat(Term):
    """Denote ``item`` from ``least`` to ``most`` times; ``most`` None has no upper bound. ``item`` is never empty."""

    __slots__ = ("item", "least", "most")

    derives_any_byte = True
    may_fuse = True

    def __init__(self, arena: Arena, item: Term, least: int, most: int | None) -> None:
        super().__init__(arena, nullable=least == 0)
        self.item = item
        self.least = least
        self.most = most
        self.beginning = (Repeat, id(item))

    @staticmethod
    def make(item: Term, least: int, most: int | None) -> Term:
        """Return the term of ``item`` from ``least`` to ``most`` times."""
        arena = item.arena
        if item is arena.empty:
            return arena.epsilon if least == 0 else item
        if item is arena.epsilon or most == 0:
            return arena.epsilon
        if item.nullable:
            # An empty round says nothing, so it is a round fewer.
            item, least = NonEmpty.make(item), 0
            if item is arena.empty:
                return arena.epsilon
        if type(item) is Repeat and (counts := counts_of_counts((item.least, item.most), (least, most))) is not None:
            item, (least, most) = item.item, counts
        if (least, most) == (1, 1):
            return item
        return arena.intern((Repeat, id(item), least, most), lambda: Repeat(arena, item, least, most))

    @property
    def least_bytes(self) -> int:
        return self.least * self.item.least_bytes

    def saturated(self, reach: int) -> Term:
        # Every round takes a byte or more.
        most = None if self.most is None or self.most > reach else self.most
        return Repeat.make(self.item, min(self.least, reach + 1), most)

    def preceded_by(self, head: Term) -> Term | None:
        if head is not self.item:
            return None
        return Repeat.make(head, self.least + 1, None if self.most is None else self.most + 1)

    def or_empty(self) -> Term | None:
        return Repeat.make(self.item, 0, self.most) if self.least == 1 else None

    def followed_by(self, rest: Term) -> Term | None:
        behind = rest.head if type(rest) is Sequence else rest
        if type(behind) is not Repeat or behind.item is not self.item:
            return None
        most = None if self.most is None or behind.most is None else self.most + behind.most
        both = Repeat.make(self.item, self.least + behind.least, most)
        return self.arena.sequence(both, rest.rest) if type(rest) is Sequence else both

    def joined(self, terms: abc.Sequence[Term], depth: int) -> Term:
        del depth
        bounds = sorted((term.least, _UNBOUNDED if term.most is None else term.most) for term in _repeats(terms))
        joined = bounds[:1]
        for least, most in bounds[1:]:
            if least <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(joined[-1][1], most))
            else:
                joined.append((least, most))
        found = tuple(Repeat.make(self.item, least, None if most == _UNBOUNDED else most) for least, most in joined)
        return found[0] if len(found) == 1 else self.arena.disjoined(found)

    def describe(self) -> str:
        return self.item.describe()

    def ways_on(self) -> Iterator[str]:
        return self.item.ways_on()

    def _partition(self) -> Partition:
        return self.item.partition

    def _derive(self, byte: int) -> Term:
        following = self.item.step(byte)
        if following is self.arena.empty:
            return following
        most = None if self.most is None else self.most - 1
        return self.arena.sequence(following, Repeat.make(self.item, max(self.least - 1, 0), most))


def _repeats(terms: Iterable[Term]) -> Iterator[Repeat]:
    for term in terms:
        assert type(term) is Repeat, "a beginning names its term's kind"
        yield term


class NonEmpty(Term):
    """Denote the texts of another term but the empty one."""

    __slots__ = ("inner",)

    derives_any_byte = True

    def __init__(self, arena: Arena, inner: Term) -> None:
        super().__init__(arena, nullable=False)
        self.inner = inner

    @staticmethod
    def make(inner: Term) -> Term:
        """Return the texts of ``inner`` but the empty one; it must hold another."""
        arena = inner.arena
        if not inner.nullable:
            return inner
        if inner is arena.epsilon:
            return arena.empty
        if type(inner) is Repeat:
            return Repeat.make(inner.item, 1, inner.most)
        return arena.intern((NonEmpty, id(inner)), lambda: NonEmpty(arena, inner))

    def saturated(self, reach: int) -> Term:
        return NonEmpty.make(self.inner.saturated(reach))

    def describe(self) -> str:
        return self.inner.describe()

    def ways_on(self) -> Iterator[str]:
        return self.inner.ways_on()

    def _partition(self) -> Partition:
        return self.inner.partition

    def _derive(self, byte: int) -> Term:
        return self.inner.step(byte)


_UNBOUNDED = 1 << 62
"""Stands for no upper bound where bounds are compared."""

__all__ = ["NonEmpty", "OneCharacter", "Repeat", "RestOfCharacter", "Standing", "spellable"]
