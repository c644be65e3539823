"""Write traces as JSON, and bring them to a page: each value as a difference to the one before it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import cast

from commitgate.backends.base import Choice, StepTaken
from commitgate.errors import MisuseError
from commitgate.gate.layers import LayerRecord
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Receipt
from commitgate.trace.trace import VERSION, Trace, TracePiece, TraceRequest

MAX_TRACE_BYTES = 67_108_864
"""Largest file that is read as a trace."""

_MARK = "commitgate_trace"


def trace_data(trace: Trace) -> JsonObject:
    """Return a trace as plain JSON: what a page shows, and what a file keeps."""
    return {
        _MARK: VERSION,
        "call_id": trace.call_id,
        "kind": trace.kind,
        "backend": trace.backend,
        "model": trace.model,
        "contract": {
            "name": trace.contract_name,
            "version": trace.contract_version,
            "language_digest": trace.language_digest,
            "schema": _exact(trace.schema),
        },
        "requests": [_request(each) for each in trace.requests],
        "outcome": trace.outcome,
        "summary": trace.summary,
        "error": trace.error,
        "layers": [_layer(each) for each in trace.layers],
        "receipt": None if trace.receipt is None else _receipt(trace.receipt),
        "tool": trace.tool,
        "effect": trace.effect,
        "ledger_state": trace.ledger_state,
        "is_replayed": trace.is_replayed,
        "total_s": round(trace.total_s, 6),
        "is_cut": trace.is_cut,
    }


def dump_trace(trace: Trace) -> bytes:
    """Return a trace as JSON. It holds the prompt and the answer."""
    return json.dumps(trace_data(trace), separators=(",", ":"), allow_nan=False).encode()


def load_trace_data(data: bytes) -> JsonObject:
    """Return the JSON of a kept trace, looked over as far as a page relies on it.

    Raises:
        MisuseError: it is no trace, or one of another release.
    """
    if len(data) > MAX_TRACE_BYTES:
        raise MisuseError(f"a trace may have at most {MAX_TRACE_BYTES:,} bytes, found {len(data):,}")
    try:
        found = cast("JsonValue", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise MisuseError("the trace is no JSON") from error
    version = found.get(_MARK) if isinstance(found, dict) else None
    if not isinstance(found, dict) or version != VERSION or isinstance(version, bool):
        raise MisuseError(f'a trace is an object with "{_MARK}": {VERSION}; record it with this release')
    requests = found.get("requests")
    if not isinstance(requests, list) or not all(_is_request(each) for each in requests):
        raise MisuseError('the trace has no "requests", a list of objects with "pieces"')
    return found


def _is_request(found: JsonValue) -> bool:
    if not isinstance(found, dict):
        return False
    pieces = found.get("pieces")
    return isinstance(pieces, list) and all(isinstance(each, dict) for each in pieces)


def _request(request: TraceRequest) -> JsonObject:
    before: JsonValue = None
    had_value = False
    pieces: list[JsonValue] = []
    for piece in request.pieces:
        told = _piece(piece)
        if piece.has_value:
            value = _exact(piece.value)
            changes: list[JsonValue] = [["", value]] if not had_value else list(_changes(before, value, ""))
            if changes:
                told["set"] = changes
            before, had_value = value, True
        pieces.append(told)
    return {
        "number": request.number,
        "at_s": round(request.at_s, 6),
        "waited_s": round(request.waited_s, 6),
        "messages": [{"role": role, "content": content} for role, content in request.messages],
        "pieces": pieces,
        "ending": request.ending,
        "detail": request.detail,
    }


def _piece(piece: TracePiece) -> JsonObject:
    told: JsonObject = {"at_s": round(piece.at_s, 6), "bytes": b64encode(piece.data).decode()}
    if piece.legal_mass is not None:
        told["mass"] = piece.legal_mass
    if piece.final:
        told["final"] = list(piece.final)
    if piece.step is not None:
        told["step"] = _step(piece.step)
    return told


def _step(step: StepTaken) -> JsonObject:
    return {
        "kind": step.kind,
        "ids": list(step.token_ids),
        "choices": [_choice(each) for each in step.choices],
        "mass": step.legal_mass,
        "legal": step.legal_tokens,
        "of": step.vocabulary_tokens,
        "state": step.state,
        "place": step.place,
        "mask_s": round(step.mask_s, 7),
        "step_s": round(step.step_s, 7),
    }


def _choice(choice: Choice) -> JsonValue:
    data = None if choice.data is None else b64encode(choice.data).decode()
    return [choice.token_id, data, choice.probability, choice.is_legal]


def _layer(record: LayerRecord) -> JsonObject:
    return {
        "layer": str(record.layer),
        "ran": record.ran,
        "passed": record.passed,
        "time_s": round(record.time_s, 7),
        "failures": [{"code": each.code, "pointer": each.pointer, "message": each.message} for each in record.failures],
    }


def _receipt(receipt: Receipt) -> JsonObject:
    return {
        "model": receipt.model,
        "model_revision": receipt.model_revision,
        "finish": None if receipt.finish is None else str(receipt.finish),
        "finish_native": receipt.finish_native,
        "compile_s": receipt.compile_s,
        "time_to_first_token_s": receipt.time_to_first_token_s,
        "time_per_token_s": receipt.time_per_token_s,
        "legal_mass_min": receipt.legal_mass_min,
        "legal_mass_mean": receipt.legal_mass_mean,
        "input_tokens": receipt.usage.input_tokens,
        "output_tokens": receipt.usage.output_tokens,
        "attempts": receipt.attempts,
        "fallback": receipt.fallback,
        "warnings": list(receipt.warnings),
        "operation_key_digest": receipt.operation_key_digest,
        "effect_key": receipt.effect_key,
    }


def _changes(before: JsonValue, after: JsonValue, place: str) -> Sequence[JsonValue]:
    """Return what makes the one value the other: pairs of place and value. Values only grow, so nothing is removed."""
    if type(before) is not type(after):
        return [[place, after]]
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[JsonValue] = []
        for name, value in after.items():
            part = f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
            found += _changes(before[name], value, part) if name in before else [[part, value]]
        return found
    if isinstance(before, list) and isinstance(after, list):
        found = []
        for index, value in enumerate(after):
            part = f"{place}/{index}"
            found += _changes(before[index], value, part) if index < len(before) else [[part, value]]
        return found
    return [] if before == after else [[place, after]]


def _exact(value: object) -> JsonValue:
    """Return a value whose numbers a page can show as they are: exact ones that JavaScript would round, as texts."""
    if isinstance(value, Mapping):
        return {str(key): _exact(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, Decimal):
        return {"$number": str(value)}
    if isinstance(value, int | float):
        return value if abs(value) < 2**53 else {"$number": str(value)}
    if isinstance(value, Sequence):
        return [_exact(item) for item in cast("Sequence[object]", value)]
    return str(value)


__all__ = ["MAX_TRACE_BYTES", "dump_trace", "load_trace_data", "trace_data"]
