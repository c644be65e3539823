"""``commitgate preflight``: what it takes, what it tells people and programs, and its exit codes."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.command_shell import Done, Shell
from cli.quick_shell import QuickShell
from preflight.test_preflight import Fine

from commitgate.cli.app import run
from commitgate.preflight import CHECKS, GROUPS
from commitgate.testing import ScriptedBackend

Preflight = Callable[..., Done]
HOSTILE = "\x1b[31mred\u202e\u009b"
FILE = """
from commitgate import Client, Contract, Risk
from commitgate.endings import ENDINGS, Handlers

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}

def fine(value, context=None):
    return None

def may(value, context):
    return True

DAYS = Contract.json_schema(
    SCHEMA, name="Days", version="3", rules=[fine], evidence=[fine], authorize=may, risk=Risk.EFFECT
)
HANDLERS = Handlers(**dict.fromkeys(ENDINGS, fine))

async def act(mail):
    async with Client(ledger="desk.sqlite", observers=[seen]) as client:
        return await client.generate_structured("local", DAYS, effect=fine, operation_key=mail)
"""
READY = ("--handlers", "days_desk.py:HANDLERS", "--code", "days_desk.py", "--calls", "2")


@pytest.fixture
def preflight(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Preflight]:
    """Return what looks a contract over, on a backend that the test brings."""
    before = set(sys.modules)
    (tmp_path / "days_desk.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMMITGATE_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("COLUMNS", "100")

    def looked(*words: str, backend: Any = None) -> Done:
        capsys.readouterr()
        code = run(["preflight", *words, "--backend", "given"], backends={"given": backend or Fine()})
        return Done(code, *capsys.readouterr())

    yield looked
    for name in {"days_desk", "broken_desk"} & (set(sys.modules) - before):
        sys.modules.pop(name)


def digest_of(preflight: Preflight) -> str:
    return str(preflight("days_desk.py:DAYS", "--calls", "0", "--json").report["contract"]["full_digest"])


def test_contract_that_is_ready_ends_with_0_and_strictly_with_34(preflight: Preflight, tmp_path: Path) -> None:
    (tmp_path / "reviewed.txt").write_text(f"# who reviewed what\n{digest_of(preflight)}  Days 3\n")
    words = ("days_desk.py:DAYS", *READY, "--reviewed", "reviewed.txt")
    done = preflight(*words)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "warned: 1 warned, 25 passed, 1 do not apply"
    assert preflight(*words, "--strict").code == 34


def test_contract_that_is_not_ready_ends_with_33(preflight: Preflight) -> None:
    done = preflight("days_desk.py:DAYS", *READY)
    assert done.code == 33
    assert "failed  somebody reviewed exactly this contract" in done.out
    assert "          do: read the contract as it will run" in done.out


def test_every_check_stands_under_its_heading(preflight: Preflight) -> None:
    lines = preflight("days_desk.py:DAYS", *READY).out.splitlines()
    heads = [line for line in lines if line in GROUPS.values()]
    assert heads == list(GROUPS.values())
    for check in CHECKS.values():
        assert any(line[10:].startswith(f"{check.about}: ") for line in lines), check.id


def test_json_is_one_object_with_the_exit_code_first(preflight: Preflight) -> None:
    report = preflight("days_desk.py:DAYS", *READY, "--json").report
    assert list(report)[:3] == ["exit_code", "version", "verdict"]
    assert (report["exit_code"], report["verdict"]) == (33, "failed")
    assert [each["id"] for each in report["checks"]] == list(CHECKS)


def test_page_is_written_beside_the_result(preflight: Preflight, tmp_path: Path) -> None:
    done = preflight("days_desk.py:DAYS", *READY, "--html", "report.html")
    assert done.code == 33
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    done = preflight("days_desk.py:DAYS", "--calls", "0", "--html", "gone/report.html")
    assert (done.code, "cannot write the page" in done.err) == (2, True)


def test_schema_file_is_looked_over_too(preflight: Preflight, tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text('{"title": "N", "type": "object", "properties": {"n": {"type": "integer"}}}')
    report = preflight("n.json", "--json", "--calls", "1").report
    assert report["contract"]["name"] == "N"
    (tmp_path / "n.json").write_text('{"type": 3}')
    done = preflight("n.json", "--json", "--calls", "1")
    assert (done.code, done.report["contract"]) == (33, None)


def test_contract_that_was_changed_since_its_review_is_a_report(preflight: Preflight, tmp_path: Path) -> None:
    text = FILE.replace("risk=Risk.EFFECT", f"risk=Risk.EFFECT, reviewed_digest='{'ab' * 32}'")
    (tmp_path / "broken_desk.py").write_text(text)
    done = preflight("broken_desk.py:DAYS", "--json", "--calls", "0")
    assert done.code == 33
    assert next(each for each in done.report["checks"] if each["id"] == "reviewed")["verdict"] == "failed"


def test_limits_of_time_decide(preflight: Preflight) -> None:
    slow = [{"wait_s": 0.05}, {"text": '{"n": 7}'}, {"finish": "stop"}]
    words = ("days_desk.py:DAYS", "--json", "--calls", "2", "--first-token-s")

    def verdict(limit: str) -> str:
        report = preflight(*words, limit, backend=ScriptedBackend(slow)).report
        return next(each for each in report["checks"] if each["id"] == "first_token")["verdict"]

    assert (verdict("0.001"), verdict("60")) == ("failed", "passed")


def test_concurrency_and_prompts_reach_the_model(preflight: Preflight, tmp_path: Path) -> None:
    backend = ScriptedBackend([{"text": '{"n": 7}'}, {"finish": "stop"}])
    (tmp_path / "two.txt").write_text("second")
    words = ("--calls", "3", "--concurrency", "2", "--prompt", "first", "--prompt-file", "two.txt", "--max-tokens", "9")
    preflight("days_desk.py:DAYS", *words, "--json", backend=backend)
    asked = backend.requests[1:]  # the first one asks whether the model keeps to a constraint
    assert sorted(each.messages[-1].content for each in asked) == ["first", "first", "first", "second", "second"]
    assert {each.sampling.max_tokens for each in asked} == {9}


def test_list_of_reviewed_digests_may_be_json(preflight: Preflight, tmp_path: Path) -> None:
    (tmp_path / "reviewed.json").write_text(json.dumps([digest_of(preflight), "ab" * 32]))
    report = preflight("days_desk.py:DAYS", "--calls", "0", "--json", "--reviewed", "reviewed.json").report
    assert next(each for each in report["checks"] if each["id"] == "reviewed")["verdict"] == "passed"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_words_of_a_contract_never_reach_the_terminal_raw(
    preflight: Preflight, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "n.json").write_text(json.dumps({"title": HOSTILE, "properties": {HOSTILE: {"type": "string"}}}))
    done = preflight("n.json", "--calls", "0", *words)
    for sign in "\x1b\u202e\u009b":
        assert sign not in done.out + done.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["nowhere.json"], 2, "cannot read the schema"),
        (["nowhere.py:X"], 2, "there is no file nowhere.py"),
        (["days_desk.py:NOTHING"], 2, "has no NOTHING"),
        (["days_desk.py:act"], 2, "schema must be"),
        (["days_desk.py:DAYS", "--handlers", "days_desk.py"], 2, "--handlers must be written as"),
        (["days_desk.py:DAYS", "--calls", "-1"], 2, "calls must be from 0 to 1,000"),
        (["days_desk.py:DAYS", "--concurrency", "65"], 2, "concurrency must be from 1 to 64"),
        (["days_desk.py:DAYS", "--code", "gone"], 2, "there is no code at gone"),
        (["days_desk.py:DAYS", "--reviewed", "days_desk.py"], 2, "reviewed[0]"),
        (["days_desk.py:DAYS", "--probe-age", "0"], 2, "probe_age_s"),
        (["days_desk.py:DAYS", "--ledger", "host=a dbname=b", "--calls", "0"], 33, ""),
    ],
)
def test_misuse_is_a_usage_error(preflight: Preflight, words: list[str], code: int, told: str) -> None:
    done = preflight(*words)
    assert (done.code, told in done.err) == (code, True), done


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--backend", "nobody"], "there is no backend"),
        (["--backend", "vllm/m"], "--model"),
        (["--backend", "local", "--base-url", "http://localhost:1"], "asks no server"),
        ([], "--backend"),
    ],
)
def test_backend_that_cannot_be_had_is_a_usage_error(quick: QuickShell, words: list[str], told: str) -> None:
    done = quick.commitgate("preflight", "schema.json", "--calls", "0", *words)
    assert (done.code, told in done.err) == (2, True), done


def test_server_that_nobody_runs_is_a_report(quick: QuickShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMITGATE_PROBES", str(quick.folder / "probes"))
    words = ("--backend", "vllm", "--model", "m", "--base-url", "http://127.0.0.1:9", "--json")
    done = quick.commitgate("preflight", "schema.json", *words)
    assert done.code == 33
    found = {each["id"]: each["verdict"] for each in done.report["checks"]}
    assert (found["proven"], found["answers"]) == ("failed", "not_applicable")


@pytest.mark.model
def test_bundled_model_is_looked_over(shell: Shell) -> None:
    if shell.commitgate("models", "list", "--json").report["models"][0]["state"] != "ready":
        pytest.skip("the bundled model is not ready; run: commitgate models pull")
    done = shell.commitgate(
        "preflight", "schema.json", "--backend", "local", "--prompt", "The pump leaks", "--calls", "1", "--json"
    )
    assert done.code == 0, done
    found = {each["id"]: each["verdict"] for each in done.report["checks"]}
    assert (found["proven"], found["answers"]) == ("passed", "passed")
    assert done.report["backend"]["model_revision"]
