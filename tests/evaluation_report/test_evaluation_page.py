"""The page of an evaluation, in a real browser."""

# ruff: noqa: F811 - the browser is a fixture

from pathlib import Path
from typing import Any

import pytest
from headless import browser, complaints, open_page, overflow  # noqa: F401 - a fixture

from commitgate.backends.base import Usage
from commitgate.evaluation import CaseRecord, EvaluationRun, Fault, Measure, summarize
from commitgate.evaluation.report import Compared, evaluation_page, report_data, run_lines

HOSTILE = "</script><img src=x onerror=document.title='owned'>\u202e"


def record(number: int, *, is_right: bool, variant: str = "constrained", case_id: str | None = None) -> CaseRecord:
    passed = dict.fromkeys(list(Measure)[:6], True) | {Measure.FACTS: is_right, Measure.AUTHORIZATION: True}
    return CaseRecord(
        case_id=case_id or f"case-{number}",
        variant=variant,  # type: ignore[arg-type]
        outcome="committed",
        is_right_ending=True,
        passed=passed,
        faults=() if is_right else (Fault(measure=Measure.FACTS, code="wrong_fact", pointer="/n"),),
        facts_asked=1,
        facts_right=int(is_right),
        legal_mass_min=0.9 if is_right else 0.02,
        legal_mass_mean=0.9,
        time_to_first_token_s=0.1 + number / 100,
        time_per_token_s=0.02,
        total_s=1.0,
        usage=Usage(100, 20),
        requests=1,
        requests_until_valid=1,
        tags=("even" if number % 2 else "odd",),
    )


def made(records: list[CaseRecord], **changes: Any) -> EvaluationRun:
    facts: dict[str, Any] = {
        "suite": "tickets",
        "suite_version": "1",
        "suite_digest": "d" * 64,
        "model": "local",
        "receipt_facts": {"model_revision": "r"},
        "settings": {},
        "started": "2026-12-01T00:00:00+00:00",
        "wall_s": 61.0,
        "records": tuple(records),
        "planned": len(records),
    }
    return EvaluationRun(**(facts | changes))


BOTH = [record(n, is_right=n % 3 == 0, variant=way) for n in range(24) for way in ("constrained", "prompt_only")]


def kept(folder: Path, run: EvaluationRun, **options: Any) -> str:
    place = folder / "page.html"
    place.write_text(evaluation_page(run, summarize(run), **options), encoding="utf-8")
    return place.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1_400])
def test_page_fits_and_tells_form_from_content(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    open_page(browser, kept(tmp_path, made(BOTH)), width, scheme=scheme)
    assert overflow(browser) <= 0
    assert complaints(browser) == []
    assert browser.find_element("id", "headline").text == (
        "The schema holds in 24 of 24 answers; the facts hold in 8 of 24."
    )
    assert len(browser.find_elements("css selector", "#layers .row")) == len(Measure) + 1


def test_cases_can_be_found_and_sorted(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made(BOTH[::2])), 1_400)
    rows = "#cases tbody tr"
    assert len(browser.find_elements("css selector", rows)) == 24
    browser.find_element("id", "only-wrong").click()
    assert len(browser.find_elements("css selector", rows)) == 16
    browser.find_element("id", "find").send_keys("case-1 even")
    assert {each.text.split()[0] for each in browser.find_elements("css selector", rows)} == {
        "case-1",
        "case-11",
        "case-13",
        "case-17",
        "case-19",
    }
    button = browser.find_elements("css selector", "#cases th button")[0]
    button.send_keys("\ue007")
    first = browser.find_element("css selector", rows).text.split()[0]
    assert first == "case-19"


def test_hostile_names_are_shown_and_do_nothing(browser: Any, tmp_path: Path) -> None:
    run = made([record(1, is_right=False, case_id=HOSTILE)], suite=HOSTILE, problems=(HOSTILE,), planned=5)
    open_page(browser, kept(tmp_path, run), 320)
    assert browser.find_elements("css selector", "img") == []
    assert browser.title != "owned"
    assert "\\u202e" in browser.find_element("id", "problems").text
    assert overflow(browser) <= 0
    assert complaints(browser) == []


def test_comparison_has_its_own_plot(browser: Any, tmp_path: Path) -> None:
    first, second = made(BOTH[::2]), made([record(n, is_right=True) for n in range(24)], model="other")
    open_page(browser, kept(tmp_path, second, compared=Compared.of(first, second)), 1_400)
    assert browser.find_element("id", "comparison-section").is_displayed()
    assert complaints(browser) == []


def test_run_without_answers_has_a_page_too(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made([], planned=3, problems=("the backend is gone",))), 320)
    assert "the backend is gone" in browser.find_element("id", "problems").text
    assert complaints(browser) == []


def test_problems_of_the_run_stand_first() -> None:
    run = made(BOTH, problems=("it was stopped",), planned=99)
    lines = [line.plain for line in run_lines(run, summarize(run))]
    assert lines[0] == "problem: it was stopped"
    assert any("of 99 planned" in line for line in lines[:4])


def test_data_for_programs_has_no_number_that_json_cannot_say() -> None:
    never = [record(n, is_right=False, variant=way) for n in range(3) for way in ("constrained", "prompt_only")]
    import json

    run = made(never)
    json.dumps(report_data(run, summarize(run)), allow_nan=False)
