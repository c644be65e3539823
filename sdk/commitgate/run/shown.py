"""Iterate over what a run shows: the newest preview, or the finished items of one array."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from commitgate.preview import Item, ItemCursor, Preview, Reset
from commitgate.run.mailbox import MailboxReader


class PreviewStream:
    """Iterate over previews and resets. Made by ``StructuredRun.latest``.

    Args:
        reader: remembers what was seen.
        wait: waits for what comes next; raises ``StopAsyncIteration`` at the end of the run.
    """

    def __init__(self, reader: MailboxReader, wait: Callable[[MailboxReader], Awaitable[Preview | Reset]]) -> None:
        self._reader = reader
        self._wait = wait

    def __aiter__(self) -> PreviewStream:
        """Iterate over previews and resets."""
        return self

    async def __anext__(self) -> Preview | Reset:
        """Wait for the next reset, or the newest preview.

        Raises:
            StopAsyncIteration: the call has ended.
            Exception: what ``StructuredRun.outcome`` would raise.
        """
        return await self._wait(self._reader)


class ItemStream:
    """Iterate over the finished items of one array. Made by ``StructuredRun.items``.

    Args:
        pointer: JSON pointer of the array.
        previews: where its items are found.

    Raises:
        MisuseError: the pointer is no JSON pointer.
    """

    def __init__(self, pointer: str, previews: PreviewStream) -> None:
        self._pointer = pointer
        self._previews = previews
        self._cursor = ItemCursor(pointer)
        self._found: deque[Item] = deque()

    def __aiter__(self) -> ItemStream:
        """Iterate over items and resets."""
        return self

    async def __anext__(self) -> Item | Reset:
        """Wait for the next item.

        Raises:
            StopAsyncIteration: the call has ended.
            MisuseError: something else than an array stands there.
            Exception: what ``StructuredRun.outcome`` would raise.
        """
        while not self._found:
            shown = await anext(self._previews)
            if isinstance(shown, Reset):
                self._cursor = ItemCursor(self._pointer)
                return shown
            self._found.extend(self._cursor.take(shown))
        return self._found.popleft()


__all__ = ["ItemStream", "PreviewStream"]
