"""Read the JSON object of one event, strictly UTF-8 and nested within bounds."""

from __future__ import annotations

import json
import re
from array import array
from itertools import accumulate
from typing import cast

from commitgate.backends.wire.wire_event import RawEvent, WireEvent, WireFaultError
from commitgate.json_value import JsonObject

MAX_EVENT_NESTING = 256
"""Deepest nesting of one event; a schema that a server repeats nests deeper than an answer."""

_DONE = b"[DONE]"
_BLANK = b" \t\r\n"
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
"""Each opening bracket as one step down, each closing one as a step up, which is -1 as a signed byte."""


def read_event(raw: RawEvent) -> WireEvent | None:
    """Return the event that its bytes spell; None where they are blank, a mere sign of life.

    Raises:
        WireFaultError: they are no UTF-8, no JSON object, or nested too deep.
    """
    data, name, _ = raw
    if not data.startswith(b"{"):
        bare = data.strip(_BLANK)
        if not bare:
            return None
        if bare == _DONE:
            return WireEvent(name=name, data=data, value=None)
    return WireEvent(name=name, data=data, value=read_object(data))


def read_object(data: bytes) -> JsonObject:
    """Return the JSON object that bytes spell.

    Raises:
        WireFaultError: they are no UTF-8, no JSON object, or nested too deep.
    """
    if data.count(b"{") + data.count(b"[") > MAX_EVENT_NESTING and _depth(data) > MAX_EVENT_NESTING:
        raise WireFaultError("too_deep", f"an event is nested deeper than {MAX_EVENT_NESTING}")
    try:
        value: object = json.loads(data.decode())
    except UnicodeDecodeError:
        raise WireFaultError("not_utf8", "an event is not UTF-8") from None
    except (ValueError, RecursionError):
        raise WireFaultError("not_json", "an event is not JSON") from None
    if not isinstance(value, dict):
        raise WireFaultError("not_object", "an event is no JSON object")
    return cast(JsonObject, value)


def _depth(data: bytes) -> int:
    # Without a step of the interpreter for each bracket: an event may have a million.
    steps = array("b", _STRINGS.sub(b"", data).translate(_STEPS, _OTHERS))
    return max(accumulate(steps), default=0)


__all__ = ["MAX_EVENT_NESTING", "read_event", "read_object"]
