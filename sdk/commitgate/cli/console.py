"""Write lines for people to stdout, so that a stdout which takes nothing is an error like any other."""

from __future__ import annotations

from errno import EPIPE
from os import strerror

from rich.console import Console


class ResultConsole(Console):
    """Write what a command found: plain lines, none of them wrapped unless asked for.

    Args:
        soft_wrap: leave long lines to the terminal; else they are broken at its width.
    """

    def __init__(self, *, soft_wrap: bool = True) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)

    def on_broken_pipe(self) -> None:
        """Let the error pass, which rich would turn into an exit without a word."""
        raise BrokenPipeError(EPIPE, strerror(EPIPE))


__all__ = ["ResultConsole"]
