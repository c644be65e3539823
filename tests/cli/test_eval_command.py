"""``commitgate eval``: what it takes, what it tells people and programs, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.command_shell import PROGRAM, Done, Shell
from evaluation.adversarial_backends import Obedient

from commitgate.cli.app import run
from commitgate.evaluation import load_run, read_run
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
    again = load_run(json.dumps(report["run"]).encode())
    assert {each.key: each for each in again.records} == {each.key: each for each in read_run("kept.jsonl").records}
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


OTHER_ANSWER = [{"text": '{"n": 2}'}, {"finish": "stop"}]


@pytest.fixture
def saved(evaluated: Eval) -> Eval:
    """Return the same, with two saved runs that differ in both cases."""
    assert evaluated("cases.jsonl", "--model", "script/m", "--save", "a.json").code == 0
    backend = ScriptedBackend(OTHER_ANSWER)
    assert evaluated("cases.jsonl", "--model", "script/m", "--save", "b.json", backend=backend).code == 0
    return evaluated


def test_store_of_another_run_is_left_alone(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--store", "kept.jsonl")
    assert evaluated(*words).code == 0
    before = Path("kept.jsonl").read_bytes()
    done = evaluated(*words, "--repetitions", "2")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert Path("kept.jsonl").read_bytes() == before


def test_error_of_a_run_that_is_begun_is_one_sentence(evaluated: Eval, tmp_path: Path) -> None:
    (tmp_path / "answers").write_text("kept before")
    (tmp_path / "answers").chmod(0o444)
    os.symlink("loop", tmp_path / "loop")
    done = evaluated("cases.jsonl", "--model", "script/m", "--keep-text", "loop")
    assert done.code == 2
    assert "Traceback" not in done.err


def test_saved_runs_are_compared_case_by_case(saved: Eval) -> None:
    done = saved("--compare", "a.json", "b.json", "--html", "page.html")
    assert done.code == 0
    assert "2 pairs" in done.out
    assert "  one: lost came through, facts" in done.out
    assert "  two: gained came through, facts" in done.out
    report = json.loads(saved("--compare", "a.json", "b.json", "--json").out)
    assert [each["case_id"] for each in report["changes"]] == ["one", "two"]
    assert saved("--compare", "a.json").code == 2
    assert saved("--compare", "a.json", "cases.jsonl").code == 2


def test_second_of_two_saved_runs_is_held_against_rates(saved: Eval) -> None:
    assert saved("--compare", "a.json", "b.json", "--fail-under", "facts=0.5").code == 0
    assert saved("--compare", "a.json", "b.json", "--fail-under", "facts=0.6").code == 31


def test_two_models_are_compared_in_one_go(evaluated: Eval) -> None:
    done = evaluated("cases.jsonl", "--model", "script/m", "--model", "other/m", other=ScriptedBackend(ANSWER))
    assert done.code == 0
    assert "second other/m against first script/m, 2 pairs" in done.out


def test_rates_of_both_models_must_do(evaluated: Eval) -> None:
    broken = ScriptedBackend([{"text": '{"n": "x"}'}, {"finish": "stop"}])
    words = ("cases.jsonl", "--model", "script/m", "--model", "other/m", "--fail-under", "facts=0.5")
    assert evaluated(*words, backend=broken, other=ScriptedBackend(ANSWER)).code == 31
    assert evaluated(*words, other=ScriptedBackend(ANSWER)).code == 0


def test_second_model_that_is_not_there_is_told_before_the_first_is_asked(evaluated: Eval) -> None:
    backend = ScriptedBackend(ANSWER)
    assert evaluated("cases.jsonl", "--model", "script/m", "--model", "nowhere/m", backend=backend).code == 2
    assert backend.requests == []


def test_baseline_is_told_beside_the_constraint(evaluated: Eval) -> None:
    done = evaluated("cases.jsonl", "--model", "script/m", "--baseline", "--html", "page.html")
    assert "4 answers" in done.err
    assert "the constraint beside the prompt alone, 2 pairs" in done.out
    assert json.loads(evaluated("cases.jsonl", "--model", "script/m", "--baseline", "--json").out)["ways"] is not None


@pytest.mark.parametrize(
    ("option", "place"),
    [("--html", "nowhere/page.html"), ("--save", "folder"), ("--keep-text", "nowhere/t"), ("--store", "\0")],
)
def test_place_that_cannot_be_written_is_told_before_anything_is_asked(
    evaluated: Eval, tmp_path: Path, option: str, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    backend = ScriptedBackend(ANSWER)
    assert evaluated("cases.jsonl", "--model", "script/m", option, place, backend=backend).code == 2
    assert backend.requests == []


def test_page_that_cannot_be_written_after_all_keeps_the_result_on_stdout(evaluated: Eval, tmp_path: Path) -> None:
    class Spoiling(ScriptedBackend):
        async def aclose(self) -> None:
            await super().aclose()

        def open(self, request: Any) -> Any:
            (tmp_path / "page.html").mkdir(exist_ok=True)
            return super().open(request)

    done = evaluated("cases.jsonl", "--model", "script/m", "--html", "page.html", backend=Spoiling(ANSWER))
    assert done.code == 23
    assert "The schema holds in 2 of 2" in done.out
    assert "cannot write the page" in done.err


def test_backend_that_dies_ends_the_run_with_what_it_has(evaluated: Eval) -> None:
    dead = ScriptedBackend(ANSWER, then=[[{"fault": "auth"}]])
    words = (
        "cases.jsonl",
        "--model",
        "script/m",
        "--concurrency",
        "1",
        "--most-failures",
        "1",
        "--fail-under",
        "facts=0",
    )
    done = evaluated(*words, "--limit", "2", backend=dead)
    assert done.code in (0, 32)
    assert "1 of 2" in done.out


def test_failures_past_what_is_allowed_end_the_run_and_say_so(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--concurrency", "1", "--most-failures", "1")
    done = evaluated(*words, backend=ScriptedBackend(OTHER_ANSWER))
    assert done.code == 32
    assert done.out.startswith("problem: ")
    assert "1 answers of 2 planned" in done.out


def test_prices_are_told_before(evaluated: Eval) -> None:
    words = ("cases.jsonl", "--model", "script/m", "--price-input", "1")
    assert evaluated(*words).code == 2
    assert "; up to 0.01 USD, at most 0." in evaluated(*words, "--price-output", "5", "--max-tokens", "600").err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("a", "b"),
        ("--suite", "nice"),
        ("--suite", "adversarial", "cases.jsonl"),
        ("--suite", "adversarial", "--fail-under", "facts=1"),
        ("--suite", "adversarial", "--update-ratchet"),
        ("cases.jsonl", "--limit", "0"),
        ("cases.jsonl", "--concurrency", "0"),
        ("cases.jsonl", "--ratchet", "r.json"),
        ("cases.jsonl", "--save", "r.json", "--model", "script/other"),
    ],
)
def test_words_that_would_count_for_nothing_are_refused(evaluated: Eval, words: tuple[str, ...]) -> None:
    backend = ScriptedBackend(ANSWER)
    assert evaluated(*words, "--model", "script/m", backend=backend).code == 2
    assert backend.requests == []


def test_comparing_takes_no_model(saved: Eval) -> None:
    done = saved("--compare", "a.json", "b.json", "--model", "script/m")
    assert done.code == 2
    assert "--model cannot be given with --compare" in done.err


def test_adversarial_set_is_held_against_a_ratchet(evaluated: Eval, tmp_path: Path) -> None:
    words = (
        "--suite",
        "adversarial",
        "--model",
        "script/m",
        "--only",
        "values/null",
        "--only",
        "values/empty_array",
        "--ratchet",
        "passed.json",
    )
    assert evaluated(*words, backend=Obedient()).code == 2
    assert evaluated(*words, "--update-ratchet", backend=Obedient()).code == 0
    assert json.loads((tmp_path / "passed.json").read_text())["backends"]["obedient"]["passed"]
    done = evaluated(*words, "--json", backend=Obedient())
    assert (done.code, json.loads(done.out)["ratchet"]["lost"]) == (0, [])


def test_check_of_the_adversarial_set_that_is_lost_fails(evaluated: Eval, tmp_path: Path) -> None:
    words = (
        "--suite",
        "adversarial",
        "--model",
        "script/m",
        "--only",
        "values/null",
        "--only",
        "values/empty_array",
        "--ratchet",
        "passed.json",
    )
    assert evaluated(*words, "--update-ratchet", backend=Obedient()).code == 0

    class Silent(Obedient):
        def answer(self, request: Any) -> Any:
            return [*super().answer(request)][:1]

    assert evaluated(*words, backend=Silent()).code == 31
    known = json.loads((tmp_path / "passed.json").read_text())
    known["backends"]["obedient"]["passed"] = []
    (tmp_path / "passed.json").write_text(json.dumps(known))
    assert evaluated(*words, backend=Silent()).code == 0


class Waiting:
    """A program whose only answer waits until it may go on."""

    def __init__(self, shell: Shell, *words: str, **options: Any) -> None:
        shell.write("cases.jsonl", "\n".join(json.dumps(line) for line in [HEADER, *CASES]))
        self.here, self.go = shell.folder / "here", shell.folder / "go"
        for pipe in (self.here, self.go):
            os.mkfifo(pipe)
        script = [{"wait": "here", "until": "go"}, *ANSWER]
        command = [sys.executable, str(PROGRAM), json.dumps(script), "eval", "cases.jsonl", "--model", "scripted/m"]
        self.child = subprocess.Popen(
            [*command, "--concurrency", "1", *words],
            cwd=shell.folder,
            env=shell.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def begin(self) -> None:
        """Wait until the answer is asked for."""
        assert self.here.read_text() == "here\n"

    def stop(self) -> None:
        """Send an interrupt, and wait until it is heard."""
        assert self.child.stderr is not None
        self.child.send_signal(signal.SIGINT)
        assert any("stopping" in line for line in iter(self.child.stderr.readline, ""))


@pytest.fixture
def waiting(shell: Shell) -> Iterator[Callable[..., Waiting]]:
    """Return what starts such a program; it is gone after the test."""
    started: list[Waiting] = []

    def start(*words: str) -> Waiting:
        started.append(Waiting(shell, *words))
        started[-1].begin()
        return started[-1]

    yield start
    for each in started:
        each.child.kill()
        each.child.communicate(timeout=60)


@pytest.mark.timeout(120)
def test_interrupt_ends_a_run_with_what_there_is_and_it_goes_on_later(shell: Shell, waiting: Any) -> None:
    found = waiting("--store", "kept.jsonl", "--fail-under", "facts=1")
    found.stop()
    found.go.write_text("go")
    out, _ = found.child.communicate(timeout=60)
    assert found.child.returncode == 130
    assert out.startswith("problem: ")
    kept = len(read_run(shell.folder / "kept.jsonl").records)
    assert kept < 2
    again = [sys.executable, str(PROGRAM), json.dumps(ANSWER), "eval", "cases.jsonl", "--model", "scripted/m"]
    done = shell.run([*again, "--concurrency", "1", "--store", "kept.jsonl"])
    assert done.code == 0
    assert "2 answers" in done.out


@pytest.mark.timeout(120)
def test_second_interrupt_ends_at_once(waiting: Any) -> None:
    found = waiting()
    found.stop()
    found.child.send_signal(signal.SIGINT)
    assert found.child.wait(timeout=60) == 130


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 130), ("", 130)])
def test_person_at_a_terminal_is_asked_whether_the_costs_are_fine(shell: Shell, answer: str, code: int) -> None:
    shell.write("cases.jsonl", "\n".join(json.dumps(line) for line in [HEADER, *CASES]))
    command = [sys.executable, str(PROGRAM), json.dumps(ANSWER), "eval", "cases.jsonl", "--model", "scripted/m"]
    master, slave = os.openpty()
    with subprocess.Popen(
        command, cwd=shell.folder, env=shell.environment, stdin=slave, stdout=subprocess.PIPE, stderr=slave
    ) as child:
        os.close(slave)
        seen = ""
        while "Go on?" not in seen:
            seen += os.read(master, 65_536).decode()
        os.write(master, f"{answer}\n".encode())
        out, _ = child.communicate(timeout=60)
        os.close(master)
    assert "2 answers, 2 requests" in seen
    assert child.returncode == code
    assert (b"The schema holds in 2 of 2 answers" in out) == (code == 0)
    assert code == 0 or out == b""


def test_hostile_names_do_nothing_to_the_terminal(evaluated: Eval, tmp_path: Path) -> None:
    lines = [HEADER | {"name": "\x1b[31mred\u202e"}, {"id": "\x1b]0;x\x07", "prompt": "x", "expected": {"/n": 1}}]
    (tmp_path / "odd.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    done = evaluated("odd.jsonl", "--model", "script/m", "--html", "page.html")
    assert "\x1b" not in done.out + done.err
    assert "\u202e" not in done.out + done.err
    assert "\x1b" not in Path("page.html").read_text()


@pytest.mark.model
@pytest.mark.timeout(300)
def test_bundled_model_is_measured(evaluated: Eval) -> None:
    done = evaluated(
        "cases.jsonl", "--max-tokens", "24", "--temperature", "0", "--baseline", "--html", "page.html", "--json"
    )
    assert done.code == 0
    report = json.loads(done.out)
    constrained, alone = report["summary"]["variants"]
    assert constrained["layers"][4]["rate"]["passed"] == 2
    assert constrained["legal_mass"]["points"]
    assert (constrained["answers"], alone["answers"]) == (2, 2)
    assert PROMPT not in done.out + done.err + Path("page.html").read_text()
