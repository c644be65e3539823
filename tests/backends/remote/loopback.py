"""A server on loopback that answers as it is told, byte by byte, and notes what it was asked."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import AnyByteStream, ByteStream, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSListener

EVENT_STREAM = {"content-type": "text/event-stream"}
_LOST = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as the server read it."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    connection: int


class Line:
    """The server's end of one connection."""

    def __init__(self, stream: AnyByteStream) -> None:
        self.stream = stream
        self.received = BufferedByteReceiveStream(stream)
        self.is_closed = False

    async def send(self, data: bytes) -> None:
        await self.stream.send(data)

    async def head(self, status: int = 200, headers: Mapping[str, str] = EVENT_STREAM, **more: str) -> None:
        """Send a head. Without a length in it, the body is chunked."""
        fields = {**headers, **{name.replace("_", "-"): value for name, value in more.items()}}
        if not {"content-length", "connection"} & fields.keys():
            fields["transfer-encoding"] = "chunked"
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        await self.send(f"HTTP/1.1 {status} So\r\n{lines}\r\n".encode())

    async def chunk(self, data: bytes) -> None:
        await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.send(b"0\r\n\r\n")

    async def fin(self) -> None:
        """Close in the midst of whatever was sent."""
        self.is_closed = True
        await self.stream.aclose()

    async def rst(self) -> None:
        """Reset the connection."""
        raw: socket.socket = self.stream.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.fin()

    async def closed(self) -> None:
        """Wait until the client has closed."""
        try:
            while True:
                await self.received.receive()
        except _LOST:
            return


Respond = Callable[[Asked, Line], Awaitable[None]]


@dataclass(kw_only=True)
class Loopback:
    """What a running server knows."""

    port: int
    scheme: str = "http"
    asked: list[Asked] = field(default_factory=list)
    opened: int = 0
    open_now: int = 0
    respond: Respond

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    async def serve(self, stream: AnyByteStream) -> None:
        self.opened += 1
        self.open_now += 1
        number, line = self.opened, Line(stream)
        try:
            async with stream:
                while not line.is_closed:
                    asked = await _read(line, number)
                    self.asked.append(asked)
                    await self.respond(asked, line)
        except _LOST:
            return
        finally:
            self.open_now -= 1


async def _read(line: Line, number: int) -> Asked:
    start = await line.received.receive_exactly(1)
    if not start.isalpha():
        # As servers answer what does not speak HTTP.
        await line.head(400, {}, content_length="0")
        raise anyio.EndOfStream
    head = (start + await line.received.receive_until(b"\r\n\r\n", 65_536)).decode("latin-1")
    first, *rest = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
    size = int(headers.get("content-length", "0"))
    body = await line.received.receive_exactly(size) if size else b""
    return Asked(method=method, target=target, headers=headers, body=body, connection=number)


@asynccontextmanager
async def loopback(respond: Respond, *, trust: ssl.SSLContext | None = None) -> AsyncIterator[Loopback]:
    """Run a server for as long as the block runs."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", backlog=4_096)
    server = Loopback(port=listener.extra(SocketAttribute.local_port), respond=respond)
    serving: anyio.abc.Listener[ByteStream] = listener  # type: ignore[assignment]
    if trust is not None:
        server.scheme = "https"
        serving = TLSListener(listener, trust, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(serving.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()


def closed_port() -> int:
    """Return a port at which nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
