"""Which ending is asked again, how, and what ends the asking."""

from dataclasses import fields
from typing import get_args

import pytest
from retry_endings import INVALID, RECEIPT, VARIANTS, Variant, failure, invalid, unavailable

from commitgate.gate.layers import Layer
from commitgate.outcome import Failed, TimedOut, Truncated
from commitgate.retry import Again, AgainKind, GiveUp, GiveUpReason, Retry, Tries, decide

GENEROUS = Retry(attempts=5, restarts=5, reasks=5, larger_max_tokens=4_096)
TRANSPORT = {
    *(("TimedOut", phase) for phase in ("pool", "connect", "first_event", "idle", "progress")),
    *(("Disconnected", kind) for kind in ("ended", "lost", "aborted")),
    *(("Unavailable", kind) for kind in ("rate_limit", "overload", "server", "unreachable", "in_progress")),
}
LOST = VARIANTS["Disconnected", "lost"]
CUT = VARIANTS["Truncated", "max_tokens"]


def decided(
    ending: Failed,
    tries: Tries | None = None,
    *,
    policy: Retry = GENEROUS,
    was_shown: bool = False,
    remaining_s: float | None = None,
    budget_allows: bool = True,
    random_unit: float = 0.5,
) -> Again | GiveUp:
    return decide(
        ending,
        tries or Tries(),
        policy=policy,
        was_shown=was_shown,
        remaining_s=remaining_s,
        budget_allows=budget_allows,
        random_unit=random_unit,
    )


def kind(decision: Again | GiveUp) -> str | None:
    return decision.kind if isinstance(decision, Again) else None


def reason(decision: Again | GiveUp) -> GiveUpReason | None:
    return decision.reason if isinstance(decision, GiveUp) else None


def test_there_is_an_example_of_every_ending() -> None:
    assert {name for name, _ in VARIANTS} == {ending.__name__ for ending in get_args(Failed)}


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("was_shown", [False, True])
def test_ending_is_asked_again_in_its_own_way_or_never(variant: Variant, was_shown: bool) -> None:
    wanted: AgainKind | None = None
    if variant in TRANSPORT:
        wanted = "restart" if was_shown else "retry"
    elif variant == ("Truncated", "max_tokens"):
        wanted = "larger"
    elif variant == ("Invalid", "retryable"):
        wanted = "reask"
    decision = decided(VARIANTS[variant], was_shown=was_shown)
    assert kind(decision) == wanted
    assert reason(decision) == (None if wanted else GiveUpReason.NOT_RETRYABLE)


def test_by_default_only_what_was_not_shown_is_asked_again() -> None:
    default = Retry()
    assert {
        variant for variant in VARIANTS if isinstance(decided(VARIANTS[variant], policy=default), Again)
    } == TRANSPORT
    assert not any(isinstance(decided(each, policy=default, was_shown=True), Again) for each in VARIANTS.values())


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_one_attempt_alone_asks_nothing_again(variant: Variant) -> None:
    assert isinstance(decided(VARIANTS[variant], policy=Retry(attempts=1)), GiveUp)


def test_attempts_count_every_request_for_the_question() -> None:
    policy = Retry(attempts=3)
    assert kind(decided(LOST, Tries(requests=2), policy=policy)) == "retry"
    assert reason(decided(LOST, Tries(requests=3), policy=policy)) is GiveUpReason.ATTEMPTS_USED


def test_what_was_shown_is_dropped_only_as_often_as_restarts_allow() -> None:
    policy = Retry(attempts=9, restarts=1)
    assert kind(decided(LOST, policy=policy, was_shown=True)) == "restart"
    assert reason(decided(LOST, Tries(requests=2, restarts=1), policy=policy, was_shown=True)) is (
        GiveUpReason.ALREADY_SHOWN
    )


def test_restart_needs_no_attempts_left() -> None:
    assert kind(decided(LOST, policy=Retry(attempts=1, restarts=1), was_shown=True)) == "restart"


def test_larger_limit_is_tried_once() -> None:
    assert kind(decided(CUT)) == "larger"
    assert reason(decided(CUT, Tries(larger=1))) is GiveUpReason.LARGER_USED
    assert reason(decided(CUT, policy=Retry(reasks=2))) is GiveUpReason.LARGER_USED


def test_cut_answer_is_not_asked_again_with_the_same_limit() -> None:
    for cut in ("max_tokens", "context", "paused"):
        ending = Truncated(kind=cut, receipt=RECEIPT)
        assert isinstance(decided(ending, policy=Retry(attempts=9, restarts=9, reasks=9)), GiveUp)


def test_reasks_have_a_number_of_their_own() -> None:
    policy = Retry(attempts=1, reasks=2)
    assert kind(decided(INVALID["retryable"], Tries(reasks=1), policy=policy)) == "reask"
    assert reason(decided(INVALID["retryable"], Tries(reasks=2), policy=policy)) is GiveUpReason.REASKS_USED


@pytest.mark.parametrize("layer", [each for each in Layer if each is not Layer.AUTHORIZE])
def test_one_failure_that_asking_cannot_mend_ends_the_call(layer: Layer) -> None:
    assert kind(decided(invalid(failure(layer=layer), failure(layer=layer)))) == "reask"
    mixed = invalid(failure(layer=layer), failure(layer=layer, retryable=False))
    assert reason(decided(mixed)) is GiveUpReason.NOT_RETRYABLE


def test_denial_is_final_even_where_its_failure_says_retryable() -> None:
    denied = invalid(failure(layer=Layer.AUTHORIZE, retryable=True))
    assert reason(decided(denied)) is GiveUpReason.NOT_RETRYABLE


@pytest.mark.parametrize("ending", [INVALID["retryable"], CUT])
def test_another_question_waits_for_nothing_and_spends_nothing(ending: Failed) -> None:
    decision = decided(ending, budget_allows=False)
    assert isinstance(decision, Again)
    assert decision.wait_s == 0.0
    assert not decision.spends_budget


@pytest.mark.parametrize("was_shown", [False, True])
def test_same_request_spends_from_the_budget(was_shown: bool) -> None:
    decision = decided(LOST, was_shown=was_shown)
    assert isinstance(decision, Again)
    assert decision.spends_budget
    assert reason(decided(LOST, was_shown=was_shown, budget_allows=False)) is GiveUpReason.BUDGET


@pytest.mark.parametrize(
    ("retry_after_s", "least_s", "most_s"), [(2.0, 2.0, 2.5), (0.25, 0.25, 0.5), (3.0, 3.0, 4.0), (0.0, 0.0, 0.5)]
)
def test_server_that_asks_for_a_wait_gets_it_and_little_more(
    retry_after_s: float, least_s: float, most_s: float
) -> None:
    for random_unit in (0.0, 0.5, 0.999):
        ending = unavailable("rate_limit", retry_after_s=retry_after_s)
        decision = decided(ending, policy=Retry(), random_unit=random_unit)
        assert isinstance(decision, Again)
        assert least_s <= decision.wait_s <= most_s


def test_clients_that_were_told_the_same_time_do_not_all_come_back_at_once() -> None:
    ending = unavailable("overload", retry_after_s=60.0)
    assert decided(ending, random_unit=0.1) != decided(ending, random_unit=0.9)


def test_server_that_asks_for_too_long_a_wait_ends_the_call() -> None:
    policy = Retry(retry_after_most_s=120)
    assert kind(decided(unavailable(retry_after_s=120.0), policy=policy)) == "retry"
    too_long = unavailable("rate_limit", retry_after_s=3_600.0)
    assert reason(decided(too_long, policy=policy)) is GiveUpReason.RETRY_AFTER_TOO_LONG
    # The ending says what the server asked for; the deadline, which it would overrun too, is not what ended the call.
    assert reason(decided(too_long, policy=policy, remaining_s=600.0)) is GiveUpReason.RETRY_AFTER_TOO_LONG


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), float("-inf"), -1.0])
def test_wait_that_is_no_time_is_the_ordinary_back_off(garbage: float) -> None:
    assert decided(unavailable(retry_after_s=garbage)) == decided(unavailable())


@pytest.mark.parametrize(
    ("requests", "most_s"), [(1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (5, 8.0), (6, 8.0), (5_000, 8.0)]
)
def test_back_off_doubles_up_to_its_most(requests: int, most_s: float) -> None:
    decision = decided(LOST, Tries(requests=requests), policy=Retry(attempts=10_000), random_unit=0.5)
    assert decision == Again(kind="retry", wait_s=most_s / 2)


def test_wait_that_would_overrun_the_deadline_is_not_begun() -> None:
    asked = unavailable(retry_after_s=30.0)
    assert reason(decided(asked, remaining_s=1.0)) is GiveUpReason.NO_TIME_LEFT
    assert reason(decided(asked, remaining_s=30.0)) is GiveUpReason.NO_TIME_LEFT
    assert kind(decided(asked, remaining_s=40.0)) == "retry"


@pytest.mark.parametrize("remaining_s", [0.0, -1.0, float("nan")])
@pytest.mark.parametrize("ending", [LOST, CUT, INVALID["retryable"]])
def test_nothing_is_asked_past_the_deadline(ending: Failed, remaining_s: float) -> None:
    assert reason(decided(ending, remaining_s=remaining_s, random_unit=0.0)) is GiveUpReason.NO_TIME_LEFT


def test_deadline_is_no_reason_where_the_call_ends_anyhow() -> None:
    total = TimedOut(phase="total", limit_s=1.0, receipt=RECEIPT)
    assert reason(decided(total, remaining_s=0.0)) is GiveUpReason.NOT_RETRYABLE
    assert reason(decided(LOST, Tries(requests=5), remaining_s=0.0)) is GiveUpReason.ATTEMPTS_USED
    assert reason(decided(LOST, remaining_s=0.0, budget_allows=False)) is GiveUpReason.BUDGET


@pytest.mark.parametrize(
    ("again", "tries"),
    [
        ("retry", Tries(requests=4, restarts=1, reasks=1, larger=0)),
        ("restart", Tries(requests=4, restarts=2, reasks=1, larger=0)),
        ("reask", Tries(requests=1, restarts=1, reasks=2, larger=0)),
        ("larger", Tries(requests=1, restarts=1, reasks=1, larger=1)),
    ],
)
def test_another_question_counts_its_requests_anew(again: AgainKind, tries: Tries) -> None:
    assert Tries(requests=3, restarts=1, reasks=1).after(Again(kind=again)) == tries


def test_every_reason_is_given_somewhere() -> None:
    given = {
        reason(decided(VARIANTS["Refused", None])),
        reason(decided(LOST, policy=Retry(), was_shown=True)),
        reason(decided(LOST, policy=Retry(attempts=1))),
        reason(decided(INVALID["retryable"], policy=Retry())),
        reason(decided(CUT, policy=Retry())),
        reason(decided(unavailable(retry_after_s=1e9))),
        reason(decided(LOST, budget_allows=False)),
        reason(decided(LOST, remaining_s=0.0)),
    }
    assert given == set(GiveUpReason)
    assert [entry.name for entry in fields(Tries)] == ["requests", "restarts", "reasks", "larger"]
