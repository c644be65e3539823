"""Ask one function of the caller's about a value, and tell a fault of the function from its answer.

A check is the caller's code and may do anything: raise, return what no check may, keep a cancellation that came out of
a task of its own. None of that is a verdict on the value. It is reported as a failure with the code of its kind;
asking the model again cannot help, and nothing is committed. A cancellation that was asked for always goes on.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Protocol, TypeVar

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.gate.layers import Failure, Layer

R = TypeVar("R")

NOT_COPYABLE = "not_copyable"
"""Code of a value of which no check could be given a copy of its own."""


class RunBlocking(Protocol):
    """Run a function that may block, off the event loop."""

    def __call__(self, function: Callable[[], R], /) -> Awaitable[R]:
        """Return what the function returns."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Say what sort of function is asked.

    Attributes:
        layer: the layer whose verdict it helps to give.
        word: what to call it in messages.
        error_code: code of one that broke.
        returns: what it may return, in words.
    """

    layer: Layer
    word: str
    error_code: str
    returns: str


async def run_here(function: Callable[[], R], /) -> R:
    """Run a function on the event loop itself."""
    return function()


async def ask(
    function: Callable[..., object],
    value: object,
    *others: object,
    kind: Kind,
    read: Callable[[object], tuple[R, ...] | None],
    run: RunBlocking = run_here,
    copies: bool = True,
) -> tuple[R, ...] | Failure:
    """Ask a function, sync or async, about a copy of the value.

    Args:
        function: takes the value and ``others``.
        value: it; the function gets a copy of its own: what it does to it changes nothing elsewhere.
        others: handed over as they are.
        kind: what sort of function it is.
        read: makes the answer out of what was returned; None where nothing of that sort may be returned.
        run: runs the function, and ``read`` after it, unless it is async.
        copies: False hands over the value itself, to a function that is known to leave it as it is.
    """
    try:
        own = deepcopy(value) if copies else value
    except Exception as error:  # noqa: BLE001 - copying runs code of the caller's classes, which may raise anything
        message = f"the value cannot be copied for a {kind.word} ({type(error).__name__}); give the type plainer fields"
        return Failure(layer=kind.layer, code=NOT_COPYABLE, pointer="", message=message, retryable=False)

    def call() -> tuple[object, tuple[R, ...] | None]:
        # An iterator that was returned runs the caller's code too, so it is read where that may block.
        returned = function(own, *others)
        return returned, None if inspect.isawaitable(returned) else read(returned)

    try:
        returned, answer = call() if _is_async(function) else await run(call)
        if inspect.isawaitable(returned):
            returned = await returned
            # A future can be iterated too: one that came out of a forgotten await must not read as an empty answer.
            answer = None if inspect.isawaitable(returned) else read(returned)
    except BaseException as error:
        # A check may raise anything, as one does that awaits an own task which was cancelled.
        is_stray = is_cancellation(error) and not must_go_on(error)
        if not isinstance(error, Exception) and not is_stray:
            raise
        return _broken(function, kind, f"raised {type(error).__name__}", error)
    if answer is None:
        return _broken(function, kind, f"returned {type(returned).__name__}, but must return {kind.returns}")
    return answer


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - the method is looked at, not called


def _broken(function: Callable[..., object], kind: Kind, what: str, cause: BaseException | None = None) -> Failure:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    message = f"the {kind.word} {name} {what}; correct the {kind.word}"
    return Failure(layer=kind.layer, code=kind.error_code, pointer="", message=message, retryable=False, cause=cause)


__all__ = ["NOT_COPYABLE", "Kind", "RunBlocking", "ask", "run_here"]
