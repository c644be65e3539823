"""The words that the example programs take: help, and one line where they are wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(
    str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/*.py") if "__main__" in path.read_text("utf-8")
)


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / program), *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60, check=False
    )


def test_every_example_has_a_program() -> None:
    assert {Path(program).parent.name for program in PROGRAMS} == {path.parent.name for path in EXAMPLES.glob("*/*.py")}


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_says_how_it_is_used(program: str) -> None:
    done = run(program, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Usage: python examples/{program}" in done.stdout


@pytest.mark.parametrize(
    ("program", "words"),
    [
        *((program, ["--nope"]) for program in PROGRAMS),
        ("form_terminal/fill.py", ["gone.txt"]),
        ("form_web/web.py", ["eighty"]),
        ("form_web/web.py", ["70000"]),
        ("inspect_refund/inspect_refund.py", [str(EXAMPLES / "ticket" / "run.py")]),
        ("refund/agent.py", [str(EXAMPLES)]),
        ("refund/agent.py", [str(EXAMPLES), "no-such-mail"]),
        ("refund/refunds.py", ["no-such-folder"]),
        ("ticket/run.py", ["no-such-folder"]),
        ("ticket_evaluation/some_tickets.py", ["0"]),
    ],
)
def test_wrong_words_end_with_one_line(program: str, words: list[str]) -> None:
    done = run(program, *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{Path(program).name}: error: ")
