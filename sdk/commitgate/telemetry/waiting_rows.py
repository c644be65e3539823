"""Look at what waits in a ledger for somebody, so that an alert can fire: effects in doubt, values to be approved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Never

import anyio

from commitgate.argument import check_finite
from commitgate.errors import LedgerError, MisuseError
from commitgate.ledger.record import Record, State

if TYPE_CHECKING:
    from commitgate.ledger import Ledger

MAX_COUNTED_ROWS = 100
"""Most rows that are counted of each state: a look reads whole rows, with their values, and an alert needs no more."""

LOOK_EVERY_S: Final = 60.0
"""Seconds between two looks at a ledger."""

STRANDED: Final = "stranded"
"""An effect whose call's lease has ended before the effect did: in doubt, although its row does not say so yet."""

WAITING: Final = (str(State.IN_DOUBT), STRANDED, str(State.AWAITING_APPROVAL))
"""What is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Count the rows that wait for one thing.

    Attributes:
        rows: how many; ``MAX_COUNTED_ROWS`` stands for that many or more.
        oldest_s: seconds since the one that waits longest last changed; 0 where none waits.
    """

    rows: int = 0
    oldest_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerStanding:
    """Say what waits in a ledger.

    Attributes:
        is_readable: it could be read; nothing is known where it could not.
        waiting: by what is waited for: ``in_doubt``, ``stranded``, ``awaiting_approval``.
    """

    is_readable: bool
    waiting: Mapping[str, Waiting] = field(default_factory=dict[str, Waiting])


async def ledger_standing(ledger: Ledger) -> LedgerStanding:
    """Return what waits in a ledger now. Nothing is written, and a ledger that cannot be read is said to be so."""
    try:
        now = await ledger.now()
        found = {
            str(State.IN_DOUBT): await _oldest(ledger, State.IN_DOUBT),
            STRANDED: tuple(row for row in await _oldest(ledger, State.EFFECT_STARTED) if _is_over(row, now)),
            str(State.AWAITING_APPROVAL): await _oldest(ledger, State.AWAITING_APPROVAL),
        }
    except LedgerError:
        return LedgerStanding(is_readable=False)
    return LedgerStanding(is_readable=True, waiting={name: _waiting(rows, now) for name, rows in found.items()})


async def watch_ledger(
    ledger: Ledger, tell: Callable[[LedgerStanding], None], *, every_s: float = LOOK_EVERY_S
) -> Never:
    """Look at a ledger again and again, until cancelled: start it in a task group of the program.

    Args:
        ledger: which.
        tell: takes what was found, as an observer's ``ledger_seen`` does.
        every_s: seconds between two looks, > 0.

    Raises:
        MisuseError: ``every_s`` is out of range.
    """
    wanted = "a number of seconds > 0"
    check_finite("every_s", every_s, wanted)
    if every_s <= 0:
        raise MisuseError(f"every_s must be {wanted}, found {every_s!r}")
    while True:
        tell(await ledger_standing(ledger))
        await anyio.sleep(every_s)


async def _oldest(ledger: Ledger, state: State) -> tuple[Record, ...]:
    return await ledger.list(states={state}, limit=MAX_COUNTED_ROWS, is_oldest_first=True)


def _is_over(row: Record, now: float) -> bool:
    return row.lease_expires_at is None or row.lease_expires_at <= now


def _waiting(rows: tuple[Record, ...], now: float) -> Waiting:
    oldest = min((row.updated_at for row in rows), default=now)
    return Waiting(rows=len(rows), oldest_s=max(0.0, now - oldest))


__all__ = [
    "LOOK_EVERY_S",
    "MAX_COUNTED_ROWS",
    "STRANDED",
    "WAITING",
    "LedgerStanding",
    "Waiting",
    "ledger_standing",
    "watch_ledger",
]
