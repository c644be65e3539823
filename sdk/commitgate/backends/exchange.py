"""Make requests that ask no model: what a server says of itself, and what a probe wants to know."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.backends.api_key import KeyUnavailableError
from commitgate.backends.base import WaitExpired
from commitgate.backends.dialect import Answer, Outgoing
from commitgate.backends.http import HttpResponse, HttpTransport, Waits
from commitgate.backends.request_writing import RequestWriting
from commitgate.backends.transport_fault import LineLostError, TransportFaultError
from commitgate.backends.wire.packing import Unpacker
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.errors import BackendError

MAX_ANSWER_BYTES = 1_048_576
"""Most bytes that are kept of an answer that is no model's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Make such requests for one backend.

    Attributes:
        transport: carries them.
        writing: writes them.
    """

    transport: HttpTransport
    writing: RequestWriting

    async def run(self, outgoing: Outgoing, *, timeout_s: float) -> Answer:
        """Make one request and return the answer, with status 0 where none came in time.

        Raises:
            BackendError: the function that gives the key did not.
        """
        with anyio.move_on_after(timeout_s):
            try:
                return await self._run(outgoing, timeout_s)
            except KeyUnavailableError as error:
                raise BackendError(str(error)) from error
            except (WaitExpired, LineLostError, TransportFaultError):
                return _NONE
        return _NONE

    async def _run(self, outgoing: Outgoing, timeout_s: float) -> Answer:
        body = b"" if outgoing.body is None else canonical(outgoing.body).encode()
        request = await self.writing.complete(self.writing.plain(outgoing, {}, body=body, framing="json"))
        waits = Waits(pool_s=timeout_s, pool_until=anyio.current_time() + timeout_s, connect_s=timeout_s)
        try:
            response = await self.transport.send(request, waits)
        except LineLostError:
            # The server may have closed an idle connection just when it was used again; asking twice changes nothing.
            if outgoing.method != "GET":
                raise
            response = await self.transport.send(request, waits)
        try:
            return Answer(status=response.status, headers=response.headers, body=await _body(response))
        finally:
            await response.aclose()


async def _body(response: HttpResponse) -> bytes:
    """Return the body of an answer, unpacked, up to a limit; what cannot be unpacked is left out."""
    kept = bytearray()
    try:
        unpacker = Unpacker(response.headers.get("content-encoding", ""))
        while len(kept) < MAX_ANSWER_BYTES:
            data = await response.read()
            if data is None:
                break
            for piece in unpacker.feed(data):
                kept += piece[: MAX_ANSWER_BYTES - len(kept)]
    except WireFaultError:
        pass
    return bytes(kept)


_NONE = Answer(status=0, headers={}, body=b"")


__all__ = ["MAX_ANSWER_BYTES", "Exchange"]
