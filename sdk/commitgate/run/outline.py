"""Tell a model in few words what a schema asks for.

Small models copy what they are shown. Measured with the bundled model of 135M parameters on three mails and five
fields, greedy (November 2026): shown the JSON Schema in the user's message, it copied descriptions into the values;
shown it in the system message, it mixed fields up; shown a plain list of the fields in the system message, it got every
number and name right, and fitting subjects once told where to take them from. So objects are shown as such a list, and
only other schemas as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice

from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonSchema, JsonValue

LINES = 200
"""Most lines of an outline: a model that needs more does not read them."""

DEPTH = 4
"""Deepest level of fields that is shown: recursive schemas have no last one."""

CHOICES = 20
"""Most values of an enum that are shown."""

_ITEMS = "You answer with a JSON list. Take what you can from the user's message. The fields of each item are:"
_ANY = "You answer with JSON. Take what you can from the user's message."
_SCHEMA = f"{_ANY} The JSON schema is:"
_FIELDS = f"{_ANY} The fields are:"

_NOISE = frozenset({"$schema", "$id", "id", "$comment", "title", "examples", "default", "deprecated"})
_NAMES = ("properties", "$defs", "definitions", "patternProperties")
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def outline(
    schema: JsonObject, documents: Mapping[str, JsonSchema] | None = None, *, nesting: int | None = None
) -> str:
    """Return the instruction that shows ``schema`` to a model.

    Args:
        schema: the schema.
        documents: further schemas by absolute URI, which its references may name.
        nesting: most arrays and objects within one another, told where no fields are shown; None where it need not be.
    """
    references = References(schema, documents)
    node = _resolved(references, schema)
    heading = _FIELDS
    if "properties" not in node and isinstance(node.get("items"), dict):
        node, heading = _resolved(references, node["items"]), _ITEMS
    # Taken one by one: fields that refer to one another can be more than any memory holds.
    lines = list(islice(_fields(references, node, 0), LINES))
    if not lines:
        shown = json.dumps(_without_noise(schema), ensure_ascii=False, default=str)
        return "\n".join([_SCHEMA, shown, *_depth(nesting)])
    return "\n".join([heading, *lines])


def any_outline(nesting: int) -> str:
    """Return the instruction that tells a model to answer with any JSON.

    Args:
        nesting: most arrays and objects within one another.
    """
    return "\n".join([_ANY, *_depth(nesting)])


def _depth(nesting: int | None) -> list[str]:
    return [] if nesting is None else [f"Lists and objects stand at most {nesting} deep within one another."]


def _fields(references: References, node: JsonObject, depth: int) -> Iterator[str]:
    properties = node.get("properties")
    if not isinstance(properties, dict) or depth == DEPTH:
        return
    for name, member in properties.items():
        field = _resolved(references, member)
        yield "  " * depth + f"- {name}: {_phrase(references, field)}"
        items = _resolved(references, field.get("items"))
        yield from _fields(references, field if "properties" in field else items, depth + 1)


def _resolved(references: References, node: JsonValue) -> JsonObject:
    """Follow references; words beside a reference are kept, as pydantic writes descriptions there."""
    found: JsonObject = {}
    for _ in range(DEPTH):
        if not isinstance(node, dict):
            break
        found = {**node, **found}
        node = next(references.referred(node), None)
    return found


def _phrase(references: References, field: JsonObject) -> str:
    description = field.get("description")
    choices = _choices(field)
    words = [description.strip()] if isinstance(description, str) and description.strip() else []
    if choices:
        words.append("one of " + ", ".join(choices))
    return ", ".join(words) or " or ".join(_types(references, field)) or "any value"


def _choices(field: JsonObject) -> list[str]:
    values = field.get("enum", [field["const"]] if "const" in field else [])
    if not isinstance(values, list):
        return []
    shown = [value if isinstance(value, str) else json.dumps(value, default=str) for value in values[:CHOICES]]
    return [*shown, "…"] if len(values) > CHOICES else shown


def _types(references: References, field: JsonObject) -> list[str]:
    words: list[str] = []
    waiting, seen = [field], set[int]()
    while waiting:
        node = waiting.pop()
        named = node.get("type")
        names = [name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)]
        words += [_TYPES[name] for name in names if name in _TYPES]
        options = node.get("anyOf", node.get("oneOf", []))
        # Options may refer to one another in a circle, and to the same ones many times over.
        fresh = [option for option in options if id(option) not in seen] if isinstance(options, list) else []
        seen.update(map(id, fresh))
        waiting += [_resolved(references, option) for option in reversed(fresh)]
    return list(dict.fromkeys(words))


def _without_noise(node: JsonValue, *, holds_names: bool = False) -> JsonValue:
    if isinstance(node, list):
        return [_without_noise(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_noise(value, holds_names=not holds_names and key in _NAMES)
        for key, value in node.items()
        if holds_names or key not in _NOISE
    }


__all__ = ["CHOICES", "DEPTH", "LINES", "any_outline", "outline"]
