"""What each ending says about the layers of form."""

from collections.abc import Sequence

import pytest
from evaluation.suites import FORM, RIGHT, Measure, case, record_of, said, suite_of

from commitgate import Choices, Contract
from commitgate.testing import Step

pytestmark = pytest.mark.anyio

LIVENESS, REFUSAL, TRUNCATION, SYNTAX, SCHEMA = FORM

ENDINGS: list[tuple[Sequence[Step], str, dict[Measure, bool], str]] = [
    ([{"dead_end": "schema"}], "dead_end", {LIVENESS: False}, "dead_end.schema"),
    ([{"fault": "auth"}], "unavailable", {LIVENESS: False}, "unavailable.auth"),
    ([{"fault": "constraint"}], "unsupported", {LIVENESS: False}, "unsupported"),
    ([{"text": '{"amount"'}, {"close": "eof"}], "disconnected", {LIVENESS: False}, "disconnected.ended"),
    ([{"refusal": "no"}, {"finish": "stop"}], "refused", {LIVENESS: True, REFUSAL: False}, "refused"),
    ([{"finish": "content_filter"}], "filtered", {LIVENESS: True, REFUSAL: False}, "filtered"),
    (
        [{"text": '{"amount":1'}, {"finish": "length"}],
        "truncated",
        {LIVENESS: True, REFUSAL: True, TRUNCATION: False},
        "truncated.max_tokens",
    ),
    (said("Sure! "), "violated", {**dict.fromkeys(FORM[:3], True), SYNTAX: False}, "violated.not_json"),
    (said('{"amount":5'), "violated", {**dict.fromkeys(FORM[:3], True), SYNTAX: False}, "violated.not_accepting"),
    (said('{"amount":5,"amount":6}'), "invalid", {**dict.fromkeys(FORM[:3], True), SYNTAX: False}, "duplicate_key"),
    (said('{"amount":"5","to":"ann"}'), "invalid", {**dict.fromkeys(FORM[:4], True), SCHEMA: False}, "type"),
]


@pytest.mark.parametrize(("script", "outcome", "passed", "code"), ENDINGS, ids=[each[3] for each in ENDINGS])
async def test_ending_is_counted_where_it_came_to_and_no_further(
    script: Sequence[Step], outcome: str, passed: dict[Measure, bool], code: str
) -> None:
    record = await record_of(suite_of(case(expected={"/amount": 5})), script)
    assert (record.outcome, record.passed) == (outcome, passed)
    assert [fault.code for fault in record.faults] == [code]
    assert not record.came_through


async def test_whole_answer_passes_all_layers_of_form() -> None:
    record = await record_of(suite_of(), said(RIGHT))
    assert [record.passed.get(measure) for measure in FORM] == [True] * 5
    assert record.came_through
    assert record.requests_until_valid == 1


async def test_answer_stopped_at_its_first_impossible_byte_tells_nothing_of_its_syntax() -> None:
    script = [{"text": '{"amount":"5'}, {"close": "eof"}]
    record = await record_of(suite_of(), script)
    assert record.outcome == "violated"
    assert record.passed == {**dict.fromkeys(FORM[:3], True), SCHEMA: False}


async def test_refusal_that_the_case_wants_passes() -> None:
    record = await record_of(suite_of(case(endings=("refused",))), [{"refusal": "no"}, {"finish": "stop"}])
    assert record.passed == {LIVENESS: True, REFUSAL: True}
    assert record.came_through


async def test_answer_passes_where_a_refusal_would_have_been_right_too() -> None:
    suite = suite_of(case(endings=("committed", "refused")))
    assert (await record_of(suite, said(RIGHT))).passed[REFUSAL] is True
    assert (await record_of(suite, [{"refusal": "no"}, {"finish": "stop"}])).passed[REFUSAL] is True


async def test_answer_where_a_refusal_was_wanted_fails_there_and_still_has_a_form() -> None:
    record = await record_of(suite_of(case(endings=("refused",))), said('{"amount":"5","to":"ann"}'))
    assert record.passed == {LIVENESS: True, REFUSAL: False, TRUNCATION: True, SYNTAX: True, SCHEMA: False}
    assert [fault.code for fault in record.faults] == ["not_refused", "type"]


async def test_filtered_answer_is_no_refusal_where_only_that_is_wanted() -> None:
    record = await record_of(suite_of(case(endings=("refused",))), [{"finish": "content_filter"}])
    assert record.passed == {LIVENESS: True, REFUSAL: False}


async def test_text_outside_of_choices_fails_in_syntax() -> None:
    contract = Contract.of(Choices(["yes", "no"]), name="choice")
    suite = suite_of(case(expected={"": "yes"}), contracts={"choice": contract})
    assert (await record_of(suite, said("maybe"))).passed[SYNTAX] is False
    right = await record_of(suite, said("yes"))
    assert right.passed[Measure.FACTS]


async def test_call_that_raises_is_told_by_type_and_the_run_goes_on() -> None:
    record = await record_of(suite_of(), [{"raise": "secret words"}])
    assert (record.outcome, record.error, record.error_at) == (None, "RuntimeError", "call")
    assert record.passed == {LIVENESS: False}
