"""Count how many schemas of MaskBench an engine judges rightly, and how long it takes.

Run: ``python tests/benchmarks/maskbench.py [FOLDER or .tar.xz] [--peers] [--list wrong]``, or ``make maskbench``. The
data is the ``maskbench/data`` folder of JSONSchemaBench: files of one schema with valid and invalid instances. Where it
lies comes from the argument, else from ``COMMITGATE_MASKBENCH``, else from ``../shared/data/maskbench-dev.tar.xz``.

A schema is *right* when it compiles and every instance is judged rightly; the end state counts, a valid prefix is not a
whole instance. Each schema has a time limit in a process of its own, so none can hang the run.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import multiprocessing
import os
import platform
import random
import statistics
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from judging_engines import ENGINES, PEERS, Accepts, RefusedError

ROOT = Path(__file__).parents[2]
DEFAULT_DATA = ROOT.parent / "shared" / "data" / "maskbench-dev.tar.xz"
VARIABLE = "COMMITGATE_MASKBENCH"
OWN = ("commitgate automaton", "commitgate gate")
RIGHT, REFUSED, TIME_OUT, TAKES_INVALID, LOSES_VALID = (
    "right",
    "refused",
    "time limit",
    "accepts an invalid instance",
    "rejects a valid one",
)


@dataclass(frozen=True, slots=True)
class Result:
    """Hold how one engine did on one schema.

    Attributes:
        name: the file's name without its suffix.
        classes: what it did; two where it both accepts an invalid instance and rejects a valid one.
        note: why it was refused, or which instances it judged wrongly.
        compile_s: seconds from the schema to something that judges.
        accept_s: seconds for all instances.
        size_bytes: size of all instances.
    """

    name: str
    classes: tuple[str, ...]
    note: str = ""
    compile_s: float = 0.0
    accept_s: float = 0.0
    size_bytes: int = 0


def judge(engine: str, path: Path) -> Result:
    """Let an engine judge one file; a fault inside the engine counts as a refusal and is called one."""
    case = json.loads(path.read_text())
    start = time.perf_counter()
    try:
        accepts = ENGINES[engine](case["schema"])
        compile_s = time.perf_counter() - start
        return judge_instances(path.stem, accepts, case["tests"], compile_s)
    except RefusedError as error:
        note = str(error)
    except Exception as error:  # noqa: BLE001 - a fault in one engine on one schema must not end the whole run
        note = f"FAULT {type(error).__name__} {error}"
    return Result(path.stem, (REFUSED,), " ".join(note.split())[:300], time.perf_counter() - start)


def judge_instances(name: str, accepts: Accepts, tests: list[Any], compile_s: float) -> Result:
    """Compare the verdicts on a schema's instances with what they should be."""
    texts = [json.dumps(test["data"], ensure_ascii=False) for test in tests]
    start = time.perf_counter()
    verdicts = [accepts(text) for text in texts]
    accept_s = time.perf_counter() - start
    wrong = [index for index, test in enumerate(tests) if verdicts[index] != test["valid"]]
    classes = sorted({TAKES_INVALID if verdicts[index] else LOSES_VALID for index in wrong}) or [RIGHT]
    note = "instances " + ", ".join(map(str, wrong)) if wrong else ""
    return Result(name, tuple(classes), note, compile_s, accept_s, sum(len(text.encode()) for text in texts))


def serve(connection: Connection, engine: str) -> None:
    """Judge the files that come over the connection, in a process of its own."""
    if engine in PEERS:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # they warn once a schema
    ENGINES[engine](True)("0")  # what is imported on first use is no part of any schema's time
    while True:
        try:
            path = connection.recv()
        except EOFError:
            return
        connection.send(judge(engine, path))


class Worker:
    """Run one engine in a process, which is replaced when it passes its time or dies."""

    def __init__(self, engine: str, limit_s: float) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, self._engine), daemon=True)
        self._process.start()
        theirs.close()

    def judge(self, path: Path) -> Result:
        """Return the engine's result, or a time-out."""
        self._connection.send(path)
        try:
            if self._connection.poll(self._limit_s):
                return self._connection.recv()
            classes, note = (TIME_OUT,), f"more than {self._limit_s:g} s"
        except EOFError:
            classes, note = (TIME_OUT,), "its process died"
        self.close()
        self._start()
        return Result(path.stem, classes, note, self._limit_s)

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.kill()
        self._process.join()


def measure(
    engine: str, paths: list[Path], limit_s: float, processes: int, told: Callable[[Result], None]
) -> list[Result]:
    """Let an engine judge all files, a few processes at a time; ``told`` hears of each result when it is there."""
    waiting: SimpleQueue[Path] = SimpleQueue()
    for path in paths:
        waiting.put(path)

    def work() -> list[Result]:
        worker, found = Worker(engine, limit_s), list[Result]()
        try:
            while True:
                found.append(worker.judge(waiting.get_nowait()))
                told(found[-1])
        except Empty:
            return found
        finally:
            worker.close()

    with ThreadPoolExecutor(processes) as pool:
        parts = [pool.submit(work) for _ in range(processes)]
        return sorted((result for part in parts for result in part.result()), key=lambda result: result.name)


def folder_of(place: Path) -> Path:
    """Return the folder of the files; an archive is unpacked once, into the system's temporary folder."""
    if place.is_dir():
        return place
    stamp = hashlib.sha256(f"{place.resolve()} {place.stat().st_mtime_ns} {place.stat().st_size}".encode()).hexdigest()
    target = Path(tempfile.gettempdir()) / f"commitgate-maskbench-{stamp[:16]}"
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=tempfile.gettempdir()) as unpacked:
            with tarfile.open(place) as archive:
                archive.extractall(unpacked, filter="data")
            os.replace(unpacked, target)
            Path(unpacked).mkdir()  # what the context wants to remove
    return target


def files_in(folder: Path, sample: int | None, names: Iterable[str]) -> list[Path]:
    """Return the files to judge: all, named ones, or a sample that is the same in every run."""
    found = sorted(folder.rglob("*.json"))
    wanted = set(names)
    if wanted:
        found = [path for path in found if path.stem in wanted]
    if sample is not None and sample < len(found):
        found = sorted(random.Random(1).sample(found, sample))
    return found


def percentile(values: list[float], share: float) -> float:
    """Return the value below which ``share`` of them lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """Hold what the table says of one engine; times of the schemas that compiled."""

    engine: str
    counts: Counter[str]
    compile_ms: tuple[float, float]
    accept_us: tuple[float, float]


def row_of(engine: str, results: list[Result]) -> Row:
    """Summarise an engine's results."""
    counts = Counter(name for result in results for name in result.classes)
    compiled = [result for result in results if result.size_bytes]
    compile_ms = [result.compile_s * 1e3 for result in compiled]
    accept_us = [result.accept_s * 1e6 / result.size_bytes for result in compiled]
    return Row(
        engine,
        counts,
        (statistics.median(compile_ms or [0.0]), percentile(compile_ms, 0.99)),
        (statistics.median(accept_us or [0.0]), percentile(accept_us, 0.99)),
    )


def table(rows: list[Row], total: int) -> Iterator[str]:
    """Write the rows as Markdown; each engine's times are also given as a multiple of the first row's."""
    yield "| engine | right | refused | accepts invalid | rejects valid | compile ms p50 / p99 | µs a byte p50 / p99 |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    first = rows[0]
    for row in rows:
        counts = row.counts
        refused = counts[REFUSED] + counts[TIME_OUT]
        late = f" ({counts[TIME_OUT]} by time)" if counts[TIME_OUT] else ""
        yield (
            f"| {row.engine} | {counts[RIGHT]:,} ({counts[RIGHT] / total:.1%}) | {refused:,}{late} "
            f"| {counts[TAKES_INVALID]:,} | {counts[LOSES_VALID]:,} "
            f"| {timing(row.compile_ms, first.compile_ms)} | {timing(row.accept_us, first.accept_us)} |"
        )


def timing(times: tuple[float, float], first: tuple[float, float]) -> str:
    """Write two times, each with its ratio to the first row's."""
    shown = (
        f"{found:.3g}" + (f" (×{found / base:.2g})" if base and times is not first else "")
        for found, base in zip(times, first, strict=True)
    )
    return " / ".join(shown)


def tell(engine: str, result: Result, wanted: str | None) -> None:
    """Name the schema at once if it is of the class asked for: ``wrong`` is all but the right ones."""
    if wanted in result.classes or (wanted == "wrong" and RIGHT not in result.classes):
        print(engine, result.name, ", ".join(result.classes), result.note, sep="\t", flush=True)


def report(rows: list[Row], total: int, command: str) -> str:
    """Return the page of the results."""
    lines = [
        "# MaskBench",
        "",
        f"{total:,} schemas of MaskBench, {datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}. Command: `{command}`.",
        "",
        *table(rows, total),
        "",
        "A schema is right when it compiles and every instance is judged rightly; the end state counts, a valid "
        "prefix is not a whole instance. An instance's text is `json.dumps(data, ensure_ascii=False)`. One schema may "
        "both accept an invalid instance and reject a valid one. Times are of schemas that compiled; ratios are to "
        "the first row.",
        "",
    ]
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Count how many schemas of MaskBench are judged rightly.")
    parser.add_argument("data", nargs="?", type=Path, help="folder or .tar.xz")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="only this engine; may be repeated")
    parser.add_argument(
        "--peers", action="store_true", help="also run llguidance and xgrammar, which must be installed"
    )
    parser.add_argument("--sample", type=int, help="judge only so many schemas, the same in every run")
    parser.add_argument("--name", action="append", default=[], help="judge only the schema of this name")
    parser.add_argument("--list", dest="wanted", help="name the schemas of a class; 'wrong' is all but the right ones")
    parser.add_argument("--limit-s", type=float, default=20.0, help="most seconds for one schema")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--output", type=Path, help="write the results as a page of Markdown to this file")
    return parser.parse_args()


def _without_output(arguments: list[str]) -> list[str]:
    """Return the arguments without the place of the page, which is nobody else's."""
    if "--output" not in arguments:
        return arguments
    at = arguments.index("--output")
    return arguments[:at] + arguments[at + 2 :]


def main() -> None:
    """Judge, and print the table."""
    chosen = arguments()
    place = chosen.data or Path(os.environ.get(VARIABLE) or DEFAULT_DATA)
    if not place.exists():
        sys.exit(f"no MaskBench data at {place}: give its folder or archive, or set {VARIABLE}")
    paths = files_in(folder_of(place), chosen.sample, chosen.name)
    engines: list[str] = chosen.engine or [*OWN, *(PEERS if chosen.peers else ())]
    rows = list[Row]()
    for engine in engines:
        told = partial(tell, engine, wanted=chosen.wanted)
        rows.append(row_of(engine, measure(engine, paths, chosen.limit_s, chosen.processes, told)))
    print(*table(rows, len(paths)), sep="\n")
    if chosen.output is not None:
        shown: list[Any] = ["python", "tests/benchmarks/maskbench.py", *_without_output(sys.argv[1:])]
        chosen.output.write_text(report(rows, len(paths), " ".join(map(str, shown))))


if __name__ == "__main__":
    main()
