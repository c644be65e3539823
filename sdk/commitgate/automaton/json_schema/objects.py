"""Turn object shapes into terms: which keys may come next, given those that were read.

In ``accept`` keys come in any order; in ``generate`` declared ones come in the order of their first appearance, then
required undeclared ones, then free ones. A key that comes twice, compared after unescaping, is dead at its closing
quote or earlier.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.json_schema.shapes import Node, ObjectShape
from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import CharacterState, Length, TextTable, none_of, one_left
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
    return grammar.arena.sequence(opening, ObjectRest.make(members, Seen()))


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold which keys of an object were read.

    Attributes:
        declared: bit n stands for the n-th declared key.
        others: undeclared keys, in sets whose sizes fall; so adding one copies few, and older states keep theirs.
    """

    declared: int = 0
    others: tuple[frozenset[str], ...] = ()

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

    def with_declared(self, index: int) -> Seen:
        """Return what is seen after a declared key."""
        return Seen(self.declared | 1 << index, self.others)

    def with_other(self, name: str) -> Seen:
        """Return what is seen after an undeclared key."""
        kept, added = self.others, frozenset({name})
        while kept and len(kept[-1]) <= len(added):
            added |= kept[-1]
            kept = kept[:-1]
        return Seen(self.declared, (*kept, added))


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Hold what the texts of one object shape at one depth have in common.

    Attributes:
        grammar: makes the terms.
        keys: declared keys and required undeclared ones; sorted in ``accept``, in ``generate`` as they are written.
        positions: where each key stands in ``keys``.
        nodes: the node of each key.
        required: bit n says that the n-th key must be there.
        possible: bit n says that the n-th key can hold a value within the depth.
        additional: node of the undeclared keys.
        has_others: undeclared keys may be there.
        depth: how deep the object may nest.
        place: JSON pointer of the schema.
        sorted_keys: ``keys`` as a table.
        undeclared: any key but the declared ones; for ``accept``.
        longest_key_bytes: size of the longest key as it is spelled, its closing quote included.
    """

    grammar: Grammar
    keys: tuple[str, ...]
    positions: dict[str, int]
    nodes: tuple[Node, ...]
    required: int
    possible: int
    additional: Node
    has_others: bool
    depth: int
    place: str
    sorted_keys: TextTable
    undeclared: CharacterState
    longest_key_bytes: int

    @staticmethod
    def of(grammar: Grammar, shape: ObjectShape, depth: int, place: str) -> Members:
        """Return the members of ``shape``."""
        declared = dict(shape.properties)
        nodes = {**declared, **{name: shape.additional for name in shape.required if name not in declared}}
        keys = tuple(nodes) if grammar.is_generating else tuple(sorted(nodes))
        required = frozenset(shape.required)
        is_open = shape.is_additional_written or not declared or not grammar.is_generating
        table = TextTable(tuple(sorted(nodes)))
        limit = grammar.schema.meaning.document.limits.key_bytes
        return Members(
            grammar=grammar,
            keys=keys,
            positions={name: index for index, name in enumerate(keys)},
            nodes=tuple(nodes[name] for name in keys),
            required=_bits(name in required for name in keys),
            possible=_bits(grammar.schema.fits(nodes[name], depth - 1) for name in keys),
            additional=shape.additional,
            has_others=is_open and grammar.schema.fits(shape.additional, depth - 1),
            depth=depth,
            place=place,
            sorted_keys=table,
            undeclared=none_of(table.texts, Length(0, None)),
            # A character takes at most 12 bytes, as two escaped halves; a declared key is never too long.
            longest_key_bytes=max(limit, *(12 * len(name) + 1 for name in keys), 0),
        )

    def next_keys(self, seen: Seen) -> Iterator[str]:
        """Yield each declared key that may come next in ``generate``."""
        if seen.others:
            return
        for index in range(seen.declared.bit_length(), len(self.keys)):
            if self.possible >> index & 1:
                yield self.keys[index]
            if self.required >> index & 1:
                return

    def may_close(self, seen: Seen) -> bool:
        """Return whether every required key was read."""
        return self.required & ~seen.declared == 0

    def may_add_other(self, seen: Seen) -> bool:
        """Return whether an undeclared key may come next."""
        if not self.has_others or not self.grammar.is_generating:
            return self.has_others
        most = self.grammar.schema.meaning.document.limits.free_properties
        return self.may_close(seen) and seen.count_of_others < most

    def member(self, name: str, seen: Seen) -> Term:
        """Return what follows a declared key."""
        index = self.positions[name]
        return self._value_and_rest(self.nodes[index], seen.with_declared(index))

    def other_member(self, name: str, seen: Seen) -> Term:
        """Return what follows an undeclared key."""
        if seen.has_other(name):
            return self.grammar.arena.empty
        return self._value_and_rest(self.additional, seen.with_other(name))

    def _value_and_rest(self, node: Node, seen: Seen) -> Term:
        grammar = self.grammar
        value = grammar.value(node, self.depth - 1)
        return grammar.arena.chain(grammar.key_separator, value, grammar.space, ObjectRest.make(self, seen))


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << index for index, flag in enumerate(flags) if flag)


class ObjectRest(Deferred):
    """Stand for an object's text behind its opening brace and the keys seen, with their values."""

    __slots__ = ("members", "seen")

    def __init__(self, members: Members, seen: Seen) -> None:
        super().__init__(members.grammar.arena, nullable=False)
        self.members = members
        self.seen = seen

    @staticmethod
    def make(members: Members, seen: Seen) -> Term:
        """Return the term of one set of keys seen."""
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
        return arena.choice((closing, arena.sequence(separator, keys)))

    def _keys(self) -> Iterator[Term]:
        members, seen = self.members, self.seen
        is_generating = members.grammar.is_generating
        declared = self._next_declared() if is_generating else self._any_declared()
        yield Capture.make(self.arena, declared, b"", DeclaredKey(members, seen))
        if members.may_add_other(seen):
            other = self._fresh_other() if is_generating else self._string(members.undeclared)
            yield Capture.make(self.arena, other, b"", OtherKey(members, seen))

    def _next_declared(self) -> Term:
        spelled = self.members.grammar.spelled(self.members.next_keys(self.seen))
        return self.arena.literal_set(tuple(text[1:] for text in spelled))

    def _any_declared(self) -> Term:
        members = self.members
        state = one_left(members.sorted_keys, self.seen.declared | ~members.possible)
        return self.arena.empty if state is None else self._string(state)

    def _fresh_other(self) -> Term:
        """Return the keys that are neither declared nor seen; keys are bounded here, so they could run out."""
        members = self.members
        longest = members.grammar.schema.meaning.document.limits.key_characters
        excluded = {*members.keys, *(name for names in self.seen.others for name in names)}
        return self._string(none_of(tuple(sorted(excluded)), Length(0, longest)))

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


class DeclaredKey(_Key):
    """Say what follows a declared key: its value, and an object in which it was seen."""

    __slots__ = ()

    @property
    def is_transient(self) -> bool:
        return False

    def after(self, arena: Arena, captured: bytes) -> Term:
        return self.members.member(json.loads(b'"' + captured), self.seen)


class OtherKey(_Key):
    """Say what follows an undeclared key: its value, and an object in which it was seen."""

    __slots__ = ()

    @property
    def is_transient(self) -> bool:
        # In ``accept`` every byte of such a key belongs to this text alone.
        return not self.members.grammar.is_generating

    def after(self, arena: Arena, captured: bytes) -> Term:
        return self.members.other_member(json.loads(b'"' + captured), self.seen)


__all__ = ["object_term"]
