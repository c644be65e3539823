"""Count the work that a schema would make, before it is done: the validator itself has no bound.

Whether a value is valid the validator says quickly, because it remembers what it has seen. It remembers nothing where
it lists errors, and where it prepares ``unevaluatedProperties`` and ``unevaluatedItems``: there each way through the
references counts, and their number can double with each of them. Measured with jsonschema-rs 0.61: the errors of a
value 16 deep under a recursive ``anyOf`` took 17 s, preparing ``unevaluatedProperties`` over 16 doubled references
140 s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonValue

NodeT = TypeVar("NodeT")

MOST_WAYS = 1_000
"""Most ways through the schemas that apply in one place below ``unevaluatedProperties`` or ``unevaluatedItems``."""
MOST_LISTED = 50_000
"""Most visits of a schema at a part of a value for which errors are listed; the costly ones take some 50 µs each."""
FEW_WAYS = 64
"""Most ways at which a value of any size is checked."""
MOST_CHECKED = 200_000
"""Most visits for which a value is checked at all where there are more ways; the costly ones take some 20 µs each."""


def most_ways(references: References, schemas: Iterable[JsonObject]) -> int:
    """Return the largest number of ways from one of ``schemas`` to what it applies in place; at most one too many."""

    def applied(schema: JsonObject) -> Iterator[JsonObject]:
        return _objects([*references.applied_in_place(schema), schema.get("not")])

    counted = _Ways(applied, id, MOST_WAYS)
    return max((counted.of(schema) for schema in schemas), default=0)


def visits(references: References, value: JsonValue, most: int) -> int:
    """Return how often a schema is asked about a part of ``value`` if no answer is remembered; at most ``most + 1``."""

    def asked(visit: tuple[JsonObject, JsonValue]) -> Iterator[tuple[JsonObject, JsonValue]]:
        schema, part = visit
        for inner in _objects([*references.applied_in_place(schema), schema.get("not")]):
            yield inner, part
        if isinstance(part, dict):
            yield from _asked_of_members(schema, part)
        elif isinstance(part, list):
            yield from _asked_of_items(schema, part)

    root = references.root
    if isinstance(root, bool):
        return 1
    return _Ways(asked, lambda visit: (id(visit[0]), id(visit[1])), most).of((root, value))


def _asked_of_members(schema: JsonObject, part: JsonObject) -> Iterator[tuple[JsonObject, JsonValue]]:
    declared = _object(schema.get("properties"))
    beside = [schema.get("additionalProperties"), schema.get("unevaluatedProperties")]
    beside += _object(schema.get("patternProperties")).values()
    for key, member in part.items():
        for inner in _objects([declared.get(key), *beside]):
            yield inner, member
        for inner in _objects([schema.get("propertyNames")]):
            yield inner, key


def _asked_of_items(schema: JsonObject, part: list[JsonValue]) -> Iterator[tuple[JsonObject, JsonValue]]:
    beside = list(_objects(schema.get(name) for name in ("additionalItems", "unevaluatedItems", "contains")))
    items, prefix = schema.get("items"), schema.get("prefixItems")
    first = prefix if isinstance(prefix, list) else items if isinstance(items, list) else []
    beside += _objects([items])
    for index, item in enumerate(part):
        for inner in [*_objects(first[index : index + 1]), *beside]:
            yield inner, item


class _Ways(Generic[NodeT]):
    """Count the ways down an acyclic graph, each node worked out once; a node met below itself counts nothing.

    Counting stops at the limit, in the number of ways and of nodes alike.
    """

    def __init__(self, below: Callable[[NodeT], Iterator[NodeT]], name: Callable[[NodeT], object], limit: int) -> None:
        self._below = below
        self._name = name
        self._limit = limit
        self._counts: dict[object, int] = {}

    def of(self, start: NodeT) -> int:
        """Return the number of ways that begin at ``start``, itself included; ``limit + 1`` where there are more."""
        counts, first = self._counts, self._name(start)
        stack: list[tuple[object, Iterator[NodeT]]] = [(first, self._below(start))]
        counts[first] = 0
        totals = [1]
        while stack:
            name, below = stack[-1]
            for node in below:
                inner = self._name(node)
                if inner in counts:
                    totals[-1] += counts[inner]
                    continue
                counts[inner] = 0
                stack.append((inner, self._below(node)))
                totals.append(1)
                break
            else:
                stack.pop()
                counts[name] = total = totals.pop()
                if totals:
                    totals[-1] += total
            if len(counts) > self._limit or (totals and totals[-1] > self._limit):
                return self._limit + 1
        return counts[first]


def _objects(values: Iterable[JsonValue]) -> Iterator[JsonObject]:
    return (value for value in values if isinstance(value, dict))


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


__all__ = ["FEW_WAYS", "MOST_CHECKED", "MOST_LISTED", "MOST_WAYS", "most_ways", "visits"]
