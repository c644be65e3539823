"""Evaluate the tickets of examples/ticket: 72 e-mails, each with its right ticket, written down by hand.

Usage: commitgate eval examples/ticket_evaluation/suite.py:SUITE --model local
"""

import atexit
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ticket"))

from mail import Mail
from register import CareRegister
from scoring import score_summary
from table import TicketTable
from ticket import Ticket, evidence_is_visible, high_priority_needs_evidence

from commitgate import Contract, Rule, Sampling
from commitgate.evaluation import Case, Suite, read_cases

CASES = Path(__file__).parent / "cases.jsonl"
CONTRACT = Contract.of(Ticket, name="support-ticket", version="1", refusal=False)

# Tickets are really opened, so in a file that goes with the process: each run begins with an empty desk.
FOLDER = Path(mkdtemp(prefix="ticket-evaluation-"))
atexit.register(rmtree, FOLDER, ignore_errors=True)
REGISTER = CareRegister(FOLDER / "register.sqlite")
TABLE = TicketTable(FOLDER / "tickets.sqlite")


def rules(case: Case) -> Sequence[Rule[Ticket]]:
    """Return the rules of the demo, for the attachments of this e-mail."""
    visible = cast("tuple[str, ...]", case.visible["/evidence/*"])
    return [high_priority_needs_evidence, evidence_is_visible(visible)]


def with_conversation(case: Case) -> Case:
    """Return a case that asks as the demo asks: two solved e-mails before this one."""
    mail = Mail(case.id, case.messages[-1].content, frozenset())
    return replace(case, messages=tuple(mail.conversation()))


SUITE: Suite[Ticket] = Suite(
    name="support-tickets",
    version="1",
    cases=tuple(with_conversation(case) for case in read_cases(CASES, contract=CONTRACT).cases),
    contracts={CONTRACT.name: CONTRACT},
    sampling=Sampling(temperature=0.0, max_tokens=200),
    prompt_schema="none",
    rules=rules,
    authority=REGISTER.unknown_ids,
    authorize=lambda case: REGISTER.only_own_ids,
    effect=lambda case: TABLE.open_ticket,
    scorer=score_summary,
)
