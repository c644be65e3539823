"""The official JSON-Schema-Test-Suite: what is promised of it, and baselines that may only get better."""

from __future__ import annotations

import pytest
from conformance_baseline import baseline, lines_of
from conformance_suite import DRAFTS, VARIABLE, folder
from conformance_verdicts import Class, Verdict, verdicts

pytestmark = [
    pytest.mark.skipif(
        folder() is None, reason=f"set {VARIABLE} to the JSON-Schema-Test-Suite, the folder that holds its tests/"
    ),
    pytest.mark.parametrize("draft", DRAFTS),
]


def told(found: list[Verdict]) -> list[str]:
    return [f"{verdict.group.file} | {verdict.group.name} | {verdict.test} {verdict.note}" for verdict in found]


def test_every_test_goes_as_the_baseline_says(draft: str) -> None:
    lines, known = set(lines_of(verdicts(draft))), set(baseline(draft))
    advice = "run python tests/conformance/conformance_baseline.py --update once these are meant"
    assert sorted(lines - known) == [], f"gone wrong and not listed; correct them, or {advice}"
    assert sorted(known - lines) == [], f"listed and gone right: {advice}"


def test_schema_layer_is_right_on_everything_but_optional_assertions(draft: str) -> None:
    wrong = [
        verdict
        for verdict in verdicts(draft)
        if verdict.judge == "schema layer" and verdict.group.part != "optional" and verdict.result is not Class.RIGHT
    ]
    assert told(wrong) == []


def test_gate_is_never_wrong_on_a_required_test(draft: str) -> None:
    wrong = [
        verdict
        for verdict in verdicts(draft)
        if verdict.judge == "gate"
        and verdict.group.part == "required"
        and verdict.result not in (Class.RIGHT, Class.REFUSED)
    ]
    assert told(wrong) == []


def test_automaton_never_rejects_a_valid_instance(draft: str) -> None:
    lost = [
        verdict for verdict in verdicts(draft) if verdict.judge == "automaton" and verdict.result is Class.LOSES_VALID
    ]
    assert told(lost) == []


def test_automaton_takes_an_invalid_instance_only_where_a_keyword_is_checked_later(draft: str) -> None:
    taken = [
        verdict
        for verdict in verdicts(draft)
        if verdict.judge == "automaton" and verdict.result is Class.TAKES_INVALID and verdict.group.part != "optional"
    ]
    assert told(taken) == []
