"""Turn what a schema allows into terms: the structure of JSON text in one of two dialects.

``accept`` reads every JSON text of the language: any key order, any white space, any spelling. ``generate`` writes a
part of it that a model should keep to: keys in order, canonical spelling, bounded lengths. Structure is expanded when
a text reaches it, so recursion costs nothing ahead of time. Each value knows how deep it may still nest; an
alternative that cannot be finished within that depth is left out, so every live state can be finished.

Source: RFC 8259 (grammar); design, "The automaton" (the two dialects).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from commitgate.automaton.json_schema.satisfiability import Satisfiability
from commitgate.automaton.json_schema.shapes import ArrayShape, Language, Node, NumberShape, ObjectShape, StringShape
from commitgate.automaton.numbers import (
    AnyInteger,
    AnyNumber,
    NumberIn,
    NumberText,
    generated_number,
    plain_number,
)
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import CharacterState, Length, none_of, one_of
from commitgate.automaton.terms import Arena, Capture, Deferred, Follow, Term

Dialect: TypeAlias = Literal["accept", "generate"]

WHITE_SPACE = sum(1 << byte for byte in b" \t\n\r")


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """Hold what every term of one automaton needs: where terms are made, the schema's meaning, and the dialect.

    Attributes:
        arena: makes the terms.
        schema: heights and meaning of the schema's places.
        dialect: which texts of the language are meant.
        spelling: legal spellings of characters.
    """

    arena: Arena
    schema: Satisfiability
    dialect: Dialect
    spelling: Spelling

    @property
    def is_generating(self) -> bool:
        """Return whether the dialect is ``generate``."""
        return self.dialect == "generate"

    @property
    def space(self) -> Term:
        """Return the white space that may stand between two tokens of JSON."""
        return self.arena.epsilon if self.is_generating else self.arena.run(WHITE_SPACE)

    @property
    def item_separator(self) -> Term:
        """Return what stands between two items or members."""
        if self.is_generating:
            return self.arena.literal(b", ")
        return self.arena.sequence(self.arena.literal(b","), self.space)

    @property
    def key_separator(self) -> Term:
        """Return what stands between a key's closing quote and its value."""
        if self.is_generating:
            return self.arena.literal(b": ")
        return self.arena.chain(self.space, self.arena.literal(b":"), self.space)

    def text(self) -> Term:
        """Return the term of the whole text: one value of the root, white space around it in ``accept``."""
        depth = self.schema.meaning.document.limits.nesting
        return self.arena.chain(self.space, self.value(self.schema.root, depth), self.space)

    def value(self, node: Node, depth: int) -> Term:
        """Return the term of a value of ``node`` that nests at most ``depth`` deep; empty where there is none."""
        if not self.schema.fits(node, depth):
            return self.arena.empty
        return self.arena.intern((Value, node, depth), lambda: Value(self, node, depth))


class Value(Deferred):
    """Stand for the texts of one value."""

    __slots__ = ("depth", "grammar", "node")

    def __init__(self, grammar: Grammar, node: Node, depth: int) -> None:
        super().__init__(grammar.arena, nullable=False)
        self.grammar = grammar
        self.node = node
        self.depth = depth

    @property
    def place(self) -> str | None:
        return self.node[0].pointer if self.node else None

    def _expand(self) -> Term:
        language = self.grammar.schema.meaning.of(self.node)
        return self.arena.choice(self._alternatives(language))

    def _alternatives(self, language: Language) -> Iterator[Term]:
        arena, place = self.arena, self.place or ""
        words = [b"null"] if language.has_null else []
        words += [b"true" if value else b"false" for value in sorted(language.booleans)]
        yield from map(arena.literal, words)
        for number in language.numbers:
            yield _number(self.grammar, number, place)
        for string in language.strings:
            yield _string(self.grammar, string, place)
        for array in language.arrays:
            yield _array(self.grammar, array, self.depth, place)
        for shape in language.objects:
            yield _object(self.grammar, shape, self.depth, place)


def _number(grammar: Grammar, shape: NumberShape, place: str) -> Term:
    arena = grammar.arena
    if not grammar.is_generating:
        if shape.values is not None:
            return NumberText.make(arena, NumberIn(shape.values), place)
        return NumberText.make(arena, AnyInteger() if shape.is_integer else AnyNumber(), place)
    if shape.values is not None:
        return arena.literal_set(tuple(sorted({plain_number(value).encode() for value in shape.values})), place)
    limits = grammar.schema.meaning.document.limits
    return generated_number(
        arena,
        is_integer=shape.is_integer,
        integer_digits=limits.integer_digits,
        fraction_digits=limits.fraction_digits,
    )


def _string(grammar: Grammar, shape: StringShape, place: str) -> Term:
    arena = grammar.arena
    if shape.values is None:
        return _quoted(grammar, _length(grammar, shape), place)
    if grammar.is_generating:
        return arena.literal_set(_spelled(grammar, shape.values), place)
    return _quoted(grammar, one_of(tuple(sorted(set(shape.values)))), place)


def _length(grammar: Grammar, shape: StringShape) -> Length:
    if shape.most is not None or not grammar.is_generating:
        return Length(shape.least, shape.most)
    longest = grammar.schema.meaning.document.limits.string_characters
    return Length(shape.least, max(longest, shape.least))


def _quoted(grammar: Grammar, state: CharacterState, place: str) -> Term:
    body = StringBody.make(grammar.arena, state, grammar.spelling, place)
    return grammar.arena.sequence(grammar.arena.literal(b'"'), body)


def _spelled(grammar: Grammar, texts: tuple[str, ...]) -> tuple[bytes, ...]:
    """Return the canonical spellings, quotes included, of those texts that the alphabet can write."""
    spelled = (grammar.spelling.text(text) for text in texts)
    return tuple(sorted({b'"' + text + b'"' for text in spelled if text is not None}))


def _array(grammar: Grammar, shape: ArrayShape, depth: int, place: str) -> Term:
    height = grammar.schema.array_height(shape)
    if height is None or height > depth:
        return grammar.arena.empty
    opening = grammar.arena.sequence(grammar.arena.literal(b"["), grammar.space)
    return grammar.arena.sequence(opening, ArrayRest.make(grammar, shape, depth, place, 0))


class ArrayRest(Deferred):
    """Stand for an array's text behind its opening bracket and ``index`` items."""

    __slots__ = ("_place", "depth", "grammar", "index", "shape")

    def __init__(self, grammar: Grammar, shape: ArrayShape, depth: int, place: str, index: int) -> None:
        super().__init__(grammar.arena, nullable=False)
        self.grammar = grammar
        self.shape = shape
        self.depth = depth
        self.index = index
        self._place = place

    @staticmethod
    def make(grammar: Grammar, shape: ArrayShape, depth: int, place: str, index: int) -> Term:
        """Return the term; once no bound can be met any more, further items change nothing and are not counted."""
        if shape.most is None and not grammar.is_generating:
            index = min(index, max(len(shape.prefix), shape.least, 1))
        key = (ArrayRest, shape, depth, place, index)
        return grammar.arena.intern(key, lambda: ArrayRest(grammar, shape, depth, place, index))

    @property
    def place(self) -> str | None:
        return self._place

    def _most(self) -> int | None:
        if self.shape.most is not None or not self.grammar.is_generating:
            return self.shape.most
        return max(self.grammar.schema.meaning.document.limits.array_items, self.shape.least)

    def _expand(self) -> Term:
        arena, grammar = self.arena, self.grammar
        most = self._most()
        options: list[Term] = []
        if self.index >= self.shape.least:
            options.append(arena.literal(b"]"))
        if most is None or self.index < most:
            item = grammar.value(self.shape.item(self.index), self.depth - 1)
            separator = grammar.item_separator if self.index else arena.epsilon
            following = ArrayRest.make(grammar, self.shape, self.depth, self._place, self.index + 1)
            options.append(arena.chain(separator, item, grammar.space, following))
        return arena.choice(options)


def _object(grammar: Grammar, shape: ObjectShape, depth: int, place: str) -> Term:
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
            return self.arena.literal_set(
                tuple(text[1:] for text in _spelled(grammar, tuple(names))), self.members.place
            )
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


__all__ = ["Dialect", "Grammar"]
