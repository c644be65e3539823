"""Hand one running call to its caller: previews to look at, a way to cancel, and the outcome."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Generic

import anyio
from anyio.lowlevel import checkpoint_if_cancelled
from typing_extensions import TypeVar

from commitgate.errors import MisuseError
from commitgate.outcome import Outcome
from commitgate.preview import Preview, Reset
from commitgate.run.abandonment import call_site, call_soon
from commitgate.run.mailbox import MailboxReader
from commitgate.run.order import Order
from commitgate.run.running import Running
from commitgate.run.shared import Shared
from commitgate.run.shown import ItemStream, PreviewStream

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class StructuredRun(Generic[T, R]):
    """Follow one call. Enter it with ``async with``; it starts then, and leaving it early cancels it.

    Iterating gives previews while the text grows, and ends when the call has ended. A slow consumer skips previews; it
    never slows the model. ``cancel`` may be called from any task of the event loop, any number of times.

    The call runs in a task of the client. So where it is cancelled while it commits, the commit is finished first, and
    the outcome says what the ledger holds. A run that is dropped without being left is cancelled, with a
    ``ResourceWarning`` that names where it was made.
    """

    def __init__(
        self,
        order: Order[T, R],
        shared: Shared,
        *,
        is_watched: bool,
    ) -> None:
        self._run_soon: Callable[[Callable[[], None]], None] | None = None
        self._made_at = call_site()
        self._running = Running(order, shared, is_watched=is_watched)
        self._reader = MailboxReader(self._running.mailbox)
        self._is_error_told = False
        self._is_left = False

    def __del__(self) -> None:
        """End a call that nobody can follow any more."""
        run_soon = getattr(self, "_run_soon", None)
        if run_soon is None or self._is_left or self._running.done.is_set():
            return
        run_soon(self._running.cancel)
        message = f"a run made at {self._made_at} was dropped while it ran; use it with: async with ... as run"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    async def __aenter__(self) -> StructuredRun[T, R]:
        """Start the call.

        Raises:
            MisuseError: it was started before, or its client was left or is being closed.
        """
        if self._is_entered:
            raise MisuseError("a run is entered once; make another call")
        run_soon = call_soon()
        try:
            self._running.start()
        except RuntimeError as error:
            raise MisuseError("the client of this run was left; make the call with a client that is entered") from error
        self._run_soon = run_soon
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended; a commit that has begun is finished."""
        del error, trace
        self._is_left = True
        self._running.leave()
        with anyio.CancelScope(shield=True):
            await self._running.done.wait()
        if error_type is None and self._running.error is not None and not self._is_error_told:
            raise self._told(self._running.error)

    def __aiter__(self) -> StructuredRun[T, R]:
        """Iterate over previews and resets."""
        return self

    async def __anext__(self) -> Preview | Reset:
        """Wait for the next preview.

        Raises:
            StopAsyncIteration: the call has ended.
            Exception: what ``outcome`` would raise.
        """
        return await self._next(self._reader)

    def latest(self) -> PreviewStream:
        """Return an iterator of its own over previews and resets: the newest reset, and the newest preview after it.

        However slow its consumer is, it keeps one preview and slows nothing. Other iterators see the same items.
        """
        return PreviewStream(MailboxReader(self._running.mailbox), self._next)

    def items(self, pointer: str = "") -> ItemStream:
        """Return an iterator over the finished items of an array, each once and in order, however slow its consumer is.

        A ``Reset`` says that the items so far belong to a dropped attempt; then they come anew, from the first.

        Args:
            pointer: JSON pointer (RFC 6901) of the array; ``""`` is the whole value.

        Raises:
            MisuseError: the pointer is no JSON pointer; or, while iterating, something else than an array stands there.
        """
        return ItemStream(pointer, PreviewStream(MailboxReader(self._running.mailbox), self._next))

    def cancel(self) -> None:
        """End the call as ``Cancelled``, unless it has ended or a commit has begun."""
        self._running.cancel()

    async def outcome(self) -> Outcome[T, R]:
        """Wait for the end of the call and return how it ended.

        Raises:
            MisuseError: the run was not entered; or the call contradicts itself.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        self._check_entered()
        running = self._running
        await running.done.wait()
        # A scope that holds both this task and the client ends the call first; its cancellation must arrive here too.
        await checkpoint_if_cancelled()
        if running.error is not None:
            raise self._told(running.error)
        assert running.outcome is not None, "a run without an error has an outcome"
        return running.outcome

    @property
    def is_done(self) -> bool:
        """Say whether the call has ended."""
        return self._running.done.is_set()

    @property
    def _is_entered(self) -> bool:
        return self._run_soon is not None

    async def _next(self, reader: MailboxReader) -> Preview | Reset:
        self._check_entered()
        item = await reader.next()
        if item is not None:
            return item
        if self._running.error is not None:
            raise self._told(self._running.error)
        raise StopAsyncIteration

    def _told(self, error: BaseException) -> BaseException:
        self._is_error_told = True
        return error

    def _check_entered(self) -> None:
        if not self._is_entered:
            raise MisuseError("enter the run first: async with client.stream_structured(...) as run")


__all__ = ["StructuredRun"]
