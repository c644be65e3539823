"""Decide how long to wait for the next event, and which limit has run out. Sans-IO: times come in as arguments."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from commitgate.backends.base import ProseDelta, ReasoningDelta, RefusalDelta, StreamEvent, TextDelta, ToolDelta
from commitgate.outcome import Receipt, TimedOut, TimeoutPhase
from commitgate.timeouts import Timeouts

HIDDEN_READ_S = 2.0
"""Longest wait for a finish word after the first impossible byte."""

TRAILING_READ_S = 2.0
"""Longest wait for counts after the finish."""


_Wait: TypeAlias = tuple[TimeoutPhase, float, float | None]


@dataclass(frozen=True, slots=True)
class Deadline:
    """Say until when to wait.

    Attributes:
        at: time at which patience ends; None never.
        ending: what it means; None that the stream is simply read no further.
    """

    at: float | None
    ending: TimedOut | None


class Patience:
    """Follow one attempt's events.

    Args:
        timeouts: the limits; the total is the call's and not looked at here.
        now: time at which the request was open, in seconds.
    """

    def __init__(self, timeouts: Timeouts, now: float) -> None:
        self._timeouts = timeouts
        self._opened_at = now
        self._last_event_at: float | None = None
        self._last_content_at = now
        self._read_until: float | None = None
        self._idle_s = inf if timeouts.idle_s is None else timeouts.idle_s
        self._progress_s = inf if timeouts.progress_s is None else timeouts.progress_s
        first_s = inf if timeouts.first_event_s is None else timeouts.first_event_s
        self._event_at = now + first_s
        self._content_at = now + self._progress_s

    def note(self, event: StreamEvent, now: float) -> None:
        """Note that an event arrived."""
        self._last_event_at = now
        self._event_at = now + self._idle_s
        if _is_content(event):
            self._last_content_at = now
            self._content_at = now + self._progress_s

    def read_on(self, seconds: float, now: float) -> None:
        """Wait no longer than ``seconds`` from now for anything more; the first such call counts."""
        if self._read_until is None or self._read_until > now + seconds:
            self._read_until = now + seconds

    @property
    def until(self) -> float:
        """Return the time at which patience ends; infinite for never. What it means then, ``deadline`` says."""
        if self._read_until is not None:
            return self._read_until
        return min(self._event_at, self._content_at)

    @property
    def deadline(self) -> Deadline:
        """Return how long to wait for the next event, and what it means where none comes."""
        if self._read_until is not None:
            return Deadline(self._read_until, None)
        limits = self._timeouts
        next_event: _Wait = ("first_event", self._opened_at, limits.first_event_s)
        if self._last_event_at is not None:
            next_event = ("idle", self._last_event_at, limits.idle_s)
        found = _deadlines(next_event, ("progress", self._last_content_at, limits.progress_s))
        return min(found, key=lambda wait: wait.at or 0.0, default=Deadline(None, None))


def _deadlines(*waits: _Wait) -> list[Deadline]:
    return [Deadline(since + limit, _timed_out(phase, limit)) for phase, since, limit in waits if limit is not None]


def _timed_out(phase: TimeoutPhase, limit_s: float) -> TimedOut:
    return TimedOut(phase=phase, limit_s=limit_s, receipt=Receipt())


def _is_content(event: StreamEvent) -> bool:
    match event:
        case TextDelta(data=data) | ProseDelta(data=data) | ReasoningDelta(data=data):
            return bool(data.strip(b" \t\r\n"))
        case RefusalDelta(text=text):
            return bool(text)
        case ToolDelta():
            return bool(event.name or event.arguments.strip(b" \t\r\n"))
        case _:
            return False


__all__ = ["HIDDEN_READ_S", "TRAILING_READ_S", "Deadline", "Patience"]
