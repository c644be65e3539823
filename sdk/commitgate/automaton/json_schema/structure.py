"""Turn what a schema allows into terms: the structure of JSON text in one of two dialects.

``accept`` reads every JSON text of the language: any key order, any white space, any spelling. ``generate`` writes a
part of it that a model should keep to: keys in order, canonical spelling, bounded lengths. Structure is expanded when
a text reaches it, so recursion costs nothing ahead of time. Each value knows how deep it may still nest; an
alternative that cannot be finished within that depth is left out, so every live state can be finished.

Source: RFC 8259 (grammar); design, "The automaton" (the two dialects).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from commitgate.automaton.deferred import Deferred
from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.generated_number import NumbersTooFine, generate_term
from commitgate.automaton.json_schema.arrays import array_term
from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.nodes import Node
from commitgate.automaton.json_schema.objects import object_term
from commitgate.automaton.json_schema.satisfiability import Satisfiability
from commitgate.automaton.json_schema.shapes import NumberShape, StringShape
from commitgate.automaton.json_schema.text_sets import common_texts
from commitgate.automaton.json_schema.writable import writable_texts
from commitgate.automaton.number_set import NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import one_of
from commitgate.automaton.terms import Arena, Term
from commitgate.automaton.text_language import ANY_TEXT, TextLanguage, of_lengths
from commitgate.limits import Limits
from commitgate.style import FreeSpace, Style

Dialect: TypeAlias = Literal["accept", "generate"]
"""``accept``: every text of a value. ``generate``: the texts that a local model may write, which are some of these."""

WHITE_SPACE = sum(1 << byte for byte in b" \t\n\r")


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """Hold what every term of one automaton needs: where terms are made, the schema's meaning, and the dialect.

    Attributes:
        arena: makes the terms.
        schema: heights and meaning of the schema's places.
        dialect: which texts of the language are meant.
        spelling: legal spellings of characters.
        style: how ``generate`` writes.
    """

    arena: Arena
    schema: Satisfiability
    dialect: Dialect
    spelling: Spelling
    style: Style

    @property
    def is_generating(self) -> bool:
        """Return whether the dialect is ``generate``."""
        return self.dialect == "generate"

    @property
    def keeps_order(self) -> bool:
        """Return whether declared keys come in the order of the schema."""
        return self.is_generating and self.style.property_order == "schema"

    @property
    def limits(self) -> Limits:
        """Return the bounds of the schema and on what is generated."""
        return self.schema.meaning.document.limits

    @property
    def space(self) -> Term:
        """Return the white space that may stand between two tokens of JSON."""
        if not self.is_generating:
            return self.arena.run(WHITE_SPACE)
        free = self.style.white_space
        return self.arena.run(WHITE_SPACE, 0, free.most) if isinstance(free, FreeSpace) else self.arena.epsilon

    @property
    def item_separator(self) -> Term:
        """Return what stands between two items or members."""
        fixed = self._fixed(b",")
        return self.arena.sequence(self.arena.literal(b","), self.space) if fixed is None else self.arena.literal(fixed)

    @property
    def key_separator(self) -> Term:
        """Return what stands between a key's closing quote and its value."""
        fixed = self.key_separator_text
        if fixed:
            return self.arena.literal(fixed)
        return self.arena.chain(self.space, self.arena.literal(b":"), self.space)

    @property
    def key_separator_text(self) -> bytes:
        """Return the one text that stands between a key and its value; no bytes where there are several."""
        return self._fixed(b":") or b""

    def _fixed(self, mark: bytes) -> bytes | None:
        """Return a mark with the white space behind it; None where there may be more or less of that."""
        if not self.is_generating or isinstance(self.style.white_space, FreeSpace):
            return None
        return mark + b" " if self.style.white_space == "python" else mark

    def written(self, texts: TextLanguage, longest: int) -> TextLanguage | None:
        """Return the texts that may be written, none longer than ``longest`` where that leaves any; None for none.

        A limit bounds what the schema leaves open; texts that the schema makes longer stay possible.
        """
        if not self.is_generating:
            return texts
        # Texts whose lengths are too many to be told apart are finite in number anyway.
        with suppress(TooManyStates):
            texts = common_texts(texts, of_lengths(0, longest)) or texts
        writable = None if self.spelling.alphabet is None else writable_texts(self.spelling)
        if writable is None or texts.dfa == ANY_TEXT.dfa:
            return texts
        # A state from which only characters lead on that cannot be written would be a dead end.
        with suppress(TooManyStates):
            return common_texts(texts, writable)
        return texts

    def text(self) -> Term:
        """Return the term of the whole text: one value of the root, white space around it in ``accept``."""
        value = self.value(self.schema.root, self.limits.nesting)
        return value if self.is_generating else self.arena.chain(self.space, value, self.space)

    def spelled(self, texts: Iterable[str]) -> tuple[bytes, ...]:
        """Return the canonical spellings, quotes included, of those texts that the alphabet can write; sorted."""
        found = (self.spelling.text(text) for text in texts)
        return tuple(sorted({b'"' + text + b'"' for text in found if text is not None}))

    def value(self, node: Node, depth: int) -> Term:
        """Return the term of a value of ``node`` that nests at most ``depth`` deep; empty where there is none."""
        if not self.schema.fits(node, depth):
            return self.arena.empty
        # Several schemas may share an arena, and their places have the same names.
        return self.arena.intern((Value, id(self), node, depth), lambda: Value(self, node, depth))


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
            yield arena.located(_number(self.grammar, number), place)
        for string in language.strings:
            yield arena.sequence(arena.literal(b'"'), arena.located(_string(self.grammar, string), place))
        for array in language.arrays:
            yield array_term(self.grammar, array, self.depth, place)
        for shape in language.objects:
            yield object_term(self.grammar, shape, self.depth, place)


def _number(grammar: Grammar, shape: NumberShape) -> Term:
    if not grammar.is_generating:
        return accept_term(grammar.arena, shape.numbers, is_literal_integer=shape.is_literal)
    try:
        return _written(grammar, shape.numbers)
    except NumbersTooFine:
        # The support table says so: the step is checked after generation.
        return _written(grammar, shape.numbers.coarser())


def _written(grammar: Grammar, numbers: NumberSet) -> Term:
    limits = grammar.limits
    return generate_term(
        grammar.arena, numbers, integer_digits=limits.integer_digits, fraction_digits=limits.fraction_digits
    )


def _string(grammar: Grammar, shape: StringShape) -> Term:
    """Return the term of the shape's strings without their opening quotes."""
    arena = grammar.arena
    if shape.values is None:
        texts = grammar.written(shape.texts, grammar.limits.string_characters)
        if texts is None:
            return arena.empty
        return StringBody.make(arena, texts.state(), grammar.spelling)
    if grammar.is_generating:
        return arena.literal_set(tuple(text[1:] for text in grammar.spelled(shape.values)))
    return StringBody.make(arena, one_of(tuple(sorted(set(shape.values)))), grammar.spelling)


__all__ = ["Dialect", "Grammar"]
