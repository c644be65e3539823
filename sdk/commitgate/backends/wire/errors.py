"""Read the error of any provider: from an event of a stream, or from a whole answer with a status of failure.

What sort of failure it is, is told by its code first, then by its status, and the words decide one question alone:
whether the constraint was refused. An error by which a filter blocked the prompt is no failure but a finish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, cast

from commitgate.backends.base import MAX_DETAIL_CHARACTERS, Fault, FaultKind, Finish, FinishReason
from commitgate.backends.wire.constraint_words import MOST_MESSAGE_CHARACTERS, is_constraint_refused
from commitgate.backends.wire.error_words import ErrorWords, Fields, error_words, fields_of
from commitgate.backends.wire.event_json import read_object
from commitgate.backends.wire.sse import SseDecoder
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.backends.words import GENERIC_CODES, fault_kind
from commitgate.harmless import harmless
from commitgate.retry.retry_after import parse_retry_after

Failure: TypeAlias = Fault | Finish
"""What an error means: a failure, or a finish by a filter."""

MAX_ERROR_BODY_BYTES = 65_536
"""Most bytes that are kept of the body of a failure."""

MAX_REQUEST_ID_CHARACTERS = 128
"""Longest name of a request that is kept; a longer one is as good as none."""

FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "bio_policy", "PROHIBITED_CONTENT"}
)
"""Codes by which a filter blocked the prompt or the answer."""

_REQUEST_IDS = ("x-request-id", "request-id", "apim-request-id", "x-generation-id", "nvcf-reqid")
_REQUEST_ID = re.compile(f"[\\x21-\\x7e]{{1,{MAX_REQUEST_ID_CHARACTERS}}}")
_CLIENT_MISTAKES = re.compile(r"json\.exception\.|param requires --jinja|unsupported param\b", re.IGNORECASE)
"""Words of llama.cpp for mistakes of a client that it calls errors of its own."""

_UNAUTHORIZED = re.compile(r"\s*(?:unauthorized|invalid api key|forbidden)\b", re.IGNORECASE)
_LOCATION = re.compile(
    r"(?:(https?):)?//(?:[^/?#@]{0,255}@)?([A-Za-z0-9.:\[\]-]{1,255})(?=[/?#]|$)"
    r"((?:/[a-z0-9._-]{1,24}(?=[/?#]|$)){0,6})"
)
"""A place that a redirect leads to. Of its path only what looks like an API's is told: a server may put into it what it
was asked."""

_TAGS = re.compile(r"<(?:script|style)\b[^<]*+(?:<(?!/(?:script|style))[^<]*+)*+|<[^<>]*+>", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


def tells_error(holder: Fields, *, name: str = "") -> bool:
    """Return whether an event or a body is an error, in the form of any provider.

    Args:
        holder: it.
        name: the event's name.
    """
    return bool(holder.get("error")) or "error" in (holder.get("type"), holder.get("object"), name)


def read_error(holder: Fields, *, status: int | None = None) -> Failure:
    """Return what an error means.

    Args:
        holder: an event or a body: ``{"error": {...}}``, ``{"error": "text"}``, or the error itself.
        status: the HTTP status that it came with, where that is one of a failure.
    """
    return _read(error_words(holder), status)


def read_answer(status: int, headers: Mapping[str, str], body: bytes, *, now: float) -> Failure:
    """Return what a whole answer with a status of failure means.

    Args:
        status: HTTP status, any but that of a whole answer.
        headers: names in any case.
        body: as it came, or its beginning.
        now: POSIX time in seconds.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    found = _read(_body_words(body), status)
    if isinstance(found, Finish):
        return found
    if status < 300:
        told = f"the server answered with status {status}, which is not that of a whole answer"
        found = replace(found, kind="protocol", message=told)
    elif status < 400:
        found = replace(found, kind="bad_request", message=_redirected(status, fields.get("location", "")))
    if found.kind == "rate_limit" and fields.get("x-should-retry", "").strip().lower() == "false":
        found = replace(found, kind="quota")  # asking again is in vain, however long the wait
    asked_s = parse_retry_after(fields, now=now)
    return replace(
        found,
        retry_after_s=found.retry_after_s if asked_s is None else asked_s,
        request_id=request_id(fields) or found.request_id,
    )


def read_stray(text: bytes) -> Failure | None:
    """Return the error that a text is which stands outside of all events; None where it is none.

    Args:
        text: it.
    """
    found = _parsed(_text(text))
    return read_error(found) if found is not None and tells_error(found) else None


def read_foreign(body: bytes) -> Failure:
    """Return what an answer means that says that all is well, in a format that nobody asked for.

    Args:
        body: as it came, or its beginning.
    """
    found = _parsed(_text(body))
    if found is not None and tells_error(found):
        return read_error(found)
    words = _body_words(body).message
    return Fault(
        "protocol", "the server answered in a format that was not asked for", code="content_type", detail=detail(words)
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """Return the provider's own name of a request.

    Args:
        headers: names in lower case.
    """
    for name in _REQUEST_IDS:
        found = headers.get(name, "")
        if _REQUEST_ID.fullmatch(found):
            return found
    return None


def detail(words: str) -> str | None:
    """Return a provider's words, cut and harmless; None where there are none."""
    shown = harmless(_SPACE.sub(" ", words[: 2 * MAX_DETAIL_CHARACTERS]).strip())
    return shown[:MAX_DETAIL_CHARACTERS] or None


def _read(words: ErrorWords, status: int | None) -> Failure:
    told = words.status if words.status is not None else status
    for code in words.codes:
        if code in FILTER_CODES:
            return Finish(FinishReason.CONTENT_FILTER, code)
    return Fault(
        _kind(words, told),
        "the provider reports an error" if status is None else f"the server answered with status {status}",
        status=status,
        code=next((code for code in words.codes if code not in GENERIC_CODES), next(iter(words.codes), None)),
        retry_after_s=words.retry_after_s,
        request_id=words.request_id,
        detail=detail(words.message),
    )


def _kind(words: ErrorWords, told: int | None) -> FaultKind:
    kind = fault_kind(told, words.codes)
    blames_request = kind == "bad_request" or fault_kind(None, words.codes) == "bad_request"
    if is_constraint_refused(
        told, codes=words.codes, places=words.places, message=words.message, is_request=blames_request
    ):
        return "constraint"
    text = words.message[:MOST_MESSAGE_CHARACTERS]
    if kind == "rate_limit" and words.is_quota:
        return "quota"
    if kind == "server" and told in (None, 500) and _CLIENT_MISTAKES.search(text):
        return "bad_request"
    if kind == "server" and told is None and not words.codes and _UNAUTHORIZED.match(text):
        return "auth"
    return kind


def _body_words(body: bytes) -> ErrorWords:
    """Gather what a body tells: an object, a list, events, or text."""
    text = _text(body)
    found = _parsed(text) or _first_event(body)
    if found is not None:
        return error_words(found)
    if text == "{}":
        return ErrorWords()
    if text.startswith("<"):
        text = _TAGS.sub(" ", text)
    return ErrorWords(message=text)


def _text(body: bytes) -> str:
    return body.decode(errors="replace").removeprefix("\ufeff").strip()


def _parsed(text: str) -> Fields | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = next(iter(cast("list[object]", value)), None)
    if isinstance(value, str):
        return {"message": value}
    return fields_of(value) or None


def _first_event(body: bytes) -> Fields | None:
    """Return the first event of a body that is an event stream all the same."""
    decoder = SseDecoder()
    for event in (*decoder.feed(body), *decoder.finish()):
        try:
            return read_object(event.data)
        except WireFaultError:
            continue
    return None


def _redirected(status: int, location: str) -> str:
    """Say where a redirect leads, without what may be secret in it."""
    shown = _LOCATION.match(location)
    told = f"the server answered with status {status}, a redirect, which is not followed"
    if shown is None:
        return f"{told}; set base_url to where the API is"
    return f"{told}; base_url may have to begin with {shown[1] or 'https'}://{shown[2]}{shown[3]}"


__all__ = [
    "FILTER_CODES",
    "MAX_ERROR_BODY_BYTES",
    "MAX_REQUEST_ID_CHARACTERS",
    "Failure",
    "detail",
    "read_answer",
    "read_error",
    "read_foreign",
    "read_stray",
    "request_id",
    "tells_error",
]
