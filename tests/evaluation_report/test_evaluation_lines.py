"""What a terminal shows of an evaluation."""

import pytest
from evaluation_report.runs import BOTH, made, record

from commitgate.evaluation import Fault, Measure, summarize
from commitgate.evaluation.report import Compared, comparison_lines, run_lines

HOSTILE = "\x1b[31m[bold]red[/bold]\u202e"


def lines(run: object, width: int | None = None) -> list[str]:
    return [line.plain for line in run_lines(run, summarize(run), width=width)]  # type: ignore[arg-type]


def test_problems_of_the_run_stand_first() -> None:
    found = lines(made(BOTH, problems=("it was stopped",), planned=99))
    assert found[0] == "problem: it was stopped"
    assert "48 answers of 99 planned" in found[2]


def test_form_stands_beside_content() -> None:
    found = lines(made(BOTH[::2]))
    assert "constrained: The schema holds in 24 of 24 answers; the facts hold in 8 of 24." in found
    schema = next(line for line in found if line.strip().startswith("schema"))
    facts = next(line for line in found if line.strip().startswith("facts"))
    assert ("█" * 20 in schema, "100%" in schema) == (True, True)
    assert ("█" * 7 + "░" * 13 in facts, "33.3%" in facts, "wrong_fact 16" in facts) == (True, True, True)
    assert found.index("form") < found.index("content") < found.index("acts")


def test_layer_that_nothing_reached_has_no_rate() -> None:
    found = next(line for line in lines(made(BOTH)) if line.strip().startswith("idempotency"))
    assert "█" not in found
    assert " - " in found
    assert "%" not in found


def test_nearly_all_is_not_all() -> None:
    found = lines(made([record(n, is_right=n > 0) for n in range(3_000)]))
    facts = next(line for line in found if line.strip().startswith("facts"))
    assert "99.9%" in facts
    assert "░" in facts


@pytest.mark.parametrize("width", [40, 52, 66, 78, 100, 140])
def test_rows_fit_a_narrow_terminal(width: int) -> None:
    found = lines(made(BOTH), width)
    rows = found[found.index("form") : found.index("all of it") + 2]
    assert max(map(len, rows)) <= max(width, 46)


def test_cases_that_failed_alike_stand_together() -> None:
    found = lines(made(BOTH[::2]))
    assert "did not come through: 16" in found
    (alike,) = [line for line in found if line.startswith("  committed (facts wrong_fact): ")]
    assert alike.endswith("and 10 more")


def test_repetitions_of_a_case_are_told_apart() -> None:
    found = lines(made([record(1, is_right=False, repetition=n) for n in (1, 2)]))
    assert "  committed (facts wrong_fact): case-1, case-1 #2" in found


def test_wrong_ending_without_a_fault_says_what_is_wrong() -> None:
    found = lines(made([record(1, is_right=True, is_right_ending=False)]))
    assert "  committed, not as the case wants: case-1" in found


def test_hostile_names_are_written_out() -> None:
    fault = Fault(measure=Measure.FACTS, code=HOSTILE)
    run = made(
        [record(1, is_right=False, case_id=HOSTILE, faults=(fault,))], suite=HOSTILE, model=HOSTILE, problems=(HOSTILE,)
    )
    shown = run_lines(run, summarize(run)) + comparison_lines(
        Compared.of(made([record(1, is_right=True, case_id=HOSTILE)]), run)
    )
    text = "\n".join(line.plain for line in shown)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]red[/bold]" in text


def test_baseline_tells_what_the_constraint_adds_and_saves() -> None:
    alone = [record(n, is_right=True, variant="prompt_only", passed={Measure.LIVENESS: True}) for n in range(9)]
    run = made([*(record(n, is_right=True, total_s=3.0) for n in range(9)), *alone])
    found = "\n".join(lines(run))
    assert "answers that need not be asked for again: 9" in found
    assert "by the prompt alone  right form at once: 0 of 9; none came right" in found
    assert "added to whole call   +2.0 s" in found


def test_comparison_tells_what_was_lost_before_what_was_gained() -> None:
    first = made([record(n, is_right=n < 12) for n in range(24)])
    second = made([record(n, is_right=n >= 4) for n in range(24)])
    found = [line.plain for line in comparison_lines(Compared.of(first, second))]
    assert "came out otherwise: 16 cases" in found
    cases = found[found.index("came out otherwise: 16 cases") + 1 :]
    assert cases[:5] == [
        "  case-0: lost came through, facts",
        "  case-1: lost came through, facts",
        "  case-2: lost came through, facts",
        "  case-3: lost came through, facts",
        "  case-12: gained came through, facts",
    ]
    assert cases[-1] == "  and 4 more; --html FILE shows them"


def test_second_run_without_a_partner_is_counted() -> None:
    found = comparison_lines(Compared.of(made(BOTH[::2]), made(BOTH[:10:2])))
    assert "not paired: 19 of the first, 0 of the second" in [line.plain for line in found]


def test_change_that_is_no_chance_is_marked() -> None:
    first, second = (
        made([record(n, is_right=False) for n in range(24)]),
        made([record(n, is_right=True) for n in range(24)]),
    )
    found = [line.plain for line in comparison_lines(Compared.of(first, second))]
    assert next(line for line in found if line.startswith("facts")).endswith("*")
    assert not next(line for line in found if line.startswith("schema")).endswith("*")
