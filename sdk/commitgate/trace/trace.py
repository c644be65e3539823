"""Hold what one generation did, step by step, as data that can be kept, sent and shown.

A trace holds the prompt and the answer. It is made only where somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import StepTaken
from commitgate.json_value import JsonValue

PieceKind: TypeAlias = Literal["text", "thought", "refusal", "call", "prose", "mark"]
"""``text``: of the answer. ``thought``: before it. ``refusal``: words of a refusal. ``call`` and ``prose``: arguments
of a tool's call, and words beside calls, from a server that has a form of its own for them. ``mark``: no text, as a
stop."""


@dataclass(frozen=True, slots=True)
class Change:
    """Say how what is shown changed with one piece.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the place; ``""`` is the root.
        value: what stands there now, or, where it is more of a text, what was added at its end.
        is_more: ``value`` is text behind the text that stands there.
    """

    pointer: str
    value: JsonValue = field(repr=False)
    is_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePiece:
    """Hold one piece as it arrived, and how what is shown changed with it.

    Attributes:
        at_s: seconds since the call began.
        kind: what sort of piece.
        data: its bytes; empty of a step that wrote none, as a stop. A character may be cut in two.
        text_bytes: bytes of the answer before it.
        step: what the model was asked and what it wanted; None where the backend cannot tell, as a server.
        legal_mass: as in ``TextDelta``; None where not known.
        changes: what makes the value shown before it the one after it.
        open_parts: how many parts of that value may still change: the root, the last child in it, the last child in
            that, and so on; 0 where all of it is final, or nothing is shown yet.
    """

    at_s: float
    kind: PieceKind = "text"
    data: bytes = field(repr=False)
    text_bytes: int
    step: StepTaken | None = field(default=None, repr=False)
    legal_mass: float | None = None
    changes: tuple[Change, ...] = field(default=(), repr=False)
    open_parts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest:
    """Hold one request of a call.

    Attributes:
        number: from 1.
        at_s: seconds since the call began.
        waited_s: wait before it.
        messages: role and text of each message that was sent.
        pieces: what arrived, in order.
        ending: name of what it amounted to; None where it did not end.
        detail: the ending's own kind, phase or layer.
    """

    number: int
    at_s: float
    waited_s: float = 0.0
    messages: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    pieces: tuple[TracePiece, ...] = field(default=(), repr=False)
    ending: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFailure:
    """Say what a layer found wrong: ``code``, ``pointer`` into the value, and ``message`` without the value."""

    code: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLayer:
    """Hold how one layer of the gate went, as ``LayerRecord`` does, without the values that it found."""

    layer: str
    ran: bool
    passed: bool | None
    time_s: float = 0.0
    failures: tuple[TraceFailure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceReceipt:
    """Hold the facts of a ``Receipt`` that a person asks for first, under the same names."""

    model: str | None = None
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    finish: str | None = None
    finish_native: str | None = None
    compile_s: float | None = None
    time_to_first_token_s: float | None = None
    time_per_token_s: float | None = None
    legal_mass_min: float | None = None
    legal_mass_mean: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    attempts: int = 0
    fallback: str | None = None
    first_violation: int | None = None
    warnings: tuple[str, ...] = ()
    operation_key_digest: str | None = None
    effect_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Hold one call.

    Attributes:
        call_id: names it.
        kind: ``generate``, ``tool`` or ``stored``; ``served`` of an answer that a server of ours gave.
        backend: the backend's name; None where no model is asked.
        model: the model's name as asked for.
        started_at: when it began, in seconds since 1970; None where not known.
        contract_name: the contract's name.
        contract_version: the caller's version of it.
        language_digest: of the contract.
        schema: the contract's schema.
        requests: in order.
        outcome: name of the outcome; None where the call raised or has not ended.
        summary: the outcome in one sentence, without payload.
        error: name of the type of what it raised.
        layers: of the gate; empty where the call did not come to it.
        receipt: of the call; None where it has not ended.
        tool: name of the tool that was run.
        effect: name of the effect.
        ledger_state: where it left the row of its key.
        is_replayed: the ledger knew the value already.
        total_s: seconds from beginning to end; 0.0 where it has not ended.
        is_over: it has ended.
        is_cut: pieces were left out because there were too many.
    """

    call_id: str
    kind: str
    backend: str | None
    model: str
    started_at: float | None = None
    contract_name: str = ""
    contract_version: str | None = None
    language_digest: str | None = None
    schema: JsonValue = field(default=None, repr=False)
    requests: tuple[TraceRequest, ...] = field(default=(), repr=False)
    outcome: str | None = None
    summary: str = ""
    error: str | None = None
    layers: tuple[TraceLayer, ...] = ()
    receipt: TraceReceipt | None = None
    tool: str | None = None
    effect: str | None = None
    ledger_state: str | None = None
    is_replayed: bool = False
    total_s: float = 0.0
    is_over: bool = False
    is_cut: bool = False


__all__ = [
    "Change",
    "PieceKind",
    "Trace",
    "TraceFailure",
    "TraceLayer",
    "TracePiece",
    "TraceReceipt",
    "TraceRequest",
]
