"""Runs that nobody made, for tests of what is shown of them."""

from typing import Any

from commitgate.backends.base import Usage
from commitgate.evaluation import CaseRecord, EvaluationRun, Fault, Measure
from commitgate.evaluation.record import Variant


def record(
    number: int, *, is_right: bool, variant: Variant = "constrained", case_id: str | None = None, **changes: Any
) -> CaseRecord:
    """Return what became of a case whose form is right, and whose facts are right or not."""
    passed = dict.fromkeys(list(Measure)[:6], True) | {Measure.FACTS: is_right, Measure.AUTHORIZATION: True}
    facts: dict[str, Any] = {
        "case_id": case_id or f"case-{number}",
        "variant": variant,
        "outcome": "committed",
        "is_right_ending": True,
        "passed": passed,
        "faults": () if is_right else (Fault(measure=Measure.FACTS, code="wrong_fact", pointer="/n"),),
        "facts_asked": 1,
        "facts_right": int(is_right),
        "legal_mass_min": 0.9 if is_right else 0.02,
        "legal_mass_mean": 0.9,
        "time_to_first_token_s": 0.1 + number / 100,
        "time_per_token_s": 0.02,
        "total_s": 1.0,
        "usage": Usage(100, 20),
        "requests": 1,
        "requests_until_valid": 1,
        "tags": ("even" if number % 2 else "odd",),
    }
    return CaseRecord(**(facts | changes))


def made(records: list[CaseRecord], **changes: Any) -> EvaluationRun:
    """Return a run of records."""
    facts: dict[str, Any] = {
        "suite": "tickets",
        "suite_version": "1",
        "suite_digest": "d" * 64,
        "model": "local",
        "receipt_facts": {"model_revision": "r"},
        "settings": {},
        "started": "2026-12-01T00:00:00+00:00",
        "wall_s": 61.0,
        "records": tuple(records),
        "planned": len(records),
    }
    return EvaluationRun(**(facts | changes))


WAYS: tuple[Variant, ...] = ("constrained", "prompt_only")
BOTH = [record(n, is_right=n % 3 == 0, variant=way) for n in range(24) for way in WAYS]
"""Twenty-four cases asked both ways: all of the right form, a third of them true."""
