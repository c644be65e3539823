"""Find the strings that are held until they are closed: those that a schema takes from a fixed set.

Where it is not certain which parts of a schema apply (alternatives, patterns of keys), all of them are taken to: at
worst a string is shown later than it could be. No pattern is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonSchema, JsonValue

_ANY_ITEM = "*"

_Path: TypeAlias = tuple[str, ...]
_Key: TypeAlias = "tuple[frozenset[int], frozenset[_Path], bool]"


class Places:
    """Stand for one place of a value: what the schema and the paths say about it.

    Attributes:
        is_atomic: a string here is held until it is closed.
    """

    __slots__ = ("_followers", "_paths", "_schemas", "_shared", "is_atomic")

    def __init__(self, shared: _Shared, schemas: list[JsonObject], paths: frozenset[_Path], *, is_tag: bool) -> None:
        self._shared = shared
        self._schemas = schemas
        self._paths = paths
        self._followers: dict[str | int | None, Places] = {}
        self.is_atomic = is_tag or () in paths or any("enum" in schema or "const" in schema for schema in schemas)

    @staticmethod
    def of(
        schema: JsonSchema | None,
        atomic_paths: Iterable[str],
        documents: Mapping[str, JsonSchema] | None = None,
    ) -> Places | None:
        """Return the place of the root, or None where nothing is held anywhere.

        Args:
            schema: a JSON Schema, of any draft; must not be changed while the places are used.
            atomic_paths: keys joined by ``/``, ``*`` for any item of an array; the empty one is the root.
            documents: further schemas by absolute URI, which references may name.
        """
        paths = frozenset(tuple(path.split("/")) if path else () for path in atomic_paths)
        if not paths and not isinstance(schema, dict):
            return None
        root = schema if isinstance(schema, dict) else {}
        return _Shared(root, documents).place([root], paths, is_tag=False)

    def of_member(self, name: str) -> Places:
        """Return the place of an object's member."""
        # Undeclared names share one entry: what the text invents does not grow the memory.
        key = name if self._knows(name) else None
        found = self._followers.get(key)
        if found is None:
            paths = frozenset(path[1:] for path in self._paths if path[:1] == (name,))
            schemas = [inner for schema in self._schemas for inner in _member_schemas(schema, name)]
            is_tag = any(_tag(schema) == name for schema in self._schemas)
            found = self._followers[key] = self._shared.place(schemas, paths, is_tag=is_tag)
        return found

    def of_item(self, index: int) -> Places:
        """Return the place of an array's item."""
        key = min(index, max((len(_prefix(schema)) for schema in self._schemas), default=0))
        found = self._followers.get(key)
        if found is None:
            paths = frozenset(path[1:] for path in self._paths if path[:1] == (_ANY_ITEM,))
            schemas = [inner for schema in self._schemas for inner in _item_schemas(schema, index)]
            found = self._followers[key] = self._shared.place(schemas, paths, is_tag=False)
        return found

    def _knows(self, name: str) -> bool:
        if any(path[:1] == (name,) for path in self._paths):
            return True
        return any(name in _dict(schema.get("properties")) or _tag(schema) == name for schema in self._schemas)


class _Shared:
    """Follow references, and keep one ``Places`` for each set of schemas, so that recursion ends."""

    __slots__ = ("_known", "_references")

    def __init__(self, root: JsonObject, documents: Mapping[str, JsonSchema] | None) -> None:
        self._references = References(root, documents)
        self._known: dict[_Key, Places] = {}

    def place(self, schemas: list[JsonObject], paths: frozenset[_Path], *, is_tag: bool) -> Places:
        """Return the place where all of ``schemas``, and what they refer to, may apply."""
        closed: dict[int, JsonObject] = {}
        todo = list(schemas)
        while todo:
            schema = todo.pop()
            if id(schema) not in closed:
                closed[id(schema)] = schema
                todo.extend(inner for inner in self._references.applied_in_place(schema) if isinstance(inner, dict))
        key = (frozenset(closed), paths, is_tag)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Places(self, list(closed.values()), paths, is_tag=is_tag)
        return found


def _dict(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _tag(schema: JsonObject) -> JsonValue:
    return _dict(schema.get("discriminator")).get("propertyName")


def _prefix(schema: JsonObject) -> list[JsonValue]:
    return _list(schema.get("prefixItems")) or _list(schema.get("items"))


def _member_schemas(schema: JsonObject, name: str) -> Iterator[JsonObject]:
    properties = _dict(schema.get("properties"))
    candidates = [properties.get(name), *_dict(schema.get("patternProperties")).values()]
    if name not in properties:
        candidates += [schema.get("additionalProperties"), schema.get("unevaluatedProperties")]
    return (inner for inner in candidates if isinstance(inner, dict))


def _item_schemas(schema: JsonObject, index: int) -> Iterator[JsonObject]:
    prefix = _prefix(schema)
    candidates = [schema.get("contains")]
    if index < len(prefix):
        candidates.append(prefix[index])
    else:
        candidates += [schema.get(word) for word in ("items", "additionalItems", "unevaluatedItems")]
    return (inner for inner in candidates if isinstance(inner, dict))


__all__ = ["Places"]
