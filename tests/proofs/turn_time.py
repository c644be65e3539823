"""Count time in turns of the event loop, and let worker threads take turns too: so a moment can be named exactly.

``anyio.run(main, **in_turns("asyncio"))`` runs on a loop on which every turn takes ``TURN_S`` and nothing else takes
time. A deadline of ``n * TURN_S`` is met in the n-th turn, whatever set it. Where nothing can run, the clock jumps to
the next timer. ``threads_in_turns`` runs what is handed to a worker thread on the loop itself, between two turns.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, TypeVarTuple
from unittest.mock import patch

import anyio
import anyio.to_thread
import trio
from anyio.lowlevel import checkpoint

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

TURN_S = 0.001
"""Seconds of a turn, so few that no limit of a call is met in some hundred of them."""


class _CountingSelector(selectors.DefaultSelector):
    """Count the turns of asyncio, of which each asks once for what is ready."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now_s += TURN_S
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        self.now_s += timeout
        return super().select(0)


class TurnLoop(asyncio.SelectorEventLoop):
    """Keep time by turns."""

    def __init__(self) -> None:
        self._turns = _CountingSelector()
        super().__init__(self._turns)

    def time(self) -> float:
        return self._turns.now_s


class TurnClock(trio.abc.Clock, trio.abc.Instrument):
    """Keep trio's time by turns, as its clock and as an instrument of it."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def start_clock(self) -> None:
        """Start at 0."""

    def current_time(self) -> float:
        return self._now_s

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Jump to the deadline; trio asks only where no task can run."""
        if deadline == float("inf"):
            return deadline
        self._now_s = max(self._now_s, deadline)
        return 0.0

    def after_io_wait(self, timeout: float) -> None:
        del timeout
        self._now_s += TURN_S


def in_turns(loop: str) -> dict[str, object]:
    """Return the arguments with which ``anyio.run`` counts time in turns."""
    if loop == "asyncio":
        return {"backend": loop, "backend_options": {"loop_factory": TurnLoop}}
    clock = TurnClock()
    return {"backend": loop, "backend_options": {"clock": clock, "instruments": [clock]}}


async def _run_inline(
    function: Callable[[*Ts], T],
    *arguments: *Ts,
    abandon_on_cancel: bool = False,
    limiter: anyio.CapacityLimiter | None = None,
) -> T:
    """Do what ``anyio.to_thread.run_sync`` does, and be cancelled where that is, without a thread."""
    del limiter
    await checkpoint()
    if abandon_on_cancel:
        return await _take_turns(function, *arguments)
    with anyio.CancelScope(shield=True):
        return await _take_turns(function, *arguments)
    raise AssertionError("a shielded block comes to its end")


async def _take_turns(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    await checkpoint()
    result = function(*arguments)
    await checkpoint()
    return result


@contextmanager
def threads_in_turns() -> Generator[None]:
    """Run what is handed to worker threads on the event loop, while the block runs."""
    with patch.object(anyio.to_thread, "run_sync", _run_inline):
        yield
