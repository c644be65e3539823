"""Find the cases of the vendors' table that stand in a schema, place by place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from commitgate.automaton.formats import FORMATS
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind, keywords_of
from commitgate.json_value import JsonObject, JsonValue
from commitgate.lint.places import Depths, branches_of, properties_of, target_of, texts_of, types_of
from commitgate.lint.shape_advice import discriminated

Case: TypeAlias = "tuple[str, str, str]"
"""The case's short name, the place, and the keyword."""

_PLAIN: dict[str, str] = {
    "const": "const",
    "minProperties": "min_properties",
    "maxProperties": "max_properties",
    "unevaluatedProperties": "unevaluated_properties",
    "unevaluatedItems": "unevaluated_items",
    "contentSchema": "content_schema",
    "$dynamicRef": "dynamic_reference",
    "$recursiveRef": "dynamic_reference",
    "propertyOrdering": "property_ordering",
    "dependentRequired": "dependent_required",
    "dependentSchemas": "dependent_schemas",
    "minLength": "min_length",
    "maxLength": "max_length",
    "multipleOf": "multiple_of",
    "maxItems": "max_items",
    "contains": "contains",
    "anyOf": "any_of",
    "not": "not",
    "if": "if_then_else",
    "default": "default",
}
_FORMAT_CASES = {
    "date-time": "format_date_time",
    "date": "format_date",
    "time": "format_date",
    "email": "format_email",
    "uuid": "format_uuid",
    "uri": "format_uri",
    "duration": "format_listed",
    "hostname": "format_listed",
    "ipv4": "format_listed",
    "ipv6": "format_listed",
}
_LENGTHS = frozenset({"minLength", "maxLength"})
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_MARKS = frozenset({"title", "description", "$comment", "deprecated", "examples"})
_LOOK = re.compile(r"\(\?<?[=!]")
_CLASS = re.compile(r"(?<!\\)(?:\\\\)*\\[dDwWsS]")
_BOUNDARY = re.compile(r"(?<!\\)(?:\\\\)*\\[bB]")


def cases_of(document: SchemaDocument, depths: Depths) -> Iterator[Case]:
    """Yield each case that stands in a schema.

    Args:
        document: the schema.
        depths: which of its places refer back to where they stand.
    """
    yield from _of_root(document)
    for place, schema in document.schemas.items():
        if isinstance(schema, bool):
            if not schema and place.rpartition("/")[0].endswith("/properties"):
                yield "false_schema", place, "properties"
            continue
        yield from _of_values(place, schema)
        yield from _of_texts(place, schema)
        yield from _of_numbers(place, schema)
        yield from _of_arrays(place, schema)
        yield from _of_objects(document, place, schema)
        yield from _of_branches(document, place, schema)
        yield from _of_references(document, place, schema)
        yield from (("unknown_word", place, word) for word in schema if _is_unknown(word))
    yield from (("recursive_reference", place, "$ref") for place in depths.recursive)


def _is_unknown(word: str) -> bool:
    return word not in KEYWORDS and word not in _PLAIN and word[:2] != "x-"


def _of_root(document: SchemaDocument) -> Iterator[Case]:
    root = document.root
    if not isinstance(root, dict) or not document.constraining(""):
        yield "empty_schema", "", ""
        return
    types = types_of(root)
    if "array" in types:
        yield "root_array", "", "type"
    elif types and "object" not in types:
        yield "root_scalar", "", "type"
    elif "object" in types and not root.get("properties"):
        yield "root_without_properties", "", "properties"
    if "anyOf" in root:
        yield "root_any_of", "", "anyOf"
    if "$ref" in root:
        yield "root_reference", "", "$ref"


def _of_values(place: str, schema: JsonObject) -> Iterator[Case]:
    for keyword, case in _PLAIN.items():
        if keyword in schema:
            yield case, place, keyword
    if isinstance(schema.get("type"), list):
        yield "type_list", place, "type"
    values = schema.get("enum")
    if isinstance(values, list):
        if any(isinstance(value, dict | list) for value in values):
            yield "enum_of_structures", place, "enum"
        elif any(not isinstance(value, str) for value in values):
            yield "enum_of_numbers", place, "enum"
        else:
            yield "enum", place, "enum"
    if schema.get("uniqueItems") is True:
        yield "unique_items", place, "uniqueItems"


def _of_texts(place: str, schema: JsonObject) -> Iterator[Case]:
    pattern, named = schema.get("pattern"), schema.get("format")
    has_length = bool(_LENGTHS & schema.keys())
    if has_length and "type" not in schema:
        yield "untyped_length", place, next(word for word in schema if word in _LENGTHS)
    if isinstance(pattern, str):
        yield from ((case, place, "pattern") for case in pattern_cases(pattern))
        if has_length:
            yield "pattern_with_length", place, "pattern"
    if isinstance(named, str):
        other = "format_other" if named in FORMATS else "format_unknown"
        yield _FORMAT_CASES.get(named, other), place, "format"
        if has_length:
            yield "format_with_length", place, "format"


def pattern_cases(pattern: str) -> Iterator[str]:
    """Yield the short name of each case that stands in a pattern."""
    is_bound = pattern.startswith("^") and pattern.endswith("$") and not pattern.endswith("\\$")
    yield "anchored_pattern" if is_bound else "unanchored_pattern"
    if _LOOK.search(pattern):
        yield "look_around"
    if _CLASS.search(pattern):
        yield "pattern_class"
    if _BOUNDARY.search(pattern):
        yield "word_boundary"


def _of_numbers(place: str, schema: JsonObject) -> Iterator[Case]:
    used = [word for word in schema if word in _BOUNDS]
    if not used:
        return
    if "type" not in schema:
        yield "untyped_bound", place, used[0]
    elif "integer" in types_of(schema):
        for word in used:
            yield ("integer_exclusive_bound" if word.startswith("exclusive") else "integer_bound"), place, word
        for plain, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if plain in schema and exclusive in schema:
                yield "integer_two_bounds", place, exclusive
    else:
        for word in used:
            if word.startswith("exclusive"):
                yield "number_exclusive_bound", place, word
                continue
            yield ("number_maximum" if word.endswith("aximum") else "number_minimum"), place, word


def _of_arrays(place: str, schema: JsonObject) -> Iterator[Case]:
    least, items = schema.get("minItems"), schema.get("items")
    if isinstance(least, int):
        yield ("min_items" if least > 1 else "min_items_one"), place, "minItems"
    is_tuple = "prefixItems" in schema or isinstance(items, list)
    if is_tuple:
        further = schema.get("items") if "prefixItems" in schema else schema.get("additionalItems")
        keyword = "prefixItems" if "prefixItems" in schema else "items"
        is_more = further is not None and further is not False
        yield ("prefix_beside_items" if is_more else "prefix_items"), place, keyword
    elif types_of(schema) == {"array"} and "items" not in schema:
        yield ("max_items_alone" if "maxItems" in schema else "array_without_items"), place, "items"
    if items is False or schema.get("additionalItems") is False:
        yield "closed_tuple", place, "items"


def _of_objects(document: SchemaDocument, place: str, schema: JsonObject) -> Iterator[Case]:
    has_properties = bool(schema.get("properties"))
    if has_properties and "type" not in schema:
        yield "untyped_object", place, "properties"
    declared = {each.name: each for each in properties_of(document, place, schema)}
    if any(name not in declared for name in texts_of(schema.get("required"))):
        yield ("undeclared_required" if has_properties else "required_alone"), place, "required"
    for each in declared.values():
        if not each.is_required:
            yield "optional_property", each.pointer, "required"
    if "patternProperties" in schema:
        yield ("pattern_beside_properties" if has_properties else "pattern_properties"), place, "patternProperties"
    if "propertyNames" in schema:
        yield ("names_beside_properties" if has_properties else "property_names"), place, "propertyNames"
    yield from _of_extras(place, schema, has_properties=has_properties)
    dependencies = schema.get("dependencies")
    for value in dependencies.values() if isinstance(dependencies, dict) else ():
        yield ("dependent_required" if isinstance(value, list) else "dependent_schemas"), place, "dependencies"


def _of_extras(place: str, schema: JsonObject, *, has_properties: bool) -> Iterator[Case]:
    extras: JsonValue = schema.get("additionalProperties")
    if extras is False:
        yield "closed_object", place, "additionalProperties"
    elif "additionalProperties" in schema:
        yield "typed_extra_properties", place, "additionalProperties"
    elif has_properties or "object" in types_of(schema):
        yield "open_object", place, "additionalProperties"


def _of_branches(document: SchemaDocument, place: str, schema: JsonObject) -> Iterator[Case]:
    if "anyOf" in schema and "properties" in schema:
        yield "any_of_beside_properties", place, "anyOf"
    if "oneOf" in schema:
        places = [branch for keyword, branch in branches_of(schema, place) if keyword == "oneOf"]
        yield ("one_of" if discriminated(document, places) else "one_of_overlapping"), place, "oneOf"
    parts = schema.get("allOf")
    if isinstance(parts, list):
        yield ("all_of_one" if len(parts) == 1 else "all_of_many"), place, "allOf"
        if any(isinstance(part, dict) and "$ref" in part for part in parts):
            yield "all_of_reference", place, "allOf"


def _of_references(document: SchemaDocument, place: str, schema: JsonObject) -> Iterator[Case]:
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return
    yield "reference", place, "$ref"
    target = target_of(document, place)
    if target is not None and target.partition("#")[0] != place.partition("#")[0] and "#" in target:
        yield "remote_reference", place, "$ref"
    if not reference.startswith(("#/", "http")) and reference != "#":
        yield "anchor_reference", place, "$ref"
    known = keywords_of(document.draft_at(place))
    beside = [word for word in schema if word != "$ref" and word in known]
    if any(known[word].kind is Kind.ASSERTION for word in beside):
        yield "reference_with_siblings", place, "$ref"
    elif any(word in _MARKS for word in beside):
        yield "described_reference", place, "$ref"


__all__ = ["Case", "cases_of", "pattern_cases"]
