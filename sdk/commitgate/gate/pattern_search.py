"""Say whether a pattern is found in a text, as the automaton reads patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex import PatternError, PatternUnsupported, PatternWalk, pattern_language, pattern_steps
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import SchemaError

MAX_SEARCH_STEPS = 300_000
"""Steps of making automata, about 2 microseconds each, that the patterns of one schema may take together."""

Finds: TypeAlias = Callable[[str], bool]


class PatternSearch:
    """Look for the patterns of one schema, each made ready once.

    A pattern whose automaton would be too large is walked step by step instead, as far as each text needs it; so are
    all that come after ``MAX_SEARCH_STEPS``.
    """

    def __init__(self) -> None:
        self._languages: dict[str, TextLanguage | None] = {}
        self._found: dict[str, Finds] = {}
        self._steps = 0

    def language(self, pattern: str, pointer: str = "", keyword: str = "pattern") -> TextLanguage | None:
        """Return the language of the texts in which ``pattern`` is found; None where there is none.

        Args:
            pointer: the schema where it stands, for the error.
            keyword: the keyword that holds it, for the error.

        Raises:
            SchemaError: it is malformed, or more than a regular expression.
            TooManyStates: its automaton would be too large, or those before it took all the work there is.
        """
        if pattern not in self._languages:
            if self._steps > MAX_SEARCH_STEPS:
                raise TooManyStates("the patterns of the schema take too much work", MAX_SEARCH_STEPS)
            try:
                self._steps += pattern_steps(pattern)
                self._languages[pattern] = pattern_language(pattern)
            except (PatternError, PatternUnsupported) as error:
                where = pointer or "the root"
                raise SchemaError(
                    f"the pattern of {keyword} at {where} cannot be read at its character {error.position}: {error}",
                    pointer=pointer,
                    keyword=keyword,
                ) from None
        return self._languages[pattern]

    def finds(self, pattern: str, pointer: str = "") -> Finds:
        """Return the function that says whether ``pattern`` is found in a text.

        Raises:
            SchemaError: as ``language``.
        """
        if pattern not in self._found:
            self._found[pattern] = self._ready(pattern, pointer)
        return self._found[pattern]

    def _ready(self, pattern: str, pointer: str) -> Finds:
        try:
            language = self.language(pattern, pointer)
        except TooManyStates:
            return _walked(pattern, pointer)
        return _nowhere if language is None else language.contains


def _nowhere(text: str) -> bool:
    del text
    return False


def _walked(pattern: str, pointer: str) -> Finds:
    try:
        walk = PatternWalk(pattern)
    except TooManyStates:
        raise SchemaError(
            f"the pattern at {pointer or 'the root'} is too large to be looked for; write a simpler one",
            pointer=pointer,
            keyword="pattern",
        ) from None

    def finds(text: str) -> bool:
        try:
            return walk.finds(text)
        except TooManyStates:
            # What takes too much work to be told is not taken for found: the gate fails closed.
            return False

    return finds


__all__ = ["Finds", "PatternSearch"]
