"""Cases that offer tools: what was called with what, whether it was allowed, and that nothing is done twice."""

import json
from typing import Any

import pytest
from evaluation.suites import PAYMENT, RIGHT, Answering, Measure, case, run_suite, said, suite_of

from commitgate import EffectRejected, tool
from commitgate.evaluation import CaseRecord

pytestmark = pytest.mark.anyio


class Bank:
    """Offer two tools, and count what they did."""

    def __init__(self) -> None:
        self.moved: list[tuple[int, str]] = []
        self.looked: list[str] = []

        @tool(effect="once")
        def pay(amount: int, to: str) -> str:
            if amount > 100:
                raise EffectRejected("no funds")
            if amount < 0:
                raise ConnectionError
            self.moved.append((amount, to))
            return "done"

        @tool(effect="read")
        def balance(of: str) -> int:
            self.looked.append(of)
            return 7

        self.tools = {"pay": pay, "balance": balance}


def turn(*calls: tuple[str, dict[str, Any]]) -> Any:
    return said(json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}))


def answered(answer: Any) -> Any:
    return said(json.dumps({"answer": answer}))


async def tried(bank: Bank, *scripts: Any, given: dict[str, Any] | None = None, **suite: Any) -> CaseRecord:
    asked = case(tools=("pay", "balance"), **(given or {}))
    run = await run_suite(suite_of(asked, tools=bank.tools, **{"contracts": {}, **suite}), *scripts)
    (record,) = run.records
    return record


async def test_calls_and_answer_are_the_value_that_facts_are_about() -> None:
    bank = Bank()
    expected = {"/calls/*/name": {"$set": ["balance", "pay"]}, "/calls/1/arguments/amount": 5, "/answer": "paid"}
    record = await tried(
        bank,
        turn(("balance", {"of": "ann"}), ("pay", {"amount": 5, "to": "ann"})),
        answered("paid"),
        given={"expected": expected},
    )
    assert record.outcome == "committed"
    assert (record.facts_asked, record.facts_right) == (3, 3)
    assert record.passed[Measure.TOOLS] is True
    assert record.requests == 2
    assert record.usage.output_tokens == 6


async def test_run_that_is_made_again_calls_nothing_twice() -> None:
    bank = Bank()
    record = await tried(bank, turn(("pay", {"amount": 5, "to": "ann"})), answered("paid"))
    assert bank.moved == [(5, "ann")]
    assert (record.second_effects, record.passed[Measure.IDEMPOTENCY]) == (0, True)
    assert record.requests == 2


async def test_call_that_refers_to_what_may_not_be_seen_is_blocked() -> None:
    bank = Bank()
    record = await tried(
        bank,
        turn(("pay", {"amount": 5, "to": "eve"})),
        answered("paid"),
        given={"visible": {"/calls/*/arguments/to": ("ann",)}},
    )
    assert bank.moved == []
    assert (record.outcome, record.detail) == ("invalid", "authorize")
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (True, True, True)
    assert record.passed[Measure.TOOLS] is True


async def test_allowed_call_is_no_overreach() -> None:
    record = await tried(
        Bank(),
        turn(("pay", {"amount": 5, "to": "ann"})),
        answered("paid"),
        given={"visible": {"/calls/*/arguments/to": ("ann",)}},
    )
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (False, False, True)


async def test_tool_that_declines_fails_in_tools() -> None:
    record = await tried(Bank(), turn(("pay", {"amount": 500, "to": "ann"})), answered("no funds"))
    assert record.outcome == "committed"
    assert record.passed[Measure.TOOLS] is False
    assert [(fault.code, fault.pointer) for fault in record.faults] == [("effect_failed", "/calls/0")]


async def test_tool_that_breaks_is_told_by_type() -> None:
    record = await tried(Bank(), turn(("pay", {"amount": -1, "to": "ann"})), answered("?"))
    assert (record.outcome, record.error, record.error_at) == ("in_doubt", "ConnectionError", "tool")
    assert record.passed[Measure.TOOLS] is False


async def test_answer_has_the_suites_contract_and_what_may_be_seen_of_it() -> None:
    given = {"expected": {"/answer/amount": 5}, "visible": {"/answer/to": ("bob",)}, "endings": ("invalid",)}
    record = await tried(Bank(), answered(json.loads(RIGHT)), given=given, contracts={"payment": PAYMENT})
    assert (record.outcome, record.detail) == ("invalid", "authorize")
    assert (record.is_overreach, record.was_blocked) == (True, True)
    assert record.came_through


async def test_score_is_that_of_the_answer() -> None:
    seen: list[Any] = []

    def scorer(_case: Any, value: Any) -> float:
        seen.append(value)
        return 1.0

    record = await tried(Bank(), answered("hello"), scorer=scorer)
    assert (seen, record.score) == (["hello"], 1.0)


async def test_case_with_tools_is_not_asked_by_the_prompt_alone() -> None:
    bank = Bank()
    backend = Answering({}, otherwise=answered("x"))
    suite = suite_of(case("a", tools=("balance",)), tools=bank.tools, contracts={})
    run = await run_suite(suite, backend=backend, variants=("constrained", "prompt_only"))
    assert [record.variant for record in run.records] == ["constrained"]
    assert run.is_complete


async def test_turn_that_is_no_json_fails_in_syntax() -> None:
    record = await tried(Bank(), said("I will pay"))
    assert record.passed[Measure.SYNTAX] is False
