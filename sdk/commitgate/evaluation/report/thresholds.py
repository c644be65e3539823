"""Hold rates against what somebody asks of them, layer by layer: none makes up for another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.errors import MisuseError
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.statistics import Interval
from commitgate.evaluation.summary import VariantSummary

CAME_THROUGH = "came_through"
"""Names, beside the layers, that an answer came through all of them."""

OVERREACH_BLOCKED = "overreach_blocked"
"""Names the share of overreach that was blocked."""

RIGHTFUL_LET_THROUGH = "rightful_let_through"
"""Names the share of rightful acts that were not blocked."""

NAMES: tuple[str, ...] = (
    *(measure.value for measure in Measure),
    CAME_THROUGH,
    OVERREACH_BLOCKED,
    RIGHTFUL_LET_THROUGH,
)
"""What a threshold may be on."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Ask for a rate.

    Attributes:
        name: a layer, or one of the other names.
        least: the least rate that is good enough, in [0, 1].
    """

    name: str
    least: float

    @staticmethod
    def of(words: str) -> Threshold:
        """Return the threshold of words such as ``facts=0.9`` or ``schema=100%``.

        Raises:
            MisuseError: they are none.
        """
        name, separator, number = words.partition("=")
        if not separator or name not in NAMES:
            raise MisuseError(f"a threshold is layer=rate, with a layer among {', '.join(NAMES)}")
        try:
            least = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
        except ValueError as error:
            raise MisuseError(f"the rate of {name} must be a number, as 0.9 or 90%") from error
        if not 0 <= least <= 1:
            raise MisuseError(f"the rate of {name} must lie in 0 to 1, or 0% to 100%")
        return Threshold(name, least)


@dataclass(frozen=True, slots=True)
class Missed:
    """Say that a rate is not good enough.

    Attributes:
        threshold: what was asked.
        rate: what there is. Where nothing was counted, nothing was shown to be good enough.
        measured: the number that was held against it; None where nothing was counted.
    """

    threshold: Threshold
    rate: Rate
    measured: float | None

    @staticmethod
    def unmeasured(threshold: Threshold) -> Missed:
        """Return what is missed where there is no answer at all."""
        return Missed(threshold, Rate.of(()), None)

    def summary(self) -> str:
        """Return it in words."""
        asked = f"{self.threshold.name} is to be at least {self.threshold.least:.1%}"
        if self.measured is None:
            return f"{asked}, and no answer reached it"
        return f"{asked}, and is {self.measured:.1%} ({self.rate.passed:,} of {self.rate.reached:,})"


def missed(
    summary: VariantSummary, thresholds: Sequence[Threshold], *, by_lower_bound: bool = False
) -> tuple[Missed, ...]:
    """Return what is not good enough.

    Args:
        summary: of the answers.
        thresholds: what is asked.
        by_lower_bound: hold the lower end of each rate's interval against it, and not the rate that was counted.
    """
    found: list[Missed] = []
    for threshold in thresholds:
        rate = _rate(summary, threshold.name)
        measured = rate.share
        if by_lower_bound and rate.interval is not None:
            measured = rate.interval.low
        if measured is None or measured < threshold.least:
            found.append(Missed(threshold, rate, measured))
    return tuple(found)


def _rate(summary: VariantSummary, name: str) -> Rate:
    if name == CAME_THROUGH:
        return summary.came_through
    if name == OVERREACH_BLOCKED:
        return summary.authorization.overreach_blocked
    if name == RIGHTFUL_LET_THROUGH:
        return turned(summary.authorization.rightful_blocked)
    return summary.layer(Measure(name)).rate


def turned(rate: Rate) -> Rate:
    """Return the rate of what did not pass."""
    interval = None if rate.interval is None else Interval(1 - rate.interval.high, 1 - rate.interval.low)
    return Rate(passed=rate.reached - rate.passed, reached=rate.reached, cases=rate.cases, interval=interval)


__all__ = [
    "CAME_THROUGH",
    "NAMES",
    "OVERREACH_BLOCKED",
    "RIGHTFUL_LET_THROUGH",
    "Missed",
    "Threshold",
    "missed",
    "turned",
]
