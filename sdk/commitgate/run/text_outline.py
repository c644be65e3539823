"""Tell a model in few words which text is asked for that is no JSON.

What is told is bounded, and it is the contract's own words: the choices one a line, a pattern and a grammar as they
stand, a machine edge by edge. The automaton enforces all of it, whether the model reads it or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import islice
from typing import assert_never, cast

from commitgate.contract import Contract
from commitgate.languages import Choices, Edge, Grammar, Machine, Regex, TextSource, kind_of_text

LINES = 200
"""Most lines of an outline: a model that needs more does not read them."""

CHARACTERS = 8_192
"""Most characters of a pattern, a grammar, or all choices together that are shown."""

LITERAL_CHARACTERS = 200
"""Most characters of one choice, or of one edge's text, that are shown."""

_STEP_CHOICES = 20
"""Most choices of one edge that are shown."""

_ONLY = "and nothing before or after it"
_CHOICES = f"You answer with one of these texts, word for word, {_ONLY}:"
_REGEX = f"You answer with one text, {_ONLY}. This regular expression matches the whole of it:"
_GRAMMAR = f"You answer with one text, {_ONLY}. It has this form, written as a grammar"
_MACHINE = f"You answer with one text, {_ONLY}. It goes through these steps"
_HIDDEN = f"You answer with one text, {_ONLY}. Take what you can from the user's message."
_SYNTAX = {"gbnf": "GBNF", "lark": "Lark"}
_WORDS = re.compile(r"\(\?(?:#|P?<(?![=!]))")
"""Match what begins a comment or the name of a group."""
_LEFT_OUT = "…"


def text_outline(source: TextSource, *, shows_words: bool = True) -> str:
    """Return the instruction that tells a model which text to write.

    Args:
        source: what the text is made from.
        shows_words: show what may hold any words, too: a grammar with its comments, a machine with its names, a pattern
            with a comment or named groups. Choices, and a pattern without, are what is asked for, and always shown.
    """
    match source:
        case Choices(texts):
            return _lines([_CHOICES, *_bounded(_one_line(text) for text in dict.fromkeys(texts))])
        case Regex(pattern, flags):
            if not shows_words and _WORDS.search(pattern):
                return _HIDDEN
            lines = [_REGEX, _cut(pattern, CHARACTERS)]
            return _lines([*lines, f"Its flags: {flags}"] if flags else lines)
        case Grammar(text, syntax, start):
            if not shows_words:
                return _HIDDEN
            begin = "" if start is None else f", which begins with {_one_line(start)}"
            return _lines([f"{_GRAMMAR} in {_SYNTAX[syntax]}{begin}:", *_bounded(_cut(text, CHARACTERS).splitlines())])
        case Machine(start, accepting, edges):
            if not shows_words:
                return _HIDDEN
            ends = ", ".join(islice(map(_one_line, accepting), LINES))
            heading = f"{_MACHINE}, from {_one_line(start)}, and may end at {ends}:"
            return _lines([_cut(heading, CHARACTERS), *_bounded(map(_edge, edges))])
        case _:
            assert_never(source)


def text_prompt(source: TextSource) -> str:
    """Return the prompt where the caller has no words of his own."""
    return "Choose one text." if isinstance(source, Choices) else "Write one text."


def _edge(edge: Edge) -> str:
    return f"- {_one_line(edge.source)} -> {_one_line(edge.target)}: {_step(edge.on)}"


def _step(on: object) -> str:
    """Return the words for an edge's text."""
    if isinstance(on, Contract):
        on = cast("Contract[object]", on).text
    match on:
        case str():
            return _quoted(on)
        case Regex(pattern):
            return f"a text that matches {_one_line(pattern)}"
        case Choices(texts):
            shown = [*map(_quoted, texts[:_STEP_CHOICES]), *([_LEFT_OUT] if len(texts) > _STEP_CHOICES else [])]
            return "one of " + ", ".join(shown)
        case Grammar() | Machine():
            return f"a text of a {kind_of_text(on)}"
        case _:
            return "JSON"


def _bounded(lines: Iterable[str]) -> list[str]:
    """Return the first lines, within what is shown of all together; a mark where some are left out."""
    found: list[str] = []
    room = CHARACTERS
    for line in lines:
        room -= len(line) + 1
        if room < 0 or len(found) == LINES:
            return [*found, _LEFT_OUT]
        found.append(line)
    return found


def _one_line(text: str) -> str:
    """Return a text as it stands, or in quotes where it would not be told apart from what stands around it."""
    shown = _cut(text, LITERAL_CHARACTERS)
    return shown if shown.isprintable() and shown.strip() == shown != "" else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(_cut(text, LITERAL_CHARACTERS), ensure_ascii=False)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + _LEFT_OUT


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


__all__ = ["CHARACTERS", "LINES", "LITERAL_CHARACTERS", "text_outline", "text_prompt"]
