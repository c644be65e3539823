"""Take a call that has an operation key along the ledger: claim, choose or resume, commit, propose or release.

A key that is settled is replayed. One whose value was chosen by a call that did not come to its end is resumed with
that value; the model is not asked again. Resuming asks again whatever may have changed by itself: an approved value is
judged by all checks, and of an effect that was started it is asked whether this caller may have it done. A no there
leaves the effect in doubt, because nobody knows how far the other call came.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import anyio
from anyio.abc import TaskGroup

from commitgate.cancellation import is_interrupt, must_go_on
from commitgate.contract import Contract
from commitgate.effect import Effect
from commitgate.errors import IllegalTransitionError, InProgressError, LeaseLostError, MisuseError
from commitgate.finding import BY_CALL, Applied
from commitgate.gate.judge import Chosen
from commitgate.ledger.operation import Operation
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.verdict import Doubt, Replay, Waiting, doubt_reason, standing_of
from commitgate.outcome import (
    Committed,
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
from commitgate.run.ending import ending_of
from commitgate.run.facts import Facts
from commitgate.run.order import Order
from commitgate.run.receipt_json import dump_receipt
from commitgate.run.reconciling import Found, look, write_finding
from commitgate.run.replay import read_receipt, read_value_aside
from commitgate.run.scrutiny import Scrutiny

if TYPE_CHECKING:
    from commitgate.ledger.base import Ledger

T = TypeVar("T")
R = TypeVar("R")
X = TypeVar("X")

FIRST_LOOK_S = 0.05
"""First wait for another call that holds the key; each further one is twice as long."""

LONGEST_LOOK_S = 2.0
"""Longest wait between two looks at a key that another call holds."""

TAKEN_OVER_DENIED = (
    "the effect was started by a call that did not come to its end, and this caller may not have it done"
)
"""Reason of a doubt that a call found and must leave as it is."""

TAKEN_OVER_LATE = (
    "the effect was started by a call that did not come to its end, and this call had no time left to run it again; "
    "call again with the same key"
)
"""Reason of a doubt that a call found too late."""


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
    key: OperationKey = field(repr=False)
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
            wait_s = 0.0
            try:
                ended = await self._try()
                if ended is not None:
                    return ended
            except InProgressError as error:
                if self.order.in_progress == "raise":
                    raise
                wait_s = min(look_s, error.lease_remaining_s) or FIRST_LOOK_S
                look_s = min(2 * look_s, LONGEST_LOOK_S)
            if anyio.current_time() + wait_s >= self.ends_at:
                await anyio.sleep_until(self.ends_at)
                return self.timed_out()
            await anyio.sleep(wait_s)

    async def _try(self) -> Outcome[T, R] | None:
        """Run it as the row stands; None where the row moved on meanwhile and is to be looked at again."""
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
        try:
            async with operation:
                if operation.replay is not None:
                    return await self._replayed(operation.replay)
                with generating:
                    if operation.resumed is not None:
                        return await self._resume(operation, operation.resumed)
                    return await self._settle(operation, await self._chosen())
                raise LeaseLostError("this call's claim was lost while it generated; its value was not committed")
        except LeaseLostError:
            # Of a stored value nothing was done: who took the key over, or forbade it, says how it stands now.
            if operation.resumed is None:
                raise
            return None
        finally:
            if operation.replay is None:
                self.facts.watch.ledger_state = operation.state

    async def _chosen(self) -> Chosen[T] | Failed:
        refused = await self._refused_before()
        return await self._kept(await self.choose()) if refused is None else refused

    async def _refused_before(self) -> Invalid | None:
        return None if self.order.refusals is None else await self.order.refusals.read()

    async def _kept(self, chosen: X) -> X | Failed:
        """Put a refusal on record while the key is still claimed: nobody else can find the value good meanwhile."""
        refusals = self.order.refusals
        return chosen if refusals is None or not isinstance(chosen, Invalid) else await refusals.keep(chosen)

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
        remaining_s = self.ends_at - anyio.current_time()
        if isinstance(chosen, Chosen) and remaining_s <= 0:
            chosen = self.timed_out()
        if isinstance(chosen, Chosen):
            receipt = self.facts.receipt()
            return await self._commit(operation, chosen, receipt, dump_receipt(receipt), remaining_s)
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
        chosen = await read_value_aside(self.contract, stored.value, receipt.value_digest, is_committed=False)
        was_started = stored.state is State.EFFECT_STARTED
        denied = None if was_started else await self._refused_before()
        if denied is None:
            denied = await self._denied(chosen.value, is_approved=not was_started)
        remaining_s = self.ends_at - anyio.current_time()
        if denied is None and remaining_s <= 0:
            denied = self.timed_out()
        if denied is None:
            receipt_json = dump_receipt(receipt) if stored.receipt is None else stored.receipt
            return await self._commit(operation, chosen, receipt, receipt_json, remaining_s)
        if not was_started:
            kept = await self._kept(denied)
            await operation.release(kept.name)
            return kept
        reason = TAKEN_OVER_LATE if isinstance(denied, TimedOut) else TAKEN_OVER_DENIED
        await operation.put_in_doubt(reason)
        return InDoubt(reason=reason, receipt=receipt)

    async def _commit(
        self, operation: Operation[T, R], chosen: Chosen[T], receipt: Receipt, receipt_json: bytes, remaining_s: float
    ) -> Outcome[T, R]:
        # The effect gets an instance of its own: what it changes there is neither handed on nor replayed.
        own = await read_value_aside(self.contract, chosen.value_json, receipt.value_digest, is_committed=False)
        verdict = await operation.commit(
            own.value,
            value_json=chosen.value_json,
            receipt_json=receipt_json,
            timeout_s=None if remaining_s == inf else remaining_s,
        )
        text = self.facts.text or chosen.value_json.decode()
        if isinstance(verdict, Applied):
            result = cast(R, verdict.result)
            return Committed(value=chosen.value, result=result, text=text, receipt=receipt)
        return replace(ending_of(verdict), receipt=receipt, partial_text=text)

    async def _replayed(self, replay: Replay[R]) -> Outcome[T, R] | None:
        record, standing = replay.record, replay.standing
        self.facts.watch.ledger_state = record.state
        effect = self.order.effect
        if isinstance(standing, Doubt) and effect is not None and effect.reconcile is not None:
            looked = await self._looked_for(effect, record)
            if not isinstance(looked, Record):
                return looked
            record, standing = looked, standing_of(looked, effect)
        self.facts.watch.ledger_state = record.state
        receipt = read_receipt(record.receipt, otherwise=self.facts.receipt())
        if not isinstance(standing, Applied | Waiting):
            # The value is not needed, so one that cannot be loaded must not hide what the ledger says.
            return replace(ending_of(standing), receipt=receipt)
        is_committed = isinstance(standing, Applied)
        chosen = await read_value_aside(self.contract, record.value, receipt.value_digest, is_committed=is_committed)
        denied = await self._denied(chosen.value)
        if denied is not None:
            return denied
        text = chosen.value_json.decode()
        if isinstance(standing, Waiting):
            return replace(ending_of(standing), receipt=receipt, partial_text=text)
        result = cast(R, standing.result)
        return Committed(value=chosen.value, result=result, is_replayed=True, text=text, receipt=receipt)

    async def _looked_for(self, effect: Effect[T, R], record: Record) -> Record | InDoubt | None:
        """Have an effect in doubt looked for while there is time; None where it was settled meanwhile."""
        found: Found | None = None
        raised: BaseException | None = None
        with anyio.move_on_at(self.ends_at):
            try:
                found = await look(effect, record)
            except MisuseError:
                raise
            except BaseException as error:
                # Whatever the caller's function raises, the effect is as much in doubt as before.
                if must_go_on(error) or is_interrupt(error):
                    raise
                raised = error
        if found is None:
            told = "had not answered in time" if raised is None else f"raised {type(raised).__qualname__}"
            reason = f"{doubt_reason(record)}; its reconcile function {told}"
            receipt = read_receipt(record.receipt, otherwise=self.facts.receipt())
            return InDoubt(reason=reason, cause=raised, receipt=receipt)
        try:
            return await write_finding(self.ledger, record, found, by=BY_CALL)
        except (LeaseLostError, IllegalTransitionError, InProgressError):
            return None

    async def _denied(self, value: T, *, is_approved: bool = False) -> Invalid | TimedOut | None:
        """Ask in time whether the principal may have a stored value; of an approved one also all other checks."""
        with anyio.move_on_at(self.ends_at):
            if is_approved:
                return await self.scrutiny.reconsider(value)
            return await self.scrutiny.authorize(value, is_replay=True)
        return self.timed_out()


__all__ = ["Keyed"]
