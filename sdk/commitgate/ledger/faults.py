"""Name the points at which an operation can be cut, and stop there on purpose: for tests.

A test puts a ``FaultLedger`` before a real one and kills, cancels or raises when a point is reached. What must hold
after each of them is in the table of the enum's members.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from enum import StrEnum

import anyio.from_thread

from commitgate.effect_kind import EffectKind
from commitgate.ledger.base import MOST_PRUNED, SCANNED_AT_ONCE, Claimed, Ledger
from commitgate.ledger.record import Fingerprint, Record, Scanned, State
from commitgate.ledger.steps import Finding
from commitgate.ledger.transaction import Transaction
from commitgate.retry.keys import OperationKey


class FaultPoint(StrEnum):
    """Name a point on the way of an operation, in order. Its comment says what a killed process leaves there."""

    BEFORE_CLAIM = "before_claim"
    """No row; the next call claims; the effect did not run."""
    AFTER_CLAIM = "after_claim"
    """CLAIMED; taken over when the lease ends; the effect did not run."""
    BEFORE_INTENT = "before_intent"
    """CLAIMED; taken over when the lease ends; the effect did not run."""
    AFTER_INTENT = "after_intent"
    """EFFECT_STARTED; IN_DOUBT when the lease ends; the effect did not run."""
    INSIDE_EFFECT = "inside_effect"
    """EFFECT_STARTED; IN_DOUBT when the lease ends; the effect may have run. Of a transactional one nothing is kept."""
    AFTER_EFFECT = "after_effect"
    """EFFECT_STARTED; IN_DOUBT when the lease ends; the effect ran."""
    AFTER_COMMIT = "after_commit"
    """COMMITTED; replayed; the effect ran."""


class FaultLedger:
    """Pass every call on to another ledger, and say when a fault point is reached.

    ``INSIDE_EFFECT`` is reached by the effect under test, which calls ``reach`` itself; of a transactional effect it is
    reached here, after all that the effect wrote and before the transaction is committed.

    Args:
        ledger: does the work.
        reach: called with each point; what it raises comes out of the ledger's method.
    """

    def __init__(self, ledger: Ledger, reach: Callable[[FaultPoint], Awaitable[None]]) -> None:
        self._ledger = ledger
        self._reach = reach

    @property
    def has_transactions(self) -> bool:
        """Say what the ledger behind says."""
        return self._ledger.has_transactions

    async def claim(
        self,
        key: OperationKey,
        fingerprint: Fingerprint,
        *,
        owner: str,
        lease_s: float,
        effect_kind: EffectKind | None = None,
    ) -> Claimed | Record:
        """Reach ``BEFORE_CLAIM``, claim, reach ``AFTER_CLAIM``."""
        await self._reach(FaultPoint.BEFORE_CLAIM)
        found = await self._ledger.claim(key, fingerprint, owner=owner, lease_s=lease_s, effect_kind=effect_kind)
        await self._reach(FaultPoint.AFTER_CLAIM)
        return found

    async def extend(self, key: OperationKey, fence: int, *, lease_s: float) -> None:
        """Extend; no fault point."""
        await self._ledger.extend(key, fence, lease_s=lease_s)

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        """Reach ``BEFORE_INTENT``, store the intent, reach ``AFTER_INTENT``."""
        await self._reach(FaultPoint.BEFORE_INTENT)
        await self._ledger.start_effect(key, fence, value=value, receipt=receipt, lease_s=lease_s)
        await self._reach(FaultPoint.AFTER_INTENT)

    async def commit(self, key: OperationKey, fence: int, *, result: bytes) -> None:
        """Reach ``AFTER_EFFECT``, commit, reach ``AFTER_COMMIT``."""
        await self._reach(FaultPoint.AFTER_EFFECT)
        await self._ledger.commit(key, fence, result=result)
        await self._reach(FaultPoint.AFTER_COMMIT)

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        """Run ``work``, reach ``INSIDE_EFFECT`` before its transaction is committed, and ``AFTER_COMMIT`` after."""

        async def reach_inside() -> None:
            await self._reach(FaultPoint.INSIDE_EFFECT)

        def watched(transaction: Transaction) -> bytes:
            result = work(transaction)
            anyio.from_thread.run(reach_inside)
            return result

        result = await self._ledger.transact(key, fence, watched)
        await self._reach(FaultPoint.AFTER_COMMIT)
        return result

    async def propose(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, reason: str, expires_s: float | None
    ) -> None:
        """Reach ``BEFORE_INTENT``, store the proposal, reach ``AFTER_COMMIT``: it is all that the call writes."""
        await self._reach(FaultPoint.BEFORE_INTENT)
        await self._ledger.propose(key, fence, value=value, receipt=receipt, reason=reason, expires_s=expires_s)
        await self._reach(FaultPoint.AFTER_COMMIT)

    async def commit_value(self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes) -> None:
        """Reach ``BEFORE_INTENT``, commit the value, reach ``AFTER_COMMIT``."""
        await self._reach(FaultPoint.BEFORE_INTENT)
        await self._ledger.commit_value(key, fence, value=value, receipt=receipt)
        await self._reach(FaultPoint.AFTER_COMMIT)

    async def fail_before_effect(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Reach ``AFTER_EFFECT``, record the clean no, reach ``AFTER_COMMIT``."""
        await self._reach(FaultPoint.AFTER_EFFECT)
        await self._ledger.fail_before_effect(key, fence, reason=reason)
        await self._reach(FaultPoint.AFTER_COMMIT)

    async def mark_in_doubt(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Reach ``AFTER_EFFECT``, record the doubt, reach ``AFTER_COMMIT``."""
        await self._reach(FaultPoint.AFTER_EFFECT)
        await self._ledger.mark_in_doubt(key, fence, reason=reason)
        await self._reach(FaultPoint.AFTER_COMMIT)

    async def release(self, key: OperationKey, fence: int, *, ending: str) -> None:
        """Release; no fault point."""
        await self._ledger.release(key, fence, ending=ending)

    async def approve(self, key: OperationKey, *, by: str, value_digest: str | None = None) -> Record:
        """Approve; no fault point."""
        return await self._ledger.approve(key, by=by, value_digest=value_digest)

    async def reject(self, key: OperationKey, *, by: str, reason: str) -> Record:
        """Reject; no fault point."""
        return await self._ledger.reject(key, by=by, reason=reason)

    async def reconcile(
        self,
        key: OperationKey,
        fence: int,
        *,
        by: str,
        finding: Finding,
        result: bytes | None = None,
        reason: str = "reconciled",
    ) -> Record:
        """Reconcile; no fault point."""
        return await self._ledger.reconcile(key, fence, by=by, finding=finding, result=result, reason=reason)

    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Prune; no fault point."""
        return await self._ledger.prune(older_than_s=older_than_s, limit=limit)

    async def now(self) -> float:
        """Return the time; no fault point."""
        return await self._ledger.now()

    async def read(self, key: OperationKey) -> Record | None:
        """Read; no fault point."""
        return await self._ledger.read(key)

    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """List; no fault point."""
        return await self._ledger.list(states=states, limit=limit, is_oldest_first=is_oldest_first)

    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Scan; no fault point."""
        return await self._ledger.scan(after=after, limit=limit)

    async def aclose(self) -> None:
        """Close the ledger behind."""
        await self._ledger.aclose()


__all__ = ["FaultLedger", "FaultPoint"]
