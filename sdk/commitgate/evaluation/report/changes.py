"""Name the cases that one run passes and another does not."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.evaluation.comparison import CAME_THROUGH
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Say how a pair of answers to one case differs.

    Attributes:
        case_id: the case.
        repetition: from 1.
        lost: layers, or ``came_through``, that the first answer passed and the second did not.
        gained: those that the second passed and the first did not.
    """

    case_id: str
    repetition: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]


def changes(
    first: EvaluationRun,
    second: EvaluationRun,
    *,
    variant: Variant = "constrained",
    second_variant: Variant | None = None,
) -> tuple[Change, ...]:
    """Return the pairs of which a layer that both reached came out otherwise, those that lost most first.

    Args:
        first: one run.
        second: another of the same cases, or the same.
        variant: which records of the first.
        second_variant: which of the second; None for the same.
    """
    after = _by_case(second, variant if second_variant is None else second_variant)
    found: list[Change] = []
    for key, record in _by_case(first, variant).items():
        other = after.get(key)
        if other is None:
            continue
        old, new = _verdicts(record), _verdicts(other)
        both = [name for name in old if name in new]
        lost = tuple(name for name in both if old[name] and not new[name])
        gained = tuple(name for name in both if new[name] and not old[name])
        if lost or gained:
            found.append(Change(case_id=key[0], repetition=key[1], lost=lost, gained=gained))
    return tuple(sorted(found, key=lambda each: (-len(each.lost), len(each.gained), each.case_id, each.repetition)))


def _by_case(run: EvaluationRun, variant: Variant) -> dict[tuple[str, int], CaseRecord]:
    return {(each.case_id, each.repetition): each for each in run.records if each.variant == variant}


def _verdicts(record: CaseRecord) -> dict[str, bool]:
    judged = {measure.value: record.passed[measure] for measure in Measure if measure in record.passed}
    return {CAME_THROUGH: record.came_through, **judged}


__all__ = ["Change", "changes"]
