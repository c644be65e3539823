"""Measure previews: against themselves (is it linear, how much memory) and beside the engines that others use.

Run: ``python tests/benchmarks/preview.py``; ``--only linear``, ``times`` or ``wrong`` for one part. No part of the test
suite: times (of the processor) vary with the machine, ratios should not. The peers are optional; an environment that
has them all::

    python -m venv peers
    peers/bin/pip install -e . jiter partial-json-parser instructor pydantic-ai-slim
    peers/bin/python tests/benchmarks/preview.py
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pydantic
from preview_engines import ENGINES, NOTHING, Engine

from commitgate.preview import PreviewReader

CHUNK_BYTES = 4
KILOBYTE = 1_000
SIZES = [KILOBYTE, 10 * KILOBYTE, 100 * KILOBYTE, 1_000 * KILOBYTE]
ROUNDS = 5
SETTLED_S = 1.0
CASES = Path(__file__).parent.parent / "preview" / "cases.json"


def one_string(size_bytes: int) -> bytes:
    """Return an object that holds one long string."""
    return b'{"text":"' + b"some words " * (size_bytes // 11) + b'"}'


def rows(size_bytes: int) -> bytes:
    """Return an object that holds an array of records."""
    chance, made, size = random.Random(3), list[object](), 0
    while size < size_bytes:
        row = {"id": chance.randrange(10**6), "name": "some name", "ok": True, "price": 1.25, "tags": ["a", "bcd"]}
        made.append(row)
        size += len(json.dumps(row)) + 2
    return json.dumps({"rows": made}).encode()


def repeated(unit: bytes) -> Callable[[int], bytes]:
    """Return a maker of arrays of one item."""
    return lambda size_bytes: b"[" + unit * (size_bytes // len(unit)) + b"0]"


def numbers(size_bytes: int) -> bytes:
    """Return an array of different numbers."""
    return b"[" + b",".join(b"%d" % number for number in range(10**6, 10**6 + size_bytes // 8)) + b"]"


def members(size_bytes: int) -> bytes:
    """Return one wide object."""
    return b"{" + b",".join(b'"k%d":1' % number for number in range(size_bytes // 11)) + b"}"


SHAPES: dict[str, Callable[[int], bytes]] = {
    "one string": one_string,
    "array of numbers": numbers,
    "array of digits": repeated(b"1,"),
    "array of decimals": repeated(b"1.5,"),
    "array of literals": repeated(b"true,null,"),
    "array of empty arrays": repeated(b"[],"),
    "wide object": members,
    "array of records": rows,
}


def feed_all(text: bytes) -> PreviewReader:
    """Feed a whole text, in small chunks, keeping the newest preview alone."""
    reader, newest = PreviewReader(), None
    for start in range(0, len(text), CHUNK_BYTES):
        newest = reader.feed(text[start : start + CHUNK_BYTES])
    if newest is None or newest.state != "accept":
        raise SystemExit("the benchmark's own text was not accepted")
    return reader


def seconds(text: bytes) -> float:
    """Return the time that feeding a text takes."""
    start = time.process_time()
    feed_all(text)
    return time.process_time() - start


def resident_bytes() -> int:
    """Return the memory of this process that is in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096


def print_memory(shape: str) -> None:
    """Print how many times the text the reader holds: as Python counts it at its peak, and as the system does."""
    small, large = SHAPES[shape](200 * KILOBYTE), SHAPES[shape](2_000 * KILOBYTE)
    feed_all(b"[]")
    before = resident_bytes()
    reader = feed_all(large)
    resident = (resident_bytes() - before) / len(large)
    del reader
    tracemalloc.start()
    feed_all(small)
    print(f"{tracemalloc.get_traced_memory()[1] / len(small):.1f} | {max(resident, 0):.1f}")


def report_linear() -> None:
    """Print the reader's own growth: time and memory."""
    print(f"\n## Growth, in chunks of {CHUNK_BYTES} bytes\n")
    print(
        "| one document of | 1 MB | t(2 MB) / t(1 MB) | peak memory / text | resident / text |\n|---|---|---|---|---|"
    )
    for shape, make in SHAPES.items():
        # In turns, so that a busy moment of the machine falls on both.
        rounds = [(seconds(make(10**6)), seconds(make(2 * 10**6))) for _ in range(3)]
        one, two = (min(times) for times in zip(*rounds, strict=True))
        child = [sys.executable, __file__, "--memory", shape]
        memory = subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip()
        print(f"| {shape} | {one:.1f} s | {two / one:.2f} | {memory} |", flush=True)


def time_engine(engine: Engine, stream: str, text: bytes, cap_s: float) -> tuple[float, float]:
    """Return seconds a kilobyte, and the share of the text that was read before the time for all of it passed the cap.

    The time for all is at least that of the part, times the parts that are left: an engine that reads everything again
    with each chunk takes longer still. Of a short text the best of some rounds is taken.
    """
    times, share = list[float](), 1.0
    while not times or (sum(times) < SETTLED_S and len(times) < ROUNDS):
        step, start, began = engine.start(stream, {}), 0, time.process_time()
        while start < len(text):
            step(text[start : start + CHUNK_BYTES])
            start += CHUNK_BYTES
            if start % 1_024 == 0:
                spent = time.process_time() - began
                if spent > cap_s / 10 and spent * len(text) / start > cap_s:
                    break
        share = min(start / len(text), 1.0)
        times.append(time.process_time() - began)
    return min(times) / (share * len(text)) * KILOBYTE, share


def report_times(engines: list[Engine], cap_s: float) -> None:
    """Print the time a kilobyte of each engine, in multiples of what feeding the reader takes."""
    for stream, make in {"one string": one_string, "rows": rows}.items():
        print(f"\n## Time a kilobyte, {stream}, in chunks of {CHUNK_BYTES} bytes; 1 is feeding commitgate\n")
        print(
            "| engine | "
            + " | ".join(f"{size // KILOBYTE:,} KB" for size in SIZES)
            + " |\n"
            + "|---" * (len(SIZES) + 1)
            + "|"
        )
        base: list[float] = []
        for engine in engines:
            cells: list[str] = []
            for place, size in enumerate(SIZES):
                each_s, share = time_engine(engine, stream, make(size), cap_s)
                if engine is engines[0]:
                    base.append(each_s)
                ratio = each_s / base[place]
                # What was stopped had become slower with every chunk.
                cells.append(f"{ratio:,.1f}" if share == 1 else f"more than {ratio:,.0f}, stopped after {share:.1%}")
            print(f"| {engine.name} | " + " | ".join(cells) + " |", flush=True)
        print(f"\n1 = {', '.join(f'{each_s * 1e3:.2f} ms' for each_s in base)} a KB")


def plain(value: Any) -> str:
    """Return what is comparable of a value."""
    if isinstance(value, pydantic.BaseModel):
        value = value.model_dump()
    return json.dumps(value, default=lambda other: float(other) if isinstance(other, Decimal) else str(other))


def judge(engine: Engine, case: dict[str, Any]) -> tuple[int, int]:
    """Return how many of a case's previews are wrong, and how many faults are not told when they come."""
    step, is_refused, wrong, untold = engine.start(case["name"], case), False, 0, 0
    for expected in case["steps"]:
        chunk, shown = expected["chunk"], NOTHING
        if not is_refused:
            try:
                shown = step(chunk.encode() if isinstance(chunk, str) else bytes.fromhex(chunk["hex"]))
            except (ValueError, StopIteration, RuntimeError):
                # An empty text is refused by some, and is none yet.
                is_refused = expected["state"].startswith("invalid:") or bool(expected["shown"])
        if expected["state"].startswith("invalid:"):
            untold += not is_refused
        else:
            found = [] if shown is NOTHING else [plain(shown)]
            wrong += found != [plain(value) for value in expected["shown"]]
    return wrong, untold


def report_wrong(engines: list[Engine]) -> None:
    """Print how many previews of the cases break which rule."""
    cases: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))
    rules = sorted({rule for case in cases for rule in case["rules"]}, key=lambda rule: int(rule[1:]))
    print("\n## Wrong previews, and faults that are not told when they come\n")
    print("| engine | cases | previews | wrong | faults | not told | cases wrong, by rule |")
    print("|---|---|---|---|---|---|---|")
    for engine in engines:
        total, by_rule = Counter[str](), Counter[str]()
        for case in cases:
            first = case["steps"][0]["chunk"]
            head = first if isinstance(first, str) else bytes.fromhex(first["hex"]).decode(errors="ignore")
            if engine.takes_objects_alone and not head.startswith("{"):
                continue
            wrong, untold = judge(engine, case)
            invalid = sum(step["state"].startswith("invalid:") for step in case["steps"])
            total.update(cases=1, previews=len(case["steps"]) - invalid, wrong=wrong, faults=invalid, untold=untold)
            by_rule.update(case["rules"] if wrong or untold else [])
        names = ", ".join(f"{rule}: {by_rule[rule]}" for rule in rules if by_rule[rule]) or "none"
        cells = (total[word] for word in ("cases", "previews", "wrong", "faults", "untold"))
        print(f"| {engine.name} | " + " | ".join(map(str, cells)) + f" | {names} |")


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["linear", "times", "wrong"])
    parser.add_argument("--cap-s", type=float, default=15.0, help="longest time for one engine and one text")
    parser.add_argument("--memory", choices=SHAPES, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.memory:
        print_memory(chosen.memory)
        return
    engines = [engine for engine in ENGINES if engine.version]
    for engine in ENGINES:
        print(f"{engine.name}: {engine.version or f'left out, not installed (pip install {engine.package})'}")
    if chosen.only in (None, "linear"):
        report_linear()
    if chosen.only in (None, "times"):
        report_times(engines, chosen.cap_s)
    if chosen.only in (None, "wrong"):
        report_wrong([engine for engine in engines if engine.name != "commitgate, feed"])


if __name__ == "__main__":
    main()
