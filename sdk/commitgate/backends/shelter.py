"""Keep a cancellation away from work that cannot bear it, until it can.

Work that takes hold of something in steps may lose it where it is cancelled between two of them. It runs in a task of
its own, behind a shield that it takes down itself, and whoever waits for it may be cancelled meanwhile: natively, too,
which no shield stops.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import checkpoint

T = TypeVar("T")


class Shelter(Generic[T]):
    """Run one piece of work, once.

    Args:
        work: does it. What it returns is handed over once, to ``run`` or to ``drop``.
        drop: frees what the work returned after all where nobody waits for it any more.
        grace_s: seconds for which the shield stays up after whoever waited has left, where the work does not take it
            down itself.
    """

    def __init__(
        self, work: Callable[[], Awaitable[T]], *, drop: Callable[[T], Awaitable[None]], grace_s: float
    ) -> None:
        self._work = work
        self._drop = drop
        self._grace_s = grace_s
        self._scope = anyio.CancelScope(shield=True)
        self._done = anyio.Event()
        self._found: list[T] = []
        self._error: Exception | None = None
        self._is_left = False

    @property
    def is_left(self) -> bool:
        """Say that nobody waits for the work any more."""
        return self._is_left

    def open(self) -> None:
        """Take the shield down: from now on the work bears being cancelled."""
        self._scope.shield = False

    def limit(self, until: float) -> None:
        """Let the work end at a time by the event loop's clock; infinite for never. It must bear being cancelled."""
        if not self._is_left:
            self._scope.deadline = until

    async def run(self) -> T:
        """Do the work and return what it returns.

        Raises:
            TimeoutError: its limit ran out.
            Exception: what the work raises.
        """
        await checkpoint()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._run)
                try:
                    await self._done.wait()
                except BaseException:
                    self._leave()
                    raise
        except BaseException:
            if self._found:
                await self._drop(self._found.pop())
            raise
        if self._error is not None:
            raise self._error
        if not self._found:
            raise TimeoutError
        return self._found.pop()

    def _leave(self) -> None:
        self._is_left = True
        if self._scope.shield:
            self._scope.deadline = min(self._scope.deadline, anyio.current_time() + self._grace_s)

    async def _run(self) -> None:
        with self._scope:
            try:
                self._found.append(await self._work())
            except Exception as error:  # noqa: BLE001 - raised to the one who waits; here a group would wrap it
                self._error = error
        self._done.set()


async def run_shielded(work: Callable[[], Awaitable[None]], *, limit_s: float) -> None:
    """Do work that no cancellation may cut off, in a task of its own, for a limited time.

    Args:
        work: does it, and raises nothing but cancellations.
        limit_s: most seconds for it.
    """

    async def run() -> None:
        with anyio.move_on_after(limit_s, shield=True):
            await work()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)


__all__ = ["Shelter", "run_shielded"]
