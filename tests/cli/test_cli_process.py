"""The process around a command: late signals, encodings without the characters needed, and broken streams."""

import json
import os
import signal
import subprocess
import sys

import pytest
from cli.command_shell import WHOLE, Done, Shell

STOP = {"finish": "stop"}
COMMITTING = [{"text": WHOLE}, STOP]


def through_sh(shell: Shell, script: str, *command: str, **environment: str) -> Done:
    """Run a line of sh in which ``"$@"`` is the command."""
    done = subprocess.run(
        ["bash", "-c", script, "bash", *command],
        cwd=shell.folder,
        env={**shell.environment, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def committing(shell: Shell) -> list[str]:
    return [*shell.scripted_command(COMMITTING), "--prompt", "go"]


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", "from commitgate.cli import main; main()", *words]


def check(*arguments: str) -> list[str]:
    return command("check", *arguments)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signal_while_the_result_is_written_changes_nothing(shell: Shell, sent: signal.Signals) -> None:
    shell.write("schema.json", '{"type": "string"}')
    longer_than_a_pipe_holds = "x" * 100_000
    command = shell.scripted_command([{"text": f'"{longer_than_a_pipe_holds}"'}, STOP])
    with subprocess.Popen(
        [*command, "--prompt", "go"],
        cwd=shell.folder,
        env=shell.environment,
        bufsize=0,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        first = child.stdout.read(1)
        child.send_signal(sent)
        rest, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert json.loads(first + rest)["value"] == longer_than_a_pipe_holds
    assert err == b""


def test_signal_after_the_result_is_written_does_not_change_the_exit_code(shell: Shell) -> None:
    shell.write(
        "sitecustomize.py", "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGTERM)\n"
    )
    done = through_sh(shell, '"$@"', *committing(shell), PYTHONPATH=str(shell.folder))
    assert (done.report["outcome"], done.code) == ("committed", 0)


@pytest.mark.parametrize("module", ["typer", "jiter"])
def test_interrupt_while_modules_are_read_ends_without_a_traceback(shell: Shell, module: str) -> None:
    shell.write(f"{module}.py", "raise KeyboardInterrupt\n")
    done = shell.commitgate("check", "--schema", "schema.json", "schema.json")
    assert (done.code, done.out, done.err) == (130, "", "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_without_the_characters_shows_escapes(shell: Shell, encoding: str) -> None:
    named = shell.write("\N{SNOWMAN}.json", WHOLE)
    done = through_sh(shell, '"$@"', *check("--schema", "schema.json", named), PYTHONIOENCODING=encoding)
    assert (done.code, done.err) == (0, "")
    assert "\\u2603.json: accepted" in done.out


def test_closed_standard_input_is_empty(shell: Shell) -> None:
    done = through_sh(shell, '"$@" <&-', *check("--schema", "-", "schema.json"))
    assert done.code == 2
    assert "not JSON" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("where", [">&-", ">/dev/full", "| head -c0; exit ${PIPESTATUS[0]}"])
def test_result_that_cannot_be_written_is_told_with_the_ending(shell: Shell, where: str) -> None:
    done = through_sh(shell, f'"$@" {where}', *committing(shell))
    assert done.code == 23
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("commitgate: the result could not be written")
    assert "committed" in line


def test_closed_error_stream_keeps_the_exit_code(shell: Shell) -> None:
    assert through_sh(shell, '"$@" >&- 2>&-', *committing(shell)).code == 23
    assert through_sh(shell, '"$@" 2>&-', *check("--schema", "gone.json", "-")).code == 2


@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_error_that_cannot_be_written_as_json_is_told_in_words(shell: Shell, where: str) -> None:
    os.remove(shell.folder / "schema.json")
    done = through_sh(shell, f'"$@" {where}', *committing(shell), "--json")
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert "schema.json" in line


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_verdict_that_cannot_be_written_is_told(shell: Shell, arguments: tuple[str, ...]) -> None:
    shell.write("text.json", WHOLE)
    done = through_sh(shell, '"$@" >/dev/full', *check("--schema", "schema.json", *arguments, "text.json"))
    assert done.code == 23
    (line,) = done.err.splitlines()
    assert "could not be written" in line


@pytest.mark.parametrize(
    ("words", "ended"),
    [
        ("lint schema.json", "; the command ended as: no findings that count"),
        ("lint schema.json --json", "; the command ended as: no findings that count"),
        ("check --schema schema.json text.json", "; the command ended as: accepted"),
        ("check --schema schema.json --support --json", "; the command ended as: accepted"),
        ("models list", "; the command ended as: "),
        ("models list --json", "; the command ended as: "),
        ("ledger verify --help", ""),
        ("lint --help", ""),
        ("--version", ""),
    ],
)
def test_output_that_nobody_reads_ends_with_its_own_code(shell: Shell, words: str, ended: str) -> None:
    shell.write("text.json", WHOLE)
    done = through_sh(shell, '"$@" | head -c0; exit ${PIPESTATUS[0]}', *command(*words.split()))
    assert done.code == 23
    (line,) = done.err.splitlines()
    assert line.startswith(f"commitgate: the result could not be written (Broken pipe){ended}")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | head -c0; exit ${PIPESTATUS[0]}"])
def test_wrong_words_that_cannot_be_told_keep_their_code(shell: Shell, where: str) -> None:
    assert through_sh(shell, f'"$@" {where}', *check("--nope")).code == 2
