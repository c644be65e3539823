"""Let many callers in several processes race for the same keys on one store."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.commit_scene import KINDS, Traces, store_of, stores
from proofs.part import PROOFS, Result, Row, modules_of, total

PROCESSES = 4
CALLERS = 64
"""Callers in each process."""

SHARE = 4
"""A caller calls every fourth key, but in the first unit of a store, where everyone calls each."""

KEYS = 1_000
KEYS_A_UNIT = 100
PROGRAM = PROOFS / "racing_calls.py"
MOST_FAULTS = 20


class Races:
    """Race on each store; the kinds of effect take turns."""

    name = "races"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            sizes = {"sqlite": f"once {PROCESSES}x8/1 0-5", "postgres": "transactional 2x8/1 0-3"}
            return [f"{store} {sizes[store]}" for store in stores()]
        return [
            f"{store} {KINDS[at // KEYS_A_UNIT % 3]} {PROCESSES}x{CALLERS}/{SHARE if at else 1} {at}-{at + KEYS_A_UNIT}"
            for at in range(0, KEYS, KEYS_A_UNIT)
            for store in stores()
        ]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in ("races.py", "racing_calls.py", "commit_scene.py"))]

    def run(self, unit: str) -> Result:
        store_kind, kind, size, span = unit.split()
        processes, callers, share = map(int, size.replace("/", "x").split("x"))
        keys = [f"key-{number}" for number in range(*map(int, span.split("-")))]
        with TemporaryDirectory(prefix="commitgate-races-") as folder, store_of(store_kind, Path(folder)) as store:
            started = time.monotonic()
            asked_for: dict[str, object] = {"place": store.place, "folder": folder, "kind": kind}
            asked_for |= {"callers": callers, "share": share, "keys": keys}
            reports = _race(asked_for, processes)
            took_s = time.monotonic() - started
            happened = store.shop() or Traces(Path(folder)).read("effects")
        endings = Counter[str]()
        for report in reports:
            endings.update(report["endings"])
        faults = [f"{count} times {ending}" for ending, count in endings.items() if not ending.startswith("committed")]
        wrong = [key for key in keys if len(_handed(reports, key)) != 1]
        faults += [f"{key}: {len(_handed(reports, key))} values" for key in wrong]
        not_one = [key for key in keys if len(happened.get(key, ())) != 1]
        faults += [f"{key}: {len(happened.get(key, ()))} effects" for key in not_one]
        counts = {
            f"{store_kind} calls": processes * callers * len(keys) // share,
            f"{store_kind} keys": len(keys),
            "committed": endings["committed"] + endings["committed again"],
            "fresh": endings["committed"],
            "errors": sum(count for ending, count in endings.items() if ":" in ending),
            "keys with another number of effects than one": len(not_one),
            "keys with two values": len(wrong),
            "ms": round(1_000 * took_s),
        }
        return Result(counts=counts, faults=[f"{unit}: {fault}" for fault in faults[:MOST_FAULTS]])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        calls = sum(counts.get(f"{store} calls", 0) for store in ("sqlite", "postgres"))
        size = ", ".join(
            f"{counts[f'{store} keys']:,} keys on {name} ({counts[f'{store} calls']:,} calls)"
            for store, name in (("sqlite", "one SQLite file"), ("postgres", "Postgres"))
            if f"{store} keys" in counts
        )
        broken = counts.get("keys with another number of effects than one", 0)
        return [
            Row(
                promise=f"callers that race for a key in {PROCESSES} processes have one effect",
                measured=f"{broken} keys with another number of effects, {counts.get('keys with two values', 0)} with "
                f"two values; {size}",
                held=not broken and not counts.get("keys with two values"),
            ),
            Row(
                promise="every caller gets the value; no lock error comes out",
                measured=f"{counts.get('committed', 0):,} of {calls:,} calls committed, fresh or replayed; "
                f"{counts.get('errors', 0)} errors",
                held=counts.get("committed", 0) == calls,
            ),
        ]


def _handed(reports: Sequence[Mapping[str, Mapping[str, list[list[object]]]]], key: str) -> set[tuple[object, ...]]:
    return {tuple(each) for report in reports for each in report["handed"].get(key, ())}


def _race(asked_for: Mapping[str, object], processes: int) -> list[dict[str, dict[str, list[list[object]]]]]:
    command = [sys.executable, str(PROGRAM), json.dumps(asked_for)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0] for process in running]
    return [json.loads(each) for each in said]


RACES = Races()
