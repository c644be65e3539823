"""Walk the tree of a vocabulary with a term, and mark the tokens that stay alive.

The walk takes a term apart where it can: a literal is one path, a set of texts is compared with the nodes at hand, the
inside of a string is walked once for all (``StringWalks``), and what follows them begins at the few nodes at which they
end. Other terms are stepped byte by byte, over the bytes that are live.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.spelling import StringBody
from commitgate.automaton.terms import Choice, Literal, LiteralSet, Located, Sequence
from commitgate_local.bounded import BoundedCache
from commitgate_local.string_walk import LeafWalk, Mask, StringWalks
from commitgate_local.trie import ids_at

if TYPE_CHECKING:
    from commitgate.automaton.terms import Arena, Term
    from commitgate_local.trie import Ints, Spots, Trie


class _Then:
    """Go on with a term behind the one that is walked, and then with what is further out. Compared by identity."""

    __slots__ = ("outer", "rest")

    def __init__(self, rest: Term, outer: _Frame | None) -> None:
        self.rest = rest
        self.outer = outer


class _Captured:
    """Go on with what depends on the captured text, which began ``skip`` bytes below the root."""

    __slots__ = ("captured", "follow", "outer", "skip")

    def __init__(self, captured: bytes, skip: int, follow: Follow, outer: _Frame | None) -> None:
        self.captured = captured
        self.skip = skip
        self.follow = follow
        self.outer = outer


_Frame: TypeAlias = "_Then | _Captured"


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
        return _Walk(self, term.arena).mask(term)

    def leaf(self, leaf: Term, node: int) -> LeafWalk:
        """Return the walk of a shared leaf from a node."""
        key = (leaf.shared_key, node)
        found = self._leaves.get(key)
        if found is None:
            found = self._strings.walk(leaf, node, self.leaf) if isinstance(leaf, StringBody) else None
            if found is None:
                found = self._byte_by_byte(leaf, node)
            self._leaves.put(key, found, found.size_bytes)
        return found

    def _byte_by_byte(self, leaf: Term, node: int) -> LeafWalk:
        inside: list[int] = []
        exits: list[int] = []
        empty = leaf.arena.empty
        stack = [(node, leaf)]
        while stack:
            at, term = stack.pop()
            kids = self.trie.kids(at)
            if not kids:
                continue
            for byte, child in kids.items():
                following = term.step(byte)
                if following is empty:
                    continue
                (exits if following.nullable else inside).append(child)
                stack.append((child, following))
        ids = ids_at(self.trie, np.array(inside, np.int32))
        if node:
            return LeafWalk(ids, np.array(sorted(exits), np.int32), self.trie)
        mask = np.zeros(self.width + 1, np.bool_)
        mask[ids] = True
        return LeafWalk(mask, np.array(sorted(exits), np.int32), self.trie)


class _Walk:
    """Walk once, for one mask."""

    def __init__(self, walker: Walker, arena: Arena) -> None:
        self._walker = walker
        self._trie = walker.trie
        self._arena = arena
        self._empty, self._epsilon = arena.empty, arena.epsilon
        self._alive: list[int] = []
        self._wide: list[LeafWalk] = []
        self._exit_ids: list[Ints] = []
        self._stack: list[tuple[Term, Spots, _Frame | None]] = []
        self._frames: dict[tuple[int, int], _Then] = {}
        self._met: dict[tuple[int, int], set[int]] = {}

    def mask(self, term: Term) -> Mask:
        stack, spend = self._stack, self._arena.spend
        stack.append((term, self._trie.spot(0), None))
        while stack:
            part, spots, outer = stack.pop()
            spend(1)
            handler = _HANDLERS.get(type(part))
            if handler is not None:
                handler(self, part, spots, outer)
            elif isinstance(part, Deferred):
                stack.append((part.expansion, spots, outer))
            else:
                self._stepped(part, spots, outer)
        return self._marked()

    def _marked(self) -> Mask:
        full = [walk.inside for walk in self._wide if walk.inside.dtype == np.bool_]
        mask = full[0].copy() if full else np.zeros(self._walker.width + 1, np.bool_)
        for more in full[1:]:
            mask |= more
        for walk in self._wide:
            if walk.inside.dtype != np.bool_:
                mask[walk.inside] = True
        for ids in self._exit_ids:
            mask[ids] = True
        trie = self._trie
        if trie.has_twins:
            mask[ids_at(trie, np.array(self._alive, np.int32))] = True
        elif self._alive:
            mask[trie.column[self._alive]] = True
        return mask

    # Each of the following takes a term, where it begins, and what comes after it.

    def _located(self, term: Located, spots: Spots, outer: _Frame | None) -> None:
        self._stack.append((term.inner, spots, outer))

    def _sequence(self, term: Sequence, spots: Spots, outer: _Frame | None) -> None:
        self._stack.append((term.head, spots, self._then(term.rest, outer)))

    def _then(self, rest: Term, outer: _Frame | None) -> _Then:
        """Return what goes on with ``rest``, each made once, so that ways which meet are walked once."""
        key = (id(rest), id(outer))
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = _Then(rest, outer)
        return found

    def _capture(self, term: Capture, spots: Spots, outer: _Frame | None) -> None:
        for node in spots.nodes:
            skip = len(self._trie.path(node)) if node else 0
            spot = self._trie.spot(node)
            self._stack.append((term.head, spot, _Captured(term.captured, skip, term.follow, outer)))

    def _choice(self, term: Choice, spots: Spots, outer: _Frame | None) -> None:
        self._arena.spend(len(term.options))
        self._stack.extend((option, spots, outer) for option in term.options)

    def _literal(self, term: Literal, spots: Spots, outer: _Frame | None) -> None:
        children = spots.by_byte.get(term.data[term.offset])
        if children is None:
            return
        ended: list[int] = []
        self._follow(term.data, term.offset + 1, children, ended)
        if ended:
            self._exit(ended, outer)

    def _follow(self, data: bytes, offset: int, nodes: list[int], ended: list[int]) -> None:
        """Follow a text from nodes to which its byte before ``offset`` led."""
        kids, alive = self._trie.kids, self._alive
        end = len(data)
        for node in nodes:
            for at in range(offset, end):
                alive.append(node)
                node = kids(node).get(data[at], 0)
                if not node:
                    break
            else:
                ended.append(node)

    def _literal_set(self, term: LiteralSet, spots: Spots, outer: _Frame | None) -> None:
        ended: list[int] = []
        if term.nullable:
            self._leave(spots.nodes, outer)
        texts, alive = term.texts, self._alive
        stack = [(spots.by_byte, term.low, term.high, term.offset)]
        while stack:
            below, low, high, offset = stack.pop()
            if len(texts[low]) == offset:
                low += 1
            if len(below) < high - low:
                groups = ((byte, *_texts_with(texts, low, high, offset, byte)) for byte in below)
            else:
                groups = _groups(texts, low, high, offset)
            for byte, first, end in groups:
                children = below.get(byte)
                if children is None or first == end:
                    continue
                if end - first == 1:
                    self._follow(texts[first], offset + 1, children, ended)
                    continue
                if len(texts[first]) == offset + 1:
                    ended.extend(children)
                else:
                    alive.extend(children)
                stack.append((self._trie.spots(children).by_byte, first, end, offset + 1))
        if ended:
            self._exit(ended, outer)

    def _string(self, term: StringBody, spots: Spots, outer: _Frame | None) -> None:
        if term.pending is not None:
            self._stepped(term, spots, outer)
            return
        for node in spots.nodes:
            walk = self._walker.leaf(term, node)
            self._wide.append(walk)
            if isinstance(outer, _Captured):
                self._release(walk.exits.tolist(), outer)
                continue
            self._exit_ids.append(walk.exit_ids)
            if outer is not None and walk.open_exits.nodes:
                self._stack.append((outer.rest, walk.open_exits, outer.outer))

    def _stepped(self, term: Term, spots: Spots, outer: _Frame | None) -> None:
        met = self._met.setdefault((id(term), id(outer)), set())
        if not met.isdisjoint(spots.nodes):
            spots = self._trie.spots([node for node in spots.nodes if node not in met])
        met.update(spots.nodes)
        if term.nullable:
            self._leave(spots.nodes, outer)
        alive, empty, epsilon = self._alive, self._empty, self._epsilon
        below = spots.by_byte
        live = None if term.is_transient else term.partition.live
        ended: list[int] = []
        further: dict[Term, list[int]] = {}
        for byte in below if live is None or len(below) <= len(live) else live:
            children = below.get(byte)
            if children is None:
                continue
            following = term.step(byte)
            if following is epsilon:
                ended.extend(children)
            elif following is not empty:
                alive.extend(children)
                further.setdefault(following, []).extend(children)
        if ended:
            self._exit(ended, outer)
        for following, children in further.items():
            onward = self._trie.spots(children)
            if onward.by_byte:
                self._stack.append((following, onward, outer))

    def _exit(self, nodes: list[int], outer: _Frame | None) -> None:
        """Mark nodes at which a term ends, where what follows can go on, and go on with it."""
        if not isinstance(outer, _Captured):
            self._alive.extend(nodes)
        self._leave(nodes, outer)

    def _leave(self, nodes: list[int], outer: _Frame | None) -> None:
        """Go on with what follows a term that ends at the nodes."""
        if isinstance(outer, _Captured):
            self._release(nodes, outer)
        elif outer is not None:
            spots = self._trie.spots(nodes)
            if spots.by_byte:
                self._stack.append((outer.rest, spots, outer.outer))

    def _release(self, nodes: list[int], frame: _Captured) -> None:
        """Go on behind a captured text; what follows is made only where a token reaches beyond what they all begin with."""
        kids, opening = self._trie.kids, frame.follow.opening
        for node in nodes:
            at, read = node, 0
            if opening:
                self._alive.append(node)
                while read < len(opening) and at:
                    at = kids(at).get(opening[read], 0)
                    read += 1
                    if at:
                        self._alive.append(at)
                if not at or not kids(at):
                    continue
            captured = frame.captured + self._trie.path(node)[frame.skip :]
            rest = frame.follow.after(self._arena, captured).walk(opening)
            if rest is self._empty:
                continue
            if not opening:
                self._alive.append(node)
            self._stack.append((rest, self._trie.spot(at), frame.outer))


def _texts_with(texts: tuple[bytes, ...], low: int, high: int, offset: int, byte: int) -> tuple[int, int]:
    """Return the range of texts that go on with a byte."""

    def at(text: bytes) -> int:
        return text[offset]

    start = bisect_left(texts, byte, low, high, key=at)
    return start, bisect_left(texts, byte + 1, start, high, key=at)


def _groups(texts: tuple[bytes, ...], low: int, high: int, offset: int) -> Iterable[tuple[int, int, int]]:
    """Yield each byte that texts of a range go on with, and the range of these."""
    start = low
    for at in range(low + 1, high + 1):
        if at == high or texts[at][offset] != texts[start][offset]:
            yield texts[start][offset], start, at
            start = at


_HANDLERS = {
    Located: _Walk._located,
    Sequence: _Walk._sequence,
    Capture: _Walk._capture,
    Choice: _Walk._choice,
    Literal: _Walk._literal,
    LiteralSet: _Walk._literal_set,
    StringBody: _Walk._string,
}

__all__ = ["LeafWalk", "Mask", "Walker"]
