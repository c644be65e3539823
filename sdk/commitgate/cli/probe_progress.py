"""Show on stderr what a server is being asked, where that is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text


class ProbeProgress:
    """Show one line that says what is being asked. Use it as a context manager; the line is gone when it is left."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._status = Status("", console=Console(stderr=True, highlight=False))
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def tell(self, words: str) -> None:
        """Take what is being asked, in words."""
        if self._status is not None:
            self._status.update(Text(words))


__all__ = ["ProbeProgress"]
