"""Sums of runs: each layer by itself, legal mass, and what the constraint adds."""

from typing import Any

import pytest
from evaluation.suites import FORM, made_record, made_run
from hypothesis import given
from hypothesis import strategies as st

from commitgate.backends.base import Usage
from commitgate.evaluation import CaseRecord, Fault, Measure, summarize
from commitgate.evaluation.summary import VariantSummary

FACTS, SCHEMA, SYNTAX, AUTHORIZATION = Measure.FACTS, Measure.SCHEMA, Measure.SYNTAX, Measure.AUTHORIZATION


def summed(*records: CaseRecord) -> VariantSummary:
    (summary,) = summarize(made_run(*records)).variants
    return summary


def passed(*failed: Measure, upto: Measure = Measure.IDEMPOTENCY) -> dict[Measure, bool]:
    """Return what an answer passed that reached all layers up to one."""
    order = list(Measure)
    return {measure: measure not in failed for measure in order[: order.index(upto) + 1]}


def test_layer_counts_only_answers_that_reached_it() -> None:
    summary = summed(
        made_record("a", passed=passed()),
        made_record("b", passed=passed(SCHEMA, upto=SCHEMA), outcome="invalid"),
        made_record("c", passed=passed(FACTS)),
    )
    facts, schema = summary.layer(FACTS).rate, summary.layer(SCHEMA).rate
    assert (facts.passed, facts.reached, facts.share) == (1, 2, 0.5)
    assert (schema.passed, schema.reached) == (2, 3)
    assert facts.interval is not None
    assert facts.interval.low < 0.5 < facts.interval.high


def test_share_that_is_sound_so_far_never_rises() -> None:
    summary = summed(
        made_record("a", passed=passed(FACTS)),
        made_record("b", passed=passed(SYNTAX, upto=SYNTAX)),
        made_record("c", passed=passed()),
        made_record("d", passed=passed(upto=SCHEMA)),
    )
    shares = [layer.sound_so_far.passed for layer in summary.layers]
    assert shares == sorted(shares, reverse=True)
    assert (summary.layer(SYNTAX).sound_so_far.passed, shares[-1]) == (3, 2)


measures = st.dictionaries(st.sampled_from(list(Measure)), st.booleans())


@given(st.lists(measures, min_size=1, max_size=6), st.data())
def test_rate_of_a_layer_does_not_change_with_what_other_layers_found(
    found: list[dict[Measure, bool]], data: st.DataObject
) -> None:
    measure = data.draw(st.sampled_from(list(Measure)))

    def records(others: Any) -> list[CaseRecord]:
        return [
            made_record(str(index), passed={**others(), **({measure: each[measure]} if measure in each else {})})
            for index, each in enumerate(found)
        ]

    one = records(dict)
    other = records(lambda: {key: value for key, value in data.draw(measures).items() if key is not measure})
    assert summed(*one).layer(measure).rate == summed(*other).layer(measure).rate


@given(st.lists(measures, min_size=1, max_size=6), st.lists(measures, max_size=4))
def test_answer_that_did_not_reach_a_layer_leaves_its_rate_alone(found: list[Any], others: list[Any]) -> None:
    measure = Measure.FACTS
    known = [made_record(str(index), passed=each) for index, each in enumerate(found)]
    strangers = [
        made_record(f"x{index}", passed={key: value for key, value in each.items() if key is not measure})
        for index, each in enumerate(others)
    ]
    assert summed(*known).layer(measure).rate == summed(*known, *strangers).layer(measure).rate


def test_layer_that_nothing_reached_has_no_rate() -> None:
    rate = summed(made_record(passed={})).layer(FACTS).rate
    assert (rate.share, rate.interval, rate.reached) == (None, None, 0)


def test_interval_counts_cases_and_not_repeated_answers() -> None:
    once = summed(*(made_record(str(i), passed=passed(*([FACTS] * (i % 2)))) for i in range(4))).layer(FACTS).rate
    again = (
        summed(
            *(
                made_record(str(i), passed=passed(*([FACTS] * (i % 2))), repetition=r)
                for i in range(4)
                for r in range(1, 9)
            )
        )
        .layer(FACTS)
        .rate
    )
    assert (again.reached, again.cases) == (32, 4)
    assert again.interval == once.interval


def test_faults_and_outcomes_are_counted_by_their_names() -> None:
    fault = Fault(measure=FACTS, code="wrong_fact", pointer="/a")
    summary = summed(
        made_record("a", faults=(fault, fault)),
        made_record("b", outcome="invalid", detail="schema", faults=(Fault(measure=SCHEMA, code="type"),)),
        made_record("c", outcome=None, error="OSError", error_at="call"),
        made_record("d", outcome=None, error="KeyError", error_at="suite"),
    )
    assert summary.layer(FACTS).faults == {"wrong_fact": 2}
    assert summary.outcomes == {"committed": 1, "invalid.schema": 1, "not_asked": 1, "raised": 1}
    assert summary.errors == {"call: OSError": 1, "suite: KeyError": 1}


def test_overreach_and_rightful_acts_have_rates_of_their_own() -> None:
    summary = summed(
        made_record("a", is_overreach=True, was_blocked=True, passed={AUTHORIZATION: True}),
        made_record("b", is_overreach=True, was_blocked=False, passed={AUTHORIZATION: False}),
        made_record("c", is_overreach=False, was_blocked=True, passed={AUTHORIZATION: False}),
        made_record("d", is_overreach=False, was_blocked=False, passed={AUTHORIZATION: True}),
        made_record("e", is_overreach=False, was_blocked=True, passed={Measure.RULES: False}),
        made_record("f"),
    )
    blocked, wrongly = summary.authorization.overreach_blocked, summary.authorization.rightful_blocked
    assert (blocked.passed, blocked.reached) == (1, 2)
    assert (wrongly.passed, wrongly.reached) == (1, 2)


def test_answers_are_summed_up_by_tag_too() -> None:
    run = made_run(made_record("a", tags=("x",)), made_record("b", tags=("x", "y"), passed={SYNTAX: False}))
    summary = summarize(run)
    assert {tag: each[0].answers for tag, each in summary.tags.items()} == {"x": 2, "y": 1}
    assert summary.tags["y"][0].layer(SYNTAX).rate.passed == 0


def test_single_facts_are_counted_beside_whole_answers() -> None:
    summary = summed(made_record("a", facts_asked=4, facts_right=3), made_record("b", facts_asked=1, facts_right=1))
    assert (summary.facts.passed, summary.facts.reached) == (4, 5)


def test_low_mass_is_related_to_wrong_answers() -> None:
    records = [
        *(made_record(f"w{i}", legal_mass_min=0.01 * (i + 1), passed={FACTS: False}) for i in range(4)),
        *(made_record(f"r{i}", legal_mass_min=0.5 + 0.1 * i, passed={FACTS: True}) for i in range(5)),
        made_record("unknown", legal_mass_min=0.2),
        made_record("untold", passed={FACTS: True}),
    ]
    found = summed(*records).legal_mass
    assert found is not None
    assert (found.wrong_of_low.passed, found.wrong_of_low.reached) == (4, 4)
    assert (found.wrong_of_high.passed, found.wrong_of_high.reached) == (0, 5)
    assert found.p_value == pytest.approx(1 / 126)
    assert found.area == 1.0
    assert len(found.points) == 9
    assert summed(made_record()).legal_mass is None


def test_mass_that_is_higher_where_answers_are_wrong_has_no_area() -> None:
    found = summed(
        made_record("w", legal_mass_min=0.9, passed={FACTS: False}),
        made_record("r", legal_mass_min=0.4, passed={FACTS: True}),
        made_record("q", legal_mass_min=0.4, passed={Measure.QUALITY: True}),
    ).legal_mass
    assert found is not None
    assert (found.area, found.p_value) == (0.0, None)


def test_times_are_spread_over_answers_that_came() -> None:
    summary = summed(
        *(made_record(str(n), total_s=float(n), time_to_first_token_s=n / 10) for n in range(1, 6)),
        made_record("dead", passed={Measure.LIVENESS: False}, total_s=600.0),
    )
    assert summary.total_s is not None
    assert (summary.total_s.count, summary.total_s.p50, summary.total_s.most) == (5, 3.0, 5.0)
    assert summary.first_token_s is not None
    assert summary.first_token_s.mean == pytest.approx(0.3)
    assert summary.per_token_s is None


def test_constraint_is_compared_with_the_prompt_alone_case_by_case() -> None:
    records: list[CaseRecord] = []
    for number in range(8):
        name = f"c{number}"
        slow = 0.1 * (number + 1)
        records.append(made_record(name, time_to_first_token_s=slow + 0.02, usage=Usage(output_tokens=10)))
        invalid: dict[str, Any] = {"passed": {**dict.fromkeys(FORM, True), SCHEMA: False}, "outcome": "invalid"}
        if number < 4:
            invalid |= {"requests": 3, "requests_until_valid": 3 if number < 2 else None}
        else:
            invalid = {}
        records.append(
            made_record(name, "prompt_only", time_to_first_token_s=slow, usage=Usage(output_tokens=30), **invalid)
        )
    records.append(made_record("alone"))
    found = summarize(made_run(*records)).baseline
    assert found is not None
    assert found.pairs == 8
    assert found.constrained.expected_requests == 1.0
    assert found.prompt_only.expected_requests == 2.0
    asked = found.prompt_only
    assert (asked.asked_again, asked.found_by_asking, asked.further_requests, asked.output_tokens) == (4, 2, 8, 240)
    assert asked.expected_interval is not None
    assert 1 < asked.expected_interval.low < 2 < asked.expected_interval.high
    first = found.first_token_s
    assert first is not None
    assert (first.cases, first.mean, first.p_value) == (8, pytest.approx(0.02), 2 / 256)
    assert found.per_token_s is None


def test_run_of_one_way_of_asking_has_no_baseline() -> None:
    assert summarize(made_run(made_record())).baseline is None


def test_prompt_alone_that_is_never_right_needs_no_known_number_of_requests() -> None:
    wrong = made_record(variant="prompt_only", passed={**dict.fromkeys(FORM, True), SCHEMA: False})
    found = summarize(made_run(made_record(), wrong)).baseline
    assert found is not None
    assert found.prompt_only.expected_requests is None
    assert found.prompt_only.expected_interval is not None
    assert found.prompt_only.expected_interval.high == float("inf")
