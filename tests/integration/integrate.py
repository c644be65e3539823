"""Run against real servers: ``python tests/integration/integrate.py [--server NAME] [--part NAME] [--fresh]``.

llama.cpp's server and vLLM are installed or built where they are not there; one that cannot be had is skipped, and it
says so. What was done for the same sources is not done again. Progress goes to stderr, a table to stdout; ``--write``
puts it into docs/real-servers.md. The exit code is 0 where every promise held, 1 where one broke, 3 where the time was
up or a server was skipped.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

import anyio

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from integration.adversarial import ADVERSARIAL
from integration.answers import ANSWERS
from integration.disconnects import DISCONNECTS
from integration.installing import INSTALLERS, UnavailableError
from integration.keywords import KEYWORDS, differences
from integration.kills import KILLS
from integration.parts import FOLDER, Kept, Part
from integration.probes import PROBES, matrix
from integration.servers import NAMES, Server, ServerName, running
from integration.tool_runs import TOOL_RUNS
from proofs.part import ROOT, Result, Row

PARTS: tuple[Part, ...] = (ANSWERS, TOOL_RUNS, KEYWORDS, PROBES, ADVERSARIAL, DISCONNECTS, KILLS)
HELD, BROKEN, UNFINISHED = 0, 1, 3
DOCUMENT = ROOT / "docs" / "real-servers.md"
SHOWN_FAULTS = 20


def integrate(name: ServerName, parts: Sequence[Part], *, ends_at: float, fresh: bool) -> tuple[list[Row], int]:
    """Do what is not done yet on one server; return the lines of its table and the exit code."""
    kept = {part.name: Kept(part.name, name, fresh=fresh) for part in parts}
    if any(set(part.units(name)) - set(kept[part.name].done) for part in parts):
        try:
            INSTALLERS[name]()
            with running(name, FOLDER) as server:
                for part in parts:
                    anyio.run(_work, server, part, kept[part.name], ends_at)
        except UnavailableError as reason:
            _say(f"{name}: skipped: {reason}")
            return [
                Row(promise=f"{name} runs", measured=f"skipped: {str(reason).splitlines()[0]}", held=False)
            ], UNFINISHED
    return _judge(name, parts, kept)


async def _work(server: Server, part: Part, kept: Kept, ends_at: float) -> None:
    """Do the units of a part that are not done, as many at once as it allows."""
    todo = [unit for unit in part.units(server.name) if unit not in kept.done]
    started = time.monotonic()
    size = len(todo)

    async def take() -> None:
        while todo and time.monotonic() < ends_at:
            unit = todo.pop(0)
            kept.add(unit, await _result(server, part, unit))
            elapsed = time.monotonic() - started
            _say(f"{server.name} {part.name}: {size - len(todo):,}/{size:,} after {elapsed:,.0f} s: {unit}")

    async with anyio.create_task_group() as tasks:
        for _ in range(part.at_once.get(server.name, 1)):
            tasks.start_soon(take)


async def _result(server: Server, part: Part, unit: str) -> Result:
    try:
        return await part.run(server, unit)
    except Exception:  # noqa: BLE001 - a run that breaks must not look like one that held
        return Result(faults=(f"{unit} broke: {traceback.format_exc(limit=-3)}",))


def _judge(name: ServerName, parts: Sequence[Part], kept: Mapping[str, Kept]) -> tuple[list[Row], int]:
    rows: list[Row] = []
    code = HELD
    for part in parts:
        done = kept[part.name].done
        found = part.summarise(name, done)
        faults = [fault for result in done.values() for fault in result.faults]
        for fault in faults[:SHOWN_FAULTS]:
            _say(f"{name} {part.name}: {fault}")
        missing = len(set(part.units(name)) - set(done))
        if missing:
            found = [*found, Row(promise=f"{part.name}: all done", measured=f"{missing} to do", held=False)]
        code = max(code, UNFINISHED if missing else HELD)
        if faults or (not missing and not all(row.held for row in found)):
            code = BROKEN
        rows += found
    return rows, code


def table(rows: Mapping[ServerName, Sequence[Row]]) -> str:
    """Return the rows of all servers as a table of Markdown."""
    lines = ["| server | promise | measured | held |", "|---|---|---|---|"]
    for name, found in rows.items():
        lines += [f"| {name} | {row.promise} | {row.measured} | {'yes' if row.held else 'NO'} |" for row in found]
    return "\n".join(lines)


def write(text: str, name: str, document: Path = DOCUMENT) -> None:
    """Put a text between the marks of that name in the page."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = document.read_text(encoding="utf-8").split(begin)
    document.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def write_all(rows: Mapping[ServerName, Sequence[Row]]) -> None:
    """Put the table, the probes and the keywords that fare otherwise into the page."""
    write(table(rows), "table")
    lines = ["| server | probe | verdict |", "|---|---|---|"]
    for name in rows:
        found = matrix(Kept(PROBES.name, name).done)
        lines += [f"| {name} | {about} | {verdict} |" for _, about, verdict in found]
    write("\n".join(lines), "probes")
    lines = ["| server | case | the table | found | why |", "|---|---|---|---|---|"]
    for name in rows:
        found = differences(name, Kept(KEYWORDS.name, name).done)
        lines += [f"| {name} | `{case}` | {said} | {seen} | {why} |" for case, said, seen, why in found]
    write("\n".join(lines), "keywords")


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _end(number: int, frame: FrameType | None) -> None:
    """Leave by an exception, so that the servers are ended too."""
    del frame
    raise SystemExit(128 + number)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for, on the servers that are asked for."""
    parser = argparse.ArgumentParser(prog="integrate", description="Run against real servers.")
    parser.add_argument("--server", action="append", choices=NAMES, help="only this server")
    parser.add_argument("--part", action="append", choices=[part.name for part in PARTS], help="only this part")
    parser.add_argument("--fresh", action="store_true", help="do all of it anew")
    parser.add_argument("--write", action="store_true", help="write the table into docs/real-servers.md")
    parser.add_argument("--minutes", type=float, default=50.0, help="begin nothing after this many minutes")
    options = parser.parse_args(arguments)
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin would take the cores from each other
    signal.signal(signal.SIGTERM, _end)
    parts = [part for part in PARTS if not options.part or part.name in options.part]
    ends_at = time.monotonic() + 60 * options.minutes
    rows: dict[ServerName, list[Row]] = {}
    codes: list[int] = []
    for name in NAMES:
        if not options.server or name in options.server:
            rows[name], code = integrate(name, parts, ends_at=ends_at, fresh=options.fresh)
            codes.append(code)
    print(table(rows))
    if options.write:
        write_all(rows)
    return BROKEN if BROKEN in codes else max(codes, default=HELD)


if __name__ == "__main__":
    sys.exit(main())
