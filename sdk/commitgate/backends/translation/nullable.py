"""Require every property, as some vendors want it, and plan which nulls are taken out of the answer again.

An optional property may be null instead of missing. That null is not the user's own, so it is taken out, unless the
user's own schema allows null there: then it stays, and the property is merely required.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commitgate.backends.translation.fitting import Fitting, Mend, Offence
from commitgate.backends.translation.null_plan import NullPlace, NullPlan
from commitgate.backends.translation.schema_graph import Node
from commitgate.errors import LimitExceededError

MOST_NULL_PLACES = 10_000
"""Most places of a value that are told apart where nulls are taken out."""

_SIMPLE = frozenset({"type", "enum"})


class NullNotes:
    """Note which properties were made nullable."""

    def __init__(self) -> None:
        self.taken: dict[Node, dict[str, Node]] = {}
        """By the node that declares them: each one's name, and the node before it was made nullable."""

    def mends(self) -> Mapping[str, Mend]:
        """Return how optional properties are mended."""
        return MappingProxyType({"optional_property": self._require})

    def _require(self, fitting: Fitting, offence: Offence) -> None:
        """Require all properties of an object that one was found in."""
        owner = offence.owner
        if owner in self.taken or not fitting.may_change(owner):
            return  # one for all
        required = set(owner.required)
        does = fitting.words.happens(offence.case)
        taken = self.taken.setdefault(owner, {})
        for name, node in owner.properties.items():
            if name in required:
                continue
            if admits_null(node):
                fitting.note("narrowed", node, "required", f"{does}; it is required, and may be null as ever")
                continue
            taken[name] = node
            reason = f"{does}; it is required and may be null, which is taken out again"
            fitting.note("nullable", node, "required", reason)
        owner.properties.update({name: _or_null(node) for name, node in taken.items() if name not in required})
        owner.plain["required"] = [*owner.properties]

    def plan(self, fitting: Fitting, root: Node) -> NullPlan | None:
        """Return which nulls are taken out below a node; None where none are.

        Raises:
            UnsupportedError: at one place of a value a null would be the user's own by one part of the schema, and
                not by another.
        """
        return _Planning(self.taken, fitting).plan(root) if any(self.taken.values()) else None


def admits_null(node: Node) -> bool:
    """Return whether null satisfies a schema, as far as its keywords say."""
    seen: set[Node] = set()

    def admits(each: Node) -> bool:
        if each.is_false or each in seen:
            return False
        if each.types and "null" not in each.types:
            return False
        if "const" in each.plain and each.plain["const"] is not None:
            return False
        values = each.plain.get("enum")
        if isinstance(values, list) and None not in values:
            return False
        seen.add(each)
        parts = [each.one["$ref"]] if "$ref" in each.one else []
        choices = [each.many[word] for word in ("anyOf", "oneOf") if word in each.many]
        found = all(map(admits, [*parts, *each.many.get("allOf", [])])) and all(
            any(map(admits, branches)) for branches in choices
        )
        seen.discard(each)
        return found

    return admits(node)


def _or_null(node: Node) -> Node:
    """Return a node that also allows null."""
    if node.said <= _SIMPLE and len(node.types) == 1:
        found = node.copy()
        values = found.plain.get("enum")
        found.plain["type"] = [*node.types, "null"]
        if isinstance(values, list):
            found.plain["enum"] = [*values, None]
        return found
    null = Node(node.origin, plain={"type": "null"})
    if node.said <= {"anyOf"}:
        found = node.copy()
        found.many["anyOf"] = [*node.many["anyOf"], null]
        return found
    return Node(node.origin, many={"anyOf": [node, null]})


class _Planning:
    """Follow the places of a value, each with all the nodes that judge what stands there."""

    def __init__(self, taken: Mapping[Node, Mapping[str, Node]], fitting: Fitting) -> None:
        self._taken = taken
        self._fitting = fitting
        self._numbers: dict[frozenset[Node], int] = {}
        self._waiting: list[frozenset[Node]] = []

    def plan(self, root: Node) -> NullPlan:
        self._number(_judging([root]))
        places: list[NullPlace] = []
        while len(places) < len(self._waiting):
            places.append(self._place(self._waiting[len(places)]))
        longest = max((len(name) for each in places for name in each.taken), default=0)
        return NullPlan(places=tuple(places), longest_key=longest)

    def _number(self, nodes: frozenset[Node]) -> int:
        if nodes not in self._numbers:
            if len(self._numbers) >= MOST_NULL_PLACES:
                raise LimitExceededError(
                    f"nulls would be taken out at more than {MOST_NULL_PLACES:,} places; use fewer branches",
                    limit_name="nodes",
                    limit=MOST_NULL_PLACES,
                    found=MOST_NULL_PLACES + 1,
                )
            self._numbers[nodes] = len(self._numbers)
            self._waiting.append(nodes)
        return self._numbers[nodes]

    def _place(self, nodes: frozenset[Node]) -> NullPlace:
        held: dict[str, list[Node]] = {}
        taken: set[str] = set()
        for node in nodes:
            for name, member in node.properties.items():
                held.setdefault(name, []).append(member)
            taken.update(self._taken.get(node, {}))
        for node in nodes:
            for name in taken:
                self._check(node, name)
        members = {name: self._number(_judging(inner)) for name, inner in held.items()}
        items = [node.one["items"] for node in nodes if "items" in node.one]
        items.extend(member for node in nodes for member in node.many.get("prefixItems", []))
        return NullPlace(
            taken=frozenset(taken), members=members, items=self._number(_judging(items)) if items else None
        )

    def _check(self, node: Node, name: str) -> None:
        member = node.properties.get(name)
        if member is None or name in self._taken.get(node, {}) or not admits_null(member):
            return
        reason = (
            "at one place of a value, null would be the user's own by this part of the schema and mean that the key "
            "is missing by another; give the keys different names, or require both"
        )
        raise self._fitting.unsupported(member, "required", reason)


def _judging(nodes: list[Node]) -> frozenset[Node]:
    """Return the nodes that judge the very value that some nodes judge."""
    found, waiting = set[Node](), list(nodes)
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found.add(node)
        waiting.extend(held for word, held in node.held() if word in ("$ref", "allOf", "anyOf", "oneOf"))
    return frozenset(found)


__all__ = ["MOST_NULL_PLACES", "NullNotes", "admits_null"]
