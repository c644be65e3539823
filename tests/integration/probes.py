"""Have ``commitgate.probe`` look at a real server, and hold what it says against what the server is known to do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from integration.parts import Part, backend_of
from integration.servers import MODEL, Server, ServerName
from proofs.part import Result, Row

from commitgate.probe import ProbeReport, Verdict, probe

_UNIT = "matrix"
_TOTAL_S = 1200.0
_ANSWER_S = 180.0

_BOTH = {
    "invalid_schema": Verdict.REJECTED,
    "invalid_grammar": Verdict.REJECTED,
    "enum": Verdict.ENFORCED,
    "property": Verdict.ENFORCED,
    "count": Verdict.ENFORCED,
    "order": Verdict.ENFORCED,
    "grammar": Verdict.ENFORCED,
    "cut": Verdict.YES,
    "whole": Verdict.YES,
    "disconnect": Verdict.YES,
    "repeated_key": Verdict.NO,
}
EXPECTED: Mapping[ServerName, Mapping[str, Verdict]] = {
    "llama": {**_BOTH, "echo": Verdict.ENFORCED},
    "vllm": {
        **_BOTH,
        "invalid_pattern": Verdict.REJECTED,
        "choice": Verdict.ENFORCED,
        "pattern": Verdict.ENFORCED,
        "tool": Verdict.REJECTED,
        "echo": Verdict.NOT_TOLD,
    },
}
"""What each server is known to do, by other means than these probes."""


def _units(server: ServerName) -> Sequence[str]:
    del server
    return [_UNIT]


async def _run(server: Server, unit: str) -> Result:
    del unit
    backend = backend_of(server)
    try:
        report = await probe(backend, MODEL, keywords=True, timeout_s=_ANSWER_S, total_s=_TOTAL_S)
    finally:
        await backend.aclose()
    found = {each.name: each.verdict for each in report.results if each.kind != "keyword"}
    expected = EXPECTED[server.name]
    faults = [
        f"{name} came out as {verdict.value}, where the server is known for {expected[name].value}"
        for name, verdict in found.items()
        if name in expected and verdict not in (expected[name], Verdict.NOT_TOLD)
    ]
    faults += [f"{name} was not asked" for name in expected if name not in found and name != "tool"]
    if report.verdict != "enforced":
        faults.append(f"the verdict is {report.verdict}: {report.reason}")
    notes = {"report": json.dumps(_shown(report)), "table": report.table}
    return Result(counts={"probes": len(report.results), "requests": report.cost.requests}, faults=faults, notes=notes)


def _shown(report: ProbeReport) -> dict[str, object]:
    return {
        "verdict": report.verdict,
        "version": report.server_version,
        "engine": report.engine,
        "time_s": round(report.cost.time_s),
        "rows": [[each.kind, each.about, each.verdict.value] for each in report.results],
    }


def matrix(results: Mapping[str, Result]) -> list[tuple[str, str, str]]:
    """Return the rows of the matrix: kind, what was asked, and the verdict; none where it was not probed."""
    if _UNIT not in results or "report" not in results[_UNIT].notes:
        return []
    return [(kind, about, verdict) for kind, about, verdict in json.loads(results[_UNIT].notes["report"])["rows"]]


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    del server
    if not matrix(results):
        return [Row(promise="probes say what the server does", measured="not probed", held=False)]
    result = results[_UNIT]
    shown = json.loads(result.notes["report"])
    measured = (
        f"verdict {shown['verdict']}, {len(result.faults)} of {result.counts['probes']} probes otherwise than known; "
        f"{result.counts['requests']} requests"
    )
    return [Row(promise="probes say what the server does", measured=measured, held=not result.faults)]


PROBES = Part(name="probes", units=_units, run=_run, summarise=_summarise, at_once={})
