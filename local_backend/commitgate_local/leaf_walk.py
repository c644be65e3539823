"""Hold what a term that many states share makes of the tokens below one node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from commitgate_local.trie import Spots, ids_at

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.trie import Ints, Trie

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class LeafWalk:
    """Say what one leaf term makes of the tokens below a node, whatever follows the leaf.

    Attributes:
        inside: from the root, the tokens after which the leaf has begun or goes on, and may not end; the last entry
            stands for no column. [width + 1] bool. None from another node.
        ids: the ids of these from another node; none from the root.
        exits: nodes whose path is a whole text of the leaf, ascending.
        trie: the tree that was walked.
    """

    inside: Mask | None
    ids: Ints
    exits: Ints
    trie: Trie

    @cached_property
    def exit_ids(self) -> Ints:
        """Return the ids of the tokens that end at the exits."""
        return ids_at(self.trie, self.exits)

    @cached_property
    def open_exits(self) -> Spots:
        """Return the exits below which there are further nodes."""
        return Spots(self.trie, self.exits[self.trie.end[self.exits] > self.exits + 1].tolist())

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes, all of its lazy parts included."""
        return (0 if self.inside is None else self.inside.nbytes) + self.ids.nbytes + 12 * len(self.exits) + 400


def leaf_walk(trie: Trie, width: int, node: int, ids: Ints, exits: Ints) -> LeafWalk:
    """Return the walk from a node, given the ids of the tokens inside."""
    if node:
        return LeafWalk(None, ids, exits, trie)
    inside = np.zeros(width + 1, np.bool_)
    inside[ids] = True
    return LeafWalk(inside, NO_IDS, exits, trie)


def walked_by_bytes(trie: Trie, width: int, leaf: Term, node: int) -> LeafWalk:
    """Return the walk of any term, one node after the other."""
    inside: list[int] = []
    exits: list[int] = []
    empty = leaf.arena.empty
    stack = [(node, leaf)]
    while stack:
        at, term = stack.pop()
        for byte, child in trie.children(at).items():
            following = term.step(byte)
            if following is not empty:
                (exits if following.nullable else inside).append(child)
                stack.append((child, following))
    return leaf_walk(trie, width, node, ids_at(trie, _nodes(inside)), _nodes(sorted(exits)))


def _nodes(found: Iterable[int]) -> Ints:
    return np.fromiter(found, np.int32)


NO_IDS: Ints = np.zeros(0, np.int32)

__all__ = ["NO_IDS", "LeafWalk", "Mask", "leaf_walk", "walked_by_bytes"]
