"""Read what a provider sends beside text: errors, counts, the end of a response, whole HTTP answers.

This is as much of the wires as scripts need; text comes from steps of its own.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import cast

from commitgate.backends.base import Event, Fault, Finish, FinishReason, Ping, Usage
from commitgate.backends.wire import errors
from commitgate.backends.wire.error_words import Fields, fields_of
from commitgate.backends.wire.event_json import read_event as read_wire_event
from commitgate.backends.wire.sse import SseDecoder
from commitgate.backends.wire.wire_event import RawEvent, WireFaultError
from commitgate.backends.words import FINISH_WORDS, read_finish, safe_code

_INPUT_COUNTS = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT_COUNTS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def read_event(event: Fields) -> Iterator[Event]:
    """Yield what one event means; an event that means nothing here is a sign of life."""
    response = fields_of(event.get("response"))
    for holder in (event, response):
        if errors.tells_error(holder):
            yield _wordless(errors.read_error(holder))
            return
    usage = _usage(fields_of(event.get("usage")) or fields_of(response.get("usage")))
    if usage is not None:
        yield usage
    match event.get("type"):
        case "response.completed":
            yield Finish(FinishReason.STOP, "completed")
        case "response.incomplete":
            yield _incomplete(fields_of(response.get("incomplete_details")).get("reason"))
        case "response.failed":
            yield Fault("server", "the provider says that its response failed")
        case _:
            if usage is None:
                yield Ping()


def read_raw(data: bytes) -> Iterator[Event]:
    """Yield what the lines of an event stream mean; a comment is a sign of life, and so is an end marker."""
    decoder = SseDecoder()
    for line in _LINES.findall(data):
        for event in decoder.feed(line):
            yield from _read_data(event)
        if line.startswith(b":"):
            yield Ping()
    for event in decoder.finish():
        yield from _read_data(event)
    if decoder.fault is not None or decoder.stray:
        yield _undecodable()


def read_http(head: Fields) -> Iterator[Event]:
    """Yield what an HTTP answer means; one that only opens a stream means nothing yet."""
    status = cast(int, head.get("status", 200))
    headers = {name.lower(): value for name, value in cast("Mapping[str, str]", head.get("headers", {})).items()}
    body = _bytes(head.get("body", ""))
    if status >= 400:
        yield _wordless(errors.read_answer(status, headers, body, now=time.time()))
        return
    kind = headers.get("content-type", "text/event-stream").split(";")[0].strip().lower()
    if status >= 300:
        yield Fault("protocol", f"the server answered with status {status}", status=status)
    elif kind == "text/event-stream":
        yield from read_raw(body)
    elif kind == "application/json":
        found = errors.read_stray(body)
        yield _wordless(found or Fault("protocol", "the server sent one object in place of a stream"))
    else:
        yield Fault("protocol", "the server sent something else than a stream of events")


def _wordless(found: errors.Failure) -> errors.Failure:
    """Leave a provider's words out: those of a script say what its author wants to see, not what a server told."""
    return replace(found, detail=None) if isinstance(found, Fault) else found


def _read_data(raw: RawEvent) -> Iterator[Event]:
    try:
        event = read_wire_event(raw)
    except WireFaultError:
        yield _undecodable()
        return
    if event is None or event.value is None:
        yield Ping()
    else:
        yield from read_event(event.value)


def _undecodable() -> Fault:
    return Fault("protocol", "the server sent bytes that are no event")


def _incomplete(reason: object) -> Event:
    word = safe_code(reason) or "unknown"
    return read_finish(word) if word in FINISH_WORDS else Finish(FinishReason.UNKNOWN, f"incomplete:{word}")


def _usage(counts: Fields) -> Usage | None:
    found = [
        next((count for count in map(counts.get, names) if isinstance(count, int)), None)
        for names in (_INPUT_COUNTS, _OUTPUT_COUNTS)
    ]
    return None if found == [None, None] else Usage(*found)


def _bytes(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


__all__ = ["Fields", "read_event", "read_http", "read_raw"]
