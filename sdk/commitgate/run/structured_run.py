"""Hand one running call to its caller: previews to look at, a way to cancel, and the outcome."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Generic

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint_if_cancelled
from typing_extensions import TypeVar

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.errors import CommitgateError, MisuseError
from commitgate.outcome import Outcome
from commitgate.preview import Preview, Reset
from commitgate.run.mailbox import Mailbox
from commitgate.run.order import Order

if TYPE_CHECKING:
    from commitgate.ledger import Ledger

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class StructuredRun(Generic[T, R]):
    """Follow one call. Enter it with ``async with``; it starts then, and leaving it early cancels it.

    Iterating gives previews while the text grows, and ends when the call has ended. A slow consumer skips previews; it
    never slows the model. ``cancel`` may be called from any task of the event loop, any number of times.

    The call runs in a task of the client. So where it is cancelled while it commits, the commit is finished first, and
    the outcome says what the ledger holds.
    """

    def __init__(
        self, order: Order[T, R], *, task_group: TaskGroup, ledger: Callable[[], Ledger], is_watched: bool
    ) -> None:
        self._task_group = task_group
        self._mailbox = Mailbox()
        # The way of a call is loaded with the first one, so that importing the package stays quick.
        from commitgate.run.call import Call

        self._call = Call(order, task_group=task_group, ledger=ledger, show=self._mailbox.put if is_watched else None)
        self._scope = anyio.CancelScope()
        self._done = anyio.Event()
        self._is_entered = False
        self._outcome: Outcome[T, R] | None = None
        self._error: BaseException | None = None
        self._is_error_told = False

    async def __aenter__(self) -> StructuredRun[T, R]:
        """Start the call.

        Raises:
            MisuseError: it was started before.
        """
        if self._is_entered:
            raise MisuseError("a run is entered once; make another call")
        self._is_entered = True
        self._task_group.start_soon(self._work, name="commitgate call")
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended; a commit that has begun is finished."""
        del error, trace
        self.cancel()
        with anyio.CancelScope(shield=True):
            await self._done.wait()
        if error_type is None and self._error is not None and not self._is_error_told:
            raise self._told(self._error)

    def __aiter__(self) -> StructuredRun[T, R]:
        """Iterate over previews and resets."""
        return self

    async def __anext__(self) -> Preview | Reset:
        """Wait for the next preview.

        Raises:
            StopAsyncIteration: the call has ended.
            Exception: what ``outcome`` would raise.
        """
        self._check_entered()
        item = await self._mailbox.take()
        if item is not None:
            return item
        if self._error is not None:
            raise self._told(self._error)
        raise StopAsyncIteration

    def cancel(self) -> None:
        """End the call as ``Cancelled``, unless it has ended or a commit has begun."""
        self._scope.cancel()

    async def outcome(self) -> Outcome[T, R]:
        """Wait for the end of the call and return how it ended.

        Raises:
            MisuseError: the run was not entered; or the call contradicts itself.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        self._check_entered()
        await self._done.wait()
        # A scope that holds both this task and the client ends the call first; its cancellation must arrive here too.
        await checkpoint_if_cancelled()
        if self._error is not None:
            raise self._told(self._error)
        assert self._outcome is not None, "a run without an error has an outcome"
        return self._outcome

    @property
    def is_done(self) -> bool:
        """Say whether the call has ended."""
        return self._done.is_set()

    async def _work(self) -> None:
        try:
            with self._scope:
                self._outcome = await self._call.run()
        except BaseException as error:
            # The caller raises it; here it would end every call of the client.
            if must_go_on(error):
                raise
            self._error = _tellable(error)
        finally:
            if self._outcome is None and self._error is None:
                self._outcome = self._call.cancelled()
            self._mailbox.close()
            self._done.set()

    def _told(self, error: BaseException) -> BaseException:
        self._is_error_told = True
        return error

    def _check_entered(self) -> None:
        if not self._is_entered:
            raise MisuseError("enter the run first: async with client.stream_structured(...) as run")


def _tellable(error: BaseException) -> BaseException:
    """Return what the caller can raise: a cancellation that nobody asked for would look like one of the caller's."""
    if not is_cancellation(error):
        return error
    told = CommitgateError("code that this call ran raised a cancellation that nobody had asked for; correct that code")
    told.__cause__ = error
    return told


__all__ = ["StructuredRun"]
