"""Read one recorded response of a server as a call would have read it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

import anyio

from commitgate.argument import check_choice, check_int, check_kind, check_text, wrong_kind
from commitgate.backends.base import (
    BackendIdentity,
    EventStream,
    Fault,
    FaultKind,
    Finish,
    FinishReason,
    GenerationRequest,
    ProseDelta,
    ReasoningDelta,
    RefusalDelta,
    Standing,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.dialect import Dialect, EventReader, Expected
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.registry import REMOTE, make_remote
from commitgate.backends.remote import RemoteBackend
from commitgate.backends.translation import Translation
from commitgate.backends.wire.response import ResponseReader
from commitgate.backends.wire.wire_event import Framing
from commitgate.backends.words import TOOL_FINISH_WORDS
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.retry import Retry

if TYPE_CHECKING:
    from commitgate.tools.offer import ToolOffer

WireOutcome: TypeAlias = Literal[
    "complete",
    "truncated",
    "refused",
    "filtered",
    "tool_call",
    "paused",
    "aborted",
    "malformed",
    "constraint_error",
    "request_error",
    "auth_error",
    "rate_limited",
    "server_error",
    "interrupted",
    "protocol_error",
    "unknown",
]
"""What the wire alone says of an answer, before anything is asked of its text."""

WIRE_OUTCOMES: tuple[WireOutcome, ...] = get_args(WireOutcome)

_OF_FAULT: Mapping[FaultKind, WireOutcome] = {
    "rate_limit": "rate_limited",
    "overload": "server_error",
    "server": "server_error",
    "auth": "auth_error",
    "quota": "rate_limited",
    "bad_request": "request_error",
    "constraint": "constraint_error",
    "unreachable": "interrupted",
    "untrusted": "interrupted",
    "in_progress": "request_error",
    "conflict": "request_error",
    "protocol": "protocol_error",
    "unknown_finish": "unknown",
    "model": "server_error",
}

_OF_REASON: Mapping[FinishReason, WireOutcome] = {
    FinishReason.STOP: "complete",
    FinishReason.LENGTH: "truncated",
    FinishReason.CONTENT_FILTER: "filtered",
    FinishReason.REFUSAL: "refused",
    FinishReason.PAUSED: "paused",
    FinishReason.MALFORMED: "malformed",
    FinishReason.CANCELLED: "aborted",
    FinishReason.UNKNOWN: "unknown",
}

_ANYWHERE = "http://replay.invalid"
"""A base URL for backends that are asked for their dialect alone; nothing is sent there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """Hold a call of a tool, its pieces joined.

    Attributes:
        id: what the server calls it; None where it does not.
        name: the tool's name.
        arguments: as the server sent them.
    """

    id: str | None
    name: str = field(repr=False)
    arguments: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Say how a recorded response was read.

    Attributes:
        outcome: without a contract what the wire says, one of ``WireOutcome``; with one the name of the call's ending,
            as ``committed`` or ``truncated``.
        text: the answer's text as received, a cut character as U+FFFD.
        usage: the last counts.
        finish_native: the server's own finish word; None where none was read.
        terminal: the format's own end marker was read.
        tool_calls: the calls of tools.
        reasoning: what the model thought.
        refusal: its words where it declined.
        fault: the failure that the server told of, or that its bytes were.
    """

    outcome: str
    text: str = field(repr=False)
    usage: Usage
    finish_native: str | None
    terminal: bool
    tool_calls: tuple[ReplayedCall, ...] = ()
    reasoning: str = field(default="", repr=False)
    refusal: str = field(default="", repr=False)
    fault: Fault | None = None


def replay(
    backend: str | Dialect,
    body: bytes,
    *,
    contract: object = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    split_at: Sequence[int] = (),
    end: Literal["clean", "reset"] = "clean",
) -> Replay:
    """Read one recorded response through a backend's whole reading path.

    Without a contract all that the response may hold is read, calls of tools too. With one it is read as the answer
    to a call: through the contract's translation, the acceptor and the layers.

    Args:
        backend: the name of a backend, as ``vllm``, or of a dialect, as ``vllm_chat``; or a dialect.
        body: the body, as it came.
        contract: what the answer must satisfy; anything that ``Contract.of`` takes. None to read the wire alone.
        status: HTTP status.
        headers: header fields. Without a content type the body is read as the server usually sends it.
        split_at: offsets at which the body is cut into chunks.
        end: whether the body ended or the line broke.

    Raises:
        MisuseError: an argument is none of these.
        ContractError: there is no such contract.
    """
    dialect = _dialect(backend)
    check_kind("body", body, bytes, "bytes")
    check_int("status", status)
    if not 100 <= status <= 599:
        raise MisuseError(f"status must lie in [100, 599], found {status}")
    check_choice("end", end, ("clean", "reset"))
    recording = _Recording(status, _checked_headers(headers), _chunks(body, split_at), end == "clean")
    reader = dialect.reader(Expected(offers_tools=True))
    found = _Reading()
    response = recording.response(reader, dialect.facts.framing)
    for event in recording.events(response):
        found.take(event)
    outcome: str = found.outcome
    if contract is not None:
        outcome = _ending(_Recorded(dialect, recording), Contract.of(cast("type[object]", contract)))
    return Replay(
        outcome=outcome,
        text=bytes(found.text).decode(errors="replace"),
        usage=found.usage,
        finish_native=response.finish_native,
        terminal=reader.is_terminal,
        tool_calls=tuple(call.joined() for call in found.calls.values()),
        reasoning=bytes(found.reasoning).decode(errors="replace"),
        refusal=found.refusal,
        fault=found.fault,
    )


def _dialect(backend: str | Dialect) -> Dialect:
    if not isinstance(backend, str):
        if not hasattr(backend, "facts") or not hasattr(backend, "reader"):
            raise wrong_kind("backend", "a name or a Dialect", backend)
        return backend
    if backend in DIALECTS:
        return DIALECTS[backend]()
    if backend in REMOTE:
        made = make_remote(backend, base_url=_ANYWHERE, api_key="none")
        assert isinstance(made, RemoteBackend), "the backends of servers are all of one kind"
        return made.dialect
    names = ", ".join(sorted({*DIALECTS, *REMOTE}))
    raise MisuseError(f"there is no backend or dialect {backend!r}; the known ones are: {names}")


def _checked_headers(headers: Mapping[str, str] | None) -> Mapping[str, str]:
    check_kind("headers", headers or {}, Mapping, "a mapping of names to values")
    checked = dict(headers or {})
    for name, value in checked.items():
        check_text("a name of headers", name)
        check_text(f"headers[{name!r}]", value)
    return checked


def _chunks(body: bytes, split_at: Sequence[int]) -> tuple[bytes, ...]:
    check_kind("split_at", split_at, Sequence, "a sequence of offsets")
    for offset in split_at:
        check_int("split_at", offset)
        if not 0 <= offset <= len(body):
            raise MisuseError(f"split_at must lie within the body of {len(body)} bytes, found {offset}")
    return tuple(body[start:stop] for start, stop in pairwise((0, *sorted(split_at), len(body))))


@dataclass(frozen=True, slots=True)
class _Recording:
    """Hold what was recorded."""

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


@dataclass(slots=True)
class _JoinedCall:
    id: str | None = None
    name: str = ""
    arguments: bytearray = field(default_factory=bytearray)

    def take(self, piece: ToolDelta) -> None:
        self.id = self.id or piece.id
        # Some servers repeat the name with every piece, others send it in pieces.
        self.name += piece.name if piece.name and piece.name != self.name else ""
        self.arguments += piece.arguments

    def joined(self) -> ReplayedCall:
        arguments = bytes(self.arguments).decode(errors="replace")
        return ReplayedCall(id=self.id, name=self.name, arguments=arguments)


@dataclass(slots=True)
class _Reading:
    """Gather what the events of one answer say."""

    text: bytearray = field(default_factory=bytearray)
    reasoning: bytearray = field(default_factory=bytearray)
    refusal: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: dict[int, _JoinedCall] = field(default_factory=dict[int, _JoinedCall])
    finish: Finish | None = None
    fault: Fault | None = None
    has_late: bool = False
    """More of the answer came behind its finish."""

    def take(self, event: StreamEvent) -> None:
        """Take the next event."""
        match event:
            case TextDelta() | ProseDelta():
                self.text += event.data
            case ToolDelta():
                self.calls.setdefault(event.index, _JoinedCall()).take(event)
            case ReasoningDelta():
                self.reasoning += event.data
            case RefusalDelta():
                self.refusal += event.text
            case Finish() if self.finish is None:
                self.finish = event
                return
            case Usage():
                self.usage = event
                return
            case Fault():
                self.fault = event
                return
            case Finish():
                pass
            case _:
                return
        self.has_late = self.has_late or self.finish is not None

    @property
    def outcome(self) -> WireOutcome:
        """Return what they say together: a failure wins over a finish, and without either nothing is proven."""
        if self.fault is not None:
            # Not every 402 is a limit that was reached: without money nothing was asked too often.
            return "request_error" if self.fault.status == 402 else _OF_FAULT[self.fault.kind]
        if self.finish is None:
            return "interrupted"
        if self.has_late:
            return "protocol_error"
        if self.refusal and self.finish.reason in (FinishReason.STOP, FinishReason.LENGTH):
            return "refused"
        if self.finish.reason is FinishReason.STOP and self.calls:
            return "tool_call"
        if self.finish.reason is FinishReason.STOP and self.finish.native in TOOL_FINISH_WORDS:
            return "unknown"  # it says that it calls, and there is no call
        return _OF_REASON[self.finish.reason]


class _Recorded:
    """Be the backend of a server that answers every request with one recorded response."""

    def __init__(self, dialect: Dialect, recording: _Recording) -> None:
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
        from commitgate.backends.translation.translating import translate

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


def _ending(backend: _Recorded, contract: Contract[object]) -> str:
    """Return how a call ends that gets the response for its answer."""

    async def call() -> str:
        async with Client(backends={backend.name: backend}) as client:
            once = Retry(attempts=1)
            outcome = await client.generate_structured(backend.name, contract, prompt="replay", retry=once)
            return outcome.name

    # In a thread of its own, because the caller may be on an event loop, which cannot run another one.
    with ThreadPoolExecutor(1, "commitgate-replay") as pool:
        return pool.submit(anyio.run, call).result()


__all__ = ["WIRE_OUTCOMES", "Replay", "ReplayedCall", "WireOutcome", "replay"]
