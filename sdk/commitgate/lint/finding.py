"""Define what lint can find: one rule for each code, and the finding that names a place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "advice"]
"""How bad a finding is; the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Describe one thing that lint looks for.

    Attributes:
        code: its stable name.
        severity: ``error``: no contract can be made of it; ``warning``: the answer may be invalid, endless or another
            one than was meant; ``advice``: it works, and could be smaller or clearer.
        about: what was found, in words.
    """

    code: str
    severity: Severity
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Say what was found at one place.

    Attributes:
        code: the rule's name; one of ``RULES``.
        severity: that of the rule.
        pointer: JSON pointer of the schema at fault; ``""`` for the root, and for what is no schema.
        keyword: the keyword at fault; None where no single one is.
        message: what was found.
        instead: what to write instead.
        position: offset in the text of a pattern or grammar, in characters; None elsewhere.
    """

    code: str
    severity: Severity
    pointer: str
    keyword: str | None = None
    message: str
    instead: str
    position: int | None = None


_ALL = (
    Rule(
        code="rejected", severity="error", about="a keyword that cannot be enforced, or a notation that is not regular"
    ),
    Rule(code="malformed", severity="error", about="what is no JSON Schema, pattern or grammar"),
    Rule(code="unsatisfiable", severity="error", about="a contradiction: no text can ever satisfy it"),
    Rule(code="too_large", severity="error", about="something larger than a field of `Limits` allows"),
    Rule(code="checked_keyword", severity="warning", about="a keyword that is only checked when the text is whole"),
    Rule(code="unknown_word", severity="warning", about="a word or format that constrains nothing, though it looks so"),
    Rule(code="undeclared_required", severity="warning", about="a required name that `properties` does not declare"),
    Rule(code="missing_type", severity="warning", about="keywords of one type without `type`: all other types pass"),
    Rule(code="any_value", severity="warning", about="a place where any JSON at all may stand"),
    Rule(code="unbounded_string", severity="warning", about="a string without an upper bound on its length"),
    Rule(code="unbounded_array", severity="warning", about="an array without an upper bound on its items"),
    Rule(code="unbounded_object", severity="warning", about="an object with any number of free keys"),
    Rule(code="unbounded_depth", severity="warning", about="a schema that refers to itself"),
    Rule(
        code="unbounded_repeat", severity="warning", about="a pattern, grammar or machine that may repeat without end"
    ),
    Rule(code="unreachable_rule", severity="warning", about="a rule of a grammar that its start never reaches"),
    Rule(code="long_text", severity="warning", about="sample walks that came to no end within their bound"),
    Rule(code="fixed_value", severity="advice", about="a property with one possible value"),
    Rule(code="default_value", severity="advice", about="a property with a default, which the program can fill"),
    Rule(code="read_only_value", severity="advice", about="a property marked `readOnly`: it is the server's own"),
    Rule(code="derived_value", severity="advice", about="a property that looks as if the program could work it out"),
    Rule(code="invented_id", severity="advice", about="an identifier that a model can only copy or invent"),
    Rule(code="nullable_optional", severity="advice", about="a property that may be left out and may be null"),
    Rule(code="optional_heavy", severity="advice", about="an object most of whose many properties are optional"),
    Rule(code="open_object", severity="advice", about="an object that does not say what other keys may hold"),
    Rule(
        code="missing_description",
        severity="advice",
        about="properties without a description, or a title that says more than the name",
    ),
    Rule(code="deep_nesting", severity="advice", about="values nested deeper than 5"),
    Rule(
        code="wide_choice",
        severity="advice",
        about="objects in `anyOf` or `oneOf` that no property tells apart, or more than 10 branches",
    ),
    Rule(code="large_enum", severity="advice", about="more than 100 values in one `enum`, or more than 100 choices"),
    Rule(code="duplicate_schema", severity="advice", about="the same schema written out at several places"),
    Rule(code="single_choice", severity="advice", about="one choice alone"),
    Rule(code="prefix_choice", severity="advice", about="a choice with which another one begins"),
)

RULES: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in _ALL})
"""Every rule by its code, in the order in which findings are listed."""

UNBOUNDED = frozenset(
    {
        "any_value",
        "unbounded_string",
        "unbounded_array",
        "unbounded_object",
        "unbounded_depth",
        "unbounded_repeat",
    }
)
"""The codes by which an answer may grow until a limit stops it."""


def finding(
    code: str,
    pointer: str,
    message: str,
    instead: str,
    *,
    keyword: str | None = None,
    position: int | None = None,
) -> Finding:
    """Return a finding with its rule's severity."""
    return Finding(
        code=code,
        severity=RULES[code].severity,
        pointer=pointer,
        keyword=keyword,
        message=message,
        instead=instead,
        position=position,
    )


__all__ = ["RULES", "UNBOUNDED", "Finding", "Rule", "Severity", "finding"]
