"""Make a record out of how a trial ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from commitgate.evaluation.content import Raised
from commitgate.evaluation.form import AnyOutcome, Layers, is_wanted
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.meter import Meter
from commitgate.evaluation.record import CaseRecord
from commitgate.evaluation.setup import Planned
from commitgate.limits import Limits
from commitgate.outcome import Committed, Receipt
from commitgate.run.facts import detail_of


@dataclass(slots=True, kw_only=True)
class Judged:
    """Gather what is known of one trial; ``record`` gives it as it stands.

    Attributes:
        planned: which trial.
        meter: counts its requests.
        layers: what the layers found.
        raised: the first thing that the call, a check or a function of the suite raised.
    """

    planned: Planned
    meter: Meter
    layers: Layers = field(default_factory=Layers)
    raised: Raised | None = None
    facts_right: int = 0
    facts_asked: int = 0
    is_overreach: bool | None = None
    was_blocked: bool | None = None
    score: float | None = None
    second_effects: int | None = None
    requests_until_valid: int | None = None

    def note(self, found: object) -> None:
        """Keep what was raised, where it is the first."""
        if isinstance(found, Raised) and self.raised is None:
            self.raised = found

    def take_replay(self, second_effects: int | None, wrong: tuple[str, str] | Raised | None) -> None:
        """Note what making the act again did."""
        if second_effects is None:
            return
        self.second_effects = second_effects
        self.note(wrong)
        found = [] if wrong is None else [("replay_raised", "")] if isinstance(wrong, Raised) else [wrong]
        self.layers.take(Measure.IDEMPOTENCY, *([("second_effect", "")] if second_effects else []), *found)

    def record(
        self, outcome: AnyOutcome | None, *, total_s: float, receipts: Sequence[Receipt] | None = None
    ) -> CaseRecord:
        """Return the record of the trial.

        Args:
            outcome: how the call ended; None where it raised.
            total_s: seconds of the call.
            receipts: of its turns, where it has several; None takes the outcome's own.
        """
        planned, meter = self.planned, self.meter
        last = Receipt() if outcome is None else outcome.receipt
        receipts = (last,) if receipts is None else receipts
        return CaseRecord(
            case_id=planned.case.id,
            variant=planned.variant,
            repetition=planned.repetition,
            outcome=None if outcome is None else outcome.name,
            detail=detail_of(outcome),
            is_right_ending=outcome is not None and is_wanted(outcome, planned.case.endings),
            passed={measure: self.layers.passed[measure] for measure in Measure if measure in self.layers.passed},
            faults=tuple(self.layers.faults),
            facts_right=self.facts_right,
            facts_asked=self.facts_asked,
            is_overreach=self.is_overreach,
            was_blocked=self.was_blocked,
            score=self.score,
            second_effects=self.second_effects,
            legal_mass_min=min((m for r in receipts if (m := r.legal_mass_min) is not None), default=None),
            legal_mass_mean=_mean([m for r in receipts if (m := r.legal_mass_mean) is not None]),
            time_to_first_token_s=next((t for r in receipts if (t := r.time_to_first_token_s) is not None), None),
            time_per_token_s=_mean([t for r in receipts if (t := r.time_per_token_s) is not None]),
            total_s=total_s,
            usage=meter.usage,
            requests=meter.requests,
            requests_until_valid=self.requests_until_valid,
            model_revision=last.model_revision,
            tags=planned.case.tags,
            text_digest=last.text_digest,
            error=None if self.raised is None else self.raised.type_name,
            error_at=None if self.raised is None else self.raised.at,
        )


@dataclass(frozen=True, slots=True)
class Tried:
    """Hold what a trial came to.

    Attributes:
        record: payload-free.
        text: the answer's text; for a caller who asked for it alone.
        outcome: how the call ended; None where it raised.
        words: what an error of this library's own says; empty where there is none.
    """

    record: CaseRecord
    text: str = field(repr=False)
    outcome: AnyOutcome | None = field(repr=False)
    words: str = ""


def not_answered(judged: Judged, raised: Raised, *, total_s: float) -> Tried:
    """Return what a trial came to whose call raised."""
    judged.note(raised)
    judged.layers.take(Measure.LIVENESS, ("raised", ""))
    return Tried(judged.record(None, total_s=total_s), "", None, raised.words)


def not_asked(judged: Judged, raised: Raised) -> Tried:
    """Return what a trial came to of which the suite could not make what the call is given."""
    judged.note(raised)
    return Tried(judged.record(None, total_s=0.0), "", None, raised.words)


def text_of(outcome: AnyOutcome) -> str:
    """Return the answer's text."""
    return outcome.text if isinstance(outcome, Committed) else outcome.partial_text


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


DEFAULT_NESTING = Limits().nesting
"""Deepest nesting of an answer that has no contract of its own: a turn of tools whose answer is words."""

__all__ = ["DEFAULT_NESTING", "Judged", "Tried", "not_answered", "not_asked", "text_of"]
