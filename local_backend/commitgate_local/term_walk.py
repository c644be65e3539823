"""Mark the tokens that stay alive after one state.

The walk takes a term apart where it can: a literal is one path, a set of texts is compared with the nodes at hand, the
inside of a string is walked once for all, and what follows them begins at the few nodes at which they end. Other terms
are stepped byte by byte, over the bytes that are live.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.spelling import StringBody
from commitgate.automaton.terms import Choice, Literal, LiteralSet, Located, Sequence
from commitgate_local.leaf_walk import NO_IDS
from commitgate_local.trie import ids_at
from commitgate_local.wide_walk import WideWalk

if TYPE_CHECKING:
    from commitgate.automaton.terms import Arena, Term
    from commitgate_local.leaf_walk import LeafWalk, Mask
    from commitgate_local.trie import Ints, Spots, Trie

# Nodes that a walk may step to before it goes over to arrays. Measured on a vocabulary of 49,152 tokens: below some
# thousand nodes the loop costs less than the fixed price of the array operations.
_NARROW_NODES = 2_000

# Parts of a term after which the work done is counted: each costs about as much as the counting.
_LOOKS_AT_ONCE = 32

FEW_IDS = 512
"""Legal tokens up to which a walk names them, and a mask is kept as their ids; more are kept as bits."""


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


class TermWalk:
    """Walk once, for one mask.

    Args:
        trie: the tree of the vocabulary.
        width: number of logits columns.
        leaf: gives the walk of a shared leaf from a node.
        arena: where the term was made.
    """

    def __init__(self, trie: Trie, width: int, leaf: Callable[[Term, int], LeafWalk], arena: Arena) -> None:
        self._trie = trie
        self._width = width
        self._leaf = leaf
        self._arena = arena
        self._empty, self._epsilon = arena.empty, arena.epsilon
        self._alive: list[int] = []
        self._inside: Mask | None = None
        self._ids: list[Ints] = []
        self._stack: list[tuple[Term, Spots, _Frame | None]] = []
        self._frames: dict[tuple[int, int], _Then] = {}
        # By the terms themselves, which keeps them: of one that is gone, another could have the id.
        self._met: dict[tuple[Term, _Frame | None], set[int]] = {}
        self._stepped_nodes = 0
        self._frontiers: dict[_Frame | None, list[tuple[int, Term]]] = {}

    def mask(self, term: Term) -> tuple[Mask, Ints | None]:
        """Return the tokens after which the text lives; the last entry stands for no column. [width + 1] bool

        Beside it their ids, ascending, where they are few enough to name; None where they are not. [legal] int32
        """
        stack, spend = self._stack, self._arena.spend
        stack.append((term, self._trie.spot(0), None))
        looks = 0
        while stack:
            part, spots, outer = stack.pop()
            looks += 1
            if looks == _LOOKS_AT_ONCE:
                spend(looks)
                looks = 0
            self._take_apart(part, spots, outer)
            if not stack:
                self._go_wide()
        spend(looks)
        return self._marked()

    def _take_apart(self, part: Term, spots: Spots, outer: _Frame | None) -> None:
        """Walk a term, or put its parts on the stack. The kinds stand in the order of how often they are met."""
        stack = self._stack
        if type(part) is Literal:
            self._literal(part, spots, outer)
        elif type(part) is Sequence and (part.head.comes_apart or part.head.shared_key is not None):
            stack.append((part.head, spots, self._then(part.rest, outer)))
        elif type(part) is Choice and part.comes_apart:
            self._arena.spend(len(part.options))
            stack.extend([(option, spots, outer) for option in part.options])
        elif type(part) is Located:
            stack.append((part.inner, spots, outer))
        elif type(part) is LiteralSet:
            self._literal_set(part, spots, outer)
        elif type(part) is Capture:
            self._capture(part, spots, outer)
        elif isinstance(part, Deferred) and part.comes_apart:
            stack.append((part.expansion, spots, outer))
        elif part.shared_key is not None and not _is_half_read(part):
            self._shared(part, spots, outer)
        else:
            self._stepped(part, spots, outer)

    def _marked(self) -> tuple[Mask, Ints | None]:
        trie = self._trie
        if self._alive:
            self._ids.append(ids_at(trie, _ints(self._alive)) if trie.has_twins else trie.column[self._alive])
        if self._inside is None and sum(map(len, self._ids)) <= FEW_IDS:
            ids = _distinct(np.concatenate(self._ids)) if self._ids else NO_IDS
            mask = np.zeros(self._width + 1, np.bool_)
            mask[ids] = True
            return mask, ids
        mask = np.zeros(self._width + 1, np.bool_) if self._inside is None else self._inside
        for ids in self._ids:
            mask[ids] = True
        return mask, None

    # Each of the following takes a term, where it begins, and what comes after it.

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

    def _literal(self, term: Literal, spots: Spots, outer: _Frame | None) -> None:
        children = spots.by_byte.get(term.data[term.offset])
        if children is not None:
            ended = self._trie.follow(children, term.data, term.offset + 1, self._alive)
            if ended:
                self._exit(ended, outer)

    def _literal_set(self, term: LiteralSet, spots: Spots, outer: _Frame | None) -> None:
        ended: list[int] = []
        if term.nullable:
            self._leave(spots.nodes, outer)
        texts, alive, trie = term.texts, self._alive, self._trie
        stack = [(spots.by_byte, term.low, term.high, term.offset)]
        while stack:
            below, low, high, offset = stack.pop()
            for byte, first, end in _groups(texts, low, high, offset):
                children = below.get(byte)
                if children is None:
                    continue
                if end - first == 1:
                    ended.extend(trie.follow(children, texts[first], offset + 1, alive))
                    continue
                if len(texts[first]) == offset + 1:
                    ended.extend(children)
                else:
                    alive.extend(children)
                stack.append((trie.spots(children).by_byte, first, end, offset + 1))
        if ended:
            self._exit(ended, outer)

    def _shared(self, term: Term, spots: Spots, outer: _Frame | None) -> None:
        if term.nullable:
            self._leave(spots.nodes, outer)
        for node in spots.nodes:
            walk = self._leaf(term, node)
            self._ids.append(walk.ids)
            if walk.inside is not None:
                self._inside = walk.inside.copy() if self._inside is None else self._inside | walk.inside
            if isinstance(outer, _Captured):
                self._release(walk.exits.tolist(), outer)
                continue
            self._ids.append(walk.exit_ids)
            if outer is not None and walk.open_exits.nodes:
                self._stack.append((outer.rest, walk.open_exits, outer.outer))

    def _stepped(self, term: Term, spots: Spots, outer: _Frame | None) -> None:
        met = self._met.setdefault((term, outer), set())
        if not met.isdisjoint(spots.nodes):
            spots = self._trie.spots([node for node in spots.nodes if node not in met])
        met.update(spots.nodes)
        if term.nullable:
            self._leave(spots.nodes, outer)
        if self._stepped_nodes > _NARROW_NODES:
            self._frontiers.setdefault(outer, []).extend((node, term) for node in spots.nodes)
            return
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
                self._stepped_nodes += len(children)
                further.setdefault(following, []).extend(children)
        if ended:
            self._exit(ended, outer)
        for following, children in further.items():
            onward = self._trie.spots(children)
            if onward.by_byte:
                self._stack.append((following, onward, outer))

    def _go_wide(self) -> None:
        """Walk on over arrays where more nodes are alive than a loop should walk."""
        frontiers, self._frontiers = self._frontiers, {}
        for outer, starts in frontiers.items():
            wide = WideWalk(self._trie)
            for nodes, terms in wide.levels(starts):
                self._ids.append(ids_at(self._trie, nodes))
                if outer is not None:
                    self._leave(nodes[wide.nullable(terms)].tolist(), outer)
            for node, term in wide.left_over:
                self._stepped_nodes = -len(self._trie)
                self._stack.append((term, self._trie.spot(node), outer))

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
        """Go on behind a captured text; what follows is made only where a token reaches beyond its opening."""
        children, opening = self._trie.children, frame.follow.opening
        for node in nodes:
            at, read = node, 0
            if opening:
                self._alive.append(node)
                while read < len(opening) and at:
                    at = children(at).get(opening[read], 0)
                    read += 1
                    if at:
                        self._alive.append(at)
                if not at or not children(at):
                    continue
            captured = frame.captured + self._trie.path(node)[frame.skip :]
            rest = frame.follow.after(self._arena, captured).walk(opening)
            if rest is self._empty:
                continue
            if not opening:
                self._alive.append(node)
            self._stack.append((rest, self._trie.spot(at), frame.outer))


def _groups(texts: tuple[bytes, ...], low: int, high: int, offset: int) -> Iterable[tuple[int, int, int]]:
    """Yield each byte that texts of a range go on with, and the range of these; not for a text that ends there."""
    start = low + 1 if len(texts[low]) == offset else low
    while start < high:
        byte = texts[start][offset]
        end = start + 1
        if end < high and texts[end][offset] == byte:
            end = bisect_left(texts, byte + 1, end + 1, high, key=lambda text: text[offset])
        yield byte, start, end
        start = end


def _distinct(ids: Ints) -> Ints:
    """Return the ids ascending and each once; -1 stands for none."""
    ids.sort()
    is_first = ids >= 0
    is_first[1:] &= ids[1:] != ids[:-1]
    return ids[is_first]


def _ints(nodes: list[int]) -> Ints:
    return np.array(nodes, np.int32)


def _is_half_read(term: Term) -> bool:
    """Return whether a string stands in the middle of a character, which few tokens go on with."""
    return isinstance(term, StringBody) and term.pending is not None


__all__ = ["FEW_IDS", "TermWalk"]
