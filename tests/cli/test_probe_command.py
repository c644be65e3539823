"""``commitgate probe``: what it tells people and programs, what it keeps, and its exit codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.command_shell import Done
from cli.quick_shell import QuickShell
from probe.scripted_server import ScriptedServer, constrained, obeying, shown

from commitgate.backends.base import Backend, Fault, GenerationRequest
from commitgate.backends.dialect import ServerIdentity
from commitgate.cli.app import run
from commitgate.testing import ScriptedBackend

Probe = Callable[..., Done]
HOSTILE = "\x1b[31mred\x1b]0;owned\x07\u202e\u009b2J"


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Probe:
    """Return what probes a server that the test brings."""
    monkeypatch.setenv("COMMITGATE_PROBES", str(tmp_path / "probes"))
    monkeypatch.setenv("COLUMNS", "160")

    def probed(server: Any, *words: str) -> Done:
        capsys.readouterr()
        backends: dict[str, Backend] = {"scripted": server}
        code = run(["probe", "--backend", "scripted", "--model", "m", *words], backends=backends)
        return Done(code, *capsys.readouterr())

    return probed


def hint(request: GenerationRequest) -> str:
    return shown(request)


def lost(request: GenerationRequest) -> list[Any]:
    return [Fault("unreachable", "no connection could be made")]


@pytest.mark.parametrize(
    ("server", "code", "verdict"),
    [
        (ScriptedServer(), 0, "enforced"),
        (ScriptedServer(write=obeying), 28, "not_enforced"),
        (ScriptedServer(refuses=False), 28, "not_enforced"),
        (ScriptedServer(write=hint), 29, "partial"),
        (ScriptedServer(tells_cut=False), 29, "partial"),
        (ScriptedServer(answer=lost), 30, "unknown"),
    ],
)
def test_each_verdict_has_a_code_of_its_own(probe: Probe, server: ScriptedServer, code: int, verdict: str) -> None:
    done = probe(server, "--json")
    assert (done.code, done.err) == (code, "")
    assert (done.report["exit_code"], done.report["verdict"]) == (code, verdict)
    assert probe(server).code == code


def test_json_is_one_object_of_the_documented_shape(probe: Probe, tmp_path: Path) -> None:
    report = probe(ScriptedServer(), "--json").report
    assert list(report) == [
        "exit_code",
        "kept",
        "backend",
        "dialect",
        "base_url",
        "model",
        "server_version",
        "revision",
        "engine",
        "table",
        "made_at",
        "verdict",
        "reason",
        "results",
        "cost",
        "version",
    ]
    assert set(report["results"][0]) == {
        "name",
        "kind",
        "about",
        "form",
        "verdict",
        "reason",
        "requests",
        "answer",
    }
    kept = Path(report["kept"])
    assert kept.parent == tmp_path / "probes"
    assert json.loads(kept.read_text())["verdict"] == "enforced"


def test_table_says_what_holds_and_what_it_took(probe: Probe) -> None:
    out = probe(ScriptedServer(write=obeying)).out
    assert "scripted (vllm_chat) at http://server.test/v1, m" in out
    assert "version 0.33.0" in out
    lines = [line.split() for line in out.splitlines()]
    (enum,) = [line for line in lines if "value" in line]
    assert "dropped" in enum
    assert "constraints are not enforced: answers do not keep to the schema" in out
    assert "requests" in out
    assert "kept in " in out


def test_no_keep_keeps_nothing(probe: Probe, tmp_path: Path) -> None:
    assert probe(ScriptedServer(), "--json", "--no-keep").report["kept"] is None
    assert "not kept" in probe(ScriptedServer(), "--no-keep").out
    assert not (tmp_path / "probes").exists()


def test_result_that_tells_nothing_does_not_replace_one_that_does(probe: Probe) -> None:
    kept = Path(probe(ScriptedServer(), "--json").report["kept"])
    before = kept.read_bytes()
    done = probe(ScriptedServer(answer=lost))
    assert (done.code, kept.read_bytes()) == (30, before)
    assert "the one before is kept" in done.err
    assert probe(ScriptedServer(write=obeying)).code == 28
    assert kept.read_bytes() != before


def test_folder_that_cannot_be_written_to_is_told_and_changes_no_verdict(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COMMITGATE_PROBES", str(tmp_path / "file" / "probes"))
    done = probe(ScriptedServer(), "--json")
    assert (done.code, done.report["kept"]) == (0, None)
    assert "could not be kept" in done.err


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_words_of_a_model_or_server_never_reach_the_terminal_raw(probe: Probe, words: list[str]) -> None:
    identity = ServerIdentity(is_ready=True, version=HOSTILE, revision=HOSTILE, engine=HOSTILE)
    done = probe(ScriptedServer(write=lambda request: HOSTILE, identity=identity), *words)
    assert done.code == 28
    for sign in "\x1b\x07\u202e\u009b":
        assert sign not in done.out + done.err
    if words:
        assert done.report["server_version"] == HOSTILE
    else:
        assert r"\u001b[31mred" in done.out


def test_half_of_a_character_in_an_answer_breaks_nothing(probe: Probe) -> None:
    done = probe(ScriptedServer(write=lambda request: "\ud800"), "--json")
    assert (done.code, done.report["verdict"]) == (28, "not_enforced")


def test_keywords_of_a_schema_are_asked_for(probe: Probe, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 5}}}))

    def write(request: GenerationRequest) -> str:
        is_canary = "Answer with a JSON object." in request.messages[-1].content
        return '{"v": 1234}' if is_canary else constrained(request)

    report = probe(ScriptedServer(write=write), "--json", "--schema", str(schema)).report
    found = {each["name"]: each["verdict"] for each in report["results"] if each["kind"] == "keyword"}
    assert found == {"multiple_of": "dropped"}
    assert report["verdict"] == "enforced"
    everything = probe(ScriptedServer(write=write), "--json", "--keywords").report
    assert len([each for each in everything["results"] if each["kind"] == "keyword"]) > 5


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--backend", "local"], "needs no probe"),
        (["--backend", "nobody"], "there is no backend"),
        (["--backend", "vllm/m"], "--model"),
        (["--backend", "vllm"], "VLLM_BASE_URL"),
        (["--backend", "llama_cpp", "--api", "nonsense", "--base-url", "http://localhost:1"], "api"),
        (["--backend", "vllm", "--base-url", "http://user:secret@localhost:1"], "base_url"),
        (["--backend", "vllm", "--base-url", "http://localhost:1", "--timeout", "0"], "timeout_s"),
        (["--backend", "vllm", "--base-url", "http://localhost:1", "--api", "chat"], "api"),
    ],
)
def test_misuse_is_a_usage_error(
    quick: QuickShell, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    for name in ("VLLM_BASE_URL", "LLAMA_CPP_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    done = quick.commitgate("probe", *words)
    assert done.code == 2
    assert told in done.err
    assert "secret" not in done.err


def test_backend_that_asks_no_server_is_a_usage_error(probe: Probe) -> None:
    done = probe(ScriptedBackend([{"finish": "stop"}]))
    assert done.code == 2
    assert "asks no server" in done.err


def test_server_that_nobody_runs_is_told_in_words(quick: QuickShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMITGATE_PROBES", str(quick.folder / "probes"))
    done = quick.commitgate("probe", "--backend", "vllm", "--model", "m", "--base-url", "http://127.0.0.1:9", "--json")
    assert done.code == 30
    assert done.report["verdict"] == "unknown"
