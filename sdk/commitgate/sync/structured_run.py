"""Hand one running call to a caller that blocks: previews to look at, a way to cancel, and the outcome."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self

from typing_extensions import TypeVar

from commitgate.errors import MisuseError
from commitgate.preview import Item, Preview, Reset
from commitgate.run.abandonment import call_site
from commitgate.sync.bridge import BlockingIterator, Bridge

if TYPE_CHECKING:
    from commitgate.outcome import Outcome
    from commitgate.run.structured_run import StructuredRun as AsynchronousRun

T = TypeVar("T", default=object)
R = TypeVar("R", default=None)


class StructuredRun(Generic[T, R]):
    """Follow one call. Enter it with ``with``; it starts then, and leaving it early cancels it.

    Iterating gives previews while the text grows, and ends when the call has ended. A slow consumer skips previews; it
    never slows the model. ``cancel`` may be called from any thread, any number of times.

    The call runs in the client's thread. So where it is cancelled while it commits, the commit is finished first, and
    the outcome says what the ledger holds. A run that is dropped without being left is cancelled, with a
    ``ResourceWarning`` that names where it was made.
    """

    def __init__(self, run: AsynchronousRun[T, R], bridge: Bridge) -> None:
        self._made_at = call_site()
        self._run = run
        self._bridge = bridge
        self._is_entered = False
        self._shown = BlockingIterator(run, bridge)
        self._outcome: Outcome[T, R] | None = None

    def __del__(self) -> None:
        """End a call that nobody can follow any more."""
        if self._run not in self._bridge.kept or self._run.is_done:
            return
        self._bridge.call_soon(self._run.cancel)
        message = f"a run made at {self._made_at} was dropped while it ran; use it with: with ... as run"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    def __enter__(self) -> Self:
        """Start the call.

        Raises:
            MisuseError: it was started before.
        """
        self._bridge.wait(self._run.__aenter__)
        self._is_entered = True
        # The run notices a drop of its own handle, which is this one; it would tell it of a place in here.
        self._bridge.kept.add(self._run)
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended; a commit that has begun is finished."""
        self._bridge.kept.discard(self._run)
        self._bridge.wait(lambda: self._run.__aexit__(error_type, error, trace))

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
            MisuseError: the pointer is no JSON pointer; or, while iterating, something else than an array stands there.
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
    def is_done(self) -> bool:
        """Say whether the call has ended."""
        return self._run.is_done

    def _check_entered(self) -> None:
        if not self._is_entered:
            raise MisuseError("enter the run first: with client.stream_structured(...) as run")


__all__ = ["StructuredRun"]
