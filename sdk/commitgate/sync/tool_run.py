"""Hand one run of tools to a caller that blocks: what it shows, a way to cancel, and the outcome."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Self

from typing_extensions import TypeVar

from commitgate.errors import MisuseError
from commitgate.run.abandonment import call_site
from commitgate.sync.bridge import BlockingIterator, Bridge

if TYPE_CHECKING:
    from commitgate.outcome import Outcome
    from commitgate.tools.call_result import CallResult
    from commitgate.tools.items import ToolItem
    from commitgate.tools.tool_run import ToolRun as AsynchronousRun

A = TypeVar("A", default=str)


class ToolRun(Generic[A]):
    """Follow one run of tools. Enter it with ``with``; it starts then, and leaving it early cancels it.

    Iterating gives what it shows, and ends when the run has ended. A slow consumer skips previews, and nothing else; it
    never slows the run. ``cancel`` may be called from any thread, any number of times.

    A run that is dropped without being left is cancelled, with a ``ResourceWarning`` that names where it was made.
    """

    def __init__(self, run: AsynchronousRun[A], bridge: Bridge) -> None:
        self._made_at = call_site()
        self._run = run
        self._bridge = bridge
        self._is_entered = False
        self._shown = BlockingIterator(run, bridge)

    def __del__(self) -> None:
        """End a run that nobody can follow any more."""
        if self._run not in self._bridge.kept or self._run.is_done:
            return
        self._bridge.call_soon(self._run.cancel)
        message = f"a run made at {self._made_at} was dropped while it ran; use it with: with ... as run"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    def __enter__(self) -> Self:
        """Start the run.

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

    def _check_entered(self) -> None:
        if not self._is_entered:
            raise MisuseError("enter the run first: with client.stream_tools(...) as run")


__all__ = ["ToolRun"]
