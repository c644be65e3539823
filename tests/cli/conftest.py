"""Give each test a shell in a folder of its own."""

import json
import os
import shutil
from pathlib import Path

import pytest
from cli.command_shell import SCHEMA, Shell
from cli.quick_shell import QuickShell
from cli.stored_ledger import filled


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a shell in an empty folder that holds ``schema.json``."""
    made = Shell(
        tmp_path, {**os.environ, "COMMITGATE_LEDGER": str(tmp_path / "default-ledger.sqlite"), "COLUMNS": "100"}
    )
    made.write("schema.json", json.dumps(SCHEMA))
    return made


@pytest.fixture
def quick(shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> QuickShell:
    """Return the same shell without processes."""
    return QuickShell(shell, monkeypatch, capsys)


@pytest.fixture(scope="session")
def made_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger's file with one row of each state, not to be changed."""
    return filled(tmp_path_factory.mktemp("made") / "ledger.sqlite")


@pytest.fixture
def place(shell: Shell, made_ledger: Path) -> Path:
    """Return a copy of it, where the shell has its default ledger."""
    return Path(shutil.copy(made_ledger, shell.environment["COMMITGATE_LEDGER"]))
