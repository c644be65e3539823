"""The command line in the process of the test: the same program without the second that a new process takes."""

import io
import os
import sys
from pathlib import Path

import pytest
from cli.command_shell import Done, Shell

from commitgate.cli.app import run


class QuickShell:
    """Run commands as ``Shell`` does, in the same folder and environment, without a terminal."""

    def __init__(self, shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(shell.folder)
        for name, value in shell.environment.items():
            monkeypatch.setenv(name, value)
        self.folder: Path = shell.folder
        self.ledger = Path(os.environ["COMMITGATE_LEDGER"])

    def commitgate(self, *arguments: str, stdin: str = "") -> Done:
        """Run one command."""
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        code = run(arguments)
        out, err = self._capsys.readouterr()
        return Done(code, out, err)
