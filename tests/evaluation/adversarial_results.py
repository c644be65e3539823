"""Run the adversarial set on real backends: ``python tests/evaluation/adversarial_results.py [--backend NAME]``.

``local`` is the bundled model in this process, ``serve`` is ``commitgate serve`` on loopback with it, ``llama`` and
``vllm`` are the servers of ``make integration``, where they are installed. Reports lie in ``build/adversarial``;
``--write`` puts the tables of all of them into docs/adversarial.md, ``--update`` takes over what passed into the
ratchet that is shipped. The exit code is 1 where a check of the ratchet was lost.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from integration.parts import backend_of
from integration.servers import MODEL, ServerName, running, why_not

from commitgate.backends.base import Backend
from commitgate.backends.commitgate_server import CommitgateBackend
from commitgate.backends.local import LocalBackend
from commitgate.evaluation.adversarial import AdversarialReport, hold, report_lines, run_adversarial
from commitgate.evaluation.adversarial.ratchet import SHIPPED

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "adversarial"
DOCUMENT = ROOT / "docs" / "adversarial.md"
NAMES = ("local", "serve", "llama", "vllm")
TITLES = {
    "local": "`local`, the bundled model",
    "serve": "`commitgate serve` with it",
    "llama": "llama.cpp's server",
    "vllm": "vLLM",
}


@contextmanager
def served(backend: Backend) -> Iterator[str]:
    """Serve a backend on loopback, in a thread with a loop of its own, and yield its URL."""
    from commitgate_local.server.app import create_app
    from commitgate_local.server.model_list import ServedModel
    from commitgate_local.server.running import RunningServer, listen
    from commitgate_local.server.server_limits import ServerLimits

    limits = ServerLimits(drain_s=5)
    app = create_app(backend, models=[ServedModel(name=MODEL, created=1_790_000_000)], limits=limits)
    listening = listen("127.0.0.1", 0)
    server = RunningServer(app, limits)
    thread = threading.Thread(target=server.run, args=(listening,), name="served for the adversarial set")
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.stop()
        thread.join(20)


@asynccontextmanager
async def _local() -> AsyncIterator[Backend]:
    yield LocalBackend()


@asynccontextmanager
async def _serve() -> AsyncIterator[Backend]:
    from commitgate_local.local_model import LocalModel

    with served(LocalBackend(load=lambda _: LocalModel.load())) as url:
        yield CommitgateBackend(base_url=url)


def _server(name: ServerName) -> Callable[[], AbstractAsyncContextManager[Backend]]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Backend]:
        with running(name, FOLDER) as server:
            yield backend_of(server)

    return opened


_OPENED: Mapping[str, Callable[[], AbstractAsyncContextManager[Backend]]] = {
    "local": _local,
    "serve": _serve,
    "llama": _server("llama"),
    "vllm": _server("vllm"),
}


async def run_set(name: str, only: Sequence[str] | None = None) -> AdversarialReport:
    """Run the set, or a part of it, on one backend."""

    def told(done: int, planned: int, left_s: float | None) -> None:
        if done % 20 == 0 or done == planned:
            print(f"{name}: {done} of {planned}, {left_s or 0:.0f} s left", file=sys.stderr, flush=True)

    async with _OPENED[name]() as backend:
        try:
            model = "tried/" if name == "local" else f"tried/{MODEL}"
            return await run_adversarial(model, backends={"tried": backend}, told=told, only=only)
        finally:
            with anyio.CancelScope(shield=True):
                await backend.aclose()


def tables(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the counts of all reports, and what did not pass, as tables of Markdown."""
    lines = ["| backend | group | passed | failed | skipped | seconds |", "|---|---|---:|---:|---:|---:|"]
    for name, report in reports.items():
        for group, counts in report["counts"].items():
            took_s = sum(each["time_s"] for each in report["checks"] if each["group"] == group)
            cells = [TITLES[name], group, *(str(counts[each]) for each in ("passed", "failed", "skipped"))]
            lines.append(f"| {' | '.join(cells)} | {took_s:.0f} |")
    return "\n".join([*lines, "", *_unpassed(reports)])


def _unpassed(reports: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "| backend | check | verdict | ended as | why |"
    yield "|---|---|---|---|---|"
    for name, report in reports.items():
        for each in report["checks"]:
            if each["verdict"] != "passed":
                ending = each["ending"] or ""
                yield f"| {TITLES[name]} | `{each['id']}` | {each['verdict']} | {ending} | {each['reason']} |"


def write(document: Path = DOCUMENT) -> None:
    """Put the tables of all reports that there are into the page."""
    reports = {name: json.loads(_place(name).read_text(encoding="utf-8")) for name in NAMES if _place(name).is_file()}
    begin, end = "<!-- tables: begin -->", "<!-- tables: end -->"
    before, rest = document.read_text(encoding="utf-8").split(begin)
    document.write_text(f"{before}{begin}\n{tables(reports)}\n{end}{rest.split(end)[1]}", encoding="utf-8")


def _place(name: str) -> Path:
    return FOLDER / f"{name}.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the set on the backends that are asked for."""
    parser = argparse.ArgumentParser(prog="adversarial_results", description="Run the adversarial set.")
    parser.add_argument("--backend", action="append", choices=NAMES, help="only this one")
    parser.add_argument("--only", action="append", help="only this group or check")
    parser.add_argument("--update", action="store_true", help="take over what passed into the shipped ratchet")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/adversarial.md")
    options = parser.parse_args(arguments)
    code = 0
    for name in options.backend or NAMES:
        reason = why_not(name) if name in ("llama", "vllm") else None
        if reason is not None:
            print(f"{name}: skipped: {reason}")
            continue
        report = anyio.run(run_set, name, options.only)
        held = hold(report, SHIPPED, update=options.update)
        print("\n".join(report_lines(report, held)), flush=True)
        code = max(code, int(not held.is_kept))
        if options.only is None:
            FOLDER.mkdir(parents=True, exist_ok=True)
            _place(name).write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    if options.write:
        write()
    return code


if __name__ == "__main__":
    sys.exit(main())
