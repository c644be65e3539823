"""Ask real servers questions of every kind of contract; each knows, without this project, which values are right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import jsonschema

from commitgate import Choices, Contract, Grammar, Regex

Kind: TypeAlias = Literal["schema", "regex", "choices", "grammar"]
Schema: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Hold one question.

    Attributes:
        name: what it is called in results.
        kind: what its contract is made of.
        contract: what the answer must satisfy.
        prompt: what the model is asked.
        most_tokens: of the answer.
        is_right: judges a committed value by other means than the contract's.
    """

    name: str
    kind: Kind
    contract: Contract[object]
    prompt: str
    most_tokens: int
    is_right: Callable[[object], bool]


def questions() -> tuple[Question, ...]:
    """Return them all; what they ask stays as it is from run to run."""
    return (*_schemas(), *_patterns(), *_choices(), *_grammars())


def _object(properties: Schema, **more: object) -> Schema:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False, **more}


_WORD = {"enum": ["alpha", "beta", "gamma", "delta"]}
_TREE: Schema = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"n": {"enum": [1, 2, 3]}, "below": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["n", "below"],
            "additionalProperties": False,
        }
    },
}
_ORDER: Schema = _object(
    {
        "customer": _object({"name": {"type": "string", "maxLength": 12}, "vip": {"type": "boolean"}}),
        "lines": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": _object(
                {
                    "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
                    "quantity": {"type": "integer", "minimum": 1, "maximum": 5},
                }
            ),
        },
        "pay": {
            "anyOf": [
                _object({"by": {"const": "card"}, "last": {"type": "string", "pattern": "^[0-9]{4}$"}}),
                _object({"by": {"const": "cash"}}),
            ]
        },
    }
)

# Name, schema, prompt, most tokens. The second group is of keywords that at least one of the servers does not enforce.
_ENFORCED: Sequence[tuple[str, Schema, str, int]] = (
    (
        "ticket",
        _object(
            {
                "priority": {"enum": ["low", "normal", "high"]},
                "urgent": {"type": "boolean"},
                "summary": {"type": "string", "maxLength": 20},
            }
        ),
        "Our pump leaks since Monday, please come today!",
        64,
    ),
    ("word", _object({"word": _WORD}), "Say hello.", 32),
    ("whole-number", _object({"count": {"type": "integer", "minimum": 3, "maximum": 40}}), "How many are 7 and 8?", 32),
    ("tags", _object({"tags": {"type": "array", "items": _WORD, "minItems": 1, "maxItems": 3}}), "Name tags.", 64),
    ("order", _ORDER, "Ada orders two pumps, part PU-104, and pays with her card 4242.", 160),
    ("tree", _TREE, "Nest 1 in 2 in 3.", 120),
    ("identifier", _object({"id": {"type": "string", "format": "uuid"}}), "Give an identifier.", 80),
    ("day", _object({"day": {"type": "string", "format": "date"}}), "When was the first landing on the moon?", 40),
    ("nullable", _object({"note": {"type": ["string", "null"], "maxLength": 10}}), "There is no note.", 40),
    ("exact-count", {"type": "array", "items": {"enum": [0]}, "minItems": 7, "maxItems": 7}, "Return no items.", 96),
    ("text-itself", {"type": "string", "enum": ["söß", "日本", "a b"]}, "Say something.", 24),
    ("switch", _object({"on": {"type": "boolean"}, "mode": {"const": "auto"}}), "Switch the light on.", 40),
)
_PARTLY_ENFORCED: Sequence[tuple[str, Schema, str, int]] = (
    ("ratio", _object({"ratio": {"type": "number", "minimum": 0, "maximum": 1}}), "What is 30 percent of ten?", 40),
    (
        "multiple",
        _object({"cents": {"type": "integer", "multipleOf": 25, "minimum": 0, "maximum": 100}}),
        "30 cents",
        32,
    ),
    ("no-alpha", _object({"word": {**_WORD, "not": {"const": "alpha"}}}), "Say alpha.", 32),
    (
        "distinct",
        _object({"d": {"type": "array", "items": {"enum": [0, 1]}, "minItems": 2, "maxItems": 2, "uniqueItems": True}}),
        "Give two zeros.",
        64,
    ),
    (
        "both",
        _object({"word": {"allOf": [{"enum": ["alpha", "beta"]}, {"enum": ["beta", "gamma"]}]}}),
        "Say alpha.",
        40,
    ),
    ("short-word", _object({"w": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 4}}), "Say elephant.", 40),
    ("digits", _object({"pin": {"type": "string", "pattern": r"^\d{4}$"}}), "Give a PIN.", 40),
    (
        "either",
        {
            "type": "object",
            "properties": {"kind": {"enum": ["a", "b"]}, "n": {"enum": [1, 2]}},
            "required": ["kind", "n"],
            "additionalProperties": False,
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"properties": {"n": {"const": 1}}},
        },
        'Answer {"kind": "a", "n": 2}',
        40,
    ),
    (
        "needs-other",
        {
            "type": "object",
            "properties": {"a": {"enum": [1]}, "b": {"enum": [2]}},
            "required": ["a"],
            "additionalProperties": False,
            "dependentRequired": {"a": ["b"]},
        },
        'Answer {"a": 1}',
        40,
    ),
    (
        "one-of",
        _object({"v": {"oneOf": [{"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 9}]}}),
        "Say 5.",
        32,
    ),
)

_PATTERNS: Sequence[tuple[str, str, str, int]] = (
    ("part", r"[A-Z]{3}-[0-9]{4}", "Name a part number.", 24),
    ("hour", r"([01][0-9]|2[0-3]):[0-5][0-9]", "When is tea?", 16),
    ("colour", r"#[0-9a-f]{6}", "Name the colour red.", 24),
    ("phone", r"\+[1-9]\d{1,2} \d{3,5}", "Call me.", 24),
    ("version", r"v(0|[1-9][0-9]?)\.(0|[1-9][0-9]?)(-rc[1-3])?", "Which version?", 24),
    ("words", r"(red|green|blue)( (red|green|blue)){1,2}", "Name colours.", 24),
)

_OFFERED: Sequence[tuple[str, tuple[str, ...], str]] = (
    ("yes-no", ("yes", "no"), "Is the sky green?"),
    ("nested", ("a", "ab", "abc", "b"), "Choose."),
    ("sentences", ("Please wait.", "Please leave, now!", 'It\'s "fine".'), "What shall I do?"),
    ("unicode", ("größer", "kleiner", "日本語", "🦀"), "Greater or smaller?"),
    ("nonce", ("qzvkxwjb", "wwxkqzvt"), "What is 2+2? Answer with one digit."),
)

_SUM = 'root ::= number (" + " number){1,3}\nnumber ::= [1-9] [0-9]?'
_PAIRS = 'root ::= pair ("; " pair){0,2}\npair ::= ("width" | "height" | "depth") "=" [0-9]{1,3}'
_GREETING = (
    'root ::= greeting ", " name "!"\ngreeting ::= "Hello" | "Good " ("day" | "night")\nname ::= [A-Z] [a-z]{2,6}'
)
_BRACKETS = 'root ::= "(" root? ")" | "[" root? "]"'


def _balanced(value: object) -> bool:
    text = str(value)
    while text:
        if text[0] + text[-1] not in ("()", "[]"):
            return False
        text = text[1:-1]
    return bool(value)


_WRITTEN: Sequence[tuple[str, str, str, int, Callable[[object], bool]]] = (
    ("sum", _SUM, "Add 12 and 30.", 32, lambda value: _matches(r"[1-9][0-9]?( \+ [1-9][0-9]?){1,3}", value)),
    (
        "pairs",
        _PAIRS,
        "How large is the box?",
        48,
        lambda value: _matches(r"(width|height|depth)=\d{1,3}(; (width|height|depth)=\d{1,3}){0,2}", value),
    ),
    (
        "greeting",
        _GREETING,
        "Greet Ada.",
        24,
        lambda value: _matches(r"(Hello|Good (day|night)), [A-Z][a-z]{2,6}!", value),
    ),
    ("brackets", _BRACKETS, "Open and close brackets.", 48, _balanced),
)


def _matches(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _schemas() -> list[Question]:
    return [
        Question(
            name=name,
            kind="schema",
            contract=Contract.json_schema(schema, name=name.replace("-", "_")),
            prompt=prompt,
            most_tokens=most,
            is_right=_validator(schema),
        )
        for name, schema, prompt, most in (*_ENFORCED, *_PARTLY_ENFORCED)
    ]


def _validator(schema: Schema) -> Callable[[object], bool]:
    found = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    return lambda value: found.is_valid(value)


def _patterns() -> list[Question]:
    def judge(pattern: str) -> Callable[[object], bool]:
        return lambda value: _matches(pattern, value)

    return [
        Question(
            name=name,
            kind="regex",
            contract=Contract.of(Regex(pattern), name=name),
            prompt=prompt,
            most_tokens=most,
            is_right=judge(pattern),
        )
        for name, pattern, prompt, most in _PATTERNS
    ]


def _choices() -> list[Question]:
    def judge(texts: tuple[str, ...]) -> Callable[[object], bool]:
        return lambda value: isinstance(value, str) and value in texts

    return [
        Question(
            name=name,
            kind="choices",
            contract=Contract.of(Choices(texts), name=name.replace("-", "_")),
            prompt=prompt,
            most_tokens=48,
            is_right=judge(texts),
        )
        for name, texts, prompt in _OFFERED
    ]


def _grammars() -> list[Question]:
    return [
        Question(
            name=name,
            kind="grammar",
            contract=Contract.of(Grammar(text), name=name),
            prompt=prompt,
            most_tokens=most,
            is_right=is_right,
        )
        for name, text, prompt, most, is_right in _WRITTEN
    ]
