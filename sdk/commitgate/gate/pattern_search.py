"""Say whether a pattern is found in a text, as the automaton reads patterns."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex import (
    MAX_WALK_STEPS,
    PatternError,
    PatternUnsupported,
    PatternWalk,
    pattern_language,
    pattern_steps,
    walk_steps,
)
from commitgate.automaton.regex.parser import parse
from commitgate.automaton.text_language import TextLanguage
from commitgate.errors import SchemaError

T = TypeVar("T")

MAX_SEARCH_STEPS = 300_000
"""Steps of making automata, about 2 microseconds each, that the patterns of one schema may take together."""

MAX_VALUE_STEPS = 1_000_000
"""Steps of looking for patterns without an automaton that one value may take in all its texts together."""

Finds: TypeAlias = Callable[[str], bool]


@dataclass(slots=True)
class Look:
    """Say what looking for patterns in the texts of one value took.

    Attributes:
        steps: all of them.
        has_given_up: in one of the texts it is not known whether a pattern is found.
    """

    steps: int = 0
    has_given_up: bool = False


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


@contextmanager
def one_look() -> Generator[Look]:
    """Bound what looking for patterns takes in here, and note where it is given up."""
    look = Look()
    token = _LOOK.set(look)
    try:
        yield look
    finally:
        _LOOK.reset(token)


class PatternSearch:
    """Look for the patterns of one schema, each made ready once.

    A pattern whose automaton would be too large is walked step by step instead, as far as each text needs it; so are
    all that come after ``MAX_SEARCH_STEPS``, which are only made ready once a text asks for them.
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
            self._steps += _read(pattern_steps, pattern, pointer, keyword)
            self._languages[pattern] = pattern_language(pattern)
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
            self._check_walk(pattern, pointer)
            return _walked(pattern)
        return _nowhere if language is None else language.contains

    def _check_walk(self, pattern: str, pointer: str) -> None:
        """Check that a pattern can be looked for; where no work is left for that, that it is one."""
        if self._steps > MAX_SEARCH_STEPS:
            _read(parse, pattern, pointer, "pattern")
            return
        try:
            self._steps += _read(walk_steps, pattern, pointer, "pattern")
        except TooManyStates:
            raise SchemaError(
                f"the pattern at {pointer or 'the root'} is too large to be looked for; write a simpler one",
                pointer=pointer,
                keyword="pattern",
            ) from None


def _read(read: Callable[[str], T], pattern: str, pointer: str, keyword: str) -> T:
    try:
        return read(pattern)
    except (PatternError, PatternUnsupported) as error:
        where = pointer or "the root"
        raise SchemaError(
            f"the pattern of {keyword} at {where} cannot be read at its character {error.position}: {error}",
            pointer=pointer,
            keyword=keyword,
        ) from None


def _nowhere(text: str) -> bool:
    del text
    return False


def _walked(pattern: str) -> Finds:
    """Return the function that looks for a pattern, which is made ready when it is first looked for."""
    walks: list[PatternWalk] = []

    def finds(text: str) -> bool:
        look = _LOOK.get() or Look()
        if look.has_given_up or look.steps > MAX_VALUE_STEPS:
            look.has_given_up = True
            return False
        before = walks[0].steps if walks else 0
        try:
            if not walks:
                walks.append(PatternWalk(pattern))
            return walks[0].finds(text)
        except TooManyStates:
            # Who asks about a whole value refuses it; elsewhere what is not known is not taken for found.
            look.has_given_up = True
            return False
        finally:
            look.steps += walks[0].steps - before if walks else MAX_WALK_STEPS // 2

    return finds


__all__ = ["MAX_VALUE_STEPS", "Finds", "Look", "PatternSearch", "one_look"]
