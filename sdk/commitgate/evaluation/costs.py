"""Say what a run costs before anything is sent."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar, cast

from commitgate.argument import check_finite
from commitgate.errors import MisuseError
from commitgate.evaluation.case import Case, Suite
from commitgate.evaluation.header import header_of
from commitgate.evaluation.record import Variant
from commitgate.evaluation.settings import RunSettings
from commitgate.evaluation.setup import contract_of
from commitgate.evaluation.store import check_same, read_store
from commitgate.evaluation.suite_check import check_suite
from commitgate.run.conversation import Conversation
from commitgate.tools.tools_order import DEFAULT_TURNS

T = TypeVar("T")

CHARACTERS_PER_TOKEN = 3
"""Characters that are taken for one token of a prompt; English has about four, so the guess is rather too high."""

TOKENS_PER_PRICE = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Hold what a provider asks for a million tokens.

    Attributes:
        input: for those of prompts, >= 0.
        output: for those that the model writes, >= 0.
        currency: in which, for showing.

    Raises:
        MisuseError: a price is no number >= 0.
    """

    input: float
    output: float
    currency: str = "USD"

    def __post_init__(self) -> None:
        for name, value in (("input", self.input), ("output", self.output)):
            check_finite(name, value)
            if value < 0:
                raise MisuseError(f"{name} must be a price >= 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Say what is left of a run, and what it may cost.

    Attributes:
        trials: records that are still to be made.
        kept: records that the store has already.
        requests: requests where each is answered at once, and each case with tools takes one turn.
        most_requests: requests where each is asked again as often as is allowed.
        prompt_characters: of all prompts together, the schema as the model is shown it included, for ``requests``.
        prompt_tokens: about how many tokens these are, rather too many.
        most_output_tokens: tokens that the model may write at most, for ``requests``; thoughts come on top.
        second_calls: acts that are made a second time; they ask no model.
        cost: money for ``requests``, at most for the answers; None without prices.
        most_cost: money for ``most_requests``; None without prices.
        currency: in which; None without prices.
    """

    trials: int
    kept: int
    requests: int
    most_requests: int
    prompt_characters: int
    prompt_tokens: int
    most_output_tokens: int
    second_calls: int
    cost: float | None
    most_cost: float | None
    currency: str | None


def estimate(
    suite: Suite[T],
    model: str,
    *,
    settings: RunSettings | None = None,
    store: str | os.PathLike[str] | None = None,
    prices: Prices | None = None,
) -> Estimate:
    """Return what a run costs. Nothing is sent. CPU work for a worker thread.

    Args:
        suite: what is asked.
        model: as of ``evaluate``.
        settings: how the run is made, as ``evaluate`` is given it; None takes the defaults.
        store: where an earlier part of it was kept; None for a whole run.
        prices: of the model.

    Raises:
        SuiteError: something in the suite is wrong.
        RunStoreError: the store is another run's, or damaged.
    """
    given = cast("Suite[object]", suite)
    check_suite(given)
    how = settings or RunSettings()
    kept = _kept(given, model, how, store)
    left = [planned for planned in how.plan(given) if planned.key not in kept]
    sizes: dict[str, int] = {}
    requests = most = characters = 0
    weighed = 0
    for planned in left:
        case = planned.case
        if case.id not in sizes:
            sizes[case.id] = _characters(given, case)
        most_here = _most_requests(how, case, planned.variant)
        requests += 1
        most += most_here
        characters += sizes[case.id]
        weighed += most_here * sizes[case.id]
    written = given.sampling.max_tokens
    if how.warm_up and left:
        warming = len(how.variants)
        requests, most, characters = requests + warming, most + warming, characters + warming * sizes[left[0].case.id]
    return Estimate(
        trials=len(left),
        kept=len(kept),
        requests=requests,
        most_requests=most,
        prompt_characters=characters,
        prompt_tokens=_tokens(characters),
        most_output_tokens=requests * written,
        second_calls=sum(1 for planned in left if planned.variant == "constrained" and _acts(given, planned.case)),
        cost=None if prices is None else _cost(prices, _tokens(characters), requests * written),
        most_cost=None if prices is None else _cost(prices, _tokens(weighed), most * written),
        currency=None if prices is None else prices.currency,
    )


def _kept(
    suite: Suite[object], model: str, settings: RunSettings, store: str | os.PathLike[str] | None
) -> set[tuple[str, Variant, int]]:
    if store is None or not os.path.exists(store) or not os.path.getsize(store):
        return set()
    found = read_store(store)
    check_same(found.header, header_of(suite, model, settings), os.fspath(store))
    planned = {each.key for each in settings.plan(suite)}
    return {record.key for record in found.records} & planned


def _characters(suite: Suite[object], case: Case) -> int:
    """Return the characters of a case's prompt, as a backend without a way of its own to show the schema gets it."""
    contract = contract_of(suite, case)
    messages = case.messages
    if contract is not None and suite.prompt_schema != "none":
        messages = Conversation(case.messages).to_send(contract, "append")
    said = sum(len(message.content) for message in messages)
    for name in case.tools:
        tool = suite.tools[name]
        said += len(tool.description) + len(str(tool.contract.schema))
    return said


def _most_requests(settings: RunSettings, case: Case, variant: Variant) -> int:
    retry = settings.retry
    questions = 1 + (retry.reasks + (retry.larger_max_tokens is not None) if variant == "constrained" else 0)
    calls = 1 + (settings.most_reasks if variant == "prompt_only" else 0)
    turns = DEFAULT_TURNS if case.tools else 1
    return turns * calls * (questions * retry.attempts + retry.restarts)


def _acts(suite: Suite[object], case: Case) -> bool:
    return bool(case.tools) or suite.effect is not None


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _cost(prices: Prices, prompt_tokens: int, output_tokens: int) -> float:
    return (prompt_tokens * prices.input + output_tokens * prices.output) / TOKENS_PER_PRICE


__all__ = ["CHARACTERS_PER_TOKEN", "TOKENS_PER_PRICE", "Estimate", "Prices", "estimate"]
