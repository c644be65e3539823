"""Say where an automaton over characters stands after each character of a vocabulary, and what may follow there."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from commitgate.automaton.text_language import DfaState, is_live

if TYPE_CHECKING:
    from commitgate.automaton.alphabet import Alphabet
    from commitgate.automaton.dfa import Dfa
    from commitgate_local.character_trie import CharacterTrie
    from commitgate_local.trie import Ints

Booleans: TypeAlias = NDArray[np.bool_]

NEVER = np.iinfo(np.int32).max
"""More characters than any bound allows: what is never legal."""
_LONGEST_TOKEN = 1 << 20


def states_after(below: CharacterTrie, dfa: Dfa, start: int, letters: Ints) -> Ints:
    """Return the state after each character; the number of states where it is dead. [characters] int32"""
    dead, width = len(dfa), dfa.alphabet.count + 1
    following = _table(dfa, width)
    states = np.full(len(below.node), dead, np.int32)
    states[0] = start
    for low, high in zip(below.levels, below.levels[1:], strict=False):
        # All numbers are in range; "clip" says so, and halves what a look-up takes.
        at = states.take(below.parent[low:high], mode="clip")
        at *= width
        at += letters[low:high]
        level = following.take(at, out=states[low:high], mode="clip")
        if (level == dead).all():
            break
    return states


def _table(dfa: Dfa, width: int) -> Ints:
    """Return the state that follows each state by each class, row by row; the number of states for the dead one."""
    found = np.full((len(dfa) + 1) * width, len(dfa), np.int32)
    places = [state * width + letter for state, row in enumerate(dfa.rows) for letter, _ in row]
    found[places] = [target for row in dfa.rows for _, target in row]
    return found


def letters_of(below: CharacterTrie, alphabet: Alphabet) -> Ints:
    """Return the class of each character, the number of classes where it has none. [characters] int32"""
    codes, at = below.distinct_codes
    numbers = np.array(alphabet.numbers, np.int32)
    numbers[numbers < 0] = alphabet.count
    return numbers[np.searchsorted(np.array(alphabet.starts), codes, side="right") - 1].take(at, mode="clip")


def in_bounds(below: CharacterTrie, state: DfaState, states: Ints, live: Booleans) -> Booleans:
    """Return the characters after which a text within the bounds is still possible. [characters] bool"""
    count, lengths = len(state.dfa), state.dfa.lengths
    if state.least and state.most is not None:
        found = live.copy()
        for depth, (low, high) in enumerate(zip(below.levels, below.levels[1:], strict=False), 1):
            if not live[low:high].any():
                break
            found[low:high] = _live_states(state, depth)[states[low:high]]
        return found
    ends = np.zeros(count + 1, np.int32)
    if state.most is not None:
        ends[:count] = lengths.shortest()
        return ends.take(states, mode="clip") + below.depth <= state.most
    ends[:count] = [NEVER - _LONGEST_TOKEN if longest is None else longest for longest in lengths.longest()]
    return ends.take(states, mode="clip") + below.depth >= state.least


def live_kinds(below: CharacterTrie, state: DfaState, at: int, depth: int) -> Booleans:
    """Return which half-read characters can become one that leads on, after ``depth`` characters. [kinds] bool"""
    least, most = max(state.least - depth - 1, 0), None if state.most is None else state.most - depth - 1
    if most is not None and most < 0:
        return np.zeros(len(below.kinds), np.bool_)
    pieces = [(low, high) for low, high, target in state.dfa.ranges(at) if is_live(state.dfa, target, least, most)]
    if not pieces:
        return np.zeros(len(below.kinds), np.bool_)
    starts, ends = np.array(pieces).T
    lows, highs, firsts = below.kind_ranges
    following = np.searchsorted(ends, lows)
    meets = (following < len(ends)) & (starts[np.minimum(following, len(starts) - 1)] <= highs)
    return np.logical_or.reduceat(meets, firsts)


def _live_states(state: DfaState, depth: int) -> Booleans:
    """Return which states can still end after ``depth`` characters; the dead one cannot. [states + 1] bool"""
    lengths, count = state.dfa.lengths, len(state.dfa)
    found = np.zeros(count + 1, np.bool_)
    assert state.most is not None
    if depth > state.most:
        return found
    least, most = max(state.least - depth, 0), state.most - depth
    members = lengths.within(least, most)
    found[:count] = [members >> at & 1 for at in range(count)]
    return found


__all__ = ["NEVER", "Booleans", "in_bounds", "letters_of", "live_kinds", "states_after"]
