"""Name the three things that looking downstream can find out about an effect that is in doubt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeAlias

from typing_extensions import TypeVar

R_co = TypeVar("R_co", covariant=True, default=object)

BY_CALL = "reconcile"
"""Who the ledger says looked downstream, where a call or program did and names nobody."""


@dataclass(frozen=True, slots=True)
class Applied(Generic[R_co]):
    """Say that the effect happened.

    Attributes:
        result: what it returned, or would have returned; None without an effect.
    """

    result: R_co = field(repr=False)


@dataclass(frozen=True, slots=True)
class NotApplied:
    """Say that the effect did not happen and cannot happen any more: nothing of it is still on its way."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Say that nobody can know now whether the effect happened."""


Looked: TypeAlias = Applied[R_co] | NotApplied | Unknown
"""What a reconcile function returns."""

__all__ = ["BY_CALL", "Applied", "Looked", "NotApplied", "Unknown"]
