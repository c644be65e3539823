"""The program itself: how it is started, and what it says of itself."""

import sys
from importlib.metadata import version

import pytest
from cli.command_shell import Shell


def test_package_runs_as_a_program(shell: Shell) -> None:
    done = shell.run([sys.executable, "-m", "commitgate", "check", "--schema", "schema.json", "--support"])
    assert done.code == 0
    assert "decoded" in done.out


def test_version_is_that_of_the_distribution(shell: Shell) -> None:
    done = shell.commitgate("--version")
    assert (done.code, done.out, done.err) == (0, f"commitgate {version('commitgate')}\n", "")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_the_commands(shell: Shell, arguments: list[str]) -> None:
    done = shell.commitgate(*arguments)
    assert all(name in done.out + done.err for name in ("generate", "check", "models", "--version"))
