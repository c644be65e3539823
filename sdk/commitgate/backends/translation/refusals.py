"""Let a model decline in the schema that a server is sent, where the server has no form of its own for it."""

from __future__ import annotations

from commitgate.backends.translation.schema_graph import Node
from commitgate.json_value import JsonObject
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


__all__ = ["refusal_node"]
