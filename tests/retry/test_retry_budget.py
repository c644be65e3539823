"""How much all calls of a client together may retry."""

from math import inf, nan

import pytest
from retry_endings import unavailable

from commitgate.errors import MisuseError
from commitgate.retry import Again, Retry, RetryBudget, Tries, decide


def requests_of(budget: RetryBudget, *, attempts: int = 3) -> int:
    """Return how many requests one call makes against a server that is always overloaded."""
    tries = Tries()
    while True:
        decision = decide(
            unavailable("overload"),
            tries,
            policy=Retry(attempts=attempts),
            was_shown=False,
            remaining_s=None,
            budget_allows=budget.has_token,
            random_unit=0.5,
        )
        if tries.requests == 1:
            budget.deposit()
        if not isinstance(decision, Again):
            return tries.requests
        assert budget.try_spend()
        tries = tries.after(decision)


def test_calls_that_all_fail_retry_a_bounded_part_of_their_number() -> None:
    budget = RetryBudget()
    extra = sum(requests_of(budget) - 1 for _ in range(50))
    assert 10 <= extra <= 10 + 50 * 0.1
    exhausted = sum(requests_of(budget) - 1 for _ in range(1_000))
    assert 95 <= exhausted <= 105


def test_full_budget_leaves_single_calls_alone() -> None:
    budget = RetryBudget()
    assert [requests_of(budget) for _ in range(5)] == [3] * 5


def test_empty_budget_gives_no_token() -> None:
    budget = RetryBudget(tokens=2, refill=0)
    assert [budget.try_spend() for _ in range(4)] == [True, True, False, False]
    budget.deposit()
    assert not budget.has_token


def test_ten_tenths_are_one_token() -> None:
    budget = RetryBudget(tokens=1, refill=0.1)
    assert budget.try_spend()
    for _ in range(9):
        budget.deposit()
    assert not budget.try_spend()
    budget.deposit()
    assert budget.try_spend()


def test_budget_never_holds_more_than_its_tokens() -> None:
    budget = RetryBudget(tokens=2, refill=1)
    for _ in range(100):
        budget.deposit()
    assert [budget.try_spend() for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize("tokens", [0, -1, True, 1.5, "10", None])
def test_tokens_are_a_count(tokens: object) -> None:
    with pytest.raises(MisuseError, match=r"RetryBudget\.tokens"):
        RetryBudget(tokens=tokens)  # pyright: ignore[reportArgumentType] - the misuse is the test


@pytest.mark.parametrize("refill", [-0.1, 1.1, nan, inf, True, "0.1", None])
def test_refill_is_a_part_of_one_token(refill: object) -> None:
    with pytest.raises(MisuseError, match=r"RetryBudget\.refill"):
        RetryBudget(refill=refill)  # pyright: ignore[reportArgumentType] - the misuse is the test
