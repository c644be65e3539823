"""Write traces as JSON: for a file that is kept, and for a page that shows it.

Bytes are in base64. A field that holds what it holds by itself, an empty list or null, is left out.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import fields
from typing import Final, cast

from commitgate.backends.base import Choice, StepTaken
from commitgate.json_value import JsonObject, JsonValue
from commitgate.trace.exact_json import exact
from commitgate.trace.trace import Change, Trace, TraceLayer, TracePiece, TraceReceipt, TraceRequest

MARK: Final = "commitgate_trace"
"""The field by which a file is known as a trace; it holds the version."""

VERSION: Final = 1
"""Version of the form in which traces are kept as JSON."""

_HEAD: Final = (
    "call_id",
    "kind",
    "backend",
    "model",
    "started_at",
    "outcome",
    "summary",
    "error",
    "tool",
    "effect",
    "ledger_state",
    "is_replayed",
    "is_over",
    "is_cut",
)


def dump_trace(trace: Trace) -> bytes:
    """Return a trace as JSON. It holds the prompt and the answer; probabilities are kept to six digits."""
    return json.dumps(trace_data(trace), separators=(",", ":"), allow_nan=False).encode()


def trace_data(trace: Trace, *, from_request: int = 0, from_piece: int = 0) -> JsonObject:
    """Return a trace as plain JSON.

    Args:
        trace: it.
        from_request: how many requests to leave out, for whoever has them.
        from_piece: how many pieces of the first request that is left to leave out.
    """
    requests: list[JsonValue] = [
        _request(each, from_piece if number == 0 else 0) for number, each in enumerate(trace.requests[from_request:])
    ]
    head: JsonObject = {name: getattr(trace, name) for name in _HEAD}
    rest: JsonObject = {
        "contract": _filled(
            {
                "name": trace.contract_name,
                "version": trace.contract_version,
                "language_digest": trace.language_digest,
                "schema": exact(trace.schema),
            }
        ),
        "total_s": round(trace.total_s, 6),
        "layers": [_layer(each) for each in trace.layers],
        "receipt": None if trace.receipt is None else _receipt(trace.receipt),
        "requests": requests,
    }
    return {MARK: VERSION} | _filled(head | rest)


def _filled(found: JsonObject) -> JsonObject:
    return {name: value for name, value in found.items() if value is not None and value != [] and value is not False}


def _request(request: TraceRequest, from_piece: int) -> JsonObject:
    return _filled(
        {
            "number": request.number,
            "at_s": round(request.at_s, 6),
            "waited_s": round(request.waited_s, 6),
            "ending": request.ending,
            "detail": request.detail,
            "messages": [{"role": role, "content": content} for role, content in request.messages],
            "pieces": [_piece(each) for each in request.pieces[from_piece:]],
        }
    )


def _piece(piece: TracePiece) -> JsonObject:
    told: JsonObject = {"at_s": round(piece.at_s, 6)}
    if piece.kind != "text":
        told["kind"] = piece.kind
    if piece.data:
        told["data"] = _base64(piece.data)
    if piece.legal_mass is not None:
        told["legal_mass"] = _six_digits(piece.legal_mass)
    if piece.changes:
        told["changes"] = [_change(each) for each in piece.changes]
    if piece.open_parts:
        told["open_parts"] = piece.open_parts
    if piece.step is not None:
        told["step"] = _step(piece.step)
    return told


def _change(change: Change) -> JsonValue:
    return [change.pointer, exact(change.value), *([True] if change.is_more else [])]


def _step(step: StepTaken) -> JsonObject:
    return _filled(
        {
            "kind": step.kind,
            "token_ids": list(step.token_ids),
            "choices": [_choice(each) for each in step.choices],
            "legal_mass": None if step.legal_mass is None else _six_digits(step.legal_mass),
            "legal_tokens": step.legal_tokens,
            "vocabulary_tokens": step.vocabulary_tokens,
            "state": step.state,
            "place": step.place,
            "mask_s": round(step.mask_s, 7),
            "step_s": round(step.step_s, 7),
        }
    )


def _choice(choice: Choice) -> JsonValue:
    data = None if choice.data is None else _base64(choice.data)
    return [choice.token_id, data, _six_digits(choice.probability), choice.is_legal]


def _layer(layer: TraceLayer) -> JsonObject:
    failures: Iterable[JsonObject] = (
        {"code": each.code, "pointer": each.pointer, "message": each.message} for each in layer.failures
    )
    return _filled(
        {
            "layer": layer.layer,
            "ran": layer.ran,
            # False is a verdict, unlike one that is not there.
            "verdict": None if layer.passed is None else "passed" if layer.passed else "failed",
            "time_s": round(layer.time_s, 7),
            "failures": list(failures),
        }
    )


def _receipt(receipt: TraceReceipt) -> JsonObject:
    found: JsonObject = {}
    for each in fields(receipt):
        value = getattr(receipt, each.name)
        found[each.name] = list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
    return _filled(found)


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


def _six_digits(number: float) -> float:
    return float(f"{number:.6g}")


__all__ = ["MARK", "VERSION", "dump_trace", "trace_data"]
