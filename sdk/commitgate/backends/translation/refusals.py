"""Let a model decline in the schema that a server is sent, where the server has no form of its own for it."""

from __future__ import annotations

from commitgate.backends.translation.schema_graph import Node
from commitgate.json_value import JsonObject, JsonSchema
from commitgate.refusal import MOST_REFUSAL_CHARACTERS, REFUSAL_KEY

_REASON: JsonObject = {"type": "string", "minLength": 1, "maxLength": MOST_REFUSAL_CHARACTERS}


def refusal_node() -> Node:
    """Return a node that says what a refusal is."""
    return Node(
        "",
        plain={"type": "object", "required": [REFUSAL_KEY]},
        one={"additionalProperties": Node("", is_false=True)},
        named={"properties": {REFUSAL_KEY: Node("", plain=dict(_REASON))}},
    )


def with_refusal(schema: JsonSchema) -> JsonObject:
    """Return a schema that also allows a refusal.

    Args:
        schema: one that refers to nothing.
    """
    refusal: JsonObject = {
        "type": "object",
        "properties": {REFUSAL_KEY: dict(_REASON)},
        "required": [REFUSAL_KEY],
        "additionalProperties": False,
    }
    return {"anyOf": [schema, refusal]}


__all__ = ["refusal_node", "with_refusal"]
