"""List every bomb; run as a program, write anew the table of docs/hostile.md that stands between two lines.

Run: ``PYTHONPATH=tests python -m hostile.bombs``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from hostile.bomb import Bomb, Report
from hostile.schema_bombs import SCHEMA_BOMBS
from hostile.text_bombs import TEXT_BOMBS

BOMBS: dict[str, Bomb] = {bomb.name: bomb for bomb in (*SCHEMA_BOMBS, *TEXT_BOMBS)}

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "hostile.md"
HEAD = "| bomb | ends | ready s | ready MB | byte ms | mask ms | MB at the end |"
FOOT = "## What bounds what"


class Range:
    """Set off bombs in processes of their own."""

    def __init__(self, asking: IO[str], answering: IO[str]) -> None:
        self._asking = asking
        self._answering = answering

    def set_off(self, name: str) -> Report:
        """Set off one bomb and say what it did."""
        print(name, file=self._asking, flush=True)
        return Report(**json.loads(self._answering.readline()))


@contextmanager
def firing_range() -> Iterator[Range]:
    """Start the process that sets off bombs, each in a child of its own."""
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "hostile.detonation"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Range(process.stdin, process.stdout)
        process.stdin.close()
        assert process.wait(60) == 0


def row(report: Report) -> str:
    """Return a bomb's row of the table."""
    figures = [f"{report.ready_s:.2f}", f"{report.ready_bytes >> 20}"]
    if report.ends == "compiles":
        steps = f"{report.walk_byte_s * 1000:.0f}", f"{report.mask_s * 1000:.0f}"
        figures += [*steps, f"{report.most_bytes >> 20}"]
    else:
        figures += ["", "", ""]
    name = report.name.replace("|", "\\|")
    return f"| `{name}` | {report.ends} | {' | '.join(figures)} |"


def main() -> None:
    """Measure every bomb and write the table."""
    rows: list[str] = []
    with firing_range() as range_:
        for name in BOMBS:
            rows.append(row(range_.set_off(name)))
            print(rows[-1], flush=True)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(HEAD)
    table = "\n".join([HEAD, "|---|---|---:|---:|---:|---:|---:|", *rows])
    PAGE.write_text(f"{before}{table}\n\n{FOOT}{rest.partition(FOOT)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()

__all__ = ["BOMBS", "HEAD", "PAGE", "Range", "firing_range", "row"]
