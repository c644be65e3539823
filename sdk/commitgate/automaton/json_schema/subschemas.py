"""Find the schemas that lie directly in a schema, by the keywords of its draft."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.keywords import Holds
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
        holds = vocabulary.holding.get(name)
        if holds is None:
            continue
        for at, held in _held(holds, value, child(place, name)):
            found = as_schema(held, at)
            if isinstance(found, bool) and vocabulary.draft is Draft.DRAFT_4 and name not in _BOOLEAN_IN_DRAFT_4:
                raise SchemaError(
                    f"a schema of draft 4 must be an object; found {kind_of(found)} at {at}", pointer=at, keyword=name
                )
            yield at, found


def _held(holds: Holds, value: JsonValue, place: str) -> Iterator[tuple[str, JsonValue]]:
    if holds is Holds.MAP and isinstance(value, dict):
        yield from ((child(place, key), item) for key, item in value.items())
    elif holds is Holds.MAP_OR_NAMES and isinstance(value, dict):
        yield from ((child(place, key), item) for key, item in value.items() if not isinstance(item, list))
    elif holds in (Holds.LIST, Holds.SCHEMA_OR_LIST) and isinstance(value, list):
        yield from ((child(place, index), item) for index, item in enumerate(value))
    elif holds in (Holds.SCHEMA, Holds.SCHEMA_OR_LIST):
        yield place, value


__all__ = ["as_schema", "subschemas"]
