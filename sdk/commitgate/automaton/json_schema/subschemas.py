"""Find the schemas that lie directly in a schema, by the keywords of its draft."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.keywords import Holds, Keyword
from commitgate.automaton.json_schema.plain_json import kind_of
from commitgate.automaton.json_schema.vocabulary import Vocabulary
from commitgate.errors import SchemaError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.pointer import child

_BOOLEAN_IN_DRAFT_4 = frozenset({"additionalItems", "additionalProperties"})


def as_schema(value: object, place: str) -> JsonSchema:
    """Return a value as the schema that it must be.

    Raises:
        SchemaError: it is neither an object nor a boolean.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return cast("dict[str, JsonValue]", value)
    raise SchemaError(
        f"a schema must be an object or a boolean; found {kind_of(value)} at {place or 'the root'}", pointer=place
    )


def subschemas(schema: dict[str, JsonValue], place: str, vocabulary: Vocabulary) -> Iterator[tuple[str, JsonSchema]]:
    """Yield each schema that the keywords of ``schema`` hold directly, with its place.

    Raises:
        SchemaError: what should be a schema is none.
    """
    for name, value in schema.items():
        known = vocabulary.keyword(name)
        if known.holds is Holds.NOTHING:
            continue
        for at, held in _held(known, value, child(place, name)):
            found = as_schema(held, at)
            if isinstance(found, bool) and vocabulary.draft is Draft.DRAFT_4 and name not in _BOOLEAN_IN_DRAFT_4:
                raise SchemaError(
                    f"a schema of draft 4 must be an object; found {kind_of(found)} at {at}", pointer=at, keyword=name
                )
            yield at, found


def _held(known: Keyword, value: JsonValue, place: str) -> Iterator[tuple[str, JsonValue]]:
    match known.holds, value:
        case Holds.SCHEMA, _:
            yield place, value
        case ((Holds.LIST | Holds.SCHEMA_OR_LIST), list()):
            for index, item in enumerate(value):
                yield child(place, index), item
        case Holds.SCHEMA_OR_LIST, _:
            yield place, value
        case Holds.MAP, dict():
            for key, item in value.items():
                yield child(place, key), item
        case Holds.MAP_OR_NAMES, dict():
            for key, item in value.items():
                if not isinstance(item, list):
                    yield child(place, key), item
        case _:
            return


__all__ = ["as_schema", "subschemas"]
