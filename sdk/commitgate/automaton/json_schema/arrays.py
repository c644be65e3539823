"""Turn array shapes into terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.automaton.deferred import Deferred
from commitgate.automaton.json_schema.shapes import ArrayShape
from commitgate.automaton.terms import Term

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.structure import Grammar


def array_term(grammar: Grammar, shape: ArrayShape, depth: int, place: str) -> Term:
    """Return the term of the shape's arrays, the opening bracket included; empty where none fits the depth."""
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


__all__ = ["array_term"]
