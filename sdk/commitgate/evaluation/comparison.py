"""Compare two runs of one suite: other models, contracts or backends, on the same cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, fsum, log

from commitgate.errors import ComparisonError
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Variant
from commitgate.evaluation.resampling import bootstrap_mean, sign_flip
from commitgate.evaluation.statistics import CONFIDENCE, Interval, holm, mcnemar, paired_difference

CAME_THROUGH = "came_through"
"""Name of the row that is no layer: ended as the case wants, with all layers passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerComparison:
    """Compare one layer over the pairs that reached it in both runs.

    Attributes:
        name: of the layer, or ``came_through``.
        pairs: how many reached it in both.
        both: in how many both passed.
        only_first: in how many only the first run's passed.
        only_second: only the second's.
        neither: none.
        difference: rate of the second less that of the first; None without pairs.
        interval: of the difference: Newcombe's, or where cases were asked several times a bootstrap over cases.
        p_value: that both are one rate: exact McNemar, or there sign flips over cases. None without pairs.
        corrected_p_value: the same, corrected for all rows that are looked at together (Holm).
        reached_first_alone: how many reached it in the first run alone.
        reached_second_alone: in the second alone.
    """

    name: str
    pairs: int
    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float | None
    interval: Interval | None
    p_value: float | None
    corrected_p_value: float | None
    reached_first_alone: int
    reached_second_alone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioComparison:
    """Compare a quantity over the pairs in which both are known.

    Attributes:
        name: of the quantity: a field of the record.
        cases: in how many cases both are known.
        ratio: the second by the first, as a geometric mean over cases: 2 is twice as long.
        interval: of the ratio (bootstrap over cases).
        p_value: that it is 1 (sign flips over cases).
    """

    name: str
    cases: int
    ratio: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Compare two runs.

    Attributes:
        first: names the first run: its model.
        second: the second's.
        variant: which records of the first run were looked at.
        second_variant: which of the second.
        pairs: records that are in both: of one case and repetition.
        unpaired_first: records of the first run that the second has not.
        unpaired_second: of the second that the first has not.
        layers: one for each layer that any pair reached, and ``came_through`` first.
        ratios: of times and tokens.
        differs: what is not the same in both runs: ``model``, ``contracts``, ``settings`` and what answered.
        confidence: of all intervals.
    """

    first: str
    second: str
    variant: Variant
    second_variant: Variant
    pairs: int
    unpaired_first: int
    unpaired_second: int
    layers: tuple[LayerComparison, ...]
    ratios: tuple[RatioComparison, ...]
    differs: tuple[str, ...]
    confidence: float


def compare(
    first: EvaluationRun,
    second: EvaluationRun,
    *,
    variant: Variant = "constrained",
    second_variant: Variant | None = None,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare two runs case by case, or two ways of asking of one run.

    Args:
        first: what the second is compared with.
        second: it; may be the same run where the variants differ.
        variant: which records of the first run are looked at.
        second_variant: which of the second; None takes the same.
        confidence: of all intervals, in (0, 1).

    Raises:
        ComparisonError: they are of different suites, or have no record in common.
    """
    if first.suite_digest != second.suite_digest:
        raise ComparisonError(
            f"the runs are of different suites ({first.suite_digest[:12]} and {second.suite_digest[:12]}): "
            "only answers to the same cases can be compared"
        )
    ones, others = _by_case(first, variant), _by_case(second, second_variant or variant)
    pairs = [(record, others[key]) for key, record in ones.items() if key in others]
    if not pairs:
        raise ComparisonError(
            f"the runs have no record in common: {len(ones)} and {len(others)} records, none of one case and repetition"
        )
    rows: list[tuple[str, Callable[[CaseRecord], bool | None]]] = [(CAME_THROUGH, lambda each: each.came_through)]
    rows += [(measure.value, partial(_passed, measure)) for measure in Measure]
    layers = [_layer(name, pairs, of, confidence) for name, of in rows]
    ratios = [_ratio(name, pairs, of, confidence) for name, of in _QUANTITIES]
    return Comparison(
        first=first.model,
        second=second.model,
        pairs=len(pairs),
        variant=variant,
        second_variant=second_variant or variant,
        unpaired_first=len(ones) - len(pairs),
        unpaired_second=len(others) - len(pairs),
        layers=_corrected([each for each in layers if each.pairs]),
        ratios=tuple(each for each in ratios if each is not None),
        differs=_differs(first, second),
        confidence=confidence,
    )


_QUANTITIES: tuple[tuple[str, Callable[[CaseRecord], float | None]], ...] = (
    ("time_to_first_token_s", lambda each: each.time_to_first_token_s),
    ("time_per_token_s", lambda each: each.time_per_token_s),
    ("total_s", lambda each: each.total_s if each.passed.get(Measure.LIVENESS) else None),
    ("output_tokens", lambda each: each.usage.output_tokens),
)


def _by_case(run: EvaluationRun, variant: Variant) -> dict[tuple[str, int], CaseRecord]:
    return {(each.case_id, each.repetition): each for each in run.records if each.variant == variant}


def _passed(measure: Measure, record: CaseRecord) -> bool | None:
    return record.passed.get(measure)


def _layer(
    name: str,
    pairs: Sequence[tuple[CaseRecord, CaseRecord]],
    of: Callable[[CaseRecord], bool | None],
    confidence: float,
) -> LayerComparison:
    found = [(first.case_id, of(first), of(second)) for first, second in pairs]
    known = [(case, one, two) for case, one, two in found if one is not None and two is not None]
    counts = [sum((one, two) == wanted for _, one, two in known) for wanted in _CORNERS]
    both, only_first, only_second, neither = counts
    difference: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    if known:
        difference = (only_second - only_first) / len(known)
        by_case: dict[str, list[int]] = defaultdict(list)
        for case, one, two in known:
            by_case[case].append(two - one)
        if len(by_case) == len(known):
            p_value = mcnemar(only_first, only_second)
            interval = paired_difference(both, only_second, only_first, neither, confidence=confidence)
        else:
            means = [sum(each) / len(each) for each in by_case.values()]
            p_value, interval = sign_flip(means), bootstrap_mean(means, confidence=confidence)
    return LayerComparison(
        name=name,
        pairs=len(known),
        both=both,
        only_first=only_first,
        only_second=only_second,
        neither=neither,
        difference=difference,
        interval=interval,
        p_value=p_value,
        corrected_p_value=None,
        reached_first_alone=sum(one is not None and two is None for _, one, two in found),
        reached_second_alone=sum(one is None and two is not None for _, one, two in found),
    )


_CORNERS = ((True, True), (True, False), (False, True), (False, False))


def _ratio(
    name: str,
    pairs: Sequence[tuple[CaseRecord, CaseRecord]],
    of: Callable[[CaseRecord], float | None],
    confidence: float,
) -> RatioComparison | None:
    by_case: dict[str, list[float]] = defaultdict(list)
    for first, second in pairs:
        one, two = of(first), of(second)
        if one and two:
            by_case[first.case_id].append(log(two / one))
    if not by_case:
        return None
    means = [fsum(each) / len(each) for each in by_case.values()]
    spread = bootstrap_mean(means, confidence=confidence)
    return RatioComparison(
        name=name,
        cases=len(means),
        ratio=exp(fsum(means) / len(means)),
        interval=Interval(exp(spread.low), exp(spread.high)),
        p_value=sign_flip(means),
    )


def _corrected(layers: Sequence[LayerComparison]) -> tuple[LayerComparison, ...]:
    corrected = holm([1.0 if each.p_value is None else each.p_value for each in layers])
    return tuple(replace(each, corrected_p_value=p) for each, p in zip(layers, corrected, strict=True))


def _differs(first: EvaluationRun, second: EvaluationRun) -> tuple[str, ...]:
    found = [name for name in ("model", "settings") if getattr(first, name) != getattr(second, name)]
    names = sorted(first.receipt_facts.keys() | second.receipt_facts.keys())
    found += [name for name in names if first.receipt_facts.get(name) != second.receipt_facts.get(name)]
    return tuple(dict.fromkeys(found))


__all__ = ["CAME_THROUGH", "Comparison", "LayerComparison", "RatioComparison", "compare"]
