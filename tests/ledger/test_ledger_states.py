"""The table of states: every transition with the whole row after it, and every step that no transition allows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from typing import get_args

import pytest

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    DecisionError,
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
    LedgerError,
)
from commitgate.ledger.record import Fingerprint, Record, Scanned, State
from commitgate.ledger.states import (
    EXPIRED_REASON,
    LEASE_ENDED_REASON,
    TRANSITIONS,
    Guard,
    advance,
    in_progress,
    is_held_by_another,
    is_prunable,
)
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
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
FINGERPRINT = Fingerprint("language", "shop.refund", "1", "input")
NOW = 1_000.0
WRITTEN = 900.0
FENCE = 3
VALUE, RECEIPT = b'{"cents":1}', b'{"r":1}'
DIGEST = sha256(VALUE).hexdigest()

CLAIMED, AWAITING, APPROVED, REJECTED = State.CLAIMED, State.AWAITING_APPROVAL, State.APPROVED, State.REJECTED
STARTED, COMMITTED, FAILED, DOUBT = (
    State.EFFECT_STARTED,
    State.COMMITTED,
    State.FAILED_BEFORE_EFFECT,
    State.IN_DOUBT,
)
NOT_APPLIED, RELEASED = State.NOT_APPLIED, State.RELEASED
LEASED = (CLAIMED, APPROVED, STARTED)
SETTLED = (AWAITING, COMMITTED, FAILED, DOUBT, NOT_APPLIED, REJECTED)
ONCE, BY_KEY, TRANSACTIONAL = EffectKind.ONCE, EffectKind.BY_KEY, EffectKind.TRANSACTIONAL


def row(state: State, *, lease_s: float = -1.0, **facts: object) -> Record:
    """Return a row that a call "first" wrote at 900; its lease ends ``lease_s`` after 1,000 where it has one."""
    has_value = state not in (CLAIMED, RELEASED)
    made = Record(
        key=KEY,
        state=state,
        fence=FENCE,
        attempt=2,
        owner="first",
        lease_expires_at=NOW + lease_s if state in LEASED else None,
        fingerprint=FINGERPRINT,
        effect_kind=ONCE,
        value=VALUE if has_value else None,
        receipt=RECEIPT if has_value else None,
        reason="why",
        created_at=800.0,
        updated_at=WRITTEN,
    )
    return replace(made, **facts)


def claim(owner: str = "second", kind: EffectKind | None = ONCE) -> Claim:
    return Claim(FINGERPRINT, owner, 30.0, kind)


def finding(found: Finding, result: bytes | None = None) -> Reconcile:
    return Reconcile(FENCE, "ann", found, result, "looked")


@dataclass(frozen=True)
class Case:
    """One way through the table: the row before, the step, the guard that is met, and what differs after."""

    before: Record
    step: Step
    guard: Guard
    changes: Mapping[str, object]

    @property
    def target(self) -> object:
        return self.changes.get("state", self.before.state)


TAKEN = {
    "fence": FENCE + 1,
    "attempt": 3,
    "owner": "second",
    "lease_expires_at": NOW + 30,
    "reason": None,
    "updated_at": NOW,
}
RENEWED = {"lease_expires_at": NOW + 30, "updated_at": NOW}
WROTE = {"lease_expires_at": None, "updated_at": NOW}
EXPIRED = {"state": REJECTED, "reason": EXPIRED_REASON, **WROTE}
STOPPED = {"state": DOUBT, "reason": LEASE_ENDED_REASON, **WROTE}
DID = {"state": COMMITTED, "result": b"7", "reason": None, **WROTE}
FELL = {"state": FAILED, "reason": "sold out", **WROTE}
FOUND = {"decided_by": "ann", **WROTE}
APPLIED = {"state": COMMITTED, "result": b"7", "reason": None, **FOUND}
STANDING = {"state": APPROVED, "reason": None, "decided_by": "ann", **WROTE}
FORBIDDEN = {"state": REJECTED, "reason": "too much", "decided_by": "ann", **WROTE}
COMMIT, FAIL = Commit(FENCE, b"7"), FailBeforeEffect(FENCE, "sold out")
START, VALUE_ALONE = StartEffect(FENCE, 30.0, VALUE, b"{}"), CommitValue(FENCE, VALUE, b"{}")
GUARDED = Guard.SAME_FENCE

CASES = (
    # Claims: the key is free, this call's own, another's, or settled.
    Case(row(RELEASED), claim(kind=BY_KEY), Guard.ANY, {"state": CLAIMED, "effect_kind": BY_KEY, **TAKEN}),
    Case(row(CLAIMED), claim("first"), Guard.SAME_OWNER, RENEWED),
    Case(row(CLAIMED, lease_s=12), claim("first"), Guard.SAME_OWNER, RENEWED),
    Case(row(CLAIMED, lease_s=0.5), claim(), Guard.LEASE_RUNS, {}),
    Case(row(CLAIMED, lease_s=0), claim(), Guard.ANY, TAKEN),
    Case(row(CLAIMED), claim(kind=None), Guard.ANY, {"effect_kind": None, **TAKEN}),
    Case(row(AWAITING, expires_at=NOW), claim(), Guard.EXPIRED, EXPIRED),
    Case(row(AWAITING, expires_at=NOW + 0.5), claim(), Guard.ANY, {}),
    Case(row(AWAITING), claim("first"), Guard.ANY, {}),
    Case(row(APPROVED, lease_s=5), claim("first"), Guard.SAME_OWNER, RENEWED),
    Case(row(APPROVED, lease_s=5, expires_at=NOW - 1), claim("first"), Guard.SAME_OWNER, RENEWED),
    Case(row(APPROVED, lease_s=5, expires_at=NOW - 1), claim(), Guard.LEASE_RUNS, {}),
    Case(row(APPROVED, expires_at=NOW, decided_by="ann"), claim(), Guard.EXPIRED, {**EXPIRED, "decided_by": None}),
    Case(row(APPROVED, lease_expires_at=None, expires_at=NOW), claim("first"), Guard.EXPIRED, EXPIRED),
    Case(row(APPROVED, expires_at=NOW + 0.5), claim(kind=BY_KEY), Guard.ANY, {"effect_kind": BY_KEY, **TAKEN}),
    Case(row(APPROVED, lease_expires_at=None), claim("first"), Guard.ANY, {**TAKEN, "owner": "first"}),
    Case(row(REJECTED), claim(), Guard.ANY, {}),
    Case(row(STARTED, effect_kind=BY_KEY), claim("first", BY_KEY), Guard.SAME_OWNER, RENEWED),
    Case(row(STARTED, lease_s=5, effect_kind=BY_KEY), claim("first", BY_KEY), Guard.SAME_OWNER, RENEWED),
    Case(row(STARTED, lease_s=5, effect_kind=BY_KEY), claim(kind=BY_KEY), Guard.LEASE_RUNS, {}),
    Case(row(STARTED, effect_kind=BY_KEY), claim(kind=BY_KEY), Guard.RESUMABLE, TAKEN),
    Case(row(STARTED, effect_kind=TRANSACTIONAL), claim(kind=TRANSACTIONAL), Guard.RESUMABLE, TAKEN),
    Case(row(STARTED), claim(), Guard.ANY, STOPPED),
    Case(row(STARTED), claim(kind=BY_KEY), Guard.ANY, STOPPED),
    Case(row(STARTED, effect_kind=BY_KEY), claim(), Guard.ANY, STOPPED),
    Case(row(STARTED, effect_kind=BY_KEY), claim(kind=TRANSACTIONAL), Guard.ANY, STOPPED),
    Case(row(DOUBT, effect_kind=BY_KEY), claim(kind=BY_KEY), Guard.RESUMABLE, {"state": STARTED, **TAKEN}),
    Case(row(DOUBT), claim(), Guard.ANY, {}),
    Case(row(DOUBT), claim("first", BY_KEY), Guard.ANY, {}),
    Case(row(COMMITTED), claim(), Guard.ANY, {}),
    Case(row(FAILED), claim(), Guard.ANY, {}),
    Case(row(NOT_APPLIED), claim(), Guard.ANY, {}),
    # Steps of the call that holds the key.
    Case(row(CLAIMED), Extend(FENCE, 30.0), GUARDED, RENEWED),
    Case(
        row(CLAIMED),
        Propose(FENCE, VALUE, b"{}", "above the limit", 60.0),
        GUARDED,
        {
            "state": AWAITING,
            "value": VALUE,
            "receipt": b"{}",
            "reason": "above the limit",
            "expires_at": NOW + 60,
            **WROTE,
        },
    ),
    Case(
        row(CLAIMED),
        Propose(FENCE, VALUE, b"{}", "above the limit"),
        GUARDED,
        {"state": AWAITING, "value": VALUE, "receipt": b"{}", "reason": "above the limit", **WROTE},
    ),
    Case(row(CLAIMED), START, GUARDED, {"state": STARTED, "value": VALUE, "receipt": b"{}", **RENEWED}),
    Case(
        row(CLAIMED),
        VALUE_ALONE,
        GUARDED,
        {"state": COMMITTED, "value": VALUE, "receipt": b"{}", "reason": None, **WROTE},
    ),
    Case(row(CLAIMED), Release(FENCE, "truncated"), GUARDED, {"state": RELEASED, "reason": "truncated", **WROTE}),
    Case(row(APPROVED), Extend(FENCE, 30.0), GUARDED, RENEWED),
    Case(row(APPROVED), START, GUARDED, {"state": STARTED, "receipt": b"{}", **RENEWED}),
    Case(row(APPROVED), VALUE_ALONE, GUARDED, {"state": COMMITTED, "receipt": b"{}", "reason": None, **WROTE}),
    Case(row(APPROVED), Release(FENCE, "cancelled"), GUARDED, {"reason": "cancelled", **WROTE}),
    Case(row(STARTED), Extend(FENCE, 30.0), GUARDED, RENEWED),
    Case(row(STARTED), COMMIT, GUARDED, DID),
    Case(row(STARTED), FAIL, GUARDED, FELL),
    Case(row(STARTED), MarkInDoubt(FENCE, "it broke"), GUARDED, {"state": DOUBT, "reason": "it broke", **WROTE}),
    Case(row(DOUBT), COMMIT, GUARDED, DID),
    Case(row(DOUBT), FAIL, GUARDED, FELL),
    Case(row(DOUBT), MarkInDoubt(FENCE, "it broke"), GUARDED, {"reason": "it broke", **WROTE}),
    # Decisions of a person.
    Case(row(AWAITING, expires_at=NOW), Approve("ann"), Guard.EXPIRED, EXPIRED),
    Case(row(AWAITING, expires_at=NOW + 0.5), Approve("ann"), Guard.ANY, STANDING),
    Case(row(AWAITING), Approve("ann", DIGEST), Guard.ANY, STANDING),
    Case(row(AWAITING, expires_at=NOW), Reject("ann", "too much"), Guard.ANY, FORBIDDEN),
    Case(row(APPROVED), Approve("bob", DIGEST), Guard.ANY, {}),
    Case(row(APPROVED, lease_s=5), Reject("ann", "too much"), Guard.ANY, FORBIDDEN),
    Case(row(REJECTED), Reject("bob", "too much"), Guard.ANY, {}),
    # What was found out downstream.
    Case(row(STARTED, lease_s=0), finding(Finding.APPLIED, b"7"), Guard.APPLIED, APPLIED),
    Case(
        row(STARTED),
        finding(Finding.NOT_APPLIED),
        Guard.NOT_APPLIED,
        {"state": NOT_APPLIED, "reason": "looked", **FOUND},
    ),
    Case(row(STARTED), finding(Finding.UNKNOWN), Guard.UNKNOWN, {"state": DOUBT, "reason": "looked", **FOUND}),
    Case(row(DOUBT), finding(Finding.APPLIED, b"7"), Guard.APPLIED, APPLIED),
    Case(
        row(DOUBT), finding(Finding.NOT_APPLIED), Guard.NOT_APPLIED, {"state": NOT_APPLIED, "reason": "looked", **FOUND}
    ),
    Case(row(DOUBT), finding(Finding.UNKNOWN), Guard.UNKNOWN, {"reason": "looked", **FOUND}),
)


def name(thing: object) -> str:
    match thing:
        case Case(before=before, step=step, guard=guard, target=target):
            return f"{before.state}-{type(step).__name__}-{guard.name}-{target}"
        case (source, kind):
            return f"{source}-{kind.__name__}"
        case type():
            return thing.__name__
        case _:
            return str(thing)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_every_transition_changes_what_it_should_and_nothing_else(case: Case) -> None:
    after = advance(KEY, case.before, case.step, now=NOW)
    assert after == replace(case.before, **case.changes)
    # Where nothing changes, nothing is to be written.
    assert (after is case.before) is not bool(case.changes)


def test_every_transition_of_the_table_has_a_case_and_every_case_a_transition() -> None:
    told: set[tuple[object, ...]] = {(case.before.state, type(case.step), case.guard, case.target) for case in CASES}
    told.add((None, Claim, Guard.NO_ROW, CLAIMED))
    # The lease of a running effect ends a finding with an error: the row has no state after it.
    told.add((STARTED, Reconcile, Guard.LEASE_RUNS, STARTED))
    held = [(each.source, each.step, each.guard, each.target) for each in TRANSITIONS]
    assert set(held) == told
    assert len(set(held)) == len(held)


ALL_STEPS: tuple[type[Step], ...] = get_args(Step)
ALLOWED = {(transition.source, transition.step) for transition in TRANSITIONS}
ILLEGAL = [pair for pair in product((None, *State), ALL_STEPS) if pair not in ALLOWED]


def a_step(kind: type[Step], *, fence: int = FENCE) -> Step:
    made: dict[type[Step], Step] = {
        Claim: claim(),
        Extend: Extend(fence, 30.0),
        Propose: Propose(fence, VALUE, b"{}", "above the limit"),
        StartEffect: StartEffect(fence, 30.0, VALUE, b"{}"),
        CommitValue: CommitValue(fence, VALUE, b"{}"),
        Commit: Commit(fence, b"null"),
        FailBeforeEffect: FailBeforeEffect(fence, "sold out"),
        MarkInDoubt: MarkInDoubt(fence, "the effect raised OSError"),
        Release: Release(fence, "truncated"),
        Approve: Approve("ann"),
        Reject: Reject("ann", "too much"),
        Reconcile: Reconcile(fence, "ann", Finding.UNKNOWN, None, "looked"),
    }
    return made[kind]


@pytest.mark.parametrize("pair", ILLEGAL, ids=name)
def test_every_other_step_raises(pair: tuple[State | None, type[Step]]) -> None:
    state, kind = pair
    with pytest.raises(LedgerError) as caught:
        advance(KEY, None if state is None else row(state), a_step(kind), now=NOW)
    error = caught.value
    if kind in get_args(Decision):
        assert isinstance(error, DecisionError)
        assert error.state == state
    elif kind in get_args(FencedStep) and state in SETTLED:
        assert isinstance(error, LeaseLostError)
    else:
        assert isinstance(error, IllegalTransitionError)
        assert (error.state, error.step) == (state, kind.__name__)


@pytest.mark.parametrize("fence", [FENCE - 1, FENCE + 1])
@pytest.mark.parametrize("kind", get_args(FencedStep), ids=name)
@pytest.mark.parametrize("state", list(State))
def test_a_step_under_another_fence_is_refused_in_every_state(state: State, kind: type[Step], fence: int) -> None:
    with pytest.raises(LeaseLostError):
        advance(KEY, row(state), a_step(kind, fence=fence), now=NOW)


@pytest.mark.parametrize("fence", [FENCE - 1, FENCE + 1])
@pytest.mark.parametrize("state", [STARTED, DOUBT])
def test_a_finding_about_another_try_settles_nothing(state: State, fence: int) -> None:
    with pytest.raises(LeaseLostError, match="earlier try"):
        advance(KEY, row(state), replace(finding(Finding.APPLIED), fence=fence), now=NOW)


@pytest.mark.parametrize("left_s", [0.5, 12.0])
@pytest.mark.parametrize("found", list(Finding))
def test_a_finding_about_a_running_effect_is_refused(found: Finding, left_s: float) -> None:
    with pytest.raises(InProgressError) as caught:
        advance(KEY, row(STARTED, lease_s=left_s), finding(found), now=NOW)
    assert caught.value.lease_remaining_s == left_s


def test_every_state_is_reached_and_can_be_claimed_or_replayed() -> None:
    assert {transition.target for transition in TRANSITIONS} == set(State)
    assert {transition.source for transition in TRANSITIONS if transition.step is Claim} == {None, *State}


def reachable_from(state: State) -> set[State]:
    reached = {state}
    while True:
        further = {transition.target for transition in TRANSITIONS if transition.source in reached} - reached
        if not further:
            return reached
        reached |= further


def test_no_way_leads_back_from_a_started_effect_to_where_one_may_start() -> None:
    starts = {transition.source for transition in TRANSITIONS if transition.step in (StartEffect, CommitValue)}
    assert not reachable_from(STARTED) & starts


@pytest.mark.parametrize("state", [COMMITTED, FAILED, NOT_APPLIED, REJECTED])
def test_no_way_leads_out_of_a_final_state(state: State) -> None:
    assert reachable_from(state) == {state}


@pytest.mark.parametrize("state", list(State))
def test_a_way_leads_to_a_final_state_from_every_other(state: State) -> None:
    assert reachable_from(state) & {COMMITTED, FAILED, NOT_APPLIED, REJECTED}


def test_what_a_call_writes_is_written_under_its_fence_alone() -> None:
    fenced = {transition.step for transition in TRANSITIONS if transition.guard is Guard.SAME_FENCE}
    assert fenced == set(get_args(FencedStep))
    assert all(each.guard is Guard.SAME_FENCE for each in TRANSITIONS if each.step in fenced)


def test_the_guard_of_any_other_case_comes_last() -> None:
    for source, step in ALLOWED:
        guards = [each.guard for each in TRANSITIONS if (each.source, each.step) == (source, step)]
        assert Guard.ANY not in guards[:-1]


@pytest.mark.parametrize("floor", [0, 7])
def test_a_first_claim_has_the_fence_above_the_floor_and_attempt_one(floor: int) -> None:
    after = advance(KEY, None, claim("first", BY_KEY), now=NOW, fence_floor=floor)
    assert after == Record(
        key=KEY,
        state=CLAIMED,
        fence=floor + 1,
        attempt=1,
        owner="first",
        lease_expires_at=NOW + 30,
        fingerprint=FINGERPRINT,
        effect_kind=BY_KEY,
        created_at=NOW,
        updated_at=NOW,
    )
    assert advance(KEY, None, claim(), now=NOW).fence == 1


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("part", ["language_digest", "effect_name", "effect_version", "input_fingerprint"])
def test_another_fingerprint_is_a_conflict_in_every_state(state: State, part: str) -> None:
    other = replace(FINGERPRINT, **{part: "other"})
    with pytest.raises(KeyConflictError) as caught:
        advance(KEY, row(state, lease_s=5.0), Claim(other, "second", 30.0), now=NOW)
    assert caught.value.differs == (part,)


def test_a_conflict_names_all_parts_that_differ() -> None:
    other = Fingerprint("x", None, None, "x")
    with pytest.raises(KeyConflictError) as caught:
        advance(KEY, row(RELEASED), Claim(other, "second", 30.0), now=NOW)
    assert caught.value.differs == ("language_digest", "effect_name", "effect_version", "input_fingerprint")
    told = "of one) and effect and version of its effect and input (its messages, or its input_fingerprint);"
    assert told in str(caught.value)


@pytest.mark.parametrize("state", LEASED)
@pytest.mark.parametrize("written", [NOW + 0.5, NOW + 3_600])
def test_a_clock_that_was_set_back_keeps_no_dead_calls_lease(state: State, written: float) -> None:
    future = row(state, updated_at=written, lease_expires_at=written + 30, effect_kind=BY_KEY)
    after = advance(KEY, future, claim(kind=BY_KEY), now=NOW)
    assert after == replace(future, lease_expires_at=NOW + 30, updated_at=NOW)
    assert advance(KEY, after, claim(kind=BY_KEY), now=NOW + 29.9) is after
    assert advance(KEY, after, claim(kind=BY_KEY), now=NOW + 30).fence == FENCE + 1


def test_a_lease_that_ends_sooner_is_not_made_longer_where_the_clock_was_set_back() -> None:
    future = row(CLAIMED, updated_at=NOW + 1, lease_s=5)
    assert advance(KEY, future, claim(), now=NOW).lease_expires_at == NOW + 5


def test_a_row_of_this_very_moment_is_not_from_the_future() -> None:
    held = row(CLAIMED, updated_at=NOW, lease_s=90)
    assert advance(KEY, held, claim(), now=NOW) is held


def test_a_call_whose_lease_was_shortened_renews_it() -> None:
    future = row(CLAIMED, updated_at=NOW + 3_600, lease_s=3_630)
    shortened = advance(KEY, future, claim(), now=NOW)
    renewed = advance(KEY, shortened, Extend(FENCE, 30.0), now=NOW + 10)
    assert advance(KEY, renewed, claim(), now=NOW + 39) is renewed


@pytest.mark.parametrize("state", LEASED)
def test_a_claim_finds_another_call_at_work_only_in_a_row_of_another(state: State) -> None:
    held = row(state, effect_kind=BY_KEY)
    assert is_held_by_another(held, "second")
    assert not is_held_by_another(held, "first")


@pytest.mark.parametrize("state", [CLAIMED, APPROVED])
def test_a_call_whose_effect_must_not_run_twice_holds_its_own_claim_until_it_starts(state: State) -> None:
    assert not is_held_by_another(row(state, effect_kind=ONCE), "first")


@pytest.mark.parametrize("kind", [ONCE, None])
def test_no_claim_gives_out_a_started_effect_that_must_not_run_twice(kind: EffectKind | None) -> None:
    held = row(STARTED, lease_s=5, effect_kind=kind)
    assert is_held_by_another(advance(KEY, held, claim("first", kind), now=NOW), "first")


@pytest.mark.parametrize("state", [state for state in State if state not in LEASED])
def test_what_no_call_holds_is_held_by_no_other(state: State) -> None:
    assert not is_held_by_another(row(state), "second")


@pytest.mark.parametrize("kind", [Extend, StartEffect, CommitValue, Release], ids=name)
def test_the_call_that_proposed_a_value_writes_nothing_after_its_approval(kind: type[Step]) -> None:
    approved = advance(KEY, row(AWAITING), Approve("ann"), now=NOW)
    with pytest.raises(LeaseLostError):
        advance(KEY, approved, a_step(kind), now=NOW)


@pytest.mark.parametrize("kind", [StartEffect, CommitValue], ids=name)
def test_no_other_value_than_the_approved_one_is_made_use_of(kind: type[StartEffect | CommitValue]) -> None:
    step = a_step(kind)
    assert isinstance(step, StartEffect | CommitValue)
    with pytest.raises(IllegalTransitionError, match="approved") as caught:
        advance(KEY, row(APPROVED), replace(step, value=VALUE + b" "), now=NOW)
    assert (caught.value.state, caught.value.step) == (APPROVED, kind.__name__)


@pytest.mark.parametrize("state", [AWAITING, APPROVED])
def test_an_approval_of_another_value_is_refused(state: State) -> None:
    with pytest.raises(DecisionError, match="not the one that was approved") as caught:
        advance(KEY, row(state), Approve("ann", sha256(b"other").hexdigest()), now=NOW)
    assert caught.value.state == state


def test_an_error_of_a_decision_says_what_was_found() -> None:
    with pytest.raises(DecisionError, match="never claimed"):
        advance(KEY, None, Approve("ann"), now=NOW)
    with pytest.raises(DecisionError, match="in state committed"):
        advance(KEY, row(COMMITTED), Reject("ann", "too much"), now=NOW)


def test_an_error_of_an_illegal_step_says_what_was_found() -> None:
    with pytest.raises(IllegalTransitionError, match="Commit does not belong to a key that was never claimed"):
        advance(KEY, None, a_step(Commit), now=NOW)
    with pytest.raises(IllegalTransitionError, match="Commit does not belong to state claimed"):
        advance(KEY, row(CLAIMED), a_step(Commit), now=NOW)


@pytest.mark.parametrize(("left_s", "told_s"), [(12.5, 12.5), (0.0, 0.0), (-3.0, 0.0)])
def test_time_left_of_a_lease_is_told_and_never_negative(left_s: float, told_s: float) -> None:
    told = in_progress(left_s)
    assert told.lease_remaining_s == told_s
    assert 'in_progress="wait"' in str(told)


def test_a_call_whose_lease_ended_goes_on_while_nobody_claimed() -> None:
    late = row(CLAIMED, lease_s=-100.0)
    started = advance(KEY, late, StartEffect(FENCE, 30.0, b"1", b"{}"), now=NOW)
    assert (started.state, started.lease_expires_at) == (STARTED, NOW + 30)


def test_a_final_write_that_comes_late_is_taken_and_clears_the_doubt() -> None:
    doubtful = advance(KEY, row(STARTED), claim(), now=NOW)
    after = advance(KEY, doubtful, Commit(FENCE, b'"done"'), now=NOW)
    assert (after.state, after.result, after.reason) == (COMMITTED, b'"done"', None)


def test_a_final_write_after_a_finding_is_refused() -> None:
    settled = advance(KEY, row(DOUBT), finding(Finding.NOT_APPLIED), now=NOW)
    with pytest.raises(LeaseLostError):
        advance(KEY, settled, COMMIT, now=NOW)


BEFORE = 950.0


@pytest.mark.parametrize("state", [COMMITTED, FAILED, NOT_APPLIED, REJECTED, RELEASED])
def test_a_row_that_is_over_goes_by_its_age(state: State) -> None:
    assert is_prunable(row(state, updated_at=BEFORE), before=BEFORE)
    assert not is_prunable(row(state, updated_at=BEFORE + 0.5), before=BEFORE)


@pytest.mark.parametrize("kind", [None, *EffectKind])
@pytest.mark.parametrize("state", [STARTED, DOUBT])
def test_what_may_have_happened_is_never_deleted(state: State, kind: EffectKind | None) -> None:
    assert not is_prunable(row(state, lease_s=-500, effect_kind=kind, expires_at=1.0), before=1e12)


def test_a_dead_claim_goes_once_its_lease_is_that_old() -> None:
    assert is_prunable(row(CLAIMED, lease_expires_at=BEFORE), before=BEFORE)
    assert not is_prunable(row(CLAIMED, lease_expires_at=BEFORE + 0.5), before=BEFORE)


@pytest.mark.parametrize("state", [AWAITING, APPROVED])
def test_what_waits_for_a_person_goes_only_once_it_expired_that_long_ago(state: State) -> None:
    waiting = row(state, lease_expires_at=None)
    assert not is_prunable(waiting, before=1e12)
    assert is_prunable(replace(waiting, expires_at=BEFORE), before=BEFORE)
    assert not is_prunable(replace(waiting, expires_at=BEFORE + 0.5), before=BEFORE)
    assert not is_prunable(replace(waiting, expires_at=BEFORE, updated_at=BEFORE + 0.5), before=BEFORE)


def test_an_approved_value_that_a_call_holds_is_not_deleted() -> None:
    held = row(APPROVED, expires_at=900.0, lease_expires_at=BEFORE + 0.5)
    assert not is_prunable(held, before=BEFORE)
    assert is_prunable(replace(held, lease_expires_at=BEFORE), before=BEFORE)


def test_a_row_shows_nothing_of_its_key_its_payloads_and_what_people_said() -> None:
    told = Fingerprint("canary-1", "canary-2", "canary-3", "canary-4")
    held = row(
        COMMITTED,
        key=operation_key("canary-5"),
        fingerprint=told,
        decided_by="canary-6",
        value=b"canary-7",
        receipt=b"canary-8",
        result=b"canary-9",
        reason="canary-10",
    )
    assert "canary" not in repr(held)
    assert "canary" not in repr(Scanned(b"canary", held))


def test_a_value_is_known_by_its_digest_where_there_is_one() -> None:
    assert row(AWAITING).value_digest == DIGEST
    assert row(CLAIMED).value_digest is None
