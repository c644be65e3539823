"""Move bytes to a server and back: the only module that knows the HTTP library.

httpx is loaded at the first request. A client of httpx or of httpx2 may be passed in; both have the same methods.

The library's pool forgets a connection that was given to a request which is cancelled before it begins to connect:
the pool takes it for busy for ever (encode/httpcore#1093). So requests are sent behind a shield. The first trace event
of a request takes it down: from there on the connection itself sees a cancellation, and gives itself up. Own requests
never wait for the library's pool, as places are taken here first; for a client that others use too, the wait behind the
shield is cut into short turns.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import urlsplit

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from commitgate.argument import wrong_kind
from commitgate.backends.base import WaitExpired
from commitgate.backends.shelter import Shelter, run_shielded
from commitgate.backends.transport_fault import LIBRARIES, LineLostError, fault_of, verdict_of
from commitgate.errors import MisuseError
from commitgate.harmless import harmless
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    import httpx

POOL_REQUESTS = 32
"""Most requests in one pool of the library's, which looks at all of them for each; further ones get further pools."""

IDLE_CONNECTIONS = 20
"""Most connections of one pool that are kept open though nobody uses them."""

KEEP_ALIVE_S = 4.0
"""Seconds for which they are kept. Servers close theirs after 5 and more; whoever is later meets a closed door."""

WRITE_S = 30.0
"""Longest wait for a server to take the next piece of a request."""

CLOSE_S = 1.0
"""Longest wait for an answer to be closed that is left early."""

POOL_TURN_S = 0.1
"""Longest wait behind the shield for a connection of a client that was passed in; then a cancellation is looked for."""

GRACE_S = 0.2
"""Seconds after a cancellation for which the shield stays up where a client tells nothing of what it does."""

_MOST_DRAINED = 20_000
"""Most pieces of an answer left early that are taken out of buffers until the line itself is waited for."""

_DRAINING_S = 0.02
"""Seconds that this may take, looked at after each so many pieces: it holds the event loop."""

_DRAINED_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """Hold one request.

    Attributes:
        method: ``GET`` or ``POST``.
        url: whole.
        headers: all that are set here.
        body: empty where there is none.
        secret: the key among the headers; empty where there is none.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Bound what comes before an answer; None sets no limit.

    Attributes:
        pool_s: the limit on the wait for a connection.
        pool_until: time by the event loop's clock at which it runs out.
        connect_s: for a connection to be made, its encryption included.
    """

    pool_s: float | None = None
    pool_until: float = inf
    connect_s: float | None = None


class HttpResponse:
    """Read one answer: its head is there, its body comes piece by piece."""

    def __init__(self, response: httpx.Response, pool: _Pool | None) -> None:
        self._response = response
        self._pool = pool
        self._is_reading = False
        self._has_ended = False
        self._is_over = False
        self.status = response.status_code
        self.headers = _joined(response.headers.multi_items())
        if response.is_stream_consumed:
            # A hook of the caller's client has read it, and unpacked it.
            self._pieces: AsyncIterator[bytes] = _Once(response.content)
            self.headers.pop("content-encoding", None)
        else:
            # Not what the library hands out as raw bytes: that closes the answer where a cancellation can tear it.
            self._pieces = aiter(cast("httpx.AsyncByteStream", response.stream))

    async def read(self) -> bytes | None:
        """Return the next piece as it came over the wire; None after a clean end.

        Raises:
            LineLostError: the line broke, or the body was shorter than its head said, or it was closed before its end.
        """
        if self._is_over:
            if self._has_ended:
                return None
            raise LineLostError("the answer was closed before its end")
        self._is_reading = True
        try:
            return await anext(self._pieces)
        except StopAsyncIteration:
            self._has_ended = True
        except Exception as error:
            self._end()
            raise LineLostError("the line broke within the answer") from error
        except BaseException:
            # The library has closed it on the way.
            self._end()
            raise
        finally:
            self._is_reading = False
        await self.aclose()
        return None

    async def aclose(self) -> None:
        """Close it, wherever its reader stands. The server sees at once that nobody reads on."""
        if not self._is_over:
            await run_shielded(self._close, limit_s=CLOSE_S)

    async def _close(self) -> None:
        try:
            if not self._is_reading and not self._has_ended:
                await self._unwind()
            self._is_over = True
            await self._response.aclose()
        except Exception:  # noqa: BLE001 - what was read stands, and there is nobody to tell
            return
        finally:
            self._end()

    def _end(self) -> None:
        self._is_over = True
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.in_use -= 1

    async def _unwind(self) -> None:
        """End the library's chain of generators from its inside: closed from outside, the inner ones are left over."""
        until = anyio.current_time() + _DRAINING_S
        for drained in range(_MOST_DRAINED):
            # Pieces that lie ready come without a turn for anybody else.
            if drained % _DRAINED_AT_ONCE == 0 and anyio.current_time() > until:
                return
            with anyio.CancelScope() as scope:
                scope.cancel()
                try:
                    await anext(self._pieces)
                except Exception:  # noqa: BLE001 - the end of the chain, whichever it is
                    return
            if scope.cancelled_caught:
                return


class _Once:
    """Iterate over one piece, without a generator that could be left over."""

    def __init__(self, piece: bytes) -> None:
        self._pieces = [piece] if piece else []

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._pieces:
            raise StopAsyncIteration
        return self._pieces.pop()


class _Body:
    """Hold the bytes of a request, which may be iterated over again."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._data)


@cache
def _kind_of_body(library: type) -> type:
    return type("Body", (_Body, library), {})


def _body(data: bytes, *, like: object) -> httpx.AsyncByteStream:
    """Return a body that the library takes for one of its own; its own are generators."""
    library = next(kind for kind in type(like).__mro__ if kind.__name__ == "AsyncByteStream")
    return cast("httpx.AsyncByteStream", _kind_of_body(library)(data))


class HttpTransport:
    """Send requests.

    Args:
        client: the caller's own ``AsyncClient``, which stays its own; None makes one at the first request.
        verify: whom to trust: True the usual authorities, False everybody, or a file or folder of certificates, or a
            context.
        connections: most requests at a time, >= 1.

    Raises:
        MisuseError: ``client`` is no such client.
    """

    def __init__(self, *, client: object | None, verify: bool | str | ssl.SSLContext, connections: int) -> None:
        if client is not None and not _is_client(client):
            raise wrong_kind("http_client", "an AsyncClient of httpx or httpx2", client)
        self._given = cast("httpx.AsyncClient | None", client)
        self._verify = verify
        self._connections = connections
        self._loop: _Loop | None = None

    @property
    def is_used_here(self) -> bool:
        """Say that its connections belong to the event loop that runs now."""
        return self._loop is not None and self._loop.token == current_token()

    async def take_place(self, limit_s: float | None) -> Place:
        """Wait for one of the places for requests, and take it.

        Args:
            limit_s: longest wait; None for no limit.

        Raises:
            WaitExpired: none became free in time.
            MisuseError: the transport is in use in another event loop.
        """
        places = self._here().places
        # One that is free is had whatever the limit.
        with suppress(anyio.WouldBlock):
            places.acquire_nowait()
            return Place(places)
        with anyio.move_on_after(limit_s):
            await places.acquire()
            return Place(places)
        assert limit_s is not None, "only a limit ends the wait"
        raise WaitExpired("pool", limit_s)

    def talking(self) -> anyio.Lock:
        """Return what lets one at a time ask the server what it is.

        Raises:
            MisuseError: the transport is in use in another event loop.
        """
        return self._here().talking

    async def send(self, request: HttpRequest, waits: Waits) -> HttpResponse:
        """Send a request and return the answer once its head is there.

        Whoever asks a model holds a place; other requests need none, so that they never wait for long answers.

        Raises:
            WaitExpired: no connection was free, or none was made, in time.
            TransportFaultError: no answer can come.
            LineLostError: the line broke before the answer.
        """
        pool = await self._taken_pool()
        try:
            sending = _Sending(pool.client, request, waits, is_shared=self._given is not None)
            return HttpResponse(await sending.run(), pool)
        except BaseException:
            pool.in_use -= 1
            raise

    async def aclose(self) -> None:
        """Close the connections. The transport may be used again, in another event loop too."""
        loop, self._loop = self._loop, None
        for pool in () if loop is None else loop.pools:
            await pool.client.aclose()

    def _here(self) -> _Loop:
        token = current_token()
        if self._loop is None:
            self._loop = _Loop(token=token, places=anyio.Semaphore(self._connections))
        elif self._loop.token != token:
            raise MisuseError(
                "this backend's connections belong to another event loop; make one backend for each, or close this one "
                "with aclose() before the loop ends"
            )
        return self._loop

    async def _taken_pool(self) -> _Pool:
        if self._given is not None:
            if self._given.is_closed:
                raise MisuseError("http_client is closed; leave it open for as long as the backend is used")
            return _Pool(client=self._given, in_use=1)
        loop = self._here()
        async with loop.making:
            pool = next((pool for pool in loop.pools if pool.in_use < POOL_REQUESTS), None)
            if pool is None:
                # Loading the library and the authorities takes tens of milliseconds.
                pool = _Pool(client=await run_in_thread(lambda: self._made(loop)))
                loop.pools.append(pool)
            pool.in_use += 1
            return pool

    def _made(self, loop: _Loop) -> httpx.AsyncClient:
        from http.cookiejar import CookieJar, DefaultCookiePolicy

        import httpx

        if loop.trust is None:
            loop.trust = httpx.create_ssl_context(verify=_trusted(self._verify))
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=KEEP_ALIVE_S
        )
        no_cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=()))
        try:
            return httpx.AsyncClient(verify=loop.trust, limits=limits, timeout=None, cookies=no_cookies)
        except ImportError:
            raise MisuseError(
                "a proxy of the environment speaks SOCKS; that needs: pip install 'httpx[socks]'"
            ) from None
        except (ValueError, httpx.InvalidURL):
            # What the library says quotes the URL, and there may be a password in it.
            raise MisuseError(
                "a proxy of the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY) must be a URL as http://host:3128"
            ) from None


class Place:
    """Hold a place until it is given back."""

    __slots__ = ("_places",)

    def __init__(self, places: anyio.Semaphore) -> None:
        self._places: anyio.Semaphore | None = places

    def give_back(self) -> None:
        """Give it back; further times do nothing."""
        places, self._places = self._places, None
        if places is not None:
            places.release()


@dataclass(slots=True, kw_only=True)
class _Pool:
    """Hold one client, and count its requests."""

    client: httpx.AsyncClient
    in_use: int = 0


@dataclass(slots=True, kw_only=True)
class _Loop:
    """Hold what belongs to one event loop."""

    token: EventLoopToken
    places: anyio.Semaphore
    making: anyio.Lock = field(default_factory=anyio.Lock)
    talking: anyio.Lock = field(default_factory=anyio.Lock)
    pools: list[_Pool] = field(default_factory=list["_Pool"])
    trust: ssl.SSLContext | None = None


class _Closable(Protocol):
    async def aclose(self) -> None: ...


class _Sending:
    """Send one request, once."""

    def __init__(self, client: httpx.AsyncClient, request: HttpRequest, waits: Waits, *, is_shared: bool) -> None:
        self._client = client
        self._request = request
        self._waits = waits
        self._is_shared = is_shared
        self._is_connecting = False
        self._where = ""
        self._bare_line: _Closable | None = None
        self._shelter = Shelter(self._send, drop=_drop, grace_s=GRACE_S)

    async def run(self) -> httpx.Response:
        try:
            return await self._shelter.run()
        except TimeoutError:
            assert self._waits.connect_s is not None, "only a limit ends the wait"
            raise WaitExpired("connect", self._waits.connect_s) from None

    async def _send(self) -> httpx.Response:
        try:
            return await self._answer()
        finally:
            if self._bare_line is not None:
                # The library leaves a line open whose encryption was cut off.
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await self._bare_line.aclose()

    async def _answer(self) -> httpx.Response:
        while True:
            try:
                return await self._client.send(self._built(), stream=True, follow_redirects=False)
            except Exception as error:
                verdict = verdict_of(error)
                if verdict == "status":
                    return cast("httpx.HTTPStatusError", error).response
                if verdict == "connect_limit" and self._waits.connect_s is not None:
                    raise WaitExpired("connect", self._waits.connect_s) from error
                if verdict != "pool":
                    raise fault_of(error, verdict, self._where) from error
            self._look_up()

    def _look_up(self) -> None:
        """End the wait for the pool where it has taken too long, or nobody waits any more."""
        if self._shelter.is_left:
            raise LineLostError("nobody waits for the answer any more")
        if self._waits.pool_s is not None and anyio.current_time() >= self._waits.pool_until:
            raise WaitExpired("pool", self._waits.pool_s)

    def _built(self) -> httpx.Request:
        request = self._request
        timeout = {"pool": self._turn_s(), "connect": self._waits.connect_s, "write": WRITE_S, "read": None}
        built = self._client.build_request(
            request.method,
            request.url,
            headers=list(request.headers.items()),
            content=request.body or None,
            extensions={"timeout": timeout, "trace": self._trace},
        )
        if request.body:
            built.stream = _body(request.body, like=built.stream)
        return built

    def _turn_s(self) -> float | None:
        if not self._is_shared:
            return None
        return max(0.001, min(POOL_TURN_S, self._waits.pool_until - anyio.current_time()))

    async def _trace(self, name: str, info: Mapping[str, object]) -> None:
        self._shelter.open()
        step = name.partition(".")[2]
        if step in ("connect_tcp.started", "connect_unix_socket.started") and not self._is_connecting:
            self._is_connecting = True
            self._where = _where(info, self._request.url)
            if self._waits.connect_s is not None:
                self._shelter.limit(anyio.current_time() + self._waits.connect_s)
        elif step in ("connect_tcp.complete", "connect_unix_socket.complete"):
            self._bare_line = cast("_Closable | None", info.get("return_value"))
        elif step == "send_request_headers.started" and not _is_tunnel(info):
            self._bare_line = None
            self._shelter.limit(inf)


def _where(info: Mapping[str, object], url: str) -> str:
    """Return whom a request is connecting to: the server of its URL, or the proxy on the way there."""
    host, port = info.get("host"), info.get("port")
    if not isinstance(host, str) or not isinstance(port, int):
        return ""
    parts = urlsplit(url)
    is_server = (host, port) == (parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme))
    return harmless(f"{'' if is_server else 'the proxy '}{host}:{port}")


def _is_tunnel(info: Mapping[str, object]) -> bool:
    """Say that a request asks a proxy for a way to the server; it is part of connecting."""
    return getattr(info.get("request"), "method", None) == b"CONNECT"


async def _drop(response: httpx.Response) -> None:
    await HttpResponse(response, None).aclose()


def _is_client(client: object) -> bool:
    return any(
        kind.__name__ == "AsyncClient" and kind.__module__.partition(".")[0] in LIBRARIES
        for kind in type(client).__mro__
    )


def _trusted(verify: bool | str | ssl.SSLContext) -> bool | ssl.SSLContext:
    if not isinstance(verify, str):
        return verify
    from pathlib import Path

    is_folder = Path(verify).is_dir()
    return ssl.create_default_context(capath=verify if is_folder else None, cafile=None if is_folder else verify)


def _joined(fields: list[tuple[str, str]]) -> dict[str, str]:
    """Return header fields by their names in lower case; several of one name are joined. Source: RFC 9110, 5.3."""
    found = dict[str, str]()
    for name, value in fields:
        name = name.lower()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


__all__ = [
    "CLOSE_S",
    "GRACE_S",
    "IDLE_CONNECTIONS",
    "KEEP_ALIVE_S",
    "POOL_TURN_S",
    "WRITE_S",
    "HttpRequest",
    "HttpResponse",
    "HttpTransport",
    "Place",
    "Waits",
]
