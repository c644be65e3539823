"""Name the one alias for JSON data that every public signature uses."""

from decimal import Decimal
from typing import TypeAlias

JsonScalar: TypeAlias = "str | int | float | Decimal | bool | None"
JsonValue: TypeAlias = "JsonScalar | list[JsonValue] | dict[str, JsonValue]"
JsonObject: TypeAlias = "dict[str, JsonValue]"
JsonSchema: TypeAlias = "bool | JsonObject"

__all__ = ["JsonObject", "JsonScalar", "JsonSchema", "JsonValue"]
