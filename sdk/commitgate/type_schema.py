"""Write the JSON Schema of a Python type such that what satisfies the schema also makes a value of the type.

pydantic's own schemas are wider in places: they say what a type may be read from, or nothing about keys that are not
strings. A text written under such a schema would fail at the type layer by chance, so the schema is narrowed where it
can be, and the type refused where it cannot.
"""

from __future__ import annotations

from enum import Enum

from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

STRING_KEYS = frozenset({"str", "any", "literal", "enum"})


class SteeringSchema(GenerateJsonSchema):
    """Generate schemas for models that write JSON, in pydantic's validation mode."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Write a decimal as a number: as a string, most texts are no decimal."""
        branches = super().decimal_schema(schema).get("anyOf", [])
        numbers = [branch for branch in branches if branch.get("type") == "number"]
        return numbers[0] if numbers else {"type": "number"}

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        """Refuse complex numbers: JSON has none, and most texts spell none."""
        raise PydanticInvalidForJsonSchema("complex numbers have no JSON form; use two numbers")

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Refuse members of an enum in a Literal, which no JSON text can make."""
        if any(isinstance(value, Enum) for value in schema["expected"]):
            raise PydanticInvalidForJsonSchema("a Literal of enum members cannot be read from JSON; use their values")
        return super().literal_schema(schema)

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Refuse keys of other types than strings: nothing would make the keys spell them."""
        keys = schema.get("keys_schema")
        if keys is not None and keys["type"] not in STRING_KEYS:
            raise PydanticInvalidForJsonSchema("keys that are no plain strings are not enforced yet; use str keys")
        return super().dict_schema(schema)


__all__ = ["SteeringSchema"]
