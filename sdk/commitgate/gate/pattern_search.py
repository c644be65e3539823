"""Say whether a pattern is found in a text, as the automaton reads patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex import PatternError, PatternUnsupported, pattern_language
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import SchemaError

Finds: TypeAlias = Callable[[str], bool]


class PatternSearch:
    """Look for the patterns of one schema, each made ready once.

    A pattern whose automaton would be too large is looked for by jsonschema-rs in its linear engine, which reads nearly
    every pattern alike.
    """

    def __init__(self) -> None:
        self._languages: dict[str, TextLanguage | None] = {}
        self._found: dict[str, Finds] = {}

    def language(self, pattern: str, pointer: str = "", keyword: str = "pattern") -> TextLanguage | None:
        """Return the language of the texts in which ``pattern`` is found; None where there is none.

        Args:
            pointer: the schema where it stands, for the error.
            keyword: the keyword that holds it, for the error.

        Raises:
            SchemaError: it is malformed, or more than a regular expression.
            TooManyStates: its automaton would be too large.
        """
        if pattern not in self._languages:
            try:
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
            try:
                language = self.language(pattern, pointer)
            except TooManyStates:
                self._found[pattern] = _validators_own(pattern)
            else:
                self._found[pattern] = _nowhere if language is None else language.contains
        return self._found[pattern]


def _nowhere(text: str) -> bool:
    del text
    return False


def _validators_own(pattern: str) -> Finds:
    from jsonschema_rs import RegexOptions, ValidationError, validator_for

    try:
        return validator_for({"pattern": pattern}, offline=True, pattern_options=RegexOptions()).is_valid
    except ValidationError:
        # Look-around needs the engine that backtracks; it gives up after a fixed number of steps.
        return validator_for({"pattern": pattern}, offline=True).is_valid


__all__ = ["Finds", "PatternSearch"]
