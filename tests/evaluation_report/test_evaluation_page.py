"""The page of an evaluation, in a real browser."""

# ruff: noqa: F811 - the browser is a fixture

from pathlib import Path
from typing import Any

import pytest
from evaluation_report.runs import BOTH, made, record
from headless import browser, complaints, open_page, overflow  # noqa: F401 - a fixture

from commitgate.evaluation import EvaluationRun, Measure, summarize
from commitgate.evaluation.report import Compared, evaluation_page

LEAST_CONTRAST = 4.5
"""Of text to its ground. Source: Web Content Accessibility Guidelines 2.2, success criterion 1.4.3."""

FAINT_TEXTS = """
const least = arguments[0];
const lightness = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const parts = (color) => color.match(/[0-9.]+/g).map(Number);
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const found = parts(getComputedStyle(each).backgroundColor);
    if (found.length === 3 || found[3] > 0.5) return found;
  }
  return parts(getComputedStyle(document.body).backgroundColor);
};
const faint = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const element = node.parentElement;
  const words = node.data.trim();
  if (!words || element.closest("script, noscript, option, .hidden, [hidden]")) continue;
  if (!element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const one = lightness(parts(element instanceof SVGElement ? style.fill : style.color));
  const other = lightness(ground(element));
  const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (contrast < least) faint.push(`${words.slice(0, 30)}: ${contrast.toFixed(2)}`);
}
return [...new Set(faint)];
"""

ENTER = "\ue007"
HOSTILE = "</script><img src=x onerror=document.title='owned'>\u202e"


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
    button.send_keys(ENTER)
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


def test_comparison_tells_who_alone_passed_and_which_cases_changed(browser: Any, tmp_path: Path) -> None:
    first, second = made(BOTH[::2]), made([record(n, is_right=True) for n in range(24)], model="other")
    open_page(browser, kept(tmp_path, second, compared=Compared.of(first, second)), 1_400)
    assert browser.find_element("id", "comparison-section").is_displayed()
    row = next(each for each in browser.find_elements("css selector", "#comparison .row") if "facts" in each.text)
    assert row.text.splitlines()[:2] == ["facts", "16"]
    assert "+66.7 points" in row.text
    (changes,) = browser.find_elements("css selector", "#comparison .changes")
    assert changes.text == "16 cases that came out otherwise"
    changes.find_element("css selector", "summary").click()
    assert "case-1" in changes.text
    assert complaints(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1_400])
def test_text_stands_out_from_its_ground(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    other = made([record(n, is_right=True) for n in range(24)])
    run = made(BOTH, problems=("it was stopped",), planned=60)
    open_page(browser, kept(tmp_path, run, compared=Compared.of(other, run)), width, scheme=scheme)
    assert browser.execute_script(FAINT_TEXTS, LEAST_CONTRAST) == []


def test_each_plot_has_its_numbers_as_a_table(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made(BOTH)), 1_400)
    for place in ("layers", "mass", "time", "ways"):
        tables = browser.find_elements("css selector", f"#{place} details table caption")
        assert tables, place
    drawings = browser.find_elements("css selector", "svg")
    assert len(drawings) == 4
    assert all(each.get_attribute("role") == "img" and each.get_attribute("aria-label") for each in drawings)


def test_page_is_used_by_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made(BOTH[::2])), 1_400)
    browser.find_element("css selector", "#wrong button").send_keys(ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "find"
    assert len(browser.find_elements("css selector", "#cases tr.case")) == 16
    button = browser.find_element("css selector", "#cases button.open")
    button.send_keys(ENTER)
    assert button.get_attribute("aria-expanded") == "true"
    assert "facts: wrong_fact at /n" in browser.find_element("css selector", "#cases tr.more").text
    heads = browser.find_elements("css selector", "#cases thead th")
    heads[-1].find_element("css selector", "button").send_keys(ENTER)
    assert [each.get_attribute("aria-sort") for each in browser.find_elements("css selector", "#cases thead th")][
        -1
    ] == ("ascending")
    assert browser.switch_to.active_element.text.startswith("what was wrong")


def test_cases_are_chosen_by_the_layer_that_failed(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made(BOTH[::2])), 1_400)
    options = [each.get_attribute("value") for each in browser.find_elements("css selector", "#failed option")]
    assert options == ["", "facts"]
    browser.find_elements("css selector", "#failed option")[1].click()
    assert len(browser.find_elements("css selector", "#cases tr.case")) == 16


def test_kinds_are_set_beside_the_rate_of_all(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made(BOTH[::2])), 1_400)
    rows = [each.text.split() for each in browser.find_elements("css selector", "#kinds tbody tr")]
    assert [row[0] for row in rows] == ["even", "odd"]
    assert rows[0][2:5] == ["4", "of", "12"]
    assert "100 % for every kind: it ended" in browser.find_element("id", "kinds-note").text


def test_large_run_opens_quickly_and_shows_some_cases(browser: Any, tmp_path: Path) -> None:
    run = made([record(n, is_right=n % 3 == 0) for n in range(5_000)])
    open_page(browser, kept(tmp_path, run), 1_400)
    assert (
        browser.execute_script("return performance.timing.loadEventEnd - performance.timing.navigationStart") < 10_000
    )
    assert len(browser.find_elements("css selector", "#cases tr.case")) == 100
    browser.find_element("id", "more").click()
    assert len(browser.find_elements("css selector", "#cases tr.case")) == 200


def test_page_without_scripts_says_why_it_is_empty(tmp_path: Path) -> None:
    assert "<noscript>" in evaluation_page(made(BOTH), summarize(made(BOTH)))


def test_run_without_answers_has_a_page_too(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, made([], planned=3, problems=("the backend is gone",))), 320)
    assert "the backend is gone" in browser.find_element("id", "problems").text
    assert complaints(browser) == []
