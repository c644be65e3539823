"""Say which tokens may follow a state, and remember it.

The unit of judgement is the whole token: its bytes are walked from the state, and it is legal where the walk stays
alive. A mask is kept twice: as it is handed out, and packed, which takes an eighth of the memory or less; so a wide
vocabulary does not make states be walked again for want of room.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from commitgate_local.bounded import BoundedCache
from commitgate_local.walk import Mask, Walker

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.vocabulary import Vocabulary

# What one remembered name of a mask costs besides the mask: an entry of the table and the term it keeps alive.
_ENTRY_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Packed:
    """Hold a mask in little memory: the legal ids, or one bit for each column."""

    ids: NDArray[np.int32] | None
    bits: NDArray[np.uint8] | None

    @property
    def size_bytes(self) -> int:
        return sum(part.nbytes for part in (self.ids, self.bits) if part is not None) + _ENTRY_BYTES

    def unpacked(self, width: int) -> Mask:
        """Return the mask. [width] bool, read-only"""
        if self.bits is not None:
            mask = np.unpackbits(self.bits, count=width).view(np.bool_)
        else:
            mask = np.zeros(width, np.bool_)
            mask[self.ids] = True
        mask.flags.writeable = False
        return mask


class Masks:
    """Give the mask of any state, for one vocabulary. Usable from several threads.

    Args:
        vocabulary: the tokens.
        walker: walks them.
        limit_bytes: most memory for masks as they are handed out; a quarter of it more for packed ones.

    Attributes:
        asked: masks asked for; without a global interpreter lock, threads that ask at one moment may count as one.
        computed: masks worked out.
        computing_s: seconds that this took together.
        longest_s: seconds that the longest took.
        sizes: entry n counts the masks worked out with at least 2 ** (n - 1) and fewer than 2 ** n legal tokens.
    """

    def __init__(self, vocabulary: Vocabulary, walker: Walker, *, limit_bytes: int) -> None:
        self._vocabulary = vocabulary
        self._walker = walker
        self._stops = np.array(vocabulary.stop_ids, np.int32)
        self._memo: BoundedCache[Term, Mask] = BoundedCache(limit_bytes)
        self._packed: BoundedCache[Term, _Packed] = BoundedCache(limit_bytes // 4)
        self._shared: BoundedCache[Term, Term] = BoundedCache(limit_bytes // 8)
        self._lock = Lock()
        self.asked = self.computed = 0
        self.computing_s = self.longest_s = 0.0
        self.sizes = [0] * (vocabulary.width.bit_length() + 1)

    def mask(self, term: Term) -> Mask:
        """Return which tokens may follow; stop ids where the text may end. [width] bool, read-only

        A token is legal when the term that remains after its bytes is not the empty one.

        Raises:
            LimitExceededError: that takes more states than ``Limits.states``, or more work than ``Limits.step_work``.
        """
        # Without a lock, which costs as much as finding the mask: no other thread can come between under a global one.
        self.asked += 1
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
            packed = self._packed.get(shared)
            found = self._compute(shared) if packed is None else packed.unpacked(self._vocabulary.width)
            self._memo.put(shared, found, found.nbytes + _ENTRY_BYTES)
        return found

    @property
    def size_bytes(self) -> int:
        """Return the memory that masks and walks take now."""
        return sum(cache.size_bytes for cache in (self._memo, self._packed, self._shared, self._walker))

    @property
    def remembered(self) -> int:
        """Return the number of states whose mask is remembered."""
        return len(self._packed)

    @property
    def leaves(self) -> int:
        """Return the number of shared leaves whose walk is remembered."""
        return self._walker.leaves

    def forget(self, arenas: AbstractSet[object]) -> None:
        """Forget the masks of all states of some arenas."""
        self._memo.discard(lambda term: term.arena in arenas)
        self._packed.discard(lambda term: term.arena in arenas)
        self._shared.discard(lambda term: term.arena in arenas)

    def _compute(self, term: Term) -> Mask:
        start = perf_counter()
        whole, ids = self._walker.mask(term)
        result = whole[: self._vocabulary.width]
        if term.nullable:
            result[self._stops] = True
        result.flags.writeable = False
        if ids is None:
            legal = int(np.count_nonzero(result))
            packed = _Packed(None, np.packbits(result))
        else:
            ids = np.concatenate((ids, self._stops)) if term.nullable else ids
            legal = len(ids)
            packed = _Packed(ids, None)
        self._packed.put(term, packed, packed.size_bytes)
        took_s = perf_counter() - start
        with self._lock:
            self.computed += 1
            self.sizes[legal.bit_length()] += 1
            self.computing_s += took_s
            self.longest_s = max(self.longest_s, took_s)
        return result


__all__ = ["Mask", "Masks"]
