"""Draw a token: mask, temperature, top-k, top-p, renormalise, draw. The order is fixed.

    P'(t) = P(t) * 1[t legal] / sum over u of P(u) * 1[u legal]

The mask comes first, because the other order has no meaning: top-k before the mask may keep no legal token at all.
*Legal mass* says how much of what the unconstrained model wanted was legal at all; near zero, the text is well-formed
but not to be believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from commitgate.errors import ModelRunError

if TYPE_CHECKING:
    from commitgate.backends.base import Sampling
    from commitgate_local.walk import Mask

_Weights: TypeAlias = NDArray[np.float32] | NDArray[np.float64]

_SEED_BITS: Final = 64

# One legal token in so many columns, or fewer, are gathered.
_GATHERED: Final = 8

# Weights whose sum is smaller have lost digits in single precision.
_VANISHING: Final = 1e-20

_BLOCK: Final = 256

# So many of the likeliest are nearly always all that top-p keeps.
_SORTED_FIRST: Final = 512


@dataclass(frozen=True, slots=True)
class Draw:
    """Hold a drawn token.

    Attributes:
        token_id: its id.
        legal_mass: probability in [0, 1] of all legal tokens together, stop ids included, under the raw logits at
            temperature 1; padding and special columns count among the others.
    """

    token_id: int
    legal_mass: float


@dataclass(frozen=True, slots=True)
class NothingLegal:
    """Say that the mask was empty: a dead end."""


def make_generator(seed: int | None) -> torch.Generator:
    """Return a generator of random numbers; None seeds it from the system's entropy."""
    generator = torch.Generator()
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed % (1 << _SEED_BITS))
    return generator


# What is divided by next to nothing, or lies at the ends of a type's range, is infinitely far below the best: no fault.
@np.errstate(over="ignore")
def draw(logits: torch.Tensor, mask: Mask, sampling: Sampling, generator: torch.Generator) -> Draw | NothingLegal:
    """Draw one legal token.

    Args:
        logits: [vocab] of any precision, raw; not changed.
        mask: which tokens are legal. [vocab] bool
        sampling: temperature, top-k and top-p. Temperature 0 takes the likeliest, of equals the one with lowest id.
        generator: where randomness comes from; advanced by one number a draw, by none at temperature 0.

    Raises:
        ModelRunError: the logits are not numbers, or give no legal token any probability.

    Source: design, "Sampling".
    """
    # Widened by numpy, not by torch: for so few numbers torch wakes its threads, which on a busy machine costs more
    # than the whole draw. Single precision halves the time, and keeps six digits of each probability.
    raw = logits.detach().float().cpu().numpy()
    best = raw.max()
    if not math.isfinite(best):
        raise ModelRunError("the model's logits are not finite numbers; its weights or its precision are broken")
    count = int(np.count_nonzero(mask))
    if count == 0:
        return NothingLegal()
    weights = np.exp(raw - best)
    total = float(weights.sum())
    # A few are gathered; where many are legal, making nothing of the others in their places costs less.
    if count * _GATHERED >= len(raw):
        legal = weights if count == len(raw) else weights * mask
        legal_total = float(legal.sum())
        if legal_total > _VANISHING:
            return Draw(_choose_among_many(raw, legal, mask, sampling, generator), min(1.0, legal_total / total))
    ids = np.flatnonzero(mask)
    below = raw[ids].astype(np.float64) - float(best)
    best_legal = float(below.max())
    if best_legal == -math.inf:
        raise ModelRunError("the model gives no legal token any probability (its logits there are minus infinity)")
    # Rounding may carry the sum a hair past the whole.
    legal_mass = min(1.0, float(np.exp(below).sum()) / total)
    if sampling.heat == 0:
        return Draw(int(ids[np.argmax(below)]), legal_mass)
    # Relative to the best before dividing, so that no temperature can overflow; the rest may only become zero.
    tempered = np.exp((below - best_legal) / sampling.heat)
    return Draw(int(ids[_choose(tempered, count, sampling, generator)]), legal_mass)


def _choose_among_many(
    raw: NDArray[np.float32],
    weights: NDArray[np.float32],
    mask: Mask,
    sampling: Sampling,
    generator: torch.Generator,
) -> int:
    """Return the chosen id.

    Args:
        raw: logits. [vocab]
        weights: their exponentials, relative to the best of all; nought where a token is not legal. [vocab]
        mask: which tokens are legal. [vocab] bool
        sampling: temperature, top-k and top-p.
        generator: where randomness comes from.
    """
    likeliest = int(weights.argmax())
    if sampling.heat == 0:
        # Logits that differ by less than rounding have the same weight.
        equals = np.flatnonzero(weights == weights[likeliest])
        return int(equals[np.argmax(raw[equals])])
    if sampling.heat != 1:
        # Relative to the best legal one before dividing, so that no temperature can overflow or leave nothing.
        below = np.minimum(raw - raw[likeliest], 0).astype(np.float64)
        weights = (np.exp(below / sampling.heat) * mask).astype(np.float32)
    return _choose(weights, int(np.count_nonzero(mask)), sampling, generator)


def _choose(weights: _Weights, count: int, sampling: Sampling, generator: torch.Generator) -> int:
    """Return the index of an entry, drawn by weight among those that top-k and top-p keep."""
    kept = _keep(weights, count, sampling)
    taken = weights if kept is None else weights[kept]
    chosen = _find(taken, float(torch.rand((), generator=generator, dtype=torch.float64)))
    return chosen if kept is None else int(kept[chosen])


def _find(weights: _Weights, part: float) -> int:
    """Return the entry at which the sum of weights passes a part of the whole, in [0, 1)."""
    # Block by block: adding up all of a vocabulary one by one is what would take longest.
    starts = np.arange(0, len(weights), _BLOCK)
    blocks = _cumulated(np.add.reduceat(weights, starts, dtype=np.float64))
    point = part * float(blocks[-1])
    block = _after(blocks, point)
    first = block * _BLOCK
    within = _cumulated(weights[first : first + _BLOCK])
    point -= float(blocks[block - 1]) if block else 0.0
    return first + _after(within, point)


def _cumulated(weights: _Weights) -> NDArray[np.float64]:
    return np.cumsum(weights, dtype=np.float64)


def _after(cumulated: NDArray[np.float64], point: float) -> int:
    # Never an entry without any weight, however the sums were rounded.
    last = int(np.searchsorted(cumulated, float(cumulated[-1]), side="left"))
    return min(int(np.searchsorted(cumulated, point, side="right")), last)


def _keep(weights: _Weights, count: int, sampling: Sampling) -> NDArray[np.intp] | None:
    """Return the indices that top-k and then top-p keep, likeliest first; None where both keep all."""
    top_k = count if sampling.top_k is None else min(sampling.top_k, count)
    if sampling.top_p >= 1:
        return None if top_k == count else _likeliest(weights, top_k)
    # Top-p nearly always keeps a few: sorting all is left for when it does not.
    order = _likeliest(weights, min(top_k, _SORTED_FIRST))
    kept = weights[order].astype(np.float64)
    whole = float(kept.sum()) if len(order) == top_k else float(weights.sum(dtype=np.float64))
    if len(order) < top_k and (top_k < count or float(kept.sum()) <= sampling.top_p * whole):
        order = _likeliest(weights, top_k)
        kept = weights[order].astype(np.float64)
        whole = float(kept.sum())
    before = np.cumsum(kept) - kept
    return order[before < sampling.top_p * whole]


def _likeliest(weights: _Weights, count: int) -> NDArray[np.intp]:
    """Return the indices of the largest entries, the largest first, of equals the lower index first."""
    found = np.arange(len(weights))
    if count < len(weights):
        least = np.partition(weights, len(weights) - count)[len(weights) - count]
        found = np.flatnonzero(weights >= least)
    # A stable sort keeps the lower id among equals, so that the cut does not depend on the sort's mood.
    return found[np.argsort(-weights[found], kind="stable")[:count]]


__all__ = ["Draw", "NothingLegal", "draw", "make_generator"]
