"""Say whether answers of low legal mass are the wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.evaluation.layer import Measure
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.record import CaseRecord
from commitgate.evaluation.statistics import CONFIDENCE, Interval, area_under_curve, fisher

LOW_MASS = 0.1
"""The least legal mass of an answer below which it counts as low, where nobody says another threshold."""

_TRUTHS = (Measure.FACTS, Measure.QUALITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalMass:
    """Relate the least legal mass of answers to whether they are wrong.

    An answer is wrong where its facts, or where it has none its score, did not pass. What has neither is left out.

    Attributes:
        threshold: below which mass is low.
        wrong_of_low: how many answers of low mass are wrong.
        wrong_of_high: how many others are.
        p_value: that both are one rate (Fisher's exact test).
        area: how often a wrong answer has less mass than a right one, ties as halves: 0.5 tells nothing, 1 all. None
            where there are not answers of both kinds.
        area_interval: its interval.
        points: least mass and whether the answer is right, one an answer; for a plot.
    """

    threshold: float
    wrong_of_low: Rate
    wrong_of_high: Rate
    p_value: float | None
    area: float | None
    area_interval: Interval | None
    points: tuple[tuple[float, bool], ...]


def relate_legal_mass(
    records: Sequence[CaseRecord], *, threshold: float = LOW_MASS, confidence: float = CONFIDENCE
) -> LegalMass | None:
    """Return how legal mass and wrong answers go together; None where the backend tells no mass or nothing is known."""
    known = [
        (record.case_id, record.legal_mass_min, is_right)
        for record in records
        if record.legal_mass_min is not None and (is_right := _is_right(record)) is not None
    ]
    if not known:
        return None
    low = Rate.of(((case, not right) for case, mass, right in known if mass < threshold), confidence=confidence)
    high = Rate.of(((case, not right) for case, mass, right in known if mass >= threshold), confidence=confidence)
    # More mass is to go with right answers, so it is looked at with its sign turned.
    wrong = [-mass for _, mass, right in known if not right]
    right = [-mass for _, mass, is_right in known if is_right]
    area, interval = area_under_curve(wrong, right, confidence=confidence) if wrong and right else (None, None)
    table = (low.passed, low.reached - low.passed, high.passed, high.reached - high.passed)
    return LegalMass(
        threshold=threshold,
        wrong_of_low=low,
        wrong_of_high=high,
        p_value=fisher(*table) if low.reached and high.reached else None,
        area=area,
        area_interval=interval,
        points=tuple((mass, is_right) for _, mass, is_right in known),
    )


def _is_right(record: CaseRecord) -> bool | None:
    return next((record.passed[each] for each in _TRUTHS if each in record.passed), None)


__all__ = ["LOW_MASS", "LegalMass", "relate_legal_mass"]
