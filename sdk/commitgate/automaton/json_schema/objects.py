"""Turn object shapes into terms: which keys may come next, given those that were read.

In ``accept`` keys come in any order; in ``generate`` declared ones come in the order of their first appearance, then
required undeclared ones, then free ones. A key that comes twice, compared after unescaping, is dead at its closing
quote or earlier.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.json_schema.shapes import Node, ObjectShape
from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import Length, none_of, one_of
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
        others: undeclared keys.
    """

    declared: int = 0
    others: frozenset[str] = frozenset()

    @property
    def is_first(self) -> bool:
        """Return whether no key was read yet."""
        return not self.declared and not self.others


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Hold what the texts of one object shape at one depth have in common.

    Attributes:
        grammar: makes the terms.
        keys: declared keys, then required undeclared ones, in the order in which ``generate`` writes them.
        nodes: the node of each key.
        required: bit n says that the n-th key must be there.
        possible: bit n says that the n-th key can hold a value within the depth.
        additional: node of the undeclared keys.
        has_others: undeclared keys may be there.
        depth: how deep the object may nest.
        place: JSON pointer of the schema.
    """

    grammar: Grammar
    keys: tuple[str, ...]
    nodes: tuple[Node, ...]
    required: int
    possible: int
    additional: Node
    has_others: bool
    depth: int
    place: str

    @staticmethod
    def of(grammar: Grammar, shape: ObjectShape, depth: int, place: str) -> Members:
        """Return the members of ``shape``."""
        declared = dict(shape.properties)
        nodes = {**declared, **{name: shape.additional for name in shape.required if name not in declared}}
        required = frozenset(shape.required)
        is_open = shape.is_additional_written or not declared or not grammar.is_generating
        return Members(
            grammar,
            tuple(nodes),
            tuple(nodes.values()),
            sum(1 << index for index, name in enumerate(nodes) if name in required),
            sum(1 << index for index, node in enumerate(nodes.values()) if grammar.schema.fits(node, depth - 1)),
            shape.additional,
            is_open and grammar.schema.fits(shape.additional, depth - 1),
            depth,
            place,
        )

    def open_keys(self, seen: Seen) -> Iterator[int]:
        """Yield the index of each declared key that may come next."""
        if not self.grammar.is_generating:
            yield from (i for i in range(len(self.keys)) if self.possible >> i & 1 and not seen.declared >> i & 1)
            return
        if seen.others:
            return
        for index in range(seen.declared.bit_length(), len(self.keys)):
            if self.possible >> index & 1:
                yield index
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
        return self.may_close(seen) and len(seen.others) < most

    def member(self, index: int, seen: Seen) -> Term:
        """Return what follows the declared key ``index``."""
        after = Seen(seen.declared | 1 << index, seen.others)
        return self._value_and_rest(self.nodes[index], after)

    def other_member(self, name: str, seen: Seen) -> Term:
        """Return what follows an undeclared key."""
        return self._value_and_rest(self.additional, Seen(seen.declared, seen.others | {name}))

    def _value_and_rest(self, node: Node, seen: Seen) -> Term:
        grammar = self.grammar
        value = grammar.value(node, self.depth - 1)
        return grammar.arena.chain(grammar.key_separator, value, grammar.space, ObjectRest.make(self, seen))

    def excluded(self, seen: Seen) -> tuple[str, ...]:
        """Return the keys that an undeclared key must not equal, sorted."""
        return tuple(sorted({*self.keys, *seen.others}))


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
        declared = [members.keys[index] for index in members.open_keys(seen)]
        if declared:
            yield Capture.make(self.arena, self._declared(declared), b"", KeyRead(members, seen, is_declared=True))
        if members.may_add_other(seen):
            yield Capture.make(self.arena, self._other(), b"", KeyRead(members, seen, is_declared=False))

    def _declared(self, names: list[str]) -> Term:
        grammar = self.members.grammar
        if grammar.is_generating:
            return self.arena.literal_set(tuple(text[1:] for text in grammar.spelled(names)), self.members.place)
        return StringBody.make(self.arena, one_of(tuple(sorted(names))), grammar.spelling, self.members.place)

    def _other(self) -> Term:
        grammar, members = self.members.grammar, self.members
        limits = grammar.schema.meaning.document.limits
        base = Length(0, limits.key_characters if grammar.is_generating else None)
        state = none_of(members.excluded(self.seen), base)
        return StringBody.make(self.arena, state, grammar.spelling, members.place)


@dataclass(frozen=True, slots=True)
class KeyRead(Follow):
    """Say what follows a key: its value, and an object in which it was seen."""

    members: Members
    seen: Seen
    is_declared: bool

    def after(self, arena: Arena, captured: bytes) -> Term:
        name = json.loads(b'"' + captured)
        if self.is_declared:
            return self.members.member(self.members.keys.index(name), self.seen)
        return self.members.other_member(name, self.seen)


__all__ = ["object_term"]
