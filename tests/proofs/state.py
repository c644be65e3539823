"""Keep the results of a part in a file, so that a run that was stopped goes on where it stood."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from proofs.part import ROOT, Part, Result, digest

FOLDER = ROOT / "build" / "prove"


class State:
    """Hold the results of one part; ``done`` leaves out those whose sources have changed.

    Args:
        part: the part.
        units: the units of this run.
        fresh: forget what is stored.
        folder: where the files lie.
    """

    def __init__(self, part: Part, units: Sequence[str], *, fresh: bool = False, folder: Path = FOLDER) -> None:
        self._path = folder / f"{part.name}.json"
        self._digests = {unit: digest(part.sources(unit)) for unit in units}
        self.done: dict[str, Result] = {} if fresh else self._read()

    def add(self, unit: str, result: Result) -> None:
        """Take a result and write all of them down."""
        self.done[unit] = result
        stored = {name: {"digest": self._digests[name], **asdict(found)} for name, found in self.done.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        scratch = self._path.with_suffix(".new")
        scratch.write_text(json.dumps(stored, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(scratch, self._path)

    def _read(self) -> dict[str, Result]:
        if not self._path.is_file():
            return {}
        stored = json.loads(self._path.read_text(encoding="utf-8"))
        return {
            unit: Result(counts=kept["counts"], faults=tuple(kept["faults"]), notes=kept["notes"])
            for unit, kept in stored.items()
            if self._digests.get(unit) == kept["digest"]
        }
