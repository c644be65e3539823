"""``commitgate eval``: what it takes, what it tells people and programs, and its exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.command_shell import Done

from commitgate.cli.app import run
from commitgate.testing import ScriptedBackend

HEADER = {
    "commitgate_cases": 1,
    "name": "counts",
    "contract": {
        "title": "Count",
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    },
}
PROMPT = "PROMPTCANARY"
CASES = [
    {"id": "one", "prompt": f"{PROMPT} 1", "expected": {"/n": 4711}, "tags": ["small"]},
    {"id": "two", "prompt": f"{PROMPT} 2", "expected": {"/n": 2}, "tags": ["large"]},
]
ANSWER = [{"text": '{"n": 4711}'}, {"finish": "stop"}]
Eval = Callable[..., Done]


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Eval:
    """Return what runs the command in a folder of its own, with backends that the test brings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    (tmp_path / "cases.jsonl").write_text("\n".join(json.dumps(line) for line in [HEADER, *CASES]))

    def ran(*words: str, backend: Any = None, **others: Any) -> Done:
        capsys.readouterr()
        code = run(["eval", *words], backends={"script": backend or ScriptedBackend(ANSWER), **others})
        return Done(code, *capsys.readouterr())

    return ran


def test_layers_that_disagree_are_told_apart(evaluated: Eval) -> None:
    done = evaluated("cases.jsonl", "--model", "script/m")
    assert done.code == 0
    assert "The schema holds in 2 of 2 answers; the facts hold in 1 of 2." in done.out
    assert "2 answers, 2 requests" in done.err


@pytest.mark.parametrize(
    ("asked", "code"),
    [("facts=0.5", 0), ("facts=51%", 31), ("schema=1", 0), ("tools=0.1", 31), ("came_through=0.5", 0)],
)
def test_rate_below_what_is_asked_fails(evaluated: Eval, asked: str, code: int) -> None:
    assert evaluated("cases.jsonl", "--model", "script/m", "--fail-under", asked).code == code


def test_lower_bound_of_few_cases_proves_little(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--fail-under", "schema=0.9")
    assert evaluated(*words).code == 0
    assert evaluated(*words, "--by-lower-bound").code == 31


@pytest.mark.parametrize("asked", ["facts", "nothing=1", "facts=x", "facts=2", "facts=-1", "=1"])
def test_threshold_that_is_none_is_refused_before_anything_is_asked(evaluated: Eval, asked: str) -> None:
    backend = ScriptedBackend(ANSWER)
    done = evaluated("cases.jsonl", "--model", "script/m", "--fail-under", asked, backend=backend)
    assert done.code == 2
    assert backend.requests == []


def test_every_fault_of_a_case_file_is_told_with_its_line(evaluated: Eval, tmp_path: Path) -> None:
    lines = [json.dumps(HEADER), '{"id": "a"}', "{broken", '{"id": "a", "prompt": "x", "colour": 1}']
    (tmp_path / "bad.jsonl").write_text("\n".join(lines))
    backend = ScriptedBackend(ANSWER)
    done = evaluated("bad.jsonl", "--model", "script/m", backend=backend)
    assert done.code == 2
    assert len(done.err.splitlines()) >= 4
    assert all(f"line {number}" in done.err for number in (2, 3, 4))
    assert backend.requests == []


def test_json_is_one_object_without_prompt_or_answer(evaluated: Eval) -> None:
    done = evaluated("cases.jsonl", "--model", "script/m", "--json", "--html", "page.html", "--store", "kept.jsonl")
    report = json.loads(done.out)
    assert report["exit_code"] == 0
    assert len(report["run"]["records"]) == 2
    written = done.out + done.err + Path("page.html").read_text() + Path("kept.jsonl").read_text()
    assert PROMPT not in written
    assert "4711" not in done.out


def test_only_and_limit_choose_cases(evaluated: Eval) -> None:
    assert "1 of 1" in evaluated("cases.jsonl", "--model", "script/m", "--only", "large").out
    assert "1 answers" in evaluated("cases.jsonl", "--model", "script/m", "--limit", "1").err
    assert evaluated("cases.jsonl", "--model", "script/m", "--only", "nobody").code == 2


def test_stored_run_is_not_made_again(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--store", "kept.jsonl")
    assert evaluated(*words).code == 0
    backend = ScriptedBackend(ANSWER)
    assert "2 there already" in evaluated(*words, backend=backend).err
    assert backend.requests == []


def test_saved_runs_are_compared(evaluated: Eval) -> None:
    other = ScriptedBackend([{"text": '{"n": 2}'}, {"finish": "stop"}])
    assert evaluated("cases.jsonl", "--model", "script/m", "--save", "a.json").code == 0
    assert evaluated("cases.jsonl", "--model", "script/m", "--save", "b.json", backend=other).code == 0
    done = evaluated("--compare", "a.json", "b.json", "--html", "page.html")
    assert done.code == 0
    assert "2 pairs" in done.out
    assert evaluated("--compare", "a.json").code == 2


def test_two_models_are_compared_in_one_go(evaluated: Eval) -> None:
    done = evaluated("cases.jsonl", "--model", "script/m", "--model", "other/m", other=ScriptedBackend(ANSWER))
    assert done.code == 0
    assert "second other/m against first script/m, 2 pairs" in done.out


def test_backend_that_dies_ends_the_run_with_what_it_has(evaluated: Eval) -> None:
    dead = ScriptedBackend(ANSWER, then=[[{"fault": "auth"}]])
    done = evaluated("cases.jsonl", "--model", "script/m", "--concurrency", "1", "--most-failures", "1", backend=dead)
    assert done.code in (0, 32)
    assert "1 of 2" in done.out


def test_prices_are_told_before(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--price-input", "1")
    assert evaluated(*words).code == 2
    assert "at most 0." in evaluated(*words, "--price-output", "5").err


@pytest.mark.parametrize(
    "words",
    [(), ("a", "b"), ("--suite", "nice"), ("--suite", "adversarial", "cases.jsonl"), ("cases.jsonl", "--limit", "0")],
)
def test_words_that_say_nothing_to_do_are_refused(evaluated: Eval, words: tuple[str, ...]) -> None:
    assert evaluated(*words, "--model", "script/m").code == 2


def test_hostile_names_do_nothing_to_the_terminal(evaluated: Eval, tmp_path: Path) -> None:
    lines = [HEADER | {"name": "\x1b[31mred\u202e"}, {"id": "\x1b]0;x\x07", "prompt": "x", "expected": {"/n": 1}}]
    (tmp_path / "odd.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    done = evaluated("odd.jsonl", "--model", "script/m", "--html", "page.html")
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
    assert "\x1b" not in Path("page.html").read_text()
