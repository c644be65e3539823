"""Turn object shapes into terms: which keys may come next, given those that were read.

In ``accept`` keys come in any order; in ``generate`` declared ones come in the order of their first appearance, then
required undeclared ones, then free ones, or all in any order where that is asked for. A key that comes twice, compared
after unescaping, is dead at its closing quote or earlier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.completion import Keys, Way, bits_of, ways_of
from commitgate.automaton.json_schema.nodes import Node
from commitgate.automaton.json_schema.shapes import KeyClass, ObjectShape, Property
from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import CharacterState, TextTable, none_left, none_of, one_left
from commitgate.automaton.terms import Arena, Term

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.structure import Grammar


def object_term(grammar: Grammar, shape: ObjectShape, depth: int, place: str) -> Term:
    """Return the term of the shape's objects, the opening brace included; empty where none fits the depth."""
    height = grammar.schema.object_height(shape)
    if height is None or height > depth:
        return grammar.arena.empty
    opening = grammar.arena.sequence(grammar.arena.literal(b"{"), grammar.space)
    members = Members.of(grammar, shape, depth, place)
    if not members.can_finish(Seen()):
        return grammar.arena.empty
    return grammar.arena.sequence(opening, ObjectRest.make(members, Seen()))


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold which keys of an object were read.

    Attributes:
        declared: bit n stands for the n-th declared key.
        others: undeclared keys, in sets whose sizes fall; so adding one copies few, and older states keep theirs.
        found: bit n says that a key was read that the n-th ``some`` of the shape asks for.
    """

    declared: int = 0
    others: tuple[frozenset[str], ...] = ()
    found: int = 0

    @property
    def is_first(self) -> bool:
        """Return whether no key was read yet."""
        return not self.declared and not self.others

    @property
    def count_of_others(self) -> int:
        """Return the number of undeclared keys."""
        return sum(map(len, self.others))

    def has_other(self, name: str) -> bool:
        """Return whether the undeclared key was read."""
        return any(name in names for names in self.others)

    def with_declared(self, index: int, found: int) -> Seen:
        """Return what is seen after a declared key."""
        return Seen(self.declared | 1 << index, self.others, self.found | found)

    def with_other(self, name: str, found: int) -> Seen:
        """Return what is seen after an undeclared key."""
        kept, added = self.others, frozenset({name})
        while kept and len(kept[-1]) <= len(added):
            added |= kept[-1]
            kept = kept[:-1]
        return Seen(self.declared, (*kept, added), self.found | found)


@dataclass(frozen=True, slots=True, eq=False)
class FreeKeys:
    """Hold the undeclared keys of one class.

    Attributes:
        state: the keys, declared ones left out.
        ways: each way to judge such a key.
    """

    state: CharacterState
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Hold what the texts of one object shape at one depth have in common.

    Attributes:
        grammar: makes the terms.
        keys: which keys there may be, must be, and what they require.
        positions: where each name stands.
        ways: for each name, each way to judge it.
        free: the undeclared keys, class by class.
        depth: how deep the object may nest.
        place: JSON pointer of the schema.
        sorted_names: the names as a table, in ``accept`` in their own order.
        longest_key_bytes: size of the longest key as it is spelled, its closing quote included.
    """

    grammar: Grammar
    keys: Keys
    positions: dict[str, int]
    ways: tuple[tuple[Way, ...], ...]
    free: tuple[FreeKeys, ...]
    depth: int
    place: str
    sorted_names: TextTable
    longest_key_bytes: int

    @staticmethod
    def of(grammar: Grammar, shape: ObjectShape, depth: int, place: str) -> Members:
        """Return the members of ``shape``."""

        def fits(node: Node) -> bool:
            return grammar.schema.fits(node, depth - 1)

        def judged(entry: Property | KeyClass) -> tuple[Way, ...]:
            return tuple(way for way in ways_of(shape.some, entry) if fits(way.node))

        names = shape.names() if grammar.is_generating else tuple(sorted(shape.names()))
        keys = Keys.of(shape, fits, names, is_strict=grammar.is_generating)
        table = TextTable(tuple(sorted(names)))
        free: list[FreeKeys] = []
        for entry in keys.classes if _is_open(grammar, shape, keys) else ():
            state = _free_state(grammar, entry, table.texts)
            if state is not None:
                free.append(FreeKeys(state, judged(entry)))
        return Members(
            grammar=grammar,
            keys=keys,
            positions={name: index for index, name in enumerate(names)},
            ways=tuple(judged(shape.entry(name)) for name in names),
            free=tuple(free),
            depth=depth,
            place=place,
            sorted_names=table,
            # A character takes at most 12 bytes, as two escaped halves; a declared key is never too long.
            longest_key_bytes=max(grammar.limits.key_bytes, *(12 * len(name) + 1 for name in names), 0),
        )

    def is_of_one_text(self, seen: Seen) -> bool:
        """Return whether what was read belongs to one text alone: undeclared keys in ``accept``."""
        return bool(seen.others) and not self.grammar.is_generating

    def ahead(self, seen: Seen) -> int:
        """Return the bits of the names that may still come."""
        everything = (1 << len(self.keys.names)) - 1
        if not self.grammar.keeps_order:
            return everything & ~seen.declared
        return 0 if seen.others else everything >> seen.declared.bit_length() << seen.declared.bit_length()

    def can_finish(self, seen: Seen, wanted: int | None = None) -> bool:
        """Return whether the object can still be finished; ``wanted`` spares asking which keys must be there."""
        return self.keys.can_finish(
            seen.declared,
            seen.count_of_others,
            seen.found,
            self.ahead(seen),
            is_open=bool(self.free),
            wanted=wanted,
        )

    def next_names(self, seen: Seen) -> int:
        """Return the bits of the names that may come next."""
        possible = self.ahead(seen) & self.keys.possible
        if self.keys.is_plain:
            needed = self.keys.required & possible
            # A required key cannot be passed over where keys keep their order.
            return possible & (2 * (needed & -needed) - 1) if needed and self.grammar.keeps_order else possible
        if not self.grammar.keeps_order and not self.keys.needing and not self.keys.witnesses:
            return self._next_of_equals(seen, possible)
        found, wanted = 0, self.keys.wanted(seen.declared)
        for index in bits_of(possible):
            needed = wanted | self.keys.needs[index]
            if any(self.can_finish(seen.with_declared(index, way.found), needed) for way in self.ways[index]):
                found |= 1 << index
        return found

    def _next_of_equals(self, seen: Seen, possible: int) -> int:
        """Return the bits of the names that may come next, where all required ones are alike and all others too."""
        found = 0
        for group in (possible & self.keys.required, possible & ~self.keys.required):
            if group and self.can_finish(seen.with_declared(group.bit_length() - 1, 0)):
                found |= group
        return found

    def may_close(self, seen: Seen) -> bool:
        """Return whether nothing is missing."""
        if self.keys.is_plain:
            return not self.keys.required & ~seen.declared
        count = seen.declared.bit_count() + seen.count_of_others
        everything = (1 << len(self.keys.witnesses)) - 1
        is_missing = self.keys.wanted(seen.declared) & ~seen.declared
        return not is_missing and count >= self.keys.least and seen.found == everything

    def may_add(self, free: FreeKeys, seen: Seen) -> bool:
        """Return whether an undeclared key of a class may come next."""
        others = seen.count_of_others
        if self.grammar.is_generating and others >= self.grammar.limits.free_properties and self.may_close(seen):
            return False
        ahead = 0 if self.grammar.keeps_order else self.ahead(seen)
        return any(self.keys.can_finish(seen.declared, others + 1, seen.found | way.found, ahead) for way in free.ways)

    def fresh(self, free: FreeKeys, seen: Seen) -> CharacterState | None:
        """Return the undeclared keys of a class that may come next; None where none is left.

        In ``generate`` those that were read are left out; in ``accept`` such a key is dead at its closing quote.
        """
        if not self.grammar.is_generating or not seen.others:
            return free.state
        excluded = sorted(name for names in seen.others for name in names)
        return none_left(tuple(excluded), free.state)

    def member(self, name: str, seen: Seen) -> Term:
        """Return what follows a declared key."""
        index = self.positions[name]
        following = ((way.node, seen.with_declared(index, way.found)) for way in self.ways[index])
        return self.grammar.arena.choice(self._value_and_rest(node, after) for node, after in following)

    def other_member(self, name: str, free: FreeKeys, seen: Seen) -> Term:
        """Return what follows an undeclared key."""
        if seen.has_other(name):
            return self.grammar.arena.empty
        following = ((way.node, seen.with_other(name, way.found)) for way in free.ways)
        return self.grammar.arena.choice(self._value_and_rest(node, after) for node, after in following)

    def _value_and_rest(self, node: Node, seen: Seen) -> Term:
        grammar = self.grammar
        if not self.can_finish(seen):
            return grammar.arena.empty
        value = grammar.value(node, self.depth - 1)
        return grammar.arena.chain(grammar.key_separator, value, grammar.space, ObjectRest.make(self, seen))


def _is_open(grammar: Grammar, shape: ObjectShape, keys: Keys) -> bool:
    """Return whether undeclared keys are read at all: in ``generate`` only where the schema speaks of them."""
    if not grammar.is_generating or shape.is_open or not keys.names:
        return True
    return not keys.can_finish(0, 0, 0, (1 << len(keys.names)) - 1, is_open=False)


def _free_state(grammar: Grammar, keys: KeyClass, names: tuple[str, ...]) -> CharacterState | None:
    """Return the undeclared keys of a class; None where all of its keys are declared."""
    texts = grammar.written(keys.texts, grammar.limits.key_characters)
    if texts is None:
        return None
    declared = tuple(name for name in names if texts.contains(name))
    try:
        return none_left(declared, texts.state())
    except TooManyStates:
        # Too many to be counted: more than those that are declared.
        return none_of(declared, texts.state())


class ObjectRest(Deferred):
    """Stand for an object's text behind its opening brace and the keys seen, with their values."""

    __slots__ = ("members", "seen")

    def __init__(self, members: Members, seen: Seen) -> None:
        super().__init__(members.grammar.arena, nullable=False, is_transient=members.is_of_one_text(seen))
        self.members = members
        self.seen = seen

    @staticmethod
    def make(members: Members, seen: Seen) -> Term:
        """Return the term of one set of keys seen."""
        if members.is_of_one_text(seen):
            return ObjectRest(members, seen)
        key = (ObjectRest, id(members), seen)
        return members.grammar.arena.intern(key, lambda: ObjectRest(members, seen))

    @property
    def place(self) -> str | None:
        return self.members.place

    def _expand(self) -> Term:
        arena, members, seen = self.arena, self.members, self.seen
        separator = arena.epsilon if seen.is_first else members.grammar.item_separator
        keys = arena.sequence(arena.literal(b'"'), arena.choice(self._keys()))
        closing = arena.literal(b"}") if members.may_close(seen) else arena.empty
        return arena.choice((closing, arena.sequence(separator, keys)), is_transient=self.is_transient)

    def _keys(self) -> Iterator[Term]:
        members, seen = self.members, self.seen
        yield Capture.make(self.arena, self._declared(), b"", DeclaredKey(members, seen))
        for free in members.free:
            state = members.fresh(free, seen) if members.may_add(free, seen) else None
            if state is not None:
                yield Capture.make(self.arena, self._string(state), b"", OtherKey(members, seen, free))

    def _declared(self) -> Term:
        members = self.members
        names, bits = members.keys.names, members.next_names(self.seen)
        if members.grammar.is_generating:
            spelled = members.grammar.spelled(names[index] for index in bits_of(bits))
            return self.arena.literal_set(tuple(text[1:] for text in spelled))
        state = one_left(members.sorted_names, ~bits)
        return self.arena.empty if state is None else self._string(state)

    def _string(self, state: CharacterState) -> Term:
        return StringBody.make(self.arena, state, self.members.grammar.spelling)


@dataclass(frozen=True, slots=True)
class _Key(Follow):
    """Hold the object in which a key is read, and the keys seen before it."""

    members: Members
    seen: Seen

    @property
    def longest_bytes(self) -> int:
        return self.members.longest_key_bytes

    @property
    def place(self) -> str | None:
        return self.members.place

    @property
    def opening(self) -> bytes:
        # Only ``generate`` has one text there; and its keys that may not follow are no texts of the string at all.
        return self.members.grammar.key_separator_text


@dataclass(frozen=True, slots=True)
class DeclaredKey(_Key):
    """Say what follows a declared key: its value, and an object in which it was seen."""

    @property
    def is_transient(self) -> bool:
        return self.members.is_of_one_text(self.seen)

    def after(self, arena: Arena, captured: bytes) -> Term:
        return self.members.member(json.loads(b'"' + captured), self.seen)


@dataclass(frozen=True, slots=True)
class OtherKey(_Key):
    """Say what follows an undeclared key: its value, and an object in which it was seen."""

    free: FreeKeys

    @property
    def is_transient(self) -> bool:
        # In ``accept`` every byte of such a key belongs to this text alone.
        return not self.members.grammar.is_generating

    def after(self, arena: Arena, captured: bytes) -> Term:
        return self.members.other_member(json.loads(b'"' + captured), self.free, self.seen)


__all__ = ["object_term"]
