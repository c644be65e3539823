"""Write a report as lines for a terminal: plain text, with all that came from elsewhere made harmless."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commitgate.evaluation.adversarial.check import VERDICTS
from commitgate.evaluation.adversarial.ratchet import Held
from commitgate.evaluation.adversarial.report import AdversarialReport, CheckResult
from commitgate.harmless import harmless

_SHOWN_GAINED = 5


def report_lines(report: AdversarialReport, held: Held | None = None) -> list[str]:
    """Return the lines.

    Args:
        report: what a run came to.
        held: how it stands to a ratchet; None leaves that out.
    """
    return [harmless(line) for line in (*_head(report), *_table(report), *_results(report), *_ratchet(report, held))]


def _head(report: AdversarialReport) -> Iterator[str]:
    revision = "" if report.model_revision is None else f", revision {report.model_revision}"
    yield f"adversarial set: {report.model} (backend {report.backend}{revision}), {report.time_s:.0f} s"
    yield ""


def _table(report: AdversarialReport) -> Iterator[str]:
    yield f"{'group':<10}" + "".join(f"{verdict:>9}" for verdict in VERDICTS)
    for group, counts in report.counts.items():
        yield f"{group:<10}" + "".join(f"{counts[verdict]:>9}" for verdict in VERDICTS)
    yield f"{'all':<10}" + "".join(f"{len(report.of(verdict)):>9}" for verdict in VERDICTS)


def _results(report: AdversarialReport) -> Iterator[str]:
    for problem in report.problems:
        yield ""
        yield f"not whole: {problem}"
    yield from _listed("failed", report.of("failed"))
    skipped = report.of("skipped")
    if skipped:
        yield ""
        yield "skipped, because it cannot be asked here or tells nothing:"
        for reason in dict.fromkeys(each.reason for each in skipped):
            names = [each.id for each in skipped if each.reason == reason]
            yield f"  {reason}: {', '.join(names)}"


def _listed(title: str, results: Sequence[CheckResult]) -> Iterator[str]:
    if results:
        yield ""
        yield f"{title}:"
    for each in results:
        ending = f" (ended as {each.ending})" if each.ending else ""
        yield f"  {each.id}: {each.about}. Law: {each.law}. {each.reason}{ending}"


def _ratchet(report: AdversarialReport, held: Held | None) -> Iterator[str]:
    if held is None:
        return
    yield ""
    if not held.is_known:
        yield f"ratchet: nothing is kept of backends like {report.backend}; update it to keep what passed"
        return
    for each in held.lost:
        yield f"ratchet: lost {each.id}, which passed before"
    if held.gained:
        shown = ", ".join(held.gained[:_SHOWN_GAINED])
        more = len(held.gained) - _SHOWN_GAINED
        yield f"ratchet: {shown}{f' and {more} more' if more > 0 else ''} passed for the first time; update it"
    if not held.lost and not held.gained:
        yield "ratchet: nothing lost, nothing gained"


__all__ = ["report_lines"]
