"""List contracts under which several values are legal, each with a prompt that asks for an illegal one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.languages import Choices, Edge, Grammar, Machine, Regex, TextSource


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordCase:
    """Hold a schema and a prompt that leads out of it.

    Attributes:
        name: what it is called in reports.
        about: what is odd about it.
        schema: the schema.
        prompt: what is asked for.
        max_tokens: of the answer.
    """

    name: str
    about: str
    schema: JsonSchema = field(repr=False)
    prompt: str = field(repr=False)
    max_tokens: int = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCase:
    """Hold a text language.

    Attributes:
        name: what it is called in reports.
        about: what is odd about it.
        source: the language.
        is_right: knows its texts by other means.
        max_tokens: of the answer.
    """

    name: str
    about: str
    source: TextSource = field(repr=False)
    is_right: Callable[[str], bool] = field(repr=False)
    max_tokens: int = 64


def _object(properties: Mapping[str, JsonValue]) -> JsonObject:
    closed: JsonObject = {"type": "object", "required": list(properties), "additionalProperties": False}
    return {**closed, "properties": dict(properties)}


_BIT: JsonObject = {"enum": [0, 1]}
_TEXT: JsonObject = {"type": "string"}
_WORD: JsonObject = {"enum": ["alpha", "beta", "gamma"]}
_MANY: list[JsonValue] = [f"item number {number:04}" for number in range(4_000)]
_PREFIXES: list[JsonValue] = ["a" * length for length in range(1, 13)]
_MIXED: list[JsonValue] = [1, "1", True, "true", None, "null", 1.5, [1], {"a": 1}, ""]
_FORKED: JsonObject = {
    "$ref": "#/$defs/t",
    "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "minItems": 0, "maxItems": 2}},
}

_PAIR: JsonObject = {"type": "array", "items": _BIT, "minItems": 2, "maxItems": 2}
_OVERLAP: JsonObject = {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 9}]}
_EITHER: JsonObject = {
    **_object({"kind": {"enum": ["a", "b"]}, "n": {"enum": [1, 2]}}),
    "if": {"properties": {"kind": {"const": "a"}}},
    "then": {"properties": {"n": {"const": 1}}},
}
_NEEDS: JsonObject = {
    "type": "object",
    "properties": {"a": {"const": 1}, "b": {"const": 2}},
    "required": ["a"],
    "additionalProperties": False,
    "dependentRequired": {"a": ["b"]},
}
_PATTERNED: JsonObject = {
    "type": "object",
    "patternProperties": {"^n_[a-z]$": {"type": "integer", "minimum": 0, "maximum": 9}},
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 2,
}
_NAMED: JsonObject = {
    "type": "object",
    "propertyNames": {"enum": ["left", "right"]},
    "additionalProperties": _BIT,
    "minProperties": 1,
}
_UNEVALUATED: JsonObject = {
    "allOf": [{"type": "object", "properties": {"a": _BIT}, "required": ["a"]}],
    "properties": {"b": _BIT},
    "required": ["b"],
    "unevaluatedProperties": False,
}
_BOTH: JsonObject = {"allOf": [{"enum": ["alpha", "beta"]}, {"enum": ["beta", "gamma"]}]}
_ANNOTATED: JsonObject = _object(
    {"v": {**_WORD, "x-secret": {"type": "null"}, "contentEncoding": "base64", "maxlength": 1, "deprecated": True}}
)

_CASES: Sequence[tuple[str, str, JsonSchema, str]] = (
    ("enum_of_thousands", "one of 4,000 texts", {"enum": _MANY}, "Choose item number 2025."),
    ("enum_of_prefixes", "texts that begin each other", _object({"v": {"enum": _PREFIXES}}), "Say aaaaaaaaaaaaaaaaa."),
    ("enum_of_all_types", "alike in writing, of other types", _object({"v": {"enum": _MIXED}}), "Say 2."),
    ("unique_items", "items that must differ", _object({"d": {**_PAIR, "uniqueItems": True}}), 'Say {"d": [0, 0]}'),
    (
        "contains",
        "an item that must be there",
        _object({"d": {**_PAIR, "contains": {"const": 1}}}),
        'Say {"d": [0, 0]}',
    ),
    ("not", "a word that must not come", _object({"w": {**_WORD, "not": {"const": "alpha"}}}), "Say alpha."),
    ("all_of", "what two lists have in common", _object({"w": _BOTH}), "Say alpha."),
    ("one_of_overlap", "exactly one of two that overlap", _object({"v": _OVERLAP}), "Say 5."),
    ("if_then", "a field that hangs on another", _EITHER, 'Answer {"kind": "a", "n": 2}'),
    ("dependent_required", "a key that needs another", _NEEDS, 'Answer {"a": 1}'),
    ("pattern_properties", "keys by a pattern", _PATTERNED, 'Answer {"x": 10}'),
    ("property_names", "keys by their names", _NAMED, 'Answer {"up": 1}'),
    ("unevaluated", "no key that nothing names", _UNEVALUATED, 'Answer {"a": 1, "b": 0, "c": 1}'),
    ("unknown_words", "words that constrain nothing", _ANNOTATED, "Say delta."),
    ("pattern", "a text by a pattern", _object({"p": {**_TEXT, "pattern": "^[A-Z]{2}-[0-9]{3}$"}}), "Say pu-104."),
    ("look_ahead", "a pattern that looks ahead", _object({"p": {"pattern": "^(?=.*7)[0-9]{3}$", **_TEXT}}), "Say 123."),
    (
        "unanchored",
        "a pattern anywhere in a text",
        _object({"p": {"pattern": "[0-9]", "maxLength": 5, **_TEXT}}),
        "Say ab.",
    ),
    (
        "code_points",
        "a length in characters",
        _object({"p": {**_TEXT, "minLength": 2, "maxLength": 2}}),
        "Say 👩‍🚀👩‍🚀👩‍🚀.",
    ),
    ("date", "a date that exists", _object({"day": {**_TEXT, "format": "date"}}), "Say 2026-02-30."),
    ("address", "an address of a machine", _object({"ip": {**_TEXT, "format": "ipv4"}}), "Say 300.1.1.1."),
    ("forked", "arrays of themselves", _FORKED, "Answer [[],[[]],[]]"),
)

_NESTED_REPEATS = r"(a|aa){1,6}b"
_TEXTS: Sequence[TextCase] = (
    TextCase(
        name="choices_of_prefixes",
        about="choices that begin each other",
        source=Choices(("yes", "yes, but", "y", "no")),
        is_right=lambda text: text in ("yes", "yes, but", "y", "no"),
    ),
    TextCase(
        name="choices_of_odd_texts",
        about="choices with quotes, line ends and emoji",
        source=Choices(('"', "a\nb", "🦀", "</s>")),
        is_right=lambda text: text in ('"', "a\nb", "🦀", "</s>"),
    ),
    TextCase(
        name="nested_repeats",
        about="a pattern that others need exponential time for",
        source=Regex(_NESTED_REPEATS),
        is_right=lambda text: re.fullmatch(_NESTED_REPEATS, text) is not None,
    ),
    TextCase(
        name="brackets",
        about="a grammar within itself",
        source=Grammar('root ::= "(" inner? ")"\ninner ::= "[" [0-9] "]" | "(" [0-9] ")"'),
        is_right=lambda text: re.fullmatch(r"\((\[\d\]|\(\d\))?\)", text) is not None,
    ),
    TextCase(
        name="machine",
        about="a state machine's walk",
        source=Machine(
            start="shut",
            accepting=["open"],
            edges=[Edge("shut", "unlock ", "ready"), Edge("ready", "push", "open"), Edge("ready", "pull", "open")],
        ),
        is_right=lambda text: text in ("unlock push", "unlock pull"),
    ),
)


def keyword_cases() -> Iterator[KeywordCase]:
    """Yield all schemas."""
    for name, about, schema, prompt in _CASES:
        yield KeywordCase(name=name, about=about, schema=schema, prompt=prompt)


def text_cases() -> Sequence[TextCase]:
    """Return all text languages."""
    return _TEXTS


__all__ = ["KeywordCase", "TextCase", "keyword_cases", "text_cases"]
