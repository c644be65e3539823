"""Say which tokens may follow a state, and remember it.

The unit of judgement is the whole token: its bytes are walked from the state, and it is legal where the walk stays
alive. A state that begins inside a *shared leaf* (a term with a ``shared_key``, such as the inside of a string) is not
walked again: the leaf's walk over the vocabulary is done once per engine, for every contract, and only the few tokens
that leave the leaf are followed into what comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from commitgate_local.bounded import BoundedCache
from commitgate_local.walk import Mask, Walker

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.vocabulary import Vocabulary

# What one remembered name of a mask costs besides the mask: an entry of the table and the term it keeps alive.
_ENTRY_BYTES = 400


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
        return self._memo.size_bytes + self._shared.size_bytes + self._walker.size_bytes

    @property
    def remembered(self) -> int:
        """Return the number of states whose mask is remembered."""
        return len(self._memo)

    @property
    def leaves(self) -> int:
        """Return the number of shared leaves whose walk is remembered."""
        return self._walker.leaves

    def forget(self, arena: object) -> None:
        """Forget the masks of all states of one arena."""
        self._memo.discard(lambda term: term.arena is arena)
        self._shared.discard(lambda term: term.arena is arena)

    def _compute(self, term: Term) -> Mask:
        self.computed += 1
        result = self._walker.mask(term)[: self._vocabulary.width]
        result[self._stops] = term.nullable
        result.flags.writeable = False
        return result


__all__ = ["Mask", "Masks"]
