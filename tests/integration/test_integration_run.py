"""Test the runs against real servers themselves, without a server: what is kept, what is skipped, who is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema
import pytest
from integration import integrate as run
from integration.installing import UnavailableError, cache_folder, install_llama, llama_program, vllm_program
from integration.keyword_cases import CASES, KeywordCase
from integration.keywords import EXPLAINED
from integration.parts import Kept, Part
from integration.questions import Question, questions
from integration.servers import Server, ServerName, why_not
from proofs.part import Result, Row

from commitgate.lint.vendor_facts import FACTS

_RIGHT: Mapping[str, object] = {
    "part": "ABC-0123",
    "hour": "23:59",
    "colour": "#00ff9a",
    "phone": "+49 12345",
    "version": "v1.20-rc2",
    "words": "red blue",
    "yes-no": "yes",
    "nested": "ab",
    "sentences": "Please wait.",
    "unicode": "🦀",
    "nonce": "qzvkxwjb",
    "sum": "12 + 30",
    "pairs": "width=10; depth=3",
    "greeting": "Good day, Ada!",
    "brackets": "([()])",
    "word": {"word": "beta"},
    "distinct": {"d": [1, 0]},
    "either": {"kind": "b", "n": 2},
}
_WRONG: Mapping[str, object] = {
    "part": "AB-0123",
    "hour": "24:00",
    "colour": "#00FF9A",
    "phone": "49 12345",
    "version": "v01.2",
    "words": "red",
    "yes-no": "Yes",
    "nested": "abcd",
    "sentences": "Please wait",
    "unicode": "grosser",
    "nonce": "4",
    "sum": "12",
    "pairs": "width=1000",
    "greeting": "Hello, ada!",
    "brackets": "([)]",
    "word": {"word": "omega"},
    "distinct": {"d": [0, 0]},
    "either": {"kind": "a", "n": 2},
}
_BY_NAME: Mapping[str, Question] = {question.name: question for question in questions()}


@pytest.mark.parametrize("name", sorted(_RIGHT))
def test_judge_knows_right_values_from_wrong_ones(name: str) -> None:
    assert _BY_NAME[name].is_right(_RIGHT[name])
    assert not _BY_NAME[name].is_right(_WRONG[name])


def test_questions_have_names_of_their_own_and_every_kind() -> None:
    asked = questions()

    assert len(_BY_NAME) == len(asked)
    assert {question.kind for question in asked} == {"schema", "regex", "choices", "grammar"}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_keyword_case_has_a_right_value_and_wrong_ones_and_a_place_in_the_table(case: KeywordCase) -> None:
    assert ("vllm", case.name) in FACTS
    if case.name == "remote_reference":
        return  # what it allows cannot be known
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(dict(case.schema), format_checker=checker)
    assert validator.is_valid(case.right)
    assert not any(validator.is_valid(value) for value in case.wrong)


def test_explanations_are_of_cases_that_are_asked() -> None:
    assert {case for _, case in EXPLAINED} <= {case.name for case in CASES}


def test_kept_results_are_found_again_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    Kept("part", "llama", folder=tmp_path).add("one", Result(counts={"n": 1}, faults=("wrong",), notes={"why": "x"}))
    with (tmp_path / "part-llama.jsonl").open("a", encoding="utf-8") as out:
        out.write('{"unit": "two", "dig')

    found = Kept("part", "llama", folder=tmp_path).done

    assert found == {"one": Result(counts={"n": 1}, faults=("wrong",), notes={"why": "x"})}
    assert Kept("part", "vllm", folder=tmp_path).done == {}
    assert Kept("part", "llama", folder=tmp_path, fresh=True).done == {}


def test_server_that_cannot_be_had_is_skipped_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> Path:
        raise UnavailableError("no compiler was found")

    monkeypatch.setattr(run, "INSTALLERS", {"llama": refuse})

    rows, code = run.integrate("llama", [_part(held=True)], ends_at=0.0, fresh=True)

    assert code == run.UNFINISHED
    assert [row.measured for row in rows] == ["skipped: no compiler was found"]
    assert "llama: skipped: no compiler was found" in capsys.readouterr().err


def test_table_names_the_server_of_each_line() -> None:
    row = Row(promise="it holds", measured="0 of 3", held=False)

    assert run.table({"vllm": [row]}).splitlines()[2] == "| vllm | it holds | 0 of 3 | NO |"


def test_servers_lie_below_the_folder_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMMITGATE_INTEGRATION", str(tmp_path))
    monkeypatch.delenv("COMMITGATE_LLAMA_SERVER", raising=False)

    assert cache_folder() == tmp_path
    assert vllm_program() is None
    assert llama_program() is None
    assert "vllm is not installed" in str(why_not("vllm"))


def test_named_server_that_is_no_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMMITGATE_LLAMA_SERVER", str(tmp_path / "none"))

    with pytest.raises(UnavailableError, match="COMMITGATE_LLAMA_SERVER names no program"):
        install_llama()


def _part(*, held: bool) -> Part:
    def units(server: ServerName) -> Sequence[str]:
        del server
        return ("one",)

    async def run_unit(server: Server, unit: str) -> Result:
        del server, unit
        return Result(counts={"n": 1})

    def summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
        del server
        return [Row(promise="p", measured=str(len(results)), held=held)]

    return Part(name="made-for-a-test", units=units, run=run_unit, summarise=summarise, at_once={})
