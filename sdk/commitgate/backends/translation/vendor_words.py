"""Say what a server's vendor does with a case of the table, and put it into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.lint.vendor_facts import CASES, FACTS, TABLE_VERSION, VENDORS, Fact, Reaction

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


@dataclass(frozen=True, slots=True)
class Words:
    """Know one column of the table.

    Attributes:
        vendor: its name.
        title: what people call the server.
    """

    vendor: str
    title: str

    def fact(self, case: str) -> Fact:
        """Return what the vendor does with a case."""
        return FACTS[self.vendor, case]

    def takes(self, case: str) -> bool:
        """Say that a case is enforced, or too narrowly."""
        return self.fact(case).reaction in (Reaction.TAKEN, Reaction.NARROWED)

    def surely_takes(self, *cases: str) -> bool:
        """Say that cases are known to be enforced as they are meant."""
        return all(self.fact(case).reaction is Reaction.TAKEN and self.fact(case).is_sure for case in cases)

    def refuses(self, case: str) -> bool:
        """Say that a case is an error."""
        return self.fact(case).reaction is Reaction.REFUSED

    def happens(self, case: str) -> str:
        """Return in words what the vendor does with a case, and how that is known."""
        fact = self.fact(case)
        basis = _BASES[self.vendor] if fact.is_sure else "likely"
        known = "" if fact.reaction is Reaction.UNKNOWN else f" ({basis})"
        return f"{self.title} {_DOES[fact.reaction]} {CASES[case]}{known}"


def words_of(facts: ServerFacts) -> Words:
    """Return the column of a server that has one."""
    assert facts.vendor is not None, "the project's own server enforces what a contract says"
    return Words(facts.vendor, facts.title)


def table_version(facts: ServerFacts) -> str:
    """Return the version of the table by which a server is asked; empty for the project's own."""
    return "" if facts.vendor is None else TABLE_VERSION


__all__ = ["Words", "table_version", "words_of"]
