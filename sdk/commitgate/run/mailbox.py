"""Hand previews to consumers that may be slower than the model, in bounded memory and without slowing the model.

Each preview holds all that can be shown, so only the newest is kept; and so is the newest reset before it, which takes
back all that older ones do. Readers do not take anything away from each other: each remembers which item it saw last.
"""

from __future__ import annotations

import anyio
from anyio.lowlevel import checkpoint

from commitgate.preview import Preview, Reset


class Mailbox:
    """Keep the last reset and the newest preview after it. One event loop; any number of readers."""

    __slots__ = ("_changed", "_count", "_preview", "_preview_number", "_reset", "_reset_number", "is_closed")

    def __init__(self) -> None:
        self._reset: Reset | None = None
        self._preview: Preview | None = None
        self._reset_number = self._preview_number = self._count = 0
        self._changed: anyio.Event | None = None
        self.is_closed = False

    def put(self, item: Preview | Reset) -> None:
        """Leave an item; never waits."""
        self._count += 1
        if isinstance(item, Reset):
            self._reset, self._preview = item, None
            self._reset_number = self._count
        else:
            self._preview = item
            self._preview_number = self._count
        self._wake()

    def close(self) -> None:
        """Say that no item will follow; what is left can still be read."""
        self.is_closed = True
        self._wake()

    def after(self, number: int) -> tuple[int, Preview | Reset] | None:
        """Return the first item kept that came after item ``number``, with its own number; None where there is none."""
        if self._reset is not None and self._reset_number > number:
            return self._reset_number, self._reset
        if self._preview is not None and self._preview_number > number:
            return self._preview_number, self._preview
        return None

    async def changed(self) -> None:
        """Wait until something was left here, or the box was closed."""
        # Made where somebody waits: making one for each preview would cost more than the preview.
        changed = self._changed = self._changed or anyio.Event()
        await changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None


class MailboxReader:
    """Read a mailbox on its own: of the resets and of the previews the newest that is there, each once.

    Args:
        mailbox: what to read.
    """

    __slots__ = ("_mailbox", "_seen")

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._seen = 0

    async def next(self) -> Preview | Reset | None:
        """Wait for the next item; None where none will follow."""
        while True:
            found = self._mailbox.after(self._seen)
            if found is not None:
                self._seen, item = found
                return item
            if self._mailbox.is_closed:
                # What closed the box may be the cancellation of a scope that holds this reader too.
                await checkpoint()
                return None
            await self._mailbox.changed()


__all__ = ["Mailbox", "MailboxReader"]
