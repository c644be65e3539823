"""Bound the requests that are worked on and those that wait, and let the running ones come to an end at a shutdown."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import anyio

from commitgate_local.server.refusal import OVERLOADED, RequestRefused, overloaded
from commitgate_local.server.server_limits import ServerLimits


class Admission:
    """Let requests in.

    A request is admitted before its body is read, so that the memory of all of them is bounded; then it waits for a
    place to be worked on, first come first served.

    Args:
        limits: gives ``concurrent_requests`` and ``queued_requests``.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._most = limits.concurrent_requests + limits.queued_requests
        self._places = anyio.Semaphore(limits.concurrent_requests)
        self._admitted: set[anyio.CancelScope] = set()
        self._working = 0
        self._empty: anyio.Event | None = None
        self._is_draining = False

    @property
    def is_draining(self) -> bool:
        """Say whether the server is shutting down: nobody is let in any more."""
        return self._is_draining

    @property
    def in_flight(self) -> int:
        """Return how many requests are worked on."""
        return self._working

    @property
    def queued(self) -> int:
        """Return how many were let in and are not worked on yet."""
        return len(self._admitted) - self._working

    @contextmanager
    def admitted(self, scope: anyio.CancelScope) -> Generator[None]:
        """Let a request in for as long as the context lasts.

        Args:
            scope: cancelled where a shutdown cannot wait any longer.

        Raises:
            RequestRefused: there is no room, or the server is shutting down.
        """
        if self._is_draining:
            raise shutting_down()
        if len(self._admitted) >= self._most:
            raise overloaded()
        self._admitted.add(scope)
        try:
            yield
        finally:
            self._admitted.discard(scope)
            if not self._admitted and self._empty is not None:
                self._empty.set()

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Wait for a place to be worked on, and hold it for as long as the context lasts."""
        async with self._places:
            self._working += 1
            try:
                yield
            finally:
                self._working -= 1

    async def drain(self, limit_s: float) -> bool:
        """Let nobody in any more, wait for those who are in, and cancel them when the time is up.

        Returns once all of them are gone; False where some were cancelled.

        Args:
            limit_s: seconds that they get.
        """
        self._is_draining = True
        with anyio.move_on_after(limit_s) as limit:
            await self._wait_until_empty()
        if not limit.cancelled_caught:
            return True
        for scope in self._admitted:
            scope.cancel()
        await self._wait_until_empty()
        return False

    async def _wait_until_empty(self) -> None:
        while self._admitted:
            self._empty = self._empty or anyio.Event()
            empty = self._empty
            await empty.wait()
            if self._empty is empty:
                self._empty = None


def shutting_down() -> RequestRefused:
    """Return the refusal of a request that comes, or is not done, while the server shuts down."""
    return RequestRefused(
        503,
        "overloaded",
        "the server is shutting down; ask again later",
        type=OVERLOADED,
        headers=overloaded().headers,
    )


__all__ = ["Admission", "shutting_down"]
