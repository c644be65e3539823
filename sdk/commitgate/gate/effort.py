"""Count the work that a schema would make, before it is done: the validator itself has no bound.

Each way through references counts as often as it leads somewhere, and their number can double with each of them. The
validator remembers its answers only where a reference leads back to a schema around it, and only while it decides
whether a value is valid: not while it lists errors, nor while it prepares ``unevaluatedProperties`` and
``unevaluatedItems``. Measured with jsonschema-rs 0.61: 2^18 ways took 5 ms to check, the errors of a value 16 deep
under a recursive ``anyOf`` 17 s, and preparing ``unevaluatedProperties`` over 16 doubled references 140 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from commitgate.errors import LimitExceededError
from commitgate.gate.references import References, applies_in_place
from commitgate.json_value import JsonObject, JsonValue

NodeT = TypeVar("NodeT")
Visit: TypeAlias = "tuple[JsonObject, JsonValue]"

MOST_IN_PLACE = 100_000
"""Most ways through the schemas that apply in one place, anywhere: a value that goes them all could not be checked."""
MOST_WAYS = 1_000
"""Most ways through the schemas that apply in one place below ``unevaluatedProperties`` or ``unevaluatedItems``."""
FEW_WAYS = 10_000
"""Most ways through all of a schema at which a value of any size is checked."""
FEW_UNEVALUATED = 64
"""The same in one place below the unevaluated keywords."""
MOST_CHECKED = 2_000_000
"""Most visits of a schema at a part of a value for which it is checked at all where there are more ways."""
MOST_UNEVALUATED = 200_000
"""The same below the unevaluated keywords, where one visit may take some 20 µs."""
MOST_LISTED = 50_000
"""Most visits for which errors are listed; the costly ones take some 50 µs each."""
MOST_PAIRS = 200_000
"""Most different visits that are counted."""

_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_ONE = ("additionalProperties", "propertyNames", "additionalItems", "contains", "items", *_UNEVALUATED)
_MANY = ("properties", "patternProperties")
_BELOW = frozenset({*_ONE, *_MANY, "prefixItems"})


class Effort:
    """Judge how much work one schema would make.

    Args:
        references: of the schema.

    Attributes:
        unevaluated_ways: the largest number of ways from an unevaluated keyword to what applies in its place, 0 where
            there is none; ``MOST_WAYS + 1`` where there are more.
        ways_in_place: the largest number of ways to what applies in one place; ``MOST_IN_PLACE + 1`` where there are
            more.
    """

    def __init__(self, references: References) -> None:
        self._references = references
        self._placed: dict[int, tuple[JsonObject, ...]] = {}  # by the identity of schemas, which the references hold
        starts = [node for node in references.nodes() if not node.keys().isdisjoint(_UNEVALUATED)]
        in_place = _Ways[JsonObject](self._in_place, id, MOST_WAYS)
        self.unevaluated_ways = max((in_place.of(node) for node in starts), default=0)
        self.ways_in_place = self._most_in_place() if references.has_any else 0

    def _most_in_place(self) -> int:
        # Without references each schema is reached in one way alone.
        everywhere, reached = _Ways[JsonObject](self._in_place, id, MOST_IN_PLACE), self._reached()
        starts = (node for node in self._references.nodes() if id(node) in reached and applies_in_place(node))
        return min(max(map(everywhere.of, starts), default=1), MOST_IN_PLACE + 1)

    def _reached(self) -> set[int]:
        """Return the identities of the schemas that are applied to anything."""
        root = self._references.root
        waiting = [root] if isinstance(root, dict) else []
        reached = set(map(id, waiting))
        while waiting:
            for inner in self._applied(waiting.pop()):
                identity = id(inner)
                if identity not in reached:
                    reached.add(identity)
                    waiting.append(inner)
        return reached

    @cached_property
    def _everything(self) -> tuple[int, set[tuple[object, object]]]:
        """Return the number of ways through all of the schema, and which schemas lead back to which."""
        whole, root = _Ways[JsonObject](self._applied, id, None), self._references.root
        return (whole.of(root) if isinstance(root, dict) else 1), whole.leading_back

    @cached_property
    def _most(self) -> int | None:
        """Return the most visits for which a value is checked; None where any is."""
        if self.unevaluated_ways > FEW_UNEVALUATED:
            return MOST_UNEVALUATED
        return MOST_CHECKED if self._everything[0] > FEW_WAYS else None

    def is_checkable(self, value: JsonValue) -> bool:
        """Say whether the validator decides in bounded time whether ``value`` is valid."""
        return self._most is None or self.visits(value, self._most, remembers=True) <= self._most

    def is_listable(self, value: JsonValue) -> bool:
        """Say whether the validator lists all errors of ``value`` in bounded time."""
        return self.visits(value, MOST_LISTED) <= MOST_LISTED

    def visits(self, value: JsonValue, most: int, *, remembers: bool = False) -> int:
        """Return how often a schema is asked about a part of ``value``; ``most + 1`` where it is oftener.

        Args:
            remembers: asked again along a reference that leads back, it answers at once.
        """
        root = self._references.root
        if isinstance(root, bool):
            return 1
        waiting: list[Visit] = [(root, value)]
        begun = {_name_of(waiting[0])}
        leading_back = self._everything[1] if remembers else set[tuple[object, object]]()

        def asked(visit: Visit) -> Iterator[Visit]:
            for inner in self._asked(visit):
                if (id(visit[0]), id(inner[0])) not in leading_back:
                    yield inner
                elif _name_of(inner) not in begun:
                    begun.add(_name_of(inner))
                    waiting.append(inner)

        counted, total = _Ways[Visit](asked, _name_of, most), 0
        while waiting and total <= most:
            total += counted.of(waiting.pop())
        return min(total, most + 1)

    def _in_place(self, schema: JsonObject) -> Iterator[JsonObject]:
        found = self._placed.get(id(schema))
        if found is None:
            found = ()
            if applies_in_place(schema):
                found = tuple(_objects([*self._references.applied_in_place(schema), schema.get("not")]))
            self._placed[id(schema)] = found
        return iter(found)

    def _applied(self, schema: JsonObject) -> Iterator[JsonObject]:
        """Yield all schemas that ``schema`` applies to anything."""
        yield from self._in_place(schema)
        if _BELOW.isdisjoint(schema):
            return
        for keyword in _ONE:
            inner = schema.get(keyword)
            if isinstance(inner, dict):
                yield inner
        for keyword in _MANY:
            if keyword in schema:
                yield from _objects(_object(schema[keyword]).values())
        for keyword in ("prefixItems", "items"):
            if keyword in schema:
                yield from _objects(_list(schema[keyword]))

    def _asked(self, visit: Visit) -> Iterator[Visit]:
        schema, part = visit
        for inner in self._in_place(schema):
            yield inner, part
        if isinstance(part, dict):
            yield from _asked_of_members(schema, part)
        elif isinstance(part, list):
            yield from _asked_of_items(schema, part)


def _name_of(visit: Visit) -> tuple[int, int]:
    return id(visit[0]), id(visit[1])


def _asked_of_members(schema: JsonObject, part: JsonObject) -> Iterator[Visit]:
    declared = _object(schema.get("properties"))
    beside = list(_objects([schema.get("additionalProperties"), schema.get("unevaluatedProperties")]))
    beside += _objects(_object(schema.get("patternProperties")).values())
    names = list(_objects([schema.get("propertyNames")]))
    for key, member in part.items():
        for inner in [*_objects([declared.get(key)]), *beside]:
            yield inner, member
        for inner in names:
            yield inner, key


def _asked_of_items(schema: JsonObject, part: list[JsonValue]) -> Iterator[Visit]:
    first = _list(schema.get("prefixItems")) or _list(schema.get("items"))
    beside = list(_objects(schema.get(name) for name in ("items", "additionalItems", "unevaluatedItems", "contains")))
    for index, item in enumerate(part):
        for inner in [*_objects(first[index : index + 1]), *beside]:
            yield inner, item


class _Ways(Generic[NodeT]):
    """Count the ways down a graph, each node worked out once; a way back to a node around it counts nothing.

    Attributes:
        leading_back: the names of two nodes where the first leads back to the second.
    """

    def __init__(
        self, below: Callable[[NodeT], Iterator[NodeT]], name: Callable[[NodeT], object], most: int | None
    ) -> None:
        self._below = below
        self._name = name
        self._most = most
        self._counts: dict[object, int] = {}
        self.leading_back: set[tuple[object, object]] = set()

    def has_counted(self, node: NodeT) -> bool:
        """Return whether the ways from a node have been counted."""
        return self._name(node) in self._counts

    def of(self, start: NodeT) -> int:
        """Return the number of ways that begin at ``start``, itself included; ``most + 1`` where there are more."""
        counts, first = self._counts, self._name(start)
        if first in counts:
            return counts[first]
        stack: list[tuple[object, Iterator[NodeT]]] = [(first, self._below(start))]
        around, totals = {first}, [1]
        while stack:
            name, below = stack[-1]
            for node in below:
                inner = self._name(node)
                if inner in around:
                    self.leading_back.add((name, inner))
                elif inner in counts:
                    totals[-1] += counts[inner]
                else:
                    around.add(inner)
                    stack.append((inner, self._below(node)))
                    totals.append(1)
                    break
            else:
                stack.pop()
                around.discard(name)
                counts[name] = total = totals.pop()
                if totals:
                    totals[-1] += total
            if self._most is not None and (len(counts) > MOST_PAIRS or (totals and totals[-1] > self._most)):
                return self._most + 1
        return counts[first] if self._most is None else min(counts[first], self._most + 1)


def _objects(values: Iterable[JsonValue]) -> Iterator[JsonObject]:
    return (value for value in values if isinstance(value, dict))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def bounded_effort(references: References) -> Effort:
    """Return how much work a schema would make.

    Raises:
        LimitExceededError: too many ways lead through the schemas that apply in one place.
    """
    effort = Effort(references)
    if effort.unevaluated_ways > MOST_WAYS:
        raise _too_many_ways(MOST_WAYS, effort.unevaluated_ways, " with unevaluatedProperties or unevaluatedItems")
    if effort.ways_in_place > MOST_IN_PLACE:
        raise _too_many_ways(MOST_IN_PLACE, effort.ways_in_place, "")
    return effort


def _too_many_ways(limit: int, found: int, where: str) -> LimitExceededError:
    return LimitExceededError(
        f"more than {limit} ways lead through the schemas that apply in one place{where}; write fewer references there",
        limit_name="reference_ways",
        limit=limit,
        found=found,
    )


__all__ = ["MOST_IN_PLACE", "MOST_LISTED", "MOST_WAYS", "Effort", "bounded_effort"]
