"""Know the calls of a client that are running, so that they can be brought to an end together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from commitgate.errors import MisuseError


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """Report how the calls ended that ran when a client was closed.

    Attributes:
        endings: how many ended how, by the outcome's ``name``, or by the type of the error that was raised.
        in_doubt: operation keys of those of which nobody knows whether the effect happened.
    """

    endings: dict[str, int]
    in_doubt: tuple[str, ...] = field(default=(), repr=False)

    @property
    def count(self) -> int:
        """Return how many calls ran."""
        return sum(self.endings.values())


class ActiveCall(Protocol):
    """Be one running call."""

    @property
    def ended_as(self) -> str:
        """Return the name of how it ended, after it has."""
        ...

    @property
    def operation_key(self) -> str | None:
        """Return its operation key."""
        ...

    def cancel(self) -> None:
        """End it, unless a commit has begun."""
        ...

    async def wait(self) -> None:
        """Wait for its end."""
        ...


running_call: ContextVar[ActiveCall | None] = ContextVar("running_call", default=None)
"""The call inside which code runs: its checks, and its effect."""


class ActiveCalls:
    """Hold the calls that run."""

    def __init__(self) -> None:
        self._calls: set[ActiveCall] = set()
        self._is_closing = False

    def begin(self, call: ActiveCall, start: Callable[[], object]) -> None:
        """Start a call and hold it.

        Raises:
            MisuseError: the client is being closed.
        """
        self.check_open()
        start()
        self._calls.add(call)

    def check_open(self) -> None:
        """Check that calls are still taken.

        Raises:
            MisuseError: the client is being closed.
        """
        if self._is_closing:
            raise MisuseError("this client is being closed and takes no further calls; make another client")

    def end(self, call: ActiveCall) -> None:
        """Let go of a call that has ended."""
        self._calls.discard(call)

    async def drain(self, finish_s: float) -> Drained:
        """Take no further calls, wait, cancel what still runs, and report how all of them ended.

        Args:
            finish_s: seconds that they may take to end by themselves; then they are cancelled, and commits finished.

        Raises:
            MisuseError: it is asked for from inside one of them, by an effect or a check.
        """
        calls = tuple(self._calls)
        inside = running_call.get()
        if inside in calls:
            raise MisuseError("a client cannot be closed from inside one of its own calls, which would wait for itself")
        self._is_closing = True
        with anyio.move_on_after(finish_s):
            for call in calls:
                await call.wait()
        for call in calls:
            call.cancel()
        for call in calls:
            await call.wait()
        doubtful = [call.operation_key for call in calls if call.ended_as == "in_doubt"]
        return Drained(
            endings=dict(Counter(call.ended_as for call in calls)),
            in_doubt=tuple(key for key in doubtful if key is not None),
        )


__all__ = ["ActiveCall", "ActiveCalls", "Drained", "running_call"]
