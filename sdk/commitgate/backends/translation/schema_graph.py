"""Hold a schema as a graph of nodes, so that parts of it can be moved, merged and shared without pointers breaking.

A reference leads to a node, not to a place. Only ``graph_writing`` gives nodes places again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind
from commitgate.json_value import JsonValue

ASSERTIONS = frozenset(word for word, known in KEYWORDS.items() if known.kind is Kind.ASSERTION)
"""Keywords that constrain; every other word is a note."""

ONE = frozenset(
    {
        "$ref",
        "items",
        "contains",
        "additionalProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
        "not",
        "if",
        "then",
        "else",
    }
)
"""Keywords that hold one schema."""

MANY = frozenset({"prefixItems", "allOf", "anyOf", "oneOf"})
"""Keywords that hold a list of schemas."""

NAMED = frozenset({"properties", "patternProperties", "dependentSchemas"})
"""Keywords that hold schemas by name."""


@dataclass(slots=True, eq=False)
class Node:
    """Hold one schema of draft 2020-12. Two are equal only where they are one.

    Attributes:
        origin: where it, or the part that it was made of, stands in the contract's schema.
        plain: keywords that hold no schemas.
        one: keywords that hold one.
        many: keywords that hold a list of them.
        named: keywords that hold them by name.
        is_false: no value satisfies it.
        lost: keywords of older drafts that cannot be said any more, with the reason.
    """

    origin: str
    plain: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    one: dict[str, Node] = field(default_factory=dict[str, "Node"])
    many: dict[str, list[Node]] = field(default_factory=dict[str, "list[Node]"])
    named: dict[str, dict[str, Node]] = field(default_factory=dict[str, "dict[str, Node]"])
    is_false: bool = False
    lost: dict[str, str] = field(default_factory=dict[str, str])

    def copy(self) -> Node:
        """Return another node that says the same; what it holds is shared."""
        return Node(
            self.origin,
            dict(self.plain),
            dict(self.one),
            {word: list(nodes) for word, nodes in self.many.items()},
            {word: dict(nodes) for word, nodes in self.named.items()},
            self.is_false,
            dict(self.lost),
        )

    def become(self, other: Node) -> None:
        """Say what another node says, where this one is referred to; the origin stays."""
        self.plain, self.one, self.many, self.named = other.plain, other.one, other.many, other.named
        self.is_false, self.lost = other.is_false, other.lost

    def words(self) -> set[str]:
        """Return its keywords."""
        return {*self.plain, *self.one, *self.many, *self.named}

    def drop(self, *words: str) -> None:
        """Take keywords out."""
        for word in words:
            self.plain.pop(word, None)
            self.one.pop(word, None)
            self.many.pop(word, None)
            self.named.pop(word, None)

    def held(self) -> Iterator[tuple[str, Node]]:
        """Yield each keyword that holds nodes, with each of them."""
        for word, node in self.one.items():
            yield word, node
        for word, nodes in self.many.items():
            yield from ((word, node) for node in nodes)
        for word, members in self.named.items():
            yield from ((word, node) for node in members.values())

    @property
    def is_true(self) -> bool:
        """Say that every value satisfies it; notes aside."""
        return not self.is_false and not (self.one or self.many or self.named or self.lost) and not self.constrains

    @property
    def constrains(self) -> bool:
        """Say that one of its plain keywords constrains."""
        return any(word in ASSERTIONS for word in self.plain)

    @property
    def said(self) -> set[str]:
        """Return its keywords without those that constrain nothing."""
        return {*(word for word in self.plain if word in ASSERTIONS), *self.one, *self.many, *self.named}

    @property
    def notes(self) -> dict[str, JsonValue]:
        """Return what it holds that constrains nothing."""
        return {word: value for word, value in self.plain.items() if word not in ASSERTIONS}

    @property
    def types(self) -> frozenset[str]:
        """Return the types that it names outright."""
        named = self.plain.get("type")
        found = [named] if isinstance(named, str) else named if isinstance(named, list) else []
        return frozenset(each for each in found if isinstance(each, str))

    @property
    def required(self) -> list[str]:
        """Return the names that it requires."""
        found = self.plain.get("required")
        return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []

    @property
    def properties(self) -> dict[str, Node]:
        """Return the properties that it declares."""
        return self.named.get("properties", {})


NOTES = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "propertyOrdering"}
)
"""Notes that are sent whatever draft they stand in."""


WORDS_OF: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "object": frozenset(
            {
                "properties",
                "patternProperties",
                "additionalProperties",
                "unevaluatedProperties",
                "propertyNames",
                "required",
                "minProperties",
                "maxProperties",
                "dependentRequired",
                "dependentSchemas",
            }
        ),
        "array": frozenset(
            {
                "items",
                "prefixItems",
                "unevaluatedItems",
                "contains",
                "minContains",
                "maxContains",
                "minItems",
                "maxItems",
                "uniqueItems",
            }
        ),
        "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
        "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
        "boolean": frozenset[str](),
        "null": frozenset[str](),
    }
)
"""The keywords that say something of values of one type alone."""


def kind_of(type_name: str) -> str:
    """Return the type under which the keywords of a type stand: integers have those of numbers."""
    return "number" if type_name == "integer" else type_name


def followed(node: Node) -> Node:
    """Return what a node that says nothing but a reference refers to, in the end."""
    while node.words() == {"$ref"}:
        node = node.one["$ref"]
    return node


def prune(node: Node) -> None:
    """Take out keywords that are about values of other types than a node allows."""
    kinds = {kind_of(each) for each in node.types}
    if kinds:
        node.drop(*(word for kind, words in WORDS_OF.items() if kind not in kinds for word in words))


def nodes_of(root: Node) -> list[Node]:
    """Return every node in reach, each once, the root first."""
    found, seen, waiting = list[Node](), {root}, [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for _, held in node.held():
            if held not in seen:
                seen.add(held)
                waiting.append(held)
    return found


__all__ = [
    "ASSERTIONS",
    "MANY",
    "NAMED",
    "NOTES",
    "ONE",
    "WORDS_OF",
    "Node",
    "followed",
    "kind_of",
    "nodes_of",
    "prune",
]
