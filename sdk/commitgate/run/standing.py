"""Tell from the ledger alone what an operation key stands for; nothing is asked, run or written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from commitgate.contract import Contract
from commitgate.json_value import JsonValue
from commitgate.ledger.record import LEASED, Record, State
from commitgate.ledger.states import LEASE_ENDED_REASON, in_progress, is_expired
from commitgate.ledger.verdict import Applied, Standing, Waiting, standing_of, stored_result
from commitgate.outcome import Committed, InDoubt, Invalid, NeedsApproval, Outcome, Receipt
from commitgate.run.ending import ending_of, forbidden
from commitgate.run.replay import read_receipt, read_value_aside

if TYPE_CHECKING:
    from commitgate.run.scrutiny import Scrutiny

T = TypeVar("T")

NOT_USED_YET = "a person approved it; make the call again with the same key to have it done"
"""Reason of an approval of which nobody has made use yet."""


async def outcome_of(
    record: Record | None,
    contract: Contract[T],
    scrutiny: Scrutiny[T],
    *,
    now: float,
) -> Outcome[T, JsonValue] | None:
    """Return how a key's operation ended; None where no value was ever chosen under it.

    Args:
        record: its row.
        contract: what the value is read as.
        scrutiny: asks whether the principal may have it.
        now: the ledger's time, by which leases run.

    Raises:
        InProgressError: a call is at it.
        StoredValueError: the stored value or result cannot be read.
    """
    if record is None or record.state is State.RELEASED:
        return None
    receipt = read_receipt(record.receipt, otherwise=Receipt())
    if record.state in LEASED:
        return _unsettled(record, receipt, now)
    standing: Standing[object] = standing_of(record, None)
    if isinstance(standing, Waiting) and is_expired(record, now):
        return replace(forbidden(is_expired=True), receipt=receipt)
    if not isinstance(standing, Applied | Waiting):
        return replace(ending_of(standing), receipt=receipt)
    is_committed = isinstance(standing, Applied)
    chosen = await read_value_aside(contract, record.value, receipt.value_digest, is_committed=is_committed)
    denied = await scrutiny.authorize(chosen.value, is_replay=True)
    if denied is not None:
        return denied
    if isinstance(standing, Waiting):
        return replace(ending_of(standing), receipt=receipt, partial_text=chosen.value_json.decode())
    return Committed(
        value=chosen.value,
        result=_result(record),
        is_replayed=True,
        text=chosen.value_json.decode(),
        receipt=receipt,
    )


def rejected(record: Record) -> Invalid:
    """Return the ending of a row that a person rejected."""
    ending = ending_of(standing_of(record, None))  # pyright: ignore[reportArgumentType] - a rejected row hands over no value
    assert isinstance(ending, Invalid), "a rejected row ends as Invalid"
    return replace(ending, receipt=read_receipt(record.receipt, otherwise=Receipt()))


def _unsettled(record: Record, receipt: Receipt, now: float) -> InDoubt | NeedsApproval | Invalid | None:
    left_s = 0.0 if record.lease_expires_at is None else record.lease_expires_at - now
    if left_s > 0:
        raise in_progress(left_s)
    if record.state is State.EFFECT_STARTED:
        return InDoubt(reason=LEASE_ENDED_REASON, receipt=receipt)
    if record.state is not State.APPROVED:
        return None
    if is_expired(record, now):
        return replace(forbidden(is_expired=True), receipt=receipt)
    return NeedsApproval(reason=NOT_USED_YET, receipt=receipt)


def _result(record: Record) -> JsonValue:
    if record.result is None and record.fingerprint.effect_name is None:
        return None
    return cast(JsonValue, stored_result(json.loads, record.result))


__all__ = ["NOT_USED_YET", "outcome_of", "rejected"]
