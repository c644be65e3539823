"""Read what went wrong on the way to a server, from what an HTTP library raises.

Classes are told apart by their names, so that both libraries, httpx and httpx2, are known without importing either.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

LIBRARIES = frozenset({"httpx", "httpx2"})
"""The HTTP libraries whose clients can be passed in."""

Verdict: TypeAlias = Literal["pool", "connect_limit", "connect", "proxy", "line", "protocol", "refused", "status"]

VERDICTS: Mapping[str, Verdict] = MappingProxyType(
    {
        "PoolTimeout": "pool",
        "ConnectTimeout": "connect_limit",
        "ConnectError": "connect",
        "ProxyError": "proxy",
        "RemoteProtocolError": "protocol",
        "ReadTimeout": "line",
        "WriteTimeout": "line",
        "TimeoutException": "line",
        "ReadError": "line",
        "WriteError": "line",
        "CloseError": "line",
        "NetworkError": "line",
        "StreamClosed": "line",
        "LocalProtocolError": "refused",
        "UnsupportedProtocol": "refused",
        "ProtocolError": "refused",
        "InvalidURL": "refused",
        "TooManyRedirects": "refused",
        "HTTPStatusError": "status",
    }
)
"""What each exception of the libraries means before an answer came; every other one is the client's own trouble."""

_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL})
_MOST_CAUSES = 64


class LineLostError(Exception):
    """Raised where the line broke before the answer was whole."""


class TransportFaultError(Exception):
    """Raised where no answer can come; ends the attempt as a ``Fault`` of the same words.

    Attributes:
        kind: as in ``Fault``.
        code: short stable name.
    """

    def __init__(
        self, kind: Literal["unreachable", "untrusted", "bad_request", "protocol"], code: str, message: str
    ) -> None:
        super().__init__(message)
        self.kind: Literal["unreachable", "untrusted", "bad_request", "protocol"] = kind
        self.code = code


def verdict_of(error: BaseException) -> Verdict | None:
    """Return what an exception of the libraries means; None for one that says nothing of the line."""
    for kind in type(error).__mro__:
        if kind.__module__.partition(".")[0] in LIBRARIES and kind.__name__ in VERDICTS:
            return VERDICTS[kind.__name__]
    return None


def fault_of(error: Exception, verdict: Verdict | None, where: str = "") -> LineLostError | TransportFaultError:
    """Return the fault that ends an attempt whose answer has not begun.

    Args:
        error: what the library raised.
        verdict: what that means.
        where: whom it was connecting to, as ``localhost:8000``; empty where that is not known.
    """
    causes = tuple(_causes(error))
    untrusted = next((cause for cause in causes if _is_untrusted(cause)), None)
    if untrusted is not None:
        return TransportFaultError("untrusted", "tls", f"the server cannot be trusted: {_tls_words(untrusted)}")
    match verdict:
        case "connect":
            code, words = _unreachable(causes)
            return TransportFaultError(
                "unreachable", code, f"the server cannot be reached: {words}{where and f' ({where})'}"
            )
        case "proxy":
            return TransportFaultError("unreachable", "proxy", "the proxy on the way to the server refused")
        case "line":
            return LineLostError("the line broke before an answer came")
        case "protocol":
            return _broken_head(error, causes)
        case "refused":
            return TransportFaultError("bad_request", "request", f"the request cannot be sent: {type(error).__name__}")
        case _:
            if any(isinstance(cause, OSError | ssl.SSLError) for cause in causes):
                return LineLostError("the line broke before an answer came")
            words = f"the HTTP client raised {type(error).__name__}"
            return TransportFaultError("protocol", "http_client", words)


def _broken_head(error: Exception, causes: tuple[BaseException, ...]) -> LineLostError | TransportFaultError:
    if str(error).startswith("Invalid URL in location"):
        return TransportFaultError("bad_request", "redirect", "the server redirects to what is no URL")
    if any(type(cause).__module__.partition(".")[0] in ("h11", "h2") for cause in causes):
        return TransportFaultError("protocol", "not_http", "what answers does not speak HTTP")
    return LineLostError("the server closed the connection without an answer")


def _unreachable(causes: tuple[BaseException, ...]) -> tuple[str, str]:
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "dns", "its host is not known"
        if isinstance(cause, ConnectionRefusedError):
            return "refused", "nothing listens there"
        if isinstance(cause, OSError) and cause.errno in _NO_ROUTE:
            return "no_route", "there is no way to it"
        if isinstance(cause, ConnectionResetError | BrokenPipeError | ssl.SSLError):
            return "closed", "it closed the connection at once"
    return "connect", "no connection was made"


def _is_untrusted(cause: BaseException) -> bool:
    return isinstance(cause, ssl.SSLError) and not isinstance(
        cause, ssl.SSLEOFError | ssl.SSLZeroReturnError | ssl.SSLSyscallError
    )


def _tls_words(cause: BaseException) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        told: object = getattr(cause, "verify_message", None)
        return f"its certificate is not valid for it ({told if isinstance(told, str) else 'no reason given'})"
    reason: object = getattr(cause, "reason", None)
    return f"no TLS connection was made ({reason if isinstance(reason, str) else 'no reason given'})"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that led to it, members of groups included, up to a limit."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < _MOST_CAUSES:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting.extend(cast("BaseExceptionGroup[BaseException]", cause).exceptions)
        waiting.extend(found for found in (cause.__cause__, cause.__context__) if found is not None)


__all__ = ["LIBRARIES", "VERDICTS", "LineLostError", "TransportFaultError", "Verdict", "fault_of", "verdict_of"]
