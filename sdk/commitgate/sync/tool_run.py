"""Hand one run of tools to a caller that blocks: what it shows, a way to cancel, and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self

from typing_extensions import TypeVar

from commitgate.sync.bridge import BlockingIterator, Bridge
from commitgate.sync.handle import RunHandle

if TYPE_CHECKING:
    from commitgate.outcome import Outcome
    from commitgate.tools.call_result import CallResult
    from commitgate.tools.items import ToolItem
    from commitgate.tools.tool_run import ToolRun as AsynchronousRun

A = TypeVar("A", default=str)


class ToolRun(RunHandle, Generic[A]):
    """Follow one run of tools. Enter it with ``with``; it starts then, and leaving it early cancels it.

    Iterating gives what it shows, and ends when the run has ended. A slow consumer skips previews, and nothing else; it
    never slows the run. ``cancel`` may be called from any thread, any number of times.

    A run that is dropped without being left is cancelled, with a ``ResourceWarning`` that names where it was made.
    """

    def __init__(self, run: AsynchronousRun[A], bridge: Bridge) -> None:
        super().__init__(run, bridge, "stream_tools")
        self._run = run
        self._shown = BlockingIterator(run, bridge)

    def __enter__(self) -> Self:
        """Start the run.

        Raises:
            MisuseError: it was started before.
        """
        self._enter()
        return self

    def __iter__(self) -> Self:
        """Iterate over what the run shows."""
        return self

    def __next__(self) -> ToolItem:
        """Wait for the next item.

        Raises:
            StopIteration: the run has ended.
            Exception: what ``outcome`` would raise.
        """
        self._check_entered()
        return self._shown.__next__()

    def cancel(self) -> None:
        """End the run as ``Cancelled``, unless it has ended. A commit that has begun is finished first."""
        if not self._run.is_done:
            self._bridge.call(self._run.cancel)

    def outcome(self) -> Outcome[A, tuple[CallResult, ...]]:
        """Wait for the end of the run and return how it ended.

        Raises:
            MisuseError: the run was not entered, or the client is being closed.
            BackendError: the model cannot be had.
            LedgerError: a key conflicts, is in progress, or the ledger cannot be used.
        """
        self._check_entered()
        return self._bridge.wait(self._run.outcome)

    @property
    def is_done(self) -> bool:
        """Say whether the run has ended."""
        return self._run.is_done

    @property
    def calls(self) -> tuple[CallResult, ...]:
        """Return what became of the calls so far, in order; however the run ends."""
        return self._run.calls


__all__ = ["ToolRun"]
