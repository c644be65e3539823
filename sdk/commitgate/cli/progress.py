"""Show on stderr how a model is made ready, where that takes long enough to be asked about."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from commitgate.cli.report import complain

# From here on a model is only loaded, which takes seconds: told on a terminal alone.
_LOADING = 0.9


def say_stage(stage: str, part: float) -> None:
    """Write what is done to a model as a line, where it takes long.

    Args:
        stage: what is being done, in words.
        part: the part that is done, in [0, 1].
    """
    if part < _LOADING:
        complain(f"{stage} (the first time only)")


class ModelProgress:
    """Take reports of a model's conversion: a bar on a terminal, a line a stage elsewhere. Use it as a context manager.

    A model that is ready is loaded in silence where stderr is not a terminal.
    """

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def report(self, stage: str, part: float) -> None:
        """Tell one report; may be called from any thread.

        Args:
            stage: what is being done, in words.
            part: the part that is done, in [0, 1].
        """
        if sys.stderr.isatty():
            self._draw(stage, part)
        else:
            say_stage(stage, part)

    def _draw(self, stage: str, part: float) -> None:
        if self._task is None:
            self._task = self._progress.add_task(stage, total=1.0)
            self._progress.start()
        self._progress.update(self._task, description=stage, completed=part)
        if part >= 1.0:
            self._stop()

    def _stop(self) -> None:
        # One that was never started would write an empty line.
        if self._task is not None:
            self._progress.stop()


__all__ = ["ModelProgress", "say_stage"]
