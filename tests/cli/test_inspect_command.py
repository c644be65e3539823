"""``commitgate inspect``: what it writes, what it tells and its exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from commitgate.cli.app import run
from commitgate.testing import ScriptedBackend

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
ASK = ("--schema", "n.json", "--prompt", "PROMPTCANARY", "--model", "script/m")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def inspect(*words: str, script: Any = None) -> int:
    backend = ScriptedBackend(script or [{"text": '{"n": 12}'}, {"finish": "stop"}])
    return run(["inspect", *words], backends={"script": backend})


def test_page_and_trace_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect(*ASK, "--html", "page.html", "--trace", "kept.json") == 0
    told = capsys.readouterr().out
    assert "tells no steps" in told
    assert "PROMPTCANARY" not in told
    assert "PROMPTCANARY" in (folder / "page.html").read_text()
    kept = json.loads((folder / "kept.json").read_text())
    assert kept["outcome"] == "committed"


def test_kept_trace_makes_the_same_page(folder: Path) -> None:
    assert inspect(*ASK, "--html", "page.html", "--trace", "kept.json") == 0
    assert inspect("kept.json", "--html", "again.html") == 0
    assert (folder / "again.html").read_text() == (folder / "page.html").read_text()


def test_exit_code_is_that_of_the_ending() -> None:
    assert inspect(*ASK, "--html", "page.html", script=[{"text": '{"n": 1'}, {"finish": "length"}]) == 12


@pytest.mark.parametrize(
    "words",
    [
        ASK,
        ("--schema", "n.json", "--html", "p.html", "--model", "script/m"),
        ("none.json", "--html", "p.html"),
        ("n.json", "--html", "p.html"),
        (*ASK, "--html", "no/such/folder/p.html"),
        ("n.json", "--html", "p.html", "--trace", "t.json"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect(*words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
