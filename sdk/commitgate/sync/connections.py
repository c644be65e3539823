"""Close the connections of servers' backends while the event loop that they belong to still runs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType

import anyio

from commitgate.backends.base import Backend


class WithConnections:
    """Hold something open; once it is left, close what the given backends opened in the same event loop.

    A blocking program cannot do that itself: each of its clients has a loop of its own, which ends with it. The
    backends may be used on, in the next client's loop too.

    Args:
        held: what is entered and left.
        backends: those that were given; others than servers' are left alone.
    """

    def __init__(self, held: AbstractAsyncContextManager[object], backends: Iterable[Backend]) -> None:
        self._held = held
        self._backends = tuple(backends)

    async def __aenter__(self) -> object:
        return await self._held.__aenter__()

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._held.__aexit__(error_type, error, trace)
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()

    async def _close(self) -> None:
        from commitgate.backends.remote import RemoteBackend

        for backend in self._backends:
            if isinstance(backend, RemoteBackend) and backend.is_used_here:
                await backend.aclose()


__all__ = ["WithConnections"]
