"""Compare constrained answers with those of the same model by the prompt alone, case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from commitgate.evaluation.layer import Measure
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.record import CaseRecord, Variant
from commitgate.evaluation.resampling import bootstrap_mean, sign_flip
from commitgate.evaluation.statistics import CONFIDENCE, Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Hold what the constraint adds to a quantity, over the cases that were asked both ways.

    Attributes:
        cases: of how many cases both are known.
        mean: mean of constrained less by the prompt alone, each case counted once.
        interval: of that mean (bootstrap over cases).
        p_value: that it is nothing (sign flips over cases).
    """

    cases: int
    mean: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Say what it takes to get one answer of the right form.

    Attributes:
        valid: how many answers have the right form at the first request, of those that came at all.
        expected_requests: requests until one has, 1 / the rate: each request is a new chance. None where none had.
        expected_interval: of that, from the interval of the rate; an end is infinite where a rate of 0 is possible.
        asked_again: answers that had to be asked for again.
        found_by_asking: of these, those that came right within the bound of the run.
        further_requests: requests that this took; those in vain included.
        output_tokens: tokens that all requests wrote, where the backend counts them.
    """

    valid: Rate
    expected_requests: float | None
    expected_interval: Interval | None
    asked_again: int
    found_by_asking: int
    further_requests: int
    output_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Compare both ways of asking.

    Attributes:
        pairs: cases and repetitions that were asked both ways.
        constrained: what an answer takes with the constraint.
        prompt_only: what it takes without.
        first_token_s: added seconds to the first token; None where not known.
        per_token_s: added seconds a token.
        output_tokens: added tokens written.
        total_s: added seconds of the whole call.
    """

    pairs: int
    constrained: Asking
    prompt_only: Asking
    first_token_s: Added | None
    per_token_s: Added | None
    output_tokens: Added | None
    total_s: Added | None


def compare_baseline(records: Sequence[CaseRecord], *, confidence: float = CONFIDENCE) -> Baseline | None:
    """Return the comparison of what was asked both ways; None where nothing was."""
    by_key: dict[tuple[str, int], dict[Variant, CaseRecord]] = defaultdict(dict)
    for record in records:
        by_key[record.case_id, record.repetition][record.variant] = record
    pairs = [(found["constrained"], found["prompt_only"]) for found in by_key.values() if len(found) == 2]
    if not pairs:
        return None

    def added(of: Callable[[CaseRecord], float | None]) -> Added | None:
        return added_of([(a.case_id, of(a), of(b)) for a, b in pairs], confidence=confidence)

    return Baseline(
        pairs=len(pairs),
        constrained=asking_of([pair[0] for pair in pairs], confidence=confidence),
        prompt_only=asking_of([pair[1] for pair in pairs], confidence=confidence),
        first_token_s=added(lambda record: record.time_to_first_token_s),
        per_token_s=added(lambda record: record.time_per_token_s),
        output_tokens=added(lambda record: record.usage.output_tokens),
        total_s=added(lambda record: record.total_s if record.passed.get(Measure.LIVENESS) else None),
    )


def asking_of(records: Sequence[CaseRecord], *, confidence: float = CONFIDENCE) -> Asking:
    """Return what it takes to get answers of the right form."""
    came = [record for record in records if record.passed.get(Measure.LIVENESS)]
    valid = Rate.of(((each.case_id, bool(each.passed.get(Measure.SCHEMA))) for each in came), confidence=confidence)
    share, interval = valid.share, valid.interval
    again = [record for record in came if not record.passed.get(Measure.SCHEMA)]
    tokens = [record.usage.output_tokens for record in records]
    known = [count for count in tokens if count is not None]
    return Asking(
        valid=valid,
        expected_requests=1 / share if share else None,
        expected_interval=None if interval is None else Interval(1 / interval.high, _inverse(interval.low)),
        asked_again=len(again),
        found_by_asking=sum(record.requests_until_valid is not None for record in again),
        further_requests=sum(max(0, record.requests - 1) for record in again),
        output_tokens=sum(known) if known else None,
    )


def added_of(
    found: Sequence[tuple[str, float | None, float | None]], *, confidence: float = CONFIDENCE
) -> Added | None:
    """Return what the first of each pair has more than the second, each case counted once.

    Args:
        found: id of the case, and the two, None where one is not known.
        confidence: of the interval.
    """
    by_case: dict[str, list[float]] = defaultdict(list)
    for case_id, first, second in found:
        if first is not None and second is not None:
            by_case[case_id].append(first - second)
    if not by_case:
        return None
    means = [fsum(each) / len(each) for each in by_case.values()]
    return Added(
        cases=len(means),
        mean=fsum(means) / len(means),
        interval=bootstrap_mean(means, confidence=confidence),
        p_value=sign_flip(means),
    )


def _inverse(low: float) -> float:
    return 1 / low if low else float("inf")


__all__ = ["Added", "Asking", "Baseline", "added_of", "asking_of", "compare_baseline"]
