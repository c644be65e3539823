"""What holds for every decision, whatever the ending, the policy and the time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from retry_endings import VARIANTS, unavailable

from commitgate.outcome import Disconnected, Failed, Invalid, TimedOut, Truncated, Unavailable
from commitgate.retry import Again, GiveUp, Retry, Tries, decide

seconds = st.floats(min_value=1e-3, max_value=1e6)
counts = st.integers(min_value=0, max_value=6)
units = st.floats(min_value=0, max_value=1, exclude_max=True)
ordered_seconds = st.lists(seconds, min_size=2, max_size=2).map(sorted)
policies = st.builds(
    lambda backoff, **others: Retry(backoff_s=backoff[0], backoff_most_s=backoff[1], **others),
    backoff=ordered_seconds,
    attempts=st.integers(min_value=1, max_value=6),
    restarts=counts,
    reasks=counts,
    larger_max_tokens=st.none() | st.integers(min_value=1),
    retry_after_most_s=seconds,
)
tries_made = st.builds(Tries, requests=st.integers(min_value=1, max_value=5_000), restarts=counts, reasks=counts)
waits_asked = st.none() | st.floats()
endings = st.sampled_from(list(VARIANTS.values())) | st.builds(
    unavailable, st.sampled_from(["rate_limit", "overload", "server", "in_progress", "auth"]), retry_after_s=waits_asked
)


@given(endings, tries_made, policies, st.booleans(), st.none() | st.floats(), st.booleans(), units)
def test_every_further_request_is_allowed_and_in_time(
    ending: Failed,
    tries: Tries,
    policy: Retry,
    was_shown: bool,
    remaining_s: float | None,
    budget_allows: bool,
    random_unit: float,
) -> None:
    decision = decide(
        ending,
        tries,
        policy=policy,
        was_shown=was_shown,
        remaining_s=remaining_s,
        budget_allows=budget_allows,
        random_unit=random_unit,
    )
    if isinstance(decision, GiveUp):
        return
    assert isinstance(ending, TimedOut | Disconnected | Unavailable | Invalid | Truncated)
    assert remaining_s is None or 0 <= decision.wait_s < remaining_s
    assert decision.kind != "retry" or not was_shown
    assert decision.kind != "restart" or was_shown
    assert budget_allows or not decision.spends_budget
    after = tries.after(decision)
    assert decision.kind != "retry" or after.requests <= policy.attempts
    assert decision.kind != "restart" or after.restarts <= policy.restarts
    assert decision.kind != "reask" or after.reasks <= policy.reasks
    assert decision.kind != "larger" or (policy.larger_max_tokens is not None and after.larger == 1)


@given(policies, tries_made, st.booleans(), units, st.none() | st.floats(min_value=0, max_value=1e6))
def test_wait_is_what_the_server_asks_for_or_a_part_of_the_back_off(
    policy: Retry, tries: Tries, was_shown: bool, random_unit: float, asked_s: float | None
) -> None:
    decision = decide(
        unavailable(retry_after_s=asked_s),
        tries,
        policy=policy,
        was_shown=was_shown,
        remaining_s=None,
        budget_allows=True,
        random_unit=random_unit,
    )
    if isinstance(decision, GiveUp):
        return
    least_s = asked_s or 0.0
    assert least_s <= policy.retry_after_most_s
    assert least_s <= decision.wait_s <= max(policy.backoff_most_s, 2 * least_s)
    assert decision.wait_s <= least_s + policy.backoff_most_s


@given(policies, st.lists(st.tuples(endings, st.booleans(), units), min_size=80, max_size=80))
def test_no_call_asks_for_ever(policy: Retry, answers: list[tuple[Failed, bool, float]]) -> None:
    tries, requests = Tries(), 1
    for ending, was_shown, random_unit in answers:
        decision = decide(
            ending,
            tries,
            policy=policy,
            was_shown=was_shown,
            remaining_s=None,
            budget_allows=True,
            random_unit=random_unit,
        )
        if isinstance(decision, Again):
            tries, requests = tries.after(decision), requests + 1
    questions = 1 + policy.reasks + (policy.larger_max_tokens is not None)
    assert requests <= questions * policy.attempts + policy.restarts


@pytest.mark.parametrize("was_shown", [False, True])
def test_policy_that_allows_much_reaches_its_bounds_exactly(was_shown: bool) -> None:
    policy, tries, requests = Retry(attempts=4, restarts=3), Tries(), 1
    while True:
        decision = decide(
            VARIANTS["Disconnected", "lost"],
            tries,
            policy=policy,
            was_shown=was_shown,
            remaining_s=None,
            budget_allows=True,
            random_unit=0.5,
        )
        if isinstance(decision, GiveUp):
            break
        tries, requests = tries.after(decision), requests + 1
    assert requests == 4
