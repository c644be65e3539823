"""Hold what one generation did, step by step, as data that can be kept, sent and shown.

A trace holds the prompt and the answer. It is made only where somebody asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from commitgate.backends.base import StepTaken
from commitgate.gate.layers import LayerRecord
from commitgate.json_value import JsonValue
from commitgate.outcome import Receipt

VERSION = 1
"""Version of the form in which traces are kept as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePiece:
    """Hold one piece of text as it arrived, and what there was to show after it.

    Attributes:
        at_s: seconds since the call began.
        data: its bytes; empty of a step that wrote none, as a stop.
        text_bytes: bytes of the answer before it.
        step: what the model was asked and what it wanted; None where the backend cannot tell, as a server.
        legal_mass: as in ``TextDelta``; None where not known.
        value: what a preview shows after it; None where nothing, or where nothing has changed.
        has_value: there is something to show, which tells nothing yet from null.
        final: JSON pointers of what became final with it.
    """

    at_s: float
    data: bytes = field(repr=False)
    text_bytes: int
    step: StepTaken | None = field(default=None, repr=False)
    legal_mass: float | None = None
    value: JsonValue = field(default=None, repr=False)
    has_value: bool = False
    final: tuple[str, ...] = ()


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
class Trace:
    """Hold one call.

    Attributes:
        call_id: names it.
        kind: ``generate``, ``tool`` or ``stored``.
        backend: the backend's name.
        model: the model's name as asked for.
        contract_name: the contract's name.
        contract_version: the caller's version of it.
        language_digest: of the contract.
        schema: the contract's schema.
        requests: in order.
        outcome: name of the outcome; None where the call raised or has not ended.
        summary: the outcome in one sentence, without payload.
        error: name of the type of what it raised.
        layers: of the gate.
        receipt: of the call; None where it has not ended.
        tool: name of the tool that was run.
        effect: name of the effect.
        ledger_state: where it left the row of its key.
        is_replayed: the ledger knew the value already.
        total_s: seconds from beginning to end.
        is_cut: pieces were left out because there were too many.
    """

    call_id: str
    kind: str
    backend: str | None
    model: str
    contract_name: str = ""
    contract_version: str | None = None
    language_digest: str | None = None
    schema: JsonValue = field(default=None, repr=False)
    requests: tuple[TraceRequest, ...] = field(default=(), repr=False)
    outcome: str | None = None
    summary: str = ""
    error: str | None = None
    layers: tuple[LayerRecord, ...] = ()
    receipt: Receipt | None = field(default=None, repr=False)
    tool: str | None = None
    effect: str | None = None
    ledger_state: str | None = None
    is_replayed: bool = False
    total_s: float = 0.0
    is_cut: bool = False


__all__ = ["VERSION", "Trace", "TracePiece", "TraceRequest"]
