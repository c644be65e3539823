"""Hold what handles of runs have in common: entering, leaving, being dropped, and telling an error once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from commitgate.errors import MisuseError
from commitgate.run.abandonment import call_site, call_soon


class Followed(Protocol):
    """Be a run in a task of the client, apart from the handle that its caller has."""

    @property
    def done(self) -> anyio.Event:
        """Return what is set once it has ended."""
        ...

    @property
    def error(self) -> BaseException | None:
        """Return what it raised."""
        ...

    def start(self) -> None:
        """Start the task."""
        ...

    def cancel(self) -> None:
        """End it, unless it has ended or a commit has begun."""
        ...

    def leave(self) -> None:
        """Cancel it; one that has not begun ends here."""
        ...


class RunHandle:
    """Follow one run, and end it where it is left or dropped.

    Args:
        followed: the run.
        method: name of the client's method that makes such a run.
    """

    def __init__(self, followed: Followed, method: str) -> None:
        self._run_soon: Callable[[Callable[[], None]], None] | None = None
        self._made_at = call_site()
        self._followed = followed
        self._method = method
        self._is_error_told = False
        self._is_left = False

    def __del__(self) -> None:
        """End a run that nobody can follow any more."""
        run_soon = getattr(self, "_run_soon", None)
        if run_soon is None or self._is_left or self._followed.done.is_set():
            return
        run_soon(self._followed.cancel)
        message = f"a run made at {self._made_at} was dropped while it ran; use it with: async with ... as run"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended; a commit that has begun is finished."""
        del error, trace
        self._is_left = True
        self._followed.leave()
        with anyio.CancelScope(shield=True):
            await self._followed.done.wait()
        if error_type is None and self._followed.error is not None and not self._is_error_told:
            raise self._told(self._followed.error)

    def _enter(self) -> None:
        """Start the run.

        Raises:
            MisuseError: it was started before, or its client was left or is being closed.
        """
        if self._run_soon is not None:
            raise MisuseError("a run is entered once; make another call")
        run_soon = call_soon()
        try:
            self._followed.start()
        except RuntimeError as error:
            raise MisuseError("the client of this run was left; make the call with a client that is entered") from error
        self._run_soon = run_soon

    async def _wait(self) -> None:
        """Wait for the end of the run, and raise what it raised."""
        self._check_entered()
        await self._followed.done.wait()
        # A scope that holds both this task and the client ends the run first; its cancellation must arrive here too.
        await checkpoint_if_cancelled()
        if self._followed.error is not None:
            raise self._told(self._followed.error)

    def _after_last(self) -> BaseException:
        """Return what iterating raises after the last item: what the run raised, or the end."""
        error = self._followed.error
        return StopAsyncIteration() if error is None else self._told(error)

    def _told(self, error: BaseException) -> BaseException:
        self._is_error_told = True
        return error

    def _check_entered(self) -> None:
        if self._run_soon is None:
            raise MisuseError(f"enter the run first: async with client.{self._method}(...) as run")


__all__ = ["Followed", "RunHandle"]
