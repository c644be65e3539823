"""Define what a proof is made of: parts, each a list of units of work that stand alone.

A part is a module with an object that satisfies ``Part``; ``prove.PARTS`` lists them. Adding one takes four things:

- ``name``: a word, for the command line and the file of its state;
- ``units(short)``: names of the work, each worth seconds up to a minute. ``short`` asks for the few that ``make test``
  can afford. A name says all that the work depends on (a seed, a file), for it is what a resumed run looks up;
- ``run(unit)``: do it and return a ``Result``. It raises nothing for a broken promise: it counts, and says which one
  broke in ``faults``. Whatever it does raise is itself a fault. It runs in a worker process, two at a time;
- ``summarise(results)``: turn the results of all units into the lines of the table.

``sources(unit)`` names the files whose content decides whether an old result still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "sdk" / "commitgate"
PROOFS = ROOT / "tests" / "proofs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Hold what one unit found.

    Attributes:
        counts: how often each thing was seen; counts of the same name are added up over the units of a part.
        faults: one sentence for each broken promise, without end: keep to the first few.
        notes: facts for the table and the docs, by name.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    faults: Sequence[str] = ()
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold one line of the table.

    Attributes:
        promise: what must hold.
        measured: what was seen, with its size.
        held: whether it did.
        details: more about what broke, one line each, for the terminal alone.
    """

    promise: str
    measured: str
    held: bool
    details: Sequence[str] = ()


class Part(Protocol):
    """Stand for one part of the proof; the module's docstring says what each member owes."""

    @property
    def name(self) -> str:
        """Return its name."""
        ...

    def units(self, *, short: bool) -> Sequence[str]:
        """Return the names of its units of work."""
        ...

    def sources(self, unit: str) -> Iterable[Path]:
        """Return the files that a result of the unit depends on."""
        ...

    def run(self, unit: str) -> Result:
        """Do one unit of work."""
        ...

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        """Turn results into lines of the table."""
        ...


def total(results: Mapping[str, Result]) -> dict[str, int]:
    """Add up the counts of all units."""
    found: dict[str, int] = {}
    for result in results.values():
        for name, count in result.counts.items():
            found[name] = found.get(name, 0) + count
    return found


def modules_of(*packages: str) -> list[Path]:
    """Return the modules of packages of the SDK, by their path below it."""
    return [path for name in packages for path in sorted((SDK / name).rglob("*.py") if name else SDK.rglob("*.py"))]


def digest(paths: Iterable[Path]) -> str:
    """Return a digest of the files' content."""
    joined = sha256()
    for path in sorted(set(paths)):
        joined.update(_digest_of_file(path, path.stat().st_mtime_ns).encode())
    return joined.hexdigest()[:16]


@cache
def _digest_of_file(path: Path, changed_ns: int) -> str:
    return sha256(path.name.encode() + b"\0" + path.read_bytes()).hexdigest()
