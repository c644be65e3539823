"""Read traces back out of JSON that anybody may have written.

All of it is looked at before any of it is used: what comes back is whole, and its changes lead from one value to the
next. A field that is not known is passed over, so that a later release may add some.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Final, cast, get_args

from commitgate.backends.base import Choice, StepKind, StepTaken
from commitgate.errors import TraceError
from commitgate.gate.layers import Layer
from commitgate.json_value import JsonValue
from commitgate.trace.exact_json import inexact
from commitgate.trace.file_fields import Fields, Place
from commitgate.trace.growth import grown
from commitgate.trace.trace import (
    Change,
    PieceKind,
    Trace,
    TraceFailure,
    TraceLayer,
    TracePiece,
    TraceReceipt,
    TraceRequest,
)
from commitgate.trace.trace_json import MARK, VERSION

MAX_TRACE_BYTES = 67_108_864
"""Largest file that is read as a trace."""

_PIECE_KINDS: Final = cast("tuple[PieceKind, ...]", get_args(PieceKind))
_STEP_KINDS: Final = cast("tuple[StepKind, ...]", get_args(StepKind))
_OF_THE_ANSWER: Final = ("text", "refusal", "call", "prose")


def load_trace(data: bytes) -> Trace:
    """Return a trace that ``dump_trace`` wrote.

    Args:
        data: the whole file, which anybody may have written.

    Raises:
        TraceError: it is no trace, one of another version, damaged, or larger than ``MAX_TRACE_BYTES``.
    """
    if len(data) > MAX_TRACE_BYTES:
        raise TraceError(f"a trace may have at most {MAX_TRACE_BYTES:,} bytes, found {len(data):,}")
    try:
        found = cast("JsonValue", json.loads(data, parse_constant=_refuse, parse_float=_finite))
        return _trace(Place(found))
    except RecursionError:
        raise TraceError("the trace is nested too deep") from None
    except ValueError:
        raise TraceError("the file is no JSON, so it is no trace") from None


def _refuse(_word: str) -> float:
    raise ValueError("a number of JSON is finite")


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse(text)


def _trace(root: Place) -> Trace:
    if not isinstance(root.value, dict) or MARK not in root.value:
        raise TraceError(f'the file is no trace: a trace is an object with a field "{MARK}"')
    top = root.fields()
    if top.at(MARK).value != VERSION or isinstance(top.at(MARK).value, bool):
        raise TraceError(f"the trace has another version than {VERSION}: read it with the release that wrote it")
    contract = top.maybe("contract", Place.fields, Fields({}, "/contract"))
    return Trace(
        call_id=top.at("call_id").text(),
        kind=top.at("kind").text(),
        backend=top.maybe("backend", Place.text),
        model=top.maybe("model", Place.text, ""),
        started_at=top.maybe("started_at", Place.amount),
        contract_name=contract.maybe("name", Place.text, ""),
        contract_version=contract.maybe("version", Place.text),
        language_digest=contract.maybe("language_digest", Place.text),
        schema=_value(contract.at("schema")),
        requests=top.each("requests", _request),
        outcome=top.maybe("outcome", Place.text),
        summary=top.maybe("summary", Place.text, ""),
        error=top.maybe("error", Place.text),
        layers=top.each("layers", _layer),
        receipt=top.maybe("receipt", _receipt),
        tool=top.maybe("tool", Place.text),
        effect=top.maybe("effect", Place.text),
        ledger_state=top.maybe("ledger_state", Place.text),
        is_replayed=top.maybe("is_replayed", Place.flag, False),
        total_s=top.maybe("total_s", Place.amount, 0.0),
        is_over=top.maybe("is_over", Place.flag, False),
        is_cut=top.maybe("is_cut", Place.flag, False),
    )


def _value(place: Place) -> JsonValue:
    try:
        return inexact(place.value)
    except ValueError:
        raise place.wrong("a value whose numbers are numbers") from None


def _request(place: Place) -> TraceRequest:
    found = place.fields()
    pieces: list[TracePiece] = []
    text_bytes = 0
    value: JsonValue = None
    for each in found.at("pieces").items() if found.at("pieces").value is not None else ():
        piece = _piece(each, text_bytes)
        if piece.kind in _OF_THE_ANSWER:
            text_bytes += len(piece.data)
        try:
            value = grown(value, piece.changes)
        except ValueError:
            raise each.wrong("changes of places that are there") from None
        pieces.append(piece)
    return TraceRequest(
        number=found.at("number").count(),
        at_s=found.maybe("at_s", Place.amount, 0.0),
        waited_s=found.maybe("waited_s", Place.amount, 0.0),
        messages=found.each("messages", _message),
        pieces=tuple(pieces),
        ending=found.maybe("ending", Place.text),
        detail=found.maybe("detail", Place.text),
    )


def _message(place: Place) -> tuple[str, str]:
    found = place.fields()
    return found.at("role").text(), found.at("content").text()


def _piece(place: Place, text_bytes: int) -> TracePiece:
    found = place.fields()
    data = found.maybe("data", Place.data, b"")
    step = found.at("step")
    kind = found.maybe("kind", _piece_kind)
    return TracePiece(
        at_s=found.maybe("at_s", Place.amount, 0.0),
        kind="text" if kind is None else kind,
        data=data,
        text_bytes=text_bytes,
        step=None if step.value is None else _step(step, data, text_bytes),
        legal_mass=found.maybe("legal_mass", Place.share),
        changes=found.each("changes", _change),
        open_parts=found.maybe("open_parts", Place.count, 0),
    )


def _piece_kind(place: Place) -> PieceKind:
    return place.word(_PIECE_KINDS)


def _change(place: Place) -> Change:
    parts = tuple(place.items())
    if len(parts) not in (2, 3):
        raise place.wrong("a list of a place and a value")
    pointer = parts[0].text()
    if pointer and not pointer.startswith("/"):
        raise parts[0].wrong("a JSON pointer")
    return Change(pointer, _value(parts[1]), is_more=len(parts) == 3 and parts[2].flag())


def _step(place: Place, data: bytes, text_bytes: int) -> StepTaken:
    found = place.fields()
    return StepTaken(
        kind=found.at("kind").word(_STEP_KINDS),
        token_ids=found.each("token_ids", Place.count),
        data=data,
        text_bytes=text_bytes,
        choices=found.each("choices", _choice),
        legal_mass=found.maybe("legal_mass", Place.share),
        legal_tokens=found.maybe("legal_tokens", Place.count),
        vocabulary_tokens=found.maybe("vocabulary_tokens", Place.count, 0),
        state=found.maybe("state", Place.text, ""),
        place=found.maybe("place", Place.text),
        mask_s=found.maybe("mask_s", Place.amount, 0.0),
        step_s=found.maybe("step_s", Place.amount, 0.0),
    )


def _choice(place: Place) -> Choice:
    parts = tuple(place.items())
    if len(parts) != 4:
        raise place.wrong("a list of token, bytes, probability and whether it was legal")
    data = None if parts[1].value is None else parts[1].data()
    return Choice(parts[0].count(), data, parts[2].share(), parts[3].flag())


def _layer(place: Place) -> TraceLayer:
    found = place.fields()
    verdict = found.maybe("verdict", lambda word: word.word(("passed", "failed")))
    return TraceLayer(
        layer=str(found.at("layer").word(tuple(Layer))),
        ran=found.maybe("ran", Place.flag, False),
        passed=None if verdict is None else verdict == "passed",
        time_s=found.maybe("time_s", Place.amount, 0.0),
        failures=found.each("failures", _failure),
    )


def _failure(place: Place) -> TraceFailure:
    found = place.fields()
    return TraceFailure(
        code=found.at("code").text(), pointer=found.at("pointer").text(), message=found.at("message").text()
    )


def _receipt(place: Place) -> TraceReceipt:
    found = place.fields()
    return TraceReceipt(
        model=found.maybe("model", Place.text),
        model_revision=found.maybe("model_revision", Place.text),
        tokenizer_fingerprint=found.maybe("tokenizer_fingerprint", Place.text),
        finish=found.maybe("finish", Place.text),
        finish_native=found.maybe("finish_native", Place.text),
        compile_s=found.maybe("compile_s", Place.amount),
        time_to_first_token_s=found.maybe("time_to_first_token_s", Place.amount),
        time_per_token_s=found.maybe("time_per_token_s", Place.amount),
        legal_mass_min=found.maybe("legal_mass_min", Place.share),
        legal_mass_mean=found.maybe("legal_mass_mean", Place.share),
        input_tokens=found.maybe("input_tokens", Place.count),
        output_tokens=found.maybe("output_tokens", Place.count),
        attempts=found.maybe("attempts", Place.count, 0),
        fallback=found.maybe("fallback", Place.text),
        first_violation=found.maybe("first_violation", Place.count),
        warnings=found.each("warnings", Place.text),
        operation_key_digest=found.maybe("operation_key_digest", Place.text),
        effect_key=found.maybe("effect_key", Place.text),
    )


__all__ = ["MAX_TRACE_BYTES", "load_trace"]
