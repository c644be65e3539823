"""Meet and subtract languages of texts, each pair once: alternatives ask the same few questions over and over."""

from __future__ import annotations

from functools import lru_cache

from commitgate.automaton.text_language import TextLanguage, of_texts

_CACHED_PAIRS = 2_048
_CACHED_LISTS = 256


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


@lru_cache(maxsize=_CACHED_PAIRS)
def other_texts(language: TextLanguage) -> tuple[TextLanguage, ...]:
    """Return languages that together hold all texts but those of ``language``; no two share one.

    Raises:
        TooManyStates: the automaton would be too large.
    """
    return language.complement()


@lru_cache(maxsize=_CACHED_LISTS)
def listed_texts(texts: tuple[str, ...]) -> TextLanguage:
    """Return the language of these texts: at least one.

    Raises:
        TooManyStates: there are too many.
    """
    language = of_texts(texts)
    assert language is not None
    return language


__all__ = ["common_texts", "listed_texts", "other_texts", "texts_without"]
