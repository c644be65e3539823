"""Write what a look before a launch came to for people: a line a check, in the order of the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from commitgate.harmless import harmless
from commitgate.preflight import GROUPS, Check, PreflightReport, Verdict

_STYLES: Mapping[Verdict, str] = {
    "passed": "green",
    "warned": "yellow",
    "failed": "bold red",
    "not_applicable": "dim",
}
_WORDS: Mapping[Verdict, str] = {"passed": "passed", "warned": "warned", "failed": "failed", "not_applicable": "-"}
_INDENT = " " * 10


def preflight_lines(report: PreflightReport) -> Iterator[Text]:
    """Yield the lines of a report: what was looked over, the checks, and what they come to."""
    yield _subject(report)
    for group, heading in GROUPS.items():
        found = [each for each in report.checks if each.kind.group == group]
        if found:
            yield Text(heading, style="bold")
            for each in found:
                yield from _check_lines(each)
    yield _summary(report)


def _subject(report: PreflightReport) -> Text:
    contract, backend = report.contract, report.backend
    model = backend.model or "its default model"
    on = harmless(f" on {backend.name}, {model}")
    if contract is None:
        return Text(f"no contract{on}", style="bold")
    of_version = "" if contract.version is None else f" {contract.version}"
    return Text.assemble((harmless(f"{contract.name}{of_version}"), "bold"), f" (risk {contract.risk}){on}")


def _check_lines(found: Check) -> Iterator[Text]:
    style = _STYLES[found.verdict]
    words = (f"  {_WORDS[found.verdict]:<8}", style)
    yield Text.assemble(words, found.kind.about, (harmless(f": {found.found}"), "dim"))
    if found.instead and found.verdict in ("warned", "failed"):
        yield Text(f"{_INDENT}do: {harmless(found.instead)}")
    for place in found.places:
        yield Text(f"{_INDENT}{harmless(place)}", style="dim")
    if found.places_left_out:
        yield Text(f"{_INDENT}and {found.places_left_out} more", style="dim")


def _summary(report: PreflightReport) -> Text:
    words = {"failed": "failed", "warned": "warned", "passed": "passed", "not_applicable": "do not apply"}
    counted = ", ".join(f"{count} {words[verdict]}" for verdict, count in report.counted().items() if count)
    verdict = report.verdict
    return Text.assemble((verdict, _STYLES[verdict]), f": {counted}")


__all__ = ["preflight_lines"]
