"""Widen a template's schema until it allows what any filling allows: one look tells whether none allows anything.

Each parameter is replaced by what all of its values have in common, beside the keywords of its place. That widens the
schema as long as nothing in it turns a wider part into a narrower whole.
"""

from __future__ import annotations

from typing import cast

from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.template.parameter import Parameter

TURNING = frozenset(
    {"not", "if", "oneOf", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems", "dependencies"}
)
"""Keywords by which a wider part of a schema can make the whole narrower."""


def widest(source: object, documents: dict[str, JsonSchema]) -> JsonSchema | None:
    """Return a schema that allows every value which any filling allows.

    Args:
        source: the schema, with parameters.
        documents: further schemas that it may refer to.

    Returns:
        The schema; None where one of the keywords that turn, or a member of such a name, is found anywhere.
    """
    if any(key in TURNING for part in (source, *documents.values()) for key in _keys(part)):
        return None
    return cast("JsonSchema", _widened(source))


def _keys(root: object) -> set[str]:
    found: set[str] = set()
    waiting: list[object] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Parameter):
            waiting.append(value.widest(""))
        elif isinstance(value, dict):
            members = cast("dict[str, object]", value)
            found.update(members)
            waiting += members.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
    return found


def _widened(value: object) -> JsonValue:
    match value:
        case Parameter():
            return value.widest("")
        case list():
            return [_widened(item) for item in cast("list[object]", value)]
        case dict():
            members = cast("dict[str, object]", value)
            kept: JsonObject = {}
            common: list[JsonValue] = []
            for key, item in members.items():
                if isinstance(item, Parameter) and item.keywords:
                    common.append(item.widest(key))
                else:
                    kept[key] = _widened(item)
            if common:
                own = kept.get("allOf", [])
                kept["allOf"] = [*(own if isinstance(own, list) else [own]), *common]
            return kept
        case _:
            return cast("JsonValue", value)


__all__ = ["TURNING", "widest"]
