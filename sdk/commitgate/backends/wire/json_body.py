"""Read a body of plain JSON: one object, or one array whose items come out as they become whole. Sans-IO.

A server that was asked for a stream may answer with one object all the same, after blank lines as signs of life; one
API streams its events as the items of an array. An object is whole at its closing bracket, however the body ends.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from commitgate.backends.wire.byte_order_mark import MarkRemover
from commitgate.backends.wire.wire_event import MAX_EVENT_BYTES, RawEvent, WireFaultError
from commitgate.tools.one_value import ValueEnd

MAX_BODY_BYTES = 8_388_608
"""Most bytes of one whole answer."""


_BLANK = re.compile(rb"[ \t\r\n]*")


class _Place(Enum):
    START = auto()
    FIRST_ITEM = auto()
    ITEM = auto()
    AFTER_ITEM = auto()
    END = auto()


class JsonBodyDecoder:
    """Cut a body into the objects that it holds. Its memory is bounded by its limits, whatever comes.

    Args:
        most_bytes: most bytes of one object that is the whole body, >= 1.
        most_item_bytes: most bytes of one item of an array, >= 1.

    Attributes:
        fault: why the body cannot be read on; what comes after it is dropped.
        is_array: the body is an array.
    """

    def __init__(self, *, most_bytes: int = MAX_BODY_BYTES, most_item_bytes: int = MAX_EVENT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._most_item_bytes = most_item_bytes
        self._mark = MarkRemover()
        self._place = _Place.START
        self._value: ValueEnd | None = None
        self._held = bytearray()
        self.fault: WireFaultError | None = None
        self.is_array = False

    @property
    def is_whole(self) -> bool:
        """Say that the body may end here: nothing was begun that was not ended."""
        return self._value is None and self._place in (_Place.START, _Place.END)

    @property
    def stray(self) -> bytes:
        """Return nothing: what is no JSON is a fault."""
        return b""

    def feed(self, data: bytes) -> list[RawEvent]:
        """Return the objects that end in ``data``."""
        if not self._mark.is_past:
            data = self._mark.feed(data)
        events: list[RawEvent] = []
        at = 0
        while at < len(data) and self.fault is None:
            at = self._between(data, at) if self._value is None else self._within(self._value, data, at, events)
        return events

    def finish(self) -> list[RawEvent]:
        """Return nothing: an object that was not closed is none."""
        if not self._mark.is_past and self._mark.finish():
            self._fail("not_json", "the body is not JSON")
        return []

    def _within(self, value: ValueEnd, data: bytes, at: int, events: list[RawEvent]) -> int:
        end = value.feed(data, at)
        self._held += data[at:end]
        most_bytes = self._most_item_bytes if self.is_array else self._most_bytes
        if len(self._held) > most_bytes:
            self._fail("event_too_large", f"an object has more than {most_bytes} bytes")
        elif value.is_whole:
            events.append(RawEvent(bytes(self._held)))
            self._held.clear()
            self._value = None
            self._place = _Place.AFTER_ITEM if self.is_array else _Place.END
        return end

    def _between(self, data: bytes, at: int) -> int:
        found = _BLANK.match(data, at)
        at = at if found is None else found.end()
        if at == len(data):
            return at
        match self._place, data[at : at + 1]:
            case _Place.START | _Place.FIRST_ITEM | _Place.ITEM, b"{":
                self._value = ValueEnd()
                return at
            case _Place.START, b"[":
                self.is_array = True
                self._place = _Place.FIRST_ITEM
            case _Place.AFTER_ITEM, b",":
                self._place = _Place.ITEM
            case _Place.FIRST_ITEM | _Place.AFTER_ITEM, b"]":
                self._place = _Place.END
            case _Place.END, _:
                self._fail("json_trailing", "more came after the JSON of the body")
            case _:
                self._fail("not_json", "the body is neither an object nor an array of objects")
        return at + 1

    def _fail(self, code: str, message: str) -> None:
        self.fault = WireFaultError(code, message)
        self._held.clear()


__all__ = ["MAX_BODY_BYTES", "JsonBodyDecoder"]
