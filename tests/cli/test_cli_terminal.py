"""What a person sees: a run on a pseudo terminal."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from io import StringIO

import pytest
from cli.command_shell import WHOLE, Shell
from rich.console import Console

from commitgate.cli.terminal import print_ending
from commitgate.outcome import Receipt, Unavailable

STOP = {"finish": "stop"}
HOSTILE = '{"priority": "low", "summary": "\\u001b[2J[bold]own[/bold]\u202e"}'


class Terminal:
    """Run ``generate`` with stdout on a pseudo terminal and read what appears there."""

    def __init__(self, shell: Shell, script: Sequence[Mapping[str, object]]) -> None:
        self._master, slave = os.openpty()
        environment = {name: value for name, value in shell.environment.items() if name not in ("NO_COLOR", "CI")}
        self.child = subprocess.Popen(
            [*shell.scripted_command(script), "--prompt", "go"],
            cwd=shell.folder,
            env={**environment, "TERM": "xterm-256color", "LINES": "30"},
            stdin=subprocess.DEVNULL,
            stdout=slave,
            stderr=subprocess.PIPE,
        )
        os.close(slave)
        self.seen = ""

    def read_until(self, words: str) -> None:
        """Read until the words have appeared; the test's time limit bounds the wait."""
        while words not in self.seen:
            self.seen += os.read(self._master, 65_536).decode(errors="replace")

    def finish(self) -> int:
        """Read to the end and return the exit code."""
        while True:
            try:
                data = os.read(self._master, 65_536)
            except OSError:  # Linux's way to say that the other side has closed
                break
            if not data:
                break
            self.seen += data.decode(errors="replace")
        code = self.child.wait(timeout=60)
        assert self.child.stderr is not None
        self.child.stderr.close()
        os.close(self._master)
        return code


@pytest.mark.timeout(120)
def test_preview_grows_on_a_terminal_and_interrupt_ends_it(shell: Shell) -> None:
    os.mkfifo(shell.folder / "pipe")
    text = {"text": '{"priority": "low", "summary": "Pump le', "legal_mass": 0.25}
    terminal = Terminal(shell, [text, {"wait": "pipe"}])
    (shell.folder / "pipe").read_text(encoding="utf-8")
    terminal.read_until("Pump le")
    terminal.read_until("0.25")
    terminal.child.send_signal(signal.SIGINT)
    assert terminal.finish() == 130
    assert "preview, not a value yet" in terminal.seen
    assert "cancelled" in terminal.seen


@pytest.mark.timeout(120)
def test_ending_shows_the_value_on_a_terminal(shell: Shell) -> None:
    terminal = Terminal(shell, [{"text": WHOLE}, STOP])
    assert terminal.finish() == 0
    assert '"Pump leaks"' in terminal.seen
    assert "committed" in terminal.seen
    assert "outcome" not in terminal.seen


@pytest.mark.timeout(120)
def test_model_text_steers_no_terminal(shell: Shell) -> None:
    terminal = Terminal(shell, [{"text": HOSTILE}, STOP])
    assert terminal.finish() == 0
    assert "\\u001b[2J[bold]own[/bold]\\u202e" in terminal.seen
    assert "\x1b[2J" not in terminal.seen
    assert "\u202e" not in terminal.seen


def test_words_of_a_server_that_failed_are_shown_and_steer_no_terminal() -> None:
    written = StringIO()
    detail = "no model of that name\x1b[2J"
    print_ending(
        Console(file=written, width=200),
        Unavailable(kind="bad_request", message="m", detail=detail, receipt=Receipt()),
        [],
    )
    assert "no model of that name\\u001b[2J" in written.getvalue()
