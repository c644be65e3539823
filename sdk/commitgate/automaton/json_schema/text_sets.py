"""Meet and subtract languages of texts, each pair once: alternatives ask the same few questions over and over."""

from __future__ import annotations

from functools import lru_cache

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.text_language import TextLanguage, of_texts

_CACHED_PAIRS = 2_048
_CACHED_MEMBERS = 8_192
_LONGEST_MEMBER = 256
_CACHED_LISTS = 256
_LONGEST_LISTED = 1_000


@lru_cache(maxsize=_CACHED_PAIRS)
def common_texts(first: TextLanguage, second: TextLanguage) -> TextLanguage | None:
    """Return the texts of both languages; None where there is none.

    Raises:
        TooManyStates: the automaton would be too large.
    """
    return first.meet(second)


def holds_text(language: TextLanguage, text: str) -> bool:
    """Return whether a text belongs to a language; what was asked of a short one is remembered."""
    return _holds(language, text) if len(text) <= _LONGEST_MEMBER else language.contains(text)


@lru_cache(maxsize=_CACHED_MEMBERS)
def _holds(language: TextLanguage, text: str) -> bool:
    return language.contains(text)


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


@lru_cache(maxsize=_CACHED_LISTS)
def few_texts(language: TextLanguage, most: int) -> tuple[str, ...] | None:
    """Return the texts of a language, sorted; None where they are more than ``most``, or too long to be listed."""
    try:
        if language.count(most + 1) > most:
            return None
    except TooManyStates:
        return None
    found: list[str] = []
    waiting = [("", language.state())]
    while waiting:
        text, state = waiting.pop()
        if state.nullable:
            found.append(text)
        if len(text) >= _LONGEST_LISTED:
            return None
        for first, last, following in state.ranges():
            waiting.extend((text + chr(point), following) for point in range(first, last + 1))
    return tuple(sorted(found))


__all__ = ["common_texts", "few_texts", "holds_text", "listed_texts", "other_texts", "texts_without"]
