"""Run functions of the caller's, sync or async, within a time, so that none of them ends or holds up a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.effect import is_async
from commitgate.errors import CommitgateError, MisuseError
from commitgate.evaluation.content import Raised
from commitgate.evaluation.record import ErrorPlace
from commitgate.worker_thread import run_in_thread


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerCode:
    """Run the functions of one suite.

    Attributes:
        limit_s: seconds for each; one that takes longer counts as raising ``TimeoutError``.
    """

    limit_s: float

    async def ask(self, function: Callable[..., object], *given: object, at: ErrorPlace) -> object | Raised:
        """Return what a function returns; ``Raised`` where it raises anything but a cancellation that was asked for.

        Args:
            function: sync, which is run in a worker thread, or async.
            given: its arguments.
            at: what to call it in a record.
        """
        try:
            with anyio.fail_after(self.limit_s):
                return await answer(function, *given)
        except BaseException as error:
            is_stray = is_cancellation(error) and not must_go_on(error)
            if not isinstance(error, Exception) and not is_stray:
                raise
            return raised_of(error, at)


def raised_of(error: BaseException, at: ErrorPlace) -> Raised:
    """Return what is told of an exception: its type, and of one of this library's own what it says."""
    words = str(error) if isinstance(error, CommitgateError) else ""
    return Raised(type(error).__qualname__, at, words)


async def answer(function: Callable[..., object], *given: object) -> object:
    """Return what a function returns, sync or async."""
    returned = function(*given) if is_async(function) else await run_in_thread(lambda: function(*given))
    return await returned if inspect.isawaitable(returned) else returned


def checked_score(score: object) -> float:
    """Return a scorer's score.

    Raises:
        MisuseError: it is no number in [0, 1].
    """
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise MisuseError(f"a scorer must return a number in [0, 1], found {type(score).__name__}")
    return float(score)


__all__ = ["CallerCode", "answer", "checked_score", "raised_of"]
