"""Run the command line with a backend named ``scripted`` that plays a script: for child processes of tests.

Usage: python scripted_program.py SCRIPT_JSON ARGUMENT...

A step ``{"wait": PATH}`` writes a line to the named pipe at PATH, so that the test knows that the run has come so far,
and then waits for ever.
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
    """Tell a named pipe, then wait for ever."""

    pipe: Path

    async def wait(self) -> None:
        """Write a line to the pipe and never return."""
        self.pipe.write_text("here\n", encoding="utf-8")
        await anyio.sleep_forever()


if __name__ == "__main__":
    script = [
        {"wait": Standstill(Path(step["wait"]))} if step.get("wait") else step for step in json.loads(sys.argv[1])
    ]
    main(sys.argv[2:], backends={"scripted": ScriptedBackend(script)})
