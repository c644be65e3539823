"""Make the questions of the ticket example as a benchmark asks them: seen before, or never seen.

What the example itself defines is taken from it: schema, rules, e-mails, conversation, the table that it writes into.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, create_model

from commitgate import Contract, Message

EXAMPLE = Path(__file__).parents[2] / "examples" / "ticket"
EMAILS = ("01-pump-leaks", "06-factura-sin-iva", "11-hostile")
MOST_TOKENS = 200

# The example's programs import each other by their bare names.
sys.path.insert(0, str(EXAMPLE))

from mail import Mail, read_mail  # noqa: E402 - found by the line above
from table import TicketTable  # noqa: E402
from ticket import EvidenceId, Ticket, evidence_is_visible, high_priority_needs_evidence  # noqa: E402


@dataclass(frozen=True)
class Question:
    """Ask for the ticket of one e-mail.

    Attributes:
        mail: the e-mail.
        key: names the business act.
        variant: 0 for the example as it stands; another number for a schema and a prompt of its own: the schema by a
            bound that the answers do not reach, the prompt from its first words on.
    """

    mail: Mail
    key: str
    variant: int = 0

    @cached_property
    def messages(self) -> list[Message]:
        """Return the conversation."""
        first, *others = self.mail.conversation()
        return [first, *others] if not self.variant else [beginning(self.variant, first), *others]

    @property
    def model(self) -> type[Ticket]:
        """Return what is asked for."""
        return Ticket if not self.variant else ticket_with(3 + self.variant)

    @property
    def rules(self) -> list[Any]:
        """Return the rules of the example."""
        return [high_priority_needs_evidence, evidence_is_visible(self.mail.visible_evidence)]


def beginning(number: int, first: Message) -> Message:
    """Return a system message that differs from its first words on."""
    return replace(first, content=f"You sit at desk {number}. {first.content}")


def ticket_with(most_evidence: int) -> type[Ticket]:
    """Return the ticket's class with another bound on its evidence."""
    evidence = Annotated[
        list[EvidenceId], Field(max_length=most_evidence, description=Ticket.model_fields["evidence"].description)
    ]
    return create_model("Ticket", __base__=Ticket, evidence=(evidence, ...))


def contract_of(question: Question) -> Contract[Ticket]:
    """Make the contract of a question; a part of what is timed where the schema was never seen."""
    return Contract.of(question.model, name="support-ticket", version="1")


def questions(names: Sequence[str] = EMAILS, *, key: str, variant: int = 0) -> list[Question]:
    """Return a question for each e-mail; of those never seen each has a schema and a prompt of its own.

    Args:
        names: of the e-mails.
        key: differs for each round, because an act is done once.
        variant: 0 for what was seen before, else the first of as many numbers as there are e-mails, never used before.
    """
    mails = [read_mail(EXAMPLE / "emails" / f"{name}.eml") for name in names]
    return [
        Question(mail, f"{key}/{mail.message_id}", variant + number if variant else 0)
        for number, mail in enumerate(mails)
    ]


__all__ = [
    "EMAILS",
    "MOST_TOKENS",
    "Question",
    "Ticket",
    "TicketTable",
    "beginning",
    "contract_of",
    "questions",
    "ticket_with",
]
