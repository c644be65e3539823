"""Take a call that has an operation key along the ledger: claim, choose or resume, commit, propose or release.

A key that is settled is replayed. One whose value was chosen by a call that did not come to its end is resumed with
that value; the model is not asked again. Resuming asks again whatever may have changed by itself: an approved value is
judged by all checks, and of an effect that was started it is asked whether this caller may have it done. A no there
leaves the effect in doubt, because nobody knows how far the other call came.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import anyio
from anyio.abc import TaskGroup

from commitgate.contract import Contract
from commitgate.errors import InProgressError, LeaseLostError
from commitgate.finding import Applied, NotApplied
from commitgate.gate.judge import Chosen
from commitgate.gate.layers import Failure, Layer
from commitgate.ledger.operation import Operation
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.verdict import Doubt, Forbidden, Rejected, Replay, Waiting, standing_of
from commitgate.outcome import (
    Committed,
    EffectFailed,
    Failed,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Receipt,
    TimedOut,
)
from commitgate.retry.keys import (
    OperationKey,
    effect_key,
    given_fingerprint,
    messages_fingerprint,
    operation_key_digest,
)
from commitgate.run.facts import Facts
from commitgate.run.order import Order
from commitgate.run.receipt_json import dump_receipt
from commitgate.run.reconciling import reconciled
from commitgate.run.replay import read_receipt, read_value
from commitgate.run.scrutiny import Scrutiny

if TYPE_CHECKING:
    from commitgate.ledger.base import Ledger

T = TypeVar("T")
R = TypeVar("R")

REJECTED_BY_PERSON = "rejected_by_person"
"""Code of a value that a person forbade."""

APPROVAL_EXPIRED = "approval_expired"
"""Code of a value about which nobody decided in time, or of an approval of which nobody made use."""

FIRST_LOOK_S = 0.05
"""First wait for another call that holds the key; each further one is twice as long."""

LONGEST_LOOK_S = 2.0
"""Longest wait between two looks at a key that another call holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyed(Generic[T, R]):
    """Run one call under its operation key.

    Args:
        order: what to do.
        key: its operation key.
        contract: what the value must satisfy.
        facts: where to note what is learnt.
        scrutiny: asks the call's checks about a stored value.
        ledger: where the operation is kept.
        task_group: the client's, for the task that keeps the ledger's row.
        lease_s: seconds that the claim outlives a killed process.
        ends_at: time by the event loop's clock at which the call ends; infinite for never.
        choose: asks for the value.
        timed_out: makes the ending of a call whose time is over.
    """

    order: Order[T, R]
    key: OperationKey
    contract: Contract[T]
    facts: Facts
    scrutiny: Scrutiny[T]
    ledger: Ledger
    task_group: TaskGroup
    lease_s: float
    ends_at: float
    choose: Callable[[], Awaitable[Chosen[T] | Failed]]
    timed_out: Callable[[], TimedOut]

    async def run(self) -> Outcome[T, R]:
        """Run it.

        Raises:
            LedgerError: the key conflicts, is in progress and not waited for, or the ledger cannot be used.
        """
        effect = self.order.effect
        self.facts.operation_key_digest = operation_key_digest(self.key)
        if effect is not None:
            self.facts.effect_key = effect_key(self.key, effect.name, effect.version)
        look_s = FIRST_LOOK_S
        while True:
            try:
                return await self._try()
            except InProgressError as error:
                if self.order.in_progress == "raise":
                    raise
                wait_s = min(look_s, error.lease_remaining_s) or FIRST_LOOK_S
            if anyio.current_time() + wait_s >= self.ends_at:
                await anyio.sleep_until(self.ends_at)
                return self.timed_out()
            await anyio.sleep(wait_s)
            look_s = min(2 * look_s, LONGEST_LOOK_S)

    async def _try(self) -> Outcome[T, R]:
        generating = anyio.CancelScope()
        operation = Operation(
            self.ledger,
            self.task_group,
            self.key,
            self._fingerprint(),
            self.order.effect,
            owner=secrets.token_hex(16),
            on_lease_lost=generating.cancel,
            lease_s=self.lease_s,
        )
        async with operation:
            if operation.replay is not None:
                return await self._replayed(operation.replay)
            with generating:
                if operation.resumed is not None:
                    return await self._resume(operation, operation.resumed)
                return await self._settle(operation, await self.choose())
            raise LeaseLostError("this call's claim was lost while it generated; its value was not committed")

    def _fingerprint(self) -> Fingerprint:
        order = self.order
        return Fingerprint(
            language_digest=self.contract.language_digest,
            effect_name=None if order.effect is None else order.effect.name,
            effect_version=None if order.effect is None else order.effect.version,
            input_fingerprint=self._input_digest(),
        )

    def _input_digest(self) -> str:
        if self.order.input_digest is not None:
            return self.order.input_digest
        if self.order.input_fingerprint is not None:
            return given_fingerprint(self.order.input_fingerprint)
        return messages_fingerprint(self.order.conversation.asked(self.contract))

    async def _settle(self, operation: Operation[T, R], chosen: Chosen[T] | Failed) -> Outcome[T, R]:
        if isinstance(chosen, Chosen):
            # The effect gets an instance of its own: what it changes there is neither handed on nor replayed.
            own = read_value(self.contract, chosen.value_json, self.facts.value_digest)
            return await self._commit(operation, own.value, chosen, self.facts.receipt())
        proposed = self.facts.proposed
        if isinstance(chosen, NeedsApproval) and proposed is not None:
            await operation.propose(
                value_json=proposed,
                receipt_json=dump_receipt(self.facts.receipt()),
                reason=chosen.reason,
                expires_s=self.order.approval_expires_s,
            )
        else:
            await operation.release(chosen.name)
        return chosen

    async def _resume(self, operation: Operation[T, R], stored: Record) -> Outcome[T, R]:
        receipt = read_receipt(stored.receipt, otherwise=self.facts.receipt())
        chosen = read_value(self.contract, stored.value, receipt.value_digest)
        was_started = stored.state is State.EFFECT_STARTED
        denied = await self._denied(chosen.value, is_approved=not was_started)
        if isinstance(denied, TimedOut):
            await operation.release(denied.name)
            return denied
        if denied is None:
            own = read_value(self.contract, stored.value, receipt.value_digest)
            return await self._commit(operation, own.value, chosen, receipt, receipt_json=stored.receipt)
        if not was_started:
            await operation.release(denied.name)
            return denied
        reason = "the effect was started by a call that did not come to its end, and this caller may not have it done"
        await operation.put_in_doubt(reason)
        return InDoubt(reason=reason, receipt=receipt)

    async def _commit(
        self,
        operation: Operation[T, R],
        own: T,
        chosen: Chosen[T],
        receipt: Receipt,
        *,
        receipt_json: bytes | None = None,
    ) -> Outcome[T, R]:
        remaining_s = self.ends_at - anyio.current_time()
        if remaining_s <= 0:
            timed_out = self.timed_out()
            await operation.release(timed_out.name)
            return timed_out
        verdict = await operation.commit(
            own,
            value_json=chosen.value_json,
            receipt_json=dump_receipt(receipt) if receipt_json is None else receipt_json,
            timeout_s=None if remaining_s == inf else remaining_s,
        )
        text = self.facts.text or chosen.value_json.decode()
        if isinstance(verdict, Applied):
            result = cast(R, verdict.result)
            return Committed(value=chosen.value, result=result, text=text, receipt=receipt)
        return replace(ending_of(verdict), receipt=receipt, partial_text=text)

    async def _replayed(self, replay: Replay[R]) -> Outcome[T, R]:
        record, standing = replay.record, replay.standing
        effect = self.order.effect
        if isinstance(standing, Doubt) and effect is not None and effect.reconcile is not None:
            record = await reconciled(self.ledger, effect, record, by="reconcile")
            standing = standing_of(record, effect)
        receipt = read_receipt(record.receipt, otherwise=self.facts.receipt())
        if not isinstance(standing, Applied):
            # The value is not needed, so one that cannot be loaded must not hide what the ledger says.
            return replace(ending_of(standing), receipt=receipt)
        chosen = read_value(self.contract, record.value, receipt.value_digest)
        denied = await self._denied(chosen.value)
        if denied is not None:
            return denied
        text = chosen.value_json.decode()
        result = cast(R, standing.result)
        return Committed(value=chosen.value, result=result, is_replayed=True, text=text, receipt=receipt)

    async def _denied(self, value: T, *, is_approved: bool = False) -> Invalid | TimedOut | None:
        """Ask in time whether the principal may have a stored value; of an approved one also all other checks."""
        with anyio.move_on_at(self.ends_at):
            if is_approved:
                return await self.scrutiny.reconsider(value)
            return await self.scrutiny.authorize(value, is_replay=True)
        return self.timed_out()


def ending_of(standing: Rejected | Doubt | Waiting | Forbidden | NotApplied) -> Failed:
    """Return the ending of a key that hands over no value; its receipt is empty."""
    match standing:
        case Rejected(reason, error):
            return EffectFailed(reason=reason, cause=error, receipt=Receipt())
        case Doubt(reason, error):
            return InDoubt(reason=reason, cause=error, receipt=Receipt())
        case Waiting(reason):
            return NeedsApproval(reason=reason, receipt=Receipt())
        case Forbidden(is_expired):
            return Invalid(layer=Layer.AUTHORIZE, failures=(_forbidden(is_expired),), receipt=Receipt())
        case NotApplied():
            reason = (
                "it was in doubt, and it was found out that the effect did not happen; use another key to have it done"
            )
            return EffectFailed(reason=reason, receipt=Receipt())


def _forbidden(is_expired: bool) -> Failure:
    code, message = (
        (APPROVAL_EXPIRED, "nobody decided in time; ask again under another key")
        if is_expired
        else (REJECTED_BY_PERSON, "a person rejected it")
    )
    return Failure(layer=Layer.AUTHORIZE, code=code, pointer="", message=message, retryable=False)


__all__ = ["APPROVAL_EXPIRED", "REJECTED_BY_PERSON", "Keyed", "ending_of"]
