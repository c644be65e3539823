"""Measure how large a schema is, in the terms in which models and vendors feel it."""

from __future__ import annotations

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.json_value import JsonObject, JsonValue
from commitgate.lint.places import Depths, objects_of, properties_of, texts_of
from commitgate.lint.report import Complexity

_MANY_VALUES = 250
"""Values of one ``enum`` from which its characters are counted for themselves, as OpenAI does."""


def complexity_of(document: SchemaDocument, depths: Depths) -> Complexity:
    """Return the measures of a schema.

    Args:
        document: the schema.
        depths: how deep its values nest.
    """
    places = dict(objects_of(document))
    declared = [each for place, schema in places.items() for each in properties_of(document, place, schema)]
    enums = [len(values) for schema in places.values() if isinstance(values := schema.get("enum"), list)]
    widths = [width for schema in places.values() if (width := _width(schema))]
    return Complexity(
        schema_bytes=len(canonical(document.root).encode()),
        places=len(places),
        properties=len(declared),
        optional_properties=sum(not each.is_required for each in declared),
        enum_values=sum(enums),
        largest_enum=max(enums, default=0),
        unions=len(widths) + sum(isinstance(schema.get("type"), list) for schema in places.values()),
        widest_choice=max(widths, default=0),
        nesting=max(depths.depth.values(), default=0),
        recursions=len(depths.recursive),
        text_characters=sum(map(_characters, places.values())),
        enum_characters=max(map(_enum_characters, places.values()), default=0),
    )


def _width(schema: JsonObject) -> int:
    return max(len(value) if isinstance(value, list) else 0 for value in (schema.get("anyOf"), schema.get("oneOf")))


def _enum_characters(schema: JsonObject) -> int:
    texts = texts_of(schema.get("enum"))
    return sum(map(len, texts)) if len(texts) > _MANY_VALUES else 0


def _characters(schema: JsonObject) -> int:
    named: list[JsonValue] = [schema.get(keyword) for keyword in ("properties", "$defs", "definitions")]
    names = [name for held in named if isinstance(held, dict) for name in held]
    constant = schema.get("const")
    texts = [*texts_of(schema.get("enum")), *([constant] if isinstance(constant, str) else [])]
    return sum(map(len, names)) + sum(map(len, texts))


__all__ = ["complexity_of"]
