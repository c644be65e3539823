"""The page on backends of one's own runs as it stands, and lists the laws of the code."""

import subprocess
import sys
from pathlib import Path

from guide import DOCS, blocks_of

from commitgate.testing import laws

PAGE = "backends.md"
WHO = {"each": "both"}


def test_blocks_are_tests_that_pass(tmp_path: Path) -> None:
    (tmp_path / "test_guide.py").write_text("\n".join(blocks_of(PAGE)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:randomly", "."]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout
    assert "5 passed" in run.stdout, "a dialect, and a backend and a function on both event loops"


def test_laws_are_listed() -> None:
    lines = (DOCS / PAGE).read_text(encoding="utf-8").splitlines()
    rows = [f"| `{law.value}` | {WHO.get(law.of, law.of)} | {law.says} |" for law in laws()]
    assert [line for line in lines if line in rows] == rows
