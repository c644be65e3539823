"""Hand previews to a consumer that may be slower than the model, in bounded memory and without slowing the model.

Each preview holds all that can be shown, so only the newest is kept; a reset before it is never dropped.
"""

from __future__ import annotations

import anyio
from anyio.lowlevel import checkpoint

from commitgate.preview import Preview, Reset


class Mailbox:
    """Keep at most one reset and the newest preview after it. One event loop; any number of readers share the items."""

    def __init__(self) -> None:
        self._reset: Reset | None = None
        self._preview: Preview | None = None
        self._is_closed = False
        self._changed = anyio.Event()

    def put(self, item: Preview | Reset) -> None:
        """Leave an item; never waits."""
        if isinstance(item, Reset):
            self._reset, self._preview = item, None
        else:
            self._preview = item
        self._wake()

    def close(self) -> None:
        """Say that no item will follow; what is left can still be taken."""
        self._is_closed = True
        self._wake()

    async def take(self) -> Preview | Reset | None:
        """Wait for the next item; None where none will follow."""
        while self._reset is None and self._preview is None:
            if self._is_closed:
                # What closed the box may be the cancellation of a scope that holds this reader too.
                await checkpoint()
                return None
            await self._changed.wait()
        if self._reset is not None:
            reset, self._reset = self._reset, None
            return reset
        preview, self._preview = self._preview, None
        return preview

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


__all__ = ["Mailbox"]
