"""Judge the form of an answer: did it come, was it whole, was it JSON, did the schema hold?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from commitgate.backends.base import FinishReason
from commitgate.evaluation.case import Case
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import Fault
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    DeadEnd,
    Disconnected,
    EffectFailed,
    Filtered,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)
from commitgate.run.facts import detail_of

MOST_FAULTS = 32
"""Most faults of one answer that are kept in its record."""

AnyOutcome: TypeAlias = "Outcome[object, object]"

_REFUSALS = ("refused", "filtered")


@dataclass(slots=True)
class Layers:
    """Gather what the layers found about one answer.

    Attributes:
        passed: for each layer that was reached, whether it passed.
        faults: what was wrong.
    """

    passed: dict[Measure, bool] = field(default_factory=dict[Measure, bool])
    faults: list[Fault] = field(default_factory=list[Fault])

    def take(self, measure: Measure, *wrong: tuple[str, str]) -> bool:
        """Note that a layer was reached, and what it found: codes with places. Return whether it passed."""
        self.passed[measure] = not wrong
        self.faults += [Fault(measure=measure, code=code, pointer=pointer) for code, pointer in wrong]
        del self.faults[MOST_FAULTS:]
        return not wrong


def judge_form(outcome: AnyOutcome, case: Case, layers: Layers, *, is_json: bool, nesting: int) -> bool:
    """Take an ending through the layers of form, one after another.

    Args:
        outcome: how the call ended.
        case: of which case.
        layers: where to note what they found.
        is_json: the contract is one of JSON, and not of another text.
        nesting: deepest nesting that the contract allows.

    Returns:
        Whether there is a value for the layers of content to look at.
    """
    unanswered = _unanswered(outcome)
    if not layers.take(Measure.LIVENESS, *unanswered):
        return False
    if not _answered(outcome, case, layers):
        return False
    if not layers.take(Measure.TRUNCATION, *_cut(outcome)):
        return False
    if isinstance(outcome, Violated):
        return _judge_violated(outcome, layers, is_json=is_json, nesting=nesting)
    if isinstance(outcome, Invalid) and outcome.layer in (Layer.FINISH, Layer.ACCEPT, Layer.PARSE):
        return layers.take(Measure.SYNTAX, *_codes(outcome.failures))
    layers.take(Measure.SYNTAX)
    if isinstance(outcome, Invalid) and outcome.layer in (Layer.SCHEMA, Layer.TYPE):
        return layers.take(Measure.SCHEMA, *_codes(outcome.failures))
    return layers.take(Measure.SCHEMA)


def coded(outcome: AnyOutcome) -> str:
    """Return an outcome's name with its own kind, phase, layer or cause."""
    detail = outcome.cause if isinstance(outcome, DeadEnd) else detail_of(outcome)
    return outcome.name if detail is None else f"{outcome.name}.{detail}"


def is_wanted(outcome: AnyOutcome, endings: Sequence[str]) -> bool:
    """Say whether an outcome is one that a case wants, by its name alone or with its own kind, phase or layer."""
    return outcome.name in endings or coded(outcome) in endings


def _cut(outcome: AnyOutcome) -> list[tuple[str, str]]:
    """Return what cut an answer. One that broke the constraint and was read on may have been cut at its end, too."""
    if isinstance(outcome, Truncated):
        return [(coded(outcome), "")]
    is_cut = isinstance(outcome, Violated) and outcome.receipt.finish is FinishReason.LENGTH
    return [("truncated.max_tokens", "")] if is_cut else []


def _unanswered(outcome: AnyOutcome) -> list[tuple[str, str]]:
    match outcome:
        case DeadEnd() | Unavailable() | Disconnected() | TimedOut() | Cancelled():
            return [(coded(outcome), "")]
        case Unsupported(pointer=pointer) | CompileFailed(pointer=pointer):
            return [(coded(outcome), pointer)]
        case _:
            return []


def _answered(outcome: AnyOutcome, case: Case, layers: Layers) -> bool:
    """Judge whether the model declined as the case wants; return whether there is an answer to look at."""
    has_declined = isinstance(outcome, Refused | Filtered)
    may_decline = any(name in case.endings for name in _REFUSALS)
    must_decline = all(name in _REFUSALS for name in case.endings)
    if has_declined:
        is_right = may_decline and outcome.name in case.endings
        layers.take(Measure.REFUSAL, *([] if is_right else [(outcome.name, "")]))
        return False
    layers.take(Measure.REFUSAL, *([("not_refused", "")] if must_decline else []))
    # An answer where none was wanted still has a form, of which the layers that follow tell.
    return True


def _judge_violated(outcome: Violated, layers: Layers, *, is_json: bool, nesting: int) -> bool:
    """Judge an answer that broke the constraint: of JSON it may still be, and of its schema not.

    One that was stopped at its first impossible byte says nothing of its syntax: the rest of it was never read.
    """
    ran = {record.layer: record.passed for record in outcome.receipt.layers if record.ran}
    is_parsed = ran.get(Layer.PARSE)
    if is_json and is_parsed is None and outcome.kind in ("constraint", "not_accepting"):
        whole = isinstance(strict_parse(outcome.partial_text.encode(errors="replace"), nesting=nesting), Parsed)
        # What the provider has finished was read to its end.
        was_read = outcome.kind == "not_accepting" or outcome.receipt.finish is not None
        is_parsed = True if whole else False if was_read else None
        if is_parsed is None:
            return layers.take(Measure.SCHEMA, (coded(outcome), ""))
    if not is_parsed:
        return layers.take(Measure.SYNTAX, (coded(outcome), ""))
    layers.take(Measure.SYNTAX)
    return layers.take(Measure.SCHEMA, (coded(outcome), ""))


def _codes(failures: tuple[Failure, ...]) -> list[tuple[str, str]]:
    return [(failure.code, failure.pointer) for failure in failures[:MOST_FAULTS]]


def has_value(outcome: AnyOutcome) -> bool:
    """Say whether an outcome's text passed parse, schema and type."""
    match outcome:
        case Committed() | NeedsApproval() | EffectFailed() | InDoubt():
            return True
        case Invalid(layer=layer):
            return layer in (Layer.RULES, Layer.CONTENT, Layer.EVIDENCE, Layer.AUTHORIZE)
        case _:
            return False


__all__ = ["MOST_FAULTS", "AnyOutcome", "Layers", "coded", "has_value", "is_wanted", "judge_form"]
