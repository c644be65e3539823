"""Say which tokens may follow a state, and remember it.

The unit of judgement is the whole token: its bytes are walked from the state, and it is legal where the walk stays
alive. A state that begins inside a *shared leaf* (a term with a ``shared_key``, such as the inside of a string) is not
walked again: the leaf's walk over the vocabulary is done once per engine, for every contract, and only the few tokens
that leave the leaf are followed into what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from commitgate.automaton.deferred import Capture, Deferred, Follow
from commitgate.automaton.terms import Choice, Sequence
from commitgate_local.bounded import BoundedCache
from commitgate_local.walk import LeafWalk, Mask, Walker

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.vocabulary import Vocabulary

# What one remembered name of a mask costs besides the mask: an entry of the table and the term it keeps alive.
_ENTRY_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Then:
    """Go on with a fixed term."""

    rest: Term

    def apply(self, inner: Term, path: bytes) -> Term:
        del path
        return inner.arena.sequence(inner, self.rest)


@dataclass(frozen=True, slots=True)
class _Captured:
    """Go on with what depends on the captured text."""

    captured: bytes
    follow: Follow

    def apply(self, inner: Term, path: bytes) -> Term:
        return Capture.make(inner.arena, inner, self.captured + path, self.follow)


_Frame: TypeAlias = "_Then | _Captured"


@dataclass(frozen=True, slots=True)
class _Split:
    """Hold a shared leaf and what comes after it, innermost first."""

    leaf: Term
    frames: tuple[_Frame, ...] = ()

    @property
    def depends_on_path(self) -> bool:
        return any(isinstance(frame, _Captured) for frame in self.frames)

    def after(self, path: bytes) -> Term:
        """Return what remains when the leaf has just read ``path`` and ends."""
        term = self.leaf.arena.epsilon
        for frame in self.frames:
            term = frame.apply(term, path)
        return term


class Masks:
    """Give the mask of any state, for one vocabulary. Usable from several threads.

    Args:
        vocabulary: the tokens.
        walker: walks them.
        limit_bytes: most memory for remembered masks, and as much again for the walks of shared leaves.
    """

    def __init__(self, vocabulary: Vocabulary, walker: Walker, *, limit_bytes: int) -> None:
        self._vocabulary = vocabulary
        self._walker = walker
        self._stops = np.array(vocabulary.stop_ids, np.int64)
        self._memo: BoundedCache[Term, Mask] = BoundedCache(limit_bytes)
        self._shared: BoundedCache[Term, Term] = BoundedCache(limit_bytes // 8)
        self._leaves: BoundedCache[object, LeafWalk] = BoundedCache(limit_bytes)
        self.computed = 0

    def mask(self, term: Term) -> Mask:
        """Return which tokens may follow; stop ids where the text may end. [width] bool, read-only

        A token is legal when the term that remains after its bytes is not the empty one.

        Raises:
            LimitExceededError: that takes more states than ``Limits.states``, or more work than ``Limits.step_work``.
        """
        found = self._memo.get(term)
        if found is not None:
            return found
        term.arena.begin_step()
        # States that no single token can tell apart share one mask. The state's name for it is remembered apart from
        # the mask, so that the memory of masks is counted once and truly.
        shared = self._shared.get(term)
        if shared is None:
            shared = term.saturated(self._vocabulary.longest)
            if shared is not term:
                self._shared.put(term, shared, _ENTRY_BYTES)
        found = self._memo.get(shared)
        if found is None:
            found = self._compute(shared)
            self._memo.put(shared, found, found.nbytes + _ENTRY_BYTES)
        return found

    @property
    def size_bytes(self) -> int:
        """Return the memory that masks and walks take now."""
        return self._memo.size_bytes + self._shared.size_bytes + self._leaves.size_bytes

    @property
    def remembered(self) -> int:
        """Return the number of states whose mask is remembered."""
        return len(self._memo)

    @property
    def leaves(self) -> int:
        """Return the number of shared leaves whose walk is remembered."""
        return len(self._leaves)

    def forget(self, arena: object) -> None:
        """Forget the masks of all states of one arena."""
        self._memo.discard(lambda term: term.arena is arena)
        self._shared.discard(lambda term: term.arena is arena)

    def _compute(self, term: Term) -> Mask:
        self.computed += 1
        result = np.zeros(self._vocabulary.width, np.bool_)
        splits, plain = self._parts(term)
        starts: list[tuple[int, Term]] = []
        for split in splits:
            starts.extend(self._leave(split, result))
            if split.leaf.nullable:
                plain.append(split.after(b""))
        if plain:
            starts.append((0, term.arena.choice(plain)))
        self._walker.mark_below(starts, result)
        result[self._stops] = term.nullable
        result.flags.writeable = False
        return result

    def _leave(self, split: _Split, result: Mask) -> list[tuple[int, Term]]:
        """Mark the tokens that end in the leaf or at its end; return where, and with what, longer ones go on."""
        walk = self._leaf_walk(split.leaf)
        if not split.depends_on_path:
            rest = split.after(b"")
            result |= walk.inside_or_ended
            return [] if rest is rest.arena.epsilon else [(node, rest) for node in walk.open_exits]
        result |= walk.inside
        empty = split.leaf.arena.empty
        going_on = [(node, split.after(path)) for node, path in walk.exit_paths]
        going_on = [(node, rest) for node, rest in going_on if rest is not empty]
        self._walker.mark_nodes([node for node, _ in going_on], result)
        return going_on

    def _leaf_walk(self, leaf: Term) -> LeafWalk:
        key = leaf.shared_key
        found = self._leaves.get(key)
        if found is None:
            found = self._walker.leaf(leaf)
            self._leaves.put(key, found, found.size_bytes)
        return found

    def _parts(self, term: Term) -> tuple[list[_Split], list[Term]]:
        """Split a term into alternatives that begin inside a shared leaf, and all others."""
        leaf = term.saturated(self._vocabulary.longest)
        if leaf.shared_key is not None:
            return [_Split(leaf)], []
        match term:
            case Deferred():
                return self._parts(term.expansion)
            case Choice():
                return self._choice_parts(term)
            case Sequence():
                return self._framed_parts(term, term.head, _Then(term.rest))
            case Capture():
                return self._framed_parts(term, term.head, _Captured(term.captured, term.follow))
            case _:
                return [], [term]

    def _choice_parts(self, term: Choice) -> tuple[list[_Split], list[Term]]:
        splits: list[_Split] = []
        plain: list[Term] = []
        for option in term.options:
            more_splits, more_plain = self._parts(option)
            splits.extend(more_splits)
            plain.extend(more_plain)
        return splits, plain

    def _framed_parts(self, term: Term, head: Term, frame: _Frame) -> tuple[list[_Split], list[Term]]:
        splits, plain = self._parts(head)
        if not splits:
            return [], [term]
        outer = [_Split(split.leaf, (*split.frames, frame)) for split in splits]
        return outer, [frame.apply(option, b"") for option in plain]


__all__ = ["Mask", "Masks"]
