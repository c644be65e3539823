"""Take one chosen value through intent, effect and final write.

What the ledger holds decides the verdict. Where a write reports a failure, it is tried again: it waits for whatever of
the first is still on its way, and finds out what became of it, because a failing answer does not mean that nothing was
written. Before the effect a failed write is an error: nothing was started. After it, it is a doubt: the caller must
look downstream, as a replay of the key will say too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

import anyio

from commitgate.cancellation import is_interrupt, must_go_on
from commitgate.effect import Effect, EffectContext, TransactionContext
from commitgate.effect_kind import RUN_AGAIN, EffectKind
from commitgate.errors import (
    EffectRejected,
    IllegalTransitionError,
    LeaseLostError,
    LedgerUnavailableError,
    StoredValueError,
)
from commitgate.ledger.base import Claimed, Ledger
from commitgate.ledger.record import Record, State
from commitgate.ledger.transaction import RolledBack, Transaction
from commitgate.ledger.verdict import Applied, Doubt, Rejected, Verdict, stored_result
from commitgate.retry.keys import OperationKey, effect_key

T = TypeVar("T")
R = TypeVar("R")

WRITE_TRIES = 2
"""Tries of a write: what a store that failed for a moment has done with the first shows at the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPath(Generic[T, R]):
    """Hold what the way from a chosen value to its verdict needs. ``run`` must not be cancelled from outside.

    Attributes:
        ledger: where the operation is kept.
        key: its operation key.
        claimed: the claim under which it is written.
        effect: what the value sets off, None for nothing.
        lease_s: seconds of lease from the intent on.
        clock: gives Unix time in seconds.
    """

    ledger: Ledger
    key: OperationKey = field(repr=False)
    claimed: Claimed
    effect: Effect[T, R] | None
    lease_s: float
    clock: Callable[[], float]

    async def run(self, value: T, *, value_json: bytes, receipt_json: bytes, timeout_s: float | None) -> Verdict[R]:
        """Commit ``value``.

        Args:
            value: handed to the effect.
            value_json: stored as the value.
            receipt_json: stored with it.
            timeout_s: seconds that the effect may take, None without a limit. A transactional one is not cut off.

        Raises:
            LeaseLostError: another call took the key over before the effect was started.
            LedgerUnavailableError: the value could not be stored, and no effect was started or kept.
        """
        fence = self.claimed.fence
        if self.effect is None:
            commit = partial(self.ledger.commit_value, self.key, fence, value=value_json, receipt=receipt_json)
            await write_settled(self.ledger, self.key, fence, commit, State.COMMITTED)
            return Applied(None)
        resumed = self.claimed.resumed
        if resumed is None or resumed.state is not State.EFFECT_STARTED:
            start = partial(self.ledger.start_effect, value=value_json, receipt=receipt_json)
        else:
            # The intent stands; but while it was asked who may, another call or a person may have taken the key.
            start = self.ledger.extend
        start = partial(start, self.key, fence, lease_s=self.lease_s)
        await write_settled(self.ledger, self.key, fence, start, State.EFFECT_STARTED)
        if self.effect.kind is EffectKind.TRANSACTIONAL:
            return await self._run_transactional(self.effect, value, timeout_s)
        return await self._run_effect(self.effect, value, timeout_s)

    def _context(self, effect: Effect[T, R], timeout_s: float | None) -> EffectContext:
        return EffectContext(
            key=effect_key(self.key, effect.name, effect.version),
            fence=self.claimed.fence,
            attempt=self.claimed.attempt,
            deadline=None if timeout_s is None else self.clock() + timeout_s,
        )

    async def _run_effect(self, effect: Effect[T, R], value: T, timeout_s: float | None) -> Verdict[R]:
        again = RUN_AGAIN if effect.kind is EffectKind.BY_KEY else ""
        try:
            returned = await _within(timeout_s, effect.run(value, self._context(effect, timeout_s)))
        except EffectRejected as rejection:
            return await self._reject(effect, Rejected(str(rejection)))
        except BaseException as error:  # noqa: BLE001 - user code may raise anything; the keeper goes on with what is no Exception
            return await self._doubt(effect, f"the effect raised {type(error).__qualname__}{again}", error)
        if returned is None:
            return await self._doubt(effect, f"the effect had not ended after {timeout_s} s{again}", None)
        return await self._apply(effect, returned[0])

    async def _apply(self, effect: Effect[T, R], result: R) -> Verdict[R]:
        try:
            result_json = effect.dump(result)
            # Read back before it is stored, so that no stored result is one that cannot be read.
            verdict = Applied(effect.load(result_json))
        except ValueError as error:
            # It did run, so neither COMMITTED with an invented result nor a failure would be true.
            return await self._doubt(effect, f"the effect ran, but {error}", error)
        except BaseException as error:  # noqa: BLE001 - the result's own code may raise anything; the keeper goes on with what is no Exception
            return await self._doubt(effect, f"the effect ran, but its result raised {type(error).__qualname__}", error)
        return await self._write_last(
            effect,
            lambda: self.ledger.commit(self.key, self.claimed.fence, result=result_json),
            State.COMMITTED,
            verdict,
            otherwise="the effect ran, but that could not be recorded",
        )

    async def _run_transactional(self, effect: Effect[T, R], value: T, timeout_s: float | None) -> Verdict[R]:
        context = self._context(effect, timeout_s)

        def work(connection: Transaction) -> bytes:
            result_json = effect.dump(
                effect.run_in_transaction(
                    value,
                    TransactionContext(
                        key=context.key,
                        fence=context.fence,
                        attempt=context.attempt,
                        deadline=context.deadline,
                        connection=connection,
                    ),
                )
            )
            effect.load(result_json)
            return result_json

        fence = self.claimed.fence
        for tries_left in reversed(range(WRITE_TRIES)):
            try:
                return Applied(effect.load(await self.ledger.transact(self.key, fence, work)))
            except RolledBack as rolled_back:
                return await self._rolled_back(effect, rolled_back.error)
            except BaseException as error:
                # The answer to COMMIT may be what was lost; what was not committed may be run again.
                if must_go_on(error) or is_interrupt(error):
                    raise
                settled = await self._settled_meanwhile(effect)
                may_try = tries_left > 0 and isinstance(error, LedgerUnavailableError)
                if settled is not None and not (may_try and isinstance(settled, Doubt)):
                    return settled
                if not may_try:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _settled_meanwhile(self, effect: Effect[T, R]) -> Verdict[R] | None:
        """Say how a transaction ended of which the answer was lost; None where it was not committed."""
        try:
            # A write of its own waits for whatever of the transaction is still on its way; a read would not.
            await self.ledger.extend(self.key, self.claimed.fence, lease_s=self.lease_s)
        except BaseException as error:
            if must_go_on(error) or is_interrupt(error):
                raise
            row = await _read(self.ledger, self.key)
            settled = None if row is None else self._standing(effect, row)
            if settled is None and not isinstance(error, LeaseLostError):
                # What is read as not committed may be committed the moment after.
                told = "the ledger cannot say whether the effect was committed"
                return Doubt(f"{told}; call again with the same key", error)
            return settled
        return None

    async def _rolled_back(self, effect: Effect[T, R], error: BaseException) -> Verdict[R]:
        if isinstance(error, EffectRejected):
            return await self._reject(effect, Rejected(str(error)))
        if not isinstance(error, Exception):
            # An interrupt is no word of the effect's: nothing is kept, and the next call may run it.
            raise error
        reason = f"the effect raised {type(error).__qualname__}; its transaction was rolled back"
        return await self._reject(effect, Rejected(reason, error))

    async def _reject(self, effect: Effect[T, R], rejected: Rejected) -> Verdict[R]:
        return await self._write_last(
            effect,
            lambda: self.ledger.fail_before_effect(self.key, self.claimed.fence, reason=rejected.reason),
            State.FAILED_BEFORE_EFFECT,
            rejected,
            otherwise="the effect declined, but that could not be recorded",
        )

    async def _doubt(self, effect: Effect[T, R], reason: str, error: BaseException | None) -> Verdict[R]:
        # Where this cannot be written, the row becomes IN_DOUBT all the same when its lease ends.
        return await self._write_last(
            effect,
            lambda: self.ledger.mark_in_doubt(self.key, self.claimed.fence, reason=reason),
            State.IN_DOUBT,
            Doubt(reason, error),
            otherwise=reason,
        )

    async def _write_last(
        self,
        effect: Effect[T, R],
        write: Callable[[], Awaitable[None]],
        target: State,
        verdict: Verdict[R],
        *,
        otherwise: str,
    ) -> Verdict[R]:
        """Return ``verdict`` once the row is in ``target``; else what the row says, or a doubt."""
        raised: BaseException | None = None
        for _ in range(WRITE_TRIES):
            try:
                await write()
            except BaseException as error:
                # The effect has run: whatever a store raises, it must not look as if it had not.
                if must_go_on(error):
                    raise
                # An interrupt ends the program once the row is written: no later error may hide it.
                raised = raised if raised is not None and is_interrupt(raised) else error
                row = await _read(self.ledger, self.key)
                if row is not None and row.fence == self.claimed.fence and row.state is target:
                    break
                settled = None if row is None else self._standing(effect, row)
                if settled is not None:
                    verdict = settled
                    break
            else:
                break
        else:
            verdict = verdict if isinstance(verdict, Doubt) else Doubt(otherwise, raised)
        if raised is not None and is_interrupt(raised):
            raise raised
        return verdict

    @staticmethod
    def _standing(effect: Effect[T, R], row: Record) -> Verdict[R] | None:
        """Return what a call that overtook this one, or a person, recorded; None where nobody settled anything."""
        if row.state is not State.COMMITTED:
            return None
        try:
            return Applied(stored_result(effect.load, row.result))
        except StoredValueError as error:
            return Doubt("the effect ran, but its result cannot be read from the ledger's row", error)


async def write_settled(
    ledger: Ledger, key: OperationKey, fence: int, write: Callable[[], Awaitable[None]], target: State
) -> None:
    """Take a step before anything has happened that could not be taken back, and see to it that it stands.

    Args:
        ledger: where.
        key: the operation key.
        fence: that under which it is written.
        write: takes the step.
        target: the state after it.

    Raises:
        LedgerError: it was not taken, or nobody can say.
    """
    lost: LedgerUnavailableError | None = None
    for tries_left in reversed(range(WRITE_TRIES)):
        try:
            await write()
        except BaseException as error:
            # Whatever a store raises, the write may stand; and a second try finds the row moved on by the first.
            if must_go_on(error) or is_interrupt(error):
                raise
            row = await _read(ledger, key)
            if row is not None and row.fence == fence and row.state is target:
                return
            if lost is not None and row is None:
                # The row cannot be read, but what a repeat was refused for tells of the first try, too: it was looked
                # at under this call's own fence, where no other call can have brought it about.
                if isinstance(error, IllegalTransitionError) and error.state is target:
                    return
                raise lost from error
            if not tries_left or not isinstance(error, LedgerUnavailableError):
                raise
            lost = error
        else:
            return


async def _read(ledger: Ledger, key: OperationKey) -> Record | None:
    """Return the row; None where it cannot be read."""
    try:
        return await ledger.read(key)
    except BaseException as error:
        # The error that led here is the one to report.
        if must_go_on(error) or is_interrupt(error):
            raise
        return None


async def _within(timeout_s: float | None, work: Awaitable[R]) -> tuple[R] | None:
    """Wait for ``work`` at most that long; None where it had to be cancelled."""
    with anyio.move_on_after(timeout_s):
        return (await work,)
    return None


__all__ = ["WRITE_TRIES", "CommitPath", "write_settled"]
