"""Walk the tree of a vocabulary with terms, and remember the walks of those that states and contracts share."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import NoneOf
from commitgate.automaton.text_language import DfaState
from commitgate_local.bounded import BoundedCache
from commitgate_local.kept_walks import digest_of_walk
from commitgate_local.leaf_walk import LeafWalk, Mask, walked_by_bytes
from commitgate_local.string_walk import StringWalks
from commitgate_local.term_walk import TermWalk

if TYPE_CHECKING:
    from commitgate.automaton.dfa import Dfa
    from commitgate.automaton.terms import Arena, Term
    from commitgate_local.trie import Ints, Trie


# Walks of one arena that are remembered until they are kept.
_MOST_FRESH = 256

# What a state of an automaton takes, its lazy tables included, and what each of its ways out takes beside.
_ROW_BYTES = 500
_ENTRY_BYTES = 100


class Walker:
    """Walk one vocabulary. Usable from several threads.

    Args:
        trie: its tree.
        width: number of logits columns.
        limit_bytes: most memory for the walks that contracts share, and an eighth of it for those read from a folder.
        strings: walks strings.
        has_folder: whether new walks are noted, to be kept in a folder.
    """

    def __init__(
        self, trie: Trie, width: int, limit_bytes: int, strings: StringWalks, *, has_folder: bool = False
    ) -> None:
        self.trie = trie
        self.width = width
        self._strings = strings
        self._leaves: BoundedCache[object, LeafWalk] = BoundedCache(limit_bytes)
        self._known: BoundedCache[bytes, LeafWalk] = BoundedCache(limit_bytes // 8)
        # Automata whose memory one of the walks bears.
        self._counted: BoundedCache[Dfa, int] = BoundedCache(limit_bytes // 8)
        # Weak, since a matcher may go on long after its contract was dropped, and nobody asks for its walks then.
        self._fresh: WeakKeyDictionary[Arena, dict[bytes, LeafWalk]] = WeakKeyDictionary()
        self._lock = Lock()
        self._has_folder = has_folder

    @property
    def size_bytes(self) -> int:
        """Return the memory that shared walks take now."""
        return self._leaves.size_bytes + self._known.size_bytes

    @property
    def leaves(self) -> int:
        """Return the number of shared walks that are remembered."""
        return len(self._leaves)

    def learn(self, walks: Mapping[bytes, LeafWalk]) -> None:
        """Take over walks that were kept, by their digests."""
        for digest, walk in walks.items():
            self._known.put(digest, walk, walk.size_bytes)

    def take_fresh(self, arena: Arena) -> dict[bytes, LeafWalk]:
        """Return the walks of an arena's terms that were not known, each once."""
        with self._lock:
            return self._fresh.pop(arena, {})

    def mask(self, term: Term) -> tuple[Mask, Ints | None]:
        """Return the tokens after which the text lives, and their ids where they are few; see ``TermWalk.mask``."""
        return TermWalk(self.trie, self.width, self.leaf, term.arena).mask(term)

    def leaf(self, leaf: Term, node: int) -> LeafWalk:
        """Return the walk of a shared leaf from a node."""
        key = (leaf.shared_key, node)
        found = self._leaves.get(key)
        if found is None:
            found = self._kept(leaf, node) if self._has_folder else self._walked(leaf, node)
            self._leaves.put(key, found, found.size_bytes + self._uncounted_bytes(leaf))
        return found

    def _uncounted_bytes(self, leaf: Term) -> int:
        """Return the memory of the automaton that a leaf is remembered by; nought where another leaf bears it."""
        state = leaf.state if isinstance(leaf, StringBody) else None
        while isinstance(state, NoneOf):
            state = state.base
        if not isinstance(state, DfaState) or self._counted.get(state.dfa) is not None:
            return 0
        rows = state.dfa.rows
        size = _ROW_BYTES * len(rows) + _ENTRY_BYTES * sum(map(len, rows))
        self._counted.put(state.dfa, size, size)
        return size

    def _kept(self, leaf: Term, node: int) -> LeafWalk:
        digest = digest_of_walk(leaf, node, self.trie)
        if digest is None:
            return self._walked(leaf, node)
        found = self._known.get(digest)
        if found is None:
            found = self._walked(leaf, node)
            with self._lock:
                fresh = self._fresh.setdefault(leaf.arena, {})
                if len(fresh) < _MOST_FRESH:
                    fresh[digest] = found
        return found

    def _walked(self, leaf: Term, node: int) -> LeafWalk:
        found = self._strings.walk(leaf, node, self.leaf) if isinstance(leaf, StringBody) else None
        return walked_by_bytes(self.trie, self.width, leaf, node) if found is None else found


__all__ = ["Mask", "Walker"]
