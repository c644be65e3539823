"""Comparing two runs of one suite, pair by pair."""

from typing import Any

import pytest
from evaluation.suites import made_record, made_run

from commitgate.errors import ComparisonError
from commitgate.evaluation import CaseRecord, Measure, compare
from commitgate.evaluation.comparison import CAME_THROUGH, Comparison, LayerComparison

FACTS = Measure.FACTS


def records(wrong: str, *, names: str = "abcdefghij", **given: Any) -> list[CaseRecord]:
    """Return one record a case, of which some have wrong facts."""
    return [made_record(name, passed={FACTS: name not in wrong}, **given) for name in names]


def row(found: Comparison, name: str) -> LayerComparison:
    return next(each for each in found.layers if each.name == name)


def test_pairs_that_differ_decide() -> None:
    found = row(compare(made_run(*records("abcdefg")), made_run(*records("g"))), "facts")
    assert (found.pairs, found.both, found.only_first, found.only_second, found.neither) == (10, 3, 0, 6, 1)
    assert found.difference == 0.6
    assert found.p_value == 0.03125
    assert found.interval is not None
    assert 0 < found.interval.low < 0.6 < found.interval.high


def test_p_values_are_corrected_for_all_rows_together() -> None:
    found = compare(made_run(*records("abcdefg")), made_run(*records("g")))
    assert {each.name for each in found.layers} == {CAME_THROUGH, "facts"}
    assert row(found, "facts").corrected_p_value == 0.0625


def test_same_run_does_not_differ_from_itself() -> None:
    run = made_run(*records("ab"))
    found = row(compare(run, run), "facts")
    assert (found.difference, found.p_value) == (0.0, 1.0)


def test_several_answers_to_one_case_are_one_piece_of_evidence() -> None:
    first = [each for number in range(1, 11) for each in records("a", names="ab", repetition=number)]
    second = [each for number in range(1, 11) for each in records("", names="ab", repetition=number)]
    found = row(compare(made_run(*first), made_run(*second)), "facts")
    # Ten pairs differ, all of one case: that is no proof.
    assert (found.pairs, found.only_second, found.p_value) == (20, 10, 1.0)


def test_pairs_are_only_those_that_both_reached() -> None:
    first = made_run(made_record("a", passed={FACTS: True}), made_record("b", passed={}))
    second = made_run(made_record("a", passed={FACTS: False}), made_record("b", passed={FACTS: True}))
    found = row(compare(first, second), "facts")
    assert (found.pairs, found.reached_first_alone, found.reached_second_alone) == (1, 0, 1)


def test_what_has_no_partner_is_counted() -> None:
    found = compare(made_run(*records("", names="abc")), made_run(*records("", names="bcde")))
    assert (found.pairs, found.unpaired_first, found.unpaired_second) == (2, 1, 2)


def test_times_are_compared_as_ratios_by_case() -> None:
    first = made_run(*(made_record(str(n), time_to_first_token_s=0.1 * (n + 1)) for n in range(6)))
    second = made_run(*(made_record(str(n), time_to_first_token_s=0.2 * (n + 1)) for n in range(6)))
    found = next(each for each in compare(first, second).ratios if each.name == "time_to_first_token_s")
    assert (found.cases, found.ratio, found.p_value) == (6, pytest.approx(2.0), 2 / 64)
    assert found.interval.low == pytest.approx(2.0)


def test_two_ways_of_asking_of_one_run_can_be_compared() -> None:
    run = made_run(*records("abcdef", variant="prompt_only"), *records(""))
    found = compare(run, run, variant="prompt_only", second_variant="constrained")
    assert row(found, "facts").only_second == 6


def test_what_is_not_the_same_in_both_runs_is_told() -> None:
    first = made_run(made_record(), model="a", receipt_facts={"contracts": {"c": "1"}, "model_revision": "1"})
    second = made_run(made_record(), model="b", receipt_facts={"contracts": {"c": "2"}, "model_revision": "1"})
    assert compare(first, second).differs == ("model", "contracts")


def test_runs_of_different_suites_are_refused() -> None:
    with pytest.raises(ComparisonError, match="different suites"):
        compare(made_run(made_record()), made_run(made_record(), suite_digest="1" * 64))


def test_runs_without_a_record_in_common_are_refused() -> None:
    with pytest.raises(ComparisonError, match="no record in common"):
        compare(made_run(made_record("a")), made_run(made_record("b")))
    with pytest.raises(ComparisonError, match="no record in common"):
        compare(made_run(), made_run())
