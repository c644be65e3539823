"""Run trio on a fake clock; ``fake_time`` is its public face. The only module here that needs trio."""

from __future__ import annotations

from collections.abc import Iterator

import trio

from commitgate.testing.thread_waits import waits_for_thread


class FakeTimeClock(trio.abc.Clock, trio.abc.Instrument):
    """Keep fake time, which stands still while anything can run. It must be given as clock and as instrument.

    Args:
        quiet_s: real seconds in which nothing must happen before a jump.
        thread_patience_s: longest real wait for threads before a jump.
    """

    def __init__(self, quiet_s: float, thread_patience_s: float) -> None:
        self._now_s = 0.0
        self._quiet_s = quiet_s
        self._thread_patience_s = thread_patience_s
        # A whole real wait went by and no task has run since.
        self._was_quiet = False

    def start_clock(self) -> None:
        """Start; the clock stands at 0.0 for the first run."""

    def current_time(self) -> float:
        """Return the fake time in seconds."""
        return self._now_s

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Return how long in real seconds trio may sleep; it asks only where no task can run."""
        if deadline <= self._now_s:
            return 0.0
        if deadline == float("inf"):
            return deadline
        if self._was_quiet:
            self._was_quiet = False
            self._now_s = deadline
            return 0.0
        return self._thread_patience_s if self._has_thread_work() else self._quiet_s

    def after_io_wait(self, timeout: float) -> None:
        """Note that trio slept."""
        self._was_quiet = timeout > 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Note that a task runs."""
        del task
        self._was_quiet = False

    @staticmethod
    def _has_thread_work() -> bool:
        if trio.to_thread.current_default_thread_limiter().borrowed_tokens:
            return True
        return any(waits_for_thread(frame.f_code for frame, _ in task.iter_await_frames()) for task in _all_tasks())


def _all_tasks() -> Iterator[trio.lowlevel.Task]:
    root = trio.lowlevel.current_root_task()
    waiting = [] if root is None else [root]
    while waiting:
        task = waiting.pop()
        yield task
        for nursery in task.child_nurseries:
            waiting.extend(nursery.child_tasks)


__all__ = ["FakeTimeClock"]
