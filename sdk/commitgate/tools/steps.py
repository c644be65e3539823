"""Run the steps of one run of tools, one after the other, each a call of the client of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from commitgate.outcome import Outcome
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
        self._cancel_current: Callable[[], None] | None = None

    async def run(self, order: Order[T, R], *, show: Callable[[Preview | Reset], None] | None = None) -> Outcome[T, R]:
        """Run one step to its end.

        Args:
            order: what to do.
            show: takes previews; None where nobody looks.
        """
        async with StructuredRun(order, self.shared, is_watched=show is not None) as run:
            self._cancel_current = run.cancel
            if self.is_cancelled:
                run.cancel()
            if show is not None:
                async for item in run:
                    show(item)
            return await run.outcome()

    def cancel(self) -> None:
        """End the step that runs, unless it commits, and begin no further one."""
        self.is_cancelled = True
        if self._cancel_current is not None:
            self._cancel_current()


__all__ = ["Steps"]
