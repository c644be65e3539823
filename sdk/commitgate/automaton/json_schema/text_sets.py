"""Meet and subtract languages of texts, each pair once: alternatives ask the same few questions over and over."""

from __future__ import annotations

from functools import lru_cache

from commitgate.automaton.text_language import TextLanguage

_CACHED_PAIRS = 2_048


@lru_cache(maxsize=_CACHED_PAIRS)
def common_texts(first: TextLanguage, second: TextLanguage) -> TextLanguage | None:
    """Return the texts of both languages; None where there is none.

    Raises:
        TooManyStates: the automaton would be too large.
    """
    return first.meet(second)


@lru_cache(maxsize=_CACHED_PAIRS)
def texts_without(first: TextLanguage, second: TextLanguage) -> tuple[TextLanguage, ...]:
    """Return languages that together hold the texts of the first that the second lacks; no two share one.

    Raises:
        TooManyStates: the automaton would be too large.
    """
    return first.without(second)


__all__ = ["common_texts", "texts_without"]
