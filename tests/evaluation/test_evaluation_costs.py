"""Costs up front: what is left to ask, and what it may take."""

from pathlib import Path
from typing import Any

import pytest
from evaluation.suites import case, run_suite, said, suite_of

from commitgate import Retry, Sampling
from commitgate.errors import MisuseError, RunStoreError, SuiteError
from commitgate.evaluation import Prices, RunSettings, estimate
from commitgate.testing import ScriptedBackend

CASES = (case("a"), case("b"))


def test_every_trial_is_a_request_at_least() -> None:
    settings = RunSettings(variants=("constrained", "prompt_only"), repetitions=3, retry=Retry(attempts=1))
    found = estimate(suite_of(*CASES), "scripted", settings=settings)
    assert (found.trials, found.kept, found.requests, found.most_requests) == (12, 0, 12, 12)
    assert found.most_output_tokens == 12 * 64
    assert (found.cost, found.currency, found.second_calls) == (None, None, 0)


def test_further_requests_that_are_allowed_are_counted() -> None:
    settings = RunSettings(
        variants=("constrained", "prompt_only"), most_reasks=2, retry=Retry(attempts=2, reasks=1, restarts=1)
    )
    found = estimate(suite_of(case()), "scripted", settings=settings)
    # Constrained: two questions of two requests, and one restart. By the prompt alone: three calls of 2 and 1.
    assert found.most_requests == (2 * 2 + 1) + 3 * (2 + 1)


def test_money_is_that_of_prompts_and_of_the_longest_answers() -> None:
    found = estimate(
        suite_of(case(), sampling=Sampling(max_tokens=1000)), "scripted", prices=Prices(input=3, output=10)
    )
    assert found.cost is not None
    assert found.cost == pytest.approx((found.prompt_tokens * 3 + 1000 * 10) / 1e6)
    assert found.most_cost == pytest.approx(3 * found.cost, rel=0.01)
    assert found.prompt_tokens >= found.prompt_characters / 3


@pytest.mark.anyio
async def test_prompt_is_counted_as_it_is_sent() -> None:
    backend = ScriptedBackend(said("{}"))
    await run_suite(suite_of(*CASES), backend=backend)
    sent = sum(len(message.content) for request in backend.requests for message in request.messages)
    assert estimate(suite_of(*CASES), "scripted").prompt_characters == sent


@pytest.mark.anyio
async def test_what_is_kept_already_costs_nothing(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    assert estimate(suite_of(*CASES), "scripted", store=store).trials == 2
    await run_suite(suite_of(*CASES), store=store, most_failures=1, backend=ScriptedBackend(said("no")))
    found = estimate(suite_of(*CASES), "scripted", store=store)
    assert (found.kept, found.trials) == (1, 1)
    with pytest.raises(RunStoreError, match="another run"):
        estimate(suite_of(*CASES), "other", store=store)


def test_acts_are_made_a_second_time() -> None:
    def effect(_case: Any) -> Any:
        return None

    settings = RunSettings(variants=("constrained", "prompt_only"))
    assert estimate(suite_of(*CASES, effect=effect), "scripted", settings=settings).second_calls == 2


def test_suite_that_cannot_be_run_has_no_costs() -> None:
    with pytest.raises(SuiteError):
        estimate(suite_of(case("a"), case("a")), "scripted")


@pytest.mark.parametrize("price", [-1, float("nan"), "3"])
def test_price_must_be_a_number(price: Any) -> None:
    with pytest.raises(MisuseError):
        Prices(input=price, output=1)
