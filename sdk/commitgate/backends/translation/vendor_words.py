"""Say in words what a server's vendor does with a case of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.lint.vendor_facts import CASES, FACTS, TABLE_VERSION, VENDORS, Reaction

if TYPE_CHECKING:
    from commitgate.backends.dialect import ServerFacts

_DOES = {
    Reaction.REFUSED: "refuses",
    Reaction.IGNORED: "ignores",
    Reaction.WRONG: "gets wrong",
    Reaction.NARROWED: "allows less than is meant by",
    Reaction.UNKNOWN: "is not known to take",
    Reaction.TAKEN: "takes",
}
_BASES = {vendor.name: vendor.basis for vendor in VENDORS}


def what_happens(facts: ServerFacts, case: str) -> str:
    """Return in words what a server does with a case, and how that is known.

    Args:
        facts: the server's, one with a vendor.
        case: short name of a case of the table.
    """
    assert facts.vendor is not None, "the project's own server enforces what a contract says"
    fact = FACTS[facts.vendor, case]
    basis = _BASES[facts.vendor] if fact.is_sure else "likely"
    known = "" if fact.reaction is Reaction.UNKNOWN else f" ({basis})"
    return f"{facts.title} {_DOES[fact.reaction]} {CASES[case]}{known}"


def table_version(facts: ServerFacts) -> str:
    """Return the version of the table by which a server is asked; empty for the project's own."""
    return "" if facts.vendor is None else TABLE_VERSION


__all__ = ["table_version", "what_happens"]
