"""Run asyncio on a fake clock; ``fake_time`` is its public face."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar, TypeVarTuple

from commitgate.testing.thread_waits import awaited_codes, waits_for_thread

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class _JumpingSelector(selectors.DefaultSelector):
    """Wait for files as ever, and in place of waiting for a timer move the clock to it.

    Args:
        quiet_s: gives the real seconds to wait before a jump.
        jump: moves the clock by seconds.
    """

    def __init__(self, quiet_s: Callable[[], float], jump: Callable[[float], None]) -> None:
        super().__init__()
        self._quiet_s = quiet_s
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return the files that are ready; none where the clock was moved."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(self._quiet_s())
        if not ready:
            self._jump(timeout)
        return ready


class FakeTimeLoop(asyncio.SelectorEventLoop):
    """Keep time by a clock of its own, which stands still while anything can run.

    Args:
        quiet_s: real seconds in which nothing must happen before a jump.
        thread_patience_s: longest real wait for threads before a jump.
    """

    def __init__(self, quiet_s: float, thread_patience_s: float) -> None:
        self._now_s = 0.0
        self._jobs = 0
        self._quiet_s = quiet_s
        self._thread_patience_s = thread_patience_s
        super().__init__(_JumpingSelector(self._real_wait_s, self._jump))

    def time(self) -> float:
        """Return the fake time in seconds."""
        return self._now_s

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """Run a function in a thread, and note it."""
        job = super().run_in_executor(executor, func, *args)
        self._jobs += 1
        job.add_done_callback(self._end_job)
        return job

    def _end_job(self, job: asyncio.Future[T]) -> None:
        del job
        self._jobs -= 1

    def _real_wait_s(self) -> float:
        is_busy = self._jobs > 0 or any(
            waits_for_thread(awaited_codes(task.get_coro())) for task in asyncio.all_tasks(self)
        )
        return self._thread_patience_s if is_busy else self._quiet_s

    def _jump(self, seconds: float) -> None:
        self._now_s += seconds


__all__ = ["FakeTimeLoop"]
