"""Hold what became of one case, payload-free: names, places, counts, times and digests alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Usage
from commitgate.evaluation.layer import Measure
from commitgate.json_value import JsonValue

Variant: TypeAlias = Literal["constrained", "prompt_only"]
"""``constrained``: as a program would call. ``prompt_only``: the same model, asked for JSON by the prompt alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Say what one layer found wrong with an answer.

    Attributes:
        measure: the layer.
        code: stable short name.
        pointer: JSON pointer into the value; empty for its root, and where there is none.
    """

    measure: Measure
    code: str
    pointer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """Hold what became of one case in one variant.

    Attributes:
        case_id: the case.
        variant: how it was asked.
        repetition: from 1.
        outcome: name of the outcome; None where the call raised.
        detail: the outcome's own kind, phase or layer.
        passed: for each layer that the answer reached, whether it passed; layers that it did not reach are absent.
        faults: what was wrong.
        facts_right: how many of the expected facts were right.
        facts_asked: how many were expected.
        is_overreach: what it would do is not allowed to who asks; None where the case does not say or nothing came.
        was_blocked: it was kept from being done; None where nothing was to be done.
        score: the caller's own, in [0, 1].
        second_effects: effects that making the call again set off; None where it was not made again.
        legal_mass_min: as in the receipt.
        legal_mass_mean: as in the receipt.
        time_to_first_token_s: as in the receipt.
        time_per_token_s: as in the receipt.
        total_s: seconds of the whole call.
        usage: as in the receipt.
        requests: made for it.
        tags: of the case.
        text_digest: as in the receipt.
        error: name of the type of what the call, a check or the scorer raised; None where nothing did.
        error_at: where it was raised: ``call``, ``authority``, ``scorer`` or ``effect``; None where nothing was.
    """

    case_id: str
    variant: Variant = "constrained"
    repetition: int = 1
    outcome: str | None
    detail: str | None = None
    passed: dict[Measure, bool] = field(default_factory=dict[Measure, bool])
    faults: tuple[Fault, ...] = ()
    facts_right: int = 0
    facts_asked: int = 0
    is_overreach: bool | None = None
    was_blocked: bool | None = None
    score: float | None = None
    second_effects: int | None = None
    legal_mass_min: float | None = None
    legal_mass_mean: float | None = None
    time_to_first_token_s: float | None = None
    time_per_token_s: float | None = None
    total_s: float = 0.0
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    tags: tuple[str, ...] = ()
    text_digest: str | None = None
    error: str | None = None
    error_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRun:
    """Hold one run over a suite.

    Attributes:
        suite: the suite's name.
        suite_version: the caller's version of it.
        suite_digest: SHA-256 of its cases; two runs can be compared case by case where it is the same.
        model: ``backend/name`` as asked for.
        receipt_facts: backend, model, model revision, tokenizer fingerprint, contract digests: what answered.
        settings: of the run: sampling, repetitions, concurrency, limits.
        started: when, as RFC 3339 in UTC.
        wall_s: seconds that it took, all its parts together.
        records: what became of each case, in the order of the cases.
        planned: how many records a whole run has.
        problems: what went wrong with the run itself, in words without payload.
    """

    suite: str
    suite_version: str | None
    suite_digest: str
    model: str
    receipt_facts: dict[str, JsonValue]
    settings: dict[str, JsonValue]
    started: str
    wall_s: float
    records: tuple[CaseRecord, ...]
    planned: int
    problems: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Say whether every record is there."""
        return len(self.records) == self.planned


__all__ = ["CaseRecord", "EvaluationRun", "Fault", "Variant"]
