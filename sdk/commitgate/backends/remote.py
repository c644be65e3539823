"""Ask a server: carry what a dialect writes there, and what comes back to whoever reads it.

It knows no format. A dialect writes requests and reads answers; the transport moves bytes; this composes the two.
"""

from __future__ import annotations

import os
import ssl
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Literal, TypedDict

import anyio
from typing_extensions import Unpack

from commitgate.argument import check_choice, check_finite, check_int, check_kind, check_words, wrong_kind
from commitgate.backends.api_key import ApiKey
from commitgate.backends.base import EventStream, GenerationRequest, Standing
from commitgate.backends.base_url import BaseUrl
from commitgate.backends.dialect import OWNER, Answer, Dialect, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.exchange import Exchange
from commitgate.backends.http import HttpTransport
from commitgate.backends.remote_stream import RemoteStream
from commitgate.backends.request_headers import checked_extra
from commitgate.backends.request_writing import RequestWriting, checked_members
from commitgate.errors import BackendError, MisuseError
from commitgate.json_value import JsonValue
from commitgate.probe.standing import standing
from commitgate.probe.store import ProbeStore
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation
    from commitgate.contract import Contract
    from commitgate.tools.offer import ToolOffer

CONNECTIONS = 100
"""Most requests of one backend at a time, where its caller sets no other number."""

EXCHANGE_S = 10.0
"""Seconds that a request which asks no model may take, where its caller sets no other limit."""

HANDSHAKE_KEPT_S = 60.0
"""Seconds for which it is believed what a server said of itself."""

HANDSHAKES_KEPT = 64
"""Most models for which that is kept."""


class RemoteOptions(TypedDict, total=False):
    """Name what every backend of a server can be told.

    Attributes:
        name: the backend's name in receipts; by default the server's.
        base_url: where the server is; with or without the version in its path.
        api_key: the key, or an async function that gives one before each request.
        http_client: an ``AsyncClient`` of httpx or httpx2, which stays the caller's.
        extra_headers: further header fields of every request; none that is set here.
        extra_body: further members of every request's body; none that the dialect writes.
        connections: most requests at a time, >= 1.
        verify: whom to trust: True the usual authorities, False everybody, or a file or folder of certificates, or a
            context.
        unproven_effects: effects may hang on this server though no probe proved that it enforces constraints.
        probes: folder of kept probe results.
        tools: whether tools are offered in the server's own form, or as text of the contract.
    """

    name: str
    base_url: str
    api_key: str | Callable[[], Awaitable[str]]
    http_client: object
    extra_headers: Mapping[str, str]
    extra_body: Mapping[str, JsonValue]
    connections: int
    verify: bool | str | ssl.SSLContext
    unproven_effects: bool
    probes: str | os.PathLike[str]
    tools: Literal["native", "text"]


class RemoteBackend:
    """Answer requests by asking a server.

    Args:
        dialect: knows what the server speaks.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: an option is wrong, or neither an option nor the environment says where the server is, or holds
            the key that it needs.
    """

    def __init__(self, dialect: Dialect, **options: Unpack[RemoteOptions]) -> None:
        facts = dialect.facts
        _check_known(options)
        self._dialect = dialect
        self._name = options.get("name", facts.name)
        check_words("name", self._name)
        self._base_url = _base_url(options.get("base_url"), facts)
        self._unproven_effects = options.get("unproven_effects", False)
        check_kind("unproven_effects", self._unproven_effects, bool, "a bool")
        check_choice("tools", options.get("tools", "native"), ("native", "text"))
        self._offers_tools = facts.offers_tools and options.get("tools", "native") == "native"
        self._probes = ProbeStore(options.get("probes"))
        self._transport = _transport(options)
        key = ApiKey.of(options.get("api_key"), facts, environment=os.environ)
        self._writing = RequestWriting(
            dialect=dialect,
            base_url=self._base_url,
            key=key,
            extra_headers=checked_extra(options.get("extra_headers", {}), key),
            extra_body=checked_members(options.get("extra_body", {})),
            translate=lambda contract, tools: self.translate(contract, tools=tools),
        )
        self._exchange = Exchange(transport=self._transport, writing=self._writing)
        self._handshakes: OrderedDict[str, tuple[float, ServerIdentity]] = OrderedDict()

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._name

    @property
    def dialect(self) -> Dialect:
        """Return what it speaks."""
        return self._dialect

    @property
    def base_url(self) -> str:
        """Return where the server is, without a query."""
        return self._base_url.shown

    @property
    def shows_schema(self) -> bool:
        """Say that the server shows the model the schema by itself."""
        return self._dialect.facts.shows_schema

    @property
    def tells_in_finish(self) -> bool:
        """Say that a refusal or a filter may be told in the finish word alone, behind text."""
        return self._dialect.facts.tells_in_finish

    @property
    def is_used_here(self) -> bool:
        """Say that its connections belong to the event loop that runs now."""
        return self._transport.is_used_here

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt. The request is sent when the first event is asked for.

        Raises:
            UnsupportedError: the server cannot be asked so.
            MisuseError: ``extra_body`` holds what the dialect writes itself, or the backend is in use in another event
                loop.
            WaitExpired: no place, or no connection, became free within ``pool_s``, or was made within ``connect_s``.
        """
        return RemoteStream(
            name=self._name,
            dialect=self._dialect,
            transport=self._transport,
            request=request,
            prepare=self._writing.prepare,
        )

    async def aclose(self) -> None:
        """Close the connections. The backend may be used again, in another event loop too."""
        self._handshakes.clear()
        await self._transport.aclose()

    def translate(self, contract: Contract[object], *, tools: ToolOffer | None) -> Translation:
        """Say a contract in the server's words. CPU work for a worker thread.

        Raises:
            UnsupportedError: it cannot be said, not even in part.
        """
        from commitgate.backends.translation.translating import translate

        return translate(contract, self._dialect.facts, tools=tools, native_tools=self._offers_tools)

    async def standing(self, model: str) -> Standing:
        """Return whether effects may hang on what this server's model writes. The server may be asked who it is."""
        if self._unproven_effects:
            return Standing(is_proven=True)
        identity = await self.handshake(model)
        if self._dialect.facts.is_trusted:
            return self._standing_of_own(identity)
        dialect_name = self._dialect.facts.name
        return await run_in_thread(
            lambda: standing(
                self._probes,
                dialect_name=dialect_name,
                base_url=self.base_url,
                model=model,
                identity=identity,
                now=time.time(),
            )
        )

    def _standing_of_own(self, identity: ServerIdentity) -> Standing:
        """Return whether what answers is a server of this project's, as far as it says so itself."""
        where = f"the server at {self.base_url}"
        if not identity.is_ready:
            reason = f"{where} does not say that it takes requests: see whether it runs"
            return Standing(is_proven=False, reason=reason, is_reachable=False)
        if identity.engine != OWNER:
            title = self._dialect.facts.title
            reason = f"{where} does not say that it is {title}: use the backend of what it is, and probe it"
            return Standing(is_proven=False, reason=reason)
        return Standing(is_proven=True)

    async def handshake(self, model: str) -> ServerIdentity:
        """Return what the server says of itself, kept for a minute. No model is asked.

        Raises:
            BackendError: the function that gives the key did not.
        """
        began = anyio.current_time()
        async with self._transport.talking():
            at, kept = self._handshakes.get(model, (0.0, None))
            is_fresh = at >= began or anyio.current_time() - at < HANDSHAKE_KEPT_S
            # One that was not ready may be now; but who waited here while it was asked need not ask again.
            if kept is not None and is_fresh and (kept.is_ready or at >= began):
                return kept
            identity = self._dialect.identify(model, await self._answers(self._dialect.handshake(model)))
            self._handshakes.pop(model, None)
            self._handshakes[model] = anyio.current_time(), identity
            while len(self._handshakes) > HANDSHAKES_KEPT:
                self._handshakes.popitem(last=False)
            return identity

    async def _answers(self, asked: Sequence[Outgoing]) -> list[Answer]:
        """Make several requests at once, and return the answers in their order."""
        answers: dict[int, Answer] = {}
        errors: list[BackendError] = []

        async def ask(place: int, outgoing: Outgoing) -> None:
            try:
                answers[place] = await self.exchange(outgoing)
            except BackendError as error:
                # Raised below: a group would wrap it.
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            for place, outgoing in enumerate(asked):
                tasks.start_soon(ask, place, outgoing)
        if errors:
            raise errors[0]
        return [answers[place] for place in range(len(asked))]

    async def exchange(self, outgoing: Outgoing, *, timeout_s: float = EXCHANGE_S) -> Answer:
        """Make one request that is no generation.

        Args:
            outgoing: the request.
            timeout_s: most seconds for all of it, > 0.

        Returns:
            The answer whatever its HTTP status says, with status 0 where none came.

        Raises:
            BackendError: the function that gives the key did not.
        """
        check_finite("timeout_s", timeout_s, "a number of seconds > 0")
        return await self._exchange.run(outgoing, timeout_s=timeout_s)

    def __repr__(self) -> str:
        """Name it and where its server is."""
        return f"<{type(self).__name__} {self._name!r} at {self.base_url}>"


def _check_known(options: RemoteOptions) -> None:
    unknown = sorted(set(options) - set(RemoteOptions.__annotations__))
    if unknown:
        raise MisuseError(f"there is no option {unknown[0]!r}; known are {', '.join(RemoteOptions.__annotations__)}")


def _transport(options: RemoteOptions) -> HttpTransport:
    connections = options.get("connections", CONNECTIONS)
    check_int("connections", connections)
    if connections < 1:
        raise MisuseError(f"connections must be at least 1, found {connections}")
    client = options.get("http_client")
    verify: object = options.get("verify", True)
    if not isinstance(verify, bool | str | ssl.SSLContext):
        raise wrong_kind("verify", "a bool, a path or an SSLContext", verify)
    if client is not None and "verify" in options:
        raise MisuseError("verify is for a client made here; http_client decides itself whom it trusts")
    return HttpTransport(client=client, verify=verify, connections=connections)


def _base_url(given: str | None, facts: ServerFacts) -> BaseUrl:
    variable, segment = facts.base_url_variable, facts.version_segment
    if given is not None:
        return BaseUrl.of(given, segment=segment)
    if os.environ.get(variable):
        return BaseUrl.of(os.environ[variable], segment=segment, named=variable)
    if facts.base_url is None:
        raise MisuseError(f"where {facts.title} is must be said: give base_url, or set the variable {variable}")
    return BaseUrl.of(facts.base_url, segment=segment)


__all__ = [
    "CONNECTIONS",
    "EXCHANGE_S",
    "HANDSHAKES_KEPT",
    "HANDSHAKE_KEPT_S",
    "RemoteBackend",
    "RemoteOptions",
]
