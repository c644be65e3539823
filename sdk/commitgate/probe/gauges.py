"""Read how many requests a server is working on, where it tells: so one sees whether it stops with its client."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from commitgate.backends.dialect import Answer, Outgoing
from commitgate.json_value import JsonValue

_SLOTS = "//slots"
_METRICS = "//metrics"

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "llamacpp_chat": "",
        "llamacpp_completion": "",
        "vllm_chat": "vllm:num_requests_running",
        "nim_chat": "vllm:num_requests_running",
        "sglang_chat": "sglang:num_running_reqs",
        "tgi_chat": "tgi_batch_current_size",
        "tgi_generate": "tgi_batch_current_size",
        "commitgate_chat": "commitgate_requests_in_flight",
    }
)
"""By dialect: the gauge in its metrics; empty where its slots tell."""

_LINE = re.compile(r"^(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)(?:\{[^}\n]*\})? +(?P<value>[0-9.e+-]+)", re.MULTILINE)


def gauge_request(dialect_name: str) -> Outgoing | None:
    """Return the request whose answer tells how many requests are worked on; None where there is none."""
    if dialect_name not in _NAMES:
        return None
    return Outgoing(method="GET", path=_METRICS if _NAMES[dialect_name] else _SLOTS)


def running(dialect_name: str, answer: Answer) -> int | None:
    """Return how many requests the server is working on; None where its answer does not tell."""
    if answer.status != 200:
        return None
    name = _NAMES[dialect_name]
    return _of_metrics(name, answer.body) if name else _of_slots(answer.body)


def _of_slots(body: bytes) -> int | None:
    try:
        slots = cast("JsonValue", json.loads(body))
    except (ValueError, RecursionError):
        return None
    if not isinstance(slots, list) or not slots:
        return None
    busy = [slot.get("is_processing") if isinstance(slot, dict) else None for slot in slots]
    return busy.count(True) if all(isinstance(each, bool) for each in busy) else None


def _of_metrics(name: str, body: bytes) -> int | None:
    found = [each["value"] for each in _LINE.finditer(body.decode(errors="replace")) if each["name"] == name]
    try:
        return round(sum(float(value) for value in found)) if found else None
    except (ValueError, OverflowError):
        return None


__all__ = ["gauge_request", "running"]
