"""Say what a state inside a JSON string makes of every token, by its automaton over characters.

A bound of the length alone is one comparison with how many characters each token holds. An automaton is walked level by
level over all tokens at once. A set of excluded texts differs from what it is taken from only along these texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import Length, NoneOf
from commitgate.automaton.text_language import DfaState
from commitgate_local.bounded import BoundedCache
from commitgate_local.character_states import NEVER, Booleans, in_bounds, letters_of, live_kinds, states_after
from commitgate_local.character_trie import CharacterTrie
from commitgate_local.leaf_walk import NO_IDS, LeafWalk

if TYPE_CHECKING:
    from commitgate.automaton.alphabet import Alphabet
    from commitgate.automaton.dfa import Dfa
    from commitgate.automaton.spelling import Spelling
    from commitgate.automaton.terms import Term
    from commitgate_local.trie import Ints, Trie

_QUOTE = 0x22

# States times classes of an automaton that is walked as one table; a larger one is walked state by state.
_TABLE_ENTRIES = 4_000_000

# Most memory for what several states of one automaton have in common, twice.
_WORKING_BYTES = 8 * 1024 * 1024


class StringWalks:
    """Walk strings over one vocabulary. Usable from several threads: two that race build the same.

    Args:
        trie: the tree of the vocabulary.
        width: number of logits columns.
        characters: reads all texts of the tree as characters; None does so anew in each process.
    """

    def __init__(
        self, trie: Trie, width: int, characters: Callable[[Trie, Spelling], CharacterTrie] | None = None
    ) -> None:
        self._trie = trie
        self._width = width
        self._read = characters or _read
        self._characters: dict[tuple[int, Spelling], CharacterTrie] = {}
        self._walked: BoundedCache[object, Ints] = BoundedCache(_WORKING_BYTES)
        self._classes: BoundedCache[object, Ints] = BoundedCache(_WORKING_BYTES)
        self._columns: dict[Spelling, Ints] = {}
        self._needed: dict[tuple[int, Spelling], tuple[Ints, Ints]] = {}

    def prepare(self, spelling: Spelling) -> None:
        """Work out what all strings of a canonical spelling have in common, so that no first mask waits for it."""
        whole = self._below(0, spelling)
        self._character_of_column(whole)
        self._needs(whole)
        # Worked out on first use, and kept.
        _ = whole.half_tokens, whole.kind_ranges, whole.distinct_codes

    def walk(self, leaf: StringBody, node: int, other: Callable[[Term, int], LeafWalk]) -> LeafWalk | None:
        """Return the walk of a leaf from a node; None where it must be walked byte by byte.

        Args:
            leaf: the term.
            node: where in the tree it begins.
            other: gives the walk of another leaf, which may be remembered.
        """
        if leaf.pending is not None or not leaf.spelling.is_canonical:
            return None
        match leaf.state:
            case Length(least, most):
                return self._of_length(self._below(node, leaf.spelling), least, most)
            case DfaState() as state if len(state.dfa) * state.dfa.alphabet.count <= _TABLE_ENTRIES:
                return self._of_automaton(self._below(node, leaf.spelling), state)
            case NoneOf(base=base):
                return self._without_texts(leaf, node, other(StringBody.make(leaf.arena, base, leaf.spelling), node))
            case _:
                return None

    def _below(self, node: int, spelling: Spelling) -> CharacterTrie:
        key = (node, spelling)
        found = self._characters.get(key)
        if found is None:
            # Below other nodes than the root there are few texts, which take less time than their escape sequences.
            if node:
                found = CharacterTrie(self._trie, node, spelling, self._below(0, spelling).escapes)
            else:
                found = self._read(self._trie, spelling)
            self._characters[key] = found
        return found

    def _found(self, below: CharacterTrie, characters: Booleans, halves: Booleans, exits: Booleans) -> LeafWalk:
        found = below.exit_node[exits]
        half_ids, half_at = below.half_tokens
        if below.start:
            ids, at = below.character_tokens
            inside = np.concatenate((ids[characters[at]], half_ids[halves[half_at]]))
            return LeafWalk(None, inside, found, self._trie)
        # The beginning is no token, so its place stands for all columns that are none.
        characters[0] = False
        columns = characters.take(self._character_of_column(below), mode="clip")
        columns[half_ids] = halves[half_at]
        return LeafWalk(columns, NO_IDS, found, self._trie)

    def _character_of_column(self, below: CharacterTrie) -> Ints:
        """Return for each column the character that its token ends with, 0 where it does not. [width + 1] int32"""
        found = self._columns.get(below.spelling)
        if found is None:
            ids, at = below.character_tokens
            found = np.zeros(self._width + 1, np.int32)
            found[ids] = at
            self._columns[below.spelling] = found
        return found

    def _of_length(self, below: CharacterTrie, least: int, most: int | None) -> LeafWalk:
        ids, needed = self._needs(below)
        bound = NEVER - 1 if most is None else most
        inside = needed <= bound
        depth = below.depth[below.exit_after]
        exits = below.exit_node[(depth >= least) & (depth <= bound)]
        if below.start:
            return LeafWalk(None, ids[inside], exits, self._trie)
        return LeafWalk(inside, NO_IDS, exits, self._trie)

    def _needs(self, below: CharacterTrie) -> tuple[Ints, Ints]:
        """Return the ids of tokens, and how many characters each holds at least; at the root for each column."""
        key = (below.start, below.spelling)
        found = self._needed.get(key)
        if found is None:
            ids, at = below.character_tokens
            half_ids, half_at = below.half_tokens
            everyone = np.concatenate((ids, half_ids))
            needed = np.concatenate((below.depth[at], below.depth[below.half_after[half_at]] + 1))
            if not below.start:
                columns = np.full(self._width + 1, NEVER, np.int32)
                columns[everyone] = needed
                everyone, needed = NO_IDS, columns
            found = self._needed[key] = (everyone, needed)
        return found

    def _of_automaton(self, below: CharacterTrie, state: DfaState) -> LeafWalk:
        dfa, dead = state.dfa, len(state.dfa)
        states = self._states(below, dfa, state.at)
        live = states != dead
        if _is_counted(state):
            live &= in_bounds(below, state, states, live)
        halves = self._live_halves(below, state, states, live)
        accepting = np.zeros(dead + 1, np.bool_)
        accepting[list(dfa.accepting)] = True
        # After a state that may end no character need follow, so no more than are allowed were read where it is live.
        exits = accepting.take(states.take(below.exit_after, mode="clip"), mode="clip")
        exits &= live.take(below.exit_after, mode="clip")
        exits &= below.depth[below.exit_after] >= state.least
        return self._found(below, live, halves, exits)

    def _live_halves(self, below: CharacterTrie, state: DfaState, states: Ints, live: Booleans) -> Booleans:
        found = np.zeros(len(below.half_node), np.bool_)
        open_ = np.flatnonzero(live.take(below.half_after, mode="clip"))
        after = below.half_after[open_]
        depths = below.depth[after] if _is_counted(state) else np.zeros(len(open_), np.int32)
        # Few pairs of a state and a depth occur, and what half-read characters become is asked once for each.
        width = len(state.dfa) + 1
        pairs = depths * width + states[after]
        occurring = np.flatnonzero(np.bincount(pairs))
        row_of = np.zeros(width * (len(below.levels) + 1), np.int32)
        row_of[occurring] = np.arange(len(occurring), dtype=np.int32)
        if len(occurring):
            asked = [divmod(pair, width) for pair in occurring.tolist()]
            rows = np.stack([live_kinds(below, state, standing, depth) for depth, standing in asked])
            found[open_] = rows[row_of[pairs], below.half_kind[open_]]
        return found

    def _states(self, below: CharacterTrie, dfa: Dfa, start: int) -> Ints:
        """Return the state after each character; states that differ in their counts alone share a walk."""
        key = (below.start, below.spelling, dfa, start)
        found = self._walked.get(key)
        if found is None:
            found = states_after(below, dfa, start, self._letters(below, dfa.alphabet))
            self._walked.put(key, found, found.nbytes)
        return found

    def _letters(self, below: CharacterTrie, alphabet: Alphabet) -> Ints:
        key = (below.start, below.spelling, alphabet)
        found = self._classes.get(key)
        if found is None:
            found = letters_of(below, alphabet)
            self._classes.put(key, found, found.nbytes)
        return found

    def _without_texts(self, leaf: StringBody, node: int, base: LeafWalk) -> LeafWalk:
        """Return the walk of ``leaf``, which excludes texts, given the walk without that."""
        assert isinstance(leaf.state, NoneOf)
        state, trie = leaf.state, self._trie
        dead: list[int] = []
        closed: list[int] = []
        spelled = [leaf.spelling.text(text[state.offset :]) for text in state.table.texts[state.low : state.high]]
        stack: list[tuple[int, Term, list[bytes]]] = [
            (node, leaf, sorted(text for text in spelled if text is not None))
        ]
        while stack:
            at, term, texts = stack.pop()
            children = trie.children(at)
            if texts and not texts[0]:
                quote = children.get(_QUOTE)
                if quote is not None and term.step(_QUOTE) is term.arena.empty:
                    closed.append(quote)
            for byte, tails in _by_first(texts).items():
                child = children.get(byte)
                if child is None:
                    continue
                following = term.step(byte)
                if following is following.arena.empty:
                    dead.append(child)
                elif isinstance(following, StringBody) and (
                    following.pending is not None or isinstance(following.state, NoneOf)
                ):
                    stack.append((child, following, tails))
        return self._taken_away(base, dead, closed)

    def _taken_away(self, base: LeafWalk, dead: list[int], closed: list[int]) -> LeafWalk:
        trie = self._trie
        gone_nodes = [range(child, int(trie.end[child])) for child in (*dead, *closed)]
        exits = base.exits
        if gone_nodes:
            is_gone = np.zeros(len(exits), np.bool_)
            for nodes in gone_nodes:
                is_gone |= (exits >= nodes.start) & (exits < nodes.stop)
            exits = exits[~is_gone]
        if not dead:
            return LeafWalk(base.inside, base.ids, exits, trie)
        gone = np.concatenate([trie.order[trie.first[child] : trie.first[trie.end[child]]] for child in dead])
        inside = None if base.inside is None else base.inside.copy()
        if inside is not None:
            inside[gone] = False
        return LeafWalk(inside, np.setdiff1d(base.ids, gone), exits, trie)


def _read(trie: Trie, spelling: Spelling) -> CharacterTrie:
    return CharacterTrie(trie, 0, spelling)


def _is_counted(state: DfaState) -> bool:
    return bool(state.least) or state.most is not None


def _by_first(texts: list[bytes]) -> dict[int, list[bytes]]:
    found: dict[int, list[bytes]] = {}
    for text in texts:
        if text:
            found.setdefault(text[0], []).append(text[1:])
    return {byte: sorted(tails) for byte, tails in found.items()}


__all__ = ["StringWalks"]
