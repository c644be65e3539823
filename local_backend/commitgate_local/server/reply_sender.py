"""Send one answer over ASGI: whole, or in pieces as they come.

Source: the ASGI specification, "HTTP & WebSocket", version 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.types import Send

JSON_TYPE: Final = "application/json"
STREAM_TYPE: Final = "text/event-stream; charset=utf-8"
REPLAYED_HEADER: Final = "Idempotency-Replayed"

_NO_HEADERS: Final[Mapping[str, str]] = {}


class ReplySender:
    """Send one answer, once.

    Args:
        send: takes ASGI's messages.

    Attributes:
        has_begun: the status and the headers were sent, so nothing but more of the body can follow.
        is_over: the end was handed over.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False
        self.is_over = False

    async def whole(
        self, status: int, content_type: str, body: bytes, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        """Send an answer of known length."""
        await self._begin(status, {"Content-Type": content_type, "Content-Length": str(len(body)), **headers})
        await self._more(body, is_last=True)

    async def frames(self, data: bytes, *, is_last: bool = False) -> None:
        """Send frames of a stream; the first ones begin it."""
        if not self.has_begun:
            # A proxy that collects an answer before it hands it on would turn a stream into a wait.
            await self._begin(200, {"Content-Type": STREAM_TYPE, "X-Accel-Buffering": "no"})
        await self._more(data, is_last=is_last)

    async def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        raw = [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
        self.has_begun = True

    async def _more(self, data: bytes, *, is_last: bool) -> None:
        self.is_over = self.is_over or is_last
        await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})


__all__ = ["JSON_TYPE", "REPLAYED_HEADER", "STREAM_TYPE", "ReplySender"]
