"""Hand one running call to its caller: previews to look at, a way to cancel, and the outcome."""

from __future__ import annotations

from typing import Generic

from typing_extensions import TypeVar

from commitgate.difference import Difference
from commitgate.json_value import JsonSchema
from commitgate.outcome import Outcome
from commitgate.preview import Preview, Reset
from commitgate.run.handle import RunHandle
from commitgate.run.mailbox import MailboxReader
from commitgate.run.order import Order
from commitgate.run.running import Running
from commitgate.run.shared import Shared
from commitgate.run.shown import ItemStream, PreviewStream

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class StructuredRun(RunHandle, Generic[T, R]):
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
        self._running = Running(order, shared, is_watched=is_watched)
        self._reader = MailboxReader(self._running.mailbox)
        super().__init__(self._running, "stream_structured")

    async def __aenter__(self) -> StructuredRun[T, R]:
        """Start the call.

        Raises:
            MisuseError: it was started before, or its client was left or is being closed.
        """
        self._enter()
        return self

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
            MisuseError: the pointer is no JSON pointer, or the contract shows that no array can stand there: at once
                where it is known, else while iterating. While iterating, too, where something else stands there.
        """
        previews = PreviewStream(MailboxReader(self._running.mailbox), self._next)
        return ItemStream(pointer, previews, lambda: self._running.contract)

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
        await self._wait()
        assert self._running.outcome is not None, "a run without an error has an outcome"
        return self._running.outcome

    @property
    def is_done(self) -> bool:
        """Say whether the call has ended."""
        return self._running.done.is_set()

    @property
    def sent_schema(self) -> JsonSchema | None:
        """Return the JSON Schema that the server was sent; None until it is settled, and where none is sent."""
        translation = self._running.translation
        return None if translation is None else translation.schema

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return where the constraint as sent is not the contract's; empty until it is settled."""
        translation = self._running.translation
        return () if translation is None else translation.differences

    async def _next(self, reader: MailboxReader) -> Preview | Reset:
        self._check_entered()
        item = await reader.next()
        if item is not None:
            return item
        raise self._after_last()


__all__ = ["StructuredRun"]
