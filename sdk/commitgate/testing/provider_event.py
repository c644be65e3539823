"""Read what a provider sends beside text: errors, counts, the end of a response, whole HTTP answers.

This is as much of the wires as scripts need; text comes from steps of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from commitgate.backends.base import Event, Fault, Finish, FinishReason, Ping, Usage
from commitgate.backends.words import FINISH_WORDS, fault_kind, read_finish, safe_code
from commitgate.retry.retry_after import parse_retry_after

Fields: TypeAlias = Mapping[str, object]

_INPUT_COUNTS = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count")
_OUTPUT_COUNTS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
_REQUEST_IDS = ("x-request-id", "request-id")


def read_event(event: Fields) -> Iterator[Event]:
    """Yield what one event means; an event that means nothing here is a sign of life."""
    response = _fields(event.get("response"))
    fault = read_error(event) or read_error(response)
    if fault is not None:
        yield fault
        return
    usage = _usage(_fields(event.get("usage")) or _fields(response.get("usage")))
    if usage is not None:
        yield usage
    match event.get("type"):
        case "response.completed":
            yield Finish(FinishReason.STOP, "completed")
        case "response.incomplete":
            yield _incomplete(_fields(response.get("incomplete_details")).get("reason"))
        case "response.failed":
            yield Fault("server", "the provider says that its response failed")
        case _:
            if usage is None:
                yield Ping()


def read_error(holder: Fields, *, status: int | None = None) -> Fault | None:
    """Return the failure that an object tells of, where it does.

    Args:
        holder: an event or a body: ``{"error": {...}}``, ``{"error": "text"}``, or flat with ``type`` or ``object``
            ``error``.
        status: the HTTP status that it came with, where that is one of a failure.
    """
    error = holder.get("error")
    is_flat = "error" in (holder.get("type"), holder.get("object"))
    if not error and not is_flat:
        return None
    found = _fields(error) or holder
    words = [found.get(key) for key in ("code", "type", "status", "error_type")]
    codes = [code for code in map(safe_code, words) if code is not None and code != "error"]
    numbers = [found.get(key) for key in ("code", "http_status_code")]
    told = next((number for number in numbers if isinstance(number, int) and 300 <= number <= 599), status)
    return Fault(
        fault_kind(told, codes),
        "the provider reports an error" if status is None else f"the server answered with status {status}",
        status=status,
        code=codes[0] if codes else None,
    )


def read_raw(data: bytes) -> Iterator[Event]:
    """Yield what the lines of an event stream mean; each block of data lines is one event."""
    lines: list[bytes] = []
    for line in (*data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), b""):
        name, _, value = line.partition(b":")
        if not line and lines:
            yield from _read_data(b"\n".join(lines))
            lines.clear()
        elif name == b"data":
            lines.append(value.removeprefix(b" "))
        elif line and not name:
            yield Ping()
        elif line and name not in (b"event", b"id", b"retry"):
            yield _undecodable()


def read_http(head: Fields) -> Iterator[Event]:
    """Yield what an HTTP answer means; one that only opens a stream means nothing yet."""
    status = cast(int, head.get("status", 200))
    headers = {name.lower(): value for name, value in cast("Mapping[str, str]", head.get("headers", {})).items()}
    body = head.get("body", "")
    if status >= 300:
        yield _refused(status, headers, _parsed(body))
        return
    kind = headers.get("content-type", "text/event-stream").split(";")[0].strip().lower()
    if kind == "text/event-stream":
        yield from read_raw(_bytes(body))
    elif kind == "application/json":
        yield read_error(_parsed(body)) or Fault("protocol", "the server sent one object in place of a stream")
    else:
        yield Fault("protocol", "the server sent something else than a stream of events")


def _refused(status: int, headers: Mapping[str, str], body: Fields) -> Fault:
    # A code may also stand beside the error object, or in its place.
    code = safe_code(body.get("code"))
    fault = read_error(body, status=status) or Fault(
        fault_kind(status, () if code is None else (code,)),
        f"the server answered with status {status}",
        status=status,
        code=code,
    )
    return Fault(
        fault.kind,
        fault.message,
        status=status,
        code=fault.code,
        retry_after_s=parse_retry_after(headers, now=time.time()),
        request_id=next((headers[name] for name in _REQUEST_IDS if name in headers), None),
    )


def _read_data(data: bytes) -> Iterator[Event]:
    if data.strip() == b"[DONE]":
        yield Ping()
        return
    try:
        event: object = json.loads(data)
    except (ValueError, RecursionError):
        yield _undecodable()
        return
    if isinstance(event, Mapping):
        yield from read_event(cast(Fields, event))
    else:
        yield _undecodable()


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


def _parsed(body: object) -> Fields:
    """Return a body's object; the first where it is a list, empty where there is none."""
    if isinstance(body, str | bytes):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return {}
    if isinstance(body, list):
        return _fields(next(iter(cast("list[object]", body)), None))
    return _fields(body)


def _bytes(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _fields(value: object) -> Fields:
    return cast(Fields, value) if isinstance(value, Mapping) else {}


__all__ = ["read_error", "read_event", "read_http", "read_raw"]
