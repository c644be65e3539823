"""Hold what blocking handles of runs have in common: entering, leaving, and being dropped."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Protocol

from commitgate.errors import MisuseError
from commitgate.run.abandonment import call_site
from commitgate.sync.bridge import Bridge


class Followed(Protocol):
    """Be a run of the asynchronous client."""

    @property
    def is_done(self) -> bool:
        """Say whether it has ended."""
        ...

    def cancel(self) -> None:
        """End it, unless it has ended or a commit has begun."""
        ...

    async def __aenter__(self) -> object:
        """Start it."""
        ...

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended."""
        ...


class RunHandle:
    """Follow one run, and end it where it is left or dropped.

    Args:
        followed: the run.
        bridge: runs it.
        method: name of the client's method that makes such a run.
    """

    def __init__(self, followed: Followed, bridge: Bridge, method: str) -> None:
        self._made_at = call_site()
        self._followed = followed
        self._bridge = bridge
        self._method = method
        self._is_entered = False

    def __del__(self) -> None:
        """End a run that nobody can follow any more."""
        if self._followed not in self._bridge.kept or self._followed.is_done:
            return
        self._bridge.call_soon(self._followed.cancel)
        message = f"a run made at {self._made_at} was dropped while it ran; use it with: with ... as run"
        warnings.warn(message, ResourceWarning, stacklevel=2, source=self)

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still runs and wait until it has ended; a commit that has begun is finished."""
        self._bridge.kept.discard(self._followed)
        self._bridge.wait(lambda: self._followed.__aexit__(error_type, error, trace))

    def _enter(self) -> None:
        """Start the run.

        Raises:
            MisuseError: it was started before.
        """
        self._bridge.wait(self._followed.__aenter__)
        self._is_entered = True
        # The run notices a drop of its own handle, which is this one; it would tell it of a place in here.
        self._bridge.kept.add(self._followed)

    def _check_entered(self) -> None:
        if not self._is_entered:
            raise MisuseError(f"enter the run first: with client.{self._method}(...) as run")


__all__ = ["Followed", "RunHandle"]
