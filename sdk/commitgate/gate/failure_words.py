"""Word what the validator finds anew: its own messages echo the value, and ours must not."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_WORDS = {
    "additionalItems": "no items beyond the declared ones are allowed",
    "additionalProperties": "properties that the schema does not declare are not allowed",
    "anyOf": "none of the alternatives is satisfied",
    "const": "the value must be the constant of the schema",
    "contains": "no item satisfies contains, or too few or too many do",
    "enum": "the value must be one of the schema's enum",
    "false": "no value is allowed here",
    "not": "the value satisfies a schema that it must not satisfy",
    "oneOf": "not exactly one of the alternatives is satisfied",
    "propertyNames": "a property's name is not allowed",
    "unevaluatedItems": "items that no part of the schema declares are not allowed",
    "unevaluatedProperties": "properties that no part of the schema declares are not allowed",
    "uniqueItems": "two items are equal",
}

_LIMITS = {
    "exclusiveMaximum": "the value must be less than {}",
    "exclusiveMinimum": "the value must be greater than {}",
    "format": "the text must be of the format {}",
    "maxItems": "at most {} items are allowed",
    "maxLength": "at most {} characters are allowed",
    "maxProperties": "at most {} properties are allowed",
    "maximum": "the value must be at most {}",
    "minItems": "at least {} items are needed",
    "minLength": "at least {} characters are needed",
    "minProperties": "at least {} properties are needed",
    "minimum": "the value must be at least {}",
    "multipleOf": "the value must be a multiple of {}",
    "required": "property {} is required",
    "type": "the value must be of type {}",
}

_FALSE_UNDER = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})


def code_of(error: ValidationError) -> str:
    """Return the keyword that failed; of a false schema the keyword that holds it, or ``false``."""
    name = error.kind.name
    if name != "falseSchema":
        return name
    last = error.schema_path[-1] if error.schema_path else ""
    return last if isinstance(last, str) and last in _FALSE_UNDER else "false"


def message_of(code: str, error: ValidationError, pattern: str | None = None) -> str:
    """Say what was wanted, from the schema's words alone.

    Args:
        pattern: what a failed ``pattern`` asks for.
    """
    if pattern is not None:
        return f"the text must match the pattern {pattern}"
    if code in _LIMITS:
        value = cast(object, error.kind.value)
        shown = " or ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
        return _LIMITS[code].format(shown)
    return _WORDS.get(code, f"the schema's {code} is not satisfied")


__all__ = ["code_of", "message_of"]
