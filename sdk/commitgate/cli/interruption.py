"""Let a signal end a call as one that was cancelled, so that what it had come to is told."""

from __future__ import annotations

import os
import signal
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.process import ignore_signals


class Cancellable(Protocol):
    """Be a run that can be cancelled."""

    def cancel(self) -> None:
        """End it as ``Cancelled``."""
        ...


async def cancel_on_signal(run: Cancellable, *, task_status: TaskStatus[None]) -> None:
    """End the run as ``Cancelled`` at the first interrupt or termination; a second one stops the program at once.

    When this task is cancelled the call has ended, and from then on signals pass: what it came to is told whole.
    """
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            is_first = True
            async for _ in signals:
                if not is_first:
                    os._exit(ExitCode.CANCELLED)
                is_first = False
                run.cancel()
    finally:
        ignore_signals()


__all__ = ["Cancellable", "cancel_on_signal"]
