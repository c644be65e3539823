"""Decide whether a call that did not end well asks again, how, and after which wait. Sans-IO.

The endings that may be asked again are those of the table in the design, "Endings". Time and chance come in as
arguments; whoever drives the loop waits, asks again and counts with ``Tries.after``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import isfinite
from typing import Literal, TypeAlias, assert_never

from commitgate.backends.base import FaultKind
from commitgate.gate.layers import Layer
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
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)
from commitgate.retry.policy import Retry

AgainKind: TypeAlias = Literal["retry", "restart", "reask", "larger"]
"""``retry``: the same request, nothing was shown. ``restart``: the same request, what was shown is dropped. ``reask``:
another question, with what was wrong. ``larger``: another question, with a larger limit."""

_MOST_DOUBLINGS = 1_000
"""2.0 to the power of this is still a float; past it the longest wait is reached in any case."""


class GiveUpReason(StrEnum):
    """Name why a call asks no more."""

    NOT_RETRYABLE = "not_retryable"
    """Asking again would end the same way, or must not be done."""
    ALREADY_SHOWN = "already_shown"
    """Something was shown, and no restart is left or allowed."""
    ATTEMPTS_USED = "attempts_used"
    """The question was asked as often as it may be."""
    REASKS_USED = "reasks_used"
    """No re-ask is left or allowed."""
    LARGER_USED = "larger_used"
    """No larger limit was given, or it was tried."""
    RETRY_AFTER_TOO_LONG = "retry_after_too_long"
    """The server asks for a longer wait than the policy allows."""
    BUDGET = "budget"
    """The client's calls together have retried too much."""
    NO_TIME_LEFT = "no_time_left"
    """The wait would overrun the call's deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """Count what a call has asked so far.

    Attributes:
        requests: requests for the question that is asked now, >= 1.
        restarts: restarts of the whole call.
        reasks: re-asks of the whole call.
        larger: questions with a larger limit of the whole call.
    """

    requests: int = 1
    restarts: int = 0
    reasks: int = 0
    larger: int = 0

    def after(self, again: Again) -> Tries:
        """Return the counts once the further request is made; another question counts its requests anew."""
        match again.kind:
            case "retry":
                return replace(self, requests=self.requests + 1)
            case "restart":
                return replace(self, requests=self.requests + 1, restarts=self.restarts + 1)
            case "reask":
                return replace(self, requests=1, reasks=self.reasks + 1)
            case "larger":
                return replace(self, requests=1, larger=self.larger + 1)
            case _:
                assert_never(again.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Say that a further request is to be made.

    Attributes:
        kind: which.
        wait_s: seconds to wait before it, >= 0.
    """

    kind: AgainKind
    wait_s: float = 0.0

    @property
    def spends_budget(self) -> bool:
        """It puts load on a server that may be in trouble, so it spends from the ``RetryBudget``."""
        return self.kind in ("retry", "restart")


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Say that the call ends as it is.

    Attributes:
        reason: why. On ``NO_TIME_LEFT`` the deadline is what ends the call.
    """

    reason: GiveUpReason


def decide(
    ending: Failed,
    tries: Tries,
    *,
    policy: Retry,
    was_shown: bool,
    remaining_s: float | None,
    budget_allows: bool,
    random_unit: float,
) -> Again | GiveUp:
    """Decide whether to ask again.

    Args:
        ending: how the last request ended.
        tries: what was asked so far, this request among it.
        policy: what the caller allows.
        was_shown: a preview was shown of an answer to the question that is asked now, in whichever attempt.
        remaining_s: seconds until the call's deadline; None where it has none.
        budget_allows: the client's ``RetryBudget`` still has a token.
        random_unit: a random number in [0, 1), another one each time.
    """
    match ending:
        case TimedOut() | Disconnected() | Unavailable():
            found = _same_request(ending, tries, policy, was_shown, budget_allows, random_unit)
        case Invalid():
            found = _reask(ending, tries, policy)
        case Truncated():
            found = _larger(ending, tries, policy)
        case Refused() | Filtered() | Cancelled() | Unsupported() | CompileFailed() | DeadEnd() | Violated():
            found = GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
        case NeedsApproval() | EffectFailed() | InDoubt():
            found = GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
        case _:
            assert_never(ending)
    # Written so that a remainder that is no number ends the call.
    if isinstance(found, Again) and remaining_s is not None and not found.wait_s < remaining_s:
        return GiveUp(reason=GiveUpReason.NO_TIME_LEFT)
    return found


def _same_request(
    ending: TimedOut | Disconnected | Unavailable,
    tries: Tries,
    policy: Retry,
    was_shown: bool,
    budget_allows: bool,
    random_unit: float,
) -> Again | GiveUp:
    """Decide about sending the very same request once more."""
    if not _passes_by_itself(ending):
        return GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
    if was_shown and tries.restarts >= policy.restarts:
        return GiveUp(reason=GiveUpReason.ALREADY_SHOWN)
    if not was_shown and tries.requests >= policy.attempts:
        return GiveUp(reason=GiveUpReason.ATTEMPTS_USED)
    asked_s = _asked_wait_s(ending)
    if asked_s > policy.retry_after_most_s:
        return GiveUp(reason=GiveUpReason.RETRY_AFTER_TOO_LONG)
    if not budget_allows:
        return GiveUp(reason=GiveUpReason.BUDGET)
    wait_s = _wait_s(asked_s, tries.requests - 1, policy, random_unit)
    return Again(kind="restart" if was_shown else "retry", wait_s=wait_s)


def _passes_by_itself(ending: TimedOut | Disconnected | Unavailable) -> bool:
    match ending:
        case TimedOut(phase=phase):
            return phase != "total"
        case Disconnected():
            return True
        case Unavailable(kind=kind):
            return _kind_passes_by_itself(kind)
        case _:
            assert_never(ending)


def _kind_passes_by_itself(kind: FaultKind) -> bool:
    match kind:
        case "rate_limit" | "overload" | "server" | "unreachable":
            return True
        case "in_progress":
            # The earlier request with this key is still worked on: the same key later gets its answer.
            return True
        case "auth" | "quota" | "bad_request" | "constraint" | "untrusted" | "conflict":
            # A person must act first: give a key, pay, correct the request or the program that reused its key.
            return False
        case "protocol" | "unknown_finish" | "model":
            # What answers is not what was configured, or not known to us; the same will answer next time.
            return False
        case _:
            assert_never(kind)


def _asked_wait_s(ending: TimedOut | Disconnected | Unavailable) -> float:
    """Return the wait that the server asks for; 0.0 where it asks for none, or for what is no time."""
    asked_s = ending.retry_after_s if isinstance(ending, Unavailable) else None
    if asked_s is None or not isfinite(asked_s) or asked_s < 0:
        return 0.0
    return asked_s


def _wait_s(asked_s: float, earlier: int, policy: Retry, random_unit: float) -> float:
    """Return a random wait up to the back-off, but at least what was asked for, with at most as much on top.

    Full jitter spreads clients that failed together over the whole window. The part on top of what a server asked
    for does the same for clients that were all told the same time.
    """
    window_s = min(policy.backoff_most_s, policy.backoff_s * 2.0 ** min(earlier, _MOST_DOUBLINGS))
    return max(asked_s + random_unit * min(window_s, asked_s), random_unit * window_s)


def _reask(ending: Invalid, tries: Tries, policy: Retry) -> Again | GiveUp:
    """Decide about asking once more with what was wrong. The model answered, so there is nothing to wait for.

    A denial is never argued with: a model that is told why would look for a way round it.
    """
    if ending.layer is Layer.AUTHORIZE:
        return GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
    if not ending.failures or not all(failure.retryable for failure in ending.failures):
        return GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
    if tries.reasks >= policy.reasks:
        return GiveUp(reason=GiveUpReason.REASKS_USED)
    return Again(kind="reask")


def _larger(ending: Truncated, tries: Tries, policy: Retry) -> Again | GiveUp:
    """Decide about asking once more with a larger limit. Only the caller's own limit can be raised."""
    if ending.kind != "max_tokens":
        return GiveUp(reason=GiveUpReason.NOT_RETRYABLE)
    if policy.larger_max_tokens is None or tries.larger > 0:
        return GiveUp(reason=GiveUpReason.LARGER_USED)
    return Again(kind="larger")


__all__ = ["Again", "AgainKind", "GiveUp", "GiveUpReason", "Tries", "decide"]
