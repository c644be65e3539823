"""The page that compares libraries says what was measured; what can be measured here still comes out so."""

import json
import re
from pathlib import Path

import pytest
from comparison import endings, keywords
from comparison.answers import ANSWERS
from comparison.callers import installed
from integration.keyword_cases import CASES

PAGE = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")
ENDINGS = json.loads(endings.RESULTS.read_text(encoding="utf-8"))
KEYWORDS = json.loads(keywords.RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize(("part", "results"), [(endings, ENDINGS), (keywords, KEYWORDS)], ids=["endings", "keywords"])
def test_table_of_the_page_is_that_of_the_results(part: object, results: object) -> None:
    assert part.written(PAGE, results) == PAGE  # type: ignore[attr-defined]


def test_results_are_of_every_library_that_the_page_names_and_of_every_case() -> None:
    heading = " ".join(PAGE.split("\n\n")[2].split())
    versions = {**ENDINGS, **KEYWORDS}
    names = "openai|instructor|pydantic-ai|outlines-core|outlines|llguidance|xgrammar"
    named = re.findall(rf"({names})(?:-python|-slim)? (\d[\d.]*\d)", heading)
    assert len(named) == 7
    assert [(name, version) for name, version in named if version not in versions[name]] == []
    assert all(found.keys() == ANSWERS.keys() for each in ENDINGS.values() for found in each.values())
    cases = {case.name for case in CASES}
    assert all(found.keys() == cases for each in KEYWORDS.values() for found in each.values())


@pytest.mark.parametrize("name", ["commitgate", "openai"])
def test_what_is_said_of_answers_still_comes_out(name: str) -> None:
    ((_, version),) = installed([name])
    (told,) = ENDINGS[name].values()
    if version not in ENDINGS[name] and name != "commitgate":
        pytest.skip(f"the page is about another version of {name} than {version}")
    assert endings.measure(name) == told


@pytest.mark.parametrize("name", ["commitgate, mask", "commitgate, gate"])
def test_what_is_said_of_our_keywords_still_comes_out(name: str) -> None:
    (told,) = KEYWORDS[name].values()
    assert {case.name: keywords.verdict(keywords.ENGINES[name][1], case) for case in CASES} == told


def test_every_reason_of_the_table_is_given() -> None:
    table = PAGE.split("## What each does")[1].split("\n## ")[0]
    asked = {
        number for cell in re.findall(r"\| ([\d, ]+) \|$", table, flags=re.MULTILINE) for number in cell.split(", ")
    }
    given = re.findall(r"^(\d+)\. ", PAGE.split("## How it was found")[1], flags=re.MULTILINE)
    assert sorted(map(int, asked)) == list(map(int, given))
