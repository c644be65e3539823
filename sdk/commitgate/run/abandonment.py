"""Notice that a handle was dropped while its call still runs, and end the call from wherever that is noticed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from anyio.lowlevel import current_token

if TYPE_CHECKING:
    from trio.lowlevel import TrioToken


def call_soon() -> Callable[[Callable[[], None]], None]:
    """Return what runs a function on the running event loop soon, from any thread; after the loop's end not at all.

    A garbage collection may run in any thread, so a finaliser must not touch the loop's objects itself.
    """
    token = current_token().native_token
    if isinstance(token, asyncio.AbstractEventLoop):
        schedule = token.call_soon_threadsafe
    else:
        schedule = cast("TrioToken", token).run_sync_soon

    def run_soon(function: Callable[[], None]) -> None:
        # A closed loop has nothing left to end: asyncio says RuntimeError, trio a RunFinishedError, which is one too.
        with suppress(RuntimeError):
            schedule(function)

    return run_soon


def call_site() -> str:
    """Return where, outside this package, the running function was called: ``file:line``."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage] - documented; inspect.stack reads every source file
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


__all__ = ["call_site", "call_soon"]
