"""Asking by the prompt alone: the same backend without a constraint, judged by the same gate."""

import json
from typing import Any

import pytest
from evaluation.suites import FORM, RIGHT, Answering, Measure, case, run_suite, said, suite_of

from commitgate import EffectContext
from commitgate.evaluation import CaseRecord, summarize
from commitgate.gate.gate import HIDDEN_BYTES
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

BOTH: Any = {"variants": ("constrained", "prompt_only")}


async def both(suite: Any, *scripts: Any, **given: Any) -> tuple[CaseRecord, CaseRecord]:
    """Return the records of both ways of asking one case; the scripts are those of the answers in turn."""
    run = await run_suite(suite, *scripts, **{**BOTH, **given})
    one, other = run.records
    assert (one.variant, other.variant) == ("constrained", "prompt_only")
    return one, other


async def test_backend_is_asked_without_a_constraint_and_shown_the_schema() -> None:
    backend = ScriptedBackend(said(RIGHT))
    await run_suite(suite_of(), backend=backend, **BOTH)
    assert [request.is_constrained for request in backend.requests] == [True, False]
    assert "amount" in backend.requests[1].messages[0].content


async def test_gate_judges_it_all_the_same() -> None:
    one, other = await both(suite_of(), said(RIGHT), said(f"Here you are:\n{RIGHT}"))
    assert one.passed[Measure.SYNTAX] is True
    assert (other.outcome, other.passed[Measure.SYNTAX]) == ("violated", False)


async def test_answer_is_read_to_its_end_so_that_syntax_and_schema_are_told_apart() -> None:
    # Past the first impossible byte it is still JSON, and whole.
    long = json.dumps({"amount": "5" * (HIDDEN_BYTES + 1), "to": "ann"})
    _, other = await both(suite_of(), said(RIGHT), said(long))
    assert (other.passed[Measure.SYNTAX], other.passed[Measure.SCHEMA]) == (True, False)


async def test_answer_by_the_prompt_alone_that_was_cut_counts_as_cut() -> None:
    cut = [{"text": f"Here you are: {RIGHT[:12]}"}, {"finish": "length"}]
    _, other = await both(suite_of(), said(RIGHT), cut)
    assert (other.outcome, other.passed[Measure.TRUNCATION]) == ("violated", False)
    assert Measure.SYNTAX not in other.passed


async def test_whole_answer_by_the_prompt_alone_that_is_no_json_never_reaches_the_schema() -> None:
    broken = '{"amount": "five", "to": }'
    _, other = await both(suite_of(), said(RIGHT), said(broken))
    assert (other.passed[Measure.SYNTAX], Measure.SCHEMA in other.passed) == (False, False)


async def test_effect_is_run_for_one_of_them_alone() -> None:
    made: list[Any] = []

    def effect(_case: Any) -> Any:
        def pay(value: Any, _context: EffectContext) -> None:
            made.append(value)

        return pay

    one, other = await both(suite_of(effect=effect))
    assert len(made) == 1
    assert one.passed[Measure.TOOLS] is True
    assert Measure.TOOLS not in other.passed
    assert Measure.IDEMPOTENCY not in other.passed


async def test_wrong_form_is_asked_for_again_with_what_was_wrong_as_often_as_is_allowed() -> None:
    backend = ScriptedBackend(said(RIGHT), then=[said("no"), said('{"amount":"5","to":"ann"}'), said(RIGHT)])
    run = await run_suite(suite_of(), backend=backend, most_reasks=3, **BOTH)
    other = run.records[1]
    assert (other.requests_until_valid, other.requests) == (3, 3)
    assert other.passed[Measure.SYNTAX] is False  # the first answer is the one that is judged
    last = backend.requests[-1].messages
    assert [message.role for message in last[-4:]] == ["assistant", "user", "assistant", "user"]
    assert last[-2].content == '{"amount":"5","to":"ann"}'
    assert other.usage.output_tokens == 9
    found = summarize(run).baseline
    assert found is not None
    assert (found.prompt_only.asked_again, found.prompt_only.found_by_asking) == (1, 1)


async def test_asking_again_ends_at_its_bound() -> None:
    backend = ScriptedBackend(said(RIGHT), then=[said("no")])
    run = await run_suite(suite_of(), backend=backend, most_reasks=2, **BOTH)
    assert (run.records[1].requests_until_valid, run.records[1].requests) == (None, 3)


async def test_backend_that_fails_is_not_asked_again() -> None:
    backend = ScriptedBackend(said(RIGHT), then=[said("no"), [{"fault": "auth"}]])
    run = await run_suite(suite_of(), backend=backend, most_reasks=5, **BOTH)
    assert run.records[1].requests == 2


async def test_both_are_asked_one_after_the_other_and_each_comes_first_as_often() -> None:
    # A model may remember the prompt that it has read, so the second of the two may be quicker for that alone.
    backend = Answering({})
    await run_suite(suite_of(case("a"), case("b")), backend=backend, **BOTH)
    asked = [(request.messages[-1].content, request.is_constrained) for request in backend.requests]
    assert asked == [("pay a", True), ("pay a", False), ("pay b", False), ("pay b", True)]


async def test_same_answer_has_the_same_form_either_way() -> None:
    for text in (RIGHT, "no", '{"amount":"5","to":"ann"}', '{"amount":5'):
        one, other = await both(suite_of(), said(text))
        assert [one.passed.get(each) for each in FORM] == [other.passed.get(each) for each in FORM], text


async def test_warming_up_asks_for_one_token_each_way_and_is_no_record() -> None:
    backend = ScriptedBackend([{"fault": "auth"}], then=[said(RIGHT)])
    run = await run_suite(suite_of(), backend=backend, warm_up=True, **BOTH)
    assert [request.sampling.max_tokens for request in backend.requests] == [1, 1, 64, 64]
    assert [request.is_constrained for request in backend.requests] == [True, False, True, False]
    assert [record.outcome for record in run.records] == ["committed", "committed"]
    assert [record.requests for record in run.records] == [1, 1]
