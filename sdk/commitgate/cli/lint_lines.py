"""Write a lint report for people: findings, support, size, samples, masks and vendors."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from commitgate.harmless import harmless
from commitgate.lint import Finding, LintReport, MaskCost, Reaction, VendorNote, Walks

_SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "advice": "cyan"}
_LEVEL_STYLES = {"decoded": "green", "checked": "yellow", "annotation": "dim", "rejected": "bold red"}
_VERDICT_STYLES = {"takes": "green", "narrows": "cyan", "weakens": "yellow", "refuses": "red", "not known": "dim"}
_LEVELS = ("decoded", "checked", "annotation", "rejected")
_LISTED_NOTES = 4


def report_lines(report: LintReport) -> Iterator[Text]:
    """Yield the lines of a report."""
    yield from _finding_lines(report)
    yield from _support_lines(report)
    yield from _size_lines(report)
    if report.walks is not None:
        yield from _walk_lines(report.walks)
    if report.masks is not None:
        yield from _mask_lines(report.masks)
    yield from _vendor_lines(report)


def _heading(words: str) -> Text:
    return Text(words, style="bold")


def _where(pointer: str, kind: str = "schema", position: int | None = None) -> str:
    if position is not None:
        return f"character {position}"
    return harmless(pointer or ("the root" if kind == "schema" else kind))


def _finding_lines(report: LintReport) -> Iterator[Text]:
    yield _heading("findings")
    if not report.findings:
        yield Text("  none", style="green")
    omitted = dict(report.omitted)
    for index, found in enumerate(report.findings):
        yield from _one_finding(found, report.kind)
        is_last = index + 1 == len(report.findings) or report.findings[index + 1].code != found.code
        if is_last and found.code in omitted:
            yield Text(f"  and {omitted[found.code]} more of {found.code}", style="dim")
    if not report.is_complete:
        yield Text("  a fault hides what else there may be: correct it and lint again", style="bold red")


def _one_finding(found: Finding, kind: str) -> Iterator[Text]:
    severity = (f"{found.severity:<8}", _SEVERITY_STYLES[found.severity])
    yield Text.assemble("  ", severity, f"{found.code}  ", _where(found.pointer, kind, found.position))
    yield Text(f"    {harmless(found.message)}")
    # Some messages of errors end with what to do.
    if found.instead not in found.message:
        yield Text(f"    instead: {harmless(found.instead)}", style="dim")


def _support_lines(report: LintReport) -> Iterator[Text]:
    yield _heading("support")
    counted = {level: sum(entry.level == level for entry in report.support) for level in _LEVELS}
    yield Text(
        "  " + ", ".join(f"{counted[level]} {level}" for level in _LEVELS if counted[level] or level == "decoded")
    )
    for entry in report.support:
        # What is decoded is most of it, and what one expects.
        if entry.level != "decoded":
            level = (f"  {entry.level:<11}", _LEVEL_STYLES[entry.level])
            # Why something is rejected stands among the findings.
            reason = "" if entry.level == "rejected" else f"  {entry.reason}"
            yield Text.assemble(level, harmless(f"{entry.keyword}  {_where(entry.pointer, report.kind)}{reason}"))


def _size_lines(report: LintReport) -> Iterator[Text]:
    size = report.complexity
    if not report.support or not (size.places or size.rules or size.choices):
        return
    yield _heading("size")
    if size.choices or size.rules:
        yield Text(f"  {size.choices or size.rules} {'choices' if size.choices else 'rules'}")
        return
    yield Text(
        f"  {size.schema_bytes:,} bytes, {size.places} schemas, {size.properties} properties "
        f"({size.optional_properties} optional), nesting {size.nesting}"
    )
    yield Text(
        f"  {size.enum_values} enum values (largest {size.largest_enum}), {size.unions} unions (widest "
        f"{size.widest_choice}), {size.recursions} recursions, {size.unbounded} unbounded places"
    )


def _walk_lines(walks: Walks) -> Iterator[Text]:
    yield _heading("sample texts, byte by byte")
    lengths = (
        ""
        if walks.median_bytes is None
        else (f", {walks.shortest_bytes} to {walks.longest_bytes} bytes long, median {walks.median_bytes}")
    )
    yield Text(f"  {walks.finished} of {walks.texts} ended within {walks.most_bytes:,} bytes{lengths}")
    share = f"{100 * walks.forced_bytes // walks.bytes} %" if walks.bytes else "none"
    yield Text(
        f"  {walks.states:,} states made; about {walks.distinct_states:,} masks, {walks.wide_states:,} of them wide; "
        f"{walks.mean_classes} byte classes a state; {share} of the bytes forced"
    )
    if walks.stopped_by:
        yield Text(f"  stopped early by Limits.{walks.stopped_by}", style="yellow")


def _mask_lines(masks: MaskCost) -> Iterator[Text]:
    yield _heading(f"masks, {masks.tokens:,} tokens")
    yield Text(
        f"  {masks.finished} of {masks.texts} texts ended, {masks.steps:,} steps: {masks.masks:,} masks computed with "
        f"{masks.states:,} states and {masks.shared_walks} shared walks"
    )
    yield Text(
        f"  legal tokens: {masks.legal_min:,} at least, {masks.legal_median:,} in the median; "
        f"{masks.forced_steps:,} steps forced"
    )
    if masks.cold_to_warm is not None:
        yield Text(f"  a new mask took about {masks.cold_to_warm} times as long as one that was found (this machine)")
    if masks.stopped_by:
        yield Text(f"  stopped early by Limits.{masks.stopped_by}", style="yellow")


def _vendor_lines(report: LintReport) -> Iterator[Text]:
    if not report.vendors:
        return
    yield _heading("vendors")
    wide = max(len(vendor.title) for vendor in report.vendors)
    for vendor in report.vendors:
        verdict = vendor.verdict + ("" if vendor.is_sure else "?")
        yield Text.assemble(f"  {vendor.title:<{wide}}  ", (verdict, _VERDICT_STYLES[vendor.verdict]))
        notes = [note for note in vendor.notes if note.reaction is not Reaction.UNKNOWN]
        cases = [note.case for note in notes]
        for note in notes[:_LISTED_NOTES]:
            yield Text(f"    {_note(note, is_one_of_many=cases.count(note.case) > 1)}", style="dim")
        if len(notes) > _LISTED_NOTES:
            yield Text(f"    and {len(notes) - _LISTED_NOTES} more; --json has all", style="dim")


def _note(note: VendorNote, *, is_one_of_many: bool) -> str:
    about = f"{note.about} ({harmless(note.keyword)})" if is_one_of_many else note.about
    more = f" and {note.places - 1} more" if note.places > 1 else ""
    mark = "" if note.is_sure else ", likely"
    return f"{note.reaction}{mark}: {about} at {_where(note.pointers[0])}{more}"


__all__ = ["report_lines"]
