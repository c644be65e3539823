"""Hold the events of one stream to the order in which a backend may send them. Sans-IO."""

from __future__ import annotations

from commitgate.backends.base import (
    ConnectionLost,
    DeadEndReached,
    Fault,
    Finish,
    Notice,
    Ping,
    ProseDelta,
    ReasoningDelta,
    SentEvent,
    StepTaken,
    TextDelta,
    Usage,
)

_LAST = (Fault, ConnectionLost, DeadEndReached)
_AFTER_FINISH = (Usage, Notice, Ping, Fault, ConnectionLost)
_WITH_DATA = (TextDelta, ReasoningDelta, ProseDelta)


class StreamLaw:
    """Look at each event as the backend sends it.

    Args:
        traces: the request asked for steps.

    Attributes:
        broken: the first thing that was wrong, in words; empty while nothing is.
        is_finished: the finish came.
    """

    def __init__(self, *, traces: bool = False) -> None:
        self._traces = traces
        self._has_ended = False
        self.is_finished = False
        self.broken = ""

    def take(self, event: SentEvent) -> None:
        """Take one event."""
        name = type(event).__name__
        if self._has_ended:
            self._break(f"{name} followed the last event of the stream")
        elif self.is_finished and not isinstance(event, _AFTER_FINISH):
            self._break(f"{name} followed the finish")
        elif isinstance(event, _WITH_DATA) and not event.data:
            self._break(f"{name} came without a byte")
        elif isinstance(event, StepTaken) and not self._traces:
            self._break("steps were told that nobody had asked for")
        self.is_finished = self.is_finished or isinstance(event, Finish)
        self._has_ended = self._has_ended or isinstance(event, _LAST)

    def _break(self, words: str) -> None:
        self.broken = self.broken or words


__all__ = ["StreamLaw"]
