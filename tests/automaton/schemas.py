"""Ten schemas that use every keyword the automaton decodes, shared by the tests that sample from them."""

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
