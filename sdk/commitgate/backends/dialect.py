"""Define the seam between what servers speak and how it is carried: a dialect writes requests and reads answers.

A dialect is sans-IO: it knows no sockets, clocks or tasks. ``RemoteBackend`` carries what it writes, and feeds it with
what comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from commitgate.backends.base import GenerationRequest, StreamEvent
from commitgate.backends.translation import Form
from commitgate.backends.wire.wire_event import Framing, WireEvent
from commitgate.json_value import JsonObject

OWNER = "commitgate"
"""What a server of this project's calls itself."""

KeyHeader: TypeAlias = Literal["bearer", "api-key", "x-api-key", "x-goog-api-key"]
"""Where a key goes: ``Authorization: Bearer`` or a header of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Say what is known of a server and its API.

    Attributes:
        name: the dialect's own name, as ``vllm_chat``; no other has it.
        title: what people call the server.
        vendor: its column in the table of what servers enforce (``lint.vendor_facts``); None where it is this
            project's own, which enforces what a contract says.
        base_url: where it is usually found; None where nobody can know.
        base_url_variable: the environment variable that names its base URL.
        version_segment: the part of the path that a base URL may leave out, as ``v1``; None where there is none.
        key_variables: the environment variables that may hold its key, the first one that is set.
        key_header: where the key goes.
        needs_key: without a key nothing is sent.
        forms: which constraints it takes.
        notations: the notations of grammars that it takes.
        framing: how its streams are cut, where no content type says so.
        proof_of_end: what proves that an answer is whole, in words.
        end_marker: what ends its streams and proves nothing by itself; None where nothing does.
        shows_schema: it shows the model the schema by itself.
        tells_in_finish: it may tell a refusal or a filter in its finish word alone, behind text.
        refuses: it has a form of its own in which models refuse.
        offers_tools: tools are offered in its own form; else a turn of tools is asked for as text of the contract.
        honours_keys: it is known to answer a repeated ``Idempotency-Key`` with the answer it gave before.
        is_trusted: effects need no probe of it, where it says itself that it is of this project.
    """

    name: str
    title: str
    vendor: str | None
    base_url: str | None
    base_url_variable: str
    version_segment: str | None
    key_variables: tuple[str, ...]
    key_header: KeyHeader = "bearer"
    needs_key: bool = False
    forms: frozenset[Form]
    notations: frozenset[Literal["gbnf", "lark"]] = frozenset()
    framing: Framing = "sse"
    proof_of_end: str
    end_marker: str | None = None
    shows_schema: bool = False
    tells_in_finish: bool = False
    refuses: bool = False
    offers_tools: bool = False
    honours_keys: bool = False
    is_trusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """Hold one request as a dialect writes it; keys, idempotency and the caller's own headers are added later.

    Attributes:
        method: ``GET`` or ``POST``.
        path: path below the base URL, with a query where there is one; begins with ``/``. One that begins with ``//``
            is taken from the root of the server, without the base URL's path.
        body: the JSON object of a POST.
        headers: headers of the dialect's own.
    """

    method: Literal["GET", "POST"] = "POST"
    path: str
    body: JsonObject | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Hold one whole answer to a request that was no generation.

    Attributes:
        status: HTTP status; 0 where the server did not answer.
        headers: names in lower case.
        body: as it came, up to a limit.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """Say what a server told of itself; None where it did not.

    Attributes:
        is_ready: it takes requests.
        version: of the server.
        models: the names of its models, up to a limit.
        revision: what tells two versions of the asked model apart.
        engine: what enforces its constraints.
    """

    is_ready: bool
    version: str | None = None
    models: tuple[str, ...] = ()
    revision: str | None = None
    engine: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Say what an answer is expected to hold, beside what its bytes say.

    Attributes:
        offers_tools: tools were offered in the server's own form: its calls are ``ToolDelta``, text beside them
            ``ProseDelta``, and the finish words of calls mean the end.
        answer_tool: the custom tool whose input is the answer itself, as text; None where there is none.
        most_tokens: most output tokens that were asked for; an answer that counts so many may have been cut by a server
            that calls it complete all the same. None where the format tells of a cut for sure.
    """

    offers_tools: bool = False
    answer_tool: str | None = None
    most_tokens: int | None = None


class UnwritableError(Exception):
    """Raised by ``Dialect.write`` where a server has no way to be asked so; becomes a ``bad_request`` fault.

    It is for what hangs on the request and not on the contract: how tokens are drawn, how the model thinks, the order
    of the messages. Its text names the field and the server, and holds no payload.

    Attributes:
        code: short stable name.
    """

    def __init__(self, message: str, *, code: str = "unsupported_parameter") -> None:
        super().__init__(message)
        self.code = code


class EventReader(Protocol):
    """Read the events of one answer, in order.

    Raises ``WireFaultError`` for what cannot be of its format; an error that the server tells of is a ``Fault``.
    """

    @property
    def finish_native(self) -> str | None:
        """Return the server's own finish word; None while there is none."""
        ...

    @property
    def is_terminal(self) -> bool:
        """Say whether the format's own end marker was read. It proves nothing."""
        ...

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one event of a stream means; nothing where it is a mere sign of life."""
        ...

    def read_whole(self, event: WireEvent) -> Iterable[StreamEvent]:
        """Return what one whole answer means, from a server that sent no stream."""
        ...

    def close(self) -> Iterable[StreamEvent]:
        """Return what a clean end of the body adds, as a notice that the end marker is missing."""
        ...


class Dialect(Protocol):
    """Know one API of one server."""

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        ...

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for an answer. ``request.translation`` is never None here.

        Raises:
            UnsupportedError: the server cannot be asked for such a contract.
            UnwritableError: it has no way to say something else of the request.
        """
        ...

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer to ``write(request)`` is expected to hold."""
        ...

    def reader(self, expected: Expected) -> EventReader:
        """Return a reader for one answer."""
        ...

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests by which the server says what it is, none of which asks a model."""
        ...

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the answers to ``handshake``, in its order."""
        ...


__all__ = [
    "OWNER",
    "Answer",
    "Dialect",
    "EventReader",
    "Expected",
    "KeyHeader",
    "Outgoing",
    "ServerFacts",
    "ServerIdentity",
    "UnwritableError",
]
