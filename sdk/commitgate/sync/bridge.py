"""Run coroutines in a thread of their own, and wait for them from others."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, ExitStack
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from commitgate.errors import MisuseError
from commitgate.run.abandonment import call_soon

T = TypeVar("T")


class Bridge:
    """Own one thread with an event loop, in which an asynchronous context manager is held open.

    Args:
        held: what is entered first and left last, all within the thread.
        name: what messages call the one that is to be entered.

    Attributes:
        kept: what must live on although its caller has dropped it, until the thread is ended.
    """

    def __init__(self, held: AbstractAsyncContextManager[object], name: str) -> None:
        self.kept: set[object] = set()
        self._held = held
        self._name = name
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._thread: int | None = None
        self._run_soon: Callable[[Callable[[], None]], None] | None = None

    def __enter__(self) -> Self:
        """Start the thread.

        Raises:
            MisuseError: it was started already, or the calling thread runs an event loop.
        """
        if self._portal is not None:
            raise MisuseError(f"this {self._name} is entered already")
        _check_no_loop()
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal("asyncio"))
            self._thread = portal.call(threading.get_ident)
            self._run_soon = portal.call(call_soon)
            stack.enter_context(portal.wrap_async_context_manager(self._held))
            self._stack, self._portal = stack.pop_all(), portal
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave what is held and end the thread."""
        try:
            self._stack.__exit__(error_type, error, trace)
        finally:
            self._portal = None
            self.kept.clear()

    def wait(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the thread and wait for its end.

        An exception that reaches the waiting thread meanwhile, as Ctrl-C does, cancels the coroutine, waits for what
        it still has to do and goes on.

        Raises:
            MisuseError: the thread was not started, or the calling thread runs an event loop.
        """
        _check_no_loop()
        ended = threading.Event()

        async def run() -> T:
            try:
                return await function()
            finally:
                ended.set()

        future = self._running().start_task_soon(run)
        try:
            return future.result()
        except BaseException:
            if not future.done():
                future.cancel()
                ended.wait()
            raise

    def call(self, function: Callable[[], T]) -> T:
        """Run a function in the thread, from any thread, that one included."""
        portal = self._running()
        return function() if threading.get_ident() == self._thread else portal.call(function)

    def call_soon(self, function: Callable[[], None]) -> None:
        """Run a function in the thread without waiting for it, also from a finaliser; not at all after its end."""
        if self._run_soon is not None:
            self._run_soon(function)

    def _running(self) -> BlockingPortal:
        if self._portal is None:
            raise MisuseError(f"enter the {self._name} first, and use it only inside its with block")
        return self._portal


class BlockingIterator(Generic[T]):
    """Iterate over what an asynchronous iterator gives, waiting for each item.

    Args:
        iterator: gives the items.
        bridge: runs it.
    """

    def __init__(self, iterator: AsyncIterator[T], bridge: Bridge) -> None:
        self._iterator = iterator
        self._bridge = bridge

    def __iter__(self) -> Self:
        """Iterate over the items."""
        return self

    def __next__(self) -> T:
        """Wait for the next item.

        Raises:
            StopIteration: none will follow.
            Exception: what the iterator raises.
        """
        found = self._bridge.wait(self._take)
        if not found:
            raise StopIteration
        return found[0]

    async def _take(self) -> tuple[T] | tuple[()]:
        try:
            return (await anext(self._iterator),)
        except StopAsyncIteration:
            return ()


def _check_no_loop() -> None:
    try:
        anyio.get_cancelled_exc_class()
    except RuntimeError:
        return
    raise MisuseError(
        "commitgate.sync would block the event loop of this thread; use commitgate.Client with async with and await"
    )


__all__ = ["BlockingIterator", "Bridge"]
