"""Walk the tree of a vocabulary with a term, and say which tokens stay alive.

Two ways, same result. A narrow walk (a literal, a number) is a plain Python loop, which wins while few nodes are
alive. A wide one (the inside of a string keeps tens of thousands of tokens alive) goes level by level over arrays:
each distinct term met gets a number and a row of 256 successors, filled as bytes occur, so that a level costs a few
array operations and each derivative is taken once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from commitgate_local.trie import Ints, Trie

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term

Mask: TypeAlias = NDArray[np.bool_]
Start: TypeAlias = "tuple[int, Term]"

# Nodes that a walk may meet before it goes over to arrays. Measured on a vocabulary of 49,152 tokens: below some
# thousand nodes the loop costs less than the fixed price of the array operations.
_NARROW_NODES = 2_000

# Distinct terms that a wide walk may number: 4 MiB of rows. A walk with more (each byte its own term) gains nothing
# from rows, and goes on as a loop.
_WIDE_TERMS = 4_096

_UNKNOWN = -1
_DEAD = 0


@dataclass(frozen=True)
class LeafWalk:
    """Say what one leaf term makes of every token, whatever follows the leaf.

    Attributes:
        inside: tokens after which the leaf has begun or goes on, and may not end. [width] bool
        exits: nodes, other than the root, whose path is a whole text of the leaf, ascending.
        trie: the tree that was walked.
    """

    inside: Mask
    exits: Ints
    trie: Trie

    @cached_property
    def inside_or_ended(self) -> Mask:
        """Return the tokens after which the leaf lives, be it that it may end there or not. [width] bool"""
        result = self.inside.copy()
        result[_ids(self.trie, self.exits)] = True
        return result

    @cached_property
    def open_exits(self) -> list[int]:
        """Return the exits below which there are further nodes."""
        first = self.trie.child_first
        return self.exits[first[self.exits + 1] > first[self.exits]].tolist()

    @cached_property
    def exit_paths(self) -> tuple[tuple[int, bytes], ...]:
        """Return each exit with its path."""
        return tuple((node, self.trie.path(node)) for node in self.exits.tolist())

    @property
    def size_bytes(self) -> int:
        """Return the memory that it takes, all of its lazy parts included."""
        return 2 * self.inside.nbytes + 120 * len(self.exits)


class Walker:
    """Walk one vocabulary.

    Args:
        trie: its tree.
        width: number of logits columns.
    """

    def __init__(self, trie: Trie, width: int) -> None:
        self.trie = trie
        self.width = width

    def mark_below(self, starts: Sequence[Start], mask: Mask) -> None:
        """Mark the tokens that end below the given nodes and are alive.

        Args:
            starts: nodes, each with the term that remains there. The nodes' own tokens are not marked.
            mask: where to mark, changed in place. [width] bool
        """
        alive, frontier = self._narrow(list(starts), _NARROW_NODES)
        mask[_ids(self.trie, np.array(alive, np.int32))] = True
        if frontier:
            wide = _Wide(self.trie)
            for nodes, _ in wide.levels(frontier):
                mask[_ids(self.trie, nodes)] = True
            rest, _ = self._narrow(wide.left_over, None)
            mask[_ids(self.trie, np.array(rest, np.int32))] = True

    def mark_nodes(self, nodes: Sequence[int], mask: Mask) -> None:
        """Mark the tokens that end exactly at the given nodes."""
        mask[_ids(self.trie, np.array(nodes, np.int32))] = True

    def leaf(self, leaf: Term) -> LeafWalk:
        """Walk a leaf over the whole vocabulary."""
        inside = np.zeros(self.width, np.bool_)
        exits: list[Ints] = []
        wide = _Wide(self.trie)
        for nodes, terms in wide.levels([(0, leaf)]):
            ended = wide.nullable(terms)
            exits.append(nodes[ended])
            inside[_ids(self.trie, nodes[~ended])] = True
        self._finish_leaf(wide.left_over, inside, exits)
        found = np.sort(np.concatenate(exits)) if exits else np.zeros(0, np.int32)
        inside.flags.writeable = False
        return LeafWalk(inside, found, self.trie)

    def _finish_leaf(self, starts: list[Start], inside: Mask, exits: list[Ints]) -> None:
        dead_end: list[int] = []
        ended: list[int] = []
        while starts:
            node, term = starts.pop()
            empty = term.arena.empty
            for byte, child in self.trie.children(node):
                following = term.step(byte)
                if following is not empty:
                    (ended if following.nullable else dead_end).append(child)
                    starts.append((child, following))
        inside[_ids(self.trie, np.array(dead_end, np.int32))] = True
        exits.append(np.array(ended, np.int32))

    def _narrow(self, stack: list[Start], most: int | None) -> tuple[list[int], list[Start]]:
        """Return the live nodes below the starts, and the starts that are left when there are more than ``most``."""
        alive: list[int] = []
        if not stack:
            return alive, stack
        children, empty = self.trie.children, stack[0][1].arena.empty
        while stack and (most is None or len(alive) < most):
            node, term = stack.pop()
            step = term.step
            for byte, child in children(node):
                following = step(byte)
                if following is not empty:
                    alive.append(child)
                    stack.append((child, following))
        return alive, stack


class _Wide:
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

    def levels(self, starts: Sequence[Start]) -> _Levels:
        """Iterate over the live nodes below the starts, one level at a time, with the numbers of their terms."""
        self._number(starts[0][1].arena.empty)
        nodes = np.fromiter((node for node, _ in starts), np.int32, len(starts))
        terms = np.fromiter((self._number(term) for _, term in starts), np.int32, len(starts))
        return _Levels(self, nodes, terms)

    def nullable(self, terms: Ints) -> Mask:
        """Return, for each numbered term, whether it is nullable."""
        return np.array([term.nullable for term in self._terms], np.bool_)[terms]

    def below(self, nodes: Ints, terms: Ints) -> tuple[Ints, Ints] | None:
        """Return the live children of the nodes and their terms; None, and ``left_over``, when it gets too much."""
        if len(self._terms) > _WIDE_TERMS:
            pairs = zip(nodes.tolist(), terms.tolist(), strict=True)
            self.left_over = [(node, self._terms[number]) for node, number in pairs]
            return None
        starts = self._trie.child_first[nodes]
        counts = self._trie.child_first[nodes + 1] - starts
        children = self._trie.child[_ranges(starts, counts)]
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


class _Levels:
    """Iterate over the levels of a wide walk."""

    def __init__(self, wide: _Wide, nodes: Ints, terms: Ints) -> None:
        self._wide = wide
        self._nodes = nodes
        self._terms = terms

    def __iter__(self) -> _Levels:
        return self

    def __next__(self) -> tuple[Ints, Ints]:
        found = self._wide.below(self._nodes, self._terms)
        if found is None or not len(found[0]):
            raise StopIteration
        self._nodes, self._terms = found
        return found


def _ranges(starts: Ints, counts: Ints) -> NDArray[np.int64]:
    """Return all numbers of the ranges that begin at ``starts`` and hold ``counts`` numbers, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts)


def _ids(trie: Trie, nodes: Ints) -> Ints:
    """Return the ids of the tokens that end at the given nodes."""
    starts = trie.first[nodes]
    return trie.order[_ranges(starts, trie.first[nodes + 1] - starts)]


__all__ = ["LeafWalk", "Mask", "Walker"]
