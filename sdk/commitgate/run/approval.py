"""Tell what waits for a person, and make the order that goes on with what one allowed."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from commitgate.argument import check_words
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.outcome import Committed, EffectFailed, InDoubt, NeedsApproval, Outcome
from commitgate.retry.keys import OperationKey
from commitgate.run.order import Order, order_of_given

if TYPE_CHECKING:
    from commitgate.effect import Effect
    from commitgate.gate.checks import Checks
    from commitgate.ledger.base import Ledger
    from commitgate.ledger.record import Record
    from commitgate.timeouts import Timeouts

T = TypeVar("T")
R = TypeVar("R")

MOST_WAITING_ORDERS = 1_024
"""Most calls of which a client keeps in mind what is to be done once a person has allowed it."""

MOST_EXPIRED = 64
"""How many times as many proposals as are wanted are looked at, where expired ones stand before them."""

MOST_PERSON_CHARACTERS = 256
"""Longest name of who decides: it is a name, not a place for payload."""

_AnyOrder: TypeAlias = "Order[object, object]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    """Show one value that waits for a person. Times are Unix times in seconds.

    Attributes:
        operation_key: names it for ``Client.approve`` and ``Client.reject``.
        reason: why a person must decide.
        value_json: the value, as JSON in UTF-8, for the person to read.
        value_digest: hexadecimal SHA-256 of ``value_json``; hand it to ``approve``, so that nothing else is allowed.
        effect_name: what is done with it once it is allowed; None where nothing is.
        proposed_at: when it was stored.
        age_s: seconds since then.
        expires_at: when it ends by itself as rejected; None for never.
    """

    operation_key: str = field(repr=False)
    reason: str = field(repr=False)
    value_json: bytes = field(repr=False)
    value_digest: str
    effect_name: str | None
    proposed_at: float
    age_s: float
    expires_at: float | None


class WaitingOrders:
    """Keep in mind what is to be done with values that wait for a person; the oldest is forgotten first."""

    def __init__(self) -> None:
        self._orders: OrderedDict[OperationKey, _AnyOrder] = OrderedDict()

    def note(self, key: OperationKey, order: Order[T, R], outcome: Outcome[object, object]) -> None:
        """Keep the order of a call whose value waits, and let go of one whose value is settled.

        An allowed value that was refused, or whose call was cut off, is still allowed: its order stays.
        """
        match outcome:
            case NeedsApproval():
                self.keep(key, order)
            case Committed() | EffectFailed() | InDoubt():
                self.forget(key)
            case _:
                pass

    def keep(self, key: OperationKey, order: Order[T, R]) -> None:
        """Keep the order of a call that ended as ``NeedsApproval``."""
        kept: object = order
        self._orders.pop(key, None)
        self._orders[key] = kept  # pyright: ignore[reportArgumentType] - what it gives is handed to its own effect alone
        if len(self._orders) > MOST_WAITING_ORDERS:
            self._orders.popitem(last=False)

    def find(self, key: OperationKey) -> _AnyOrder | None:
        """Return the order of a key; None where this client knows none."""
        return self._orders.get(key)

    def forget(self, key: OperationKey) -> None:
        """Let go of a key that does not wait any more."""
        self._orders.pop(key, None)


async def pending(ledger: Ledger, *, limit: int) -> tuple[PendingApproval, ...]:
    """Return what waits for a person, longest first, without what has expired."""
    from commitgate.ledger.record import State

    now, asked = await ledger.now(), limit
    while True:
        rows = await ledger.list(states=(State.AWAITING_APPROVAL,), limit=asked, is_oldest_first=True)
        waiting = [row for row in rows if row.expires_at is None or row.expires_at > now][:limit]
        # What has expired stays in this state until somebody asks for it: others may stand behind it.
        if len(waiting) == limit or len(rows) < asked or asked >= limit * MOST_EXPIRED:
            return tuple(_pending(row, now) for row in waiting)
        asked *= 4


def _pending(row: Record, now: float) -> PendingApproval:
    return PendingApproval(
        operation_key=row.key,
        reason=row.reason or "",
        value_json=row.value or b"",
        value_digest=row.value_digest or "",
        effect_name=row.fingerprint.effect_name,
        proposed_at=row.updated_at,
        age_s=max(0.0, now - row.updated_at),
        expires_at=row.expires_at,
    )


async def check_stored(ledger: Ledger, key: OperationKey, contract: Contract[T], effect: Effect[T, R] | None) -> None:
    """Check that what is told of a stored value is what its row says of it; whether it waits is for the ledger to say.

    Raises:
        KeyConflictError: it is for another contract or effect.
    """
    from commitgate.ledger.record import State
    from commitgate.ledger.states import check_fingerprint

    row = await ledger.read(key)
    if row is None or row.state not in (State.AWAITING_APPROVAL, State.APPROVED):
        return
    name, version = (None, None) if effect is None else (effect.name, effect.version)
    told = replace(row.fingerprint, language_digest=contract.language_digest, effect_name=name, effect_version=version)
    check_fingerprint(row.fingerprint, told, advice="give schema= and effect= as the call had them")


def order_of_stored(
    record: Record,
    contract: Contract[T],
    effect: Effect[T, R] | None,
    *,
    checks: Checks[T],
    principal: object,
    timeouts: Timeouts | None,
) -> Order[T, R]:
    """Return the order that goes on with a stored value; no model is ever asked for it."""
    order = order_of_given(
        contract,
        record.value or b"",
        effect,
        key=record.key,
        input_fingerprint="",
        principal=principal,
        timeouts=timeouts,
        in_progress="raise",
        approval_expires_s=None,
    )
    return replace(order, checks=checks, input_digest=record.fingerprint.input_fingerprint)


def going_on(order: Order[T, R], record: Record) -> Order[T, R]:
    """Return the order of an earlier call, so changed that it asks no model."""
    return replace(order, given=record.value or b"", input_digest=record.fingerprint.input_fingerprint)


def check_person(by: object) -> None:
    """Check the name of who decides.

    Raises:
        MisuseError: it is no text, blank, or longer than ``MOST_PERSON_CHARACTERS``.
    """
    check_words("by", by)
    if len(cast(str, by)) > MOST_PERSON_CHARACTERS:
        raise MisuseError(f"by must be at most {MOST_PERSON_CHARACTERS} characters long, found {len(cast(str, by))}")


def unknown_order() -> MisuseError:
    """Return the error of an approval of which nobody said what is to be done."""
    return MisuseError(
        "this client made no call with this operation key that waits for a person: give schema= and effect= as that "
        "call had them; or record the approval with 'commitgate ledger approve', and make that call again"
    )


__all__ = [
    "MOST_EXPIRED",
    "MOST_PERSON_CHARACTERS",
    "MOST_WAITING_ORDERS",
    "PendingApproval",
    "WaitingOrders",
    "check_person",
    "check_stored",
    "going_on",
    "order_of_stored",
    "pending",
    "unknown_order",
]
