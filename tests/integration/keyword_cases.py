"""Hold a schema for each case of the table of what servers enforce, with values that it allows and that it forbids.

The names are those of ``commitgate.lint.vendor_facts``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Schema = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class KeywordCase:
    """Hold one case.

    Attributes:
        name: its name in the table.
        schema: the schema.
        right: a value that the schema allows.
        wrong: values that it forbids, each near to the allowed one.
    """

    name: str
    schema: Schema
    right: object
    wrong: Sequence[object]


def _closed(properties: Schema, **more: object) -> Schema:
    base: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {**base, "additionalProperties": False, **more}


def _v(schema: object) -> Schema:
    return _closed({"v": schema})


def _of_v(name: str, schema: object, right: object, *wrong: object) -> KeywordCase:
    return KeywordCase(name, _v(schema), {"v": right}, [{"v": value} for value in wrong])


_A = {"a": {"type": "integer"}}
_AB = {"a": {"type": "integer"}, "b": {"type": "integer"}}
_OPEN_AB: Schema = {"type": "object", "properties": _AB}
_NODE: Schema = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["n", "next"],
    "additionalProperties": False,
}

CASES: Sequence[KeywordCase] = (
    _of_v("type_list", {"type": ["integer", "null"]}, None, "x", True),
    _of_v("enum", {"enum": ["red", "green"]}, "green", "blue"),
    _of_v("enum_of_numbers", {"enum": [1, 25]}, 25, 30),
    _of_v("enum_of_structures", {"enum": [{"a": 1}, [2]]}, {"a": 1}, {"a": 3}),
    _of_v("const", {"const": "red"}, "red", "blue"),
    KeywordCase(
        "optional_property",
        {"type": "object", "properties": _AB, "required": ["b"], "additionalProperties": False},
        {"b": 2},
        [{"a": 1}],
    ),
    KeywordCase(
        "undeclared_required",
        {"type": "object", "properties": _A, "required": ["a", "b"]},
        {"a": 1, "b": 2},
        [{"a": 1}],
    ),
    KeywordCase("required_alone", {"type": "object", "required": ["a"]}, {"a": 1}, [{}, {"b": 1}]),
    KeywordCase("closed_object", _closed(_A), {"a": 1}, [{"a": 1, "b": 2}]),
    KeywordCase(
        "typed_extra_properties",
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"x": 5},
        [{"x": "five"}],
    ),
    KeywordCase("open_object", {"type": "object", "properties": _A, "required": ["a"]}, {"a": 1, "b": 2}, []),
    KeywordCase(
        "min_properties",
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2},
        {"a": 1, "b": 2},
        [{"a": 1}],
    ),
    KeywordCase(
        "max_properties",
        {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1},
        {"a": 1},
        [{"a": 1, "b": 2}],
    ),
    KeywordCase(
        "pattern_properties",
        {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
        {"yes": "no"},
        [{"x1": "one"}],
    ),
    KeywordCase(
        "pattern_beside_properties",
        {
            "type": "object",
            "properties": _A,
            "required": ["a"],
            "patternProperties": {"^x": {"type": "integer"}},
            "additionalProperties": False,
        },
        {"a": 1, "x1": 2},
        [{"a": 1, "x1": "two"}],
    ),
    KeywordCase(
        "property_names",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "additionalProperties": {"type": "integer"}},
        {"abc": 1},
        [{"ABC": 1}],
    ),
    KeywordCase(
        "names_beside_properties",
        {
            "type": "object",
            "properties": _A,
            "propertyNames": {"enum": ["a", "b"]},
            "additionalProperties": {"type": "integer"},
        },
        {"a": 1, "b": 2},
        [{"a": 1, "c": 2}],
    ),
    KeywordCase(
        "unevaluated_properties",
        {"type": "object", "properties": _A, "required": ["a"], "unevaluatedProperties": False},
        {"a": 1},
        [{"a": 1, "b": 2}],
    ),
    KeywordCase(
        "dependent_required",
        {**_OPEN_AB, "dependentRequired": {"a": ["b"]}, "additionalProperties": False},
        {"a": 1, "b": 2},
        [{"a": 1}],
    ),
    KeywordCase(
        "dependent_schemas",
        {**_OPEN_AB, "dependentSchemas": {"a": {"required": ["b"]}}, "additionalProperties": False},
        {"a": 1, "b": 2},
        [{"a": 1}],
    ),
    _of_v("min_length", {"type": "string", "minLength": 5}, "hello", "hi"),
    _of_v("max_length", {"type": "string", "maxLength": 3}, "cat", "elephant"),
    _of_v("anchored_pattern", {"type": "string", "pattern": "^[0-9]{4}$"}, "1234", "elephant"),
    _of_v("unanchored_pattern", {"type": "string", "pattern": "[0-9]{4}"}, "No. 1234", "elephant"),
    _of_v("look_around", {"type": "string", "pattern": "^(?!cat)[a-z]{3}$"}, "dog", "cat"),
    _of_v("pattern_class", {"type": "string", "pattern": r"^\d{4}$"}, "1234", "elephant"),
    _of_v("word_boundary", {"type": "string", "pattern": r"^cat\b.*$"}, "cat food", "cats"),
    _of_v("pattern_with_length", {"type": "string", "pattern": "^[a-z]*$", "maxLength": 3}, "cat", "elephant"),
    _of_v("format_date_time", {"type": "string", "format": "date-time"}, "2024-05-06T07:08:09Z", "elephant"),
    _of_v("format_date", {"type": "string", "format": "date"}, "2024-05-06", "elephant"),
    _of_v("format_email", {"type": "string", "format": "email"}, "ada@example.com", "elephant"),
    _of_v("format_uuid", {"type": "string", "format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000", "elephant"),
    _of_v("format_uri", {"type": "string", "format": "uri"}, "https://example.com/a", "elephant on a wall"),
    _of_v("format_listed", {"type": "string", "format": "ipv4"}, "192.168.1.1", "elephant"),
    _of_v("format_unknown", {"type": "string", "format": "no-such-format"}, "cat"),
    _of_v(
        "format_with_length",
        {"type": "string", "format": "email", "maxLength": 15},
        "ada@example.com",
        "adamant@example.com",
    ),
    _of_v("integer_bound", {"type": "integer", "minimum": 10}, 25, 5),
    _of_v("integer_exclusive_bound", {"type": "integer", "exclusiveMaximum": 10}, 5, 10, 25),
    _of_v("integer_two_bounds", {"type": "integer", "minimum": 5, "exclusiveMinimum": 7}, 8, 6),
    _of_v("number_minimum", {"type": "number", "minimum": 10}, 12.5, 2.5),
    _of_v("number_maximum", {"type": "number", "maximum": 10}, 2.5, 12.5),
    _of_v("number_exclusive_bound", {"type": "number", "exclusiveMaximum": 10}, 2.5, 10.0, 12.5),
    _of_v("multiple_of", {"type": "integer", "multipleOf": 5}, 25, 23),
    _of_v("min_items_one", {"type": "array", "items": {"type": "integer"}, "minItems": 1}, [1], []),
    _of_v("min_items", {"type": "array", "items": {"type": "integer"}, "minItems": 3}, [1, 2, 3], [1]),
    _of_v("max_items", {"type": "array", "items": {"type": "integer"}, "maxItems": 2}, [1, 2], [1, 2, 3]),
    _of_v("max_items_alone", {"type": "array", "maxItems": 2}, [1, 2], [1, 2, 3]),
    _of_v("unique_items", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], [1, 1]),
    _of_v("contains", {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}}, [1, 7], [1, 2]),
    _of_v(
        "prefix_items",
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2},
        [1, "x"],
        ["x", 1],
    ),
    _of_v(
        "prefix_beside_items",
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 2},
        ["x", 1],
        [1, 2],
    ),
    _of_v(
        "closed_tuple",
        {"type": "array", "prefixItems": [{"type": "integer"}], "items": False, "minItems": 1},
        [1],
        [1, 2],
    ),
    _of_v("any_of", {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, True, "x"),
    KeywordCase("root_any_of", {"anyOf": [_closed(_A), _closed({"b": {"type": "integer"}})]}, {"b": 2}, [{"c": 3}]),
    KeywordCase(
        "any_of_beside_properties",
        {"type": "object", "properties": _AB, "required": ["b"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"b": 2},
        [{"a": 1}, {"b": "x"}],
    ),
    _of_v("one_of", {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, True, "x"),
    _of_v("one_of_overlapping", {"oneOf": [{"type": "integer"}, {"type": "number"}]}, 2.5, 5),
    _of_v("all_of_one", {"allOf": [{"type": "integer"}]}, 5, "x"),
    _of_v("all_of_many", {"allOf": [{"enum": ["red", "green"]}, {"enum": ["green", "blue"]}]}, "green", "red"),
    _of_v("not", {"enum": ["red", "green"], "not": {"const": "red"}}, "green", "red"),
    KeywordCase(
        "if_then_else",
        _closed(
            {"a": {"enum": [1, 2]}, "b": {"enum": [1, 2]}},
            **{"if": {"properties": {"a": {"const": 1}}}, "then": {"properties": {"b": {"const": 1}}}},
        ),
        {"a": 2, "b": 2},
        [{"a": 1, "b": 2}],
    ),
    KeywordCase(
        "reference", {**_v({"$ref": "#/$defs/s"}), "$defs": {"s": {"type": "integer"}}}, {"v": 5}, [{"v": "x"}]
    ),
    KeywordCase(
        "reference_with_siblings",
        {**_v({"$ref": "#/$defs/s", "maxLength": 3}), "$defs": {"s": {"type": "string"}}},
        {"v": "cat"},
        [{"v": "elephant"}],
    ),
    KeywordCase(
        "recursive_reference",
        {"$ref": "#/$defs/node", "$defs": {"node": _NODE}},
        {"n": 1, "next": {"n": 2, "next": None}},
        [{"n": 1, "next": {"n": "x", "next": None}}],
    ),
    KeywordCase("remote_reference", _v({"$ref": "https://schemas.invalid/s"}), {"v": 5}, []),
    KeywordCase(
        "anchor_reference",
        {**_v({"$ref": "#s"}), "$defs": {"s": {"$anchor": "s", "type": "integer"}}},
        {"v": 5},
        [{"v": "x"}],
    ),
    KeywordCase(
        "false_schema", {"type": "object", "properties": {"a": False, "b": {"type": "integer"}}}, {"b": 2}, [{"a": 1}]
    ),
    KeywordCase(
        "untyped_object", {"properties": _A, "required": ["a"], "additionalProperties": False}, {"a": 1}, [{"b": 1}]
    ),
    _of_v("untyped_length", {"minLength": 5}, "hello", "hi"),
    _of_v("untyped_bound", {"minimum": 10}, 25, 5),
    KeywordCase("root_array", {"type": "array", "items": {"type": "integer"}}, [1, 2], ["x"]),
    KeywordCase("root_scalar", {"type": "integer"}, 25, ["x"]),
    _of_v("unknown_word", {"type": "integer", "x-unit": "cm"}, 25),
    _of_v("empty_schema", {}, "cat"),
    _of_v("default", {"type": "integer", "default": 3}, 25),
)
