"""Say what must hold of an ending: plain functions of what a call came to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from commitgate.contract import Contract
from commitgate.evaluation.adversarial.check import Found, failed, passed, skipped
from commitgate.gate.layers import Layer
from commitgate.outcome import (
    Committed,
    CompileFailed,
    Disconnected,
    Invalid,
    Outcome,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)

_FORM = (Layer.PARSE, Layer.SCHEMA, Layer.TYPE)


class Judge(Protocol):
    """Say what is wrong with a committed value."""

    def wrong(self, value: object, text: str | None) -> str:
        """Return what is wrong, in words; empty where nothing is.

        Args:
            value: as it was handed over.
            text: the answer as it was received; None where the server was asked for another shape than the contract's.
        """
        ...


def ending_words(outcome: Outcome[object, object]) -> str:
    """Return an ending's name and its own kind, phase or layer, as ``truncated (max_tokens)``."""
    match outcome:
        case TimedOut(phase=detail) | Invalid(layer=detail):
            return f"{outcome.name} ({detail})"
        case Truncated(kind=detail) | Disconnected(kind=detail) | Violated(kind=detail) | Unavailable(kind=detail):
            return f"{outcome.name} ({detail})"
        case _:
            return outcome.name


def of_value(
    outcome: Outcome[object, object], judge: Judge, contract: Contract[object] | None = None, *, is_forced: bool
) -> Found:
    """Say whether a legal value was committed as it had to be, and no other one.

    What the backend is not asked to enforce may come out wrong, as long as the gate refuses it; what it is asked to
    enforce may not.

    Args:
        outcome: how the call ended.
        judge: knows which values are right.
        contract: what was asked for; None where it could not be made.
        is_forced: only one value is legal, so nothing but the backend can be why it did not come.
    """
    words = ending_words(outcome)
    match outcome:
        case Committed(value=value, text=text):
            wrong = judge.wrong(value, None if _is_reshaped(outcome) else text)
            return failed(wrong, words) if wrong else passed(words)
        case Unsupported(keyword=keyword):
            return skipped(f"it cannot be asked for here: {keyword or 'the contract'} is not supported", words)
        case Violated() | Invalid(layer=Layer.PARSE | Layer.SCHEMA | Layer.TYPE) if _has_gap(outcome, contract):
            return passed(words)
        case Violated() | Invalid(layer=Layer.PARSE | Layer.SCHEMA | Layer.TYPE):
            return failed("the backend wrote what the constraint forbids; the gate refused it", words)
        case Truncated() if not is_forced:
            return skipped("the answer was cut before it told anything", words)
        case CompileFailed():
            return failed("a contract that can be satisfied was not compiled", words)
        case _:
            return failed(f"a value was to be committed, and the call ended as {words}", words)


def _is_reshaped(outcome: Outcome[object, object]) -> bool:
    return any(each.kind in ("wrapped", "nullable") for each in outcome.receipt.differences)


def _has_gap(outcome: Outcome[object, object], contract: Contract[object] | None) -> bool:
    """Say whether part of the contract was left to the gate."""
    if any(each.kind == "checked" for each in outcome.receipt.differences):
        return True
    return contract is not None and any(row.level == "checked" for row in contract.support)


def of_endings(outcome: Outcome[object, object], allowed: Collection[str]) -> Found:
    """Say whether a call ended in one of some ways, named as ``truncated`` or ``truncated (max_tokens)``."""
    words = ending_words(outcome)
    if words in allowed or outcome.name in allowed:
        return passed(words)
    if isinstance(outcome, Committed):
        return failed("a value was committed that must not be", words)
    return failed(f"it had to end as {' or '.join(sorted(allowed))}", words)


def of_nothing_committed(outcome: Outcome[object, object]) -> Found:
    """Say whether a call ended without a value."""
    words = ending_words(outcome)
    return failed("a value was committed that must not be", words) if isinstance(outcome, Committed) else passed(words)


def of_effects(outcome: Outcome[object, object], effects: Sequence[str], wanted: int) -> Found:
    """Say whether as many effects ran as there had to be.

    Args:
        outcome: how the call ended that is told of.
        effects: the effect key of each that ran.
        wanted: how many there had to be.
    """
    words = ending_words(outcome)
    if len(effects) == wanted:
        return passed(words)
    return failed(f"{len(effects)} effects ran where there had to be {wanted}", words)


def of_layer(outcome: Outcome[object, object], layer: Layer) -> Found:
    """Say whether one layer refused the value, and no other."""
    words = ending_words(outcome)
    if isinstance(outcome, Invalid) and outcome.layer is layer:
        return passed(words)
    if isinstance(outcome, Committed):
        return failed(f"a value was committed that the layer {layer} had to refuse", words)
    if isinstance(outcome, Invalid | Violated) and (not isinstance(outcome, Invalid) or outcome.layer in _FORM):
        return failed("the backend wrote what the constraint forbids; the gate refused it", words)
    return failed(f"the layer {layer} had to refuse the value", words)


__all__ = [
    "Judge",
    "ending_words",
    "of_effects",
    "of_endings",
    "of_layer",
    "of_nothing_committed",
    "of_value",
]
