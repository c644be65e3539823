"""Every block of the guide to testing runs as it stands, and its tables are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

from guide import DOCS, blocks_of

from commitgate.testing import STEPS, FaultPoint

GUIDE = (DOCS / "testing.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> list[str]:
    section = GUIDE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("| ").split(" | ")[0].strip("`") for line in lines[2:]]


def test_tests_of_the_guide_pass(tmp_path: Path) -> None:
    blocks = blocks_of("testing.md")
    (tmp_path / "test_guide.py").write_text("\n".join(blocks), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:randomly", "."]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) > 2 * len(re.findall(r"^async def test_", "\n".join(blocks), flags=re.MULTILINE))


def test_steps_are_documented() -> None:
    documented = [re.match(r'\{"(\w+)"', cell) for cell in first_cells("Steps")]
    assert sorted(found[1] for found in documented if found is not None) == sorted(STEPS)


def test_fault_points_are_documented_in_their_order() -> None:
    assert first_cells("Faults at a place") == [f"FaultPoint.{point.name}" for point in FaultPoint]
