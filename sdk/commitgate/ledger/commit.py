"""Take one chosen value through intent, effect and final write.

What the ledger holds decides the verdict. Where a write reports a failure, the row is read back, because a failing
answer does not mean that nothing was written. Before the effect a failed write is an error: nothing was started. After
it, it is a doubt: the caller must look downstream, as a replay of the key will say too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from commitgate.cancellation import must_go_on
from commitgate.effect import Effect, EffectContext
from commitgate.errors import EffectRejected, LedgerUnavailableError
from commitgate.ledger.base import Claimed, Ledger
from commitgate.ledger.record import State
from commitgate.ledger.verdict import Applied, Doubt, Rejected, Verdict
from commitgate.retry.keys import OperationKey, effect_key

T = TypeVar("T")
R = TypeVar("R")

FINAL_WRITE_TRIES = 2
"""Tries of a write after the effect: what happened must not be forgotten because the store failed for a moment."""


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
    key: OperationKey
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
            timeout_s: seconds that the effect may take, None without a limit.

        Raises:
            LeaseLostError: another call took the key over before the effect was started.
            LedgerUnavailableError: the value could not be stored, and no effect was started.
        """
        fence = self.claimed.fence
        if self.effect is None:
            write = self.ledger.commit_value(self.key, fence, value=value_json, receipt=receipt_json)
            await self._write_first(write, State.COMMITTED)
            return Applied(None)
        intent = self.ledger.start_effect(self.key, fence, value=value_json, receipt=receipt_json, lease_s=self.lease_s)
        await self._write_first(intent, State.EFFECT_STARTED)
        return await self._run_effect(self.effect, value, timeout_s)

    async def _write_first(self, write: Awaitable[None], target: State) -> None:
        try:
            await write
        except LedgerUnavailableError:
            if not await self._stands(target):
                raise

    async def _run_effect(self, effect: Effect[T, R], value: T, timeout_s: float | None) -> Verdict[R]:
        context = EffectContext(
            key=effect_key(self.key, effect.name, effect.version),
            fence=self.claimed.fence,
            attempt=self.claimed.attempt,
            deadline=None if timeout_s is None else self.clock() + timeout_s,
        )
        try:
            returned = await _within(timeout_s, effect.run(value, context))
        except EffectRejected as rejection:
            return await self._reject(str(rejection))
        except BaseException as error:  # noqa: BLE001 - user code may raise anything; the keeper goes on with what is no Exception
            return await self._doubt(f"the effect raised {type(error).__qualname__}", error)
        if returned is None:
            return await self._doubt(f"the effect had not ended after {timeout_s} s", None)
        return await self._apply(effect, returned[0])

    async def _apply(self, effect: Effect[T, R], result: R) -> Verdict[R]:
        try:
            result_json = effect.dump(result)
            # Read back before it is stored, so that no stored result is one that cannot be read.
            verdict = Applied(effect.load(result_json))
        except ValueError as error:
            # It did run, so neither COMMITTED with an invented result nor a failure would be true.
            return await self._doubt(f"the effect ran, but {error}", error)
        except BaseException as error:  # noqa: BLE001 - the result's own code may raise anything; the keeper goes on with what is no Exception
            return await self._doubt(f"the effect ran, but its result raised {type(error).__qualname__}", error)
        return await self._write_last(
            lambda: self.ledger.commit(self.key, self.claimed.fence, result=result_json),
            State.COMMITTED,
            verdict,
            otherwise="the effect ran, but that could not be recorded",
        )

    async def _reject(self, reason: str) -> Verdict[R]:
        return await self._write_last(
            lambda: self.ledger.fail_before_effect(self.key, self.claimed.fence, reason=reason),
            State.FAILED_BEFORE_EFFECT,
            Rejected(reason),
            otherwise="the effect declined, but that could not be recorded",
        )

    async def _doubt(self, reason: str, error: BaseException | None) -> Doubt:
        doubt = Doubt(reason, error)
        # Where this cannot be written, the row becomes IN_DOUBT all the same when its lease ends.
        await self._write_last(
            lambda: self.ledger.mark_in_doubt(self.key, self.claimed.fence, reason=reason),
            State.IN_DOUBT,
            doubt,
            otherwise=reason,
        )
        return doubt

    async def _write_last(
        self, write: Callable[[], Awaitable[None]], target: State, verdict: Verdict[R], *, otherwise: str
    ) -> Verdict[R]:
        """Return ``verdict`` once the row is in ``target``, and a doubt where it cannot be brought there."""
        raised: BaseException | None = None
        for _ in range(FINAL_WRITE_TRIES):
            try:
                await write()
            except BaseException as error:
                # The effect has run: whatever a store raises, it must not look as if it had not.
                if must_go_on(error):
                    raise
                raised = error
                if await self._stands(target):
                    return verdict
            else:
                return verdict
        return Doubt(otherwise, raised)

    async def _stands(self, target: State) -> bool:
        """Return whether the row is in ``target`` under this call's claim; False where it cannot be read."""
        try:
            row = await self.ledger.read(self.key)
        except BaseException as error:
            # The error that led here is the one to report.
            if must_go_on(error):
                raise
            return False
        return row is not None and row.fence == self.claimed.fence and row.state is target


async def _within(timeout_s: float | None, call: Awaitable[R]) -> tuple[R] | None:
    with anyio.move_on_after(timeout_s):
        return (await call,)
    return None


__all__ = ["FINAL_WRITE_TRIES", "CommitPath"]
