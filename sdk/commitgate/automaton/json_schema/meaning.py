"""Work out what each place of a schema allows: all its keywords at once, references followed, branches joined.

Source: JSON Schema 2020-12 core and validation. ``enum`` and ``const`` compare by value, numbers mathematically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.plain_json import exact
from commitgate.automaton.json_schema.shapes import (
    ANYTHING,
    EVERYTHING,
    NO_VALUE,
    NOTHING,
    ArrayShape,
    Exactly,
    Language,
    Never,
    Node,
    NumberShape,
    ObjectShape,
    Part,
    SchemaAt,
    StringShape,
)
from commitgate.errors import LimitExceededError, SchemaError
from commitgate.json_value import JsonValue
from commitgate.pointer import child, value_at

Keywords: TypeAlias = "dict[str, JsonValue]"
Reader: TypeAlias = "Callable[[Keywords, str], Language]"

MAX_REFERENCE_DEPTH = 100
"""Most references and branches open at one place; each costs a few frames of Python's stack."""


class Meaning:
    """Answer what a node allows; each node is worked out once, when it is asked for.

    Args:
        document: a schema whose keywords are all enforceable.
    """

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._known: dict[Node, Language] = {ANYTHING: EVERYTHING}
        self._open: list[str] = []
        self._readers: tuple[tuple[frozenset[str], Reader], ...] = (
            (frozenset({"$ref"}), self._reference),
            (frozenset({"type"}), self._type),
            (frozenset({"enum"}), self._enum),
            (frozenset({"const"}), self._const),
            (_LENGTH_KEYWORDS, self._lengths),
            (_ARRAY_KEYWORDS, self._arrays),
            (_OBJECT_KEYWORDS, self._objects),
            (frozenset({"anyOf"}), self._any_of),
        )

    @property
    def document(self) -> SchemaDocument:
        """Return the schema."""
        return self._document

    def node_at(self, pointer: str) -> Node:
        """Return the node of the schema at a place; a schema that constrains nothing is the empty node."""
        seen: list[str] = []
        while True:
            schema = self._document.at(pointer)
            if isinstance(schema, bool):
                return ANYTHING if schema else (SchemaAt(pointer),)
            constraining = [name for name in schema if name in _CONSTRAINING]
            if constraining != ["$ref"]:
                return (SchemaAt(pointer),) if constraining else ANYTHING
            if pointer in seen:
                raise _circle(seen[-1])
            seen.append(pointer)
            reference = schema["$ref"]
            assert isinstance(reference, str)
            pointer = self._document.resolve(reference, pointer)

    def of(self, node: Node) -> Language:
        """Return what ``node`` allows.

        Raises:
            SchemaError: a reference cannot be resolved, or references go in a circle without reading anything.
            UnsupportedError: a reference leaves the document.
            LimitExceededError: the alternatives multiply past ``Limits.branches``.
        """
        found = self._known.get(node)
        if found is None:
            found = EVERYTHING
            for part in node:
                found = self._meet(found, self._of_part(part), part.pointer)
            self._known[node] = found
        return found

    def _of_part(self, part: Part) -> Language:
        if isinstance(part, Never):
            return NOTHING
        if isinstance(part, Exactly):
            return self._of_value(value_at(self._document.root, part.pointer), part.pointer)
        known = self._known.get((part,))
        if known is not None:
            return known
        if part.pointer in self._open:
            raise _circle(self._open[-1])
        if len(self._open) >= MAX_REFERENCE_DEPTH:
            raise LimitExceededError(
                f"more than {MAX_REFERENCE_DEPTH} references and branches meet at one place; make the schema flatter",
                limit_name="reference_depth",
                limit=MAX_REFERENCE_DEPTH,
                found=MAX_REFERENCE_DEPTH + 1,
                pointer=part.pointer,
            )
        self._open.append(part.pointer)
        found = self._of_schema(part.pointer)
        self._open.pop()
        self._known[(part,)] = found
        return found

    def _of_schema(self, pointer: str) -> Language:
        schema = self._document.at(pointer)
        if isinstance(schema, bool):
            return EVERYTHING if schema else NOTHING
        found = EVERYTHING
        for trigger, read in self._readers:
            if trigger & schema.keys():
                found = self._meet(found, read(schema, pointer), pointer)
        return found

    def _meet(self, first: Language, second: Language, pointer: str) -> Language:
        if first is EVERYTHING or second is EVERYTHING:
            return second if first is EVERYTHING else first
        self._check_branches(first.branches * second.branches, pointer)
        return first.meet(second)

    def _check_branches(self, found: int, pointer: str) -> None:
        limit = self._document.limits.branches
        if found > limit:
            raise LimitExceededError(
                f"the alternatives at {pointer or 'the root'} multiply past Limits.branches = {limit}; "
                "write fewer, or raise the limit",
                limit_name="branches",
                limit=limit,
                found=found,
                pointer=pointer,
            )

    def _type(self, schema: Keywords, pointer: str) -> Language:
        del pointer
        value = schema["type"]
        found = NOTHING
        for name in value if isinstance(value, list) else [value]:
            assert isinstance(name, str)
            found = found.join(_BY_TYPE[name])
        return found

    def _enum(self, schema: Keywords, pointer: str) -> Language:
        values = schema["enum"]
        assert isinstance(values, list)
        return self._any_value((value, child(pointer, "enum", index)) for index, value in enumerate(values))

    def _const(self, schema: Keywords, pointer: str) -> Language:
        return self._of_value(schema["const"], child(pointer, "const"))

    def _lengths(self, schema: Keywords, pointer: str) -> Language:
        del pointer
        least, most = _size(schema, "minLength") or 0, _size(schema, "maxLength")
        strings = () if most is not None and most < least else (StringShape(least, most),)
        return replace(EVERYTHING, strings=strings)

    def _arrays(self, schema: Keywords, pointer: str) -> Language:
        prefix, least = schema.get("prefixItems"), _size(schema, "minItems") or 0
        most = _size(schema, "maxItems")
        count = len(prefix) if isinstance(prefix, list) else 0
        shape = ArrayShape(
            tuple(self.node_at(child(pointer, "prefixItems", index)) for index in range(count)),
            self.node_at(child(pointer, "items")) if "items" in schema else ANYTHING,
            least,
            most,
        )
        arrays = () if most is not None and most < least else (shape,)
        return replace(EVERYTHING, arrays=arrays)

    def _objects(self, schema: Keywords, pointer: str) -> Language:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        assert isinstance(properties, dict)
        assert isinstance(required, list)
        written = "additionalProperties" in schema
        shape = ObjectShape(
            tuple((name, self.node_at(child(pointer, "properties", name))) for name in properties),
            tuple(str(name) for name in required),
            self.node_at(child(pointer, "additionalProperties")) if written else ANYTHING,
            written,
        )
        return replace(EVERYTHING, objects=(shape,))

    def _any_of(self, schema: Keywords, pointer: str) -> Language:
        branches = schema["anyOf"]
        assert isinstance(branches, list)
        found = NOTHING
        for index in range(len(branches)):
            found = found.join(self.of(self.node_at(child(pointer, "anyOf", index))))
            self._check_branches(found.branches, pointer)
        return found

    def _reference(self, schema: Keywords, pointer: str) -> Language:
        reference = schema["$ref"]
        assert isinstance(reference, str)
        return self.of(self.node_at(self._document.resolve(reference, pointer)))

    def _any_value(self, values: Iterable[tuple[JsonValue, str]]) -> Language:
        """Return the union of single values, scalars gathered first so that a long enum is one shape."""
        has_null, booleans = False, set[bool]()
        numbers: dict[Decimal, None] = {}
        strings: dict[str, None] = {}
        structured = NOTHING
        for value, pointer in values:
            if value is None:
                has_null = True
            elif isinstance(value, bool):
                booleans.add(value)
            elif isinstance(value, str):
                strings[value] = None
            elif isinstance(value, int | float | Decimal):
                numbers[exact(value)] = None
            else:
                structured = structured.join(self._of_value(value, pointer))
                self._check_branches(structured.branches, pointer)
        return Language(
            has_null,
            frozenset(booleans),
            (NumberShape(values=tuple(numbers)),) if numbers else (),
            (StringShape(values=tuple(strings)),) if strings else (),
            structured.arrays,
            structured.objects,
        )

    def _of_value(self, value: JsonValue, pointer: str) -> Language:
        if isinstance(value, list):
            prefix = tuple((Exactly(child(pointer, index)),) for index in range(len(value)))
            return Language(arrays=(ArrayShape(prefix, ANYTHING, len(value), len(value)),))
        if isinstance(value, dict):
            properties = tuple((name, (Exactly(child(pointer, name)),)) for name in value)
            return Language(objects=(ObjectShape(properties, tuple(value), NO_VALUE, True),))
        return self._any_value([(value, pointer)])


def _size(schema: Keywords, name: str) -> int | None:
    value = schema.get(name)
    return int(value) if isinstance(value, int | float | Decimal) else None


_BY_TYPE = {
    "null": Language(has_null=True),
    "boolean": Language(booleans=frozenset({True, False})),
    "integer": Language(numbers=(NumberShape(is_integer=True),)),
    "number": Language(numbers=(NumberShape(),)),
    "string": Language(strings=(StringShape(),)),
    "array": Language(arrays=(ArrayShape(),)),
    "object": Language(objects=(ObjectShape(),)),
}

_ARRAY_KEYWORDS = frozenset({"prefixItems", "items", "minItems", "maxItems"})
_OBJECT_KEYWORDS = frozenset({"properties", "required", "additionalProperties"})
_LENGTH_KEYWORDS = frozenset({"minLength", "maxLength"})
_CONSTRAINING = _ARRAY_KEYWORDS | _OBJECT_KEYWORDS | _LENGTH_KEYWORDS | {"$ref", "type", "enum", "const", "anyOf"}


def _circle(pointer: str) -> SchemaError:
    return SchemaError(
        f"the schema at {pointer or 'the root'} refers to itself without reading anything; "
        "put the reference below properties or items",
        pointer=pointer,
        keyword="$ref",
    )


__all__ = ["Meaning"]
