"""``commitgate inspect``: what it writes, what it tells and its exit codes."""

import json
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from tracing.traces import long_trace

from commitgate.cli.app import run
from commitgate.testing import ScriptedBackend
from commitgate.trace import dump_trace, load_trace


class Interrupt:
    """Press Ctrl-C once the model waits."""

    async def wait(self) -> None:
        signal.raise_signal(signal.SIGINT)
        await anyio.sleep_forever()


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
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("this backend tells no steps")
    assert told[-1] == "page page.html and trace kept.json: they hold the prompt and the answer"
    assert "PROMPTCANARY" not in "".join(told)
    assert "PROMPTCANARY" in (folder / "page.html").read_text()
    kept = json.loads((folder / "kept.json").read_text())
    assert kept["outcome"] == "committed"


def test_kept_trace_makes_the_same_page_and_the_same_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert inspect(*ASK, "--html", "page.html", "--trace", "kept.json") == 0
    first = capsys.readouterr().out.splitlines()
    assert inspect("kept.json", "--html", "again.html", "--trace", "kept2.json") == 0
    second = capsys.readouterr().out.splitlines()
    assert (folder / "again.html").read_text() == (folder / "page.html").read_text()
    assert (folder / "kept2.json").read_bytes() == (folder / "kept.json").read_bytes()
    assert first[:-1] == second[:-1]


def test_kept_trace_alone_is_summed_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "kept.json").write_bytes(
        dump_trace(long_trace(200, wish_at=(1, 7, 30, 40, 50, 60, 70), wanted=b"no\x1b"))
    )
    assert inspect("kept.json") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "at 7 of 200 steps the model wanted something that the contract forbids"
    assert told[1] == '  step 2: wanted "no\\u001b" (80.0 %), wrote "1"'
    assert told[6] == "  and 2 more"
    assert told[7] == "lowest legal mass 10.0 % at step 2; mean 87.2 %"
    assert told[8] == "committed: the value is committed"


def test_exit_code_is_that_of_the_ending_and_what_came_is_kept(folder: Path) -> None:
    script = [{"text": '{"n": 1'}, {"finish": "length"}]
    assert inspect(*ASK, "--html", "page.html", "--trace", "kept.json", script=script) == 12
    assert load_trace((folder / "kept.json").read_bytes()).outcome == "truncated"


def test_backend_that_fails_leaves_a_page_too(folder: Path) -> None:
    script = [{"text": '{"n": 1'}, {"fault": "auth"}]
    assert inspect(*ASK, "--html", "page.html", script=script) == 22
    assert "unavailable" in (folder / "page.html").read_text()


def test_interrupt_ends_the_call_and_keeps_what_had_come(folder: Path) -> None:
    script = [{"text": '{"n": 1'}, {"wait": Interrupt()}]
    assert inspect(*ASK, "--trace", "kept.json", script=script) == 130
    trace = load_trace((folder / "kept.json").read_bytes())
    assert trace.outcome == "cancelled"
    assert trace.requests[0].pieces[0].data == b'{"n": 1'


def test_ledger_state_stands_in_the_trace(folder: Path) -> None:
    assert inspect(*ASK, "--trace", "kept.json", "--operation-key", "KEYCANARY", "--ledger", "l.db") == 0
    assert load_trace((folder / "kept.json").read_bytes()).ledger_state == "committed"
    assert b"KEYCANARY" not in (folder / "kept.json").read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ASK,
        ("--schema", "n.json", "--html", "p.html", "--model", "script/m"),
        ("none.json", "--html", "p.html"),
        ("n.json", "--html", "p.html"),
        (*ASK, "--html", "no/such/folder/p.html"),
        (*ASK, "kept.json", "--html", "p.html"),
        (*ASK, "--prompt-file", "n.json", "--html", "p.html"),
        ("--schema", "-", "--prompt-file", "-", "--html", "p.html"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert inspect(*words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_place_that_cannot_be_written_is_told_before_a_model_is_asked(folder: Path) -> None:
    backend = ScriptedBackend([{"text": '{"n": 12}'}, {"finish": "stop"}])
    assert run(["inspect", *ASK, "--html", "no/such/p.html"], backends={"script": backend}) == 2
    assert backend.requests == []
