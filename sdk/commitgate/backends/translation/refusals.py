"""Let a model decline in the schema that a server is sent, where the server has no form of its own for it."""

from __future__ import annotations

from commitgate.json_value import JsonObject, JsonSchema
from commitgate.refusal import MOST_REFUSAL_CHARACTERS, REFUSAL_KEY


def refusal_schema() -> JsonObject:
    """Return the schema of a refusal."""
    reason: JsonObject = {"type": "string", "minLength": 1, "maxLength": MOST_REFUSAL_CHARACTERS}
    return {
        "type": "object",
        "properties": {REFUSAL_KEY: reason},
        "required": [REFUSAL_KEY],
        "additionalProperties": False,
    }


def with_refusal(schema: JsonSchema) -> JsonObject:
    """Return a schema that also allows a refusal."""
    return {"anyOf": [schema, refusal_schema()]}


__all__ = ["refusal_schema", "with_refusal"]
