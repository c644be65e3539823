"""Run one call in a task of the client: what goes on whether or not anybody still looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

import anyio
from typing_extensions import TypeVar

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.contract import Contract
from commitgate.errors import CommitgateError
from commitgate.outcome import Outcome
from commitgate.run.active import running_call
from commitgate.run.facts import detail_of
from commitgate.run.mailbox import Mailbox
from commitgate.run.order import Order
from commitgate.run.shared import Shared

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class Running(Generic[T, R]):
    """Hold one call's task, apart from the handle that its caller has: so a dropped handle can be noticed.

    Attributes:
        mailbox: where previews are left.
        done: set once the call has ended.
        outcome: how it ended; None before, and where it raised.
        error: what it raised.
    """

    def __init__(
        self,
        order: Order[T, R],
        shared: Shared,
        *,
        is_watched: bool,
    ) -> None:
        # The way of a call is loaded with the first one, so that importing the package stays quick.
        from commitgate.run.call import Call

        self.mailbox = Mailbox()
        show = self.mailbox.put if is_watched else None
        self._call = Call(order, shared, show=show)
        self._shared = shared
        self._order = order
        self._scope = anyio.CancelScope()
        self._has_begun = False
        self.done = anyio.Event()
        self.outcome: Outcome[T, R] | None = None
        self.error: BaseException | None = None

    def start(self) -> None:
        """Start the task.

        Raises:
            MisuseError: the client is being closed.
            RuntimeError: it was left.
        """
        task_group = self._shared.task_group
        self._shared.active.begin(self, lambda: task_group.start_soon(self._work, name="commitgate call"))

    async def wait(self) -> None:
        """Wait for the end of the call."""
        await self.done.wait()

    @property
    def contract(self) -> Contract[object] | None:
        """Return what the answer must satisfy; None until it is built."""
        return self._call.contract

    @property
    def translation(self) -> Translation | None:
        """Return the contract as a server is sent it; None until that is settled, and where none is sent."""
        return self._call.translation

    @property
    def operation_key(self) -> str | None:
        """Return the call's operation key."""
        return self._order.key

    @property
    def ended_as(self) -> str:
        """Return the outcome's name, or that of the error's type, of a call that has ended."""
        return type(self.error).__name__ if self.outcome is None else self.outcome.name

    def cancel(self) -> None:
        """End the call as ``Cancelled``, unless it has ended or a commit has begun. On the event loop's thread."""
        self._scope.cancel()

    def leave(self) -> None:
        """Cancel the call. One that has not begun ends here: a loop that is being shut down may never begin it."""
        self.cancel()
        if not (self._has_begun or self.done.is_set()):
            self._end()

    async def _work(self) -> None:
        if self.done.is_set():
            return
        self._has_begun = True
        running_call.set(self)
        try:
            self._call.watch.begin()
            with self._scope:
                self.outcome = await self._call.run()
        except BaseException as error:
            # The caller raises it; here it would end every call of the client.
            if must_go_on(error):
                raise
            self.error = _tellable(error)
        finally:
            self._end()
            self._call.watch.end(self.outcome, detail_of(self.outcome), self.error)

    def _end(self) -> None:
        if self.outcome is None and self.error is None:
            self.outcome = self._call.cancelled()
        self._shared.active.end(self)
        if self._order.key is not None and self.outcome is not None:
            self._shared.waiting.note(self._order.key, self._order, self.outcome)
        self.mailbox.close()
        self.done.set()


def _tellable(error: BaseException) -> BaseException:
    """Return what the caller can raise: a cancellation that nobody asked for would look like one of the caller's."""
    if not is_cancellation(error):
        return error
    told = CommitgateError("code that this call ran raised a cancellation that nobody had asked for; correct that code")
    told.__cause__ = error
    return told


__all__ = ["Running"]
