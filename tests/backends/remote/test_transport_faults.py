"""Every exception of the HTTP libraries means something, and nothing of them comes through."""

from __future__ import annotations

import socket
import ssl
import sys
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest
from backends.remote.chat_words import answering, backend_at, events_of, request
from backends.remote.loopback import Asked, Line, closed_port, loopback

from commitgate.backends.base import ConnectionLost, Fault, Finish, WaitExpired
from commitgate.backends.transport_fault import (
    LIBRARIES,
    VERDICTS,
    LineLostError,
    TransportFaultError,
    fault_of,
    verdict_of,
)
from commitgate.errors import MisuseError
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

LIBRARY_MODULES = (httpx, httpx2)
OF_THE_CLIENT_ALONE = frozenset(
    {
        "CookieConflict",
        "DecodingError",
        "HTTPError",
        "RequestError",
        "RequestNotRead",
        "ResponseNotRead",
        "SSEError",
        "StreamConsumed",
        "StreamError",
        "TransportError",
    }
)
"""What says nothing of the line: bases of others, and mistakes in the use of the library."""


def exceptions_of(library: ModuleType) -> dict[str, type[Exception]]:
    found = {name: getattr(library, name) for name in dir(library)}
    return {name: kind for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Exception)}


def test_both_libraries_are_known() -> None:
    assert {module.__name__ for module in LIBRARY_MODULES} == LIBRARIES


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
def test_every_exception_of_a_library_is_known(library: ModuleType) -> None:
    assert set(exceptions_of(library)) <= set(VERDICTS) | OF_THE_CLIENT_ALONE


def raised(library: ModuleType, name: str, *causes: BaseException) -> Exception:
    kind: Any = getattr(library, name)
    given: dict[str, Any] = {}
    if name == "HTTPStatusError":
        given = {"request": library.Request("GET", "http://h"), "response": library.Response(500)}
    error: Exception = kind() if name == "StreamClosed" else kind("x", **given)
    current: BaseException = error
    for cause in causes:
        current.__cause__ = cause
        current = cause
    return error


UNTRUSTED = ssl.SSLCertVerificationError("x")
CASES: list[tuple[str, tuple[BaseException, ...], str, str]] = [
    ("ConnectError", (OSError("all failed"), ConnectionRefusedError()), "unreachable", "refused"),
    ("ConnectError", (ExceptionGroup("all", [OSError(1), ConnectionRefusedError()]),), "unreachable", "refused"),
    ("ConnectError", (socket.gaierror(-2, "x"),), "unreachable", "dns"),
    ("ConnectError", (OSError(113, "x"),), "unreachable", "no_route"),
    ("ConnectError", (ssl.SSLEOFError(8, "x"),), "unreachable", "closed"),
    ("ConnectError", (), "unreachable", "connect"),
    ("ConnectError", (UNTRUSTED,), "untrusted", "tls"),
    ("ConnectError", (ssl.SSLError(1, "x"),), "untrusted", "tls"),
    ("ReadError", (ssl.SSLError(1, "x"),), "untrusted", "tls"),
    ("ProxyError", (), "unreachable", "proxy"),
    ("LocalProtocolError", (), "bad_request", "request"),
    ("UnsupportedProtocol", (), "bad_request", "request"),
    ("InvalidURL", (), "bad_request", "request"),
    ("TooManyRedirects", (), "bad_request", "request"),
    ("DecodingError", (), "protocol", "http_client"),
]


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize(("name", "causes", "kind", "code"), CASES)
def test_what_keeps_a_request_from_its_answer_is_told_apart(
    library: ModuleType, name: str, causes: tuple[BaseException, ...], kind: str, code: str
) -> None:
    error = raised(library, name, *causes)
    fault = fault_of(error, verdict_of(error))
    assert isinstance(fault, TransportFaultError)
    assert (fault.kind, fault.code) == (kind, code)


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("name", ["ReadError", "WriteError", "CloseError", "ReadTimeout", "WriteTimeout"])
def test_line_that_breaks_is_lost(library: ModuleType, name: str) -> None:
    error = raised(library, name)
    assert isinstance(fault_of(error, verdict_of(error)), LineLostError)


def test_cause_that_leads_back_to_itself_is_read_once() -> None:
    error = raised(httpx, "ConnectError")
    error.__cause__ = cause = OSError("x")
    cause.__context__ = error
    assert isinstance(fault_of(error, "connect"), TransportFaultError)


WAITS = {"PoolTimeout": "pool", "ConnectTimeout": "connect"}


def mock(library: ModuleType, error: BaseException) -> Any:
    def answer(asked: object) -> object:
        del asked
        raise error

    return library.AsyncClient(transport=library.MockTransport(answer))


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("name", sorted(set(VERDICTS) | {"ValueError"}))
async def test_no_exception_of_a_client_comes_through(library: ModuleType, name: str) -> None:
    error = ValueError("s3cret") if name == "ValueError" else raised(library, name)
    async with mock(library, error) as client:
        backend = backend_at("http://h", http_client=client)
        asked = request(timeouts=Timeouts(pool_s=0.001, connect_s=7))
        if name in WAITS:
            with pytest.raises(WaitExpired) as expired:
                await events_of(backend, asked)
            assert expired.value.phase == WAITS[name]
            return
        events = await events_of(backend, asked)
    assert isinstance(events[-1], Fault | ConnectionLost)
    assert "s3cret" not in str(events)


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
async def test_hook_that_raises_for_a_status_still_tells_it(library: ModuleType) -> None:
    async def hook(response: Any) -> None:
        response.raise_for_status()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head(status=429, headers={"retry-after": "3"}, content_length="0")

    hooks = {"response": [hook]}
    async with loopback(respond) as server, library.AsyncClient(event_hooks=hooks) as client:
        (fault,) = await events_of(backend_at(server, http_client=client))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status, fault.retry_after_s) == ("rate_limit", 429, 3.0)


@pytest.mark.parametrize("library", LIBRARY_MODULES, ids=lambda module: module.__name__)
async def test_hook_that_reads_the_answer_leaves_it_readable(library: ModuleType) -> None:
    async def hook(response: Any) -> None:
        await response.aread()

    hooks = {"response": [hook]}
    async with loopback(answering()) as server, library.AsyncClient(event_hooks=hooks) as client:
        events = await events_of(backend_at(server, http_client=client))
    assert any(isinstance(event, Finish) for event in events)


async def test_address_where_nothing_listens_is_told() -> None:
    address = f"127.0.0.1:{closed_port()}"
    (fault,) = await events_of(backend_at(f"http://{address}/v1?token=s3cret"))
    assert isinstance(fault, Fault)
    assert fault.message == f"the server cannot be reached: nothing listens there ({address})"


async def test_proxy_where_nothing_listens_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"127.0.0.1:{closed_port()}"
    monkeypatch.setenv("HTTP_PROXY", f"http://user:s3cret@{address}")
    (fault,) = await events_of(backend_at("http://server.invalid"))
    assert isinstance(fault, Fault)
    assert fault.message == f"the server cannot be reached: nothing listens there (the proxy {address})"


@pytest.mark.parametrize("url", ["ftp://user:s3cret@proxy:21", "http://user:s3cret@proxy:port"])
async def test_proxy_that_is_none_is_misuse(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", url)
    with pytest.raises(MisuseError, match="HTTP_PROXY") as caught:
        await events_of(backend_at("http://server.invalid"))
    assert "s3cret" not in str(caught.value)


async def test_proxy_that_needs_another_package_is_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("HTTP_PROXY", "socks5://proxy:1080")
    with pytest.raises(MisuseError, match="pip install"):
        await events_of(backend_at("http://server.invalid"))
