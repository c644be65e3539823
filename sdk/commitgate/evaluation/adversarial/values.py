"""List the values that every backend must be able to write when nothing else is legal, and how each is forced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from commitgate.json_value import JsonObject, JsonSchema, JsonValue

Way: TypeAlias = Literal["const", "enum", "spelled", "field"]
"""``const`` and ``enum``: by one keyword at the root. ``spelled``: part by part, each key and item by keywords of its
own. ``field``: as the one field of an object."""

NESTING = 64
"""How deep a value may nest by the default limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedValue:
    """Hold a value that is the only legal one.

    Attributes:
        name: what it is called in reports.
        about: what is odd about it.
        value: it.
        way: how it is forced.
        max_tokens: of the answer.
    """

    name: str
    about: str
    value: JsonValue = field(repr=False)
    way: Way = "const"
    max_tokens: int = 160

    @property
    def schema(self) -> JsonSchema:
        """Return a schema under which it alone is valid."""
        match self.way:
            case "const":
                return {"const": self.value}
            case "enum":
                return {"enum": [self.value]}
            case "spelled":
                return spelled(self.value)
            case "field":
                return spelled({"text": self.value})

    @property
    def expected(self) -> JsonValue:
        """Return what must be committed."""
        return {"text": self.value} if self.way == "field" else self.value


def spelled(value: JsonValue) -> JsonObject:
    """Return a schema that says a value part by part."""
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {key: spelled(item) for key, item in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        items: list[JsonValue] = [spelled(item) for item in value]
        bounds: JsonObject = {"minItems": len(value), "maxItems": len(value)}
        return {"type": "array", "prefixItems": items, "items": False, **bounds} if items else {"maxItems": 0, **_ARRAY}
    return {"const": value}


def nested(depth: int, *, keyed: bool = False) -> JsonValue:
    """Return arrays, or objects, within one another."""
    value: JsonValue = {} if keyed else []
    for _ in range(depth - 1):
        value = {"a": value} if keyed else [value]
    return value


_ARRAY: JsonObject = {"type": "array"}
_ORDER: JsonValue = {
    "customer": {"name": "Ada", "vip": True},
    "lines": [{"sku": "PU-104", "quantity": 2}, {"sku": "PU-105", "quantity": 1}],
    "note": None,
    "total": 119.9,
}
_WORDS = " ".join(["The quick brown fox jumps over the lazy dog."] * 24)

_SIZES: Sequence[tuple[str, str, JsonValue, Way, int]] = (
    ("null", "the value null", None, "const", 16),
    ("false", "the value false", False, "enum", 16),
    ("empty_text", "a text without a character", "", "const", 16),
    ("empty_object", "an object without a key", {}, "const", 16),
    ("empty_object_spelled", "an object that may have no key", {}, "spelled", 16),
    ("empty_array", "an array without an item", [], "const", 16),
    ("empty_array_spelled", "an array that may have no item", [], "spelled", 16),
    ("empty_key", "a key without a character", {"": 0}, "spelled", 24),
    ("nested_empties", "empty values within each other", [[], {}, [[]], [{}], "", {"a": {}}], "const", 48),
    ("order", "a usual object", _ORDER, "const", 160),
    ("order_spelled", "a usual object, key by key", _ORDER, "spelled", 200),
    ("long_array", "an array of 100 items", list[JsonValue]([0] * 100), "const", 600),
    ("many_keys", "an object of 24 keys", {f"k{number:02}": number for number in range(24)}, "spelled", 480),
    ("long_text", "a text of 1,000 characters and more", _WORDS, "field", 640),
    ("nested_arrays", "arrays nested as deep as they may", nested(NESTING), "const", 200),
    ("nested_objects", "objects nested as deep as they may", nested(NESTING, keyed=True), "const", 700),
    ("nested_spelled", "arrays nested 24 deep, level by level", nested(24), "spelled", 120),
)

_TEXTS: Mapping[str, tuple[str, str]] = {
    "letters": ("letters with marks", "söß ÅÄ ñ"),
    "cjk": ("Chinese, Japanese and Korean", "日本語 中文 한국어"),
    "emoji": ("emoji joined to one", "🦀 👩\u200d👩\u200d👧"),
    "surrogate_pairs": ("characters that JSON escapes as two", "\U0001d11e\U0001f980"),
    "combining": ("the same letter in two spellings", "e\u0301 \u00e9 A\u030a \u00c5"),
    "right_to_left": ("writing from right to left, with an override", "שלום \u202eabc\u202c"),
    "controls": ("characters that must be escaped", "\u0000\u0001\u0008\u000c\u001f"),
    "high_controls": ("control characters that need no escape", "\u007f\u0080\u009f"),
    "line_ends": ("every sort of end of a line", "a\r\nb\tc\u2028d\u2029e\u0085f"),
    "quotes": ("quotes and backslashes", '"\\" \\\\ \\u0041 \\n'),
    "markup": ("ends of scripts and comments", "</script><!-- ]]> &amp;"),
    "json_inside": ("JSON within a text", '{"a": [1, "b"], "c": null}'),
    "closing": ("what would close the object", '"}], "admin": true, "x": [{"y": "'),
    "placeholders": ("placeholders of templates", "%s {x} {{y}} ${z} #{w}"),
    "special_tokens": ("marks by which models are steered", "<|im_end|><|endoftext|></s>[INST]"),
    "byte_order_mark": ("marks of byte order", "\ufeffa\ufeff"),
    "noncharacters": ("code points that are no characters", "\ufffe\uffff\U0010ffff"),
    "private_use": ("characters without a meaning", "\ue000\U000f0000"),
    "unassigned_plane": ("a plane that nobody uses", "\U00040000"),
    "invisible": ("characters that show nothing", "a\u200b\u2060\u00ad\U000e0041b"),
    "spaces": ("spaces alone", "   "),
    "terminal": ("orders to a terminal", "\u001b[31mred\u001b[0m \u001b]0;t\u0007"),
    "replacement": ("the sign for what cannot be read", "\ufffd?"),
}

_KEYS: JsonValue = {
    "söß": 1,
    'a"b\\': 2,
    "\u2028": 3,
    "a/b~c": 4,
    "__proto__": 5,
    "$ref": 6,
    " ": 7,
    "\u0000": 8,
}


def _node(value: JsonObject, inner: str) -> JsonObject:
    """Return a schema of an object whose last key holds such an object again, or null."""
    below: JsonObject = {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
    properties: JsonObject = {**value, inner: below}
    closed: JsonObject = {"type": "object", "required": list(properties), "additionalProperties": False}
    return {**closed, "properties": properties}


_CHAIN: JsonValue = {"n": 1, "below": {"n": 0, "below": {"n": 1, "below": None}}}
_TREE: JsonObject = {
    "$defs": {"node": _node({"n": {"enum": [0, 1]}}, "below")},
    "allOf": [{"$ref": "#/$defs/node"}, {"const": _CHAIN}],
}
_ALTERNATING: JsonObject = {
    "$defs": {
        "a": {"type": "array", "items": {"$ref": "#/$defs/b"}},
        "b": {"type": "object", "additionalProperties": {"$ref": "#/$defs/a"}},
    },
    "allOf": [{"$ref": "#/$defs/a"}, {"const": [{"x": [{"y": []}]}, {}]}],
}

_NUMBERS: Sequence[tuple[str, str, JsonSchema, JsonValue]] = (
    ("zero", "zero", {"const": 0}, 0),
    ("negative", "a negative number", {"const": -17}, -17),
    ("beyond_double", "a whole number that no double can hold", {"const": 2**53 + 1}, 2**53 + 1),
    ("thirty_digits", "a whole number of 30 digits", {"const": 10**30 - 7}, 10**30 - 7),
    ("tenth", "a number that no double holds exactly", {"const": 0.1}, 0.1),
    ("small", "a number with zeros behind the point", {"const": 1e-7}, 1e-7),
    ("huge", "a number near the end of doubles", {"const": 1e300}, 1e300),
    (
        "decimals",
        "more digits than a double has",
        {"const": Decimal("0.12345678901234567890123")},
        Decimal("0.12345678901234567890123"),
    ),
    ("whole_by_bounds", "forced by its bounds", {"type": "integer", "minimum": 2**40, "maximum": 2**40}, 2**40),
    ("open_bounds", "forced by open bounds", {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 6}, 5),
    ("multiple", "forced by a multiple", {"type": "integer", "multipleOf": 7, "minimum": 50, "maximum": 60}, 56),
    (
        "fraction",
        "forced by a fraction's multiple",
        {"type": "number", "multipleOf": 0.01, "minimum": 0.065, "maximum": 0.075},
        0.07,
    ),
)


def forced_values() -> Iterator[ForcedValue]:
    """Yield all values that are forced by their own schema."""
    for name, about, value, way, max_tokens in _SIZES:
        yield ForcedValue(name=name, about=about, value=value, way=way, max_tokens=max_tokens)
    for name, (about, text) in _TEXTS.items():
        yield ForcedValue(name=f"text_{name}", about=about, value=text, way="field")
    yield ForcedValue(name="keys", about="keys of odd characters", value=_KEYS, way="spelled", max_tokens=240)
    yield ForcedValue(name="keys_const", about="the same keys by one keyword", value=_KEYS, max_tokens=240)


def forced_by_schema() -> Iterator[tuple[str, str, JsonSchema, JsonValue]]:
    """Yield names, words, schemas and values of what is forced in a way of its own: numbers, and recursive schemas."""
    yield from ((f"number_{name}", about, schema, value) for name, about, schema, value in _NUMBERS)
    yield "tree", "an object within itself", _TREE, _CHAIN
    yield "alternating", "arrays and objects that lead to each other", _ALTERNATING, [{"x": [{"y": []}]}, {}]


__all__ = ["NESTING", "ForcedValue", "forced_by_schema", "forced_values", "nested", "spelled"]
