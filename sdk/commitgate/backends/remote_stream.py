"""Read the answer of a server to one request: send it at the first event that is asked for, and read on from there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf
from types import TracebackType
from typing import Protocol, runtime_checkable

import anyio
from anyio.lowlevel import checkpoint

from commitgate.backends.api_key import KeyUnavailableError
from commitgate.backends.base import (
    BackendIdentity,
    ConnectionLost,
    Fault,
    GenerationRequest,
    ServerDedup,
    StreamEvent,
)
from commitgate.backends.dialect import Dialect, EventReader, Expected, UnwritableError
from commitgate.backends.http import HttpRequest, HttpResponse, HttpTransport, Place, Waits
from commitgate.backends.transport_fault import LineLostError, TransportFaultError
from commitgate.backends.wire.response import ResponseReader
from commitgate.harmless import harmless

REPLAYED_HEADER = "idempotency-replayed"
"""Says that an answer is the one that was given before to a request with the same key."""

_MOST_CHARACTERS = 256

Prepare = Callable[[GenerationRequest], Awaitable["Prepared"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Hold what is known of an attempt before it is sent.

    Attributes:
        expected: what the answer is expected to hold.
        complete: adds the key to the request, which is asked for as late as can be.
    """

    expected: Expected
    complete: Callable[[], Awaitable[HttpRequest]] = field(repr=False)


@runtime_checkable
class _Telling(Protocol):
    """Be a reader of events that tells which version of the model answers."""

    model_revision: str | None


@runtime_checkable
class _Naming(Protocol):
    """Be a reader of events that tells the server's own name of its answer."""

    answer_id: str | None


class RemoteStream:
    """Hold one attempt while its events are read.

    Args:
        name: the backend's.
        dialect: reads the answer.
        transport: carries it.
        request: what is asked.
        prepare: writes it.
    """

    def __init__(
        self, *, name: str, dialect: Dialect, transport: HttpTransport, request: GenerationRequest, prepare: Prepare
    ) -> None:
        self._dialect = dialect
        self._transport = transport
        self._request = request
        self._prepare = prepare
        self._identity = BackendIdentity(backend=name, model=request.model)
        self._prepared: Prepared | None = None
        self._place: Place | None = None
        self._pool_until = inf
        self._response: HttpResponse | None = None
        self._events: EventReader | None = None
        self._reader: ResponseReader | None = None
        self._unread: Iterator[list[StreamEvent]] | None = None
        self._ready: deque[StreamEvent] = deque()
        self._is_over = False

    @property
    def identity(self) -> BackendIdentity:
        """Return what answers, as far as it is known by now."""
        events, identity = self._events, self._identity
        if identity.model_revision is None and isinstance(events, _Telling):
            identity = replace(identity, model_revision=self._shown(events.model_revision))
        if identity.request_id is None and isinstance(events, _Naming):
            identity = replace(identity, request_id=self._shown(events.answer_id))
        return identity

    def _shown(self, name: str | None) -> str | None:
        """Return a name that a server gave, without the key, cut and harmless."""
        known = name if self._reader is None else self._reader.without_secret(name)
        return None if known is None else harmless(known[:_MOST_CHARACTERS])

    async def __aenter__(self) -> RemoteStream:
        try:
            self._prepared = await self._prepare(self._request)
        except UnwritableError as error:
            self._end(Fault("bad_request", str(error), code=error.code))
            return self
        limit_s = self._request.timeouts.pool_s
        self._pool_until = inf if limit_s is None else anyio.current_time() + limit_s
        self._place = await self._transport.take_place(limit_s)
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del error_type, error, trace
        self._is_over = True
        self._ready.clear()
        try:
            if self._response is not None:
                await self._response.aclose()
        finally:
            self._give_back()

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self

    async def __anext__(self) -> StreamEvent:
        while not self._ready:
            if self._is_over:
                raise StopAsyncIteration
            await self._advance()
        return self._ready.popleft()

    def take_ready(self) -> StreamEvent | None:
        """Return the next event that was read already; None where there is none now."""
        return self._ready.popleft() if self._ready else None

    async def _advance(self) -> None:
        """Read until something happens."""
        try:
            if self._response is None:
                await self._send()
            else:
                await self._read(self._response)
        except KeyUnavailableError as error:
            self._end(Fault("auth", str(error), code="api_key"))
        except TransportFaultError as error:
            self._end(Fault(error.kind, str(error), code=error.code))
        except LineLostError:
            if self._reader is None:
                self._end(ConnectionLost())
            else:
                self._end(*self._reader.end(is_clean=False))

    async def _send(self) -> None:
        prepared = self._prepared
        assert prepared is not None, "the stream is entered first"
        timeouts = self._request.timeouts
        waits = Waits(pool_s=timeouts.pool_s, pool_until=self._pool_until, connect_s=timeouts.connect_s)
        request = await prepared.complete()
        response = self._response = await self._transport.send(request, waits)
        self._events = self._dialect.reader(prepared.expected)
        framing = self._dialect.facts.framing
        self._reader = ResponseReader(
            self._events, response.status, response.headers, framing, time.time(), secret=request.secret
        )
        self._identity = replace(self._identity, request_id=self._reader.request_id, server_dedup=self._dedup(response))

    async def _read(self, response: HttpResponse) -> None:
        assert self._reader is not None, "a response has a reader"
        meant = None if self._unread is None else next(self._unread, None)
        if meant is not None:
            # A few bytes may be many events; the rest of the program, and limits of time, get their turn between them.
            await checkpoint()
        else:
            data = await response.read()
            if data is None:
                self._unread = None
                self._end(*self._reader.end(is_clean=True))
                return
            self._unread = self._reader.feed_slowly(data)
            meant = next(self._unread, list[StreamEvent]())
        self._ready.extend(meant)
        self._is_over = self._reader.is_over

    def _end(self, *events: StreamEvent) -> None:
        self._ready.extend(events)
        self._is_over = True

    def _give_back(self) -> None:
        if self._place is not None:
            self._place.give_back()

    def _dedup(self, response: HttpResponse) -> ServerDedup:
        """Return what the head of an answer tells of the key that the request carried."""
        if response.headers.get(REPLAYED_HEADER, "").lower() == "true":
            return "replayed"
        is_known = self._dialect.facts.honours_keys and 200 <= response.status < 300
        return "executed" if is_known else "unknown"


__all__ = ["REPLAYED_HEADER", "Prepared", "RemoteStream"]
