"""Hold what a text may be made of: the one form into which patterns, grammars, choices and machines are read.

Expressions denote sets of texts. Those of a grammar refer to its rules by name, so they may be recursive; nothing is
expanded here. They are plain values: read by the parsers of the notations, compiled by ``compiler``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.text_language import TextLanguage

if TYPE_CHECKING:
    from commitgate.contract import Contract


@dataclass(frozen=True, slots=True)
class Word:
    """Denote exactly ``text``."""

    text: str


@dataclass(frozen=True, slots=True)
class Characters:
    """Denote one character of a set; an empty set denotes nothing."""

    members: CharacterSet


@dataclass(frozen=True, slots=True)
class Words:
    """Denote any one of many texts; sorted and distinct."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """Denote all parts, one after the other; without parts, the empty text."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Denote any one of the options; without options, nothing."""

    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """Denote ``item`` from ``least`` to ``most`` times; ``most`` None has no upper bound."""

    item: Expression
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """Denote what the rule of this name denotes.

    Attributes:
        position: where the name stands in the grammar's text, in characters; no part of equality.
    """

    name: str
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Regular:
    """Denote the texts of a finished automaton: what look-arounds and boundaries leave of a pattern."""

    language: TextLanguage


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Denote the texts of a contract of its own, such as the JSON of a schema."""

    contract: Contract[object]


Expression: TypeAlias = "Word | Characters | Words | Row | Either | Times | Named | Regular | Embedded"

NOTHING = Either(())
"""Denotes no text."""

EMPTY_TEXT = Row(())
"""Denotes the empty text."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Hold a grammar: what each name stands for, and the name to begin with.

    Attributes:
        start: the name of the rule that a whole text is made of.
        rules: the expression of each rule, in the order of the grammar. Every name that one refers to is among them.
        positions: where each rule is defined in the grammar's text, in characters.
    """

    start: str
    rules: Mapping[str, Expression]
    positions: Mapping[str, int] = field(default_factory=dict[str, int])


def row(parts: Iterable[Expression]) -> Expression:
    """Return the parts in a row; rows within are opened, and words that meet are one."""
    flat: list[Expression] = []
    letters: list[str] = []
    for part in parts:
        for each in part.parts if isinstance(part, Row) else (part,):
            if isinstance(each, Word):
                letters.append(each.text)
                continue
            _end_word(flat, letters)
            flat.append(each)
    _end_word(flat, letters)
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def _end_word(flat: list[Expression], letters: list[str]) -> None:
    word = "".join(letters)
    letters.clear()
    if word:
        flat.append(Word(word))


def either(options: Iterable[Expression]) -> Expression:
    """Return the choice of the options, each once; choices within are opened."""
    flat: dict[Expression, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Either) else (option,)))
    found = tuple(flat)
    return found[0] if len(found) == 1 else Either(found)


def times(item: Expression, least: int, most: int | None) -> Expression:
    """Return ``item`` from ``least`` to ``most`` times."""
    if most == 0:
        return EMPTY_TEXT
    return item if (least, most) == (1, 1) else Times(item, least, most)


__all__ = [
    "EMPTY_TEXT",
    "NOTHING",
    "Characters",
    "Either",
    "Embedded",
    "Expression",
    "Named",
    "Regular",
    "Row",
    "Rules",
    "Times",
    "Word",
    "Words",
    "either",
    "row",
    "times",
]
