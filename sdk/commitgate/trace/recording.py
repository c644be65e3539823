"""Record one call: what was sent, each piece of what came, and how it ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from commitgate.backends.base import (
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    SentEvent,
    StepTaken,
    TextDelta,
    ToolDelta,
)
from commitgate.contract import Contract
from commitgate.json_value import JsonValue
from commitgate.languages import TextSource
from commitgate.outcome import Receipt, TryRecord
from commitgate.plain_data import plain
from commitgate.preview import Preview, Reset
from commitgate.telemetry.observer import CallBegan, CallEnded, RequestBegan, Wants
from commitgate.trace.growth import Growth
from commitgate.trace.receipt_facts import layer_facts, receipt_facts
from commitgate.trace.trace import Trace, TracePiece, TraceRequest
from commitgate.trace.wishes import is_illegal_wish

_PIECE_BYTES: Final = 600
"""About what a piece takes beside its texts."""
_CHOICE_BYTES: Final = 200
"""About what one of the model's choices takes."""


class Keeper(Protocol):
    """Keep recordings, and say how far they may grow."""

    @property
    def most_pieces(self) -> int:
        """Return how many pieces of one call are kept."""
        ...

    def has_room(self, recording: Recording, size_bytes: int) -> bool:
        """Say whether a recording may grow so much."""
        ...

    def tell(self, recording: Recording) -> None:
        """Take note that something was added."""
        ...


@dataclass(slots=True)
class _Request:
    """Gather one request."""

    head: TraceRequest
    pieces: list[TracePiece] = field(default_factory=list[TracePiece])
    growth: Growth = field(default_factory=Growth)
    text_bytes: int = 0
    step: StepTaken | None = None
    tells_thoughts: bool = False

    def made(self) -> TraceRequest:
        return replace(self.head, pieces=tuple(self.pieces))


class Recording:
    """Record one call.

    Args:
        call: it.
        keeper: says how far it may grow, and is told when it did.
        started_at: when it began, in seconds since 1970.
        kind: what sort of call.

    Attributes:
        size_bytes: about how much memory it takes.
        version: counts what was added.
        steps: how many of its pieces are steps.
        wishes: at how many of them the model wanted something illegal.
        least_mass: the least legal mass of a piece; None where none is known.
    """

    def __init__(self, call: CallBegan, keeper: Keeper, *, started_at: float, kind: str) -> None:
        self._head = Trace(
            call_id=call.call_id,
            kind=kind,
            backend=call.backend,
            model=call.model,
            started_at=round(started_at, 3),
            tool=call.tool,
            effect=call.effect,
        )
        self._keeper = keeper
        self._requests: list[_Request] = []
        self._pieces = 0
        self.size_bytes = 0
        self.version = 0
        self.steps = self.wishes = 0
        self.least_mass: float | None = None

    @property
    def head(self) -> Trace:
        """Return what was recorded so far, without the requests: that costs the same however long they are."""
        return self._head

    @property
    def trace(self) -> Trace:
        """Return what was recorded so far."""
        return replace(self._head, requests=tuple(request.made() for request in self._requests))

    def contract_built(self, contract: Contract[object]) -> Wants:
        """Take the contract, and ask for everything."""
        schema = _shown_contract(contract)
        if not self._grow(len(json.dumps(plain(schema), default=str))):
            schema = None
        self._head = replace(
            self._head,
            contract_name=contract.name,
            contract_version=contract.version,
            language_digest=contract.language_digest,
            schema=schema,
        )
        return Wants(content=True, steps=True)

    def request_began(self, request: RequestBegan) -> None:
        """Begin a request."""
        messages = () if request.messages is None else tuple((each.role, each.content) for each in request.messages)
        if not self._grow(sum(len(content) for _, content in messages)):
            messages = ()
        head = TraceRequest(number=request.number, at_s=request.at_s, waited_s=request.waited_s, messages=messages)
        self._requests.append(_Request(head))
        self._tell()

    def event(self, event: SentEvent, at_s: float) -> None:
        """Take what a backend sent: a step is told right before its text."""
        if not self._requests:
            return
        request = self._requests[-1]
        match event:
            case StepTaken():
                self._take_step(request, event, at_s)
            case TextDelta():
                step, request.step = request.step, None
                mass = event.legal_mass
                self._add(TracePiece(at_s=at_s, data=event.data, text_bytes=0, step=step, legal_mass=mass))
            case ReasoningDelta() if not request.tells_thoughts:
                self._add(TracePiece(at_s=at_s, kind="thought", data=event.data, text_bytes=0))
            case RefusalDelta():
                data = event.text.encode("utf-8", "surrogatepass")
                self._add(TracePiece(at_s=at_s, kind="refusal", data=data, text_bytes=0))
            case ToolDelta() if event.name or event.arguments:
                data = (event.name or "").encode("utf-8", "surrogatepass") + event.arguments
                self._add(TracePiece(at_s=at_s, kind="call", data=data, text_bytes=0))
            case ProseDelta():
                self._add(TracePiece(at_s=at_s, kind="prose", data=event.data, text_bytes=0))
            case _:
                pass

    def shown(self, item: Preview | Reset, at_s: float) -> None:
        """Take what is shown after the last piece."""
        del at_s
        if isinstance(item, Reset) or not self._requests or not self._requests[-1].pieces or self._head.is_cut:
            return
        request = self._requests[-1]
        last = request.pieces[-1]
        changes = last.changes + request.growth.changes(item)
        request.pieces[-1] = replace(last, changes=changes, open_parts=item.moment.open_nodes())
        self._tell()

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        """End a request."""
        del receipt
        if self._requests:
            request = self._requests[-1]
            request.head = replace(request.head, ending=record.ending, detail=record.detail)
            self._tell()

    def ended(self, end: CallEnded, *, summary: str = "") -> None:
        """End the call.

        Args:
            end: how it ended.
            summary: that in one sentence, where there is no outcome to tell it.
        """
        outcome, receipt = end.outcome, end.receipt
        self._head = replace(
            self._head,
            outcome=end.name,
            summary=summary if outcome is None else outcome.summary(),
            error=end.error,
            layers=() if receipt is None else tuple(map(layer_facts, receipt.layers)),
            receipt=None if receipt is None else receipt_facts(receipt),
            ledger_state=end.ledger_state,
            is_replayed=end.is_replayed,
            total_s=end.at_s,
            is_over=True,
        )
        self._tell()

    def _take_step(self, request: _Request, step: StepTaken, at_s: float) -> None:
        if step.kind in ("drawn", "forced"):
            request.step = step
            return
        is_thought = step.kind == "thought"
        request.tells_thoughts = request.tells_thoughts or is_thought
        kind = "thought" if is_thought else "mark"
        self._add(TracePiece(at_s=at_s, kind=kind, data=step.data, text_bytes=0, step=step))

    def _add(self, piece: TracePiece) -> None:
        request = self._requests[-1]
        self._pieces += 1
        # Once one is left out, so is all that follows: what was shown after it would not fit what is there.
        is_left_out = self._head.is_cut or self._pieces > self._keeper.most_pieces
        if is_left_out or not self._grow(_size_bytes(piece)):
            self._head = replace(self._head, is_cut=True)
            return
        request.pieces.append(replace(piece, text_bytes=request.text_bytes))
        if piece.kind not in ("thought", "mark"):
            request.text_bytes += len(piece.data)
        self._count(piece)
        self._tell()

    def _count(self, piece: TracePiece) -> None:
        if piece.step is not None:
            self.steps += 1
            self.wishes += is_illegal_wish(piece.step)
        mass = piece.legal_mass
        if mass is not None:
            self.least_mass = mass if self.least_mass is None else min(self.least_mass, mass)

    def _grow(self, size_bytes: int) -> bool:
        if not self._keeper.has_room(self, size_bytes):
            self._head = replace(self._head, is_cut=True)
            return False
        self.size_bytes += size_bytes
        return True

    def _tell(self) -> None:
        self.version += 1
        self._keeper.tell(self)


def _size_bytes(piece: TracePiece) -> int:
    # Its text may stand three times: as bytes, in the step and in what is shown, there with up to four bytes a sign.
    size = _PIECE_BYTES + 6 * len(piece.data)
    step = piece.step
    if step is not None:
        size += _CHOICE_BYTES * len(step.choices) + len(step.state) + len(step.place or "")
    return size


def _shown_contract(contract: Contract[object]) -> JsonValue:
    text: TextSource | None = contract.text
    return contract.schema if text is None else {"text": type(text).__name__.lower()}


__all__ = ["Keeper", "Recording"]
