"""Hold what a benchmark measured, as one file of JSON: what the report and its plots are made of.

A benchmark makes ``Row`` after ``Row``, puts them into ``Results`` and writes these into ``build/bench``;
``bench_report.py`` makes the page of all files that lie there. Nothing here knows what was measured.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "build" / "bench"
"""Where benchmarks write their results."""

BASE = "commitgate"
"""Whose values the ratios are to, unless a benchmark says otherwise."""

_GIBIBYTE = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Say where something was measured.

    Attributes:
        cpu: its name.
        cores: how many the system shows.
        memory: as read by people.
        python: version.
        platform: operating system and architecture.
        versions: version by package; None where it is not installed.
        load: processes that ran or waited to run when the measuring began, averaged over a minute; None if unknown.
    """

    cpu: str
    cores: int
    memory: str
    python: str
    platform: str
    versions: dict[str, str | None]
    load: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Hold one measured thing of one engine.

    Attributes:
        what: what was measured, as a reader is told: ``"GROUP: DETAIL"`` or ``"GROUP"``. A group becomes one table and
            one plot; rows of the same ``what`` stand side by side in it.
        who: the engine or the way.
        unit: of the values: ``"µs"``, ``"ms"``, ``"s"``, ``"tokens/s"``; ``""`` for a count.
        values: by name: ``p50``, ``p90``, ``p99``, ``mean``, or what else says more.
        ratio: by the same names, this row's value divided by the base's; see ``with_ratios``.
    """

    what: str
    who: str
    unit: str
    values: dict[str, float]
    ratio: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Hold what one benchmark found in one run.

    Attributes:
        kind: the benchmark's name; the report orders sections by it.
        date: when, ISO 8601.
        machine: where.
        settings: what was chosen for the run, in words and numbers; ``base`` names whom ratios are to.
        rows: what was measured.
        notes: sentences that a reader needs beside the numbers.
    """

    kind: str
    date: str
    machine: Machine
    settings: dict[str, str | int | float | bool | None]
    rows: list[Row]
    notes: list[str] = field(default_factory=list[str])

    def write(self, folder: Path = FOLDER) -> Path:
        """Write the results into a folder, as ``KIND.json``, and return where they lie."""
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{self.kind}.json"
        place.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        return place

    @staticmethod
    def read(place: Path) -> Results:
        """Read the results that a benchmark wrote.

        Raises:
            ValueError, KeyError, TypeError: the file is none of ours.
        """
        found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        rows = [Row(**row) for row in found.pop("rows")]
        return Results(machine=Machine(**found.pop("machine")), rows=rows, **found)


def now() -> str:
    """Return the time of day as it stands in results: ISO 8601 in UTC, whole seconds."""
    return datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")


def this_machine(*packages: str) -> Machine:
    """Describe this machine, with the versions of some packages."""
    try:
        load: float | None = round(os.getloadavg()[0], 1)
    except OSError:
        load = None
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        memory=_memory(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        versions={package: version_of(package) for package in packages},
        load=load,
    )


def version_of(package: str) -> str | None:
    """Return the version of a package that is installed, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def percentiles(values: Sequence[float], *, scale: float = 1.0) -> dict[str, float]:
    """Return p50, p90, p99 and mean of values, each multiplied by ``scale``; nothing where there are none."""
    if not values:
        return {}
    ordered = sorted(values)
    shown = {f"p{share}": _percentile(ordered, share / 100) * scale for share in (50, 90, 99)}
    return {**shown, "mean": statistics.fmean(ordered) * scale}


def with_ratios(rows: Iterable[Row], base: str = BASE) -> list[Row]:
    """Return the rows with the ratio of each value to that of the base's row of the same ``what`` and unit.

    Rows of a ``what`` that the base has no row of are left as they are.
    """
    kept = list(rows)
    bases = {(row.what, row.unit): row for row in kept if row.who == base}
    return [replace(row, ratio=_ratio(row.values, bases.get((row.what, row.unit)))) for row in kept]


def _ratio(values: Mapping[str, float], base: Row | None) -> dict[str, float]:
    if base is None:
        return {}
    return {name: value / base.values[name] for name, value in values.items() if base.values.get(name)}


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value at a share of ordered ones, between the two nearest in a straight line."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        size_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{size_bytes / _GIBIBYTE:.0f} GiB"


__all__ = [
    "BASE",
    "FOLDER",
    "Machine",
    "Results",
    "Row",
    "now",
    "percentiles",
    "this_machine",
    "version_of",
    "with_ratios",
]
