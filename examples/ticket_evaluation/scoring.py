"""Score the summary of a ticket: the same words always get the same score."""

import json
from pathlib import Path

from ticket import Ticket

from commitgate.evaluation import Case

KEYWORDS: dict[str, list[list[str]]] = json.loads((Path(__file__).parent / "keywords.json").read_text(encoding="utf-8"))
"""By case, what a summary must speak of: a list of things, each with the words or stems that it can be told by."""

COPIED = 0.5
"""What a summary is worth that stands word for word in the mail: it may be right, but nothing was summed up."""


def score_summary(case: Case, ticket: Ticket) -> float:
    """Return the share of the things that the summary speaks of; of a summary that is only copied, half of it."""
    summary = one_line(ticket.summary)
    things = KEYWORDS[case.id]
    share = sum(any(word.casefold() in summary for word in words) for words in things) / len(things)
    return share * COPIED if is_copied(summary, case) else share


def is_copied(summary: str, case: Case) -> bool:
    """Say whether a summary stands word for word in the mail, its last stop aside."""
    return summary.rstrip(" .!?。！？") in one_line(case.messages[-1].content)


def one_line(text: str) -> str:
    """Return a text without regard to case and line breaks."""
    return " ".join(text.casefold().split())
