"""Define what an integration run is made of: parts, each a list of units of work against one real server.

A unit is named by all that it depends on, for its name is what a resumed run looks up. What it finds is a ``Result``:
counts, faults (one sentence for each broken promise) and notes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio
from integration.servers import MODEL, Server, ServerName
from proofs.part import ROOT, Result, Row, digest, modules_of

from commitgate import Client, RetryBudget
from commitgate.backends.remote import RemoteBackend
from commitgate.evaluation.adversarial.ratchet import SHIPPED

FOLDER = ROOT / "build" / "integration"
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Hold one part of the run.

    Attributes:
        name: a word, for the command line and the file of its results.
        units: the names of its units for a server.
        run: does one unit. Whatever it raises is a fault.
        summarise: turns the results of a server's units into lines of the table.
        at_once: how many units may run at the same time, where it is not one.
    """

    name: str
    units: Callable[[ServerName], Sequence[str]]
    run: Callable[[Server, str], Awaitable[Result]]
    summarise: Callable[[ServerName, Mapping[str, Result]], Sequence[Row]]
    at_once: Mapping[ServerName, int]


class Kept:
    """Keep the results of one part and server as JSON lines, so that a run that was stopped goes on where it stood.

    Args:
        part: the part's name.
        server: the server's name.
        fresh: forget what is stored.
        folder: where the file lies.
    """

    def __init__(self, part: str, server: ServerName, *, fresh: bool = False, folder: Path = FOLDER) -> None:
        self._path = folder / f"{part}-{server}.jsonl"
        self._digest = digest(sources())
        if fresh:
            self._path.unlink(missing_ok=True)
        self.done: dict[str, Result] = dict(self._read())

    def add(self, unit: str, result: Result) -> None:
        """Take a result and write it down."""
        self.done[unit] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"unit": unit, "digest": self._digest, **asdict(result)}, sort_keys=True) + "\n")

    def _read(self) -> Iterable[tuple[str, Result]]:
        if not self._path.is_file():
            return
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue  # the line at which an earlier run was killed
            if found["digest"] == self._digest:
                faults = tuple(found["faults"])
                yield found["unit"], Result(counts=found["counts"], faults=faults, notes=found["notes"])


def sources() -> list[Path]:
    """Return the files on whose content the results depend."""
    return [
        *modules_of("backends", "gate", "run", "probe", "retry", "evaluation/adversarial"),
        SHIPPED,
        *HERE.glob("*.py"),
    ]


def model_name(name: ServerName) -> str:
    """Return what the client calls the server's model."""
    return f"{name}/{MODEL}"


def backend_of(server: Server) -> RemoteBackend:
    """Return a new backend for a running server. Effects run without a probe."""
    if server.name == "vllm":
        from commitgate.backends.vllm import VllmBackend

        return VllmBackend(base_url=f"{server.url}/v1", unproven_effects=True)
    from commitgate.backends.llama_cpp import LlamaCppBackend

    return LlamaCppBackend(base_url=server.url, unproven_effects=True)


@asynccontextmanager
async def asking(server: Server, *, ledger: Path | None = None) -> AsyncIterator[Client]:
    """Hold a client that knows a running server, under the name of ``model_name``."""
    backend = backend_of(server)
    try:
        # A server that is killed is asked again and again until it is up.
        budget = RetryBudget(tokens=100)
        async with Client(backends={server.name: backend}, ledger=ledger, retry_budget=budget) as client:
            yield client
    finally:
        with anyio.CancelScope(shield=True):
            await backend.aclose()
