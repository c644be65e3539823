"""Name the three ways in which an operation that chose its value can stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeAlias

from typing_extensions import TypeVar

from commitgate.ledger.record import Record

R_co = TypeVar("R_co", covariant=True, default=object)


@dataclass(frozen=True, slots=True)
class Applied(Generic[R_co]):
    """Say that the value stands: its effect, if any, ran and was recorded.

    Attributes:
        result: what the effect returned, as read back from its JSON; None without an effect.
    """

    result: R_co | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Say that the effect declined cleanly: nothing happened.

    Attributes:
        reason: what the effect said.
    """

    reason: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Doubt:
    """Say that it is unknown whether the effect happened, or that what it returned could not be kept.

    Attributes:
        reason: what went wrong, without payload.
        error: what was raised, where something was.
    """

    reason: str
    error: BaseException | None = field(default=None, repr=False, compare=False)


Verdict: TypeAlias = Applied[R_co] | Rejected | Doubt


@dataclass(frozen=True, slots=True)
class Replay(Generic[R_co]):
    """Hand over what the key already stands for; the model must not be asked.

    Attributes:
        verdict: how the operation went.
        record: the row, with the value and the receipt as stored.
    """

    verdict: Verdict[R_co]
    record: Record


__all__ = ["Applied", "Doubt", "Rejected", "Replay", "Verdict"]
