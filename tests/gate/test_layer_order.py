"""The order of the layers is one table: every step in it leads where it should, and no other step is taken."""

from collections import deque
from typing import Any

import pytest
from deliberating import Clock

from commitgate.errors import MisuseError
from commitgate.gate.layer_states import LAYER_OF, STEPS, Stage, Step
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.way import Way

ENDS = {Stage.CHOSEN, Stage.WAITING, Stage.REFUSED}
FAILURE = Failure(layer=Layer.RULES, code="c", pointer="", message="m")
ROW = [
    Stage.FINISH,
    Stage.ACCEPT,
    Stage.PARSE,
    Stage.SCHEMA,
    Stage.TYPE,
    Stage.RULES,
    Stage.CONTENT,
    Stage.EVIDENCE,
    Stage.APPROVAL,
    Stage.AUTHORIZE,
    Stage.CHOSEN,
]


def ways(start: Stage) -> list[list[tuple[Stage, Step]]]:
    """Return every way from a stage to an end."""
    waiting: deque[tuple[Stage, list[tuple[Stage, Step]]]] = deque([(start, [])])
    found: list[list[tuple[Stage, Step]]] = []
    while waiting:
        stage, taken = waiting.popleft()
        steps = [step for step in Step if (stage, step) in STEPS]
        if not steps:
            found.append([*taken, (stage, Step.PASSED)])
        waiting.extend((STEPS[stage, step], [*taken, (stage, step)]) for step in steps)
    return found


def test_yes_everywhere_leads_through_every_layer_in_their_order() -> None:
    assert [STEPS[stage, Step.PASSED] for stage in ROW[:-1]] == ROW[1:]
    assert [LAYER_OF[stage] for stage in ROW if stage in LAYER_OF] == list(Layer)


def test_every_way_to_a_value_leads_through_every_stage_once() -> None:
    chosen = [way for way in ways(Stage.FINISH) if way[-1][0] is Stage.CHOSEN]
    assert chosen
    for way in chosen:
        assert [stage for stage, _ in way] == ROW


def test_every_way_ends_and_every_no_ends_without_a_value() -> None:
    for way in [*ways(Stage.FINISH), *ways(Stage.AUTHORIZE)]:
        end = way[-1][0]
        assert end in ENDS
        steps = [step for _, step in way]
        assert (end is Stage.REFUSED) is (Step.FAILED in steps)
        assert (end is Stage.WAITING) is (Step.PERSON in steps and Step.FAILED not in steps)


def test_text_that_the_automaton_refused_never_becomes_a_value() -> None:
    assert STEPS[Stage.ACCEPT, Step.FAILED] is Stage.OUTSIDE_PARSE
    assert {way[-1][0] for way in ways(Stage.OUTSIDE_PARSE)} == {Stage.REFUSED}


def test_only_layers_without_a_question_may_be_passed_over() -> None:
    skippable = {stage for stage, step in STEPS if step is Step.SKIPPED}
    assert skippable.isdisjoint({Stage.FINISH, Stage.ACCEPT, Stage.TYPE, Stage.CONTENT})
    assert all(STEPS[stage, Step.SKIPPED] is STEPS[stage, Step.PASSED] for stage in skippable)


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("step", list(Step))
def test_step_that_is_not_in_the_table_raises_and_changes_nothing(stage: Stage, step: Step) -> None:
    way = Way(Clock())
    way.begin(stage)
    failures = (FAILURE,) if step is Step.FAILED else ()
    if (stage, step) in STEPS:
        way.take(step, failures)
        assert way.stage is STEPS[stage, step]
        return
    with pytest.raises(MisuseError, match=rf"{step.name} is not legal at {stage.name}"):
        way.take(step, failures)
    assert (way.stage, way.records) == (stage, [])


def test_no_step_is_taken_before_an_answer() -> None:
    way = Way(Clock())
    with pytest.raises(MisuseError, match="before any answer"):
        way.take(Step.PASSED)
    assert way.stage is None


@pytest.mark.parametrize(
    ("step", "failures"), [(Step.FAILED, ()), (Step.PASSED, (FAILURE,)), (Step.SKIPPED, (FAILURE,))]
)
def test_verdict_that_contradicts_its_failures_is_refused(step: Step, failures: Any) -> None:
    way = Way(Clock())
    way.begin(Stage.RULES)
    with pytest.raises(MisuseError, match="at least one failure"):
        way.take(step, failures)
    assert (way.stage, way.records) == (Stage.RULES, [])


def test_each_layer_leaves_one_record_with_its_own_time() -> None:
    clock = Clock()
    way = Way(clock)
    way.begin(Stage.PARSE)
    way.take(Step.PASSED)
    clock.now += 4
    way.take(Step.FAILED, (FAILURE,))
    parse, schema = way.records
    assert (parse.layer, parse.ran, parse.passed, parse.time_s, parse.failures) == (Layer.PARSE, True, True, 1, ())
    assert (schema.layer, schema.passed, schema.time_s, schema.failures) == (Layer.SCHEMA, False, 5, (FAILURE,))


def test_contract_that_is_no_json_has_parse_and_schema_on_record_as_not_run() -> None:
    way = Way(Clock())
    way.begin(Stage.FINISH, Step.PASSED, Step.PASSED)
    way.take(Step.SKIPPED)
    way.take(Step.SKIPPED)
    way.take(Step.PASSED)
    assert [(record.layer, record.ran, record.passed) for record in way.records] == [
        (Layer.PARSE, False, None),
        (Layer.SCHEMA, False, None),
        (Layer.TYPE, True, True),
    ]
    assert all(record.time_s == 0 for record in way.records if not record.ran)


def test_next_answer_begins_with_an_empty_record_in_the_same_list() -> None:
    way = Way(Clock())
    records = way.records
    way.begin(Stage.PARSE)
    way.take(Step.PASSED)
    way.begin(Stage.PARSE)
    assert records is way.records
    assert records == []
