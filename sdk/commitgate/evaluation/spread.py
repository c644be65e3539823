"""Hold how a measured quantity is spread over answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

from commitgate.evaluation.statistics import percentile


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Hold how a quantity is spread, in its own unit.

    Attributes:
        count: of how many answers it is known.
        mean: its mean.
        least: its least value.
        p50: half of the answers lie at or below it.
        p90: nine of ten do.
        p99: 99 of 100 do.
        most: its largest value.
    """

    count: int
    mean: float
    least: float
    p50: float
    p90: float
    p99: float
    most: float

    @staticmethod
    def of(values: Iterable[float | None]) -> Spread | None:
        """Return how values are spread, those that are not known left out; None where none is known."""
        known = sorted(value for value in values if value is not None)
        if not known:
            return None
        return Spread(
            count=len(known),
            mean=fsum(known) / len(known),
            least=known[0],
            p50=percentile(known, 0.5),
            p90=percentile(known, 0.9),
            p99=percentile(known, 0.99),
            most=known[-1],
        )


__all__ = ["Spread"]
