"""Read the body of a request within a size and a time.

Source: RFC 9110, sections 8.3, 8.6, 15.5.9 and 15.5.16.
"""

from __future__ import annotations

from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.types import Receive

from commitgate_local.server.refusal import INVALID_REQUEST, RequestRefused, too_large
from commitgate_local.server.server_limits import ServerLimits

_JSON: Final = "application/json"


class ClientGone(Exception):  # noqa: N818 - nobody is left to whom it would be an error
    """Raised when the client has left, so that nothing more need be done."""


async def read_body(receive: Receive, headers: Headers, limits: ServerLimits) -> bytes:
    """Return the whole body.

    Args:
        receive: gives its pieces.
        headers: of the request.
        limits: gives ``body_bytes`` and ``body_s``.

    Raises:
        RequestRefused: it is no JSON, compressed, too large or too slow.
        ClientGone: the client left before its end.
    """
    _check_head(headers, limits)
    with anyio.move_on_after(limits.body_s):
        return await _all_pieces(receive, limits)
    raise RequestRefused(408, "body_time_limit", f"the body was not whole after the limit of {limits.body_s:g} s")


def _check_head(headers: Headers, limits: ServerLimits) -> None:
    # A page in a browser can send other types to a server on the same machine without asking it first.
    if headers.get("content-type", "").partition(";")[0].strip().lower() != _JSON:
        raise _unsupported(f"Content-Type must be {_JSON}")
    # Each of several headers counts, and each word of one.
    encodings = ",".join(headers.getlist("content-encoding")).lower().split(",")
    if any(word.strip() not in ("", "identity") for word in encodings):
        raise _unsupported("Content-Encoding is not offered here; send the body as it is")
    announced = headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and _is_above(announced, limits.body_bytes):
        raise _too_large(limits)


def _is_above(digits: str, most: int) -> bool:
    # Very long numbers are slow to read, and Python refuses some of them.
    return len(digits) > 18 or int(digits) > most


async def _all_pieces(receive: Receive, limits: ServerLimits) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limits.body_bytes:
            raise _too_large(limits)
        if piece:
            pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(limits: ServerLimits) -> RequestRefused:
    return too_large(f"the body has more than {limits.body_bytes} bytes")


def _unsupported(message: str) -> RequestRefused:
    return RequestRefused(415, "unsupported_media_type", message, type=INVALID_REQUEST)


__all__ = ["ClientGone", "read_body"]
