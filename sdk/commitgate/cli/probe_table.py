"""Show people what a server makes of constraints: one line a probe, and what it all comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from commitgate.cli.console import ResultConsole
from commitgate.harmless import harmless
from commitgate.probe import Enforcement, ProbeKind, ProbeReport, ProbeResult, Verdict

_STYLES: Mapping[Verdict, str] = {
    Verdict.ENFORCED: "green",
    Verdict.YES: "green",
    Verdict.REJECTED: "yellow",
    Verdict.PARTIAL: "yellow",
    Verdict.UNCLEAR: "yellow",
    Verdict.DROPPED: "bold red",
    Verdict.NO: "red",
    Verdict.NOT_TOLD: "dim",
}
_OVERALL: Mapping[Enforcement, tuple[str, str]] = {
    "enforced": ("constraints are enforced", "bold green"),
    "not_enforced": ("constraints are not enforced", "bold red"),
    "partial": ("constraints are enforced in part only", "bold red"),
    "unknown": ("whether constraints are enforced could not be told", "bold yellow"),
}
_HEADS: Mapping[ProbeKind, str] = {
    "refusal": "what nothing can enforce",
    "constraint": "constraints",
    "echo": "constraints",
    "behaviour": "behaviour",
    "keyword": "keywords",
}
_SHOWN_CHARACTERS = 60


def print_report(report: ProbeReport, kept: str | None) -> None:
    """Print a report: who was probed, a line for each probe, the verdict, and what it took."""
    console = ResultConsole(soft_wrap=False)
    model = report.model or "its default model"
    console.print(Text(harmless(f"{report.backend} ({report.dialect}) at {report.base_url}, {model}")))
    about = [
        None if word is None else f"{name} {word}"
        for name, word in (
            ("version", report.server_version),
            ("revision", report.revision),
            ("engine", report.engine),
        )
    ]
    console.print(Text(harmless(", ".join(word for word in about if word) or "it tells no version"), style="dim"))
    if any(result.verdict is not Verdict.NOT_TOLD for result in report.results):
        console.print(_table(report))
    words, style = _OVERALL[report.verdict]
    console.print(Text.assemble((words, style), harmless(f": {report.reason}")))
    for line in _ending(report, kept):
        console.print(Text(harmless(line), style="dim"))


def _table(report: ProbeReport) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("the server", "", "why"):
        table.add_column(head, overflow="fold")
    last = ""
    for result in report.results:
        head = _HEADS[result.kind]
        if head != last:
            table.add_row(Text(head, style="bold"))
            last = head
        verdict = Text(result.verdict.replace("_", " "), style=_style(result))
        table.add_row(Text(f"  {harmless(result.name)}: {harmless(result.about)}"), verdict, Text(_why(result)))
    return table


def _style(result: ProbeResult) -> str:
    # To refuse what nothing can enforce is right.
    is_right = result.kind == "refusal" and result.verdict is Verdict.REJECTED
    return "green" if is_right else _STYLES[result.verdict]


def _why(result: ProbeResult) -> str:
    reason = harmless(result.reason)
    if result.verdict not in (Verdict.DROPPED, Verdict.PARTIAL, Verdict.NO, Verdict.UNCLEAR) or not result.answer:
        return reason
    answer = harmless(result.answer[:_SHOWN_CHARACTERS])
    return f"{reason}: {answer}{'...' if len(result.answer) > _SHOWN_CHARACTERS else ''}"


def _ending(report: ProbeReport, kept: str | None) -> Iterator[str]:
    cost = report.cost
    tokens = [
        f"{count} tokens {way}" for count, way in ((cost.input_tokens, "in"), (cost.output_tokens, "out")) if count
    ]
    yield ", ".join([f"{cost.requests} requests", *tokens, f"{cost.time_s:.1f} s"])
    yield "not kept" if kept is None else f"kept in {kept}"


__all__ = ["print_report"]
