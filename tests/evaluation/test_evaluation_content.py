"""Layers of content: rules, facts, authorization, the effect, quality, and acts that are made again."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from evaluation.suites import SCHEMA, Answering, Measure, case, record_of, run_suite, said, suite_of
from pydantic import BaseModel

from commitgate import CheckContext, Contract, EffectContext, EffectRejected, RuleViolation, by_key
from commitgate.errors import SuiteError
from commitgate.evaluation.content import Raised
from commitgate.evaluation.judged import Judged
from commitgate.evaluation.meter import Meter
from commitgate.evaluation.setup import Planned

pytestmark = pytest.mark.anyio

OVERREACH = '{"amount":5,"to":"eve"}'


class Payments:
    """Count payments."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def effect(self, _case: Any) -> Any:
        def pay(value: Any, _context: EffectContext) -> None:
            self.made.append(value)

        return pay


async def test_rule_that_says_no_fails_and_facts_are_looked_at_all_the_same() -> None:
    suite = suite_of(
        case(expected={"/amount": 5}), rules=lambda _: [lambda value: RuleViolation("too_much", "less", "/amount")]
    )
    record = await record_of(suite)
    assert record.passed[Measure.RULES] is False
    assert record.passed[Measure.FACTS] is True
    assert [(fault.code, fault.pointer) for fault in record.faults] == [("too_much", "/amount")]


async def test_rule_that_raises_is_no_verdict_on_the_answer() -> None:
    def broken(_value: Any) -> None:
        raise KeyError

    record = await record_of(suite_of(rules=lambda _: [broken]))
    assert Measure.RULES not in record.passed
    assert (record.error, record.error_at) == ("KeyError", "rules")


async def test_facts_are_compared_with_what_the_model_wrote_and_not_with_defaults() -> None:
    class Payment(BaseModel):
        amount: int
        to: str = "nobody"

    suite = suite_of(
        case(expected={"/to": {"$absent": True}}), contracts={"payment": Contract.of(Payment, name="payment")}
    )
    assert (await record_of(suite, said('{"amount":5}'))).passed[Measure.FACTS] is True


async def test_authority_of_the_suite_is_asked_with_the_typed_value() -> None:
    class Payment(BaseModel):
        amount: int
        to: str

    seen: list[Any] = []

    async def authority(_case: Any, value: Payment) -> list[str]:
        seen.append(value)
        return ["/to"] if value.to == "ann" else []

    suite = suite_of(authority=authority, contracts={"payment": Contract.of(Payment, name="payment")})
    record = await record_of(suite)
    assert seen == [Payment(amount=5, to="ann")]
    assert [(fault.code, fault.pointer) for fault in record.faults] == [("denied_by_authority", "/to")]


async def test_check_of_evidence_in_the_contract_counts_as_facts() -> None:
    contract = Contract.json_schema(
        SCHEMA, name="payment", evidence=[lambda _v, _c: RuleViolation("unknown_payee", "no", "/to")]
    )
    record = await record_of(suite_of(contracts={"payment": contract}))
    assert record.outcome == "invalid"
    assert (record.passed[Measure.RULES], record.passed[Measure.FACTS]) == (True, False)


async def test_without_anything_known_facts_are_not_reached() -> None:
    assert Measure.FACTS not in (await record_of(suite_of())).passed


async def test_overreach_is_blocked_in_the_gate_and_nothing_is_done() -> None:
    payments = Payments()
    suite = suite_of(case(visible={"/to": ("ann",)}, endings=("invalid",)), effect=payments.effect)
    record = await record_of(suite, said(OVERREACH))
    assert (record.is_overreach, record.was_blocked) == (True, True)
    assert record.passed[Measure.AUTHORIZATION] is True
    assert payments.made == []
    assert record.came_through


async def test_overreach_that_another_layer_blocked_is_overreach_all_the_same() -> None:
    asked: list[Any] = []

    def authorize(_case: Any) -> Any:
        def may(value: Any, context: CheckContext) -> bool:
            asked.append(context.principal)
            return value["to"] == "ann"

        return may

    suite = suite_of(
        case(principal="bob"), authorize=authorize, rules=lambda _: [lambda value: RuleViolation("no", "no")]
    )
    record = await record_of(suite, said(OVERREACH))
    assert record.detail == "rules"
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (True, True, True)
    assert asked == ["bob"]


async def test_overreach_that_nothing_blocked_fails() -> None:
    # Who asks may not have it done, and the contract has nobody who looks.
    record = await record_of(suite_of(case(expected={"/to": "ann"}, is_rightful=False)))
    assert (record.outcome, record.is_overreach, record.was_blocked) == ("committed", True, False)
    assert record.passed[Measure.AUTHORIZATION] is False
    assert record.faults[-1].code == "overreach"


async def test_act_that_is_never_allowed_is_overreach_whatever_may_be_seen() -> None:
    record = await record_of(suite_of(case(expected={"/to": "ann"}, visible={"/to": ("ann",)}, is_rightful=False)))
    assert (record.is_overreach, record.was_blocked) == (True, False)


async def test_authorize_that_the_gate_asked_is_not_asked_a_second_time() -> None:
    asked: list[Any] = []

    def authorize(_case: Any) -> Any:
        def may(value: Any, _context: CheckContext) -> bool:
            asked.append(value)
            return True

        return may

    record = await record_of(suite_of(authorize=authorize))
    assert (record.is_overreach, len(asked)) == (False, 1)


async def test_rightful_act_that_the_contract_blocks_fails() -> None:
    contract = Contract.json_schema(SCHEMA, name="payment", authorize=lambda _v, _c: False)
    record = await record_of(suite_of(case(expected={"/to": "ann"}, is_rightful=True), contracts={"payment": contract}))
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (False, True, False)
    assert record.faults[-1].code == "rightful_blocked"


async def test_rightful_act_that_a_rule_blocks_is_no_matter_of_authorization() -> None:
    suite = suite_of(case(is_rightful=True), rules=lambda _: [lambda value: RuleViolation("no", "no")])
    record = await record_of(suite)
    assert (record.is_overreach, record.was_blocked) == (False, True)
    assert Measure.AUTHORIZATION not in record.passed


async def test_wrong_answer_of_a_rightful_case_says_nothing_of_authorization() -> None:
    record = await record_of(suite_of(case(expected={"/amount": 6}, is_rightful=True)))
    assert record.is_overreach is None
    assert Measure.AUTHORIZATION not in record.passed


async def test_person_who_is_asked_counts_as_blocked_only_where_the_case_does_not_want_it() -> None:
    contract = Contract.json_schema(SCHEMA, name="payment", approve=lambda _v, _c: True)
    wanted = await record_of(
        suite_of(case(is_rightful=True, endings=("needs_approval",)), contracts={"payment": contract})
    )
    assert wanted.came_through
    assert wanted.passed.get(Measure.AUTHORIZATION, True)
    unwanted = await record_of(suite_of(case(is_rightful=True), contracts={"payment": contract}))
    assert unwanted.passed[Measure.AUTHORIZATION] is False


async def test_authorize_that_raises_blocks_and_is_no_verdict() -> None:
    def authorize(_case: Any) -> Any:
        def may(_value: Any, _context: CheckContext) -> bool:
            raise OSError

        return may

    payments = Payments()
    record = await record_of(suite_of(authorize=authorize, effect=payments.effect))
    assert (record.error, record.error_at) == ("OSError", "authorize")
    assert Measure.AUTHORIZATION not in record.passed
    assert payments.made == []


async def test_act_that_is_made_again_has_no_second_effect() -> None:
    payments = Payments()
    record = await record_of(suite_of(effect=payments.effect))
    assert len(payments.made) == 1
    assert (record.second_effects, record.passed[Measure.IDEMPOTENCY]) == (0, True)
    assert record.requests == 1


async def test_effect_that_declines_fails_in_tools() -> None:
    def effect(_case: Any) -> Any:
        async def decline(_value: Any, _context: EffectContext) -> None:
            raise EffectRejected("no funds")

        return decline

    record = await record_of(suite_of(effect=effect))
    assert record.outcome == "effect_failed"
    assert record.passed[Measure.TOOLS] is False
    assert Measure.IDEMPOTENCY not in record.passed


async def test_effect_in_doubt_is_made_again_and_does_nothing() -> None:
    made: list[int] = []

    def effect(_case: Any) -> Any:
        def broken(_value: Any, _context: EffectContext) -> None:
            made.append(1)
            raise ConnectionError

        return broken

    record = await record_of(suite_of(effect=effect))
    assert (record.outcome, record.error, record.error_at) == ("in_doubt", "ConnectionError", "effect")
    assert (len(made), record.second_effects, record.passed[Measure.IDEMPOTENCY]) == (1, 0, True)


async def test_effect_in_doubt_that_may_run_again_is_not_made_again() -> None:
    def effect(_case: Any) -> Any:
        @by_key
        def broken(_value: Any, _context: EffectContext) -> None:
            raise ConnectionError

        return broken

    record = await record_of(suite_of(effect=effect))
    assert record.second_effects is None


@pytest.mark.parametrize(
    ("second", "wrong", "codes"),
    [
        (0, None, []),
        (1, None, ["second_effect"]),
        (0, ("not_replayed", ""), ["not_replayed"]),
        (0, Raised("KeyError", "replay"), ["replay_raised"]),
    ],
)
async def test_second_effect_or_another_ending_fails_in_idempotency(second: int, wrong: Any, codes: list[str]) -> None:
    judged = Judged(planned=Planned(case=case(), variant="constrained", repetition=1), meter=Meter())
    judged.take_replay(second, wrong)
    assert judged.layers.passed == {Measure.IDEMPOTENCY: not codes}
    assert [fault.code for fault in judged.layers.faults] == codes


async def test_each_repetition_is_an_act_of_its_own() -> None:
    payments = Payments()
    suite = suite_of(effect=payments.effect)
    run = await run_suite(suite, repetitions=2)
    assert len(payments.made) == 2
    assert [record.second_effects for record in run.records] == [0, 0]


@pytest.mark.parametrize("score", [0.4, 0.5, 1])
async def test_score_is_measured_by_the_least_that_the_suite_asks_for(score: float) -> None:
    record = await record_of(suite_of(scorer=lambda _c, _v: score))
    assert (record.score, record.passed[Measure.QUALITY]) == (score, score >= 0.5)


async def test_async_scorer_is_waited_for() -> None:
    async def scorer(_case: Any, _value: Any) -> float:
        await anyio.lowlevel.checkpoint()
        return 0.9

    assert (await record_of(suite_of(scorer=scorer))).score == 0.9


@pytest.mark.parametrize("score", [True, "1", 1.5, -0.1, float("nan"), None])
async def test_score_that_is_none_is_a_fault_of_the_scorer(score: Any) -> None:
    record = await record_of(suite_of(scorer=lambda _c, _v: score))
    assert (record.score, record.error, record.error_at) == (None, "MisuseError", "scorer")
    assert Measure.QUALITY not in record.passed


async def test_scorer_that_raises_ends_nothing() -> None:
    def scorer(asked: Any, _value: Any) -> float:
        if asked.id == "a":
            raise ZeroDivisionError
        return 1.0

    run = await run_suite(suite_of(case("a"), case("b"), scorer=scorer))
    assert [(each.error, each.score) for each in run.records] == [("ZeroDivisionError", None), (None, 1.0)]
    assert run.is_complete


async def test_first_of_several_that_raise_is_the_one_that_is_told() -> None:
    def authority(_case: Any, _value: Any) -> list[str]:
        raise KeyError

    def scorer(_case: Any, _value: Any) -> float:
        raise ZeroDivisionError

    record = await record_of(suite_of(authority=authority, scorer=scorer))
    assert (record.error, record.error_at) == ("KeyError", "authority")


async def test_scorer_that_never_returns_is_given_up() -> None:
    async def scorer(_case: Any, _value: Any) -> float:
        await anyio.sleep_forever()
        return 1.0

    record = await record_of(suite_of(scorer=scorer), check_timeout_s=0.01)
    assert (record.error, record.error_at) == ("TimeoutError", "scorer")


@pytest.mark.parametrize("returned", ["/to", [1], ["to"], None])
async def test_authority_that_returns_no_places_is_at_fault(returned: Any) -> None:
    record = await record_of(suite_of(authority=lambda _c, _v: returned))
    assert (record.error, record.error_at) == ("MisuseError", "authority")
    assert Measure.FACTS not in record.passed


@pytest.mark.parametrize("name", ["rules", "authorize", "effect"])
async def test_function_of_the_suite_that_raises_asks_nothing(name: str) -> None:
    def broken(_case: Any) -> Any:
        raise LookupError

    backend = Answering({})
    record = await record_of(suite_of(**{name: broken}), backend=backend)
    assert (record.outcome, record.error, record.error_at, record.passed) == (None, "LookupError", "suite", {})
    assert backend.requests == []


async def test_legal_mass_is_that_of_the_answer() -> None:
    record = await record_of(
        suite_of(),
        [{"text": '{"amount":', "legal_mass": 0.2}, {"text": '5,"to":"ann"}', "legal_mass": 0.6}, {"finish": "stop"}],
    )
    assert record.legal_mass_min == 0.2
    assert record.legal_mass_mean == pytest.approx(0.4)


async def test_suite_that_is_none_is_refused_before_anything_is_asked() -> None:
    backend = Answering({})
    with pytest.raises(SuiteError, match="case 2, /id: an earlier case has this id"):
        await run_suite(suite_of(case("a"), case("a")), backend=backend)
    assert backend.requests == []


async def test_authorization_of_the_suite_is_measured_and_not_helped_by_what_the_case_knows() -> None:
    payments = Payments()
    suite = suite_of(
        case(visible={"/to": ("ann",)}, endings=("invalid",)),
        authorize=lambda _: lambda _v, _c: True,
        effect=payments.effect,
    )
    record = await record_of(suite, said(OVERREACH))
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (True, False, False)
    assert len(payments.made) == 1


async def test_authorization_of_the_suite_that_blocks_what_is_visible_is_told() -> None:
    suite = suite_of(case(visible={"/to": ("ann", "bob")}), authorize=lambda _: lambda _v, _c: False)
    record = await record_of(suite)
    assert (record.is_overreach, record.was_blocked, record.passed[Measure.AUTHORIZATION]) == (False, True, False)


@pytest.mark.parametrize(
    ("ending", "is_right"), [("invalid", True), ("invalid.authorize", True), ("invalid.rules", False)]
)
async def test_ending_can_be_wanted_of_one_layer(ending: str, is_right: bool) -> None:
    record = await record_of(suite_of(case(visible={"/to": ("ann",)}, endings=(ending,))), said(OVERREACH))
    assert record.is_right_ending is is_right
