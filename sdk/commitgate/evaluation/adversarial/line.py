"""Stand between the client and the backend under test: pass events on, tamper with them, and note what came."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import anyio

from commitgate.backends.base import (
    Backend,
    BackendIdentity,
    EventStream,
    GenerationRequest,
    Remote,
    SentEvent,
    Standing,
    TextDelta,
)
from commitgate.evaluation.adversarial.stream_law import StreamLaw
from commitgate.evaluation.adversarial.tamper import Drip, End, Hang, Move, Tamper

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation
    from commitgate.contract import Contract
    from commitgate.tools.offer import ToolOffer

MAX_SEEN_BYTES = 1_048_576
"""Most bytes of one answer that are kept to be looked at."""

_UNPROVEN = "the check has it so: nobody knows whether this server enforces constraints"


@dataclass(slots=True, kw_only=True)
class Seen:
    """Note what one request was, and what the backend itself sent.

    Attributes:
        request: the request as the client made it.
        tamper: what was done to its answer.
        law: holds its events to their order.
        text: the answer's text as the backend sent it.
        is_closed: its stream was left.
        closing_s: seconds that leaving it took.
    """

    request: GenerationRequest
    tamper: Tamper
    law: StreamLaw
    text: bytearray = field(default_factory=bytearray, repr=False)
    is_closed: bool = False
    closing_s: float = 0.0

    def take(self, event: SentEvent) -> None:
        """Take one event of the backend."""
        self.law.take(event)
        if isinstance(event, TextDelta):
            self.text += event.data[: MAX_SEEN_BYTES - len(self.text)]


class Line:
    """Be a backend that asks another one.

    Args:
        backend: whom to ask; it stays its owner's to close.
        tampers: what is done to the answer of each request; nothing to those past the last one.
        is_proven: a server's word is taken, so that effects may hang on it.

    Attributes:
        seen: each request and what came, in order.
        hung: set once the line hangs.
    """

    def __init__(self, backend: Backend, tampers: Sequence[Tamper], *, is_proven: bool) -> None:
        self._backend = backend
        self._tampers = tuple(tampers)
        self._is_proven = is_proven
        self.seen: list[Seen] = []
        self.hung = anyio.Event()

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._backend.name

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt."""
        number = len(self.seen)
        tamper = self._tampers[number] if number < len(self._tampers) else Tamper()
        seen = Seen(request=request, tamper=tamper, law=StreamLaw(traces=request.traced_choices is not None))
        self.seen.append(seen)
        return self._open(self._backend.open(tamper.request(request)), seen)

    @asynccontextmanager
    async def _open(self, opening: AbstractAsyncContextManager[EventStream], seen: Seen) -> AsyncGenerator[EventStream]:
        left_at = anyio.current_time()
        try:
            async with opening as stream:
                events = aiter(stream)
                try:
                    yield _TamperedStream(stream, events, seen, self.hung)
                finally:
                    left_at = anyio.current_time()
                    if isinstance(events, AsyncGenerator):
                        await cast("AsyncGenerator[SentEvent]", events).aclose()
        finally:
            seen.is_closed = True
            seen.closing_s = anyio.current_time() - left_at

    async def aclose(self) -> None:
        """Free nothing: what is asked is not owned."""


class RemoteLine(Line):
    """Be a line to a backend of a server: it says contracts in that server's words."""

    def __init__(self, backend: Remote, tampers: Sequence[Tamper], *, is_proven: bool) -> None:
        super().__init__(backend, tampers, is_proven=is_proven)
        self._remote = backend

    @property
    def shows_schema(self) -> bool:
        """Say that the server shows the model the schema by itself."""
        return self._remote.shows_schema

    @property
    def tells_in_finish(self) -> bool:
        """Say that a refusal or a filter may be told in the finish word alone, behind text."""
        return self._remote.tells_in_finish

    def translate(self, contract: Contract[object], *, tools: ToolOffer | None) -> Translation:
        """Say a contract in the server's words."""
        return self._remote.translate(contract, tools=tools)

    async def standing(self, model: str) -> Standing:
        """Return whether effects may hang on the server, as the check has it: nothing of worth hangs on it here."""
        del model
        return Standing(is_proven=True) if self._is_proven else Standing(is_proven=False, reason=_UNPROVEN)


def line_to(backend: Backend, tampers: Sequence[Tamper], *, is_proven: bool = True) -> Line:
    """Return a line to a backend."""
    if isinstance(backend, Remote):
        return RemoteLine(backend, tampers, is_proven=is_proven)
    return Line(backend, tampers, is_proven=is_proven)


class _TamperedStream:
    def __init__(self, stream: EventStream, events: AsyncIterator[SentEvent], seen: Seen, hung: anyio.Event) -> None:
        self._stream = stream
        self._events = events
        self._seen = seen
        self._hung = hung
        self._moves: deque[Move] = deque()
        self._drip: Drip | None = None

    @property
    def identity(self) -> BackendIdentity:
        return self._seen.tamper.identity(self._stream.identity)

    def __aiter__(self) -> AsyncIterator[SentEvent]:
        return self

    async def __anext__(self) -> SentEvent:
        while not self._moves:
            if self._drip is not None:
                await anyio.sleep(self._drip.every_s)
                return self._drip.event
            event = await anext(self._events)
            self._seen.take(event)
            self._moves += self._seen.tamper.take(event)
        move = self._moves.popleft()
        match move:
            case End():
                self._moves.appendleft(move)  # whoever asks again is told the same
                raise StopAsyncIteration
            case Hang():
                self._hung.set()
                await anyio.sleep_forever()
                raise AssertionError("nobody wakes it but a cancellation")
            case Drip():
                self._drip = move
                self._hung.set()
                return await anext(self)
            case _:
                return move


__all__ = ["MAX_SEEN_BYTES", "Line", "RemoteLine", "Seen", "line_to"]
