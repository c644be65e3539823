"""``commitgate generate`` in a child process: JSON, exit codes, ledger and cancellation."""

import os
import signal
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from cli.command_shell import WHOLE, Shell

STOP = {"finish": "stop"}
Script = Sequence[Mapping[str, object]]

ENDINGS: list[tuple[str, int, Script]] = [
    ("committed", 0, [{"text": WHOLE}, STOP]),
    ("refused", 10, [{"refusal": "No."}, STOP]),
    ("filtered", 11, [{"text": '{"prio'}, {"finish": "content_filter"}]),
    ("truncated", 12, [{"text": WHOLE}, {"finish": "length"}]),
    ("disconnected", 14, [{"text": WHOLE}]),
    ("dead_end", 17, [{"text": "{"}, {"dead_end": "schema"}]),
    ("violated", 18, [{"text": "Sure! Here is it"}, STOP]),
    ("invalid", 19, [{"text": '{"priority": "urgent", "summary": "x"}'}, STOP]),
    ("unavailable", 22, [{"fault": "overload", "message": "too many requests", "status": 503}]),
]


@pytest.mark.parametrize(("ending", "code", "script"), ENDINGS, ids=[name for name, _, _ in ENDINGS])
def test_each_ending_has_its_code_and_one_json_object(shell: Shell, ending: str, code: int, script: Script) -> None:
    done = shell.scripted(script)
    assert (done.report["outcome"], done.code) == (ending, code)
    assert done.report["exit_code"] == code
    assert done.report["receipt"]["contract_name"] == "schema"
    assert (done.report["value"] is not None) == (ending == "committed")
    assert done.err == ""


def test_run_past_its_time_limit_ends_as_timed_out(shell: Shell) -> None:
    done = shell.scripted([{"text": WHOLE}, {"wait": None}, STOP], "--timeout", "0.2")
    assert (done.report["outcome"], done.code) == ("timed_out", 13)
    assert done.report["phase"] == "total"


def test_committed_value_and_text_are_reported(shell: Shell) -> None:
    report = shell.scripted([{"text": WHOLE}, STOP]).report
    assert report["value"] == {"priority": "low", "summary": "Pump leaks"}
    assert report["text"] == WHOLE
    assert report["is_replayed"] is False


def test_ending_says_what_it_carries(shell: Shell) -> None:
    report = shell.scripted([{"text": '{"priority": "urgent", "summary": "x"}'}, STOP]).report
    assert report["layer"] == "schema"
    assert report["failures"][0]["pointer"] == "/priority"
    assert report["message"]
    failed = shell.scripted([{"fault": "auth", "message": "status 401", "status": 401}]).report
    assert failed["message"].startswith("the backend failed (auth): status 401; check the key")
    cut = shell.scripted([{"text": '{"priority'}, {"finish": "length"}]).report
    assert cut["partial_text"] == '{"priority'
    assert cut["kind"] == "max_tokens"


@pytest.mark.parametrize(
    ("schema", "ending", "code", "pointer"),
    [
        ('{"properties": {"a": {"$ref": "https://example.com/b"}}}', "unsupported", 15, "/properties/a"),
        ('{"$schema": "https://example.com/new-draft"}', "unsupported", 15, ""),
        ('{"type": "strin"}', "compile_failed", 16, ""),
        ('{"$ref": "#/$defs/gone"}', "compile_failed", 16, ""),
        ("false", "compile_failed", 16, ""),
    ],
)
def test_contract_that_cannot_be_enforced_ends_before_a_request(
    shell: Shell, schema: str, ending: str, code: int, pointer: str
) -> None:
    shell.write("schema.json", schema)
    done = shell.scripted([{"raise": "never"}])
    assert (done.report["outcome"], done.code) == (ending, code)
    assert done.report["pointer"].startswith(pointer)
    assert done.report["receipt"]["attempts"] == 0


def test_reason_of_a_contract_that_cannot_be_enforced_says_what_to_do(shell: Shell) -> None:
    shell.write("schema.json", r'{"pattern": "(a)\\1"}')
    report = shell.scripted([{"raise": "never"}]).report
    assert report["outcome"] == "unsupported"
    assert report["reason"].endswith("write the alternatives out, or check it in a rule")
    assert report["message"].endswith(report["reason"])


def test_second_call_with_the_key_replays_the_first(shell: Shell) -> None:
    keyed = ("--operation-key", "case-1", "--ledger", "ledger.sqlite")
    first = shell.scripted([{"text": WHOLE}, STOP], *keyed)
    second = shell.scripted([{"fault": "server"}], *keyed)
    assert (first.code, second.code) == (0, 0)
    assert second.report["value"] == first.report["value"]
    assert second.report["is_replayed"] is True


def test_key_of_another_contract_is_a_conflict(shell: Shell) -> None:
    keyed = ("--operation-key", "case-1", "--ledger", "ledger.sqlite")
    shell.scripted([{"text": WHOLE}, STOP], *keyed)
    shell.write("schema.json", '{"type": "integer"}')
    done = shell.scripted([{"text": "1"}, STOP], *keyed)
    assert done.code == 6
    assert done.out == ""
    assert "case-1" not in done.err


@pytest.mark.parametrize("script", [script for name, _, script in ENDINGS if name not in ("committed",)])
def test_no_other_ending_leaves_a_committed_row(shell: Shell, script: Script) -> None:
    shell.scripted(script, "--operation-key", "k", "--ledger", "ledger.sqlite")
    assert "COMMITTED" not in states(shell.folder / "ledger.sqlite")


def states(ledger: Path) -> list[str]:
    with closing(sqlite3.connect(ledger)) as database:
        return [state.upper() for (state,) in database.execute("SELECT state FROM commitgate_operation")]


def test_committed_row_is_seen(shell: Shell) -> None:
    shell.scripted([{"text": WHOLE}, STOP], "--operation-key", "k", "--ledger", "ledger.sqlite")
    assert states(shell.folder / "ledger.sqlite") == ["COMMITTED"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_as_cancelled_with_nothing_committed(shell: Shell, sent: signal.Signals) -> None:
    pipe = shell.folder / "pipe"
    os.mkfifo(pipe)
    command = shell.scripted_command([{"text": WHOLE}, {"wait": "pipe"}, STOP])
    with subprocess.Popen(
        [*command, "--prompt", "go", "--operation-key", "k", "--ledger", "ledger.sqlite"],
        cwd=shell.folder,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as child:
        assert pipe.read_text(encoding="utf-8") == "here\n"
        child.send_signal(sent)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert '"outcome": "cancelled"' in out
    assert err == ""
    assert states(shell.folder / "ledger.sqlite") == ["RELEASED"]


def test_generate_takes_documents_and_the_meaning_of_formats(shell: Shell) -> None:
    shell.write("schema.json", '{"$ref": "https://example.com/b"}')
    shell.write("b.json", '{"type": "string", "format": "date"}')
    script = [{"text": '"soon"'}, {"finish": "stop"}]
    given = ("--document", "https://example.com/b=b.json", "--json")
    assert shell.scripted(script, *given).report["outcome"] in ("violated", "invalid")
    assert shell.scripted(script, *given, "--formats", "annotate").report["value"] == "soon"
    assert shell.scripted([{"raise": "never"}], "--formats", "annotate", "--json").code == 15
