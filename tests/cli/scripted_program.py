"""Run the command line with a backend named ``scripted`` that plays a script: for child processes of tests.

Usage: python scripted_program.py SCRIPT_JSON ARGUMENT...

A step ``{"wait": PATH}`` writes a line to the named pipe at PATH, so that the test knows that the run has come so far,
and then waits for ever; ``{"wait": PATH, "until": PATH}`` waits until something is written to the second named pipe.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import anyio

from commitgate.cli import main
from commitgate.testing import ScriptedBackend


@dataclass(frozen=True)
class Standstill:
    """Tell a named pipe, then wait for another one, or for ever."""

    pipe: Path
    until: Path | None = None

    async def wait(self) -> None:
        """Write a line to the pipe; return when the other one was written to."""
        self.pipe.write_text("here\n", encoding="utf-8")
        if self.until is None:
            await anyio.sleep_forever()
        else:
            await anyio.to_thread.run_sync(self.until.read_bytes)


def step_of(given: dict[str, str]) -> dict[str, object]:
    if not given.get("wait"):
        return dict(given)
    return {"wait": Standstill(Path(given["wait"]), Path(given["until"]) if "until" in given else None)}


if __name__ == "__main__":
    script = [step_of(step) for step in json.loads(sys.argv[1])]
    main(sys.argv[2:], backends={"scripted": ScriptedBackend(script)})
