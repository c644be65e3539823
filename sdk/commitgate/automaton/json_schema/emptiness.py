"""Find languages and nodes that surely allow nothing, while a schema's meaning is still being worked out.

A quick look, a few required parts deep: "not surely empty" says nothing. The last word at contract time is
``Satisfiability``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.nodes import ANYTHING, Node, forbids, meet_nodes
from commitgate.automaton.json_schema.shapes import ArrayShape, ObjectShape
from commitgate.errors import LimitExceededError, SchemaError

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Meaning

MAX_DEPTH = 2
"""How many required parts deep the look goes."""


MAX_NESTING = 4
"""How many such looks may be open at once."""


class Emptiness:
    """Look for surely empty languages."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._known: dict[tuple[Node, int], bool] = {}
        self._nesting = 0

    def are_disjoint(self, first: Language, second: Language) -> bool:
        """Return whether surely no value belongs to both."""
        if (first.has_null and second.has_null) or first.booleans & second.booleans:
            return False
        try:
            if any(a.meet(b) is not None for a, b in product(first.numbers, second.numbers)):
                return False
            if any(a.meet(b) is not None for a, b in product(first.strings, second.strings)):
                return False
        except TooManyStates:
            return False
        return all(self._arrays_disjoint(a, b) for a, b in product(first.arrays, second.arrays)) and all(
            self._objects_disjoint(a, b) for a, b in product(first.objects, second.objects)
        )

    def pruned(self, language: Language) -> Language:
        """Return the language without alternatives that surely allow nothing."""
        if self._nesting:
            return language
        arrays = tuple(shape for shape in language.arrays if not self._is_empty_array(shape, MAX_DEPTH))
        objects = tuple(shape for shape in language.objects if not self._is_empty_object(shape, MAX_DEPTH))
        if len(arrays) == len(language.arrays) and len(objects) == len(language.objects):
            return language
        return replace(language, arrays=arrays, objects=objects)

    def _arrays_disjoint(self, first: ArrayShape, second: ArrayShape) -> bool:
        least = max(first.least, second.least)
        most = min((most for most in (first.most, second.most) if most is not None), default=None)
        if most is not None and most < least:
            return True
        length = max(len(first.prefix), len(second.prefix)) + 1
        return any(
            self._is_empty(meet_nodes(first.item(index), second.item(index)), MAX_DEPTH)
            for index in range(min(least, length))
        )

    def _objects_disjoint(self, first: ObjectShape, second: ObjectShape) -> bool:
        names = dict.fromkeys([*first.required, *second.required])
        if any(self._is_empty(meet_nodes(first.node_of(name), second.node_of(name)), MAX_DEPTH) for name in names):
            return True
        return first.meet(second) is None if first.most is not None or second.most is not None else False

    def _is_empty(self, node: Node, depth: int) -> bool:
        # Reading a node may itself ask for disjoint branches: such looks nest, and each would start anew.
        if node == ANYTHING or depth == 0 or self._nesting > MAX_NESTING or forbids(node):
            return forbids(node)
        key = (node, depth)
        known = self._known.get(key)
        if known is not None:
            return known
        self._nesting += 1
        try:
            found = self._look(node, depth)
        finally:
            self._nesting -= 1
        # What is being worked out just now, or was not looked at for nesting too deep, may be empty all the same.
        if found or not (self._nesting or self._meaning.is_working):
            self._known[key] = found
        return found

    def _look(self, node: Node, depth: int) -> bool:
        try:
            language = self._meaning.of(node)
        except (SchemaError, LimitExceededError):
            # It is being worked out just now, or is wrong in a way that is told where it is read.
            return False
        if language.has_null or language.booleans or language.numbers or language.strings:
            return False
        return all(self._is_empty_array(shape, depth - 1) for shape in language.arrays) and all(
            self._is_empty_object(shape, depth - 1) for shape in language.objects
        )

    def _is_empty_array(self, shape: ArrayShape, depth: int) -> bool:
        indices = range(min(shape.least, len(shape.prefix) + 1))
        return any(self._is_empty(shape.item(index), depth) for index in indices)

    def _is_empty_object(self, shape: ObjectShape, depth: int) -> bool:
        return any(self._is_empty(shape.node_of(name), depth) for name in shape.required)


__all__ = ["Emptiness"]
