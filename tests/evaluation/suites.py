"""Build small suites, and models whose answers are written down, for tests of evaluations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from commitgate import Contract, Message, Sampling
from commitgate.backends.base import GenerationRequest
from commitgate.evaluation import Case, CaseRecord, EvaluationRun, Measure, Suite, Variant, evaluate
from commitgate.evaluation.layer import Measure as _Measure
from commitgate.testing import ScriptedBackend, Step

SCHEMA: dict[str, Any] = {
    "title": "payment",
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}},
    "required": ["amount", "to"],
    "additionalProperties": False,
}
PAYMENT = Contract.json_schema(SCHEMA, name="payment")
RIGHT = '{"amount":5,"to":"ann"}'
FORM = (_Measure.LIVENESS, _Measure.REFUSAL, _Measure.TRUNCATION, _Measure.SYNTAX, _Measure.SCHEMA)


def said(text: str, *, mass: float | None = None, tokens: int = 3) -> list[Step]:
    """Return the script of a whole answer."""
    step: dict[str, Any] = {"text": text, "tokens": tokens}
    if mass is not None:
        step["legal_mass"] = mass
    return [step, {"usage": [10, tokens]}, {"finish": "stop"}]


def case(name: str = "a", **given: Any) -> Case:
    """Return a case that is asked by its own name."""
    return Case(**{"id": name, "messages": (Message("user", f"pay {name}"),), **given})


def suite_of(*cases: Case, **given: Any) -> Suite[Any]:
    """Return a suite of payments."""
    base: dict[str, Any] = {"name": "payments", "contracts": {"payment": PAYMENT}, "sampling": Sampling(max_tokens=64)}
    return Suite(**{**base, "cases": cases or (case(),), **given})


class Answering:
    """Answer each request by what is asked in it: the last message of the user names the script.

    Args:
        answers: by the words of the case's message; the last script of a list again and again.
        otherwise: for all others.
    """

    name = "answering"

    def __init__(self, answers: dict[str, Sequence[Sequence[Step]]], otherwise: Sequence[Step] | None = None) -> None:
        self._backends = {words: ScriptedBackend(first, then=rest) for words, (first, *rest) in answers.items()}
        self._otherwise = ScriptedBackend(said(RIGHT) if otherwise is None else otherwise)
        self.requests: list[GenerationRequest] = []

    def open(self, request: GenerationRequest) -> Any:
        self.requests.append(request)
        asked = [message.content for message in request.messages if message.role == "user"]
        return self._backends.get(asked[0], self._otherwise).open(request)

    async def aclose(self) -> None:
        pass


async def run_suite(suite: Suite[Any], *scripts: Sequence[Step], backend: Any = None, **given: Any) -> EvaluationRun:
    """Run a suite against scripts, one request after the other."""
    first, *rest = scripts or (said(RIGHT),)
    asked = backend or ScriptedBackend(first, then=rest)
    return await evaluate(suite, "scripted", **{"backends": {"scripted": asked}, "concurrency": 1, **given})


async def record_of(suite: Suite[Any], *scripts: Sequence[Step], **given: Any) -> CaseRecord:
    """Return the only record of a suite of one case."""
    run = await run_suite(suite, *scripts, **given)
    (record,) = run.records
    return record


def without_times(record: CaseRecord) -> CaseRecord:
    """Return a record without what differs from run to run."""
    return replace(record, total_s=0.0, time_to_first_token_s=None, time_per_token_s=None)


def made_record(name: str = "a", variant: Variant = "constrained", **given: Any) -> CaseRecord:
    """Return a record as a run could have made it."""
    passed = given.pop("passed", dict.fromkeys(FORM, True))
    base: dict[str, Any] = {"outcome": "committed", "is_right_ending": True, "total_s": 1.0}
    return CaseRecord(**{"case_id": name, "variant": variant, **base, "passed": passed, **given})


def made_run(*records: CaseRecord, **given: Any) -> EvaluationRun:
    """Return a run of such records."""
    base: dict[str, Any] = {
        "suite": "payments",
        "suite_version": None,
        "suite_digest": "0" * 64,
        "model": "scripted",
        "receipt_facts": {},
        "settings": {},
        "started": "2026-12-01T00:00:00+00:00",
        "wall_s": 1.0,
        "records": records,
        "planned": len(records),
    }
    return EvaluationRun(**{**base, **given})


__all__ = [
    "FORM",
    "PAYMENT",
    "RIGHT",
    "SCHEMA",
    "Answering",
    "Measure",
    "case",
    "made_record",
    "made_run",
    "record_of",
    "run_suite",
    "said",
    "suite_of",
    "without_times",
]
