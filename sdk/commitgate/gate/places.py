"""Find which subschemas speak about a place of a value, and what they say about numbers and keys there.

It over-approximates on purpose: all branches of ``anyOf`` and the like count, because it is asked only after the
schema layer has said yes, and only for how to spell a number and which keys are the schema's own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias, cast

from commitgate.errors import SchemaError
from commitgate.gate.pattern_search import PatternSearch
from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonValue

NumberKind: TypeAlias = Literal["integer", "number", "decimal"]

NUMBER_KIND = "x-commitgate-number"
"""Keyword that the type layer writes into schemas made from types, to say which Python number a place takes."""


class Schemas:
    """Index one schema document, for following its references.

    Args:
        root: the document.
        documents: further documents by their URI, for references into them.
        patterns: looks for patterns; None for one of its own.
    """

    def __init__(
        self,
        root: JsonObject | bool,
        documents: Mapping[str, JsonObject | bool] | None = None,
        *,
        patterns: PatternSearch | None = None,
    ) -> None:
        self._root = root
        self._references = References(root, documents)
        self._places: dict[tuple[int, ...], Place] = {}
        self._patterns = patterns or PatternSearch()

    @property
    def root(self) -> Place:
        """Return the root's place."""
        return self.place([self._root])

    def place(self, starts: list[JsonValue]) -> Place:
        """Return the place about which ``starts``, and all that they apply in place, speak."""
        found: dict[int, JsonObject] = {}
        waiting = list(starts)
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in found:
                continue
            found[id(schema)] = schema
            waiting.extend(self._references.applied_in_place(schema))
        key = tuple(sorted(found))
        if key not in self._places:
            self._places[key] = Place(self, tuple(found.values()))
        return self._places[key]

    def finds(self, pattern: str, key: str) -> bool:
        """Say whether ``pattern`` is found in ``key``; one that cannot be read is found nowhere."""
        try:
            return self._patterns.finds(pattern)(key)
        except SchemaError:
            return False


class Place:
    """Hold the subschemas that speak about one place. Made by ``Schemas`` alone."""

    def __init__(self, index: Schemas, schemas: tuple[JsonObject, ...]) -> None:
        self._index = index
        self._schemas = schemas
        self._properties: dict[str, Place] = {}
        self._items: dict[int, Place] = {}
        self.number_kinds = frozenset(kind for schema in schemas for kind in _number_kinds(schema))
        self._prefix_length = max((len(_prefix(schema)) for schema in schemas), default=0)

    def declares(self, key: str) -> bool:
        """Say whether the schema itself names ``key`` as a property here."""
        return any(key in _object(schema, "properties") for schema in self._schemas)

    def property(self, key: str) -> Place:
        """Return the place of the value under ``key``."""
        if key in self._properties:
            return self._properties[key]
        found = self._index.place([start for schema in self._schemas for start in self._under_key(schema, key)])
        if self.declares(key):  # other keys are the text's own words: they are not kept
            self._properties[key] = found
        return found

    def item(self, position: int) -> Place:
        """Return the place of the array's item at ``position``."""
        position = min(position, self._prefix_length)
        if position not in self._items:
            starts = [found for schema in self._schemas for found in _at_item(schema, position)]
            self._items[position] = self._index.place(starts)
        return self._items[position]

    def _under_key(self, schema: JsonObject, key: str) -> Iterator[JsonValue]:
        declared = _object(schema, "properties")
        patterns = _object(schema, "patternProperties")
        matching = [found for pattern, found in patterns.items() if self._index.finds(pattern, key)]
        if key in declared:
            yield declared[key]
        yield from matching
        if key not in declared and not matching:
            yield schema.get("additionalProperties")
            yield schema.get("unevaluatedProperties")


def _object(schema: JsonObject, keyword: str) -> JsonObject:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}


def _number_kinds(schema: JsonObject) -> Iterator[NumberKind]:
    marked = schema.get(NUMBER_KIND)
    if isinstance(marked, str):
        yield cast(NumberKind, marked)
    types = schema.get("type")
    for name in types if isinstance(types, list) else [types]:
        if name in ("integer", "number"):
            yield cast(NumberKind, name)


def _prefix(schema: JsonObject) -> list[JsonValue]:
    for keyword in ("prefixItems", "items"):
        found = schema.get(keyword)
        if isinstance(found, list):
            return found
    return []


def _at_item(schema: JsonObject, position: int) -> Iterator[JsonValue]:
    prefix = _prefix(schema)
    if position < len(prefix):
        yield prefix[position]
        return
    yield schema.get("items")
    yield schema.get("additionalItems")
    yield schema.get("unevaluatedItems")


__all__ = ["NUMBER_KIND", "NumberKind", "Place", "Schemas"]
