"""A process that is killed in a run of tools loses nothing and doubles nothing."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("place", "paid_before", "paid_after", "ending"),
    [
        ("call:2", [1], [1, 2, 3], "committed"),
        ("after:2", [1, 2], [1, 2], "in_doubt"),
        ("turn:2", [1, 2, 3], [1, 2, 3], "committed"),
    ],
)
def test_killed_process_loses_and_doubles_nothing(
    place: str, paid_before: list[int], paid_after: list[int], ending: str, tmp_path: Path
) -> None:
    paid = tmp_path / "paid"

    def start(where: str, ahead_s: float) -> subprocess.CompletedProcess[str]:
        program = Path(__file__).with_name("killed_run.py")
        command = [sys.executable, str(program), str(tmp_path / "ledger.db"), str(paid), where, str(ahead_s)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def amounts() -> list[int]:
        return [int(line) for line in paid.read_text(encoding="ascii").split()]

    assert start(place, 0).returncode == -9
    assert amounts() == paid_before
    again = start("never", 120)  # past the killed one's lease
    assert again.returncode == 0, again.stderr
    assert again.stdout.split() == [ending, "0" if ending == "in_doubt" else "1"]
    assert amounts() == paid_after
