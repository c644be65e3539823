"""Turn array shapes into terms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from commitgate.automaton.deferred import Deferred
from commitgate.automaton.json_schema.completion import array_can_finish, has_enough, next_counts
from commitgate.automaton.json_schema.nodes import Node, meet_nodes, one_scalar
from commitgate.automaton.json_schema.shapes import ArrayShape
from commitgate.automaton.terms import Term

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.structure import Grammar


MAX_KEPT_ITEMS = 1_000
"""Most items of an array of which each number read has a state that is kept, in ``accept``."""


def array_term(grammar: Grammar, shape: ArrayShape, depth: int, place: str) -> Term:
    """Return the term of the shape's arrays, the opening bracket included; empty where none fits the depth."""
    height = grammar.schema.array_height(shape)
    if height is None or height > depth:
        return grammar.arena.empty
    opening = grammar.arena.sequence(grammar.arena.literal(b"["), grammar.space)
    counts = (0,) * len(shape.contains)
    if grammar.is_generating and shape.most is None:
        needed = sum(counted.least + counted.first for counted in shape.contains)
        shape = replace(shape, most=max(grammar.limits.array_items, shape.least + needed))
    return grammar.arena.sequence(opening, ArrayRest.make(grammar, shape, depth, place, 0, counts, 0))


class ArrayRest(Deferred):
    """Stand for an array's text behind its opening bracket and ``index`` items.

    Attributes:
        counts: how many items each ``contains`` has counted.
        used: bit n says that the n-th value of those that may come once was read.
    """

    __slots__ = ("_place", "counts", "depth", "grammar", "index", "shape", "used")

    def __init__(
        self,
        grammar: Grammar,
        shape: ArrayShape,
        depth: int,
        place: str,
        index: int,
        counts: tuple[int, ...],
        used: int,
    ) -> None:
        super().__init__(grammar.arena, nullable=False, is_transient=_is_of_one_text(grammar, index))
        self.grammar = grammar
        self.shape = shape
        self.depth = depth
        self.index = index
        self.counts = counts
        self.used = used
        self._place = place

    @staticmethod
    def make(
        grammar: Grammar, shape: ArrayShape, depth: int, place: str, index: int, counts: tuple[int, ...], used: int
    ) -> Term:
        """Return the term; once no bound can be met any more, further items change nothing and are not counted."""
        if shape.most is None and not grammar.is_generating:
            index = min(index, max(shape.uniform_from, shape.least, 1))
        if _is_of_one_text(grammar, index):
            return ArrayRest(grammar, shape, depth, place, index, counts, used)
        key = (ArrayRest, id(grammar), shape, depth, place, index, counts, used)
        return grammar.arena.intern(key, lambda: ArrayRest(grammar, shape, depth, place, index, counts, used))

    @property
    def place(self) -> str | None:
        return self._place

    def _expand(self) -> Term:
        arena, grammar = self.arena, self.grammar
        most = self.shape.most
        options: list[Term] = []
        if self.index >= self.shape.least and has_enough(self.shape, self.counts):
            options.append(arena.literal(b"]"))
        if most is None or self.index < most:
            separator = grammar.item_separator if self.index else arena.epsilon
            options.append(arena.sequence(separator, arena.choice(self._items())))
        return arena.choice(options, is_transient=self.is_transient)

    def _items(self) -> Iterator[Term]:
        """Yield each way in which a further item and what follows it may go on."""
        for node, added in self.shape.options(self.index):
            counts = next_counts(self.shape, self.counts, added)
            if counts is None or not self.grammar.schema.fits(node, self.depth - 1):
                continue
            for held, used in self._choices(node):
                if self._can_finish(counts, used):
                    yield self._item(held, counts, used)

    def _choices(self, node: Node) -> Iterator[tuple[Node, int]]:
        """Yield what the item may be, and the values used after it."""
        values = self.grammar.schema.unique.values(self.shape)
        if values is None:
            yield node, 0
            return
        for number, value in enumerate(values):
            if not self.used >> number & 1:
                yield meet_nodes(node, one_scalar(value, self.shape.unique[0])), self.used | 1 << number

    def _can_finish(self, counts: tuple[int, ...], used: int) -> bool:
        schema, depth, index = self.grammar.schema, self.depth - 1, self.index + 1
        values = schema.unique.values(self.shape)
        if values is not None and len(values) - used.bit_count() < self.shape.least - index:
            return False
        if not self.shape.contains:
            # The array fits the depth, so its further items do: nothing depends on those that were read.
            return True
        return array_can_finish(self.shape, lambda node: schema.fits(node, depth), index, counts)

    def _item(self, node: Node, counts: tuple[int, ...], used: int) -> Term:
        grammar = self.grammar
        item = grammar.value(node, self.depth - 1)
        following = ArrayRest.make(grammar, self.shape, self.depth, self._place, self.index + 1, counts, used)
        return grammar.arena.chain(item, grammar.space, following)


def _is_of_one_text(grammar: Grammar, index: int) -> bool:
    """Return whether few texts have so many items, so that a state for each number of them is not worth keeping."""
    return index > MAX_KEPT_ITEMS and not grammar.is_generating


__all__ = ["array_term"]
