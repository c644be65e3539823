"""Hold the one table of what may happen to an operation key.

``advance`` is the whole ledger without its storage: a row, a step and the time go in, the next row comes out. Every
store runs it inside one transaction, so all stores agree. A step that the table does not allow raises and changes
nothing.

Two rules carry the guarantee that an effect happens at most once. A step is taken only under the fence of the last
claim, and only a claim raises the fence; so a call that was overtaken can write nothing. And no transition leads back
from ``EFFECT_STARTED`` to a state from which an effect may start: a lease that ends there makes the row ``IN_DOUBT``.

The lease decides who may *claim*, the fence alone decides who may *write*. A call whose lease ended may therefore go
on as long as nobody has claimed the key, whatever its clock says; and a final write that comes late, after another
call found the row in doubt, is still the truth and is taken.

Source: design, "Keys and the ledger".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from commitgate.errors import IllegalTransitionError, InProgressError, KeyConflictError, LeaseLostError
from commitgate.ledger.record import SETTLED, Fingerprint, Record, State
from commitgate.retry.keys import OperationKey

LEASE_ENDED_REASON = "the lease ended after the effect was started"


@dataclass(frozen=True, slots=True)
class Claim:
    """Ask for the key: before the first request is sent."""

    fingerprint: Fingerprint
    owner: str
    lease_s: float


@dataclass(frozen=True, slots=True)
class Extend:
    """Renew the lease: the heartbeat."""

    fence: int
    lease_s: float


@dataclass(frozen=True, slots=True)
class StartEffect:
    """Choose the value and say that its effect is about to start: the intent."""

    fence: int
    lease_s: float
    value: bytes = field(repr=False)
    receipt: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CommitValue:
    """Choose and commit a value that has no effect."""

    fence: int
    value: bytes = field(repr=False)
    receipt: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """Record that the effect ran, with what it returned."""

    fence: int
    result: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class FailBeforeEffect:
    """Record that the effect declined cleanly."""

    fence: int
    reason: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MarkInDoubt:
    """Record that nobody knows whether the effect happened."""

    fence: int
    reason: str


@dataclass(frozen=True, slots=True)
class Release:
    """Give the key back: the call ended without choosing a value."""

    fence: int
    ending: str


FencedStep: TypeAlias = Extend | StartEffect | CommitValue | Commit | FailBeforeEffect | MarkInDoubt | Release
Step: TypeAlias = Claim | FencedStep


class Guard(Enum):
    """Name what must hold for a transition to be taken."""

    NO_ROW = "the key is new"
    SAME_FINGERPRINT = "the fingerprints agree"
    LEASE_ENDED = "the fingerprints agree and the lease has ended"
    SAME_FENCE = "the fence is that of the last claim"


@dataclass(frozen=True, slots=True)
class Transition:
    """Hold one row of the table.

    Attributes:
        source: the state before, None where there is no row.
        step: the step taken.
        guard: what must hold.
        target: the state after.
    """

    source: State | None
    step: type[Step]
    guard: Guard
    target: State


TRANSITIONS: tuple[Transition, ...] = (
    Transition(None, Claim, Guard.NO_ROW, State.CLAIMED),
    Transition(State.RELEASED, Claim, Guard.SAME_FINGERPRINT, State.CLAIMED),
    Transition(State.CLAIMED, Claim, Guard.LEASE_ENDED, State.CLAIMED),
    Transition(State.EFFECT_STARTED, Claim, Guard.LEASE_ENDED, State.IN_DOUBT),
    Transition(State.COMMITTED, Claim, Guard.SAME_FINGERPRINT, State.COMMITTED),
    Transition(State.FAILED_BEFORE_EFFECT, Claim, Guard.SAME_FINGERPRINT, State.FAILED_BEFORE_EFFECT),
    Transition(State.IN_DOUBT, Claim, Guard.SAME_FINGERPRINT, State.IN_DOUBT),
    Transition(State.CLAIMED, Extend, Guard.SAME_FENCE, State.CLAIMED),
    Transition(State.CLAIMED, StartEffect, Guard.SAME_FENCE, State.EFFECT_STARTED),
    Transition(State.CLAIMED, CommitValue, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.CLAIMED, Release, Guard.SAME_FENCE, State.RELEASED),
    Transition(State.EFFECT_STARTED, Extend, Guard.SAME_FENCE, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Commit, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.EFFECT_STARTED, FailBeforeEffect, Guard.SAME_FENCE, State.FAILED_BEFORE_EFFECT),
    Transition(State.EFFECT_STARTED, MarkInDoubt, Guard.SAME_FENCE, State.IN_DOUBT),
    Transition(State.IN_DOUBT, Commit, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.IN_DOUBT, FailBeforeEffect, Guard.SAME_FENCE, State.FAILED_BEFORE_EFFECT),
    Transition(State.IN_DOUBT, MarkInDoubt, Guard.SAME_FENCE, State.IN_DOUBT),
)

_BY_SOURCE = {(transition.source, transition.step): transition for transition in TRANSITIONS}


def advance(key: OperationKey, row: Record | None, step: Step, *, now: float) -> Record:
    """Return the row after ``step``; the same object where a claim finds a settled key, to be replayed.

    Args:
        key: the operation key.
        row: its row, None where there is none.
        step: what is asked for.
        now: Unix time in seconds.

    Raises:
        KeyConflictError: a claim whose fingerprint differs from the row's.
        InProgressError: a claim while another call's lease runs.
        LeaseLostError: a step under an older fence, or on a row that another call settled.
        IllegalTransitionError: a step that does not belong to the row's state.
    """
    if isinstance(step, Claim):
        return _claim(key, row, step, now)
    transition = _BY_SOURCE.get((None if row is None else row.state, type(step)))
    if row is None or (transition is None and row.fence == step.fence and row.state not in SETTLED):
        raise _illegal(None if row is None else row.state, step)
    if transition is None or row.fence != step.fence:
        raise LeaseLostError(
            f"this call's claim (fence {step.fence}) was taken over or settled by another (fence {row.fence}, "
            f"state {row.state}); do not use its result"
        )
    return _changed(row, step, transition.target, now)


def _claim(key: OperationKey, row: Record | None, step: Claim, now: float) -> Record:
    transition = _BY_SOURCE[None if row is None else row.state, Claim]
    if row is None:
        return Record(
            key=key,
            state=transition.target,
            fence=1,
            attempt=1,
            owner=step.owner,
            lease_expires_at=now + step.lease_s,
            fingerprint=step.fingerprint,
            created_at=now,
            updated_at=now,
        )
    _check_fingerprint(row.fingerprint, step.fingerprint)
    if transition.guard is Guard.LEASE_ENDED:
        _check_lease_ended(row, now)
    if transition.target is State.CLAIMED:
        return replace(
            row,
            state=State.CLAIMED,
            fence=row.fence + 1,
            attempt=row.attempt + 1,
            owner=step.owner,
            lease_expires_at=now + step.lease_s,
            reason=None,
            updated_at=now,
        )
    if transition.target is row.state:
        return row
    return replace(row, state=transition.target, lease_expires_at=None, reason=LEASE_ENDED_REASON, updated_at=now)


def _check_fingerprint(stored: Fingerprint, given: Fingerprint) -> None:
    differs = stored.differences(given)
    if differs:
        raise KeyConflictError(
            f"the operation key was used before with another {' and '.join(differs)}; use another key for another "
            "operation, or repeat the first one unchanged",
            differs=differs,
        )


def _check_lease_ended(row: Record, now: float) -> None:
    remaining_s = 0.0 if row.lease_expires_at is None else row.lease_expires_at - now
    if remaining_s > 0:
        raise InProgressError(
            f"another call holds the operation key; its lease ends in {remaining_s:.1f} s unless it is renewed. "
            "Wait for it, then call again",
            lease_remaining_s=remaining_s,
        )


def _illegal(state: State | None, step: FencedStep) -> IllegalTransitionError:
    name = type(step).__name__
    found = "a key that was never claimed" if state is None else f"state {state}"
    return IllegalTransitionError(
        f"the step {name} does not belong to {found}; nothing changed", state=state, step=name
    )


def _changed(row: Record, step: FencedStep, target: State, now: float) -> Record:
    match step:
        case Extend(lease_s=lease_s):
            return replace(row, lease_expires_at=now + lease_s, updated_at=now)
        case StartEffect(lease_s=lease_s, value=value, receipt=receipt):
            lease_expires_at = now + lease_s
            return replace(
                row, state=target, value=value, receipt=receipt, lease_expires_at=lease_expires_at, updated_at=now
            )
        case CommitValue(value=value, receipt=receipt):
            return replace(row, state=target, value=value, receipt=receipt, lease_expires_at=None, updated_at=now)
        case Commit(result=result):
            return replace(row, state=target, result=result, reason=None, lease_expires_at=None, updated_at=now)
        case FailBeforeEffect(reason=reason) | MarkInDoubt(reason=reason) | Release(ending=reason):
            return replace(row, state=target, reason=reason, lease_expires_at=None, updated_at=now)


__all__ = [
    "LEASE_ENDED_REASON",
    "TRANSITIONS",
    "Claim",
    "Commit",
    "CommitValue",
    "Extend",
    "FailBeforeEffect",
    "FencedStep",
    "Guard",
    "MarkInDoubt",
    "Release",
    "StartEffect",
    "Step",
    "Transition",
    "advance",
]
