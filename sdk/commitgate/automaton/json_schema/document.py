"""Hold a schema document: well-formedness, size, and the places that pointers and references name.

Source: RFC 6901 (JSON pointers, and their URI fragment form in section 6), JSON Schema 2020-12 core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast
from urllib.parse import unquote

from commitgate.automaton.json_schema.forms import check_form
from commitgate.automaton.json_schema.keywords import DRAFT, KNOWN_FORMATS, Holds, Kind, Level, keyword
from commitgate.automaton.json_schema.plain_json import kind_of, plain_copy, too_large
from commitgate.errors import SchemaError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.pointer import child, value_at

_BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class SupportRow:
    """Say how far one keyword at one place is enforced.

    Attributes:
        keyword: the keyword.
        pointer: JSON pointer of the schema that holds it.
        level: ``decoded`` (by the automaton), ``checked`` (by the schema layer after generation) or ``rejected``.
        reason: why it is not decoded; empty where it is.
    """

    keyword: str
    pointer: str
    level: Level
    reason: str = ""


class SchemaDocument:
    """Hold one schema whose every place was looked at and found enforceable.

    Args:
        root: the schema, as ``json.loads`` gives it; copied, so that changing it later changes nothing here.
        limits: bounds on its size.

    Attributes:
        root: the schema.
        limits: the bounds.
        support: how far each constraining keyword is enforced.
        has_hidden_schemas: a reference reached a schema where no keyword holds one, below a word that else never
            constrains.

    Raises:
        SchemaError: it is not JSON, or a keyword's value has the wrong form.
        UnsupportedError: it uses a keyword that cannot be enforced.
        LimitExceededError: it is larger than a limit.
    """

    def __init__(self, root: JsonValue, limits: Limits) -> None:
        self.limits = limits
        self.root = _as_schema(plain_copy(root, limits), "")
        self.has_hidden_schemas = False
        self.support: list[SupportRow] = []
        self._schemas: dict[str, JsonSchema] = {}
        self._properties = 0
        for pointer, schema in _places(self.root, ""):
            self._look_at(pointer, schema)
        self._check_references()

    def _check_references(self) -> None:
        """Follow every reference once, also where no value can reach it: one that names nothing is a mistake."""
        looked_at = 0
        # Following one may take further schemas in, whose own references come after them.
        while looked_at < len(self._schemas):
            places = list(self._schemas.items())[looked_at:]
            looked_at = len(self._schemas)
            for pointer, schema in places:
                reference = schema.get("$ref") if isinstance(schema, dict) else None
                if isinstance(reference, str):
                    self.resolve(reference, pointer)

    def at(self, pointer: str) -> JsonSchema:
        """Return the schema at a place that ``resolve`` or ``child`` gave."""
        return self._schemas[pointer]

    def resolve(self, reference: str, pointer: str) -> str:
        """Return the place that a ``$ref`` at ``pointer`` names.

        Raises:
            UnsupportedError: it leaves the document or is not a JSON pointer.
            SchemaError: it names no schema.
        """
        if reference != "#" and not reference.startswith("#/"):
            raise _unsupported(
                "$ref", pointer, "only references into the same document, such as '#/$defs/name', are read"
            )
        if _BAD_PERCENT.search(reference):
            raise SchemaError(
                f"$ref at {pointer or 'the root'} holds a percent sign that no two hex digits follow; write it as %25",
                pointer=pointer,
                keyword="$ref",
            )
        target = unquote(reference[1:])
        if target not in self._schemas:
            self._adopt(target, pointer)
        return target

    def _adopt(self, target: str, pointer: str) -> None:
        """Take in a schema that lies where no keyword holds one; references may reach it all the same."""
        self.has_hidden_schemas = True
        try:
            value = value_at(self.root, target)
        except KeyError:
            raise SchemaError(
                f"$ref at {pointer or 'the root'} names nothing in the document; correct it",
                pointer=pointer,
                keyword="$ref",
            ) from None
        for place, schema in _places(_as_schema(value, target), target):
            if place not in self._schemas:
                self._look_at(place, schema)

    def _look_at(self, pointer: str, schema: JsonSchema) -> None:
        self._schemas[pointer] = schema
        if isinstance(schema, bool):
            return
        for name, value in schema.items():
            known = keyword(name)
            check_form(name, value, pointer)
            if name == "$schema" and isinstance(value, str) and value.rstrip("#") != DRAFT:
                raise _unsupported(name, pointer, f"only the draft 2020-12 ({DRAFT}) is read")
            if name == "$id" and pointer:
                raise _unsupported(name, pointer, "references inside it would change their base; leave it out")
            if name == "format" and value not in KNOWN_FORMATS:
                continue
            if known.level == "rejected":
                raise _unsupported(name, pointer, known.advice)
            if known.kind is Kind.ASSERTION:
                self.support.append(SupportRow(name, pointer, known.level))
        self._count(pointer, schema)

    def _count(self, pointer: str, schema: dict[str, JsonValue]) -> None:
        limits = self.limits
        properties, values = schema.get("properties"), schema.get("enum")
        self._properties += len(properties) if isinstance(properties, dict) else 0
        if self._properties > limits.properties:
            raise too_large("properties", limits.properties, self._properties, pointer, "properties")
        if isinstance(values, list) and len(values) > limits.enum_values:
            raise too_large("enum_values", limits.enum_values, len(values), pointer, "enum")


def _unsupported(name: str, pointer: str, reason: str) -> UnsupportedError:
    where = pointer or "the root"
    return UnsupportedError(
        f"{name} at {where} cannot be enforced: {reason}", pointer=pointer, keyword=name, reason=reason
    )


def _as_schema(value: object, pointer: str) -> JsonSchema:
    if isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return cast("dict[str, JsonValue]", value)
    raise SchemaError(
        f"a schema must be an object or a boolean; found {kind_of(value)} at {pointer or 'the root'}", pointer=pointer
    )


def subschemas(schema: dict[str, JsonValue], pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the place and value of each schema that the keywords of ``schema`` hold directly."""
    for name, value in schema.items():
        holds = keyword(name).holds
        if holds is Holds.SCHEMA:
            yield child(pointer, name), value
        elif holds is Holds.LIST and isinstance(value, list):
            for index, item in enumerate(value):
                yield child(pointer, name, index), item
        elif holds is Holds.MAP and isinstance(value, dict):
            for key, item in value.items():
                yield child(pointer, name, key), item


def _places(root: JsonSchema, pointer: str) -> Iterator[tuple[str, JsonSchema]]:
    stack: list[tuple[str, JsonSchema]] = [(pointer, root)]
    while stack:
        place, schema = stack.pop()
        yield place, schema
        if isinstance(schema, dict):
            held = [(inner, _as_schema(value, inner)) for inner, value in subschemas(schema, place)]
            stack.extend(reversed(held))


__all__ = ["SchemaDocument", "SupportRow", "subschemas"]
