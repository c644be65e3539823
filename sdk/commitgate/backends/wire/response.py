"""Read one answer of a server: its status, its content type, its bytes, and whether they really ended. Sans-IO.

What wins where several things are true of one answer: an error that the server tells of wins over a finish; a finish
wins over bytes behind it that are no event, and over how the line went down; nothing else proves an end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from commitgate.backends.base import ConnectionLost, Fault, Finish, Notice, Ping, StreamEvent, Usage
from commitgate.backends.dialect import EventReader
from commitgate.backends.wire.errors import (
    MAX_ERROR_BODY_BYTES,
    Failure,
    read_answer,
    read_error,
    read_foreign,
    read_stray,
    request_id,
    tells_error,
)
from commitgate.backends.wire.event_json import read_event
from commitgate.backends.wire.json_body import JsonBodyDecoder
from commitgate.backends.wire.ndjson import NdjsonDecoder
from commitgate.backends.wire.packing import Unpacker
from commitgate.backends.wire.sse import SseDecoder
from commitgate.backends.wire.wire_event import Decoder, Framing, RawEvent, WireEvent, WireFaultError
from commitgate.harmless import harmless

SLICE_BYTES = 4_096
"""Most bytes that are read at once, after which the rest of the program may have its turn."""

MAX_FINISH_CHARACTERS = 128
"""Most characters that are kept of a server's own finish word."""

_LEAST_SECRET = 8
"""Fewest characters of a key that is one: shorter ones stand in words by chance."""

_WHOLE = range(200, 204)
"""Statuses of whole answers. Others of success have no body, a part of one, or one of many answers."""

_NDJSON = frozenset(
    f"application/{name}"
    for name in ("x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines", "stream+json")
)
_PARAMETERS = re.compile("[;,]")
_DECODERS: Mapping[Framing, Callable[[], Decoder]] = {
    "sse": SseDecoder,
    "ndjson": NdjsonDecoder,
    "json": JsonBodyDecoder,
}


class ResponseReader:
    """Turn the bytes of one answer into events. One object for one answer.

    Args:
        reader: the dialect's reader of events.
        status: HTTP status.
        headers: header fields, their names in any case.
        framing: how the body is cut where no content type says so.
        now: POSIX time in seconds at which the head came.
        secret: the key that the request carried, which a server may quote; it is taken out of all words that are kept
            of it. Empty where there was none.

    Attributes:
        request_id: the provider's own name of the request, where its head gives one.
        is_over: a failure was given, and reading on is in vain: no further event is given.
        usage: the last counts that came behind a failure.
    """

    def __init__(
        self,
        reader: EventReader,
        status: int,
        headers: Mapping[str, str],
        framing: Framing,
        now: float,
        *,
        secret: str = "",
    ) -> None:
        self._reader = reader
        self._status = status
        self._headers = {name.lower(): value for name, value in headers.items()}
        self._now = now
        self._secret = secret
        self.request_id = self.without_secret(request_id(self._headers))
        self.is_over = False
        self.usage: Usage | None = None
        self._finish: Finish | None = None
        self._has_ended = False
        self._native: str | None = None
        self._has_events = False
        self._has_junk = False
        self._kept = bytearray()
        """The body of an answer that is no answer of a model, up to a limit."""
        found = _framing(self._headers.get("content-type"), framing) if status in _WHOLE else None
        self._decoder: Decoder | None = None if found is None else _DECODERS[found]()
        self._unpacker: Unpacker | None = None
        self._fault: WireFaultError | None = None
        try:
            self._unpacker = Unpacker(self._headers.get("content-encoding", ""))
        except WireFaultError as fault:
            self._fault = fault

    @property
    def finish_native(self) -> str | None:
        """Return the server's own finish word, as far as it was read when the answer failed."""
        native = self._native if self.is_over else self._reader.finish_native
        return None if native is None else self._shown(native)

    def without_secret(self, words: str | None) -> str | None:
        """Return words of a server without the key that it was asked with."""
        return words.replace(self._secret, "***") if words and len(self._secret) >= _LEAST_SECRET else words

    def _shown(self, native: str) -> str:
        """Return a finish word, cut and harmless: a server may call its end whatever it likes."""
        shown = self.without_secret(native[: 2 * MAX_FINISH_CHARACTERS]) or ""
        return harmless(shown[:MAX_FINISH_CHARACTERS])[:MAX_FINISH_CHARACTERS]

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Return what the next bytes of the body mean; a mere sign of life where they mean nothing yet."""
        if self._has_ended or not data:
            return []
        was_over = self.is_over
        events = [event for events in self._meanings(data) for event in events]
        return events or ([] if was_over else [Ping()])

    def feed_slowly(self, data: bytes) -> Iterator[list[StreamEvent]]:
        """Yield the same little by little: a few bytes may unpack to many, and a few may be many events.

        Args:
            data: the next bytes of the body. No others are fed until all of these were taken.
        """
        was_over = self.is_over
        has_meant = False
        if not self._has_ended and data:
            for events in self._meanings(data):
                has_meant = has_meant or bool(events)
                yield events
            if not has_meant and not was_over:
                yield [Ping()]

    def _meanings(self, data: bytes) -> Iterator[list[StreamEvent]]:
        """Yield what each slice of the unpacked body means."""
        events: list[StreamEvent] = []
        try:
            for piece in self._unpacked(data):
                for start in range(0, len(piece), SLICE_BYTES):
                    self._read(piece[start : start + SLICE_BYTES], events)
                    yield events
                    events = []
        except WireFaultError as fault:
            self._take_packing_fault(fault, events)
            yield events

    def end(self, *, is_clean: bool) -> list[StreamEvent]:
        """Return what the end of the body means.

        Args:
            is_clean: the body ended as its framing in HTTP says; else the line broke.
        """
        if self._has_ended:
            return []
        self._has_ended = True
        events: list[StreamEvent] = []
        if self._decoder is None:
            self._give_answer(events)
        else:
            self._end_stream(self._decoder, events, is_clean=is_clean)
        return events

    def _unpacked(self, data: bytes) -> Iterable[bytes]:
        if self._fault is not None:
            raise self._fault
        assert self._unpacker is not None, "it is missing only where its packing is unknown"
        return self._unpacker.feed(data)

    def _take_packing_fault(self, fault: WireFaultError, events: list[StreamEvent]) -> None:
        self._fault = fault
        # Of a failure the status tells enough.
        if self._decoder is not None:
            self._fail(fault, events)

    def _read(self, data: bytes, events: list[StreamEvent]) -> None:
        decoder = self._decoder
        if decoder is None:
            self._kept += data[: MAX_ERROR_BODY_BYTES - len(self._kept)]
            if len(self._kept) >= MAX_ERROR_BODY_BYTES:
                self._give_answer(events)
            return
        for raw in decoder.feed(data):
            self._take(raw, events)
        if decoder.fault is not None:
            self._fail(decoder.fault, events)

    def _take(self, raw: RawEvent, events: list[StreamEvent]) -> None:
        try:
            event = read_event(raw)
            if event is not None:
                self._has_events = True
                self._take_event(event, events)
        except WireFaultError as fault:
            failure = self._failure_of(raw)
            if failure is None:
                self._fail(fault, events)
            else:
                self._add(failure, events)

    @staticmethod
    def _failure_of(raw: RawEvent) -> Failure | None:
        """Return the error that an event is although it is no object; None where it is none."""
        if raw.name == "error":
            return read_error({"error": raw.data.decode(errors="replace")})
        return read_stray(raw.data)

    def _take_event(self, event: WireEvent, events: list[StreamEvent]) -> None:
        if self.is_over:
            self._take_counts(event)
        elif event.value is not None and tells_error(event.value, name=event.name):
            self._take_error(event, events)
        else:
            for found in self._read_by_dialect(event):
                self._add(found, events)

    def _take_counts(self, event: WireEvent) -> None:
        """Take what is still of interest behind a failure: counts, and whether the end marker came."""
        with suppress(WireFaultError):
            for found in self._read_by_dialect(event):
                self.usage = found if isinstance(found, Usage) else self.usage

    def _read_by_dialect(self, event: WireEvent) -> Iterable[StreamEvent]:
        is_whole = isinstance(self._decoder, JsonBodyDecoder) and not self._decoder.is_array
        return self._reader.read_whole(event) if is_whole else self._reader.read(event)

    def _take_error(self, event: WireEvent, events: list[StreamEvent]) -> None:
        """Take an error, and what of the answer may stand beside it."""
        with suppress(WireFaultError):  # an error need not look like an answer
            for found in self._read_by_dialect(event):
                if not isinstance(found, Fault | Finish):
                    events.append(found)
        self._add(read_error(event.value or {}), events)

    def _add(self, found: StreamEvent, events: list[StreamEvent]) -> None:
        if isinstance(found, Finish):
            found = Finish(found.reason, self._shown(found.native))
            if self._finish is not None and found == self._finish:
                return  # some servers say it twice
            self._finish = found
        elif isinstance(found, Fault):
            if self.is_over:
                return
            self.is_over = True
            self._native = self._reader.finish_native
            found = replace(
                found,
                code=self.without_secret(found.code),
                message=self.without_secret(found.message) or "",
                detail=self.without_secret(found.detail),
                request_id=self.without_secret(found.request_id) or self.request_id,
            )
        events.append(found)

    def _fail(self, fault: WireFaultError, events: list[StreamEvent]) -> None:
        """Take bytes that are not the format: nothing behind a finish or an end marker."""
        if not self._is_proven:
            self._add(Fault("protocol", str(fault), code=fault.code), events)
        elif not (self.is_over or self._has_junk or self._reader.is_terminal):
            self._has_junk = True
            events.append(Notice("junk_after_finish"))

    @property
    def _is_proven(self) -> bool:
        return self._finish is not None or self._reader.finish_native is not None or self._reader.is_terminal

    def _give_answer(self, events: list[StreamEvent]) -> None:
        """Give what an answer means that is none of a model."""
        if not self.is_over:
            self._add(self._read_answer(), events)
            self.is_over = True

    def _read_answer(self) -> Failure:
        body = bytes(self._kept)
        if self._status in _WHOLE:
            return read_foreign(body)
        return read_answer(self._status, self._headers, body, now=self._now)

    def _end_stream(self, decoder: Decoder, events: list[StreamEvent], *, is_clean: bool) -> None:
        is_clean = is_clean and (self._unpacker is None or self._unpacker.is_whole)
        is_whole = decoder.is_whole
        if is_clean:
            for raw in decoder.finish():
                is_whole = self._take_last(raw, events)
            if decoder.fault is not None:
                self._fail(decoder.fault, events)
        if decoder.stray:
            self._take_stray(decoder.stray, events, is_clean=is_clean)
        if self.is_over:
            return
        if is_clean and is_whole:
            events += self._reader.close()
        else:
            events.append(ConnectionLost())

    def _take_last(self, raw: RawEvent, events: list[StreamEvent]) -> bool:
        """Take an event that only the end of the body ended; return whether it was whole."""
        try:
            read_event(raw)
        except WireFaultError:
            return False  # half an event is no fault of its format
        self._take(raw, events)
        return True

    def _take_stray(self, text: bytes, events: list[StreamEvent], *, is_clean: bool) -> None:
        """Take text that stands outside of all events: an error, or a body that is no event stream."""
        failure = read_stray(text)
        if failure is not None:
            self._add(failure, events)
        elif is_clean and not self._has_events:
            self._fail(WireFaultError("not_events", "the body is no event stream"), events)


def _framing(content_type: str | None, usual: Framing) -> Framing | None:
    """Return how a body of a content type is cut into events; None where it holds none."""
    if content_type is None or not content_type.strip():
        return usual
    media_type = _PARAMETERS.split(content_type, maxsplit=1)[0].strip().lower()
    if media_type == "text/event-stream":
        return "sse"
    if media_type in _NDJSON:
        return "ndjson"
    return "json" if media_type == "application/json" or media_type.endswith("+json") else None


__all__ = ["MAX_FINISH_CHARACTERS", "SLICE_BYTES", "ResponseReader"]
