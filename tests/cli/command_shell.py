"""Child processes that run the command line."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("scripted_program.py")
SCHEMA = {
    "type": "object",
    "properties": {"priority": {"enum": ["low", "high"]}, "summary": {"type": "string", "maxLength": 40}},
    "required": ["priority", "summary"],
    "additionalProperties": False,
}
WHOLE = '{"priority": "low", "summary": "Pump leaks"}'


@dataclass(frozen=True)
class Done:
    """Hold what a child process left."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """Return its one JSON object."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


@dataclass(frozen=True)
class Shell:
    """Run commands in a folder of their own."""

    folder: Path
    environment: Mapping[str, str]

    def commitgate(self, *arguments: str, stdin: str | None = None, timeout_s: float = 60.0) -> Done:
        """Run the installed command."""
        return self.run([sys.executable, "-c", "from commitgate.cli import main; main()", *arguments], stdin, timeout_s)

    def scripted(self, script: Sequence[Mapping[str, object]], *arguments: str, stdin: str | None = None) -> Done:
        """Run ``generate`` on the schema of this folder, with a scripted backend."""
        return self.run([*self.scripted_command(script), "--prompt", "go", *arguments], stdin, timeout_s=60.0)

    def scripted_command(self, script: Sequence[Mapping[str, object]]) -> list[str]:
        """Return the words of the command, to start it some other way."""
        program = [sys.executable, str(PROGRAM), json.dumps(list(script))]
        return [*program, "generate", "--model", "scripted", "--schema", "schema.json"]

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file into the folder and return its name."""
        (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    def run(self, command: list[str], stdin: str | None = None, timeout_s: float = 60.0) -> Done:
        """Run any command in the folder."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            input=stdin or "",
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_s,
        )
        return Done(done.returncode, done.stdout, done.stderr)
