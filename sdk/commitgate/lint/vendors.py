"""Say what each vendor would make of a schema, from the cases that stand in it and its measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.lint.places import Depths
from commitgate.lint.report import Complexity, VendorNote, VendorReport, Verdict
from commitgate.lint.vendor_cases import cases_of
from commitgate.lint.vendor_facts import CASES, FACTS, VENDOR_LIMITS, VENDORS, Reaction, Vendor

_MOST_POINTERS = 5
"""Most places that one note of a vendor names."""

_WORST_FIRST = (Reaction.REFUSED, Reaction.WRONG, Reaction.IGNORED, Reaction.NARROWED, Reaction.UNKNOWN)
_VERDICTS: Mapping[Reaction, Verdict] = {
    Reaction.REFUSED: "refuses",
    Reaction.WRONG: "weakens",
    Reaction.IGNORED: "weakens",
    Reaction.NARROWED: "narrows",
    Reaction.UNKNOWN: "not known",
}


def vendor_reports(document: SchemaDocument, depths: Depths, complexity: Complexity) -> tuple[VendorReport, ...]:
    """Return what each vendor would make of a schema.

    Args:
        document: the schema.
        depths: which of its places refer back to where they stand.
        complexity: its measures.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    for case, place, keyword in cases_of(document, depths):
        found.setdefault((case, keyword), {})[place] = None
    return tuple(_report(vendor, found, complexity) for vendor in VENDORS)


def _report(
    vendor: Vendor, found: Mapping[tuple[str, str], Mapping[str, None]], complexity: Complexity
) -> VendorReport:
    notes = [note for (case, keyword), places in found.items() if (note := _note(vendor, case, keyword, places))]
    notes.extend(_limit_notes(vendor, complexity))
    notes.sort(key=lambda note: (_WORST_FIRST.index(note.reaction), not note.is_sure))
    verdict: Verdict = _VERDICTS[notes[0].reaction] if notes else "takes"
    return VendorReport(
        name=vendor.name,
        title=vendor.title,
        basis=vendor.basis,
        verdict=verdict,
        is_sure=notes[0].is_sure if notes else all(FACTS[vendor.name, case].is_sure for case, _ in found),
        notes=tuple(notes),
    )


def _note(vendor: Vendor, case: str, keyword: str, places: Mapping[str, None]) -> VendorNote | None:
    fact = FACTS[vendor.name, case]
    if fact.reaction is Reaction.TAKEN:
        return None
    return VendorNote(
        case=case,
        about=CASES[case],
        keyword=keyword,
        reaction=fact.reaction,
        is_sure=fact.is_sure,
        pointers=tuple(places)[:_MOST_POINTERS],
        places=len(places),
        source=fact.source,
    )


def _limit_notes(vendor: Vendor, complexity: Complexity) -> Iterable[VendorNote]:
    for limit in VENDOR_LIMITS:
        value: object = getattr(complexity, limit.measure)
        if limit.vendor == vendor.name and isinstance(value, int) and value > limit.most:
            words = limit.measure.replace("_", " ")
            yield VendorNote(
                case=limit.measure,
                about=f"{value} {words}, more than {limit.most}",
                keyword="",
                reaction=Reaction.REFUSED,
                is_sure=True,
                pointers=("",),
                places=1,
                source=limit.source,
            )


__all__ = ["vendor_reports"]
