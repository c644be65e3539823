"""Say what the wire alone tells of an answer, before anything is asked of its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from commitgate.backends.base import (
    Fault,
    FaultKind,
    Finish,
    FinishReason,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.words import TOOL_FINISH_WORDS

WireOutcome: TypeAlias = Literal[
    "complete",
    "truncated",
    "refused",
    "filtered",
    "tool_call",
    "paused",
    "aborted",
    "malformed",
    "constraint_error",
    "request_error",
    "auth_error",
    "rate_limited",
    "server_error",
    "interrupted",
    "protocol_error",
    "unknown",
]
"""What the wire says."""

WIRE_OUTCOMES: tuple[WireOutcome, ...] = get_args(WireOutcome)

_OF_FAULT: Mapping[FaultKind, WireOutcome] = {
    "rate_limit": "rate_limited",
    "overload": "server_error",
    "server": "server_error",
    "auth": "auth_error",
    "quota": "rate_limited",
    "bad_request": "request_error",
    "constraint": "constraint_error",
    "unreachable": "interrupted",
    "untrusted": "interrupted",
    "in_progress": "request_error",
    "conflict": "request_error",
    "protocol": "protocol_error",
    "unknown_finish": "unknown",
    "model": "server_error",
}

_OF_REASON: Mapping[FinishReason, WireOutcome] = {
    FinishReason.STOP: "complete",
    FinishReason.LENGTH: "truncated",
    FinishReason.CONTENT_FILTER: "filtered",
    FinishReason.REFUSAL: "refused",
    FinishReason.PAUSED: "paused",
    FinishReason.MALFORMED: "malformed",
    FinishReason.CANCELLED: "aborted",
    FinishReason.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """Hold a call of a tool, its pieces joined.

    Attributes:
        id: what the server calls it; None where it does not.
        name: the tool's name.
        arguments: as the server sent them.
    """

    id: str | None
    name: str = field(repr=False)
    arguments: str = field(repr=False)


@dataclass(slots=True)
class _JoinedCall:
    id: str | None = None
    name: str = ""
    arguments: bytearray = field(default_factory=bytearray)

    def take(self, piece: ToolDelta) -> None:
        self.id = self.id or piece.id
        # Some servers repeat the name with every piece, others send it in pieces.
        self.name += piece.name if piece.name and piece.name != self.name else ""
        self.arguments += piece.arguments

    def joined(self) -> ReplayedCall:
        arguments = bytes(self.arguments).decode(errors="replace")
        return ReplayedCall(id=self.id, name=self.name, arguments=arguments)


@dataclass(slots=True)
class WireReading:
    """Gather what the events of one answer say."""

    text: bytearray = field(default_factory=bytearray)
    reasoning: bytearray = field(default_factory=bytearray)
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: dict[int, _JoinedCall] = field(default_factory=dict[int, _JoinedCall])
    finish: Finish | None = None
    fault: Fault | None = None
    has_late: bool = False
    """More of the answer came behind its finish."""

    def take(self, event: StreamEvent) -> None:
        """Take the next event."""
        match event:
            case TextDelta() | ProseDelta():
                self.text += event.data
            case ToolDelta():
                self.calls.setdefault(event.index, _JoinedCall()).take(event)
            case ReasoningDelta():
                self.reasoning += event.data
            case RefusalDelta():
                self.refusal += event.text
            case Finish() if self.finish is None:
                self.finish = event
                return
            case Usage():
                self.usage = event
                return
            case Fault():
                self.fault = event
                return
            case Finish():
                pass
            case _:
                return
        self.has_late = self.has_late or self.finish is not None

    @property
    def outcome(self) -> WireOutcome:
        """Return what they say together: a failure wins over a finish, and without either nothing is proven."""
        if self.fault is not None:
            # Not every 402 is a limit that was reached: without money nothing was asked too often.
            return "request_error" if self.fault.status == 402 else _OF_FAULT[self.fault.kind]
        if self.finish is None:
            return "interrupted"
        if self.has_late:
            return "protocol_error"
        if self.refusal and self.finish.reason in (FinishReason.STOP, FinishReason.LENGTH):
            return "refused"
        if self.finish.reason is FinishReason.STOP and self.calls:
            return "tool_call"
        if self.finish.reason is FinishReason.STOP and self.finish.native in TOOL_FINISH_WORDS:
            return "unknown"  # it says that it calls, and there is no call
        return _OF_REASON[self.finish.reason]


__all__ = ["WIRE_OUTCOMES", "ReplayedCall", "WireOutcome", "WireReading"]
