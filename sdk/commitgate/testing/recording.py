"""Hold one recorded response, and be the backend of a server that answers with it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commitgate.backends.base import BackendIdentity, EventStream, GenerationRequest, Standing, StreamEvent
from commitgate.backends.dialect import Dialect, EventReader
from commitgate.backends.translation import Translation, translate
from commitgate.backends.wire.response import ResponseReader
from commitgate.backends.wire.wire_event import Framing
from commitgate.contract import Contract

if TYPE_CHECKING:
    from commitgate.tools.offer import ToolOffer


@dataclass(frozen=True, slots=True)
class Recording:
    """Hold what was recorded.

    Attributes:
        status: HTTP status.
        headers: header fields.
        chunks: the body, as the network cut it.
        is_clean: the body ended; else the line broke.
    """

    status: int
    headers: Mapping[str, str]
    chunks: tuple[bytes, ...]
    is_clean: bool

    def response(self, reader: EventReader, framing: Framing) -> ResponseReader:
        """Return what reads it."""
        return ResponseReader(reader, self.status, self.headers, framing, time.time())

    def events(self, response: ResponseReader) -> Iterator[StreamEvent]:
        """Yield what it means; last the counts behind a failure, for which a call does not wait."""
        for chunk in self.chunks:
            yield from response.feed(chunk)
        yield from response.end(is_clean=self.is_clean)
        if response.usage is not None:
            yield response.usage


class RecordedBackend:
    """Answer every request with one recorded response.

    Args:
        dialect: what the server speaks.
        recording: the response.
    """

    def __init__(self, dialect: Dialect, recording: Recording) -> None:
        self._dialect = dialect
        self._recording = recording

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return "replay"

    @property
    def shows_schema(self) -> bool:
        """Say what the server is known to do."""
        return self._dialect.facts.shows_schema

    @property
    def tells_in_finish(self) -> bool:
        """Say what the server is known to do."""
        return self._dialect.facts.tells_in_finish

    def translate(self, contract: Contract[object], *, tools: ToolOffer | None) -> Translation:
        """Say a contract in the server's words."""
        return translate(contract, self._dialect.facts, tools=tools)

    async def standing(self, model: str) -> Standing:
        """Say that what hangs on a replay is a test."""
        return Standing(is_proven=True)

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Play the response as the answer to a request."""
        return self._open(request)

    async def aclose(self) -> None:
        """Free nothing."""

    @asynccontextmanager
    async def _open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        reader = self._dialect.reader(self._dialect.expected(request))
        response = self._recording.response(reader, self._dialect.facts.framing)
        events = self._recording.events(response)
        yield _RecordedStream(BackendIdentity(backend=self.name, model=request.model), events)


@dataclass(frozen=True, slots=True)
class _RecordedStream:
    identity: BackendIdentity
    events: Iterable[StreamEvent]

    async def __aiter__(self) -> AsyncIterator[StreamEvent]:
        for event in self.events:
            yield event


__all__ = ["RecordedBackend", "Recording"]
