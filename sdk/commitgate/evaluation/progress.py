"""Tell a caller how far a run has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Told: TypeAlias = Callable[[int, int, float | None], None]
"""Is told how far a run has come: records there are, records planned, and seconds left, None where nobody knows."""


class Progress:
    """Tell how far a run has come, and leave out who raises: looking on must not end a run.

    Args:
        told: whom to tell; None for nobody.
        planned: how many records a whole run has.
        kept: how many there are already.
        began_at: seconds, when this part of the run began.

    Attributes:
        problem: why nobody is told any more, in words; None where nothing is wrong.
    """

    def __init__(self, told: Told | None, *, planned: int, kept: int, began_at: float) -> None:
        self._told = told
        self._planned = planned
        self._kept = kept
        self._began_at = began_at
        self.problem: str | None = None

    def tell(self, done: int, now: float) -> None:
        """Tell it.

        Args:
            done: how many records there are.
            now: seconds, of the clock of ``began_at``.
        """
        if self._told is None:
            return
        here = done - self._kept
        left_s = (now - self._began_at) / here * (self._planned - done) if here > 0 else None
        try:
            self._told(done, self._planned, left_s)
        except Exception as error:  # noqa: BLE001 - it is the caller's code, and its fault is told at the end
            self._told = None
            self.problem = f"what was told of the progress raised {type(error).__qualname__}, and was told no more"


__all__ = ["Progress", "Told"]
