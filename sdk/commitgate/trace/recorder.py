"""Record calls step by step, as an observer that asks for everything; bounded in all that a model can make grow."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from commitgate.backends.base import SentEvent, StepTaken, TextDelta
from commitgate.contract import Contract
from commitgate.json_value import JsonValue
from commitgate.languages import TextSource
from commitgate.outcome import Receipt, TryRecord
from commitgate.preview import Preview, Reset
from commitgate.telemetry.observer import CallBegan, CallEnded, CallObserver, RequestBegan, Wants
from commitgate.trace.trace import Trace, TracePiece, TraceRequest

MAX_PIECES = 20_000
"""Most pieces that are kept of one call; what comes after them is left out, and the trace says so."""

MAX_TRACES = 50
"""Most calls that a recorder keeps, the newest of them."""


class TraceRecorder:
    """Record every call of a client. Give it to ``Client(observers=[...])``.

    What it records holds prompts and answers. Having each step told costs some milliseconds a token.

    Args:
        most_traces: most calls that are kept, >= 1.
        told: is told of a trace each time that something was added to it; None for nobody. It must return quickly.
    """

    def __init__(self, *, most_traces: int = MAX_TRACES, told: Callable[[Recording], None] | None = None) -> None:
        self._recordings: deque[Recording] = deque(maxlen=most_traces)
        self._told = told

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Return what was recorded, the oldest first; calls that run are there as far as they have come."""
        return tuple(recording.trace for recording in self._recordings)

    def call_began(self, call: CallBegan) -> CallObserver:
        """Return who records this call."""
        recording = Recording(call, self._told)
        self._recordings.append(recording)
        return recording


@dataclass(slots=True)
class _Request:
    """Gather one request."""

    head: TraceRequest
    pieces: list[TracePiece] = field(default_factory=list[TracePiece])

    def made(self) -> TraceRequest:
        return replace(self.head, pieces=tuple(self.pieces))


class Recording:
    """Record one call.

    Args:
        call: it.
        told: is told each time that something was added; None for nobody.
    """

    def __init__(self, call: CallBegan, told: Callable[[Recording], None] | None) -> None:
        self._head = Trace(
            call_id=call.call_id,
            kind=call.kind,
            backend=call.backend,
            model=call.model,
            tool=call.tool,
            effect=call.effect,
        )
        self._told = told
        self._requests: list[_Request] = []
        self._step: StepTaken | None = None
        self._text_bytes = 0
        self._final: frozenset[str] = frozenset()
        self._count = 0

    @property
    def trace(self) -> Trace:
        """Return what was recorded so far."""
        return replace(self._head, requests=tuple(request.made() for request in self._requests))

    def contract_built(self, contract: Contract[object]) -> Wants:
        """Take the contract, and ask for everything."""
        self._head = replace(
            self._head,
            contract_name=contract.name,
            contract_version=contract.version,
            language_digest=contract.language_digest,
            schema=_shown_contract(contract),
        )
        return Wants(content=True, steps=True)

    def request_began(self, request: RequestBegan) -> None:
        """Begin a request."""
        messages = () if request.messages is None else tuple((each.role, each.content) for each in request.messages)
        head = TraceRequest(number=request.number, at_s=request.at_s, waited_s=request.waited_s, messages=messages)
        self._requests.append(_Request(head))
        self._step, self._text_bytes, self._final = None, 0, frozenset()
        self._tell()

    def event(self, event: SentEvent, at_s: float) -> None:
        """Take what a backend sent: a step is told right before its text."""
        match event:
            case StepTaken() if event.kind in ("drawn", "forced"):
                self._step = event
            case StepTaken():
                self._add(TracePiece(at_s=at_s, data=event.data, text_bytes=self._text_bytes, step=event))
            case TextDelta():
                step, self._step = self._step, None
                mass = event.legal_mass
                piece = TracePiece(at_s=at_s, data=event.data, text_bytes=self._text_bytes, step=step, legal_mass=mass)
                self._text_bytes += len(event.data)
                self._add(piece)
            case _:
                pass

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Take what is shown after the last piece."""
        del at_s
        if isinstance(item, Reset) or not self._requests or not self._requests[-1].pieces:
            return
        pieces = self._requests[-1].pieces
        final = item.final_paths
        pieces[-1] = replace(
            pieces[-1], value=item.value, has_value=item.has_value, final=tuple(sorted(final - self._final))
        )
        self._final = final
        self._tell()

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        """End a request."""
        del receipt
        if self._requests:
            request = self._requests[-1]
            request.head = replace(request.head, ending=record.ending, detail=record.detail)

    def ended(self, end: CallEnded) -> None:
        """End the call."""
        outcome, receipt = end.outcome, end.receipt
        self._head = replace(
            self._head,
            outcome=end.name,
            summary="" if outcome is None else outcome.summary(),
            error=end.error,
            layers=() if receipt is None else receipt.layers,
            receipt=receipt,
            ledger_state=end.ledger_state,
            is_replayed=end.is_replayed,
            total_s=end.at_s,
        )
        self._tell()

    def _add(self, piece: TracePiece) -> None:
        self._count += 1
        if self._count > MAX_PIECES or not self._requests:
            self._head = replace(self._head, is_cut=True)
            return
        self._requests[-1].pieces.append(piece)
        self._tell()

    def _tell(self) -> None:
        if self._told is not None:
            self._told(self)


def _shown_contract(contract: Contract[object]) -> JsonValue:
    text: TextSource | None = contract.text
    return contract.schema if text is None else {"text": type(text).__name__.lower()}


__all__ = ["MAX_PIECES", "MAX_TRACES", "Recording", "TraceRecorder"]
