"""Tell a cancellation that was asked for from one that merely came out of somebody's code.

Awaiting an own task that was cancelled raises ``CancelledError`` in one who was never cancelled; so does code that
keeps a cancellation and raises it later. Such an exception ends nothing but the code it came from. One that was asked
for must always go on.
"""

from __future__ import annotations

import asyncio
from typing import cast

import anyio


def is_cancellation(error: BaseException) -> bool:
    """Say whether the exception is a cancellation, or a group that holds one, whoever asked for it."""
    if isinstance(error, BaseExceptionGroup):
        members = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return any(is_cancellation(member) for member in members)
    return isinstance(error, anyio.get_cancelled_exc_class())


def is_being_cancelled() -> bool:
    """Say whether somebody has asked to cancel the running task: by a scope around it, or natively."""
    if anyio.current_effective_deadline() == float("-inf"):
        return True
    if not issubclass(anyio.get_cancelled_exc_class(), asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def must_go_on(error: BaseException) -> bool:
    """Say whether the exception is a cancellation of the running task that was asked for, so nobody may keep it."""
    return is_cancellation(error) and is_being_cancelled()


def is_interrupt(error: BaseException) -> bool:
    """Say whether the exception ends the program and not one piece of work: ``KeyboardInterrupt``, ``SystemExit``."""
    return not isinstance(error, Exception) and not is_cancellation(error)


__all__ = ["is_being_cancelled", "is_cancellation", "is_interrupt", "must_go_on"]
