"""Say how long a call may wait, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass, fields

from commitgate.argument import check_finite
from commitgate.errors import MisuseError

DEFAULT_LEASE_S = 30.0
"""Seconds for which an operation key stays taken after its process was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Bound the waits of one call, in seconds; None sets no limit.

    They bound generating and judging. A commit that has begun is not cut off in its ledger's writes: only its effect
    is bounded, by what is left of ``total_s``, and ends in doubt past it; a transactional one is not cut off. A scope
    of the caller's own around the call is a cancellation, never a ``TimedOut``.

    Attributes:
        pool_s: for a free connection, or a free place to decode on this machine.
        connect_s: for a connection to be made.
        first_event_s: from the start of an attempt to its first event.
        idle_s: between any two events, whatever they carry.
        progress_s: without any content; white space and counts are none, thoughts are some.
        total_s: all of the call, over all its attempts.
    """

    pool_s: float | None = 120.0
    connect_s: float | None = 30.0
    first_event_s: float | None = 120.0
    idle_s: float | None = 60.0
    progress_s: float | None = 120.0
    total_s: float | None = 600.0

    def __post_init__(self) -> None:
        for entry in fields(self):
            value: object = getattr(self, entry.name)
            if value is None:
                continue
            name, wanted = f"Timeouts.{entry.name}", "a number of seconds > 0 or None"
            check_finite(name, value, wanted)
            if isinstance(value, int | float) and value <= 0:
                raise MisuseError(f"{name} must be {wanted}, found {value!r}")


__all__ = ["DEFAULT_LEASE_S", "Timeouts"]
