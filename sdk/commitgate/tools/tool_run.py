"""Hand one run of tools to its caller: what it shows, a way to cancel, and the outcome."""

from __future__ import annotations

from collections import deque
from typing import Generic

import anyio
from anyio.lowlevel import checkpoint
from typing_extensions import TypeVar

from commitgate.cancellation import must_go_on
from commitgate.outcome import Cancelled, Outcome, Receipt
from commitgate.preview import Reset
from commitgate.run.handle import RunHandle
from commitgate.run.shared import Shared
from commitgate.tools.call_result import CallResult
from commitgate.tools.items import ToolItem, TurnPreview
from commitgate.tools.steps import Steps
from commitgate.tools.tools_order import ToolsOrder

A = TypeVar("A", default=str)


class _Shown:
    """Keep what was not read yet: of the previews in a row the newest, of everything else all."""

    def __init__(self) -> None:
        self._items: deque[ToolItem] = deque()
        self._changed = anyio.Event()
        self._is_closed = False

    def put(self, item: ToolItem) -> None:
        is_preview = isinstance(item, TurnPreview | Reset)
        if is_preview and self._items and isinstance(self._items[-1], TurnPreview):
            self._items.pop()
        self._items.append(item)
        self._wake()

    def close(self) -> None:
        self._is_closed = True
        self._wake()

    async def next(self) -> ToolItem | None:
        while not self._items:
            if self._is_closed:
                await checkpoint()
                return None
            await self._changed.wait()
        return self._items.popleft()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class _Running(Generic[A]):
    """Hold one run's task, apart from the handle that its caller has: so a dropped handle can be noticed."""

    def __init__(self, order: ToolsOrder[A], shared: Shared) -> None:
        self._order = order
        self.shared = shared
        self.steps = Steps(shared)
        self.shown = _Shown()
        self._has_begun = False
        self.done = anyio.Event()
        self.results: list[CallResult] = []
        self.outcome: Outcome[A, tuple[CallResult, ...]] | None = None
        self.error: BaseException | None = None

    def start(self) -> None:
        self.shared.task_group.start_soon(self.work, name="commitgate run of tools")

    def cancel(self) -> None:
        self.steps.cancel()

    def leave(self) -> None:
        self.cancel()
        # A loop that is being shut down may never begin it.
        if not (self._has_begun or self.done.is_set()):
            self._end()

    async def work(self) -> None:
        if self.done.is_set():
            return
        self._has_begun = True
        # The way of a run is loaded with the first one, so that importing the package stays quick.
        from commitgate.tools.running import prepared_loop

        try:
            loop = await prepared_loop(self._order, self.steps, show=self.shown.put, results=self.results)
            self.outcome = await loop.run()
        except BaseException as error:
            # The caller raises it; here it would end every call of the client.
            if must_go_on(error):
                raise
            self.error = error
        finally:
            self._end()

    def _end(self) -> None:
        if self.outcome is None and self.error is None:
            self.outcome = Cancelled(receipt=Receipt())
        self.shown.close()
        self.done.set()


class ToolRun(RunHandle, Generic[A]):
    """Follow one run of tools. Enter it with ``async with``; it starts then, and leaving it early cancels it.

    Iterating gives what it shows, and ends when the run has ended. A slow consumer skips previews, and nothing else; it
    never slows the run. ``cancel`` may be called from any task of the event loop, any number of times.

    A run that is dropped without being left is cancelled, with a ``ResourceWarning`` that names where it was made.
    """

    def __init__(self, order: ToolsOrder[A], shared: Shared) -> None:
        self._running = _Running[A](order, shared)
        super().__init__(self._running, "stream_tools")

    async def __aenter__(self) -> ToolRun[A]:
        """Start the run.

        Raises:
            MisuseError: it was started before, or its client was left.
        """
        self._enter()
        return self

    def __aiter__(self) -> ToolRun[A]:
        """Iterate over what the run shows."""
        return self

    async def __anext__(self) -> ToolItem:
        """Wait for the next item.

        Raises:
            StopAsyncIteration: the run has ended.
            Exception: what ``outcome`` would raise.
        """
        self._check_entered()
        item = await self._running.shown.next()
        if item is not None:
            return item
        raise self._after_last()

    def cancel(self) -> None:
        """End the run as ``Cancelled``, unless it has ended. A commit that has begun is finished first."""
        self._running.cancel()

    @property
    def is_done(self) -> bool:
        """Say whether the run has ended."""
        return self._running.done.is_set()

    @property
    def calls(self) -> tuple[CallResult, ...]:
        """Return what became of the calls so far, in order; however the run ends."""
        return tuple(self._running.results)

    async def outcome(self) -> Outcome[A, tuple[CallResult, ...]]:
        """Wait for the end of the run and return how it ended.

        Raises:
            MisuseError: the run was not entered, or the client is being closed.
            BackendError: the model cannot be had.
            LedgerError: a key conflicts, is in progress, or the ledger cannot be used.
        """
        await self._wait()
        assert self._running.outcome is not None, "a run without an error has an outcome"
        return self._running.outcome


__all__ = ["ToolRun"]
