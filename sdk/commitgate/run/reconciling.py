"""Ask a caller's function what became of an effect that is in doubt, and write its finding down."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

from commitgate.effect import Effect
from commitgate.errors import IllegalTransitionError, MisuseError
from commitgate.finding import Applied, NotApplied, Unknown
from commitgate.ledger.record import Record, State
from commitgate.ledger.states import check_fingerprint
from commitgate.ledger.steps import Finding
from commitgate.ledger.verdict import doubt_reason
from commitgate.retry.keys import OperationKey, effect_key
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from commitgate.ledger.base import Ledger

T = TypeVar("T")
R = TypeVar("R")

NOT_APPLIED_REASON = "the effect was found not to have happened"


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a finding as the ledger takes it.

    Attributes:
        finding: what was found out.
        result: the effect's result as JSON, where it was applied.
        reason: why, for a row that is not committed.
    """

    finding: Finding
    result: bytes | None = field(default=None, repr=False)
    reason: str = ""


async def look(effect: Effect[T, R], record: Record) -> Found:
    """Ask an effect's own function what became of it.

    Args:
        effect: has a ``reconcile`` function.
        record: the row in doubt.

    Raises:
        MisuseError: the function returned something else than a finding, or a result that has no JSON form.
        Exception: what the function raised.
    """
    function = effect.reconcile
    assert function is not None, "the effect can be looked for"
    key = effect_key(record.key, effect.name, effect.version)
    # Its looking may block: it is asked beside the event loop, unless it says that it is async.
    is_async = inspect.iscoroutinefunction(function)
    found = function(key, record) if is_async else await run_in_thread(lambda: function(key, record))
    if inspect.isawaitable(found):
        found = await cast("Awaitable[object]", found)
    match found:
        case Applied():
            return Found(Finding.APPLIED, _dumped(effect, cast("Applied[R]", found).result))
        case NotApplied():
            return Found(Finding.NOT_APPLIED, reason=NOT_APPLIED_REASON)
        case Unknown():
            return Found(Finding.UNKNOWN, reason=doubt_reason(record))
        case _:
            raise MisuseError(
                f"reconcile of the effect {effect.name} returned {type(found).__name__}; return Applied(result), "
                "NotApplied() or Unknown()"
            )


def _dumped(effect: Effect[T, R], result: R) -> bytes:
    try:
        return effect.dump(result)
    except ValueError as error:
        raise MisuseError(f"reconcile of the effect {effect.name} found that it was applied, but {error}") from error


async def write_finding(ledger: Ledger, record: Record, found: Found, *, by: str) -> Record:
    """Write down what was found, and return the row.

    Args:
        ledger: where the row is.
        record: the row that was looked at.
        found: what was found.
        by: who had it looked at.

    Raises:
        LeaseLostError: the row was taken over meanwhile.
        IllegalTransitionError: it was settled meanwhile.
        InProgressError: the effect is running.
    """
    return await ledger.reconcile(
        record.key, record.fence, by=by, finding=found.finding, result=found.result, reason=found.reason
    )


async def reconcile_key(ledger: Ledger, key: OperationKey, effect: Effect[T, R], *, by: str) -> Record:
    """Have the effect in doubt under a key looked for; see ``look`` and ``write_finding``.

    Raises:
        KeyConflictError: the row belongs to another effect.
        IllegalTransitionError: nothing is in doubt under this key.
    """
    if effect.reconcile is None:
        raise MisuseError(
            f"the effect {effect.name} cannot be looked for: mark it with reconcile=; what a person found out is "
            "written down by 'commitgate ledger reconcile' or the ledger's own reconcile"
        )
    record = await ledger.read(key)
    if record is None or record.state not in (State.IN_DOUBT, State.EFFECT_STARTED):
        state = None if record is None else record.state
        found = "it was never claimed" if state is None else f"it is {state}"
        raise IllegalTransitionError(f"nothing is in doubt under this key: {found}", state=state, step="Reconcile")
    check_fingerprint(
        record.fingerprint, replace(record.fingerprint, effect_name=effect.name, effect_version=effect.version)
    )
    return await write_finding(ledger, record, await look(effect, record), by=by)


__all__ = ["NOT_APPLIED_REASON", "Found", "look", "reconcile_key", "write_finding"]
