"""Turn parsed patterns, matched from the first character of a text to the last, into expressions.

Counts stay counts: nothing is unrolled. Anchors and look-arounds whose truth shows from where they stand, such as those
at the ends of a pattern, are decided here; each outermost alternative in which another one is left becomes an automaton
as a whole, because what it looks at may lie anywhere in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeAlias, assert_never

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.grammar import expression
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    NOTHING,
    Either,
    Expression,
    Regular,
    Row,
    Word,
    row,
    times,
)
from commitgate.automaton.regex.machine import Steps
from commitgate.automaton.regex.pattern import language_of
from commitgate.automaton.regex.syntax import (
    Alternation,
    Characters,
    Concatenation,
    Look,
    Node,
    Repeat,
    TextEnd,
    TextStart,
    WordBoundary,
    concatenated,
    has_assertion,
    width,
)

Edge: TypeAlias = "bool | None"
"""Whether a place is an end of the text: always, never, or (None) in some texts alone."""

MAX_WHOLE_STEPS = 100_000
"""Most steps that all automata of one pattern may take together."""

_OVERLAPS_IN_A_STEP = 8
_SINGLE_AUTOMATA = 20
"""Up to so many outermost alternatives get an automaton each, which keeps a long count in one of them a count."""


def whole_match(node: Node) -> Expression:
    """Return the texts that a pattern matches from their first character to their last.

    Raises:
        TooManyStates: what look-arounds, boundaries and inner anchors ask for takes too large an automaton.
    """
    options = node.options if isinstance(node, Alternation) else (node,)
    found: list[Expression] = []
    unsettled: list[Node] = []
    for option in options:
        lowered = _lowered(option, True, True) if has_assertion(option) else _plain(option)
        if lowered is None:
            unsettled.append(option)
        else:
            found.append(lowered)
    if len(unsettled) > _SINGLE_AUTOMATA:
        unsettled = [Alternation(tuple(unsettled))]
    steps = Steps(MAX_WHOLE_STEPS)
    for option in unsettled:
        steps.spend(_overlaps(option) // _OVERLAPS_IN_A_STEP)
        language = language_of(concatenated((TextStart(), option, TextEnd())), steps)
        found.append(NOTHING if language is None else Regular(language))
    return _choice(found)


def _choice(options: Sequence[Expression]) -> Expression:
    """Return the choice of the options; equal ones stay, because telling so would hash whole patterns again."""
    flat: list[Expression] = []
    for option in options:
        flat.extend(option.options if isinstance(option, Either) else (option,))
    return flat[0] if len(flat) == 1 else Either(tuple(flat))


def _row(parts: Sequence[Expression]) -> Expression:
    return NOTHING if any(_is_nothing(part) for part in parts) else row(parts)


def _times(item: Expression, least: int, most: int | None) -> Expression:
    if _is_nothing(item):
        return EMPTY_TEXT if least == 0 else NOTHING
    return item if isinstance(item, Row) and not item.parts else times(item, least, most)


def _is_nothing(found: Expression) -> bool:
    return isinstance(found, Either) and not found.options


def _one_character(node: Characters) -> Expression:
    ranges = node.members.ranges
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return Word(chr(ranges[0][0]))
    return expression.Characters(node.members) if ranges else NOTHING


def _plain(node: Node) -> Expression:
    """Return what a node without assertions matches, wherever it stands."""
    match node:
        case Characters():
            return _one_character(node)
        case Concatenation(items):
            return _row([_plain(item) for item in items])
        case Alternation(options):
            return _choice([_plain(option) for option in options])
        case Repeat(item, least, most):
            return _times(_plain(item), least, most)
        case TextStart() | TextEnd() | WordBoundary() | Look():
            raise AssertionError("an assertion in a plain pattern")
        case _:
            assert_never(node)


def _lowered(node: Node, at_start: Edge, at_end: Edge) -> Expression | None:
    """Return what a node matches between two places; None where more than the places would have to be known."""
    match node:
        case Characters():
            return _one_character(node)
        case Concatenation(items):
            return _lowered_row(items, at_start, at_end)
        case Alternation(options):
            found = [_lowered(option, at_start, at_end) for option in options]
            known = [option for option in found if option is not None]
            return _choice(known) if len(known) == len(found) else None
        case Repeat(item, least, most):
            if most != 1:
                at_start, at_end = at_start and None, at_end and None
            lowered = _lowered(item, at_start, at_end)
            return None if lowered is None else _times(lowered, least, most)
        case TextStart():
            return _decided(at_start)
        case TextEnd():
            return _decided(at_end)
        case WordBoundary():
            return None
        case Look(item, is_behind, is_negated):
            is_edge = at_start if is_behind else at_end
            return _decided(is_negated) if is_edge and width(item)[0] > 0 else None
        case _:
            assert_never(node)


def _lowered_row(items: tuple[Node, ...], at_start: Edge, at_end: Edge) -> Expression | None:
    if not items:
        return EMPTY_TEXT
    widths = [width(item) for item in items]
    starts = _edges(widths, at_start)
    ends = _edges(widths[::-1], at_end)[::-1]
    found: list[Expression] = []
    for item, start, end in zip(items, starts, ends, strict=True):
        lowered = _lowered(item, start, end) if has_assertion(item) else _plain(item)
        if lowered is None:
            return None
        found.append(lowered)
    return _row(found)


def _edges(widths: list[tuple[int, int | None]], outer: Edge) -> list[Edge]:
    """Return for each item of a row whether it stands at the edge where the row begins."""
    found: list[Edge] = []
    edge = outer
    for least, most in widths:
        found.append(edge)
        if least > 0:
            edge = False
        elif most != 0:
            edge = edge and None
    return found


def _overlaps(node: Node) -> int:
    """Return in how many sets of the pattern the ends of their ranges lie, all together: the work of an alphabet."""
    changes: dict[int, int] = {}
    for members in _sets(node):
        for first, last in members.ranges:
            changes[first] = changes.get(first, 0) + 1
            changes[last + 1] = changes.get(last + 1, 0) - 1
    return sum(accumulate(changes[point] for point in sorted(changes)))


def _sets(node: Node) -> list[CharacterSet]:
    pending: list[Node] = [node]
    found: dict[Characters, None] = {}
    while pending:
        match pending.pop():
            case Characters() as characters:
                found[characters] = None
            case Concatenation(parts) | Alternation(parts):
                pending.extend(parts)
            case Repeat(item) | Look(item):
                pending.append(item)
            case TextStart() | TextEnd() | WordBoundary():
                pass
    return [characters.members for characters in found]


def _decided(holds: Edge) -> Expression | None:
    return None if holds is None else EMPTY_TEXT if holds else NOTHING


__all__ = ["whole_match"]
