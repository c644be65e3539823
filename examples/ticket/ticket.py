"""Define what a ticket is, and which tickets are allowed."""

from collections.abc import Callable, Collection, Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from commitgate import RuleViolation

EvidenceId = Annotated[str, Field(min_length=5, max_length=6)]


class Ticket(BaseModel):
    """One support ticket, taken from one e-mail."""

    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, Field(min_length=6, max_length=6)] | None = Field(
        description="Number of an earlier ticket that the e-mail names, like T-1234; null where it names none."
    )
    priority: Literal["low", "normal", "high"] = Field(description="How urgent it is.")
    evidence: list[EvidenceId] = Field(max_length=3, description="Ids of the attachments that support this ticket.")
    summary: str = Field(min_length=1, max_length=120, description="What the customer wants, in one sentence.")


def high_priority_needs_evidence(ticket: Ticket) -> RuleViolation | None:
    """Refuse a ticket that calls itself urgent and shows nothing."""
    if ticket.priority == "high" and not ticket.evidence:
        return RuleViolation(
            code="high_without_evidence", pointer="/evidence", message="a ticket of high priority needs evidence"
        )
    return None


def evidence_is_visible(visible: Collection[str]) -> Callable[[Ticket], Iterator[RuleViolation]]:
    """Return the rule that evidence must be among the ids that the caller may see.

    The caller knows these ids from its own system. They are never read from the text that the model writes.
    """

    def rule(ticket: Ticket) -> Iterator[RuleViolation]:
        for number, evidence in enumerate(ticket.evidence):
            if evidence not in visible:
                yield RuleViolation(
                    code="evidence_not_visible",
                    pointer=f"/evidence/{number}",
                    message="evidence must be an attachment of this e-mail",
                )

    return rule
