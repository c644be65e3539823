"""Take one step of a character-level automaton, without all the other steps that its state allows.

A text that is read for the first time asks each state for one character; its ranges would cost far more.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from commitgate.automaton.strings import CharacterState, Length, NoneOf, OneOf, TextTable
from commitgate.automaton.text_language import DfaState, standing


def after_character(state: CharacterState, point: int) -> CharacterState | None:
    """Return the state after a code point, the same that ``ranges`` gives; None where it cannot follow.

    Args:
        point: a code point that is no surrogate.
    """
    match state:
        case OneOf():
            return _after_one_of(state, point)
        case NoneOf():
            return _after_none_of(state, point)
        case DfaState():
            return _after_dfa(state, point)
        case Length(_, 0):
            return None
        case Length(0, None):
            return state
        case _:
            ranges = state.ranges()
            at = bisect_right(ranges, point, key=lambda entry: entry[0]) - 1
            return ranges[at][2] if at >= 0 and point <= ranges[at][1] else None


def _with_next(table: TextTable, low: int, high: int, offset: int, point: int) -> tuple[int, int]:
    """Return the part of a range of texts, equal up to ``offset``, that go on with a character there."""
    texts = table.texts
    if low < high and len(texts[low]) == offset:
        low += 1
    start = bisect_left(texts, point, low, high, key=lambda text: ord(text[offset]))
    if start == high or ord(texts[start][offset]) != point:
        return start, start
    return start, bisect_left(texts, point + 1, start, high, key=lambda text: ord(text[offset]))


def _after_one_of(state: OneOf, point: int) -> CharacterState | None:
    low, high = _with_next(state.table, state.low, state.high, state.offset, point)
    everything = (1 << high - low) - 1
    skipped = state.skipped & everything << low
    if skipped >> low == everything:
        return None
    return OneOf(state.table, low, high, state.offset + 1, skipped)


def _after_none_of(state: NoneOf, point: int) -> CharacterState | None:
    following = after_character(state.base, point)
    if following is None:
        return None
    low, high = _with_next(state.table, state.low, state.high, state.offset, point)
    if low == high:
        return following
    left = NoneOf(state.table, low, high, state.offset + 1, following)
    return left if left.size(1) else None


def _after_dfa(state: DfaState, point: int) -> CharacterState | None:
    if state.most == 0:
        return None
    ranges = state.dfa.ranges(state.at)
    at = bisect_right(ranges, point, key=lambda entry: entry[0]) - 1
    if at < 0 or ranges[at][1] < point:
        return None
    most = None if state.most is None else state.most - 1
    return standing(state.dfa, ranges[at][2], max(state.least - 1, 0), most)


__all__ = ["after_character"]
