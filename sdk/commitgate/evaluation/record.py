"""Hold what became of one case, payload-free: names, places, counts, times and digests alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Usage
from commitgate.evaluation.layer import Measure
from commitgate.json_value import JsonValue

ErrorPlace: TypeAlias = Literal[
    "suite", "call", "rules", "evidence", "authorize", "authority", "scorer", "effect", "tool", "replay"
]
"""``suite``: a function of the suite that makes rules, an ``authorize`` or an effect. ``call``: the call itself raised.
``replay``: making it again raised. The others are functions of the suite or its contracts by their names."""

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

    It *came through* where it ended as its case wants and, if a value was committed, every layer it reached passed.

    Attributes:
        case_id: the case.
        variant: how it was asked.
        repetition: from 1.
        outcome: name of the outcome; None where the call raised.
        detail: the outcome's own kind, phase or layer.
        is_right_ending: the outcome is one that the case wants.
        passed: for each layer that the answer reached, whether it passed; layers that it did not reach are absent.
        faults: what was wrong.
        facts_right: how many of the expected facts were right.
        facts_asked: how many were expected.
        is_overreach: what it would do is not allowed to who asks; None where the case does not say or nothing came.
        was_blocked: it was kept from being done; None where nothing was to be done.
        score: the caller's own, in [0, 1].
        second_effects: effects that making the call again set off; None where it was not made again.
        legal_mass_min: as in the receipt; of several turns the least.
        legal_mass_mean: as in the receipt; of several turns their mean.
        time_to_first_token_s: as in the receipt; of several turns that of the first.
        time_per_token_s: as in the receipt; of several turns their mean.
        total_s: seconds of the whole call, without making it again.
        usage: tokens of all requests made for it.
        requests: made for it, those for asking again included.
        requests_until_valid: which request for it was the first whose answer had the right form, counted from 1; None
            where none had within the bound.
        model_revision: as in the receipt.
        tags: of the case.
        text_digest: as in the receipt.
        error: name of the type of what the call, a check or the scorer raised; None where nothing did.
        error_at: where it was raised; None where nothing was.
    """

    case_id: str
    variant: Variant = "constrained"
    repetition: int = 1
    outcome: str | None
    detail: str | None = None
    is_right_ending: bool = False
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
    requests_until_valid: int | None = None
    model_revision: str | None = None
    tags: tuple[str, ...] = ()
    text_digest: str | None = None
    error: str | None = None
    error_at: ErrorPlace | None = None

    @property
    def key(self) -> tuple[str, Variant, int]:
        """Return what names it in its run: case, variant and repetition."""
        return self.case_id, self.variant, self.repetition

    @property
    def came_through(self) -> bool:
        """Say whether it ended as its case wants, with every layer passed that a committed value reached."""
        is_sound = self.outcome != "committed" or all(self.passed.values())
        return self.is_right_ending and self.error is None and is_sound


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
        records: what became of each case, in the order of the cases, then of variants and repetitions.
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


__all__ = ["CaseRecord", "ErrorPlace", "EvaluationRun", "Fault", "Variant"]
