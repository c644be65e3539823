"""Walk the tree of a vocabulary with terms, and remember the walks of those that states and contracts share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.automaton.spelling import StringBody
from commitgate_local.bounded import BoundedCache
from commitgate_local.leaf_walk import LeafWalk, Mask, walked_by_bytes
from commitgate_local.string_walk import StringWalks
from commitgate_local.term_walk import TermWalk

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.trie import Trie


class Walker:
    """Walk one vocabulary. Usable from several threads.

    Args:
        trie: its tree.
        width: number of logits columns.
        limit_bytes: most memory for the walks that contracts share.
    """

    def __init__(self, trie: Trie, width: int, limit_bytes: int) -> None:
        self.trie = trie
        self.width = width
        self._strings = StringWalks(trie, width)
        self._leaves: BoundedCache[object, LeafWalk] = BoundedCache(limit_bytes)

    @property
    def size_bytes(self) -> int:
        """Return the memory that shared walks take now."""
        return self._leaves.size_bytes

    @property
    def leaves(self) -> int:
        """Return the number of shared walks that are remembered."""
        return len(self._leaves)

    def mask(self, term: Term) -> Mask:
        """Return the tokens after which the text lives; the last entry stands for no column. [width + 1] bool"""
        return TermWalk(self.trie, self.width, self.leaf, term.arena).mask(term)

    def leaf(self, leaf: Term, node: int) -> LeafWalk:
        """Return the walk of a shared leaf from a node."""
        key = (leaf.shared_key, node)
        found = self._leaves.get(key)
        if found is None:
            found = self._strings.walk(leaf, node, self.leaf) if isinstance(leaf, StringBody) else None
            if found is None:
                found = walked_by_bytes(self.trie, self.width, leaf, node)
            self._leaves.put(key, found, found.size_bytes)
        return found


__all__ = ["Mask", "Walker"]
