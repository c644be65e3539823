"""Record calls step by step, as an observer that asks for everything; bounded in all that a model can make grow."""

from __future__ import annotations

import time
from collections.abc import Callable

from commitgate.argument import check_int
from commitgate.errors import MisuseError
from commitgate.telemetry.observer import CallBegan, CallObserver
from commitgate.trace.recording import Recording
from commitgate.trace.trace import Trace

MAX_PIECES = 20_000
"""Most pieces that are kept of one call unless a recorder is told otherwise; a trace says where some were left out."""

MAX_TRACES = 50
"""Most calls that a recorder keeps unless it is told otherwise, the newest of them."""

MAX_BYTES = 67_108_864
"""About how much memory all kept calls together may take unless a recorder is told otherwise."""


class TraceRecorder:
    """Record every call of a client. Give it to ``Client(observers=[...])``.

    What it records holds prompts and answers. Having each step told costs some milliseconds a token. One event loop's
    clients may share a recorder.

    Args:
        most_traces: most calls that are kept, >= 1; the oldest makes room.
        most_pieces: most pieces that are kept of one call, >= 1; what comes after them is left out.
        most_bytes: about how much memory all of them may take, >= 1; the oldest makes room, and a call that is alone
            too large is cut.
        told: is told of a recording each time that something was added to it; None for nobody. It must return quickly.
        wall_clock: seconds since 1970.

    Raises:
        MisuseError: a bound is below 1.
    """

    def __init__(
        self,
        *,
        most_traces: int = MAX_TRACES,
        most_pieces: int = MAX_PIECES,
        most_bytes: int = MAX_BYTES,
        told: Callable[[Recording], None] | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        for name, bound in (("most_traces", most_traces), ("most_pieces", most_pieces), ("most_bytes", most_bytes)):
            check_int(name, bound)
            if bound < 1:
                raise MisuseError(f"{name} must be >= 1, found {bound}")
        self._most_traces = most_traces
        self._most_bytes = most_bytes
        self._recordings: list[Recording] = []
        self._told = told
        self._wall_clock = wall_clock
        self.most_pieces = most_pieces

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """Return who records the calls that are kept, the oldest first."""
        return tuple(self._recordings)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Return what was recorded, the oldest first; calls that run are there as far as they have come."""
        return tuple(recording.trace for recording in self._recordings)

    def call_began(self, call: CallBegan) -> CallObserver:
        """Return who records this call."""
        return self.recording(call)

    def recording(self, call: CallBegan, *, kind: str | None = None) -> Recording:
        """Return who records this call, for those who are no client's observer.

        Args:
            call: it.
            kind: what sort of call it is, where that is none that clients make.
        """
        found = Recording(call, self, started_at=self._wall_clock(), kind=kind or call.kind)
        self._recordings.append(found)
        if len(self._recordings) > self._most_traces:
            self._drop()
        return found

    def has_room(self, recording: Recording, size_bytes: int) -> bool:
        """Say whether a recording may grow so much, and drop the oldest ones where that makes room."""
        if recording not in self._recordings:
            return False
        used = sum(each.size_bytes for each in self._recordings) + size_bytes
        while used > self._most_bytes and self._recordings[0] is not recording:
            used -= self._recordings[0].size_bytes
            self._drop()
        return used <= self._most_bytes

    def tell(self, recording: Recording) -> None:
        """Tell that something was added."""
        if self._told is not None:
            self._told(recording)

    def _drop(self) -> None:
        self._recordings.pop(0)


__all__ = ["MAX_BYTES", "MAX_PIECES", "MAX_TRACES", "TraceRecorder"]
