"""Name the ways in which an operation that chose its value can stand, and read them off a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from typing_extensions import TypeVar as DefaultTypeVar

from commitgate.effect import Effect
from commitgate.errors import StoredValueError
from commitgate.finding import BY_CALL, Applied, NotApplied
from commitgate.ledger.record import Record, State

T = TypeVar("T")
R = TypeVar("R")
R_co = DefaultTypeVar("R_co", covariant=True, default=object)

UNKNOWN_REASON = "nobody can know yet whether the effect happened"


@dataclass(frozen=True, slots=True)
class Rejected:
    """Say that the effect declined cleanly: nothing happened.

    Attributes:
        reason: what the effect said.
        error: what else it raised than ``EffectRejected``, where its transaction was rolled back for that.
    """

    reason: str = field(repr=False)
    error: BaseException | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Say that it is unknown whether the effect happened, or that what it returned could not be kept.

    Attributes:
        reason: what went wrong, without payload.
        error: what was raised, where something was.
    """

    reason: str
    error: BaseException | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Say that a person must decide.

    Attributes:
        reason: why.
    """

    reason: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Say that a person forbade it, or that nobody decided in time: nothing happened.

    Attributes:
        is_expired: nobody decided in time.
    """

    is_expired: bool


Verdict: TypeAlias = Applied[R_co | None] | Rejected | Doubt
"""How a commit can end."""

Standing: TypeAlias = Verdict[R_co] | Waiting | Forbidden | NotApplied
"""How a key can stand that is not in progress."""


@dataclass(frozen=True, slots=True)
class Replay(Generic[R_co]):
    """Hand over what the key already stands for; the model must not be asked.

    Attributes:
        standing: how the operation went.
        record: the row, with the value and the receipt as stored.
    """

    standing: Standing[R_co]
    record: Record


def standing_of(record: Record, effect: Effect[T, R] | None) -> Standing[R]:
    """Return how a row's operation stands.

    Args:
        record: a row that is settled.
        effect: reads the result; None where there is no effect.

    Raises:
        StoredValueError: the result cannot be read.
    """
    reason = record.reason or ""
    match record.state:
        case State.COMMITTED:
            return Applied(None if effect is None else stored_result(effect.load, record.result))
        case State.FAILED_BEFORE_EFFECT:
            return Rejected(reason)
        case State.AWAITING_APPROVAL:
            return Waiting(reason)
        case State.REJECTED:
            return Forbidden(is_expired=record.decided_by is None)
        case State.NOT_APPLIED:
            return NotApplied()
        case State.IN_DOUBT:
            return Doubt(doubt_reason(record))
        case State.CLAIMED | State.APPROVED | State.EFFECT_STARTED | State.RELEASED:
            raise AssertionError(f"a row in state {record.state} does not settle its key")


def doubt_reason(record: Record) -> str:
    """Return why a row is in doubt, in the library's own words: those of a person may hold anything."""
    is_own = record.decided_by in (None, BY_CALL)
    return (record.reason if is_own else None) or UNKNOWN_REASON


def stored_result(load: Callable[[bytes], R], stored: bytes | None) -> R:
    """Read the result of an effect that has run.

    Args:
        load: reads it: ``Effect.load``, or what reads plain JSON.
        stored: it, as the row holds it.

    Raises:
        StoredValueError: it is missing or cannot be read.
    """
    told = "the key's effect has run, but what it returned"
    if stored is None:
        raise StoredValueError(f"{told} is missing from the ledger's row; restore the ledger from a copy")
    try:
        return load(stored)
    except (ValueError, RecursionError) as error:
        raise StoredValueError(f"{told} cannot be read from the ledger's row; restore it from a copy") from error


__all__ = [
    "UNKNOWN_REASON",
    "Applied",
    "Doubt",
    "Forbidden",
    "NotApplied",
    "Rejected",
    "Replay",
    "Standing",
    "Verdict",
    "Waiting",
    "doubt_reason",
    "standing_of",
    "stored_result",
]
