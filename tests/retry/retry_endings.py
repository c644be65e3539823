"""Make one example of every way in which a call can end without a value, for tests."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from commitgate.gate.layers import Failure, Layer
from commitgate.outcome import (
    Cancelled,
    CompileFailed,
    DeadEnd,
    Disconnected,
    EffectFailed,
    Failed,
    Filtered,
    InDoubt,
    Invalid,
    NeedsApproval,
    Receipt,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)

Variant: TypeAlias = tuple[str, str | None]
"""Name of an ending's class, and the kind that tells examples of it apart; None where there is one example."""

RECEIPT = Receipt()


def failure(*, layer: Layer = Layer.SCHEMA, retryable: bool = True, code: str = "type") -> Failure:
    return Failure(layer=layer, code=code, pointer="", message="a number was wanted", retryable=retryable)


def invalid(*failures: Failure) -> Invalid:
    return Invalid(layer=failures[0].layer, failures=failures, receipt=RECEIPT)


def unavailable(kind: Any = "server", *, retry_after_s: float | None = None) -> Unavailable:
    return Unavailable(kind=kind, message="it broke", retry_after_s=retry_after_s, receipt=RECEIPT)


INVALID: dict[str, Invalid] = {
    "retryable": invalid(failure(), failure(code="enum")),
    "rule_error": invalid(failure(layer=Layer.RULES), failure(layer=Layer.RULES, code="rule_error", retryable=False)),
    "authorize": invalid(failure(layer=Layer.AUTHORIZE)),
}

# Endings with kinds: the field that tells them apart, and how one is made.
_WITH_KINDS: Mapping[type[Failed], tuple[str, Callable[[Any], Failed]]] = {
    TimedOut: ("phase", lambda phase: TimedOut(phase=phase, limit_s=1.0, receipt=RECEIPT)),
    Disconnected: ("kind", lambda kind: Disconnected(kind=kind, receipt=RECEIPT)),
    Truncated: ("kind", lambda kind: Truncated(kind=kind, receipt=RECEIPT)),
    Unavailable: ("kind", unavailable),
}
_PLAIN: tuple[Failed, ...] = (
    Refused(receipt=RECEIPT),
    Filtered(receipt=RECEIPT),
    Cancelled(receipt=RECEIPT),
    Unsupported(keyword="pattern", pointer="", reason="", receipt=RECEIPT),
    CompileFailed(pointer="", keyword=None, reason="", receipt=RECEIPT),
    DeadEnd(cause="schema", prefix_tokens=0, explanation="", receipt=RECEIPT),
    Violated(kind="not_json", position=0, explanation="", receipt=RECEIPT),
    NeedsApproval(reason="", receipt=RECEIPT),
    EffectFailed(reason="", receipt=RECEIPT),
    InDoubt(reason="", receipt=RECEIPT),
)


def _kinds(ending: type[Failed], field: str) -> tuple[str, ...]:
    annotation = get_type_hints(ending)[field]
    assert get_origin(annotation) is Literal
    return get_args(annotation)


def _all() -> dict[Variant, Failed]:
    found: dict[Variant, Failed] = {(type(each).__name__, None): each for each in _PLAIN}
    found |= {("Invalid", kind): each for kind, each in INVALID.items()}
    for ending, (field, make) in _WITH_KINDS.items():
        found |= {(ending.__name__, kind): make(kind) for kind in _kinds(ending, field)}
    return found


VARIANTS: dict[Variant, Failed] = _all()
"""Every ending; those that are treated by their kind once for each kind that their annotation allows."""
