"""Find what references of a schema and its documents mean, tolerantly: several answers, or none, are no error.

The schema layer's validator follows references exactly. This index serves what is asked around it: which subschemas may
speak about a place. It takes every schema that a dynamic reference could mean.

Source: JSON Schema core of drafts 4 to 2020-12 (base URIs, anchors, dynamic references), RFC 3986 section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urldefrag, urljoin

from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import value_at

_HOLDING = (dict, list)
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("if", "then", "else")
_REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")
_APPLYING_IN_PLACE = frozenset({*_IN_PLACE_LISTS, *_IN_PLACE, *_REFERRING, "dependentSchemas", "dependencies"})
_NAMING = frozenset({"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"})


class References:
    """Index a schema and the documents that it may refer to.

    Args:
        root: the schema; it must not change afterwards.
        documents: further documents by their URI.

    Attributes:
        root: the schema.
        has_any: something refers to a schema.
    """

    def __init__(self, root: JsonObject | bool, documents: Mapping[str, JsonObject | bool] | None = None) -> None:
        self.root = root
        self.has_any = False
        self._named: dict[str, JsonValue] = {"": root}
        self._dynamic: dict[str, list[JsonObject]] = {}
        self._bases: dict[int, str] = {}
        self._nodes: list[JsonObject] = []
        self._resolved: dict[tuple[str, str], JsonValue] = {}
        self._index(root, "")
        for uri, document in (documents or {}).items():
            base = uri.rstrip("#")
            self._named.setdefault(base, document)
            self._index(document, base)

    def nodes(self) -> tuple[JsonObject, ...]:
        """Return every object of the schema and the documents, schemas among them."""
        return tuple(self._nodes)

    def applied_in_place(self, schema: JsonObject) -> Iterator[JsonValue]:
        """Yield the schemas that ``schema`` applies to the same value, ``not`` left out."""
        if _APPLYING_IN_PLACE.isdisjoint(schema):
            return
        yield from self.referred(schema)
        for keyword in _IN_PLACE_LISTS:
            members = schema.get(keyword)
            if isinstance(members, list):
                yield from members
        for keyword in _IN_PLACE:
            if keyword in schema:
                yield schema[keyword]
        for keyword in ("dependentSchemas", "dependencies"):
            members = schema.get(keyword)
            if isinstance(members, dict):
                yield from members.values()

    def referred(self, schema: JsonObject) -> Iterator[JsonValue]:
        """Yield the schemas to which the references of ``schema`` may lead."""
        for keyword in _REFERRING:
            reference = schema.get(keyword)
            if not isinstance(reference, str):
                continue
            name = (reference, self._bases.get(id(schema), ""))
            if name not in self._resolved:
                self._resolved[name] = self._resolve(*name)
            target = self._resolved[name]
            yield target
            if keyword != "$ref":
                fragment = urldefrag(reference).fragment
                yield from (other for other in self._dynamic.get(fragment, ()) if other is not target)

    def _resolve(self, reference: str, base: str) -> JsonValue:
        """Return the schema named, or None where nothing is known."""
        uri, fragment = urldefrag(_joined(base, reference))
        if fragment and not fragment.startswith("/"):
            return self._named.get(f"{uri}#{unquote(fragment)}")
        try:
            return value_at(self._named.get(uri), unquote(fragment))
        except KeyError:
            return None

    def _index(self, document: JsonValue, base: str) -> None:
        waiting: list[tuple[JsonValue, str]] = [(document, base)]
        while waiting:
            value, inside = waiting.pop()
            members: Iterable[JsonValue] = ()
            if isinstance(value, dict):
                if not _NAMING.isdisjoint(value):
                    inside = self._name(value, inside)
                self._bases[id(value)] = inside
                self._nodes.append(value)
                self.has_any = self.has_any or not value.keys().isdisjoint(_REFERRING)
                members = value.values()
            elif isinstance(value, list):
                members = value
            for member in members:
                if isinstance(member, _HOLDING):
                    waiting.append((member, inside))

    def _name(self, schema: JsonObject, base: str) -> str:
        """Enter the names that ``schema`` gives itself; return the base of what lies in it."""
        for keyword in ("$id", "id"):
            name = schema.get(keyword)
            if isinstance(name, str):
                uri, fragment = urldefrag(_joined(base, name))
                if fragment:
                    self._named.setdefault(f"{uri}#{fragment}", schema)  # an anchor, as drafts 4 to 7 write it
                else:
                    base = uri
                    self._named.setdefault(uri, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                self._named.setdefault(f"{base}#{name}", schema)
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, []).append(schema)
        if schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(schema)
        return base


def applies_in_place(schema: JsonObject) -> bool:
    """Return whether a schema applies others to the same value, ``not`` included."""
    return "not" in schema or not _APPLYING_IN_PLACE.isdisjoint(schema)


def _joined(base: str, reference: str) -> str:
    if reference.startswith("#"):
        return base + reference  # also under a base such as urn:, which has no path to join with
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


__all__ = ["References", "applies_in_place"]
