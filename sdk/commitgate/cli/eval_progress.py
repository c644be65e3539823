"""Show on stderr how far an evaluation has come."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from commitgate.cli.progress import say_stage
from commitgate.cli.report import complain

# Without a terminal a line is written each time another tenth is done.
_LINES = 10


class EvaluationProgress:
    """Take how far a run has come: a bar on a terminal, some lines elsewhere. Use it as a context manager.

    Args:
        title: what is being done.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._told = 0
        self._stage = ""
        self._task: TaskID | None = None
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._progress.stop()

    def tell(self, done: int, planned: int, left_s: float | None) -> None:
        """Tell how far it has come.

        Args:
            done: answers there are.
            planned: answers planned.
            left_s: seconds left; None where nobody knows.
        """
        left = "" if left_s is None else f"about {_said(left_s)} left"
        if sys.stderr.isatty():
            self._draw(done, planned, left)
            return
        tenth = done * _LINES // max(planned, 1)
        if tenth > self._told:
            self._told = tenth
            complain(f"{self._title}: {done:,} of {planned:,}{', ' + left if left and done < planned else ''}")

    def load(self, stage: str, part: float) -> None:
        """Tell how a model is made ready; may be called from any thread.

        Args:
            stage: what is being done, in words.
            part: the part that is done, in [0, 1].
        """
        if not sys.stderr.isatty():
            say_stage(stage, part)
            return
        self._stage = "" if part >= 1 else f"{stage} ({part:.0%})"
        # One display for both: two at once would write over each other.
        self._progress.update(self._shown(1), left=self._stage)

    def _draw(self, done: int, planned: int, left: str) -> None:
        self._progress.update(self._shown(planned), completed=done, total=planned, left=self._stage or left)

    def _shown(self, planned: int) -> TaskID:
        if self._task is None:
            self._task = self._progress.add_task(self._title, total=planned, left="")
            self._progress.start()
        return self._task


def _said(left_s: float) -> str:
    return f"{left_s:.0f} s" if left_s < 100 else f"{left_s / 60:.0f} min"


__all__ = ["EvaluationProgress"]
