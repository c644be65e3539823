"""Try the adversarial set that is shipped on a real server, and hold it against its ratchet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import anyio
from integration.parts import Part, backend_of
from integration.servers import MODEL, Server, ServerName
from proofs.part import Result, Row, total

from commitgate.evaluation.adversarial import GROUPS, hold, run_adversarial


def _units(server: ServerName) -> Sequence[str]:
    del server
    return list(GROUPS)


async def _run(server: Server, unit: str) -> Result:
    backend = backend_of(server)
    try:
        report = await run_adversarial(f"{server.name}/{MODEL}", backends={server.name: backend}, only=[unit])
    finally:
        with anyio.CancelScope(shield=True):
            await backend.aclose()
    held = hold(report)
    faults = [f"{each.id}: {each.verdict}: {each.reason}" for each in held.lost]
    faults += [f"{unit}: {problem}" for problem in report.problems]
    counts = {verdict: len(report.of(verdict)) for verdict in ("passed", "failed", "skipped")}
    known = [each.id for each in report.of("failed") if each not in held.lost]
    return Result(counts=counts, faults=faults, notes={"failed": json.dumps(known)})


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    counts = total(results)
    known = [name for result in results.values() for name in json.loads(result.notes.get("failed", "[]"))]
    measured = (
        f"{counts.get('passed', 0)} passed, {counts.get('failed', 0)} failed"
        + (f" ({', '.join(known)}: as before)" if known else "")
        + f", {counts.get('skipped', 0)} skipped"
    )
    held = all(not result.faults for result in results.values()) and len(results) == len(_units(server))
    return [Row(promise="no check of the adversarial set that passed before is lost", measured=measured, held=held)]


ADVERSARIAL = Part(name="adversarial", units=_units, run=_run, summarise=_summarise, at_once={})
