"""Give every ending of a call a handler, so that one that is forgotten is an error before any call is made.

A type checker refuses a ``Handlers`` in which one is missing; without a type checker, making it raises.

Example::

    handlers = Handlers(committed=show, refused=tell, in_doubt=look_downstream, ...)
    handle(await client.generate_structured("local", Ticket, prompt=text), handlers)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeAlias, assert_never, cast, get_args

from typing_extensions import TypeVar

from commitgate.argument import wrong_kind
from commitgate.errors import MisuseError
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    DeadEnd,
    Disconnected,
    EffectFailed,
    Failed,
    Filtered,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)

T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A")
T_contra = TypeVar("T_contra", contravariant=True, default=object)
R_contra = TypeVar("R_contra", contravariant=True, default=object)
A_co = TypeVar("A_co", covariant=True, default=None)

EndingType: TypeAlias = "type[Committed[object, object]] | type[Failed]"
"""The class of an ending."""

ENDINGS: Mapping[str, type[object]] = MappingProxyType({each.name: each for each in (Committed, *get_args(Failed))})
"""Every ending that a call can have, by its name."""


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Handlers(Generic[T_contra, R_contra, A_co]):
    """Hold one function for each ending; all are given, and by name. Async functions are, too: await what comes back.

    Attributes:
        committed: takes a value that may be acted on.
        refused: takes a refusal of the model.
        filtered: takes an answer that a safety filter cut.
        truncated: takes an answer that a limit cut.
        cancelled: takes a call that the caller cancelled.
        timed_out: takes a call for which time ran out.
        disconnected: takes a stream that ended without proof of an end.
        unsupported: takes a contract that cannot be enforced.
        compile_failed: takes a contract that could not be compiled.
        dead_end: takes an answer after which no token was legal.
        violated: takes an answer that breaks the constraint.
        invalid: takes an answer that a layer refused.
        needs_approval: takes a value about which a person must decide.
        effect_failed: takes an effect that did not happen.
        in_doubt: takes an effect of which nobody knows whether it happened.
        unavailable: takes a backend that failed.

    Raises:
        MisuseError: one is missing, unknown or no function.
    """

    committed: Callable[[Committed[T_contra, R_contra]], A_co]
    refused: Callable[[Refused], A_co]
    filtered: Callable[[Filtered], A_co]
    truncated: Callable[[Truncated], A_co]
    cancelled: Callable[[Cancelled], A_co]
    timed_out: Callable[[TimedOut], A_co]
    disconnected: Callable[[Disconnected], A_co]
    unsupported: Callable[[Unsupported], A_co]
    compile_failed: Callable[[CompileFailed], A_co]
    dead_end: Callable[[DeadEnd], A_co]
    violated: Callable[[Violated], A_co]
    invalid: Callable[[Invalid], A_co]
    needs_approval: Callable[[NeedsApproval], A_co]
    effect_failed: Callable[[EffectFailed], A_co]
    in_doubt: Callable[[InDoubt], A_co]
    unavailable: Callable[[Unavailable], A_co]

    if not TYPE_CHECKING:
        # Python's own TypeError for a missing argument would not say what the handlers are for. A type checker reads
        # the fields.
        def __new__(cls, *given: object, **handlers: object) -> Handlers[object, object, object]:
            _check(given, handlers)
            return super().__new__(cls)

        def __reduce__(self) -> tuple[object, ...]:
            return _rebuilt, (type(self), {entry.name: getattr(self, entry.name) for entry in fields(self)})


def handle(outcome: Outcome[T, R], handlers: Handlers[T, R, A]) -> A:
    """Hand an outcome to the handler of its ending, and return what that returns.

    Raises:
        MisuseError: it is no outcome.
    """
    match outcome:
        case Committed():
            return handlers.committed(outcome)
        case Refused():
            return handlers.refused(outcome)
        case Filtered():
            return handlers.filtered(outcome)
        case Truncated():
            return handlers.truncated(outcome)
        case Cancelled():
            return handlers.cancelled(outcome)
        case TimedOut():
            return handlers.timed_out(outcome)
        case Disconnected():
            return handlers.disconnected(outcome)
        case Unsupported():
            return handlers.unsupported(outcome)
        case CompileFailed():
            return handlers.compile_failed(outcome)
        case DeadEnd():
            return handlers.dead_end(outcome)
        case Violated():
            return handlers.violated(outcome)
        case Invalid():
            return handlers.invalid(outcome)
        case NeedsApproval():
            return handlers.needs_approval(outcome)
        case EffectFailed():
            return handlers.effect_failed(outcome)
        case InDoubt():
            return handlers.in_doubt(outcome)
        case Unavailable():
            return handlers.unavailable(outcome)
        case _ if TYPE_CHECKING:
            assert_never(outcome)
        case _:
            raise wrong_kind("outcome", "an outcome of a call", outcome)


def _check(given: tuple[object, ...], handlers: Mapping[str, object]) -> None:
    """Check that every ending has a handler.

    Raises:
        MisuseError: one has not.
    """
    if given:
        raise MisuseError("Handlers takes each handler by the name of its ending, as refused=...")
    missing = [name for name in ENDINGS if name not in handlers]
    if missing:
        raise MisuseError(f"Handlers must have one handler for each ending; missing: {', '.join(missing)}")
    unknown = sorted(set(handlers) - set(ENDINGS))
    if unknown:
        raise MisuseError(f"Handlers has handlers for no ending: {', '.join(unknown)}; known are {', '.join(ENDINGS)}")
    for name, handler in handlers.items():
        if not callable(handler):
            raise wrong_kind(name, "a function of the ending", handler)


def _rebuilt(kind: type[Handlers[object, object, object]], handlers: Mapping[str, object]) -> object:
    return cast("Callable[..., object]", kind)(**handlers)


__all__ = ["ENDINGS", "EndingType", "Handlers", "handle"]
