"""Walk many nodes at once, level by level over arrays.

Each distinct term met gets a number and a row of 256 successors, filled as bytes occur, so that a level costs a few
array operations and each derivative is taken once. It pays where thousands of nodes stay alive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from commitgate_local.trie import child_ranges

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.leaf_walk import Mask
    from commitgate_local.trie import Ints, Trie

Start: TypeAlias = "tuple[int, Term]"

# Distinct terms that a wide walk may number: 4 MiB of rows. A walk with more (each byte its own term) gains nothing
# from rows, and goes on as a loop.
_WIDE_TERMS = 4_096

_UNKNOWN = -1
_DEAD = 0


class WideWalk:
    """Walk many nodes at once; terms are numbered as they are met, number 0 is the dead one.

    Attributes:
        left_over: the frontier at which the walk stopped because it met too many terms; empty otherwise.
    """

    def __init__(self, trie: Trie) -> None:
        self._trie = trie
        self._numbers: dict[Term, int] = {}
        self._terms: list[Term] = []
        self._rows = np.full((16, 256), _UNKNOWN, np.int32)
        self.left_over: list[Start] = []

    def levels(self, starts: Sequence[Start]) -> Iterator[tuple[Ints, Ints]]:
        """Iterate over the live nodes below the starts, one level at a time, with the numbers of their terms."""
        self._number(starts[0][1].arena.empty)
        nodes = np.fromiter((node for node, _ in starts), np.int32, len(starts))
        terms = np.fromiter((self._number(term) for _, term in starts), np.int32, len(starts))
        while len(nodes) and (found := self._below(nodes, terms)) is not None:
            nodes, terms = found
            yield nodes, terms

    def nullable(self, terms: Ints) -> Mask:
        """Return, for each numbered term, whether it is nullable."""
        return np.array([term.nullable for term in self._terms], np.bool_)[terms]

    def _below(self, nodes: Ints, terms: Ints) -> tuple[Ints, Ints] | None:
        """Return the live children of the nodes and their terms; None, and ``left_over``, when it gets too much."""
        if len(self._terms) > _WIDE_TERMS:
            pairs = zip(nodes.tolist(), terms.tolist(), strict=True)
            self.left_over = [(node, self._terms[number]) for node, number in pairs]
            return None
        children, counts = child_ranges(self._trie, nodes)
        parents = np.repeat(terms, counts)
        edges = self._trie.byte[children]
        following = self._rows[parents, edges]
        unknown = following == _UNKNOWN
        if unknown.any():
            self._fill(np.unique(parents[unknown] * np.int32(256) + edges[unknown]))
            following = self._rows[parents, edges]
        alive = following != _DEAD
        return children[alive], following[alive]

    def _fill(self, pairs: Ints) -> None:
        found: list[int] = pairs.tolist()
        for number, byte in (divmod(pair, 256) for pair in found):
            following = self._number(self._terms[number].step(byte))
            self._rows[number, byte] = following

    def _number(self, term: Term) -> int:
        found = self._numbers.get(term)
        if found is None:
            found = self._numbers[term] = len(self._terms)
            self._terms.append(term)
            if found == len(self._rows):
                self._rows = np.concatenate((self._rows, np.full_like(self._rows, _UNKNOWN)))
        return found


__all__ = ["WideWalk"]
