"""Backends for the adversarial set: one that writes what a contract allows, and ones that break a law each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass

from anyio.lowlevel import checkpoint

from commitgate.automaton import compile
from commitgate.backends.base import (
    BackendIdentity,
    EventStream,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    SentEvent,
    TextDelta,
    Usage,
)
from commitgate.contract import Contract

STOP = Finish(FinishReason.STOP, "stop")
LENGTH = Finish(FinishReason.LENGTH, "length")
SPOKEN = b"hello, I am CANARY-a1b2"

_PIECE_BYTES = 7
_TOKEN_BYTES = 4
_FIRST = b'"}]'
"""Bytes that lead to an end soon."""


class Obedient:
    """Write the first text of a contract that it finds, four bytes a token, and say truly how it ended."""

    name = "obedient"

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        return self._open(request)

    async def aclose(self) -> None:
        """Free nothing."""

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        async with aclosing(self._events(request)) as events:
            yield _Stream(BackendIdentity(backend=self.name, model=request.model, model_revision="1"), events)

    async def _events(self, request: GenerationRequest) -> AsyncGenerator[SentEvent]:
        for event in self.answer(request):
            await checkpoint()
            yield event

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        """Return what is sent."""
        most = request.sampling.max_tokens * _TOKEN_BYTES
        text, is_whole = written(request.contract, most) if request.is_constrained else (SPOKEN[:most], True)
        return [*pieces(text), STOP if is_whole else LENGTH, Usage(1, len(text))]


@dataclass(frozen=True)
class _Stream:
    identity: BackendIdentity
    events: AsyncIterator[SentEvent]

    def __aiter__(self) -> AsyncIterator[SentEvent]:
        return self.events


def written(contract: Contract[object], most: int) -> tuple[bytes, bool]:
    """Return a text of the contract of at most so many bytes, and whether it is whole."""
    state = compile(contract, dialect="generate").acceptor().state
    text = bytearray()
    while not state.nullable:
        if len(text) == most:
            return bytes(text), False
        legal = [byte for byte in state.partition.live if state.step(byte) is not state.arena.empty]
        byte = min(legal, key=lambda each: (each not in _FIRST, each))
        text.append(byte)
        state.arena.begin_step()
        state = state.step(byte)
    return bytes(text), True


def pieces(text: bytes) -> Iterator[TextDelta]:
    """Cut a text into pieces, inside of characters too."""
    for at in range(0, len(text), _PIECE_BYTES):
        yield TextDelta(text[at : at + _PIECE_BYTES])


class DropsConstraint(Obedient):
    """Say the same words whatever the contract is."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [*pieces(SPOKEN), STOP]


class WritesAnother(Obedient):
    """Write an object that no contract asked for."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [*pieces(b'{"note": "CANARY-a1b2"}'), STOP]


class CallsCutWhole(Obedient):
    """Say of a cut answer that it is whole."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [STOP if event is LENGTH else event for event in super().answer(request)]


class TalksOn(Obedient):
    """Send text behind the finish."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [*super().answer(request), TextDelta(b"and so on")]


class FinishesTwice(Obedient):
    """Send a second finish."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [*super().answer(request), LENGTH]


class NeverFinishes(Obedient):
    """Let the stream end without a finish."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        return [event for event in super().answer(request) if not isinstance(event, Finish)]


class IsGone(Obedient):
    """Take no request from the second one on that it is asked for whole."""

    def __init__(self, served: int = 1) -> None:
        self._left = served

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        self._left -= 1
        return super().answer(request) if self._left >= 0 else [Fault("unreachable", "nobody is there")]


class Breaks(Obedient):
    """Raise what no backend may raise."""

    def answer(self, request: GenerationRequest) -> Iterable[SentEvent]:
        raise ZeroDivisionError("CANARY-a1b2")
