"""Unpack bodies that a server or a proxy packed, in bounded pieces. Sans-IO.

Source: RFC 9110, section 8.4 (Content-Encoding); RFC 1952 (gzip, of one or more members); RFC 1950 and 1951 (deflate,
which some servers send without its head).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Literal, TypeAlias

from commitgate.backends.wire.wire_event import WireFaultError

PIECE_BYTES = 65_536
"""Most bytes that are unpacked at once."""

MAX_EXPANSION = 200
"""Most bytes that come out for one that goes in, once ``FREE_BYTES`` came out. Streams of JSON stay far below."""

FREE_BYTES = 1_048_576
"""Bytes that may come out of however few."""

_Way: TypeAlias = Literal["gzip", "deflate"]

_WAYS: dict[str, _Way] = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
_GZIP_BITS = 16 + zlib.MAX_WBITS


class Unpacker:
    """Unpack one body.

    Args:
        encoding: the value of ``Content-Encoding``; empty where there is none.

    Raises:
        WireFaultError: it names a packing that nobody asked for, or several.
    """

    def __init__(self, encoding: str) -> None:
        self._way = _way(encoding)
        self._member: _Member | None = None
        self._held = b""
        self._is_past = False
        self._taken_bytes = 0
        self._given_bytes = 0

    @property
    def is_whole(self) -> bool:
        """Say that the body may end here: what was packed ended too."""
        return self._member is None and not self._held

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what comes out, in pieces of at most ``PIECE_BYTES`` where it was packed.

        Raises:
            WireFaultError: the bytes are not packed so, or they unpack to far more than any answer.
        """
        if self._way is None:
            yield data
            return
        # In slices, because zlib copies what it leaves of its input with every piece.
        for start in range(0, len(data), PIECE_BYTES):
            yield from self._unpacked(data[start : start + PIECE_BYTES])

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        self._taken_bytes += len(data)
        data = self._held + data
        self._held = b""
        is_full = False
        while data or (is_full and self._member is not None):
            if self._member is None:
                data = self._begin(data)
                continue
            piece, data = self._member.feed(data)
            is_full = len(piece) == PIECE_BYTES
            if self._member.is_ended:
                self._member = None
                self._is_past = True
            self._count(len(piece))
            if piece:
                yield piece

    def _begin(self, data: bytes) -> bytes:
        """Begin what is packed; return the bytes that it is to be fed with."""
        if self._way == "gzip":
            # Zeros may fill a file up behind its members.
            data = data.lstrip(b"\0") if self._is_past else data
            if data:
                self._member = _Member(_GZIP_BITS)
            return data
        if self._is_past:
            return b""
        if len(data) < 2:
            self._held = data
            return b""
        self._member = _Member(zlib.MAX_WBITS if _has_head(data) else -zlib.MAX_WBITS)
        return data

    def _count(self, given_bytes: int) -> None:
        self._given_bytes += given_bytes
        if self._given_bytes > FREE_BYTES + MAX_EXPANSION * self._taken_bytes:
            raise WireFaultError("packed", f"the body unpacks to more than {MAX_EXPANSION} times its size")


class _Member:
    """Unpack one stream of zlib's."""

    def __init__(self, bits: int) -> None:
        self._zlib = zlib.decompressobj(bits)

    @property
    def is_ended(self) -> bool:
        return self._zlib.eof

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Return a piece of what comes out, and what is left to go in."""
        try:
            piece = self._zlib.decompress(data, PIECE_BYTES)
        except zlib.error:
            raise WireFaultError("packed", "the body is not packed as its head says") from None
        return piece, self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail


def _way(encoding: str) -> _Way | None:
    names = [name for name in (part.strip().lower() for part in encoding.split(",")) if name not in ("", "identity")]
    if not names:
        return None
    if len(names) > 1 or names[0] not in _WAYS:
        raise WireFaultError("packed", "the body is packed in a way that was not asked for")
    return _WAYS[names[0]]


def _has_head(data: bytes) -> bool:
    """Say whether the bytes begin as RFC 1950 has it; some servers send RFC 1951 under the same name."""
    return data[0] & 0x0F == 8 and int.from_bytes(data[:2]) % 31 == 0


__all__ = ["FREE_BYTES", "MAX_EXPANSION", "PIECE_BYTES", "Unpacker"]
