"""Put whole schemas into one, so that each still means what it meant on its own.

A schema's references are pointers from its own root. Put under ``$defs`` of another one, it keeps its inner structure,
and every such pointer is written anew from the new root. So no names are changed and none can meet: neither names with
``/`` or ``~`` in them, nor equal names in two schemas, nor a schema that refers to its own root.
"""

from __future__ import annotations

from commitgate.automaton.json_schema.subschemas import subschemas
from commitgate.automaton.json_schema.vocabulary import Vocabulary
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import child

_REFERENCES = ("$ref", "$dynamicRef")


def below(schema: JsonSchema, place: str) -> JsonSchema:
    """Return a schema as it is written below another one's root.

    Args:
        schema: a whole schema of draft 2020-12, which a contract was made of.
        place: JSON pointer of where it will stand, of characters that a URI may hold.
    """
    if isinstance(schema, bool):
        return schema
    moved = _moved_places(schema)

    def rewritten(value: JsonValue, at: str) -> JsonValue:
        match value:
            case dict():
                found = {key: rewritten(member, child(at, key)) for key, member in value.items()}
                return _redirected(found, place) if at in moved else found
            case list():
                return [rewritten(item, child(at, index)) for index, item in enumerate(value)]
            case _:
                return value

    found = rewritten(schema, "")
    assert isinstance(found, dict), "an object stays one"
    return found


def _moved_places(schema: JsonObject) -> set[str]:
    """Return the pointers of the schemas whose references start at this schema's root."""
    found, waiting, vocabulary = set[str](), [("", schema)], Vocabulary()
    while waiting:
        place, each = waiting.pop()
        if "$id" in each:  # references below it start there, wherever it stands
            continue
        found.add(place)
        waiting += [(at, held) for at, held in subschemas(each, place, vocabulary) if isinstance(held, dict)]
    return found


def _redirected(schema: JsonObject, place: str) -> JsonObject:
    changed = dict(schema)
    for keyword in _REFERENCES:
        target = schema.get(keyword)
        if isinstance(target, str) and (target == "#" or target.startswith("#/")):
            changed[keyword] = f"#{place}{target[1:]}"
    return changed


__all__ = ["below"]
