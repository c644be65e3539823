"""Rates that are asked for, and rates that are good enough."""

import json
import re
from pathlib import Path

import pytest
import typer
from evaluation_report.runs import BOTH, made, record

from commitgate.cli.eval import eval_command
from commitgate.errors import MisuseError
from commitgate.evaluation import Measure, load_run, summarize
from commitgate.evaluation.report import Compared, Threshold, missed, report_data
from commitgate.evaluation.report.wording import percent, seconds

DOCS = Path(__file__).parents[2] / "docs"
RUN = made([record(n, is_right=n < 9, is_overreach=n < 4, was_blocked=n < 3) for n in range(10)])
(SUMMARY,) = summarize(RUN).variants


@pytest.mark.parametrize(
    ("words", "is_met"),
    [
        ("facts=0.9", True),
        ("facts=90%", True),
        ("facts=0.901", False),
        ("schema=1", True),
        ("tools=0", False),
        ("came_through=0.9", True),
        ("overreach_blocked=0.75", True),
        ("overreach_blocked=0.76", False),
        ("rightful_let_through=1", True),
    ],
)
def test_rate_meets_what_is_asked_of_it_alone(words: str, is_met: bool) -> None:
    assert (missed(SUMMARY, [Threshold.of(words)]) == ()) is is_met


def test_every_rate_that_is_missed_is_told() -> None:
    found = missed(SUMMARY, [Threshold.of("facts=1"), Threshold.of("schema=1"), Threshold.of("tools=0.5")])
    assert [each.summary() for each in found] == [
        "facts is to be at least 100.0%, and is 90.0% (9 of 10)",
        "tools is to be at least 50.0%, and no answer reached it",
    ]


def test_lower_bound_asks_for_proof() -> None:
    asked = [Threshold.of("schema=0.9")]
    assert missed(SUMMARY, asked, by_lower_bound=False) == ()
    assert len(missed(SUMMARY, asked, by_lower_bound=True)) == 1
    (many,) = summarize(made([record(n, is_right=True) for n in range(100)])).variants
    assert missed(many, asked, by_lower_bound=True) == ()


def test_rightful_acts_that_were_blocked_count_against_letting_them_through() -> None:
    blocked = {measure: measure is not Measure.AUTHORIZATION for measure in list(Measure)[:8]}
    records = [record(n, is_right=True, is_overreach=False, was_blocked=n == 0) for n in range(4)]
    records[0] = record(0, is_right=True, is_overreach=False, was_blocked=True, passed=blocked)
    (summary,) = summarize(made(records)).variants
    assert missed(summary, [Threshold.of("rightful_let_through=0.75")]) == ()
    assert len(missed(summary, [Threshold.of("rightful_let_through=0.76")])) == 1


@pytest.mark.parametrize(
    "words", ["", "facts", "facts=", "facts=nan", "facts=inf", "facts=101%", "Facts=1", "facts=0.9=1"]
)
def test_words_that_are_no_threshold_are_refused(words: str) -> None:
    with pytest.raises(MisuseError):
        Threshold.of(words)


def test_rate_near_an_end_is_not_written_as_the_end() -> None:
    assert [percent(each) for each in (None, 0.0, 0.0001, 0.5, 0.99999, 1.0)] == [
        "-",
        "0%",
        "0.1%",
        "50.0%",
        "99.9%",
        "100%",
    ]


def test_times_are_written_in_their_own_size() -> None:
    shown = [seconds(each) for each in (None, 0.0021, 0.25, 12.34, 600)]
    assert shown == ["-", "2.1 ms", "250 ms", "12.3 s", "10 min"]


def test_data_for_programs_has_no_number_that_json_cannot_say() -> None:
    alone = [record(n, is_right=False, variant="prompt_only", passed={Measure.LIVENESS: True}) for n in range(3)]
    run = made([*(record(n, is_right=False) for n in range(3)), *alone])
    text = json.dumps(report_data(run, summarize(run)), allow_nan=False)
    assert json.loads(text)["summary"]["baseline"]["prompt_only"]["expected_interval"]["high"] is None


def test_run_within_the_data_is_one_that_can_be_read_back() -> None:
    run = made(BOTH, problems=("stopped",), planned=60)
    data = report_data(run, summarize(run), compared=Compared.of(made(BOTH), run))
    assert load_run(json.dumps(data["run"]).encode()) == run
    assert data["commitgate_evaluation_report"] == 1
    assert data["changes"] == []


def test_constraint_is_the_second_of_the_two_ways() -> None:
    alone = [record(n, is_right=False, variant="prompt_only") for n in range(3)]
    run = made([*(record(n, is_right=True) for n in range(3)), *alone])
    text = json.dumps(report_data(run, summarize(run))["ways"])
    ways = json.loads(text)
    assert (ways["comparison"]["layers"][0]["name"], ways["comparison"]["layers"][0]["only_second"]) == (
        "came_through",
        3,
    )
    assert ways["changes"][0]["gained"] == ["came_through", "facts"]


def shell_table(head: str) -> set[str]:
    """Return the words in code of the first column of a table of the page."""
    page = (DOCS / "evaluation.md").read_text(encoding="utf-8").split("## From a shell")[1]
    rows = page.split(f"| {head} |")[1].split("\n\n")[0].splitlines()[2:]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row.split("|")[1])}


def test_page_names_every_field_of_the_data() -> None:
    assert shell_table("field") == {"exit_code", *report_data(RUN, summarize(RUN))}


def test_page_names_every_option() -> None:
    application = typer.Typer(add_completion=False)
    application.command()(eval_command)
    options = {each.opts[0] for each in typer.main.get_command(application).params if each.opts[0].startswith("--")}
    elsewhere = {"--help", "--suite", "--compare", "--ratchet", "--update-ratchet"}
    assert shell_table("option") == options - elsewhere
