"""The README's example runs as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest
from guide import blocks_of

ROOT = Path(__file__).parents[2]


def example() -> str:
    (block,) = blocks_of("../README.md")
    return block


def test_example_is_about_ten_lines() -> None:
    imports = ("import ", "from ")
    lines = [line for line in example().splitlines() if line.strip() and not line.startswith(imports)]
    assert len(lines) <= 10


@pytest.mark.model
def test_example_commits_a_ticket(tmp_path: Path) -> None:
    program = tmp_path / "example.py"
    program.write_text(example(), encoding="utf-8")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("committed priority=")
    assert done.stderr == ""
