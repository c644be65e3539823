"""Turn the patterns of a schema into languages, and their faults into errors that name the place.

Source: ECMA-262 patterns, as JSON Schema validation asks for them (2020-12 core section 6.4).
"""

from __future__ import annotations

from commitgate.automaton.regex import PatternError, PatternUnsupported, pattern_language
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import SchemaError, UnsupportedError


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
    try:
        return pattern_language(pattern)
    except PatternError as error:
        raise SchemaError(
            f"{keyword} at {place or 'the root'} holds a malformed pattern: {error} (character {error.position})",
            pointer=place,
            keyword=keyword,
        ) from None
    except PatternUnsupported as error:
        raise UnsupportedError(
            f"{keyword} at {place or 'the root'} cannot be enforced: {error} (character {error.position})",
            pointer=place,
            keyword=keyword,
            reason=str(error),
        ) from None


__all__ = ["language_of_pattern"]
