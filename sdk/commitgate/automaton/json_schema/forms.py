"""Check the form of each keyword's value.

Source: the meta-schemas of JSON Schema drafts 4, 6, 7, 2019-09 and 2020-12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import TypeAlias, cast

from commitgate.automaton.json_schema.drafts import DEFAULT_DRAFT, Draft
from commitgate.automaton.json_schema.excerpt import excerpt
from commitgate.errors import SchemaError

Form: TypeAlias = "tuple[Callable[[object], bool], str]"

_ANCHOR_NAME = re.compile(r"[A-Za-z_][-A-Za-z0-9._:]*")

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


def _is_full_texts(value: object) -> bool:
    return _is_full_list(value) and _is_texts(value)


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _is_full_list(value) and _is_texts(value) and all(item in TYPES for item in cast("list[str]", value))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value > 0


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_names_map(value: object) -> bool:
    return isinstance(value, dict) and all(_is_texts(names) for names in cast("dict[str, object]", value).values())


def _is_flags(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_boolean, cast("dict[str, object]", value).values()))


def _is_anchor(value: object) -> bool:
    return isinstance(value, str) and _ANCHOR_NAME.fullmatch(value) is not None


def _is_name_without_fragment(value: object) -> bool:
    return isinstance(value, str) and not value.rstrip("#").count("#")


def _is_dependencies(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    parts = cast("dict[str, object]", value).values()
    return all(isinstance(part, dict | bool) or _is_texts(part) for part in parts)


_SIZE: Form = (_is_size, "an integer >= 0")
_MAP: Form = (_is_map, "an object of schemas")
_SCHEMAS: Form = (_is_full_list, "an array of at least one schema")
_TEXT: Form = (_is_text, "a string")
_NUMBER: Form = (_is_number, "a number")
_ANCHOR: Form = (_is_anchor, "a name of letters, digits and _-.: that starts with a letter or _")
_BOOLEAN: Form = (_is_boolean, "true or false")

FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "type": (_is_type, "one of " + ", ".join(TYPES) + ", or a list of them"),
        "enum": (_is_list, "an array"),
        "required": (_is_texts, "an array of distinct strings"),
        "minimum": _NUMBER,
        "maximum": _NUMBER,
        "exclusiveMinimum": _NUMBER,
        "exclusiveMaximum": _NUMBER,
        "multipleOf": (_is_positive, "a number > 0"),
        "minItems": _SIZE,
        "maxItems": _SIZE,
        "minContains": _SIZE,
        "maxContains": _SIZE,
        "minLength": _SIZE,
        "maxLength": _SIZE,
        "minProperties": _SIZE,
        "maxProperties": _SIZE,
        "uniqueItems": _BOOLEAN,
        "pattern": _TEXT,
        "format": _TEXT,
        "properties": _MAP,
        "patternProperties": _MAP,
        "dependentSchemas": _MAP,
        "dependentRequired": (_is_names_map, "an object of arrays of distinct strings"),
        "dependencies": (_is_dependencies, "an object of schemas or arrays of distinct strings"),
        "$defs": _MAP,
        "definitions": _MAP,
        "allOf": _SCHEMAS,
        "anyOf": _SCHEMAS,
        "oneOf": _SCHEMAS,
        "prefixItems": _SCHEMAS,
        "$ref": _TEXT,
        "$dynamicRef": _TEXT,
        "$recursiveRef": _TEXT,
        "$schema": _TEXT,
        "$id": _TEXT,
        "$anchor": _ANCHOR,
        "$dynamicAnchor": _ANCHOR,
        "$recursiveAnchor": _BOOLEAN,
        "$vocabulary": (_is_flags, "an object of booleans"),
        "$comment": _TEXT,
        "title": _TEXT,
        "description": _TEXT,
        "examples": (_is_list, "an array"),
        "deprecated": _BOOLEAN,
        "readOnly": _BOOLEAN,
        "writeOnly": _BOOLEAN,
        "contentEncoding": _TEXT,
        "contentMediaType": _TEXT,
    }
)

_INTEGER_SIZE: Form = (lambda value: _is_size(value) and isinstance(value, int), "an integer >= 0")

_DRAFT_4: Mapping[str, Form] = MappingProxyType(
    {
        "minItems": _INTEGER_SIZE,
        "maxItems": _INTEGER_SIZE,
        "minLength": _INTEGER_SIZE,
        "maxLength": _INTEGER_SIZE,
        "minProperties": _INTEGER_SIZE,
        "maxProperties": _INTEGER_SIZE,
        "exclusiveMinimum": _BOOLEAN,
        "exclusiveMaximum": _BOOLEAN,
        "required": (_is_full_texts, "an array of at least one string, all distinct"),
        "id": _TEXT,
    }
)
_PLAIN_ID: Form = (_is_name_without_fragment, "a URI reference without fragment; name places with $anchor")
_ITEMS: Form = (lambda value: not isinstance(value, list) or value != [], "a schema or an array of them")
_TUPLE_ITEMS: Form = (
    lambda value: not isinstance(value, list),
    "one schema",
)


@cache
def _forms_of(draft: Draft) -> Mapping[str, Form]:
    found: dict[str, Form] = {**FORMS, "items": _TUPLE_ITEMS if draft is Draft.DRAFT_2020_12 else _ITEMS}
    if not draft.reference_stands_alone:
        found["$id"] = _PLAIN_ID
    if draft is Draft.DRAFT_4:
        found.update(_DRAFT_4)
    return MappingProxyType(found)


def check_forms(schema: Mapping[str, object], keywords: Container[str], draft: Draft, place: str) -> None:
    """Check the values of the keywords of the schema at ``place``.

    Args:
        schema: it.
        keywords: those that mean something there.
        draft: its draft.
        place: where it stands.

    Raises:
        SchemaError: one has the wrong form.
    """
    forms = _forms_of(draft)
    for name, value in schema.items():
        form = forms.get(name)
        if form is not None and name in keywords and not form[0](value):
            advice = _advice(name, value, draft)
            raise SchemaError(
                f"{name} at {place or 'the root'} must be {form[1]} in {draft.title}; found {excerpt(value)}"
                + (f". {advice}" if advice else ""),
                pointer=place,
                keyword=name,
            )


def _advice(name: str, value: object, draft: Draft) -> str:
    """Return what is to be done about a value that another draft would take; empty where none would."""
    match name, value:
        case "items", list():
            return "For schemas by position write prefixItems, or name an older draft with $schema"
        case (("exclusiveMinimum" | "exclusiveMaximum"), bool()):
            return f"Write the bound itself, or name draft 4 with $schema: {Draft.DRAFT_4.uri}"
        case (("exclusiveMinimum" | "exclusiveMaximum"), int() | float() | Decimal()) if draft is Draft.DRAFT_4:
            return f"Write true beside the bound, or name a later draft with $schema: {DEFAULT_DRAFT.uri}"
        case "required", bool():
            return "Name the property in the required of the object that holds it"
        case _:
            return ""


__all__ = ["check_forms"]
