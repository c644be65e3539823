"""Turn patterns into languages of texts.

Where a pattern is anchored, what needs no automaton of its own is taken apart first: look-aheads at the start are
languages that meet, and the count of a long run is a bound on the length of the whole text if all else has one length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from commitgate.automaton.dfa import MAX_DFA_STATES, Dfa, TooManyStates
from commitgate.automaton.regex.machine import Machine, Steps
from commitgate.automaton.regex.parser import parse
from commitgate.automaton.regex.program import Program
from commitgate.automaton.regex.syntax import (
    Characters,
    Concatenation,
    Look,
    Node,
    Repeat,
    TextEnd,
    TextStart,
    concatenated,
    width,
)
from commitgate.automaton.text_language import ANY_TEXT, TextLanguage, bounded, labelled

_CACHED_PATTERNS = 512
"""Languages that are kept: a contract and its schema layer ask for the same ones."""

_SHORT = 128
"""Most characters of a pattern that is kept parsed: that takes some hundred bytes a character."""

_LONG_RUN = 16
"""Counts up to this one are worked into the automaton, where they cost few states."""

_MAX_LANGUAGES = 20
"""Most look-arounds of a pattern that is taken apart into languages."""

_STEPS_OF_A_PAIR = 10
"""What it takes to look at one pair of states of two languages that meet, in steps."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Hold what became of a pattern: its language, or why it has none, and the steps that finding this out took."""

    language: TextLanguage | None
    obstacle: tuple[str, int] | None
    steps: int


def parsed(pattern: str) -> Node:
    """Return a pattern of ECMA-262, parsed; a schema asks whether it is one before it asks for its language.

    Raises:
        PatternError, PatternUnsupported: as ``pattern_language``.
    """
    return _parsed_short(pattern) if len(pattern) <= _SHORT else parse(pattern)


_parsed_short = lru_cache(maxsize=_CACHED_PATTERNS)(parse)


def pattern_language(pattern: str) -> TextLanguage | None:
    """Return the language of the texts in which the pattern matches somewhere; None where it can match nowhere.

    Args:
        pattern: a regular expression of ECMA-262, with the meaning of the ``u`` flag.

    Raises:
        PatternError: it is malformed.
        PatternUnsupported: it is well-formed, but refers back to groups or the like.
        TooManyStates: its automaton is too large.
    """
    found = _found(pattern)
    if found.obstacle is not None:
        raise TooManyStates(*found.obstacle)
    return found.language


def pattern_steps(pattern: str) -> int:
    """Return how many steps it takes to make the language of a pattern, or to give up.

    Raises:
        PatternError, PatternUnsupported: as ``pattern_language``.
    """
    return _found(pattern).steps


@lru_cache(maxsize=_CACHED_PATTERNS)
def _found(pattern: str) -> _Found:
    # Failures are kept too: a contract and its schema layer would each work until the bound.
    steps = Steps()
    try:
        language = language_of(parsed(pattern), steps)
    except TooManyStates as error:
        return _Found(None, (str(error), error.limit), steps.count)
    if language is not None:
        language = labelled(language, f"text that matches {pattern!r}")
    return _Found(language, None, steps.count)


def language_of(node: Node, steps: Steps | None = None) -> TextLanguage | None:
    """Return the language of the texts in which a parsed pattern matches somewhere; None where it can match nowhere.

    Args:
        steps: what all its parts may take together; None lets each part take as much as a whole pattern.

    Raises:
        TooManyStates: its automaton is too large.
    """
    items = node.items if isinstance(node, Concatenation) else (node,)
    looks = sum(isinstance(item, Look) for item in items)
    if not items or not isinstance(items[0], TextStart) or looks > _MAX_LANGUAGES:
        return bounded(_automaton(node, steps))
    at = 1
    language: TextLanguage | None = ANY_TEXT
    while at < len(items) and language is not None:
        item = items[at]
        if isinstance(item, Look) and not item.is_behind:
            parts = _meet_ahead(language, item, steps)
            if len(parts) > 1:
                # A union of languages with different counts is no language with one count.
                return bounded(_automaton(node, steps))
            language = parts[0] if parts else None
        elif not isinstance(item, TextStart):
            break
        at += 1
    rest = None if language is None else _anchored(items[at:], steps)
    return None if language is None or rest is None else _met(language, rest, steps)


def _automaton(node: Node, steps: Steps | None) -> Dfa | None:
    return Machine(Program(node), steps).automaton()


def _met(first: TextLanguage, second: TextLanguage, steps: Steps | None) -> TextLanguage | None:
    _spend_product(first, second, steps)
    return first.meet(second)


def _spend_product(first: TextLanguage, second: TextLanguage, steps: Steps | None) -> None:
    if steps is not None and ANY_TEXT not in (first, second):
        steps.spend(min(len(first.dfa) * len(second.dfa), MAX_DFA_STATES) * _STEPS_OF_A_PAIR)


def _meet_ahead(language: TextLanguage, look: Look, steps: Steps | None) -> tuple[TextLanguage, ...]:
    ahead = language_of(concatenated((TextStart(), look.item)), steps)
    if look.is_negated:
        if ahead is not None:
            _spend_product(language, ahead, steps)
        return (language,) if ahead is None else language.without(ahead)
    both = None if ahead is None else _met(language, ahead, steps)
    return () if both is None else (both,)


def _anchored(items: tuple[Node, ...], steps: Steps | None) -> TextLanguage | None:
    """Return the language of texts that start with the items."""
    counted = _long_run(items)
    if counted is None:
        return bounded(_automaton(concatenated((TextStart(), *items)), steps))
    run = items[counted]
    assert isinstance(run, Repeat)
    others = sum(width(item)[0] for index, item in enumerate(items) if index != counted)
    free = (*items[:counted], Repeat(run.item, 0, None), *items[counted + 1 :])
    automaton = _automaton(concatenated((TextStart(), *free)), steps)
    return bounded(automaton, others + run.least, None if run.most is None else others + run.most)


def _long_run(items: tuple[Node, ...]) -> int | None:
    """Return the index of the run whose count decides the length of the text; None where there is none."""
    if not items or not isinstance(items[-1], TextEnd):
        return None
    widths = [width(item) for item in items]
    unfixed = [index for index, (least, most) in enumerate(widths) if least != most]
    if len(unfixed) > 1:
        return None
    runs = unfixed or list(range(len(items)))
    best = max(runs, key=lambda index: _count(items[index]))
    return best if _count(items[best]) > _LONG_RUN else None


def _count(item: Node) -> int:
    is_run = isinstance(item, Repeat) and isinstance(item.item, Characters)
    return max(item.least, item.most or 0) if is_run and isinstance(item, Repeat) else 0


__all__ = ["language_of", "parsed", "pattern_language", "pattern_steps"]
