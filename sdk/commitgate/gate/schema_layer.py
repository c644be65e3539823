"""Ask the JSON Schema itself whether a parsed value is valid, with exact numbers and without any network or file.

jsonschema-rs does the work. Its messages echo the value, so failures are worded anew here from the keyword alone.
Patterns run in its linear engine. Formats are not asserted here.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from commitgate.automaton.json_schema.keywords import Holds, keyword
from commitgate.automaton.json_schema.plain_json import exact
from commitgate.errors import SchemaError
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.places import Schemas
from commitgate.gate.pointer import shown_pointer
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_URI_CHARACTERS = "%/#?:@!$&'()*+,;=~"
"""What ``quote`` leaves as it is beside letters, digits and ``_.-``: an escape that is there already stays."""

FAILURES_KEPT = 64
"""Most failures that are collected of one value; a hostile one could have millions."""

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
    "maxItems": "at most {} items are allowed",
    "maxLength": "at most {} characters are allowed",
    "maxProperties": "at most {} properties are allowed",
    "maximum": "the value must be at most {}",
    "minItems": "at least {} items are needed",
    "minLength": "at least {} characters are needed",
    "minProperties": "at least {} properties are needed",
    "minimum": "the value must be at least {}",
    "multipleOf": "the value must be a multiple of {}",
    "pattern": "the text must match the pattern {}",
    "required": "property {} is required",
    "type": "the value must be of type {}",
}

_FALSE_UNDER = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})


class SchemaLayer:
    """Judge parsed values by one schema. Building it compiles the schema: CPU work for a worker thread.

    Args:
        schema: a JSON Schema; ``$schema`` chooses the draft, 2020-12 where it is absent.

    Raises:
        SchemaError: it is not a valid schema, or refers to something outside itself.
    """

    def __init__(self, schema: JsonObject | bool) -> None:
        from jsonschema_rs import RegexOptions, ValidationError, validator_for

        try:
            self._validator = validator_for(
                cast("JsonObject | bool", _for_validator(schema)),
                validate_formats=False,
                pattern_options=RegexOptions(),
                offline=True,
            )
        except ValidationError as error:
            raise _schema_error(error) from None
        self._schemas = Schemas(schema)

    def judge(self, value: JsonValue) -> tuple[Failure, ...]:
        """Return what the schema finds wrong with ``value``, at most 64 failures; empty where it is valid.

        Args:
            value: as ``strict_parse`` gives it: every number that is not an integer is a ``Decimal``.
        """
        if self._validator.is_valid(value):
            return ()
        return tuple(self._failure(error) for error in islice(self._validator.iter_errors(value), FAILURES_KEPT))

    def _failure(self, error: ValidationError) -> Failure:
        code = _code(error)
        return Failure(
            layer=Layer.SCHEMA,
            code=code,
            pointer=shown_pointer(self._schemas, error.instance_path),
            message=_message(code, error),
            data={"pointer": child("", *error.instance_path), "schema_pointer": child("", *error.schema_path)},
        )


def _for_validator(schema: JsonValue) -> JsonValue:
    """Return the schema as the validator takes it: floats as the decimals they are written as, references as URIs."""
    if not isinstance(schema, dict):
        return _exact(schema)
    found: dict[str, JsonValue] = {}
    for name, value in schema.items():
        match keyword(name).holds, value:
            case Holds.SCHEMA, _:
                found[name] = _for_validator(value)
            case Holds.LIST, list():
                found[name] = [_for_validator(item) for item in value]
            case Holds.MAP, dict():
                found[name] = {key: _for_validator(item) for key, item in value.items()}
            case _, str() if name == "$ref":
                # A reference is a URI; the validator looks up what stands behind its escapes.
                found[name] = quote(value, safe=_URI_CHARACTERS)
            case _:
                found[name] = _exact(value)
    return found


def _exact(value: JsonValue) -> JsonValue:
    """Return a value with each float as the decimal that it is written as; the validator compares values exactly."""
    match value:
        case dict():
            return {name: _exact(item) for name, item in value.items()}
        case list():
            return [_exact(item) for item in value]
        case float():
            return exact(value)
        case _:
            return value


def _schema_error(error: ValidationError) -> SchemaError:
    if error.kind.name == "$ref":
        return SchemaError("a reference leads outside the schema; write the schema that it means into $defs")
    pointer = child("", *error.instance_path)
    return SchemaError(
        f"the schema is not valid at {pointer or 'the root'}: it breaks {error.kind.name} of its meta-schema",
        pointer=pointer,
    )


def _code(error: ValidationError) -> str:
    name = error.kind.name
    if name != "falseSchema":
        return name
    last = error.schema_path[-1] if error.schema_path else ""
    return last if isinstance(last, str) and last in _FALSE_UNDER else "false"


def _message(code: str, error: ValidationError) -> str:
    if code in _LIMITS:
        value = cast(object, error.kind.value)
        shown = " or ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
        return _LIMITS[code].format(shown)
    return _WORDS.get(code, f"the schema's {code} is not satisfied")


__all__ = ["FAILURES_KEPT", "SchemaLayer"]
