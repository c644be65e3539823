"""Run sync work where it does not block the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import anyio.to_thread

X = TypeVar("X")


LARGE_TEXT_BYTES = 65_536
"""Texts larger than this are parsed and validated in a worker thread: that takes milliseconds and more."""


async def aside(text: bytes, work: Callable[[], X]) -> X:
    """Do the library's own work on a text, where it does not block the event loop if the text is large."""
    return await anyio.to_thread.run_sync(work) if len(text) > LARGE_TEXT_BYTES else work()


async def run_in_thread(function: Callable[[], X]) -> X:
    """Run ``function`` in a worker thread, and return or raise what it does. Cancelling leaves the thread behind.

    What it returns may be awaitable, as a decorated function's may be: the caller awaits it.
    """

    def call() -> tuple[X, None] | tuple[None, BaseException]:
        # A tuple, because trio refuses a thread that returns a coroutine; and an exception is handed over in it,
        # because asyncio closes the tasks into which a thread raises GeneratorExit.
        try:
            return function(), None
        except BaseException as error:  # noqa: BLE001 - raised again by the one who waits
            return None, error

    returned, raised = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
    if raised is not None:
        raise raised
    return cast("X", returned)


__all__ = ["LARGE_TEXT_BYTES", "aside", "run_in_thread"]
