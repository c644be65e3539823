"""Stand in front of everything that a server answers: hosts, headers, a line in the log.

A page in a browser can point a name of its own at this machine; a server for this machine alone therefore answers to
this machine's names alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from contextlib import suppress
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.reply_sender import JSON_TYPE, ReplySender
from commitgate_local.server.request_body import ClientGone
from commitgate_local.server.serving import LOGGER

LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names by which a machine knows itself."""

REQUEST_ID_HEADER: Final = "X-Request-Id"

_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cache-Control", "no-store"),
)
_POLICY: Final = ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
"""What a browser may do with an answer that is no page, and so says nothing of it itself."""


class Doorway:
    """Let HTTP requests through to an application.

    Args:
        app: answers them.
        paths: paths that may stand in the log; others are a client's own words.
        hosts: names of this server that a request may carry; None where any.
        write_s: seconds in which a client must take that it is refused.
        polled: what paths begin with that open pages ask for again and again: there only what goes wrong is told at
            the level of others; None for no path.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        paths: Collection[str],
        hosts: Collection[str] | None,
        write_s: float,
        polled: str | None = None,
    ) -> None:
        self._app = app
        self._polled = polled
        self._write_s = write_s
        self._paths = frozenset(paths)
        self._hosts = None if hosts is None else frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        name = f"req_{uuid4().hex}"
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for key, value in (*_HEADERS, (REQUEST_ID_HEADER, name)):
                    headers[key] = value
                headers.setdefault(*_POLICY)
            await send(message)

        try:
            if self._is_known(Headers(scope=scope).get("host")):
                await self._app(scope, receive, send_on)
            else:
                refused = RequestRefused(421, "unknown_host", "this server does not answer to this name")
                with suppress(ClientGone):
                    await ReplySender(send_on, write_s=self._write_s).whole(refused.status, JSON_TYPE, refused.body())
        finally:
            path = scope["path"] if scope["path"] in self._paths else "(other)"
            method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "(other)"
            is_polled = self._polled is not None and scope["path"].startswith(self._polled)
            level = logging.DEBUG if is_polled and method == "GET" and status < 400 else logging.INFO
            LOGGER.log(level, "%s %s %d %.1f ms %s", method, path, status, (time.monotonic() - began) * 1000, name)

    def _is_known(self, host: str | None) -> bool:
        if self._hosts is None:
            return True
        name, colon, port = (host or "").rpartition(":")
        return (name if colon and port.isdigit() else host or "").lower() in self._hosts


__all__ = ["LOOPBACK_HOSTS", "REQUEST_ID_HEADER", "Doorway"]
