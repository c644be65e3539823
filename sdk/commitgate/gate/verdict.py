"""Define what a stream of events amounts to, before the layers have seen its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from commitgate.backends.base import DeadEndReached, Fault, Finish, FinishReason, NoticeCode, Usage
from commitgate.gate.states import Ruling
from commitgate.outcome import (
    DeadEnd,
    Disconnected,
    Failed,
    Filtered,
    Receipt,
    Refused,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)


@dataclass(frozen=True, slots=True)
class Whole:
    """Say that the provider's finish and the accept state agree: the layers may judge the text.

    Attributes:
        text: all of the answer.
    """

    text: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Outside:
    """Say that the provider called a text whole which the acceptor had refused. Nothing is committed from here.

    Attributes:
        text: all of the answer, for the parse and schema layers, which may name the fault more exactly.
        violation: the ending where they cannot.
    """

    text: bytes = field(repr=False)
    violation: Violated


Verdict: TypeAlias = Whole | Outside | Failed
"""What a stream amounts to. Endings carry an empty receipt, because the gate does not know the rest of the call."""


@dataclass(slots=True)
class Evidence:
    """Gather what a stream has shown so far.

    Attributes:
        passed: answer bytes that the acceptor passed.
        hidden: answer bytes after the first impossible one, up to a limit.
        refusal: text of a refusal, up to a limit.
        violation: what broke the constraint first.
        fault: the provider's failure.
        dead_end: the backend's dead end.
        finish: the provider's finish.
        usage: the last counts.
        notices: what the backend told of its transport.
        is_line_lost: the line broke, after a finish or before one.
    """

    passed: bytearray = field(default_factory=bytearray, repr=False)
    hidden: bytearray = field(default_factory=bytearray, repr=False)
    refusal: str = field(default="", repr=False)
    violation: Violated | None = None
    fault: Fault | None = None
    dead_end: DeadEndReached | None = None
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    notices: set[NoticeCode] = field(default_factory=set["NoticeCode"])
    is_line_lost: bool = False

    @property
    def text(self) -> bytes:
        """Return all answer bytes received, hidden ones included."""
        return bytes(self.passed + self.hidden)


def rule(ruling: Ruling, evidence: Evidence) -> Verdict:
    """Turn a ruling of the table into the verdict that the evidence fills."""
    receipt = Receipt()
    match ruling:
        case Ruling.WHOLE:
            return Whole(evidence.text)
        case Ruling.OUTSIDE:
            return Outside(evidence.text, _violation(evidence))
        case Ruling.VIOLATED | Ruling.UNFINISHED:
            return _violation(evidence)
        case Ruling.REFUSED:
            return Refused(text=evidence.refusal or evidence.text.decode(errors="replace"), receipt=receipt)
        case Ruling.FILTERED:
            return Filtered(receipt=receipt)
        case Ruling.TRUNCATED:
            return _truncated(evidence)
        case Ruling.DISCONNECTED:
            return _disconnected(evidence)
        case Ruling.MALFORMED:
            return _malformed(evidence)
        case Ruling.UNAVAILABLE:
            return _unavailable(evidence)
        case Ruling.UNKNOWN_FINISH:
            return Unavailable(kind="unknown_finish", message="its finish word is unknown", receipt=receipt)
        case Ruling.LATE_EVENT:
            return Unavailable(kind="protocol", message="more of the answer came after its finish", receipt=receipt)
        case Ruling.DEAD_END:
            return _dead_end(evidence)
        case _:
            assert_never(ruling)


def _violation(evidence: Evidence) -> Violated:
    assert evidence.violation is not None, "only a breach leads here"
    return evidence.violation


def _truncated(evidence: Evidence) -> Truncated:
    assert evidence.finish is not None, "only a finish leads here"
    if evidence.finish.reason is FinishReason.PAUSED:
        return Truncated(kind="paused", receipt=Receipt())
    kind = "context" if "context" in evidence.finish.native.lower() else "max_tokens"
    return Truncated(kind=kind, receipt=Receipt())


def _disconnected(evidence: Evidence) -> Disconnected:
    if evidence.finish is not None:
        return Disconnected(kind="aborted", receipt=Receipt())
    return Disconnected(kind="lost" if evidence.is_line_lost else "ended", receipt=Receipt())


def _malformed(evidence: Evidence) -> Violated:
    explanation = "the provider says itself that its answer is malformed"
    return Violated(kind="server_malformed", position=len(evidence.passed), explanation=explanation, receipt=Receipt())


def _unavailable(evidence: Evidence) -> Unavailable | Unsupported:
    fault = evidence.fault
    assert fault is not None, "only a fault leads here"
    if fault.kind == "constraint":
        return Unsupported(
            keyword="",
            pointer="",
            reason=f"the server refused it: {fault.message}",
            detail=fault.detail,
            receipt=Receipt(),
        )
    return Unavailable(
        kind=fault.kind,
        message=fault.message,
        status=fault.status,
        code=fault.code,
        retry_after_s=fault.retry_after_s,
        request_id=fault.request_id,
        detail=fault.detail,
        receipt=Receipt(),
    )


def _dead_end(evidence: Evidence) -> DeadEnd:
    found = evidence.dead_end
    assert found is not None, "only a dead end leads here"
    return DeadEnd(
        cause=found.cause, prefix_tokens=found.prefix_tokens, explanation=found.explanation, receipt=Receipt()
    )


__all__ = ["Evidence", "Outside", "Verdict", "Whole", "rule"]
