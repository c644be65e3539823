"""Schemas that use the keywords of the automaton, shared by the tests that sample from them."""

from __future__ import annotations

from commitgate.json_value import JsonValue

TEN: dict[str, bool | dict[str, JsonValue]] = {
    "ticket": {
        "type": "object",
        "title": "Ticket",
        "properties": {
            "id": {"type": ["string", "null"], "maxLength": 12},
            "priority": {"enum": ["low", "normal", "high"]},
            "evidence": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 8}, "maxItems": 4},
            "summary": {"type": "string", "maxLength": 80, "description": "one sentence"},
        },
        "required": ["id", "priority", "evidence", "summary"],
        "additionalProperties": False,
    },
    "tree": {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
                },
                "required": ["value", "children"],
                "additionalProperties": False,
            }
        },
        "$ref": "#/$defs/node",
    },
    "linked list": {
        "type": "object",
        "properties": {"head": {"type": "number"}, "tail": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["head", "tail"],
        "additionalProperties": False,
    },
    "row": {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "boolean"}, {"const": 'é😀\n"'}],
        "items": {"type": "number"},
        "minItems": 3,
        "maxItems": 6,
    },
    "dictionary": {"type": "object", "additionalProperties": {"type": "integer"}},
    "open object": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string", "maxLength": 3}, "c": {"type": "null"}},
        "required": ["b", "z"],
        "additionalProperties": {"type": ["boolean", "string"], "maxLength": 5},
    },
    "constants": {"enum": [1, 2.5, -3, 1e20, 0, "a", "ab", "b\\", None, True, {"k": [1, {"m": "x"}]}, [], [[]]]},
    "branches": {
        "anyOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"],
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "dog"}, "name": {"type": "string", "maxLength": 6}},
                "required": ["kind"],
            },
            {"type": "string", "minLength": 2, "maxLength": 4},
            {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        ],
        "minLength": 3,
    },
    "siblings of a reference": {
        "$defs": {
            "base": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "y": {"type": ["integer", "string"]}},
                "required": ["x"],
            }
        },
        "$ref": "#/$defs/base",
        "properties": {"x": {"type": "integer"}, "y": {"minLength": 2, "maxLength": 4}},
        "required": ["y"],
    },
    "optional keys": {
        "type": "object",
        "properties": {name: {"type": ["boolean", "null", "integer"]} for name in ("p", "q", "pq", "é", "r s", 't"')},
        "required": ["q"],
        "additionalProperties": False,
    },
}

MORE: dict[str, dict[str, JsonValue]] = {
    "patterns": {
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,3}$"},
            "free": {"type": "string", "pattern": "x", "minLength": 2, "maxLength": 4},
        },
        "required": ["code"],
        "additionalProperties": False,
    },
    "number ranges": {
        "type": "array",
        "items": {
            "anyOf": [
                {"type": "integer", "minimum": -12, "maximum": 104},
                {"type": "number", "exclusiveMinimum": 0.25, "exclusiveMaximum": 0.5},
            ]
        },
        "minItems": 1,
        "maxItems": 4,
    },
    "multiples": {
        "type": "array",
        "prefixItems": [{"type": "integer", "multipleOf": 7}, {"multipleOf": 0.25, "minimum": -2, "type": "number"}],
        "items": {"type": "integer", "not": {"multipleOf": 2}, "minimum": 0},
        "minItems": 2,
        "maxItems": 4,
    },
    "contains": {
        "type": "array",
        "items": {"enum": ["x", "y", 1]},
        "contains": {"const": "x"},
        "minContains": 1,
        "maxContains": 2,
        "minItems": 2,
        "maxItems": 5,
    },
    "distinct items": {
        "type": "array",
        "items": {"enum": ["red", "green", "blue", 1, True]},
        "uniqueItems": True,
        "minItems": 3,
    },
    "dependent keys": {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0, "maximum": 9} for name in ("a", "b", "c", "d")},
        "dependentRequired": {"a": ["c"], "c": ["d"], "b": ["a"]},
        "minProperties": 1,
        "additionalProperties": False,
    },
    "one of": {
        "oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer", "minimum": 1, "maximum": 9}},
                "required": ["kind", "lives"],
            },
            {
                "type": "object",
                "properties": {"kind": {"const": "dog"}, "tail": {"type": "boolean"}},
                "required": ["kind"],
                "additionalProperties": False,
            },
            {"type": "integer", "minimum": 0},
            {"type": "integer", "maximum": 10},
        ]
    },
    "numbers of keys": {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in ("a", "b", "c", "d", "e")},
        "minProperties": 2,
        "maxProperties": 3,
        "required": ["d"],
        "additionalProperties": False,
    },
    "names of keys": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-c]{1,2}$"},
        "additionalProperties": {"type": "null"},
        "minProperties": 1,
        "maxProperties": 3,
    },
    "patterns of keys": {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}, "_s$": {"enum": ["s", 1]}},
        "additionalProperties": False,
        "maxProperties": 3,
    },
    "conditions": {
        "type": "object",
        "properties": {"t": {"enum": ["num", "str"]}, "v": {"type": ["integer", "boolean", "string"], "maxLength": 3}},
        "required": ["t", "v"],
        "additionalProperties": False,
        "if": {"properties": {"t": {"const": "num"}}},
        "then": {"properties": {"v": {"type": "integer"}}},
        "else": {"properties": {"v": {"type": "string"}}},
    },
    "unevaluated keys": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}},
        "anyOf": [
            {"properties": {"b": {"type": "null"}}, "required": ["b"]},
            {"properties": {"c": {"type": "null"}}, "required": ["c"]},
        ],
        "unevaluatedProperties": False,
    },
}
"""Schemas of the keywords that ``TEN`` lacks."""

FORMATS: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        name: {"type": "string", "format": name, "maxLength": 40}
        for name in ("date", "time", "date-time", "email", "ipv4", "ipv6", "uuid", "uri", "hostname", "json-pointer")
    },
    "minProperties": 2,
    "maxProperties": 4,
    "additionalProperties": False,
}

SCHEMAS: dict[str, bool | dict[str, JsonValue]] = {**TEN, **MORE}
"""All of them but ``FORMATS``, which the other implementation in the tests does not judge."""
