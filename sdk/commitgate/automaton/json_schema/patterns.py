"""Turn the patterns of a schema into languages, and their faults into errors that name the place.

Source: ECMA-262 patterns, as JSON Schema validation asks for them (2020-12 core section 6.4).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.excerpt import excerpt
from commitgate.automaton.regex import PatternError, PatternUnsupported, pattern_language, pattern_steps, walk_steps
from commitgate.automaton.regex.pattern import parsed
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import SchemaError, UnsupportedError

T = TypeVar("T")

_STEPS_OF_AN_EFFORT = 20
"""Steps of making an automaton that take as long as two small alternatives that meet: 50 microseconds."""


def check_pattern(pattern: str, place: str, keyword: str) -> None:
    """Check that a pattern is one, and regular as far as its parts go.

    Args:
        pattern: an ECMA-262 pattern.
        place: place of the schema that holds it.
        keyword: ``pattern`` or ``patternProperties``.

    Raises:
        SchemaError: it is malformed.
        UnsupportedError: it is not regular.
    """
    _placed(parsed, pattern, place, keyword)


def language_of_pattern(pattern: str, place: str, keyword: str) -> TextLanguage | None:
    """Return the strings in which a pattern is found; None where there are none.

    Args:
        pattern: an ECMA-262 pattern.
        place: place of the schema that holds it.
        keyword: ``pattern`` or ``patternProperties``.

    Raises:
        SchemaError: it is malformed.
        UnsupportedError: it is not regular.
        TooManyStates: its automaton would be too large.
    """
    return _placed(pattern_language, pattern, place, keyword)


def effort_of_pattern(pattern: str) -> int:
    """Return how much of ``Limits.effort`` it takes to make the language of a pattern, or to find it too large."""
    return pattern_steps(pattern) // _STEPS_OF_AN_EFFORT


def effort_of_walk(pattern: str, place: str, keyword: str) -> int:
    """Return how much of ``Limits.effort`` it takes to make a pattern that is not decoded ready to be looked for.

    Raises:
        UnsupportedError: it is too large even for that.
    """
    return _placed(_walk_steps, pattern, place, keyword) // _STEPS_OF_AN_EFFORT


def _walk_steps(pattern: str) -> int:
    try:
        return walk_steps(pattern)
    except TooManyStates:
        raise PatternUnsupported("its repeats unfold to too large an automaton", 0) from None


def _placed(read: Callable[[str], T], pattern: str, place: str, keyword: str) -> T:
    where = place or "the root"
    try:
        return read(pattern)
    except PatternError as error:
        raise SchemaError(
            f"{keyword} at {where} holds a malformed pattern: {error} ({_character(error, pattern)})",
            pointer=place,
            keyword=keyword,
        ) from None
    except PatternUnsupported as error:
        reason = f"{error} ({_character(error, pattern)}); write the alternatives out, or check it in a rule"
        raise UnsupportedError(
            f"{keyword} at {where} cannot be enforced: {reason}", pointer=place, keyword=keyword, reason=reason
        ) from None


def _character(error: PatternError | PatternUnsupported, pattern: str) -> str:
    return f"character {error.position} of {excerpt(pattern)}"


__all__ = ["check_pattern", "effort_of_pattern", "effort_of_walk", "language_of_pattern"]
