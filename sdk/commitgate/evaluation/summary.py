"""Sum up a run: each layer with a rate of its own, and nothing that adds them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from commitgate.backends.base import Usage
from commitgate.evaluation.baseline import Baseline, compare_baseline
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.legal_mass import LOW_MASS, LegalMass, relate_legal_mass
from commitgate.evaluation.rate import Rate
from commitgate.evaluation.record import CaseRecord, EvaluationRun, Variant
from commitgate.evaluation.spread import Spread
from commitgate.evaluation.statistics import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerSummary:
    """Sum up one layer.

    Attributes:
        measure: the layer.
        rate: of the answers that reached it, how many passed.
        sound_so_far: of all answers, how many passed it and every layer before it that they reached. It never rises
            from one layer to the next, and is for a picture of where answers are lost; it is no rate of this layer.
        faults: how often each code was found, the most frequent first.
    """

    measure: Measure
    rate: Rate
    sound_so_far: Rate
    faults: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """Sum up who was kept from what.

    Attributes:
        overreach_blocked: of answers that would do what is not allowed, how many were blocked.
        rightful_blocked: of answers that would do what is allowed, how many were blocked because they were taken for
            not allowed: a rate that is to be 0.
    """

    overreach_blocked: Rate
    rightful_blocked: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """Sum up the answers to one way of asking, or those of them with one tag.

    Attributes:
        variant: how was asked.
        answers: how many records.
        came_through: of all, how many ended as their case wants, with all layers passed.
        layers: one for each layer, in order; also of those that nothing reached.
        authorization: who was kept from what.
        facts: of all single facts that were asked for, how many were right.
        second_effects: effects that making acts again set off.
        outcomes: how often each outcome came, with its detail; ``raised`` of calls that raised.
        errors: how often each function of the caller's raised what, as ``scorer: ValueError``.
        score: how the caller's scores are spread.
        legal_mass: how legal mass and wrong answers go together; None where the backend does not tell it.
        first_token_s: seconds to the first token.
        per_token_s: seconds a token after it.
        total_s: seconds of whole calls.
        usage: tokens of all requests together.
        requests: all requests together.
    """

    variant: Variant
    answers: int
    came_through: Rate
    layers: tuple[LayerSummary, ...]
    authorization: Authorization
    facts: Rate
    second_effects: int
    outcomes: Mapping[str, int]
    errors: Mapping[str, int]
    score: Spread | None
    legal_mass: LegalMass | None
    first_token_s: Spread | None
    per_token_s: Spread | None
    total_s: Spread | None
    usage: Usage
    requests: int

    def layer(self, measure: Measure) -> LayerSummary:
        """Return the summary of one layer."""
        return self.layers[list(Measure).index(measure)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Sum up a run.

    Attributes:
        variants: one for each way of asking, in the order in which they are first met.
        tags: the same of the answers with each tag, by tag in order.
        baseline: the constraint against the prompt alone; None where only one was asked.
        confidence: of all intervals.
    """

    variants: tuple[VariantSummary, ...]
    tags: Mapping[str, tuple[VariantSummary, ...]]
    baseline: Baseline | None
    confidence: float


def summarize(run: EvaluationRun, *, confidence: float = CONFIDENCE, low_mass: float = LOW_MASS) -> Summary:
    """Sum up a run.

    Args:
        run: it.
        confidence: of all intervals, in (0, 1).
        low_mass: the legal mass below which an answer counts as of low mass, in [0, 1].
    """
    tags = sorted({tag for record in run.records for tag in record.tags})
    return Summary(
        variants=_variants(run.records, confidence, low_mass),
        tags={
            tag: _variants([record for record in run.records if tag in record.tags], confidence, low_mass)
            for tag in tags
        },
        baseline=compare_baseline(run.records, confidence=confidence),
        confidence=confidence,
    )


def summarize_records(
    records: Sequence[CaseRecord],
    variant: Variant,
    *,
    confidence: float = CONFIDENCE,
    low_mass: float = LOW_MASS,
) -> VariantSummary:
    """Sum up records of one variant; the arguments are those of ``summarize``."""

    def rate(found: Sequence[tuple[str, bool]]) -> Rate:
        return Rate.of(found, confidence=confidence)

    return VariantSummary(
        variant=variant,
        answers=len(records),
        came_through=rate([(each.case_id, each.came_through) for each in records]),
        layers=_layers(records, confidence),
        authorization=Authorization(
            overreach_blocked=rate([(e.case_id, bool(e.was_blocked)) for e in records if e.is_overreach]),
            rightful_blocked=rate(
                [
                    (each.case_id, not each.passed[Measure.AUTHORIZATION])
                    for each in records
                    if each.is_overreach is False and Measure.AUTHORIZATION in each.passed
                ]
            ),
        ),
        facts=_facts(records, confidence),
        second_effects=sum(each.second_effects or 0 for each in records),
        outcomes=_counted(_outcome(each) for each in records),
        errors=_counted(f"{each.error_at}: {each.error}" for each in records if each.error is not None),
        score=Spread.of(each.score for each in records),
        legal_mass=relate_legal_mass(records, threshold=low_mass, confidence=confidence),
        first_token_s=Spread.of(each.time_to_first_token_s for each in records),
        per_token_s=Spread.of(each.time_per_token_s for each in records),
        total_s=Spread.of(each.total_s for each in records if each.passed.get(Measure.LIVENESS)),
        usage=_usage(records),
        requests=sum(each.requests for each in records),
    )


def _variants(records: Sequence[CaseRecord], confidence: float, low_mass: float) -> tuple[VariantSummary, ...]:
    found: dict[Variant, list[CaseRecord]] = {}
    for record in records:
        found.setdefault(record.variant, []).append(record)
    return tuple(
        summarize_records(each, variant, confidence=confidence, low_mass=low_mass) for variant, each in found.items()
    )


def _layers(records: Sequence[CaseRecord], confidence: float) -> tuple[LayerSummary, ...]:
    found: list[LayerSummary] = []
    sound = [True] * len(records)
    for measure in Measure:
        sound = [was and record.passed.get(measure, True) for was, record in zip(sound, records, strict=True)]
        faults = (fault.code for record in records for fault in record.faults if fault.measure is measure)
        found.append(
            LayerSummary(
                measure=measure,
                rate=Rate.of(
                    ((each.case_id, each.passed[measure]) for each in records if measure in each.passed),
                    confidence=confidence,
                ),
                sound_so_far=Rate.of(
                    ((each.case_id, is_sound) for each, is_sound in zip(records, sound, strict=True)),
                    confidence=confidence,
                ),
                faults=_counted(faults),
            )
        )
    return tuple(found)


def _facts(records: Sequence[CaseRecord], confidence: float) -> Rate:
    single = [(record.case_id, index < record.facts_right) for record in records for index in range(record.facts_asked)]
    return Rate.of(single, confidence=confidence)


def _outcome(record: CaseRecord) -> str:
    if record.outcome is None:
        return "raised" if record.error_at == "call" else "not_asked"
    return record.outcome if record.detail is None else f"{record.outcome}.{record.detail}"


def _counted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))


def _usage(records: Sequence[CaseRecord]) -> Usage:
    def total(counts: Iterable[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(
        input_tokens=total(each.usage.input_tokens for each in records),
        output_tokens=total(each.usage.output_tokens for each in records),
        reasoning_tokens=total(each.usage.reasoning_tokens for each in records),
    )


__all__ = [
    "Authorization",
    "LayerSummary",
    "Summary",
    "VariantSummary",
    "summarize",
    "summarize_records",
]
