"""Iterate over what a run shows: the newest preview, or the finished items of one array."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.preview import Item, ItemCursor, Preview, Reset
from commitgate.run.array_place import may_hold_array
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
        contract: gives what the answer must satisfy; None where that is not known yet.

    Raises:
        MisuseError: the pointer is no JSON pointer, or the contract shows that no array can stand there.
    """

    def __init__(self, pointer: str, previews: PreviewStream, contract: Callable[[], Contract[object] | None]) -> None:
        self._pointer = pointer
        self._previews = previews
        self._contract = contract
        self._is_possible = False
        self._cursor = ItemCursor(pointer)
        self._found: deque[Item] = deque()
        self._check()

    def __aiter__(self) -> ItemStream:
        """Iterate over items and resets."""
        return self

    async def __anext__(self) -> Item | Reset:
        """Wait for the next item.

        Raises:
            StopAsyncIteration: the call has ended.
            MisuseError: something else than an array stands there, or the contract shows that none can.
            Exception: what ``StructuredRun.outcome`` would raise.
        """
        while not self._found:
            self._check()
            try:
                shown = await anext(self._previews)
            except StopAsyncIteration:
                self._check()
                raise
            if isinstance(shown, Reset):
                self._cursor = ItemCursor(self._pointer)
                return shown
            self._found.extend(self._cursor.take(shown))
        return self._found.popleft()

    def _check(self) -> None:
        """Check the pointer against the contract, once that is known."""
        contract = None if self._is_possible else self._contract()
        if contract is None:
            return
        if not may_hold_array(contract, self._pointer):
            why = "is a text that is no JSON" if contract.text is not None else "can have none there"
            raise MisuseError(
                f"pointer {self._pointer!r} must name an array, and an answer of the contract {contract.name!r} {why}; "
                "look for a slip in the pointer"
            )
        self._is_possible = True


__all__ = ["ItemStream", "PreviewStream"]
