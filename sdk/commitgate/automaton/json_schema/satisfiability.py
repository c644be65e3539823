"""Decide which places of a schema can hold a value at all, and how deep its shallowest value nests.

The *height* of a node is the nesting of its shallowest value: 0 for scalars, one more than what its tallest required
child needs for arrays and objects, None where there is no finite value. Heights are the least fixpoint over the graph
of references, so a schema that requires itself is found to be empty. They also tell, at a nesting limit, which
alternatives can still be finished.

Source: Knuth, "A Generalization of Dijkstra's Algorithm", 1977 (least costs over a grammar).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import TypeVar

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.generated_number import NumbersTooFine, generate_term
from commitgate.automaton.json_schema.completion import (
    Asked,
    array_can_finish,
    bits_of,
    closed_needs,
    object_can_finish,
    ways_of,
)
from commitgate.automaton.json_schema.language import Language
from commitgate.automaton.json_schema.meaning import Meaning
from commitgate.automaton.json_schema.nodes import Node, meet_nodes, one_scalar
from commitgate.automaton.json_schema.shapes import ArrayShape, ObjectShape
from commitgate.automaton.json_schema.support import SupportRow
from commitgate.automaton.json_schema.unique_items import UniqueItems
from commitgate.automaton.number_room import MAX_RESIDUES
from commitgate.automaton.number_set import NumberSet
from commitgate.automaton.terms import Arena
from commitgate.errors import LimitExceededError, UnsatisfiableError
from commitgate.pointer import child

_TOO_FINE = "multiples of so long a number cannot be told apart digit by digit while one is written"

ShapeT = TypeVar("ShapeT", ArrayShape, ObjectShape)


class Satisfiability:
    """Hold the height of every node that can be reached from the root.

    Args:
        meaning: what each node allows.

    Attributes:
        meaning: what each node allows.
        root: node of the whole schema.
        unique: the values of arrays whose items must differ.

    Raises:
        UnsatisfiableError: no value satisfies the root.
        LimitExceededError: more nodes than ``Limits.nodes``, or every value nests deeper than ``Limits.nesting``.
        SchemaError, UnsupportedError: as ``Meaning.of``.
    """

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.unique = UniqueItems(meaning)
        self.root = meaning.node_at("")
        self._heights: dict[Node, int | None] = {}
        self._shapes: dict[ArrayShape | ObjectShape, int | None] = {}
        # What is asked again and again while heights are settled, and never after.
        self._asked: dict[ObjectShape, Asked] = {}
        self._members: dict[ObjectShape, tuple[Node, ...]] = {}
        self._is_settled = False
        try:
            self._settle(self._explore())
        except TooManyStates as error:
            raise LimitExceededError(
                "the languages of the keys of an object need too large an automaton; write simpler patterns",
                limit_name="pattern_states",
                limit=error.limit,
                found=error.limit + 1,
            ) from None
        self._is_settled = True
        self._asked.clear()
        self._members.clear()
        self.meaning.forget_meetings()
        self._check_root()

    def height(self, node: Node) -> int | None:
        """Return the nesting of the node's shallowest value, None where it has none."""
        return self._heights[node]

    @property
    def support(self) -> tuple[SupportRow, ...]:
        """Return how far each keyword is enforced, place by place."""
        return self.meaning.document.support.rows

    def fits(self, node: Node, depth: int) -> bool:
        """Return whether some value of ``node`` nests at most ``depth`` deep."""
        height = self._heights[node]
        return height is not None and height <= depth

    def array_height(self, shape: ArrayShape) -> int | None:
        """Return the nesting of the shape's shallowest array, None where it has none."""
        return self._height_of_shape(shape, self._array_height)

    def object_height(self, shape: ObjectShape) -> int | None:
        """Return the nesting of the shape's shallowest object, None where it has none."""
        return self._height_of_shape(shape, self._object_height)

    def _height_of_shape(self, shape: ShapeT, height_of: Callable[[ShapeT], int | None]) -> int | None:
        if not self._is_settled:
            return height_of(shape)
        if shape not in self._shapes:
            self._shapes[shape] = height_of(shape)
        return self._shapes[shape]

    def _array_height(self, shape: ArrayShape) -> int | None:
        values = self.unique.values(shape)
        if values is not None and len(values) < shape.least:
            return None
        return self._least_height(_item_nodes(shape), lambda fits: array_can_finish(shape, fits))

    def _object_height(self, shape: ObjectShape) -> int | None:
        if shape.is_plain:
            heights = [self._heights.get(shape.node_of(name)) for name in shape.required]
            known = [height for height in heights if height is not None]
            return max(known, default=0) + 1 if len(known) == len(heights) else None
        asked = self._asked.get(shape)
        if asked is None:
            asked = Asked.of(shape, shape.names())
            if not self._is_settled:
                self._asked[shape] = asked
        return self._least_height(self._member_nodes(shape), lambda fits: object_can_finish(asked, fits))

    def _member_nodes(self, shape: ObjectShape) -> tuple[Node, ...]:
        """Return the node of every way to judge a key, each once."""
        found = self._members.get(shape)
        if found is None:
            found = tuple(_each_once(_member_nodes(shape)))
            if not self._is_settled:
                self._members[shape] = found
        return found

    def _least_height(self, nodes: Iterable[Node], can_finish: Callable[[Callable[[Node], bool]], bool]) -> int | None:
        """Return one more than the least height of children with which a structure can be finished."""
        heights = {node: self._heights.get(node) for node in nodes}
        for depth in sorted({-1, *(height for height in heights.values() if height is not None)}):
            allowed = {node for node, height in heights.items() if height is not None and height <= depth}
            if can_finish(allowed.__contains__):
                return max(depth, 0) + 1
        return None

    def _explore(self) -> dict[Node, list[Node]]:
        """Return, for each node in reach, the nodes that use it."""
        users: dict[Node, list[Node]] = {self.root: []}
        queue = deque([self.root])
        limit = self.meaning.document.limits.nodes
        while queue:
            node = queue.popleft()
            language = self.meaning.of(node)
            self._heights[node] = 0 if _has_scalars(language) else None
            if language.numbers and any(self._is_too_fine(shape.numbers) for shape in language.numbers):
                self.meaning.document.support.mark_keyword("multipleOf", _TOO_FINE)
            if not (language.arrays or language.objects):
                continue
            for used in _each_once(self._children(language)):
                using = users.get(used)
                if using is None:
                    using = users[used] = []
                    queue.append(used)
                    if len(users) > limit:
                        raise LimitExceededError(
                            f"the schema has more places than Limits.nodes = {limit}; make it smaller or raise the "
                            "limit",
                            limit_name="nodes",
                            limit=limit,
                            found=len(users),
                        )
                using.append(node)
        return users

    def _is_too_fine(self, numbers: NumberSet) -> bool:
        """Return whether numbers cannot be written digit by digit, so that ``generate`` leaves their step out."""
        if numbers.divisor is None and not numbers.indivisible:
            return False
        steps = (numbers.divisor or Decimal(1), *numbers.indivisible)
        if all(int("".join(map(str, step.as_tuple().digits))) <= MAX_RESIDUES for step in steps):
            return False
        limits = self.meaning.document.limits
        digits = {"integer_digits": limits.integer_digits, "fraction_digits": limits.fraction_digits}
        try:
            generate_term(Arena(max_states=limits.states), numbers, **digits)
        except NumbersTooFine:
            return True
        return False

    def _children(self, language: Language) -> Iterator[Node]:
        for array in language.arrays:
            yield from _item_nodes(array)
            for value in self.unique.values(array) or ():
                scalar = one_scalar(value, array.unique[0])
                yield from (meet_nodes(node, scalar) for node in _item_nodes(array))
        for shape in language.objects:
            yield from self._member_nodes(shape)

    def _settle(self, users: dict[Node, list[Node]]) -> None:
        # Those that were found last first: what they are used for is then mostly settled at the first look.
        queue = deque(node for node in reversed(users) if self._heights[node] is None)
        queued = set(queue)
        while queue:
            node = queue.popleft()
            queued.discard(node)
            height = self._height_of(self.meaning.of(node))
            known = self._heights[node]
            if height is not None and (known is None or height < known):
                self._heights[node] = height
                for user in users[node]:
                    if user not in queued and self._heights[user] != 0:
                        queued.add(user)
                        queue.append(user)

    def _height_of(self, language: Language) -> int | None:
        heights = [
            *(self.array_height(shape) for shape in language.arrays),
            *(self.object_height(shape) for shape in language.objects),
        ]
        return min((height for height in heights if height is not None), default=None)

    def _check_root(self) -> None:
        height, nesting = self._heights[self.root], self.meaning.document.limits.nesting
        if height is None:
            pointer = self._contradiction()
            raise UnsatisfiableError(
                f"no value can satisfy the schema; the contradiction is at {pointer or 'the root'}", pointer=pointer
            )
        if height > nesting:
            raise LimitExceededError(
                f"every value nests deeper than Limits.nesting = {nesting}; make the schema flatter or raise the limit",
                limit_name="nesting",
                limit=nesting,
                found=height,
            )

    def _contradiction(self) -> str:
        """Return the deepest place to which required parts without a value lead."""
        node, seen = self.root, set[Node]()
        while node not in seen:
            seen.add(node)
            needed = _required_children(self.meaning.of(node))
            # A node that was never explored is used in no way that counts, so nothing is known of it.
            node = next((used for used in needed if self._heights.get(used, 0) is None), node)
        place = node[0].pointer if node else ""
        return self._forbidden_key(place) or place

    def _forbidden_key(self, place: str) -> str | None:
        """Return the place that forbids a key which the schema at ``place`` requires; None where there is none."""
        schema = self.meaning.document.schemas.get(place)
        required = schema.get("required") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(required, list):
            return None
        properties = schema.get("properties")
        declared = properties if isinstance(properties, dict) else {}
        for name in map(str, required):
            at = child(place, "properties", name) if name in declared else child(place, "additionalProperties")
            if at in self.meaning.document.schemas and self.meaning.of(self.meaning.node_at(at)).is_empty:
                return at
        return None


def _each_once(nodes: Iterable[Node]) -> Iterable[Node]:
    """Return different nodes in order of first appearance."""
    # Alternatives share most nodes as they are, and what a node is hashes as slowly as it has parts.
    return dict.fromkeys({id(node): node for node in nodes}.values())


def _has_scalars(language: Language) -> bool:
    return bool(language.has_null or language.booleans or language.numbers or language.strings)


def _item_nodes(shape: ArrayShape) -> Iterator[Node]:
    """Yield the node of every way to judge an item."""
    for index in range(shape.uniform_from + 1):
        for node, _ in shape.options(index):
            yield node


def _member_nodes(shape: ObjectShape) -> Iterator[Node]:
    """Yield the node of every way to judge a key."""
    entries = [*map(shape.entry, shape.names()), *shape.split_classes()]
    if not shape.some:
        yield from (entry.node for entry in entries)
        return
    for entry in entries:
        yield from (way.node for way in ways_of(shape.some, entry))


def _required_children(language: Language) -> Iterator[Node]:
    for array in language.arrays:
        for index in range(min(array.least, len(array.prefix) + 1)):
            yield array.item(index)
    for shape in language.objects:
        names = shape.names()
        needs = dict(zip(names, closed_needs(shape, names), strict=True))
        for name in shape.required:
            yield shape.entry(name).node
            yield from (shape.entry(names[index]).node for index in bits_of(needs[name]))


__all__ = ["Satisfiability"]
