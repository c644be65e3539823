"""Make a changed copy of a schema: every keyword of every place where the draft has a schema, and nothing else.

The values of ``enum``, ``const``, ``default`` and words that the draft does not know are no schemas and are handed over
whole, whatever they look like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from commitgate.automaton.json_schema.keywords import Holds, Keyword
from commitgate.automaton.json_schema.vocabulary import Vocabulary, vocabulary_of
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import child

Member: TypeAlias = "tuple[str, JsonValue]"
Change: TypeAlias = Callable[[str, str, JsonValue, Keyword], "Member | None"]
"""From a schema's pointer, a keyword's name, its value (the schemas inside already changed) and what the draft knows of
it, to what stands in the copy; None leaves the keyword out."""


def rewrite(
    schema: JsonSchema, change: Change, *, vocabulary: Vocabulary, documents: Mapping[str, JsonSchema]
) -> JsonSchema:
    """Return a copy of ``schema`` in which ``change`` has decided on every keyword.

    Args:
        schema: nested no deeper than ``Limits.schema_nesting`` allows, because this walk is recursive.
        vocabulary: what is meant where ``$schema`` is missing.
        documents: by URI, where meta-schemas are found that are no draft's own.

    Raises:
        UnsupportedError: a ``$schema`` names nothing that is known.
    """
    return cast("JsonSchema", _Walk(change, documents).schema(schema, vocabulary, ""))


@dataclass(frozen=True, slots=True)
class _Walk:
    change: Change
    documents: Mapping[str, JsonSchema]

    def schema(self, schema: JsonValue, vocabulary: Vocabulary, pointer: str) -> JsonValue:
        if not isinstance(schema, dict):
            return schema
        named = schema.get("$schema")
        if isinstance(named, str):
            vocabulary = vocabulary_of(named, self.documents, pointer)
        found: JsonObject = {}
        for name, value in schema.items():
            known = vocabulary.keyword(name)
            inner = self._inner(value, known.holds, vocabulary, child(pointer, name))
            member = self.change(pointer, name, inner, known)
            if member is not None:
                found[member[0]] = member[1]
        return found

    def _inner(self, value: JsonValue, holds: Holds, vocabulary: Vocabulary, pointer: str) -> JsonValue:
        """Return a keyword's value with the schemas that it holds changed."""
        match holds, value:
            case ((Holds.SCHEMA | Holds.SCHEMA_OR_LIST), dict()):
                return self.schema(value, vocabulary, pointer)
            case ((Holds.LIST | Holds.SCHEMA_OR_LIST), list()):
                return [self.schema(item, vocabulary, child(pointer, index)) for index, item in enumerate(value)]
            case ((Holds.MAP | Holds.MAP_OR_NAMES), dict()):
                return {key: self.schema(item, vocabulary, child(pointer, key)) for key, item in value.items()}
            case _:
                return value


__all__ = ["Change", "Member", "rewrite"]
