"""A client of httpx whose server is a function, for more requests than sockets would bear."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import httpx


class Broken(httpx.AsyncByteStream):
    """A body that ends after its pieces, or breaks where it is told to."""

    def __init__(self, pieces: Sequence[bytes], *, breaks: bool) -> None:
        self._pieces = list(reversed(pieces))
        self._breaks = breaks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if self._pieces:
            return self._pieces.pop()
        if self._breaks:
            raise httpx.ReadError("cut")
        raise StopAsyncIteration


class Memory:
    """Answer every request by a function, and count them."""

    def __init__(self, answer: Callable[[int], httpx.Response]) -> None:
        self._answer = answer
        self.asked: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._respond))

    def _respond(self, asked: httpx.Request) -> httpx.Response:
        self.asked.append(asked)
        return self._answer(len(self.asked))


def streamed(*pieces: bytes, breaks: bool = False) -> httpx.Response:
    """Return an answer of event stream whose body may break behind its pieces."""
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken(pieces, breaks=breaks))


def unreachable(number: int) -> httpx.Response:
    """Be a server that is not there."""
    raise httpx.ConnectError(f"request {number}") from ConnectionRefusedError()
