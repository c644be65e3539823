"""Turn parsed patterns, matched from the first character of a text to the last, into expressions.

Counts stay counts: nothing is unrolled. Anchors, boundaries and look-arounds whose truth shows from what may stand
beside them, such as those at the ends of a pattern or between a word and a space, are decided here. Each outermost
alternative in which another one is left becomes an automaton as a whole, because what it looks at may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import assert_never

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
from commitgate.automaton.regex.classes import WORD
from commitgate.automaton.regex.machine import Steps
from commitgate.automaton.regex.pattern import language_of
from commitgate.automaton.regex.sides import END, Rim, Rims, Side
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

_OVERLAPS_IN_A_STEP = 8
_MAX_RANGES = 50_000
"""Most ranges of characters that may be joined to see what stands beside an assertion."""
_SINGLE_AUTOMATA = 20
"""Up to so many outermost alternatives get an automaton each, which keeps a long count in one of them a count."""


def whole_match(node: Node, steps: Steps | None = None) -> Expression:
    """Return the texts that a pattern matches from their first character to their last.

    Args:
        node: of the pattern.
        steps: counts the steps of automata; None takes as many as one pattern may take.

    Raises:
        TooManyStates: what look-arounds, boundaries and inner anchors ask for takes too large an automaton.
    """
    options = node.options if isinstance(node, Alternation) else (node,)
    found: list[Expression] = []
    unsettled: list[Node] = []
    lowering = _Lowering()
    for option in options:
        lowered = lowering.of(option, END, END) if has_assertion(option) else _plain(option)
        if lowered is None:
            unsettled.append(option)
        else:
            found.append(lowered)
    if len(unsettled) > _SINGLE_AUTOMATA:
        unsettled = [Alternation(tuple(unsettled))]
    steps = steps or Steps()
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


class _Lowering:
    """Decide the assertions of one pattern from what stands beside them, as far as that takes little work."""

    def __init__(self) -> None:
        self._rims = Rims()

    def of(self, node: Node, before: Side, after: Side) -> Expression | None:
        """Return what a node matches between two sides; None where an assertion depends on the text."""
        if self._rims.work > _MAX_RANGES:
            return None
        match node:
            case Characters():
                return _one_character(node)
            case Concatenation(items):
                return self._row(items, before, after)
            case Alternation(options):
                found = [self.of(option, before, after) for option in options]
                known = [option for option in found if option is not None]
                return _choice(known) if len(known) == len(found) else None
            case Repeat(item, least, most):
                if most != 1:
                    before, after = self._with(before, self._rims.last(item)), self._with(after, self._rims.first(item))
                lowered = self.of(item, before, after)
                return None if lowered is None else _times(lowered, least, most)
            case TextStart():
                return _decided(before.is_end)
            case TextEnd():
                return _decided(after.is_end)
            case WordBoundary(is_negated):
                behind, ahead = before.is_among(WORD), after.is_among(WORD)
                return None if behind is None or ahead is None else _decided((behind != ahead) != is_negated)
            case Look():
                return _looked(node, before, after)
            case _:
                assert_never(node)

    def _row(self, items: tuple[Node, ...], before: Side, after: Side) -> Expression | None:
        afters = [after]
        for item in reversed(items[1:]):
            afters.append(self._rims.beyond(afters[-1], self._rims.first(item)))
        found: list[Expression] = []
        for item, following in zip(items, reversed(afters), strict=False):
            lowered = self.of(item, before, following) if has_assertion(item) else _plain(item)
            if lowered is None:
                return None
            found.append(lowered)
            before = self._rims.beyond(before, self._rims.last(item))
        return _row(found)

    def _with(self, side: Side, rim: Rim) -> Side:
        return Side(side.has_end, self._rims.joined((side.members, rim.members)))


def _looked(look: Look, before: Side, after: Side) -> Expression | None:
    side = before if look.is_behind else after
    if isinstance(look.item, Characters):
        found = side.is_among(look.item.members)
    else:
        # Where the text ends, nothing matches that takes a character.
        found = False if side.is_end and width(look.item)[0] > 0 else None
    return None if found is None else _decided(found != look.is_negated)


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


def _decided(holds: bool | None) -> Expression | None:
    return None if holds is None else EMPTY_TEXT if holds else NOTHING


__all__ = ["whole_match"]
