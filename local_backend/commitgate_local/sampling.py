"""Draw a token: mask, temperature, top-k, top-p, renormalise, draw. The order is fixed.

    P'(t) = P(t) * 1[t legal] / sum over u of P(u) * 1[u legal]

The mask comes first, because the other order has no meaning: top-k before the mask may keep no legal token at all.
*Legal mass* says how much of what the unconstrained model wanted was legal at all; near zero, the text is well-formed
but not to be believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from numpy.typing import NDArray

from commitgate.errors import ModelRunError

if TYPE_CHECKING:
    from commitgate.backends.base import Sampling
    from commitgate_local.walk import Mask

_SEED_BITS: Final = 64


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
    # than the whole draw.
    raw = logits.detach().float().cpu().numpy().astype(np.float64)
    total = _log_sum_exp(raw)
    if not math.isfinite(total):
        raise ModelRunError("the model's logits are not finite numbers; its weights or its precision are broken")
    legal_ids = np.flatnonzero(mask)
    if not len(legal_ids):
        return NothingLegal()
    legal = raw[legal_ids]
    legal_total = _log_sum_exp(legal)
    if legal_total == -math.inf:
        raise ModelRunError("the model gives no legal token any probability (its logits there are minus infinity)")
    # Rounding may carry the sum of everything a hair past the whole.
    legal_mass = min(1.0, math.exp(legal_total - total))
    return Draw(int(legal_ids[_choose(legal, sampling, generator)]), legal_mass)


def _choose(legal: NDArray[np.float64], sampling: Sampling, generator: torch.Generator) -> int:
    """Return the index of the chosen entry. legal: [legal] float64, in the order of ids"""
    if sampling.temperature == 0:
        return int(np.argmax(legal))
    # Relative to the best before dividing, so that no temperature can overflow; the rest may only become zero.
    scaled = (legal - legal.max()) / sampling.temperature
    kept = _keep(scaled, sampling)
    weights = np.exp(scaled if kept is None else scaled[kept])
    cumulated = np.cumsum(weights)
    point = float(torch.rand((), generator=generator, dtype=torch.float64)) * float(cumulated[-1])
    chosen = min(int(np.searchsorted(cumulated, point, side="right")), len(weights) - 1)
    return chosen if kept is None else int(kept[chosen])


def _keep(scaled: NDArray[np.float64], sampling: Sampling) -> NDArray[np.int64] | None:
    """Return the indices that top-k and then top-p keep, likeliest first; None where both keep all."""
    if (sampling.top_k is None or sampling.top_k >= len(scaled)) and sampling.top_p >= 1:
        return None
    # A stable sort keeps the lower id among equals, so that the cut at k does not depend on the sort's mood.
    order = np.argsort(-scaled, kind="stable")[: sampling.top_k]
    if sampling.top_p < 1:
        weights = np.exp(scaled[order])
        before = np.cumsum(weights) - weights
        order = order[before < sampling.top_p * float(weights.sum())]
    return order


def _log_sum_exp(values: NDArray[np.float64]) -> float:
    best = float(values.max())
    if not math.isfinite(best):
        return best
    return best + math.log(float(np.exp(values - best).sum()))


__all__ = ["Draw", "NothingLegal", "draw", "make_generator"]
