"""Read server-sent events out of bytes. Sans-IO.

Lines end with LF, CR or CRLF and with nothing else: U+2028, U+0085 and their like may stand raw inside of data. Data
stays bytes, so a character cut by the network is none of this module's business.

Beyond the standard: an event that only the clean end of the body ends is given, marked as such, and the text of unknown
fields is kept, because some servers append their error as bare JSON.
Source: WHATWG HTML, section 9.2.6 (parsing and interpreting event streams).
"""

from __future__ import annotations

from commitgate.backends.wire.byte_order_mark import MarkRemover
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, RawEvent, WireFaultError

MAX_STRAY_BYTES = 65_536
"""Most bytes that are kept of text outside of events; an error of a server is far shorter."""

_FIELDS = (b"data", b"event", b"id", b"retry")


class SseDecoder:
    """Cut an event stream into events. Its memory is bounded by ``most_bytes``, whatever comes.

    Args:
        most_bytes: most bytes of one line, and of the data lines of one event, >= 1.

    Attributes:
        fault: why the stream cannot be read on; what comes after it is dropped.
        last_event_id: the last ``id:`` of an event that was given.
    """

    def __init__(self, *, most_bytes: int = MAX_EVENT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._mark = MarkRemover()
        self._is_after_cr = False
        self._partial = bytearray()
        self._data: list[bytes] = []
        self._size_bytes = 0
        self._name = ""
        self._id = ""
        self._stray = bytearray()
        self._is_stray_open = False
        self.fault: WireFaultError | None = None
        self.last_event_id = ""

    @property
    def is_whole(self) -> bool:
        """Say that the body may end here: no data was read that no blank line ended."""
        return not self._data and (not self._partial or self._partial.startswith(b":"))

    @property
    def stray(self) -> bytes:
        """Return the last run of lines with unknown fields, joined by LF."""
        return bytes(self._stray)

    def feed(self, data: bytes) -> list[RawEvent]:
        """Return the events that end in ``data``."""
        if self.fault is not None:
            return []
        if not self._mark.is_past:
            data = self._mark.feed(data)
        return self._split(data) if data else []

    def finish(self) -> list[RawEvent]:
        """Return the event that a clean end of the body ends."""
        events = [] if self._mark.is_past else self._split(self._mark.finish())
        if self._partial and self.fault is None:
            line = bytes(self._partial)
            self._partial.clear()
            if not any(name.startswith(line) for name in _FIELDS):  # half a field's name is no text of its own
                self._take(line, events)
        if self._data and self.fault is None:
            self._give(events, is_ended=False)
        return events

    def _split(self, data: bytes) -> list[RawEvent]:
        if self._is_after_cr:
            # The second half of a CRLF that the network cut.
            self._is_after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._is_after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        events: list[RawEvent] = []
        if lines and self._partial:
            self._partial += lines[0]
            lines[0] = bytes(self._partial)
            self._partial.clear()
        for line in lines:
            if line:
                self._take(line, events)
                if self.fault is not None:
                    return events
            else:
                self._give(events)
        self._partial += rest
        if len(self._partial) > self._most_bytes:
            self._fail("line_too_long", "a line")
        return events

    def _take(self, line: bytes, events: list[RawEvent]) -> None:
        """Read a line that is not blank."""
        if len(line) > self._most_bytes:
            self._fail("line_too_long", "a line")
        elif line.startswith(b"data:"):
            self._add_data(line[6:] if line.startswith(b" ", 5) else line[5:], len(line))
        elif not line.startswith(b":"):
            name, _, value = line.partition(b":")
            self._take_field(name, value.removeprefix(b" "), line)

    def _take_field(self, name: bytes, value: bytes, line: bytes) -> None:
        match name:
            case b"event":
                self._name = value.decode(errors="replace")
            case b"data":
                self._add_data(value, len(line))
            case b"id":
                if b"\0" not in value:
                    self._id = value.decode(errors="replace")
            case b"retry":
                pass
            case _:
                self._keep_stray(line)

    def _add_data(self, value: bytes, line_bytes: int) -> None:
        self._is_stray_open = False
        # The field name is counted too, so that empty data lines without end have an end.
        self._size_bytes += line_bytes
        if self._size_bytes > self._most_bytes:
            self._fail("event_too_large", "an event")
        else:
            self._data.append(value)

    def _give(self, events: list[RawEvent], *, is_ended: bool = True) -> None:
        self.last_event_id = self._id
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            events.append(RawEvent(data, self._name, is_ended))
            self._data.clear()
            self._size_bytes = 0
        self._name = ""

    def _keep_stray(self, line: bytes) -> None:
        if not self._is_stray_open:
            self._is_stray_open = True
            self._stray.clear()
        elif len(self._stray) < MAX_STRAY_BYTES:
            self._stray += b"\n"
        self._stray += line[: MAX_STRAY_BYTES - len(self._stray)]

    def _fail(self, code: str, what: str) -> None:
        self.fault = WireFaultError(code, f"{what} has more than {self._most_bytes} bytes")
        self._partial.clear()
        self._data.clear()


__all__ = ["MAX_STRAY_BYTES", "SseDecoder"]
