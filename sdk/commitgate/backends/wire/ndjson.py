"""Read one JSON object a line out of bytes. Sans-IO.

Lines end with LF; a CR before it is JSON's white space, and so is a blank line. No other character ends one: U+2028 may
stand raw inside of a string.
"""

from __future__ import annotations

from commitgate.backends.wire.byte_order_mark import MarkRemover
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, RawEvent, WireFaultError

_BLANK = b" \t\r"


class NdjsonDecoder:
    """Cut a body into its lines. Its memory is bounded by ``most_bytes``, whatever comes.

    Args:
        most_bytes: most bytes of one line, >= 1.

    Attributes:
        fault: why the body cannot be read on; what comes after it is dropped.
    """

    def __init__(self, *, most_bytes: int = MAX_EVENT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._mark = MarkRemover()
        self._partial = bytearray()
        self.fault: WireFaultError | None = None

    @property
    def is_whole(self) -> bool:
        """Say that the body may end here: no line was begun that no LF ended."""
        return not self._partial.strip(_BLANK)

    @property
    def stray(self) -> bytes:
        """Return nothing: every line is an event."""
        return b""

    def feed(self, data: bytes) -> list[RawEvent]:
        """Return the lines that end in ``data``."""
        if self.fault is not None:
            return []
        if not self._mark.is_past:
            data = self._mark.feed(data)
        return self._split(data)

    def finish(self) -> list[RawEvent]:
        """Return the line that a clean end of the body ends."""
        self._partial += b"" if self._mark.is_past else self._mark.finish()
        line = bytes(self._partial)
        self._partial.clear()
        return [RawEvent(line, "", False)] if line.strip(_BLANK) else []

    def _split(self, data: bytes) -> list[RawEvent]:
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._partial:
            self._partial += lines[0]
            lines[0] = bytes(self._partial)
            self._partial.clear()
        events: list[RawEvent] = []
        for line in lines:
            if len(line) > self._most_bytes:
                self._fail()
                return events
            if line.strip(_BLANK):
                events.append(RawEvent(line))
        self._partial += rest
        if len(self._partial) > self._most_bytes:
            self._fail()
        return events

    def _fail(self) -> None:
        self.fault = WireFaultError("line_too_long", f"a line has more than {self._most_bytes} bytes")
        self._partial.clear()


__all__ = ["NdjsonDecoder"]
