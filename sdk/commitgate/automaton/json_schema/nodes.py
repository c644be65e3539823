"""Hold what a place of a value must satisfy: parts that all hold at once.

A node is a set of parts, so the conjunction of two nodes is their union, and equal conjunctions are one node. What a
node allows is worked out only when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias

Scalar: TypeAlias = "bool | Decimal | str | None"


@dataclass(frozen=True, slots=True)
class SchemaAt:
    """Stand for the schema at a place of the document."""

    pointer: str

    def __hash__(self) -> int:
        # Parts of this kind are nearly all that there are, and a hash of fields makes a tuple of them first.
        return hash(self.pointer)


@dataclass(frozen=True, slots=True)
class Exactly:
    """Stand for one JSON value that lies at a place of the document, as ``enum`` and ``const`` give them."""

    pointer: str


@dataclass(frozen=True, slots=True)
class OneScalar:
    """Stand for one scalar. ``kind`` is the name of its Python type, since True equals 1 there and not in JSON."""

    kind: str
    value: Scalar
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Never:
    """Stand for no value at all."""

    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Not:
    """Stand for every value that ``node`` does not allow.

    Attributes:
        node: what is excluded.
        pointer: place of the schema whose keyword asks for this.
        keyword: that keyword.
        size: number of parts in it.
        depth: how deep negations nest in it.
    """

    node: Node
    pointer: str
    keyword: str
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + size_of_node(self.node))
        object.__setattr__(self, "depth", 1 + depth_of_node(self.node))
        object.__setattr__(self, "_hash", hash((Not, self.node, self.pointer, self.keyword)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Either:
    """Stand for every value that at least one of ``nodes`` allows."""

    nodes: tuple[Node, ...]
    pointer: str
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(map(size_of_node, self.nodes)))
        object.__setattr__(self, "depth", max(map(depth_of_node, self.nodes), default=0))
        object.__setattr__(self, "_hash", hash((Either, self.nodes, self.pointer)))

    def __hash__(self) -> int:
        return self._hash


Part: TypeAlias = "SchemaAt | Exactly | OneScalar | Never | Not | Either"
Node: TypeAlias = "tuple[Part, ...]"
"""Parts that hold at once, sorted; the empty node allows everything."""

ANYTHING: Node = ()
NO_VALUE: Node = (Never(),)
"""No value, without a place of the schema that says so."""


def size_of_node(node: Node) -> int:
    """Return the number of parts of a node, those of parts included."""
    return sum(part.size if isinstance(part, Not | Either) else 1 for part in node)


def depth_of_node(node: Node) -> int:
    """Return how deep negations nest in a node."""
    return max((part.depth for part in node if isinstance(part, Not | Either)), default=0)


def forbids(node: Node) -> bool:
    """Return whether the node says outright that there is no value."""
    return len(node) == 1 and isinstance(node[0], Never)


def meet_nodes(first: Node, second: Node) -> Node:
    """Return the node at which both hold."""
    if first == second or not second:
        return first
    if not first:
        return second
    if forbids(first) or forbids(second):
        return first if forbids(first) else second
    parts = {*first, *second}
    if len(parts) == len(first):
        return first
    # Spelling a part out takes long, and is only asked for where its place and kind do not tell it from the others.
    told_apart = {(part.pointer, type(part).__name__): part for part in parts}
    if len(told_apart) == len(parts):
        return tuple(told_apart[key] for key in sorted(told_apart))
    return tuple(sorted(parts, key=_order))


def opposite(node: Node, pointer: str, keyword: str) -> Node:
    """Return the node of all that ``node`` does not allow; ``keyword`` at ``pointer`` asks for it."""
    if node == ANYTHING:
        return NO_VALUE
    if forbids(node):
        return ANYTHING
    match node:
        case (Not(inner),):
            return inner
        case _:
            return (Not(node, pointer, keyword),)


def either(nodes: tuple[Node, ...], pointer: str) -> Node:
    """Return the node of all that at least one of ``nodes`` allows."""
    found = tuple(dict.fromkeys(node for node in nodes if not forbids(node)))
    if ANYTHING in found:
        return ANYTHING
    if not found:
        return NO_VALUE
    return found[0] if len(found) == 1 else (Either(found, pointer),)


def one_scalar(value: Scalar, pointer: str) -> Node:
    """Return the node of one scalar."""
    return (OneScalar(type(value).__name__, value, pointer),)


def _order(part: Part) -> tuple[str, str, str]:
    is_simple = isinstance(part, SchemaAt | Exactly | Never)
    return part.pointer, type(part).__name__, "" if is_simple else repr(part)


__all__ = [
    "ANYTHING",
    "NO_VALUE",
    "Either",
    "Exactly",
    "Never",
    "Node",
    "Not",
    "OneScalar",
    "Part",
    "Scalar",
    "SchemaAt",
    "depth_of_node",
    "either",
    "forbids",
    "meet_nodes",
    "one_scalar",
    "opposite",
    "size_of_node",
]
