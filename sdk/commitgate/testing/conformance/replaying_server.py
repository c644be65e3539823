"""Be a server on loopback that answers with what was recorded, cut and held up as it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream

from commitgate.testing.conformance.recorded_answer import RecordedAnswer

WAIT_S = 10.0
"""Longest wait for anything that takes milliseconds."""

_PAUSE_S = 0.001
_MOST_HEAD_BYTES = 65_536
_LOST = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError)
_OF_FRAMING = frozenset({"content-length", "transfer-encoding", "connection", "keep-alive"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Hold one request.

    Attributes:
        method: as ``POST``.
        target: path and query.
        headers: names in lower case.
        body: its bytes.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class Line:
    """Be the server's end of one connection."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._received = BufferedByteReceiveStream(stream)
        self.is_closed = False

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send a head; the body that follows is chunked."""
        kept = {name: value for name, value in headers.items() if name.lower() not in _OF_FRAMING}
        lines = "".join(f"{name}: {value}\r\n" for name, value in kept.items())
        await self._stream.send(f"HTTP/1.1 {status} So\r\n{lines}transfer-encoding: chunked\r\n\r\n".encode("latin-1"))

    async def chunks(self, pieces: Sequence[bytes]) -> None:
        """Send pieces of a body at once, each a chunk of its own."""
        data = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
        if data:
            await self._stream.send(data)

    async def end(self) -> None:
        """End the body."""
        await self._stream.send(b"0\r\n\r\n")

    async def hang_up(self) -> None:
        """Close the connection, wherever the body stands."""
        self.is_closed = True
        await self._stream.aclose()

    async def closed(self) -> None:
        """Wait until the other end has closed; not for ever."""
        with anyio.move_on_after(WAIT_S), suppress(*_LOST):
            while True:
                await self._received.receive()
        await self.hang_up()

    async def asked(self) -> Asked:
        """Read the next request."""
        head = (await self._received.receive_until(b"\r\n\r\n", _MOST_HEAD_BYTES)).decode("latin-1")
        first, *rest = head.split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in rest)}
        length = int(headers.get("content-length", "0"))
        body = await self._received.receive_exactly(length) if length else b""
        return Asked(method=method, target=target, headers=headers, body=body)


Respond = Callable[[Line], Awaitable[None]]
"""Answers one request."""


@dataclass(slots=True, kw_only=True)
class ReplayingServer:
    """Answer each POST as ``respond`` says, and every GET with 404.

    Attributes:
        respond: how; set anew for each trial.
        asked: the POSTs, in their order.
        url: where it is, once it runs.
    """

    respond: Respond
    asked: list[Asked] = field(default_factory=list[Asked])
    url: str = ""

    async def run(self, trial: Callable[[], Awaitable[None]]) -> None:
        """Serve for as long as a trial lasts, and raise what it raises."""
        failure: Exception | None = None
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        self.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, self._serve)
            try:
                await trial()
            except Exception as error:  # noqa: BLE001 - raised below, where no group wraps it
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _serve(self, stream: ByteStream) -> None:
        line = Line(stream)
        with suppress(*_LOST):
            async with stream:
                while not line.is_closed:
                    asked = await line.asked()
                    if asked.method != "POST":
                        await line.head(404, {})
                        await line.end()
                        continue
                    self.asked.append(asked)
                    await self.respond(line)


def playing(recording: RecordedAnswer, cuts: Sequence[int] = (), *, is_slow: bool = False) -> Respond:
    """Return what answers with a recorded answer.

    Args:
        recording: the answer.
        cuts: offsets at which its body is cut into chunks.
        is_slow: each chunk is sent by itself, with a pause before the next one.
    """
    pieces = [recording.body[start:stop] for start, stop in pairwise((0, *sorted(cuts), len(recording.body)))]

    async def respond(line: Line) -> None:
        await line.head(recording.status, recording.headers)
        if not is_slow:
            await line.chunks(pieces)
        for piece in pieces if is_slow else ():
            await line.chunks([piece])
            await anyio.sleep(_PAUSE_S)
        if recording.end == "clean":
            await line.end()
        else:
            await line.hang_up()

    return respond


__all__ = ["WAIT_S", "Asked", "Line", "ReplayingServer", "Respond", "playing"]
