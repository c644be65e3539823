"""Hold the one table of what may happen to an operation key.

``advance`` is the whole ledger without its storage: a row, a step and the time go in, the next row comes out. Every
store runs it inside one transaction, so all stores agree. A step that the table does not allow raises and changes
nothing.

Three rules carry the guarantee that an effect happens at most once. A step is taken only under the fence of the last
claim, and only a claim raises the fence; so a call that was overtaken can write nothing. No transition leads from
``EFFECT_STARTED`` back to a state from which another value may be chosen. And a claim takes a started effect over only
where its kind makes a second run harmless (``by_key``, ``transactional``), with the value that is stored; one of kind
``once`` whose lease ended becomes ``IN_DOUBT``.

The lease decides who may *claim*, the fence alone decides who may *write*. A call whose lease ended may therefore go
on as long as nobody has claimed the key, whatever its clock says; and a final write that comes late, after another
call found the row in doubt, is still the truth and is taken as long as nobody has reconciled.

A clock that is set forward ends leases early: the fence keeps that safe. One that is set back would keep the lease of a
dead call for as long; so a claim that finds a row from the future counts the lease anew from now.

Source: design, "Keys and the ledger".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from commitgate.effect_kind import RESUMABLE
from commitgate.errors import (
    DecisionError,
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
)
from commitgate.ledger.record import LEASED, PRUNABLE, SETTLED, Fingerprint, Record, State
from commitgate.ledger.steps import (
    Approve,
    Claim,
    Commit,
    CommitValue,
    Decision,
    Extend,
    FailBeforeEffect,
    FencedStep,
    Finding,
    MarkInDoubt,
    Propose,
    Reconcile,
    Reject,
    Release,
    StartEffect,
    Step,
)
from commitgate.retry.keys import OperationKey

LEASE_ENDED_REASON = "the lease ended after the effect was started"
EXPIRED_REASON = "nobody decided in time"

USE_ANOTHER_KEY = "use another key for another operation, or repeat the first one unchanged"

_IN_WORDS = {
    "language_digest": "contract (for a run of tools: other tools, or other arguments of one)",
    "effect_name": "effect",
    "effect_version": "version of its effect",
    "input_fingerprint": "input (its messages, or its input_fingerprint)",
}


class Guard(Enum):
    """Name what must hold for a transition to be taken. Of a claim the fingerprints must agree in any case."""

    NO_ROW = "the key is new"
    ANY = "in any other case"
    SAME_OWNER = "it is this very call's claim, of which it missed the answer"
    LEASE_RUNS = "another call's lease runs"
    RESUMABLE = "a second run of the effect does no harm"
    EXPIRED = "its time is over"
    SAME_FENCE = "the fence is that of the last claim"
    APPLIED = "the effect was found to have happened"
    NOT_APPLIED = "the effect was found not to have happened"
    UNKNOWN = "nobody can know whether the effect happened"


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
    Transition(State.RELEASED, Claim, Guard.ANY, State.CLAIMED),
    Transition(State.CLAIMED, Claim, Guard.SAME_OWNER, State.CLAIMED),
    Transition(State.CLAIMED, Claim, Guard.LEASE_RUNS, State.CLAIMED),
    Transition(State.CLAIMED, Claim, Guard.ANY, State.CLAIMED),
    Transition(State.AWAITING_APPROVAL, Claim, Guard.EXPIRED, State.REJECTED),
    Transition(State.AWAITING_APPROVAL, Claim, Guard.ANY, State.AWAITING_APPROVAL),
    Transition(State.APPROVED, Claim, Guard.SAME_OWNER, State.APPROVED),
    Transition(State.APPROVED, Claim, Guard.LEASE_RUNS, State.APPROVED),
    Transition(State.APPROVED, Claim, Guard.EXPIRED, State.REJECTED),
    Transition(State.APPROVED, Claim, Guard.ANY, State.APPROVED),
    Transition(State.REJECTED, Claim, Guard.ANY, State.REJECTED),
    Transition(State.EFFECT_STARTED, Claim, Guard.SAME_OWNER, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Claim, Guard.LEASE_RUNS, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Claim, Guard.RESUMABLE, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Claim, Guard.ANY, State.IN_DOUBT),
    Transition(State.IN_DOUBT, Claim, Guard.RESUMABLE, State.EFFECT_STARTED),
    Transition(State.IN_DOUBT, Claim, Guard.ANY, State.IN_DOUBT),
    Transition(State.COMMITTED, Claim, Guard.ANY, State.COMMITTED),
    Transition(State.FAILED_BEFORE_EFFECT, Claim, Guard.ANY, State.FAILED_BEFORE_EFFECT),
    Transition(State.NOT_APPLIED, Claim, Guard.ANY, State.NOT_APPLIED),
    Transition(State.CLAIMED, Extend, Guard.SAME_FENCE, State.CLAIMED),
    Transition(State.CLAIMED, Propose, Guard.SAME_FENCE, State.AWAITING_APPROVAL),
    Transition(State.CLAIMED, StartEffect, Guard.SAME_FENCE, State.EFFECT_STARTED),
    Transition(State.CLAIMED, CommitValue, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.CLAIMED, Release, Guard.SAME_FENCE, State.RELEASED),
    Transition(State.AWAITING_APPROVAL, Approve, Guard.EXPIRED, State.REJECTED),
    Transition(State.AWAITING_APPROVAL, Approve, Guard.ANY, State.APPROVED),
    Transition(State.AWAITING_APPROVAL, Reject, Guard.ANY, State.REJECTED),
    Transition(State.APPROVED, Approve, Guard.ANY, State.APPROVED),
    Transition(State.APPROVED, Reject, Guard.ANY, State.REJECTED),
    Transition(State.REJECTED, Reject, Guard.ANY, State.REJECTED),
    Transition(State.APPROVED, Extend, Guard.SAME_FENCE, State.APPROVED),
    Transition(State.APPROVED, StartEffect, Guard.SAME_FENCE, State.EFFECT_STARTED),
    Transition(State.APPROVED, CommitValue, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.APPROVED, Release, Guard.SAME_FENCE, State.APPROVED),
    Transition(State.EFFECT_STARTED, Extend, Guard.SAME_FENCE, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Commit, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.EFFECT_STARTED, FailBeforeEffect, Guard.SAME_FENCE, State.FAILED_BEFORE_EFFECT),
    Transition(State.EFFECT_STARTED, MarkInDoubt, Guard.SAME_FENCE, State.IN_DOUBT),
    Transition(State.EFFECT_STARTED, Reconcile, Guard.LEASE_RUNS, State.EFFECT_STARTED),
    Transition(State.EFFECT_STARTED, Reconcile, Guard.APPLIED, State.COMMITTED),
    Transition(State.EFFECT_STARTED, Reconcile, Guard.NOT_APPLIED, State.NOT_APPLIED),
    Transition(State.EFFECT_STARTED, Reconcile, Guard.UNKNOWN, State.IN_DOUBT),
    Transition(State.IN_DOUBT, Commit, Guard.SAME_FENCE, State.COMMITTED),
    Transition(State.IN_DOUBT, FailBeforeEffect, Guard.SAME_FENCE, State.FAILED_BEFORE_EFFECT),
    Transition(State.IN_DOUBT, MarkInDoubt, Guard.SAME_FENCE, State.IN_DOUBT),
    Transition(State.IN_DOUBT, Reconcile, Guard.APPLIED, State.COMMITTED),
    Transition(State.IN_DOUBT, Reconcile, Guard.NOT_APPLIED, State.NOT_APPLIED),
    Transition(State.IN_DOUBT, Reconcile, Guard.UNKNOWN, State.IN_DOUBT),
)
"""Every legal transition. Of those with one source and step the first whose guard holds is taken."""


def advance(key: OperationKey, row: Record | None, step: Step, *, now: float, fence_floor: int = 0) -> Record:
    """Return the row after ``step``; the same object where nothing is to be written.

    A claim that finds the key held by another call, or settled, gives the row of that other call.

    Args:
        key: the operation key.
        row: its row, None where there is none.
        step: what is asked for.
        now: Unix time in seconds.
        fence_floor: highest fence of all rows that were ever deleted, so that no fence is given out twice.

    Raises:
        KeyConflictError: a claim whose fingerprint differs from the row's.
        InProgressError: a finding about an effect that is still running.
        LeaseLostError: a step under an older fence, or on a row that another call settled.
        DecisionError: an approval or rejection of what does not wait for one, or of another value.
        IllegalTransitionError: a step that does not belong to the row's state.
    """
    match step:
        case Claim():
            return _new(key, step, now, fence_floor) if row is None else _claim(row, step, now)
        case Approve() | Reject():
            return _decide(row, step, now)
        case Reconcile():
            return _reconcile(row, step, now)
        case _:
            return _go_on(row, step, now)


def row_to_run(key: OperationKey, row: Record | None, fence: int, *, now: float) -> Record:
    """Return the row of a transactional effect that may run now: started under ``fence``, and not settled since.

    Raises:
        LeaseLostError: another call took the key over, or it was found in doubt.
        IllegalTransitionError: the effect was not started.
    """
    advance(key, row, Commit(fence, b""), now=now)
    if row is None or row.state is not State.EFFECT_STARTED:
        raise LeaseLostError(f"the effect (fence {fence}) was settled by another; it is not run")
    return row


def is_held_by_another(row: Record, owner: str) -> bool:
    """Say whether a claim of ``owner`` that led to ``row`` found another call at work.

    No claim gives out a started effect that must not run twice: not even to its own call, which is at it already.
    """
    is_running = row.state is State.EFFECT_STARTED and row.effect_kind not in RESUMABLE
    return row.state in LEASED and (row.owner != owner or is_running)


def is_prunable(row: Record, *, before: float) -> bool:
    """Say whether a row may be deleted: nothing can hang on it any more, and that since before ``before``."""
    if row.updated_at > before or (row.lease_expires_at is not None and row.lease_expires_at > before):
        return False
    if row.state in PRUNABLE or row.state is State.CLAIMED:
        return True
    is_waiting = row.state in (State.AWAITING_APPROVAL, State.APPROVED)
    return is_waiting and row.expires_at is not None and row.expires_at <= before


def _transition(row: Record | None, step: Step, holds: Callable[[Guard], bool]) -> Transition | None:
    source = None if row is None else row.state
    for transition in TRANSITIONS:
        if transition.source is source and transition.step is type(step) and holds(transition.guard):
            return transition
    return None


def _new(key: OperationKey, step: Claim, now: float, fence_floor: int) -> Record:
    return Record(
        key=key,
        state=State.CLAIMED,
        fence=fence_floor + 1,
        attempt=1,
        owner=step.owner,
        lease_expires_at=now + step.lease_s,
        fingerprint=step.fingerprint,
        effect_kind=step.effect_kind,
        created_at=now,
        updated_at=now,
    )


def _claim(row: Record, step: Claim, now: float) -> Record:
    check_fingerprint(row.fingerprint, step.fingerprint)
    can_resume = row.effect_kind in RESUMABLE and row.effect_kind is step.effect_kind
    taken = _transition(
        row,
        step,
        {
            # A call whose claim ended with a proposal, or which gave the approved value back, has none to ask about.
            Guard.SAME_OWNER: row.owner == step.owner and row.lease_expires_at is not None,
            Guard.LEASE_RUNS: _lease_left_s(row, now) > 0,
            Guard.EXPIRED: is_expired(row, now),
            Guard.RESUMABLE: can_resume,
            Guard.ANY: True,
        }.__getitem__,
    )
    assert taken is not None, "every state can be claimed in any case"
    if taken.guard is Guard.LEASE_RUNS:
        return _counted_anew(row, step, now)
    if taken.guard is Guard.SAME_OWNER:
        return replace(row, lease_expires_at=now + step.lease_s, updated_at=now)
    if taken.guard is Guard.EXPIRED:
        return _expired(row, now)
    if taken.target in LEASED:
        return _taken(row, step, taken.target, now)
    if taken.target is row.state:
        return row
    return replace(row, state=taken.target, lease_expires_at=None, reason=LEASE_ENDED_REASON, updated_at=now)


def _taken(row: Record, step: Claim, target: State, now: float) -> Record:
    return replace(
        row,
        state=target,
        fence=row.fence + 1,
        attempt=row.attempt + 1,
        owner=step.owner,
        lease_expires_at=now + step.lease_s,
        # A new call may come with another kind of effect, but not where one was started: a claim of another kind does
        # not resume it.
        effect_kind=step.effect_kind,
        reason=None,
        updated_at=now,
    )


def _counted_anew(row: Record, step: Claim, now: float) -> Record:
    if row.updated_at <= now or row.lease_expires_at is None:
        return row
    # The clock was set back since the row was written; the call that holds it will renew it in time, if it lives.
    return replace(row, lease_expires_at=min(row.lease_expires_at, now + step.lease_s), updated_at=now)


def _decide(row: Record | None, step: Decision, now: float) -> Record:
    guards = {Guard.EXPIRED: row is not None and is_expired(row, now), Guard.ANY: True}
    taken = _transition(row, step, guards.__getitem__)
    if row is None or taken is None:
        found = "the key was never claimed" if row is None else f"the key is in state {row.state}"
        raise DecisionError(
            f"nothing under this key waits for a decision: {found}", state=None if row is None else row.state
        )
    if isinstance(step, Approve) and step.value_digest not in (None, row.value_digest):
        raise DecisionError(
            "the stored value is not the one that was approved; look at it again, and approve it by its own digest",
            state=row.state,
        )
    if taken.guard is Guard.EXPIRED:
        return _expired(row, now)
    if taken.target is row.state:
        return row
    return replace(
        row,
        state=taken.target,
        decided_by=step.by,
        reason=step.reason if isinstance(step, Reject) else None,
        lease_expires_at=None,
        updated_at=now,
    )


def _reconcile(row: Record | None, step: Reconcile, now: float) -> Record:
    guards = {
        Guard.LEASE_RUNS: row is not None and _lease_left_s(row, now) > 0,
        Guard.APPLIED: step.finding is Finding.APPLIED,
        Guard.NOT_APPLIED: step.finding is Finding.NOT_APPLIED,
        Guard.UNKNOWN: step.finding is Finding.UNKNOWN,
    }
    taken = _transition(row, step, guards.__getitem__)
    if row is None or taken is None:
        raise _illegal(row, step)
    if row.fence != step.fence:
        raise LeaseLostError(
            f"the finding is about an earlier try (fence {step.fence}) than the one in doubt (fence {row.fence}); look "
            "downstream again"
        )
    if taken.guard is Guard.LEASE_RUNS:
        raise in_progress(_lease_left_s(row, now))
    return replace(
        row,
        state=taken.target,
        decided_by=step.by,
        result=step.result,
        reason=None if taken.target is State.COMMITTED else step.reason,
        lease_expires_at=None,
        updated_at=now,
    )


def _go_on(row: Record | None, step: FencedStep, now: float) -> Record:
    taken = _transition(row, step, {Guard.SAME_FENCE: True}.__getitem__)
    if row is None or (taken is None and row.fence == step.fence and row.state not in SETTLED):
        raise _illegal(row, step)
    # The claim under which a value was proposed ended there: an approved one waits, with no lease, for the next claim.
    is_unclaimed = row.state is State.APPROVED and row.lease_expires_at is None
    if taken is None or row.fence != step.fence or is_unclaimed:
        raise LeaseLostError(
            f"this call's claim (fence {step.fence}) was taken over or settled by another (fence {row.fence}, "
            f"state {row.state}); do not use its result"
        )
    if isinstance(step, StartEffect | CommitValue) and row.value not in (None, step.value):
        raise IllegalTransitionError(
            f"the value is not the one that was approved; nothing changed (step {type(step).__name__})",
            state=row.state,
            step=type(step).__name__,
        )
    return _changed(row, step, taken.target, now)


def _changed(row: Record, step: FencedStep, target: State, now: float) -> Record:
    after = replace(row, state=target, lease_expires_at=None, updated_at=now)
    match step:
        case Extend(lease_s=lease_s):
            return replace(after, lease_expires_at=now + lease_s)
        case StartEffect(lease_s=lease_s, value=value, receipt=receipt):
            return replace(after, value=value, receipt=receipt, lease_expires_at=now + lease_s)
        case Propose(value=value, receipt=receipt, reason=reason, expires_s=expires_s):
            expires_at = None if expires_s is None else now + expires_s
            return replace(after, value=value, receipt=receipt, reason=reason, expires_at=expires_at)
        case CommitValue(value=value, receipt=receipt):
            return replace(after, value=value, receipt=receipt, reason=None)
        case Commit(result=result):
            return replace(after, result=result, reason=None)
        case FailBeforeEffect(reason=reason) | MarkInDoubt(reason=reason) | Release(ending=reason):
            return replace(after, reason=reason)


def _expired(row: Record, now: float) -> Record:
    # Nobody decided that it is rejected, also where somebody had approved it.
    return replace(
        row, state=State.REJECTED, reason=EXPIRED_REASON, decided_by=None, lease_expires_at=None, updated_at=now
    )


def is_expired(row: Record, now: float) -> bool:
    """Say whether a proposal, or an approval of which nobody has made use, has ended by itself."""
    return row.expires_at is not None and row.expires_at <= now


def _lease_left_s(row: Record, now: float) -> float:
    return 0.0 if row.lease_expires_at is None else row.lease_expires_at - now


def in_progress(remaining_s: float) -> InProgressError:
    """Return the error that says that another call holds the key."""
    remaining_s = max(0.0, remaining_s)
    return InProgressError(
        f"another call holds the operation key; its lease ends in {remaining_s:.1f} s unless it is renewed. "
        'Wait for it, then call again; a call with in_progress="wait" waits by itself',
        lease_remaining_s=remaining_s,
    )


def check_fingerprint(stored: Fingerprint, given: Fingerprint, *, advice: str = USE_ANOTHER_KEY) -> None:
    """Check that a key is used for what it stands for.

    Args:
        stored: what it stands for.
        given: what it is used for.
        advice: what to do where they differ.

    Raises:
        KeyConflictError: it is not.
    """
    differs = stored.differences(given)
    if differs:
        told = " and ".join(_IN_WORDS[part] for part in differs)
        raise KeyConflictError(
            f"the operation key was used before with another {told}; {advice}",
            differs=differs,
        )


def _illegal(row: Record | None, step: FencedStep | Reconcile) -> IllegalTransitionError:
    name = type(step).__name__
    state = None if row is None else row.state
    found = "a key that was never claimed" if state is None else f"state {state}"
    return IllegalTransitionError(
        f"the step {name} does not belong to {found}; nothing changed", state=state, step=name
    )


__all__ = [
    "EXPIRED_REASON",
    "LEASE_ENDED_REASON",
    "TRANSITIONS",
    "USE_ANOTHER_KEY",
    "Guard",
    "Transition",
    "advance",
    "check_fingerprint",
    "in_progress",
    "is_expired",
    "is_held_by_another",
    "is_prunable",
    "row_to_run",
]
