"""Hold the texts of a vocabulary as one tree in flat arrays.

Nodes stand in depth-first order with smaller bytes first, which is also the order of the sorted texts: the subtree of
a node is the range ``node .. end[node]``, and the ids of its tokens are one range of ``order``. A walk that dies at a
node leaves thousands of tokens behind in one step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from commitgate_local.kept_arrays import AnyArray, ArrayFolder
    from commitgate_local.vocabulary import Vocabulary

Ints: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]

# Rows compared at once when the tree is built; bounds the scratch memory to this many times the longest token.
_CHUNK = 16_384

# The arrays that make a tree.
_ARRAYS = ("byte", "child", "child_first", "end", "first", "order", "parent")


class Trie:
    """Arrange the texts of tokens as a tree. Node 0 is the root.

    Args:
        tokens: the bytes of each id; None for ids that are not text.

    Attributes:
        byte: byte on the edge that leads to each node; 0 for the root. [nodes] uint8
        end: one past the last node of each node's subtree. [nodes] int32
        parent: parent of each node; the root is its own. [nodes] int32
        order: token ids, sorted by their bytes. [texts] int32
        first: the ids that end at node ``n`` are ``order[first[n] : first[n + 1]]``. [nodes + 1] int32
        child: all nodes but the root, grouped by parent. [nodes - 1] int32
        child_first: the children of ``n`` are ``child[child_first[n] : child_first[n + 1]]``. [nodes + 1] int32
    """

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        pairs = sorted((text, number) for number, text in enumerate(tokens) if text)
        self.order: Ints = np.fromiter((number for _, number in pairs), np.int32, len(pairs))
        texts = [text for text, _ in pairs]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        shared = _shared_lengths(texts, lengths)
        self.byte, depth, last_new = _nodes(texts, lengths, shared)
        self.end: Ints = _subtree_ends(depth)
        self.parent: Ints = _parents(depth)
        self.first: Ints = _token_starts(last_new, len(self.byte))
        self.child: Ints = np.argsort(self.parent[1:], kind="stable").astype(np.int32) + np.int32(1)
        counts = np.bincount(self.parent[1:], minlength=len(self.byte))
        self.child_first: Ints = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)

    @classmethod
    def kept(cls, vocabulary: Vocabulary, folder: ArrayFolder) -> Trie:
        """Read the tree of a vocabulary from a folder, or build it and leave it there for the next start."""
        key = ("trie", vocabulary.fingerprint)
        found = folder.get(*key)
        if found is not None:
            return cls._of_arrays(found)
        trie = cls(vocabulary.tokens)
        folder.put({name: getattr(trie, name) for name in _ARRAYS}, *key)
        return trie

    @classmethod
    def _of_arrays(cls, arrays: Mapping[str, AnyArray]) -> Trie:
        trie = cls.__new__(cls)
        for name, array in arrays.items():
            setattr(trie, name, array)
        return trie

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.byte)

    def path(self, node: int) -> bytes:
        """Return the bytes on the way from the root to a node."""
        result = bytearray()
        while node:
            result.append(self._bytes[node])
            node = self._parents[node]
        result.reverse()
        return bytes(result)

    def children(self, node: int) -> dict[int, int]:
        """Return the node of each child by its byte, ascending."""
        found = self._children.get(node)
        if found is None:
            nodes: list[int] = self.child[self.child_first[node] : self.child_first[node + 1]].tolist()
            found = self._children[node] = {self._bytes[child]: child for child in nodes}
        return found

    def follow(self, nodes: list[int], data: bytes, offset: int, alive: list[int]) -> list[int]:
        """Follow a text from several nodes to which its byte before ``offset`` led.

        Args:
            nodes: where it stands.
            data: the text.
            offset: how much of it was read.
            alive: gets every node met at which the text goes on.

        Returns:
            the nodes at which the text ends.
        """
        known, end = self._children, len(data)
        ended: list[int] = []
        for node in nodes:
            for at in range(offset, end):
                alive.append(node)
                below = known.get(node)
                node = (self.children(node) if below is None else below).get(data[at])
                if node is None:
                    break
            else:
                ended.append(node)
        return ended

    def spots(self, nodes: list[int]) -> Spots:
        """Return several nodes as one."""
        return self.spot(nodes[0]) if len(nodes) == 1 else Spots(self, nodes)

    def spot(self, node: int) -> Spots:
        """Return one node alone, which is kept."""
        found = self._spots.get(node)
        if found is None:
            found = self._spots[node] = Spots(self, [node])
        return found

    @cached_property
    def _spots(self) -> dict[int, Spots]:
        return {}

    @cached_property
    def has_twins(self) -> bool:
        """Return whether several ids have the same bytes."""
        return bool((np.diff(self.first) > 1).any())

    @cached_property
    def column(self) -> Ints:
        """Return the id of the token that ends at each node, where no two have the same bytes; -1 for none."""
        found = np.full(len(self.byte), -1, np.int32)
        counts = np.diff(self.first)
        found[counts > 0] = self.order[self.first[:-1][counts > 0]]
        return found

    @cached_property
    def _children(self) -> dict[int, dict[int, int]]:
        return {}

    @cached_property
    def _bytes(self) -> bytes:
        return self.byte.tobytes()

    @cached_property
    def _parents(self) -> list[int]:
        return self.parent.tolist()


class Spots:
    """Hold nodes at which a walk stands together."""

    __slots__ = ("_by_byte", "_trie", "nodes")

    def __init__(self, trie: Trie, nodes: list[int]) -> None:
        self.nodes = nodes
        self._trie = trie
        self._by_byte: dict[int, list[int]] | None = None

    @property
    def by_byte(self) -> dict[int, list[int]]:
        """Return the nodes' children by their bytes."""
        found = self._by_byte
        if found is None:
            found = dict[int, list[int]]()
            for node in self.nodes:
                for byte, child in self._trie.children(node).items():
                    found.setdefault(byte, []).append(child)
            self._by_byte = found
        return found


def ranges(starts: Ints, counts: Ints) -> NDArray[np.int64]:
    """Return all numbers of the ranges that begin at ``starts`` and hold ``counts`` numbers, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) + np.repeat(starts - (ends - counts), counts)


def child_ranges(trie: Trie, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the children of all nodes, one node's after the other's, and how many each node has."""
    starts = trie.child_first[nodes]
    counts = trie.child_first[nodes + 1] - starts
    return trie.child[ranges(starts, counts)], counts


def ids_at(trie: Trie, nodes: Ints) -> Ints:
    """Return the ids of the tokens that end at the given nodes."""
    starts = trie.first[nodes]
    return trie.order[ranges(starts, trie.first[nodes + 1] - starts)]


def _shared_lengths(texts: Sequence[bytes], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each text, how many first bytes it shares with the one before it. [texts]"""
    shared = np.zeros(len(texts), np.int64)
    for start in range(1, len(texts), _CHUNK):
        rows = texts[start - 1 : start + _CHUNK]
        matrix = _matrix(rows)
        equal = matrix[1:] == matrix[:-1]
        # Padding compares equal to padding and to real zero bytes, hence the bound by both lengths.
        # The first column that differs; a last one that always does stops rows which are equal throughout.
        run = np.column_stack((equal, np.zeros(len(equal), np.bool_))).argmin(axis=1)
        bound = np.minimum(lengths[start : start + _CHUNK], lengths[start - 1 : start - 1 + len(rows) - 1])
        shared[start : start + _CHUNK] = np.minimum(run, bound)
    return shared


def _matrix(rows: Sequence[bytes]) -> Bytes:
    """Return texts as rows, padded with zeros. [rows, longest] uint8"""
    longest = max(map(len, rows))
    return np.frombuffer(b"".join(row.ljust(longest, b"\0") for row in rows), np.uint8).reshape(len(rows), longest)


def _nodes(
    texts: Sequence[bytes], lengths: NDArray[np.int64], shared: NDArray[np.int64]
) -> tuple[Bytes, NDArray[np.int64], NDArray[np.int64]]:
    """Return the byte and depth of each node, root first, and the node at which each text ends."""
    new = lengths - shared
    total = int(new.sum())
    # A text adds one node for each byte beyond what it shares with its forerunner.
    starts = np.cumsum(new) - new
    within = np.arange(total) - np.repeat(starts, new)
    offsets = np.cumsum(lengths) - lengths
    joined = np.frombuffer(b"".join(texts), np.uint8)
    byte = joined[np.repeat(offsets + shared, new) + within]
    depth = np.repeat(shared, new) + within + 1
    # A text that adds no node is its forerunner again (two ids with equal bytes), and ends where that one ends.
    ends = starts + new
    return np.concatenate((np.zeros(1, np.uint8), byte)), np.concatenate((np.zeros(1, np.int64), depth)), ends


def _subtree_ends(depth: NDArray[np.int64]) -> Ints:
    """Return, for each node in depth-first order, the next node that is not deeper. [nodes]"""
    ends = [len(depth)] * len(depth)
    open_nodes: list[int] = []
    levels: list[int] = depth.tolist()
    for node, level in enumerate(levels):
        while open_nodes and levels[open_nodes[-1]] >= level:
            ends[open_nodes.pop()] = node
        open_nodes.append(node)
    return np.array(ends, np.int32)


def _parents(depth: NDArray[np.int64]) -> Ints:
    """Return the nearest node before each one that is one level higher; the root is its own. [nodes]"""
    last = [0] * (int(depth.max()) + 1)
    parents = [0] * len(depth)
    for node, level in enumerate(depth.tolist()):
        if node:
            parents[node] = last[level - 1]
        last[level] = node
    return np.array(parents, np.int32)


def _token_starts(ends: NDArray[np.int64], nodes: int) -> Ints:
    """Return where the ids of each node start among the sorted ids, given the node at which each id ends."""
    counts = np.bincount(ends, minlength=nodes)
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int32)


__all__ = ["Bytes", "Ints", "Spots", "Trie", "child_ranges", "ids_at", "ranges"]
