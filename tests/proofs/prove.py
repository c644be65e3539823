"""Run the long measurements: ``python tests/proofs/prove.py [--part NAME] [--fresh] [--write] [--minutes 60]``.

What was done for the same sources is not done again; ``--fresh`` does it all anew. Progress goes to stderr, a table to
stdout. The exit code is 0 where every promise held, 1 where one broke, 3 where the time was up before all was done.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proofs.cancellations import CANCELLATIONS
from proofs.client_cuts import CLIENT_CUTS
from proofs.clock_jumps import CLOCK_JUMPS
from proofs.concurrency import CONCURRENCY
from proofs.cuts import CUTS
from proofs.inner_cuts import INNER_CUTS
from proofs.kills import KILLS
from proofs.lost_answers import LOST_ANSWERS
from proofs.mutants import MUTANTS
from proofs.overtaken import OVERTAKEN
from proofs.part import ROOT, Part, Result, Row
from proofs.races import RACES
from proofs.shutdowns import SHUTDOWNS
from proofs.state import FOLDER, State
from proofs.storms import STORMS

STREAM_PARTS: tuple[Part, ...] = (CUTS, CLIENT_CUTS, INNER_CUTS, CONCURRENCY)
COMMIT_PARTS: tuple[Part, ...] = (
    KILLS,
    RACES,
    LOST_ANSWERS,
    STORMS,
    OVERTAKEN,
    CLOCK_JUMPS,
    CANCELLATIONS,
    SHUTDOWNS,
)
PARTS: tuple[Part, ...] = (*STREAM_PARTS, *COMMIT_PARTS, MUTANTS)

HELD, BROKEN, UNFINISHED = 0, 1, 3
WORKERS = 2
DOCUMENT = ROOT / "docs" / "proofs.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def run_unit(part_name: str, unit: str) -> Result:
    """Do one unit of a part; whatever it raises is a fault."""
    part = next(part for part in PARTS if part.name == part_name)
    try:
        return part.run(unit)
    except Exception:  # noqa: BLE001 - a proof that breaks must not look like one that held
        return Result(faults=(f"{unit} broke: {traceback.format_exc(limit=-3)}",))


def prove(
    parts: Sequence[Part], *, ends_at: float, fresh: bool = False, short: bool = False, folder: Path = FOLDER
) -> tuple[list[Row], int]:
    """Do what is not done yet; return the table and the exit code."""
    rows: list[Row] = []
    code = HELD
    with ProcessPoolExecutor(WORKERS) as pool:
        for part in parts:
            units = part.units(short=short)
            state = State(part, units, fresh=fresh, folder=folder)
            _work(pool, part, [unit for unit in units if unit not in state.done], state, ends_at)
            rows += part.summarise(state.done)
            faults = [fault for result in state.done.values() for fault in result.faults]
            for fault in faults[:20]:
                _say(f"{part.name}: {fault}")
            if len(state.done) < len(units):
                rows.append(Row(promise=f"{part.name}: all work done", measured=_missing(state, units), held=False))
                code = code or UNFINISHED
            if faults:
                code = BROKEN
    for row in rows:
        for detail in row.details:
            _say(f"{row.promise}: {detail}")
        if not row.held and code == HELD:
            code = BROKEN
    return rows, code


def _missing(state: State, units: Sequence[str]) -> str:
    return f"{len(state.done):,} of {len(units):,} units; run it again to go on"


def _work(pool: ProcessPoolExecutor, part: Part, todo: list[str], state: State, ends_at: float) -> None:
    """Keep as many units under way as there are workers, so that little is lost when the time is up."""
    started = time.monotonic()
    size, running = len(todo), dict[Future[Result], str]()
    while (todo or running) and (time.monotonic() < ends_at or running):
        while todo and len(running) < WORKERS and time.monotonic() < ends_at:
            unit = todo.pop(0)
            running[pool.submit(run_unit, part.name, unit)] = unit
        if not running:
            break
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            unit = running.pop(future)
            state.add(unit, future.result())
            elapsed = time.monotonic() - started
            _say(f"{part.name}: {size - len(todo) - len(running):,}/{size:,} after {elapsed:,.0f} s: {unit}")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table of Markdown."""
    lines = ["| promise | measured | held |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {row.promise} | {row.measured} | {'yes' if row.held else 'NO'} |" for row in rows)])


def write(text: str, document: Path = DOCUMENT) -> None:
    """Put the table between the marks of the page."""
    before, rest = document.read_text(encoding="utf-8").split(BEGIN)
    document.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(prog="prove", description="Run the long measurements.")
    parser.add_argument("--part", action="append", choices=[part.name for part in PARTS], help="only this part")
    parser.add_argument("--fresh", action="store_true", help="do all of it anew")
    parser.add_argument("--short", action="store_true", help="do the few units that the tests do")
    parser.add_argument("--write", action="store_true", help="write the table into docs/proofs.md")
    parser.add_argument("--minutes", type=float, default=58.0, help="begin nothing after this many minutes")
    options = parser.parse_args(arguments)
    parts = [part for part in PARTS if not options.part or part.name in options.part]
    ends_at = time.monotonic() + 60 * options.minutes
    rows, code = prove(parts, ends_at=ends_at, fresh=options.fresh, short=options.short)
    print(table(rows))
    if options.write:
        write(table(rows))
    return code


if __name__ == "__main__":
    sys.exit(main())
