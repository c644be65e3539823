"""Say how sure a rate is, and whether two are different: intervals and exact tests, without any library.

All take counts and give floats; none draws anything at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, fsum, lgamma, log, sqrt
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95
"""The confidence of intervals where nobody says another."""

EXACT_COUNT = 1_000
"""Count up to which binomial tails are summed in whole numbers; past it by logarithms, to ten digits."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Hold an interval.

    Attributes:
        low: its lower end.
        high: its upper end.
    """

    low: float
    high: float


def wilson(rate: float, count: float, *, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval of a rate.

    It keeps close to its confidence for small counts and for rates of 0 and 1, where the usual one fails; Clopper and
    Pearson's is wider than it need be.

    Args:
        rate: in [0, 1].
        count: independent trials, > 0.
        confidence: in (0, 1).

    Source: E. B. Wilson, JASA 22 (1927); Brown, Cai and DasGupta, Statistical Science 16 (2001).
    """
    z = _quantile(confidence)
    shrunk = 1 + z * z / count
    middle = (rate + z * z / (2 * count)) / shrunk
    half = z * sqrt(rate * (1 - rate) / count + z * z / (4 * count * count)) / shrunk
    # At the ends the formula gives exactly 0 and 1, which rounding must not miss.
    return Interval(0.0 if rate == 0 else max(0.0, middle - half), 1.0 if rate == 1 else min(1.0, middle + half))


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p value that two paired rates are one, from the pairs that differ.

    Source: Q. McNemar, Psychometrika 12 (1947), in its exact form: a sign test on the pairs that differ.
    """
    count = only_first + only_second
    return min(1.0, 2 * _half_tail(min(only_first, only_second), count)) if count else 1.0


def paired_difference(
    both: int, only_first: int, only_second: int, neither: int, *, confidence: float = CONFIDENCE
) -> Interval:
    """Return the interval of the difference of two paired rates, the first less the second.

    Args:
        both: pairs of which both passed.
        only_first: of which the first alone passed.
        only_second: of which the second alone passed.
        neither: of which none passed. All together at least one.
        confidence: in (0, 1).

    Source: R. G. Newcombe, Statistics in Medicine 17 (1998) 2635, method 10.
    """
    count = both + only_first + only_second + neither
    first, second = (both + only_first) / count, (both + only_second) / count
    one, two = wilson(first, count, confidence=confidence), wilson(second, count, confidence=confidence)
    phi = _correlation(both, only_first, only_second, neither)
    down = _joined(first - one.low, two.high - second, phi)
    up = _joined(one.high - first, second - two.low, phi)
    return Interval(first - second - down, first - second + up)


def fisher(a: int, b: int, c: int, d: int) -> float:
    """Return the two-sided p value that the rows of a 2x2 table have one rate.

    Args:
        a: of the first row, the first column.
        b: of the first row, the second.
        c: of the second row, the first.
        d: of the second row, the second.

    Source: R. A. Fisher, JRSS 98 (1935): all tables of the same margins that are no likelier than this one.
    """
    row, column, count = a + b, a + c, a + b + c + d
    logs = [
        _log_comb(row, x) + _log_comb(count - row, column - x) - _log_comb(count, column)
        for x in range(max(0, row + column - count), min(row, column) + 1)
    ]
    seen = _log_comb(row, a) + _log_comb(count - row, column - a) - _log_comb(count, column)
    # Equally likely tables must not be told apart by rounding.
    return min(1.0, fsum(exp(each) for each in logs if each <= seen + 1e-9))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values corrected for being looked at together, in the same order.

    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    corrected = [0.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = least
    return tuple(corrected)


def area_under_curve(
    hits: Sequence[float], others: Sequence[float], *, confidence: float = CONFIDENCE
) -> tuple[float, Interval]:
    """Return how often a value of the first kind is larger than one of the second, ties as halves, with its interval.

    Args:
        hits: values of the first kind, at least one.
        others: of the second, at least one.
        confidence: in (0, 1).

    Source: Hanley and McNeil, Radiology 143 (1982) 29: the area under the ROC curve and its standard error.
    """
    n, m = len(hits), len(others)
    area = (_rank_sum(hits, others) - n * (n + 1) / 2) / (n * m)
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    variance = (area * (1 - area) + (n - 1) * (q1 - area * area) + (m - 1) * (q2 - area * area)) / (n * m)
    half = _quantile(confidence) * sqrt(max(0.0, variance))
    return area, Interval(max(0.0, area - half), min(1.0, area + half))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies, interpolated.

    Args:
        values: sorted, at least one.
        share: in [0, 1].

    Source: Hyndman and Fan, The American Statistician 50 (1996), definition 7.
    """
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _half_tail(most: int, count: int) -> float:
    """Return the chance of at most ``most`` heads of ``count`` coins."""
    if count <= EXACT_COUNT:
        return sum(comb(count, each) for each in range(most + 1)) / 2**count
    return fsum(exp(_log_comb(count, each) - count * log(2)) for each in range(most + 1))


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    product = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if not product:
        return 0.0
    found = both * neither - only_first * only_second
    corrected = max(0.0, found - (both + only_first + only_second + neither) / 2) if found > 0 else found
    return corrected / sqrt(product)


def _joined(first: float, second: float, phi: float) -> float:
    return sqrt(max(0.0, first * first - 2 * phi * first * second + second * second))


def _rank_sum(hits: Sequence[float], others: Sequence[float]) -> float:
    """Return the sum of the ranks of ``hits`` among all, equal values at the mean of their ranks."""
    ordered = sorted([(value, True) for value in hits] + [(value, False) for value in others])
    total, start = 0.0, 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        mean_rank = (start + 1 + end) / 2
        total += mean_rank * sum(is_hit for _, is_hit in ordered[start:end])
        start = end
    return total


__all__ = [
    "CONFIDENCE",
    "EXACT_COUNT",
    "Interval",
    "area_under_curve",
    "fisher",
    "holm",
    "mcnemar",
    "paired_difference",
    "percentile",
    "wilson",
]
