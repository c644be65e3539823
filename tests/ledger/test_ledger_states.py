"""The table of states: every transition, and every step that no transition allows."""

from dataclasses import replace
from itertools import product
from typing import get_args

import pytest

from commitgate.errors import (
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
)
from commitgate.ledger import Fingerprint, Record, State
from commitgate.ledger.states import (
    LEASE_ENDED_REASON,
    TRANSITIONS,
    Claim,
    Commit,
    CommitValue,
    Extend,
    FailBeforeEffect,
    FencedStep,
    Guard,
    MarkInDoubt,
    Release,
    StartEffect,
    Step,
    Transition,
    advance,
)
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
FINGERPRINT = Fingerprint("language", "shop.refund", "1", "input")
NOW = 1_000.0
FENCE = 3


def row(state: State | None, *, lease_ends_in_s: float = -1.0, fence: int = FENCE) -> Record | None:
    if state is None:
        return None
    is_held = state in (State.CLAIMED, State.EFFECT_STARTED)
    return Record(
        key=KEY,
        state=state,
        fence=fence,
        attempt=fence,
        owner="first",
        lease_expires_at=NOW + lease_ends_in_s if is_held else None,
        fingerprint=FINGERPRINT,
        created_at=900.0,
        updated_at=900.0,
    )


def step(kind: type[Step], *, fence: int = FENCE) -> Step:
    made: dict[type[Step], Step] = {
        Claim: Claim(FINGERPRINT, "second", 30.0),
        Extend: Extend(fence, 30.0),
        StartEffect: StartEffect(fence, 30.0, b"1", b"{}"),
        CommitValue: CommitValue(fence, b"1", b"{}"),
        Commit: Commit(fence, b"null"),
        FailBeforeEffect: FailBeforeEffect(fence, "sold out"),
        MarkInDoubt: MarkInDoubt(fence, "the effect raised OSError"),
        Release: Release(fence, "truncated"),
    }
    return made[kind]


ALL_STEPS: tuple[type[Step], ...] = (Claim, *get_args(FencedStep))
ALLOWED = {(transition.source, transition.step) for transition in TRANSITIONS}
ILLEGAL = [pair for pair in product((None, *State), ALL_STEPS) if pair not in ALLOWED]


def name(thing: object) -> str:
    match thing:
        case Transition(source=source, step=kind, target=target):
            return f"{source}-{kind.__name__}-{target}"
        case (source, kind):
            return f"{source}-{kind.__name__}"
        case _:
            return str(thing)


@pytest.mark.parametrize("transition", TRANSITIONS, ids=name)
def test_every_transition_leads_to_its_target(transition: Transition) -> None:
    after = advance(KEY, row(transition.source), step(transition.step), now=NOW)
    assert after.state is transition.target


@pytest.mark.parametrize("pair", ILLEGAL, ids=name)
def test_every_other_step_raises(pair: tuple[State | None, type[Step]]) -> None:
    state, kind = pair
    before = row(state)
    with pytest.raises((IllegalTransitionError, LeaseLostError)) as caught:
        advance(KEY, before, step(kind), now=NOW)
    settled = (State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.IN_DOUBT)
    assert isinstance(caught.value, LeaseLostError if state in settled else IllegalTransitionError)
    if isinstance(caught.value, IllegalTransitionError):
        assert (caught.value.state, caught.value.step) == (state, kind.__name__)


@pytest.mark.parametrize("fence", [FENCE - 1, FENCE + 1])
@pytest.mark.parametrize("kind", get_args(FencedStep), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("state", list(State))
def test_a_step_under_another_fence_is_refused_in_every_state(state: State, kind: type[Step], fence: int) -> None:
    with pytest.raises(LeaseLostError):
        advance(KEY, row(state), step(kind, fence=fence), now=NOW)


def test_the_table_names_each_source_and_step_once() -> None:
    assert len(ALLOWED) == len(TRANSITIONS)


def test_every_state_is_reached_and_can_be_claimed_or_replayed() -> None:
    assert {transition.target for transition in TRANSITIONS} == set(State)
    assert {transition.source for transition in TRANSITIONS if transition.step is Claim} == {None, *State}


def test_no_way_leads_back_from_a_started_effect_to_where_one_may_start() -> None:
    reached = {State.EFFECT_STARTED}
    while True:
        further = {transition.target for transition in TRANSITIONS if transition.source in reached} - reached
        if not further:
            break
        reached |= further
    starts = {transition.source for transition in TRANSITIONS if transition.step in (StartEffect, CommitValue)}
    assert not reached & starts


def test_only_a_claim_is_taken_without_a_fence() -> None:
    assert {transition.step for transition in TRANSITIONS if transition.guard is not Guard.SAME_FENCE} == {Claim}


def test_a_first_claim_has_fence_and_attempt_one() -> None:
    after = advance(KEY, None, Claim(FINGERPRINT, "first", 30.0), now=NOW)
    assert (after.fence, after.attempt, after.owner, after.lease_expires_at) == (1, 1, "first", NOW + 30)
    assert (after.created_at, after.updated_at) == (NOW, NOW)


@pytest.mark.parametrize("state", [State.CLAIMED, State.RELEASED])
def test_taking_a_key_over_raises_fence_and_attempt(state: State) -> None:
    after = advance(KEY, row(state), Claim(FINGERPRINT, "second", 30.0), now=NOW)
    assert (after.fence, after.attempt, after.owner, after.lease_expires_at) == (4, 4, "second", NOW + 30)
    assert after.created_at == 900.0


@pytest.mark.parametrize("state", [State.CLAIMED, State.EFFECT_STARTED])
def test_a_running_lease_keeps_others_out(state: State) -> None:
    with pytest.raises(InProgressError) as caught:
        advance(KEY, row(state, lease_ends_in_s=12.0), step(Claim), now=NOW)
    assert caught.value.lease_remaining_s == 12.0


@pytest.mark.parametrize(("lease_ends_in_s", "is_held"), [(0.001, True), (0.0, False), (-0.001, False)])
def test_a_lease_ends_at_its_time_exactly(lease_ends_in_s: float, is_held: bool) -> None:
    before = row(State.CLAIMED, lease_ends_in_s=lease_ends_in_s)
    if is_held:
        with pytest.raises(InProgressError):
            advance(KEY, before, step(Claim), now=NOW)
    else:
        assert advance(KEY, before, step(Claim), now=NOW).fence == FENCE + 1


def test_a_lease_that_ends_during_the_effect_leaves_a_doubt_and_the_fence() -> None:
    after = advance(KEY, row(State.EFFECT_STARTED), step(Claim), now=NOW)
    assert (after.state, after.fence, after.reason) == (State.IN_DOUBT, FENCE, LEASE_ENDED_REASON)


@pytest.mark.parametrize("state", [State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.IN_DOUBT])
def test_claiming_a_settled_key_returns_its_row_untouched(state: State) -> None:
    before = row(state)
    assert advance(KEY, before, step(Claim), now=NOW) is before


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("part", ["language_digest", "effect_name", "effect_version", "input_fingerprint"])
def test_another_fingerprint_is_a_conflict_in_every_state(state: State, part: str) -> None:
    other = replace(FINGERPRINT, **{part: "other"})
    with pytest.raises(KeyConflictError) as caught:
        advance(KEY, row(state, lease_ends_in_s=5.0), Claim(other, "second", 30.0), now=NOW)
    assert caught.value.differs == (part,)


def test_a_conflict_names_all_parts_that_differ() -> None:
    other = Fingerprint("x", None, None, "x")
    with pytest.raises(KeyConflictError) as caught:
        advance(KEY, row(State.RELEASED), Claim(other, "second", 30.0), now=NOW)
    assert caught.value.differs == ("language_digest", "effect_name", "effect_version", "input_fingerprint")


def test_a_call_whose_lease_ended_goes_on_while_nobody_claimed() -> None:
    late = row(State.CLAIMED, lease_ends_in_s=-100.0)
    started = advance(KEY, late, StartEffect(FENCE, 30.0, b"1", b"{}"), now=NOW)
    assert (started.state, started.lease_expires_at) == (State.EFFECT_STARTED, NOW + 30)


def test_a_final_write_that_comes_late_is_taken_and_clears_the_doubt() -> None:
    doubtful = advance(KEY, row(State.EFFECT_STARTED), step(Claim), now=NOW)
    after = advance(KEY, doubtful, Commit(FENCE, b'"done"'), now=NOW)
    assert (after.state, after.result, after.reason) == (State.COMMITTED, b'"done"', None)


def test_releasing_keeps_the_name_of_the_ending_and_claiming_clears_it() -> None:
    released = advance(KEY, row(State.CLAIMED), Release(FENCE, "truncated"), now=NOW)
    assert (released.reason, released.lease_expires_at) == ("truncated", None)
    assert advance(KEY, released, step(Claim), now=NOW).reason is None
