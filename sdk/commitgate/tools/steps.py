"""Run the steps of one run of tools, one after the other, each a call of the client of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from commitgate.errors import MisuseError
from commitgate.outcome import Cancelled, Outcome, Receipt
from commitgate.preview import Preview, Reset
from commitgate.run.order import Order
from commitgate.run.shared import Shared
from commitgate.run.structured_run import StructuredRun

T = TypeVar("T")
R = TypeVar("R")


class Steps:
    """Run one step at a time.

    Args:
        shared: what the calls of the client share.

    Attributes:
        is_cancelled: no further step is to begin.
    """

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.is_cancelled = False
        self._has_begun = False
        self._cancel_current: Callable[[], None] | None = None

    async def run(self, order: Order[T, R], *, show: Callable[[Preview | Reset], None] | None = None) -> Outcome[T, R]:
        """Run one step to its end.

        Args:
            order: what to do.
            show: takes previews; None where nobody looks.

        Returns:
            How it ended; ``Cancelled`` also where the client was closed after the first step.
        """
        if self._has_begun and self._is_closing():
            return Cancelled(receipt=Receipt())
        async with StructuredRun(order, self.shared, is_watched=show is not None) as run:
            self._has_begun = True
            self._cancel_current = run.cancel
            if self.is_cancelled:
                run.cancel()
            if show is not None:
                async for item in run:
                    show(item)
            return await run.outcome()

    async def wait_for(self, work: Awaitable[T]) -> T | None:
        """Wait for work that is no call of the client and may be torn; None where it was cancelled."""
        with anyio.CancelScope() as scope:
            self._cancel_current = scope.cancel
            if self.is_cancelled:
                scope.cancel()
            return await work
        return None

    def cancel(self) -> None:
        """End the step that runs, unless it commits, and begin no further one."""
        self.is_cancelled = True
        if self._cancel_current is not None:
            self._cancel_current()

    def _is_closing(self) -> bool:
        try:
            self.shared.active.check_open()
        except MisuseError:
            return True
        return False


__all__ = ["Steps"]
