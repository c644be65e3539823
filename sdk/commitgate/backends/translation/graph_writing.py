"""Write a graph of nodes as a schema: what several refer to stands once, under ``$defs``.

How often a schema is written does not depend on how often it is referred to, so the text never grows without bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from commitgate.backends.translation.schema_graph import Node, followed
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import child, tokens_of

_PLAIN_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_NAME_CHARACTERS = 64
_FEW_VALUES = 8
_ORDER = ("title", "description", "$ref", "type", "const", "enum", "properties", "required", "additionalProperties")
"""Keywords that come first, for people who read it."""

_RANKS = {word: rank for rank, word in enumerate(_ORDER)}


@dataclass(frozen=True, slots=True)
class Written:
    """Hold a schema as text can be made of it.

    Attributes:
        schema: it.
        places: the node that stands at each place; where a reference was written in the place of a node, that one.
    """

    schema: JsonSchema
    places: dict[str, Node]


def write(root: Node) -> Written:
    """Return the schema of a graph."""
    return _Writing(root).written()


class _Writing:
    def __init__(self, root: Node) -> None:
        self._root = root
        self._names: dict[Node, str] = {}
        self._places: dict[str, Node] = {}
        self._name_all()

    def written(self) -> Written:
        schema = self._schema(self._root, "")
        if self._names:
            defined: JsonObject = {}
            for node, name in self._names.items():
                defined[name] = self._schema(node, child("", "$defs", name))
            assert isinstance(schema, dict), "what refers to a definition is no boolean"
            schema["$defs"] = defined
        return Written(schema, self._places)

    def _name_all(self) -> None:
        """Name what is referred to, and what would else be written more than once."""
        held: dict[Node, int] = {}
        referred: dict[Node, None] = {}
        waiting, seen, order = [self._root], {self._root}, list[Node]()
        while waiting:
            node = waiting.pop()
            order.append(node)
            for word, inner in node.held():
                if word == "$ref":
                    target = followed(inner)
                    referred[target] = None
                else:
                    held[inner] = held.get(inner, 0) + 1
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
        taken: set[str] = set()
        for node in order:
            is_shared = held.get(node, 0) > 1 and _is_large(node)
            if node is not self._root and (node in referred or is_shared):
                self._names[node] = _free_name(node.origin, taken)

    def _schema(self, node: Node, place: str) -> JsonSchema:
        self._places[place] = node
        if node.is_false:
            return False
        found: JsonObject = dict(node.plain)
        for word, inner in node.one.items():
            at = child(place, word)
            found[word] = self._reference(inner) if word == "$ref" else self._held(inner, at)
        for word, inners in node.many.items():
            found[word] = [self._held(inner, child(place, word, index)) for index, inner in enumerate(inners)]
        for word, members in node.named.items():
            found[word] = {name: self._held(inner, child(place, word, name)) for name, inner in members.items()}
        return dict(sorted(found.items(), key=_rank))

    def _held(self, node: Node, place: str) -> JsonValue:
        if node is self._root or node in self._names:
            self._places[place] = node
            return {"$ref": self._reference(node)}
        return self._schema(node, place)

    def _reference(self, node: Node) -> str:
        node = followed(node)
        return "#" if node is self._root else "#" + child("", "$defs", self._names[node])


def _is_large(node: Node) -> bool:
    """Say that it is too large to be written twice."""
    values = node.plain.get("enum")
    return any(True for _ in node.held()) or (isinstance(values, list) and len(values) > _FEW_VALUES)


def _rank(member: tuple[str, JsonValue]) -> int:
    return _RANKS.get(member[0], len(_RANKS))


def _free_name(origin: str, taken: set[str]) -> str:
    """Return a name that is not taken yet, after where the node comes from."""
    tokens = tokens_of(origin.partition("#")[2] or origin.partition("#")[0])
    base = _PLAIN_NAME.sub("_", tokens[-1] if tokens else "schema")[:_MOST_NAME_CHARACTERS] or "schema"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


__all__ = ["Written", "write"]
