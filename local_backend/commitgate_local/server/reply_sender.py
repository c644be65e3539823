"""Send one answer over ASGI: whole, or in pieces as they come.

Source: the ASGI specification, "HTTP & WebSocket", version 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import anyio
from starlette.types import Message, Send

from commitgate_local.server.request_body import ClientGone

JSON_TYPE: Final = "application/json"
STREAM_TYPE: Final = "text/event-stream; charset=utf-8"
REPLAYED_HEADER: Final = "Idempotency-Replayed"

_NO_HEADERS: Final[Mapping[str, str]] = {}


class ReplySender:
    """Send one answer, once.

    Args:
        send: takes ASGI's messages.
        write_s: seconds in which each must be taken.

    Attributes:
        has_begun: the status and the headers were sent, so nothing but more of the body can follow.
        is_over: the end was handed over.
        last_sent: when something was sent last, or when it was made, on the event loop's clock.
    """

    def __init__(self, send: Send, *, write_s: float) -> None:
        self._send = send
        self._write_s = write_s
        self._writing = anyio.Lock()
        self.has_begun = False
        self.is_over = False
        self.last_sent = anyio.current_time()

    async def whole(
        self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        """Send an answer of known length.

        Raises:
            ClientGone: it was not taken in time.
        """
        await self._begin(status, {"Content-Type": content_type, "Content-Length": str(len(body)), **headers})
        await self._more(body, is_last=True)

    async def frames(self, data: bytes, *, is_last: bool = False) -> None:
        """Send frames of a stream; the first ones begin it.

        Raises:
            ClientGone: they were not taken in time.
        """
        async with self._writing:
            await self._frames(data, is_last=is_last)

    async def comment(self, data: bytes) -> None:
        """Send a comment between two frames of a stream, unless frames are on their way.

        Raises:
            ClientGone: it was not taken in time.
        """
        if self._writing.locked() or self.is_over:
            return
        async with self._writing:
            await self._frames(data, is_last=False)

    async def _frames(self, data: bytes, *, is_last: bool) -> None:
        if not self.has_begun:
            # A proxy that collects an answer before it hands it on would turn a stream into a wait.
            await self._begin(200, {"Content-Type": STREAM_TYPE, "X-Accel-Buffering": "no"})
        await self._more(data, is_last=is_last)

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        raw = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        await self._take({"type": "http.response.start", "status": status, "headers": raw})
        self.has_begun = True

    async def _more(self, data: bytes, *, is_last: bool) -> None:
        self.is_over = self.is_over or is_last
        await self._take({"type": "http.response.body", "body": data, "more_body": not is_last})
        self.last_sent = anyio.current_time()

    async def _take(self, message: Message) -> None:
        with anyio.move_on_after(self._write_s) as limit:
            await self._send(message)
        if limit.cancelled_caught:
            raise ClientGone


__all__ = ["JSON_TYPE", "REPLAYED_HEADER", "STREAM_TYPE", "ReplySender"]
