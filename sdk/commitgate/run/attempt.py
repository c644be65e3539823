"""Make one request, feed the gate with what comes back, and show what passed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from dataclasses import replace
from math import isfinite
from typing import cast

import anyio
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from commitgate.automaton import Automaton, compile
from commitgate.backends.base import (
    Backend,
    Buffered,
    Event,
    EventStream,
    GenerationRequest,
    Remote,
    SentEvent,
    StepTaken,
    StreamEvent,
    TextDelta,
    ToolDelta,
    WaitExpired,
)
from commitgate.errors import LimitExceededError
from commitgate.gate.gate import Gate
from commitgate.gate.states import State
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.verdict import Outside, Verdict, Whole
from commitgate.limits import Limits
from commitgate.outcome import Receipt, TimedOut, Violated
from commitgate.preview import Preview, PreviewReader, ReaderState
from commitgate.run.facts import Facts
from commitgate.run.limited_acceptor import LimitedAcceptor
from commitgate.run.patience import HIDDEN_READ_S, TRAILING_READ_S, Patience
from commitgate.tools.joining import TurnJoining

SLICE_BYTES = 4_096
"""Most bytes that are walked before the rest of the program gets its turn: walking new states may take long."""

TURN_S = 0.001
"""Seconds for which events that are there already are read before the rest of the program gets its turn."""

CLOSE_S = 2.0
"""Longest wait for a backend to close its stream. What was read stands, and the next request need not wait for it."""


class Attempt:
    """Run one attempt, once.

    Args:
        backend: whom to ask.
        request: what to ask.
        automaton: in its ``accept`` dialect what the text as received must satisfy: the contract, or its translation.
        facts: where to note what is learnt.
        show: takes previews; None where nobody looks, which spares making them.
        only_reports: the stream is read to its end whatever stands in it.
    """

    def __init__(
        self,
        backend: Backend,
        request: GenerationRequest,
        automaton: Automaton,
        *,
        facts: Facts,
        show: Callable[[Preview], None] | None,
        only_reports: bool = False,
    ) -> None:
        self._backend = backend
        self._request = request
        self._facts = facts
        self._show = show
        self._only_reports = only_reports
        translation = request.translation
        sent = request.contract if translation is None else translation.sent
        self._restorer = None if translation is None or translation.shape.is_same else translation.shape.restorer()
        self._restored = bytearray()
        limits = request.contract.limits
        self._acceptor = LimitedAcceptor(automaton.acceptor())
        # Any JSON at all may need more states than the contract's own limit is meant for.
        states = max(limits.states, Limits().states)
        # A key is cut off by the contract's own acceptor; here it would make JSON look like none.
        plain = replace(limits, states=states, key_bytes=max(limits.key_bytes, limits.text_bytes))
        is_json = sent.text is None
        self._gate = Gate(
            self._acceptor,
            json_acceptor=(lambda: LimitedAcceptor(compile(True, limits=plain).acceptor())) if is_json else None,
            text_bytes=limits.text_bytes,
            key_bytes=limits.key_bytes,
            tells_in_finish=not isinstance(backend, Remote) or backend.tells_in_finish,
            only_reports=only_reports,
        )
        self._reader = PreviewReader(request.contract, max_depth=limits.nesting)
        self._joining = TurnJoining(request.tools, most_bytes=limits.text_bytes)
        self._legal_mass: float | None = None
        self._turn_s = self._turned_at = 0.0

    async def run(self) -> Verdict:
        """Return what the stream amounts to, with an empty receipt.

        Raises:
            ContractError: the backend cannot enforce the contract.
            BackendError: the backend cannot begin.
        """
        try:
            cut_off = await self._exchange()
        except WaitExpired as expired:
            return TimedOut(phase=expired.phase, limit_s=expired.limit_s, receipt=Receipt())
        verdict = cut_off or self._gate.verdict
        assert verdict is not None, "a closed gate has ruled"
        verdict = self._in_shape(verdict)
        # Only the end closes a number at the root; everything else was shown when its last byte came.
        if isinstance(verdict, Whole) and self._show is not None and self._reader.state is ReaderState.ACCEPT_IF_EOF:
            self._show(self._noted(self._reader.finish()))
        return verdict

    def _in_shape(self, verdict: Verdict) -> Verdict:
        """Return a verdict on the contract's own text, out of one on the text as received."""
        if self._restorer is None:
            return verdict
        if isinstance(verdict, Whole):
            self._show_restored(self._restorer.finish())
            text = bytes(self._restored)
            if self._request.tools is not None:
                self._facts.turn = text
            return Whole(text)
        return self._outside_in_shape(verdict) if isinstance(verdict, Outside) else verdict

    def _outside_in_shape(self, outside: Outside) -> Verdict:
        """Return the text for the layers to name its fault, or the violation where it has no shape to be put into."""
        translation = self._request.translation
        assert translation is not None, "only a translation has another shape"
        nesting = self._request.contract.limits.nesting
        if translation.shape.is_wrapped or not isinstance(strict_parse(outside.text, nesting=nesting), Parsed):
            return outside.violation
        restorer = translation.shape.restorer()
        return replace(outside, text=restorer.feed(outside.text) + restorer.finish())

    async def _exchange(self) -> TimedOut | Violated | None:
        """Open a stream, read and close it; trouble in closing changes nothing of what was read."""
        has_read, cut_off, error = False, None, None
        # Outside of the stream's own scopes, so that its deadline can end their closing.
        closing = anyio.CancelScope()
        try:
            with closing:
                async with self._backend.open(self._request) as stream:
                    events = aiter(stream)
                    try:
                        cut_off = await self._read_all(stream, events)
                        has_read = True
                    except Exception as raised:
                        error = raised
                        raise
                    finally:
                        closing.deadline = anyio.current_time() + CLOSE_S
                        await _close(events)
        except BaseException as raised:
            if not _is_ordinary(raised):
                raise
            # What goes wrong while a call is cancelled must not hide that it was.
            await checkpoint_if_cancelled()
            if not has_read:
                raise
            self._facts.is_close_failed = True
        if closing.cancelled_caught:
            self._facts.is_close_failed = True
            if error is not None:
                raise error
        return cut_off

    async def _read_all(self, stream: EventStream, events: AsyncIterator[SentEvent]) -> TimedOut | Violated | None:
        self._facts.identity = stream.identity
        self._facts.gate = self._gate
        try:
            return await self._read(events, stream.take_ready if isinstance(stream, Buffered) else None)
        except LimitExceededError as error:
            return self._over_limit(str(error))
        finally:
            # A server tells more of itself with its answer.
            self._facts.identity = stream.identity

    async def _read(
        self, events: AsyncIterator[SentEvent], take_ready: Callable[[], SentEvent | None] | None
    ) -> TimedOut | None:
        patience = Patience(self._request.timeouts, anyio.current_time())
        self._turn_s = 0.0 if take_ready is None else TURN_S
        while self._gate.state is not State.ENDED:
            event = None
            # Once for all events that come together: the scope costs as much as all that is done with one of them.
            with anyio.move_on_at(patience.until) as wait:
                event = await _next(events)
            if wait.cancelled_caught and (ending := patience.deadline.ending) is not None:
                return ending
            if event is None:
                self._gate.close()
            while event is not None:
                await self._read_event(event, patience)
                event = None if take_ready is None or self._is_over() else take_ready()
        return None

    def _is_over(self) -> bool:
        return self._gate.state is State.ENDED

    async def _read_event(self, event: SentEvent, patience: Patience) -> None:
        self._facts.watch.event(event)
        if isinstance(event, StepTaken):
            return
        for piece in _pieces_of_call(event):
            for joined in self._joining.feed(piece):
                await self._take(joined)
        # Read anew, so that time spent on an event does not count as waiting for the next one.
        now = anyio.current_time()
        patience.note(event, now)
        self._adjust(patience, now)

    async def _take(self, event: Event) -> None:
        now = anyio.current_time()
        if isinstance(event, TextDelta):
            self._facts.note_text(event, now)
            if event.legal_mass is not None and isfinite(event.legal_mass):
                self._legal_mass = event.legal_mass
        for piece in _slices(event):
            if self._gate.state is State.ENDED:
                break
            self._feed(piece)
            if piece is not event or now - self._turned_at >= self._turn_s:
                # Some backends hold their events ready; the rest of the program must get its turn between them.
                await checkpoint()
                self._turned_at = now

    def _feed(self, event: Event) -> None:
        passed = self._gate.feed(event)
        if self._acceptor.is_exceeded:
            self._gate.evidence.violation = self._over_limit(self._acceptor.explain())
        if passed and self._restorer is not None:
            self._show_restored(self._restorer.feed(passed))
        elif passed and self._show is not None:
            self._show(self._noted(self._reader.feed(passed)))

    def _show_restored(self, restored: bytes) -> None:
        self._restored += restored
        if restored and self._show is not None:
            self._show(self._noted(self._reader.feed(restored)))

    def _noted(self, preview: Preview) -> Preview:
        return preview.noted(attempt=self._request.attempt, legal_mass=self._legal_mass)

    def _over_limit(self, explanation: str) -> Violated:
        position = len(self._gate.evidence.passed)
        return Violated(kind="limit", position=position, explanation=explanation, receipt=Receipt())

    def _adjust(self, patience: Patience, now: float) -> None:
        if self._gate.state is State.HIDING and not self._only_reports:
            patience.read_on(HIDDEN_READ_S, now)
        elif self._gate.state is State.FINISHED:
            patience.read_on(TRAILING_READ_S, now)


def _slices(event: Event) -> Iterator[Event]:
    """Cut a large text into pieces; the gate and the reader come to the same end however a text is cut."""
    if not isinstance(event, TextDelta) or len(event.data) <= SLICE_BYTES:
        yield event
        return
    for start in range(0, len(event.data), SLICE_BYTES):
        yield TextDelta(event.data[start : start + SLICE_BYTES])


def _pieces_of_call(event: StreamEvent) -> Iterator[StreamEvent]:
    """Cut large arguments into pieces, as large texts are."""
    if not isinstance(event, ToolDelta) or len(event.arguments) <= SLICE_BYTES:
        yield event
        return
    yield replace(event, arguments=event.arguments[:SLICE_BYTES])
    for start in range(SLICE_BYTES, len(event.arguments), SLICE_BYTES):
        yield ToolDelta(event.index, arguments=event.arguments[start : start + SLICE_BYTES])


async def _next(events: AsyncIterator[SentEvent]) -> SentEvent | None:
    try:
        return await anext(events)
    except StopAsyncIteration:
        return None


async def _close(events: AsyncIterator[SentEvent]) -> None:
    # Left to the garbage collector, a generator would be closed after its stream, and in another task.
    if isinstance(events, AsyncGenerator):
        await cast("AsyncGenerator[SentEvent]", events).aclose()


def _is_ordinary(error: BaseException) -> bool:
    """Say whether it is an ``Exception``, or a group of such and of cancellations."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return group.split((Exception, anyio.get_cancelled_exc_class()))[1] is None
    return isinstance(error, Exception)


__all__ = ["CLOSE_S", "SLICE_BYTES", "Attempt"]
