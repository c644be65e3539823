"""Say how sure a mean of paired differences is, by drawing again: without any guess of how they are spread.

Chance comes from a seed, so the same numbers give the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import fsum
from random import Random

from commitgate.evaluation.statistics import CONFIDENCE, Interval, percentile

SEED = 20_161_128
"""Where chance begins where nobody says another seed."""

EXACT_PAIRS = 15
"""Pairs up to which every assignment of signs is looked at, and none is drawn."""

DRAWS = 9_999
"""How often is drawn again where there are few numbers."""

LEAST_DRAWS = 999
"""How often is drawn again however many numbers there are."""

DRAWN_NUMBERS = 4_000_000
"""Numbers that are drawn for one answer, about a second of work; many numbers are drawn less often."""


def sign_flip(differences: Sequence[float], *, seed: int = SEED) -> float:
    """Return the two-sided p value that paired differences have no direction.

    Args:
        differences: one a pair.
        seed: where chance begins, for more than ``EXACT_PAIRS`` pairs.

    Source: R. A. Fisher, The Design of Experiments (1935), section 21; a drawn p value is never zero: Phipson and
    Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010).
    """
    moved = [each for each in differences if each]
    if not moved:
        return 1.0
    seen = abs(fsum(moved))
    # What is as large but for rounding is as large.
    least = seen * (1 - 1e-12)
    if len(moved) <= EXACT_PAIRS:
        signs = product((1, -1), repeat=len(moved))
        as_large = sum(abs(fsum(s * d for s, d in zip(each, moved, strict=True))) >= least for each in signs)
        return as_large / 2 ** len(moved)
    draw = Random(seed)
    draws = _draws(len(moved))
    total = fsum(moved)
    as_large = 0
    for _ in range(draws):
        bits = draw.getrandbits(len(moved))
        flipped = fsum(each for index, each in enumerate(moved) if bits >> index & 1)
        as_large += abs(total - 2 * flipped) >= least
    return (1 + as_large) / (1 + draws)


def bootstrap_mean(values: Sequence[float], *, confidence: float = CONFIDENCE, seed: int = SEED) -> Interval:
    """Return the percentile interval of a mean.

    Args:
        values: independent of each other, at least one.
        confidence: in (0, 1).
        seed: where chance begins.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    draw = Random(seed)
    count = len(values)
    means = sorted(fsum(draw.choices(values, k=count)) / count for _ in range(_draws(count)))
    tail = (1 - confidence) / 2
    return Interval(percentile(means, tail), percentile(means, 1 - tail))


def _draws(count: int) -> int:
    return max(LEAST_DRAWS, min(DRAWS, DRAWN_NUMBERS // max(1, count)))


__all__ = [
    "DRAWN_NUMBERS",
    "DRAWS",
    "EXACT_PAIRS",
    "LEAST_DRAWS",
    "SEED",
    "bootstrap_mean",
    "sign_flip",
]
