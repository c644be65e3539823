"""Hand one running call to a caller that blocks: previews to look at, a way to cancel, and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self

from typing_extensions import TypeVar

from commitgate.preview import Item, Preview, Reset
from commitgate.sync.bridge import BlockingIterator, Bridge
from commitgate.sync.handle import RunHandle

if TYPE_CHECKING:
    from commitgate.difference import Difference
    from commitgate.json_value import JsonSchema
    from commitgate.outcome import Outcome
    from commitgate.run.structured_run import StructuredRun as AsynchronousRun

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class StructuredRun(RunHandle, Generic[T, R]):
    """Follow one call. Enter it with ``with``; it starts then, and leaving it early cancels it.

    Iterating gives previews while the text grows, and ends when the call has ended. A slow consumer skips previews; it
    never slows the model. ``cancel`` may be called from any thread, any number of times.

    The call runs in the client's thread. So where it is cancelled while it commits, the commit is finished first, and
    the outcome says what the ledger holds. A run that is dropped without being left is cancelled, with a
    ``ResourceWarning`` that names where it was made.
    """

    def __init__(self, run: AsynchronousRun[T, R], bridge: Bridge) -> None:
        super().__init__(run, bridge, "stream_structured")
        self._run = run
        self._shown = BlockingIterator(run, bridge)
        self._outcome: Outcome[T, R] | None = None

    def __enter__(self) -> Self:
        """Start the call.

        Raises:
            MisuseError: it was started before.
        """
        self._enter()
        return self

    def __iter__(self) -> Self:
        """Iterate over previews and resets."""
        return self

    def __next__(self) -> Preview | Reset:
        """Wait for the next preview.

        Raises:
            StopIteration: the call has ended.
            Exception: what ``outcome`` would raise.
        """
        self._check_entered()
        return self._shown.__next__()

    def latest(self) -> BlockingIterator[Preview | Reset]:
        """Return an iterator of its own over previews and resets: the newest reset, and the newest preview after it.

        However slow its consumer is, it keeps one preview and slows nothing. Other iterators see the same items.
        """
        return BlockingIterator(self._run.latest(), self._bridge)

    def items(self, pointer: str = "") -> BlockingIterator[Item | Reset]:
        """Return an iterator over the finished items of an array, each once and in order, however slow its consumer is.

        A ``Reset`` says that the items so far belong to a dropped attempt; then they come anew, from the first.

        Args:
            pointer: JSON pointer (RFC 6901) of the array; ``""`` is the whole value.

        Raises:
            MisuseError: the pointer is no JSON pointer, or the contract shows that no array can stand there: at once
                where it is known, else while iterating. While iterating, too, where something else stands there.
        """
        return BlockingIterator(self._run.items(pointer), self._bridge)

    def cancel(self) -> None:
        """End the call as ``Cancelled``, unless it has ended or a commit has begun."""
        if not self._run.is_done:
            self._bridge.call(self._run.cancel)

    def outcome(self) -> Outcome[T, R]:
        """Wait for the end of the call and return how it ended.

        Raises:
            MisuseError: the run was not entered; or the call contradicts itself.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        self._check_entered()
        if self._outcome is None:
            self._outcome = self._bridge.wait(self._run.outcome)
        return self._outcome

    @property
    def sent_schema(self) -> JsonSchema | None:
        """Return the JSON Schema that the server was sent; None until it is settled, and where none is sent."""
        return self._run.sent_schema

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return where the constraint as sent is not the contract's; empty until it is settled."""
        return self._run.differences

    @property
    def is_done(self) -> bool:
        """Say whether the call has ended."""
        return self._run.is_done


__all__ = ["StructuredRun"]
