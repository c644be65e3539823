"""Say whether no value satisfies two schemas, where that is easily seen."""

from __future__ import annotations

from itertools import combinations
from typing import cast

from commitgate.backends.translation.conjunction import Conjunction, met_types, value_key
from commitgate.backends.translation.schema_graph import Node
from commitgate.json_value import JsonValue

_MOST_BRANCHES = 16
_MOST_DEPTH = 3
_OBJECT = frozenset({"object"})
_TYPES: dict[type, str] = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}


def are_apart(branches: list[Node], conjunction: Conjunction) -> bool:
    """Return whether no value satisfies two of some schemas; False where that is not easily seen.

    Args:
        branches: the schemas.
        conjunction: merges what holds at once.
    """
    if len(branches) > _MOST_BRANCHES:
        return False
    # What could not be merged is left out: it would only let less through.
    flat = [conjunction.flat(branch)[0] for branch in branches]
    return all(_is_apart(first, second, conjunction, 0) for first, second in combinations(flat, 2))


def _is_apart(first: Node, second: Node, conjunction: Conjunction, depth: int) -> bool:
    if first.is_false or second.is_false:
        return True
    values, others = _values(first), _values(second)
    if values is not None and others is not None and values.isdisjoint(others):
        return True
    types, its = _types(first), _types(second)
    if not types or not its:
        return False
    if not met_types(types, its):
        return True
    return types == its == _OBJECT and depth < _MOST_DEPTH and _has_key_apart(first, second, conjunction, depth)


def _has_key_apart(first: Node, second: Node, conjunction: Conjunction, depth: int) -> bool:
    """Say that a key which both objects must have cannot hold what both want."""
    for name in first.required:
        mine, its = first.properties.get(name), second.properties.get(name)
        if name not in second.required or mine is None or its is None:
            continue
        if _is_apart(conjunction.flat(mine)[0], conjunction.flat(its)[0], conjunction, depth + 1):
            return True
    return _lacks_key(first, second) or _lacks_key(second, first)


def _lacks_key(first: Node, second: Node) -> bool:
    """Say that an object must have a key that the other one forbids."""
    extras = second.one.get("additionalProperties")
    is_closed = extras is not None and extras.is_false and "patternProperties" not in second.named
    return is_closed and any(name not in second.properties for name in first.required)


def _values(node: Node) -> set[str] | None:
    found: set[str] | None = None
    if "const" in node.plain:
        found = {value_key(node.plain["const"])}
    listed = node.plain.get("enum")
    if isinstance(listed, list):
        values = {value_key(value) for value in listed}
        found = values if found is None else found & values
    return found


def _types(node: Node) -> frozenset[str]:
    """Return the types of all its values; empty where it does not say."""
    if node.types:
        return node.types
    if "const" in node.plain:
        return frozenset({type_of(node.plain["const"])})
    listed = node.plain.get("enum")
    return frozenset(map(type_of, cast("list[JsonValue]", listed))) if isinstance(listed, list) else frozenset()


def type_of(value: JsonValue) -> str:
    """Return the JSON type of a value; of a number ``number``."""
    return _TYPES.get(type(value), "number")


__all__ = ["are_apart", "type_of"]
