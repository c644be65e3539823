"""Check the form of each keyword's value.

Source: the meta-schemas of JSON Schema 2020-12.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias, cast

from commitgate.automaton.json_schema.plain_json import kind_of
from commitgate.errors import SchemaError

Form: TypeAlias = "tuple[Callable[[object], bool], str]"

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def _is_size(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return value >= 0 and value == int(value)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_full_list(value: object) -> bool:
    return isinstance(value, list) and len(cast("list[object]", value)) > 0


def _is_map(value: object) -> bool:
    return isinstance(value, dict)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[object]", value)
    return all(isinstance(item, str) for item in items) and len(set(items)) == len(items)


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _is_full_list(value) and _is_texts(value) and all(item in TYPES for item in cast("list[str]", value))


_SIZE: Form = (_is_size, "an integer >= 0")
_MAP: Form = (_is_map, "an object of schemas")
_SCHEMAS: Form = (_is_full_list, "an array of at least one schema")
_TEXT: Form = (_is_text, "a string")

FORMS: dict[str, Form] = {
    "type": (_is_type, "one of " + ", ".join(TYPES) + ", or a list of them"),
    "enum": (_is_list, "an array"),
    "required": (_is_texts, "an array of distinct strings"),
    "minItems": _SIZE,
    "maxItems": _SIZE,
    "minLength": _SIZE,
    "maxLength": _SIZE,
    "properties": _MAP,
    "$defs": _MAP,
    "definitions": _MAP,
    "anyOf": _SCHEMAS,
    "prefixItems": _SCHEMAS,
    "items": (lambda value: not isinstance(value, list), "one schema; for schemas by position write prefixItems"),
    "$ref": _TEXT,
    "$schema": _TEXT,
}


def check_form(name: str, value: object, pointer: str) -> None:
    """Check the value of the keyword ``name`` in the schema at ``pointer``.

    Raises:
        SchemaError: it has the wrong form.
    """
    form = FORMS.get(name)
    if form is not None and not form[0](value):
        raise SchemaError(
            f"{name} at {pointer or 'the root'} must be {form[1]}; found {kind_of(value)} of another form",
            pointer=pointer,
            keyword=name,
        )


__all__ = ["check_form"]
