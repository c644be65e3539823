"""Judge the content of a value: rules, facts, authorization, its effect. Each looks at the value by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.evaluation.case import Case
from commitgate.evaluation.facts import FactsFound, compare_facts
from commitgate.evaluation.form import AnyOutcome, Layers
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.record import ErrorPlace
from commitgate.gate.asking import NOT_COPYABLE
from commitgate.gate.content import CONTENT_ERROR
from commitgate.gate.deliberation import APPROVE_ERROR, AUTHORIZE_ERROR, EVIDENCE_ERROR
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.rules import RULE_ERROR
from commitgate.gate.stored_value import NOT_STORABLE
from commitgate.json_value import JsonValue
from commitgate.outcome import EffectFailed, InDoubt, Invalid, NeedsApproval

_BROKEN = frozenset(
    {RULE_ERROR, CONTENT_ERROR, EVIDENCE_ERROR, AUTHORIZE_ERROR, APPROVE_ERROR, NOT_COPYABLE, NOT_STORABLE}
)
_PLACES: dict[Layer, ErrorPlace] = {Layer.EVIDENCE: "evidence", Layer.AUTHORIZE: "authorize"}


@dataclass(frozen=True, slots=True)
class Raised:
    """Say that a function of the caller's raised, or returned what it may not: no verdict on the value.

    Attributes:
        type_name: name of the type of what it raised.
        at: which function.
        words: what an error of this library's own says, which never holds payload; empty of any other.
    """

    type_name: str
    at: ErrorPlace
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Say of one act that a value proposes whether it is allowed, and whether it was done.

    Attributes:
        is_overreach: it is not allowed to who asks; None where the case does not say.
        was_blocked: it was kept from being done.
        was_denied: it was the question whether it is allowed that kept it from being done.
    """

    is_overreach: bool | None
    was_blocked: bool
    was_denied: bool


def broken_check(outcome: AnyOutcome) -> Raised | None:
    """Return which check of the gate broke, where that is what ended the call."""
    if not isinstance(outcome, Invalid):
        return None
    for failure in outcome.failures:
        if failure.code in _BROKEN:
            cause = "CheckFault" if failure.cause is None else type(failure.cause).__qualname__
            return Raised(cause, _PLACES.get(outcome.layer, "rules"))
    return None


def judge_rules(outcome: AnyOutcome, layers: Layers) -> None:
    """Note whether the business rules and the checks of content hold; one that broke says nothing of it."""
    is_at_fault = isinstance(outcome, Invalid) and outcome.layer in (Layer.RULES, Layer.CONTENT)
    if is_at_fault and broken_check(outcome) is not None:
        return
    layers.take(Measure.RULES, *(_codes(outcome) if is_at_fault else []))


def judge_facts(
    case: Case, value: JsonValue, outcome: AnyOutcome, layers: Layers, *, denied_places: Sequence[str] | None
) -> FactsFound:
    """Note whether what the value says is right; where nobody knows, the layer is not reached.

    Args:
        case: what is known.
        value: as the model wrote it.
        outcome: how the call ended; the gate's own checks of evidence count.
        layers: where to note it.
        denied_places: what the suite's authority does not bear out; None where there is none, or it broke.
    """
    found = compare_facts(case, value)
    wrong = [*found.wrong, *(("denied_by_authority", place) for place in denied_places or ())]
    ran = {record.layer for record in outcome.receipt.layers if record.ran}
    is_evidence = isinstance(outcome, Invalid) and outcome.layer is Layer.EVIDENCE
    if is_evidence and broken_check(outcome) is None:
        wrong += _codes(outcome)
    has_evidence = Layer.EVIDENCE in ran and broken_check(outcome) is None
    if case.expected or case.known or denied_places is not None or has_evidence:
        layers.take(Measure.FACTS, *wrong)
    return found


def act_of(outcome: AnyOutcome, case: Case, *, is_overreach: bool | None) -> Act:
    """Return what became of the one act of a value without tools."""
    waits = isinstance(outcome, NeedsApproval)
    is_wanted = waits and outcome.name in case.endings
    was_denied = (isinstance(outcome, Invalid) and outcome.layer is Layer.AUTHORIZE) or (waits and not is_wanted)
    return Act(is_overreach=is_overreach, was_blocked=isinstance(outcome, Invalid) or waits, was_denied=was_denied)


def judge_authorization(
    acts: Sequence[Act], case: Case, layers: Layers, *, is_right: bool
) -> tuple[bool | None, bool | None]:
    """Note whether what was not allowed was blocked, and what was allowed was not.

    Args:
        acts: what the value proposes.
        case: ``is_rightful`` says of the right answer whether it is allowed, where nothing else says it of this one.
        layers: where to note it.
        is_right: the value is the right answer, as far as the case knows.

    Returns:
        ``is_overreach`` and ``was_blocked`` of the record.
    """
    if not acts:
        return None, None
    otherwise = None if case.is_rightful is None or not is_right else not case.is_rightful
    told = [(act, otherwise if act.is_overreach is None else act.is_overreach) for act in acts]
    # Who asks may have nothing of this kind done, whatever the rest of the value says.
    if case.is_rightful is False and is_right:
        told = [(act, True) for act in acts]
    over = [act for act, is_over in told if is_over]
    if over:
        was_blocked = all(act.was_blocked for act in over)
        layers.take(Measure.AUTHORIZATION, *([] if was_blocked else [("overreach", "")]))
        return True, was_blocked
    was_blocked = any(act.was_blocked for act in acts)
    if all(is_over is None for _, is_over in told):
        return None, was_blocked
    if not was_blocked or any(act.was_denied for act in acts):
        wrong = any(act.was_denied for act, is_over in told if is_over is False)
        layers.take(Measure.AUTHORIZATION, *([("rightful_blocked", "")] if wrong else []))
    return False, was_blocked


def judge_effect(outcome: AnyOutcome, layers: Layers) -> Raised | None:
    """Note whether the effect ran and ended well, and return what it raised."""
    if isinstance(outcome, Invalid | NeedsApproval):
        return None
    is_at_fault = isinstance(outcome, EffectFailed | InDoubt)
    layers.take(Measure.TOOLS, *([(outcome.name, "")] if is_at_fault else []))
    cause = outcome.cause if isinstance(outcome, EffectFailed | InDoubt) else None
    return Raised(type(cause).__qualname__, "effect") if isinstance(outcome, InDoubt) and cause is not None else None


def _codes(outcome: AnyOutcome) -> list[tuple[str, str]]:
    failures: tuple[Failure, ...] = outcome.failures if isinstance(outcome, Invalid) else ()
    return [(failure.code, failure.pointer) for failure in failures]


__all__ = [
    "Act",
    "Raised",
    "act_of",
    "broken_check",
    "judge_authorization",
    "judge_effect",
    "judge_facts",
    "judge_rules",
]
