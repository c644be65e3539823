"""Run an event loop on a clock that jumps to the next timer when nothing else can happen.

Minutes of waits pass in milliseconds, and the moment of each event can be asserted. The clock stands still while tasks
run, so work takes no fake time. Worker threads are real: while a task waits for one, no jump is made.
"""

from __future__ import annotations

from typing import Literal

from commitgate.argument import check_choice, check_finite
from commitgate.errors import MisuseError

QUIET_S = 0.001
"""Real seconds in which nothing must happen before the clock jumps: room for what comes from outside the loop."""

THREAD_PATIENCE_S = 10.0
"""Longest real wait for a worker thread before the clock jumps all the same: the thread itself may wait for a timer."""


def fake_time(
    backend: Literal["asyncio", "trio"], *, quiet_s: float = QUIET_S, thread_patience_s: float = THREAD_PATIENCE_S
) -> tuple[str, dict[str, object]]:
    """Return an event loop whose clock is fake, as anyio and its pytest plugin take it.

    Everything that anyio knows of time follows it: ``sleep``, ``current_time``, ``move_on_after``, ``fail_after`` and
    the limits of this library. It starts at 0.0. ``time.time`` and ``time.monotonic`` stay real.

    Example::

        @pytest.fixture(params=["asyncio", "trio"])
        def anyio_backend(request):
            return fake_time(request.param)

        name, options = fake_time("asyncio")
        anyio.run(main, backend=name, backend_options=options)

    Args:
        backend: which event loop.
        quiet_s: real seconds > 0 in which nothing must happen before a jump; more where sockets are in play.
        thread_patience_s: longest real wait in seconds > 0 for worker threads before a jump.

    Raises:
        MisuseError: an argument is none of these.
    """
    check_choice("backend", backend, ("asyncio", "trio"))
    for name, value in (("quiet_s", quiet_s), ("thread_patience_s", thread_patience_s)):
        check_finite(name, value)
        if value <= 0:
            raise MisuseError(f"{name} must be > 0, found {value!r}")
    if backend == "asyncio":
        from commitgate.testing.asyncio_time import FakeTimeLoop

        return backend, {"loop_factory": lambda: FakeTimeLoop(quiet_s, thread_patience_s)}
    # trio is not needed by anybody who does not ask for it.
    from commitgate.testing.trio_time import FakeTimeClock

    clock = FakeTimeClock(quiet_s, thread_patience_s)
    return backend, {"clock": clock, "instruments": [clock]}


__all__ = ["QUIET_S", "THREAD_PATIENCE_S", "fake_time"]
