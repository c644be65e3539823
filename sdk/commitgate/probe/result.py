"""Define what one probe came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

from commitgate.backends.translation import Form

ProbeKind: TypeAlias = Literal["refusal", "constraint", "echo", "behaviour", "keyword"]
"""``refusal``: it sends what no server can enforce. ``constraint``: it asks against a constraint. ``echo``: the server
repeats what it was sent. ``behaviour``: how the server ends answers and keeps keys. ``keyword``: it asks against one
keyword of a schema."""

ANSWER_CHARACTERS = 200
"""Most characters that are kept of an answer."""


class Verdict(StrEnum):
    """Say what one probe came to.

    The first six are of constraints, ``yes`` and ``no`` of how the server behaves.
    """

    ENFORCED = "enforced"
    """What was asked for could not be written, and was not."""
    DROPPED = "dropped"
    """The answer is outside of the constraint, or there is one where there must be none."""
    PARTIAL = "partial"
    """JSON, but not of the schema."""
    REJECTED = "rejected"
    """The server refused what it was sent."""
    UNCLEAR = "unclear"
    """It was asked, and what came back tells nothing."""
    NOT_TOLD = "not_told"
    """It was not asked, or there is no way to see it."""
    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """Hold what one probe came to.

    Attributes:
        name: the probe's short name; for a keyword that of its case.
        kind: what sort of probe.
        about: what it asks, in words.
        form: in which field the constraint went; None where there is none.
        verdict: what it came to.
        reason: why, in words.
        requests: how many requests it sent.
        answer: what the model wrote to the one that decided, cut short; its own words, so never trusted or printed as
            they are.
    """

    name: str
    kind: ProbeKind
    about: str
    form: Form | Literal["tools"] | None
    verdict: Verdict
    reason: str
    requests: int = 0
    answer: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Say what probing took.

    Attributes:
        requests: that were sent, those of the handshake not counted.
        input_tokens: as the server counts them; None where it does not.
        output_tokens: as the server counts them; None where it does not.
        time_s: seconds of all of it.
    """

    requests: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    time_s: float = 0.0


__all__ = ["ANSWER_CHARACTERS", "Cost", "ProbeKind", "ProbeResult", "Verdict"]
