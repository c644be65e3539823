"""Define the seam behind which ledgers live, and what all of them share.

A ledger takes one step of the table in ``states`` at a time, each as one transaction. What a step means is the
table's business alone; a store only loads a row, calls ``advance`` and saves what comes out, atomically.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from commitgate.argument import check_finite, check_int
from commitgate.effect_kind import EffectKind
from commitgate.errors import MisuseError
from commitgate.ledger.record import LEASED, Fingerprint, Record, Scanned, State
from commitgate.ledger.states import in_progress, is_held_by_another
from commitgate.ledger.steps import (
    Approve,
    Claim,
    Commit,
    CommitValue,
    Extend,
    FailBeforeEffect,
    Finding,
    MarkInDoubt,
    Propose,
    Reconcile,
    Reject,
    Release,
    StartEffect,
    Step,
)
from commitgate.ledger.transaction import Transaction
from commitgate.retry.keys import OperationKey

MOST_PRUNED = 1_000
"""Most rows that ``prune`` deletes in one transaction, so that it never holds the store for long."""


SCANNED_AT_ONCE = 16
"""Rows that ``scan`` returns at once: each may hold payloads of many megabytes."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """Say that this call holds the key.

    Attributes:
        fence: proves the claim in every later step; higher than that of every earlier claim.
        attempt: how often the key was claimed, this claim included.
        resumed: the row where its value was chosen before, by a call that did not come to its end: a value that was
            approved meanwhile, or one whose effect was started and may be run again. None where a value is to be
            chosen.
    """

    fence: int
    attempt: int
    resumed: Record | None = field(default=None, repr=False)


class Ledger(Protocol):
    """Keep one row for each operation key. Every method is one transaction: it happens as a whole or not at all.

    All methods raise ``LedgerUnavailableError`` where the store cannot be read or written. The steps that take a fence
    raise ``LeaseLostError`` where another call took the key over or settled it, and ``IllegalTransitionError`` where
    they do not belong to the row's state; either way nothing changed.
    """

    @property
    def has_transactions(self) -> bool:
        """Say whether ``transact`` works: the ledger lies in a database that can hold rows of the caller's too."""
        ...

    async def claim(
        self,
        key: OperationKey,
        fingerprint: Fingerprint,
        *,
        owner: str,
        lease_s: float,
        effect_kind: EffectKind | None = None,
    ) -> Claimed | Record:
        """Take the key, or return the settled row to replay. Asking again as the same owner gives the same claim.

        Args:
            key: the operation key.
            fingerprint: what it stands for.
            owner: random id of the call.
            lease_s: seconds for which the claim holds unless it is extended.
            effect_kind: what keeps the call's effect from happening twice; None without an effect.

        Raises:
            KeyConflictError: the key stands for something else.
            InProgressError: another call holds it.
        """
        ...

    async def extend(self, key: OperationKey, fence: int, *, lease_s: float) -> None:
        """Renew the lease."""
        ...

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        """Store the chosen value and its receipt, and say that the effect is about to start; renews the lease."""
        ...

    async def commit(self, key: OperationKey, fence: int, *, result: bytes) -> None:
        """Record that the effect ran. Taken late, too, while the row is in doubt under the same fence."""
        ...

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        """Run a transactional effect, and record with what it wrote, in one transaction, that it ran.

        Args:
            key: the operation key, its effect started under ``fence``.
            fence: proves the claim.
            work: runs the effect in a worker thread and returns its result's JSON.

        Returns:
            What ``work`` returned.

        Raises:
            RolledBack: ``work`` raised; nothing of it was kept, and the row is unchanged.
            MisuseError: the ledger has no transactions.
        """
        ...

    async def propose(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, reason: str, expires_s: float | None
    ) -> None:
        """Store the chosen value and leave it to a person, for ``expires_s`` seconds or for ever."""
        ...

    async def commit_value(self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes) -> None:
        """Store and commit a value that has no effect, in one write."""
        ...

    async def fail_before_effect(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Record that the effect declined cleanly. Taken late, too, as ``commit`` is."""
        ...

    async def mark_in_doubt(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Record that it is unknown whether the effect happened; ``reason`` holds no payload."""
        ...

    async def release(self, key: OperationKey, fence: int, *, ending: str) -> None:
        """Give the key back without a value; ``ending`` is the name of what ended the call."""
        ...

    async def approve(self, key: OperationKey, *, by: str, value_digest: str | None = None) -> Record:
        """Allow a stored value that waits for a person, and return its row: approved, or rejected where it expired.

        Args:
            key: the operation key.
            by: who allows it.
            value_digest: hexadecimal SHA-256 of the value that was looked at; None allows whichever is stored.

        Raises:
            DecisionError: nothing waits under this key, or another value does.
        """
        ...

    async def reject(self, key: OperationKey, *, by: str, reason: str) -> Record:
        """Forbid a stored value that waits for a person, or was approved and not made use of; return its row.

        Raises:
            DecisionError: nothing waits under this key.
        """
        ...

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
        """Settle an effect that is in doubt, or whose call died, by what was found out downstream; return the row.

        Args:
            key: the operation key.
            fence: that of the row that was looked at.
            by: who found it out.
            finding: what was found out.
            result: the effect's result as JSON, where it was applied.
            reason: why, for a row that is not committed.

        Raises:
            InProgressError: the effect is still running.
        """
        ...

    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Delete rows on which nothing can hang any more, and return how many.

        A key whose row was deleted is new again, so an age beyond that of every retry is wanted. What is in progress,
        in doubt or waits for a person is never deleted.

        Args:
            older_than_s: seconds since the row last changed, >= 0.
            limit: most rows to delete now, >= 1.
        """
        ...

    async def now(self) -> float:
        """Return the Unix time in seconds by which leases and expiries run: the store's own."""
        ...

    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row, None where it was never claimed."""
        ...

    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """Return rows in the order of their last change, latest first.

        Args:
            states: only rows in these; None for all.
            limit: most rows, >= 1.
            is_oldest_first: begin with the rows that have not changed for longest.

        Raises:
            MisuseError: ``limit`` is out of range.
        """
        ...

    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Return rows in the order of their keys, to look at every one: each that is there all the while comes once.

        Args:
            after: key of the last row that was returned; the empty one begins.
            limit: most rows, >= 1; fewer than that are the last ones.
        """
        ...

    async def aclose(self) -> None:
        """Free what the ledger holds; it must not be used afterwards."""
        ...


class StepLedger(ABC):
    """Turn the methods of ``Ledger`` into steps; a store implements those that are left."""

    @property
    def has_transactions(self) -> bool:
        """Say whether ``transact`` works; see ``Ledger.has_transactions``."""
        return False

    async def claim(
        self,
        key: OperationKey,
        fingerprint: Fingerprint,
        *,
        owner: str,
        lease_s: float,
        effect_kind: EffectKind | None = None,
    ) -> Claimed | Record:
        """Take the key, or return the settled row to replay; see ``Ledger.claim``."""
        row, now = await self._take(key, Claim(fingerprint, owner, lease_s, effect_kind))
        if is_held_by_another(row, owner):
            raise in_progress((row.lease_expires_at or now) - now)
        if row.state not in LEASED:
            return row
        return Claimed(row.fence, row.attempt, None if row.value is None else row)

    async def extend(self, key: OperationKey, fence: int, *, lease_s: float) -> None:
        """Renew the lease; see ``Ledger.extend``."""
        await self._take(key, Extend(fence, lease_s))

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        """Store the chosen value before its effect; see ``Ledger.start_effect``."""
        await self._take(key, StartEffect(fence, lease_s, value, receipt))

    async def commit(self, key: OperationKey, fence: int, *, result: bytes) -> None:
        """Record that the effect ran; see ``Ledger.commit``."""
        await self._take(key, Commit(fence, result))

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        """Run a transactional effect; see ``Ledger.transact``. This one has no transactions."""
        del key, fence, work
        raise MisuseError(
            f"a transactional effect needs a ledger in a database; {type(self).__name__} has none: use SqliteLedger or "
            "PostgresLedger"
        )

    async def propose(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, reason: str, expires_s: float | None
    ) -> None:
        """Leave the value to a person; see ``Ledger.propose``."""
        await self._take(key, Propose(fence, value, receipt, reason, expires_s))

    async def approve(self, key: OperationKey, *, by: str, value_digest: str | None = None) -> Record:
        """Allow a stored value; see ``Ledger.approve``."""
        return (await self._take(key, Approve(by, value_digest)))[0]

    async def reject(self, key: OperationKey, *, by: str, reason: str) -> Record:
        """Forbid a stored value; see ``Ledger.reject``."""
        return (await self._take(key, Reject(by, reason)))[0]

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
        """Settle what is in doubt; see ``Ledger.reconcile``."""
        return (await self._take(key, Reconcile(fence, by, finding, result, reason)))[0]

    async def commit_value(self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes) -> None:
        """Store and commit a value without an effect; see ``Ledger.commit_value``."""
        await self._take(key, CommitValue(fence, value, receipt))

    async def fail_before_effect(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Record a clean no; see ``Ledger.fail_before_effect``."""
        await self._take(key, FailBeforeEffect(fence, reason))

    async def mark_in_doubt(self, key: OperationKey, fence: int, *, reason: str) -> None:
        """Record a doubt; see ``Ledger.mark_in_doubt``."""
        await self._take(key, MarkInDoubt(fence, reason))

    async def release(self, key: OperationKey, fence: int, *, ending: str) -> None:
        """Give the key back; see ``Ledger.release``."""
        await self._take(key, Release(fence, ending))

    @abstractmethod
    async def prune(self, *, older_than_s: float, limit: int = MOST_PRUNED) -> int:
        """Delete rows on which nothing can hang any more; see ``Ledger.prune``."""

    @abstractmethod
    async def now(self) -> float:
        """Return the store's time; see ``Ledger.now``."""

    @abstractmethod
    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row; see ``Ledger.read``."""

    @abstractmethod
    async def list(
        self, *, states: Collection[State] | None = None, limit: int = 100, is_oldest_first: bool = False
    ) -> tuple[Record, ...]:
        """Return rows in the order of their last change; see ``Ledger.list``."""

    @abstractmethod
    async def scan(self, *, after: bytes = b"", limit: int = SCANNED_AT_ONCE) -> tuple[Scanned, ...]:
        """Return rows in the order of their keys; see ``Ledger.scan``."""

    @abstractmethod
    async def aclose(self) -> None:
        """Free what the ledger holds; see ``Ledger.aclose``."""

    @abstractmethod
    async def _take(self, key: OperationKey, step: Step) -> tuple[Record, float]:
        """Take one step in one transaction; return the row after it, and the Unix time at which it was taken."""


def check_limit(limit: int) -> None:
    """Check how many rows are asked for.

    Raises:
        MisuseError: it is no int >= 1.
    """
    check_int("limit", limit)
    if limit < 1:
        raise MisuseError(f"limit must be >= 1, found {limit!r}")


def check_prune(older_than_s: float, limit: int) -> None:
    """Check the arguments of ``prune``.

    Raises:
        MisuseError: one is out of its range.
    """
    check_finite("older_than_s", older_than_s, "a number of seconds >= 0")
    check_int("limit", limit)
    if older_than_s < 0 or limit < 1:
        raise MisuseError(f"older_than_s must be >= 0 and limit >= 1, found {older_than_s!r} and {limit!r}")


__all__ = ["MOST_PRUNED", "SCANNED_AT_ONCE", "Claimed", "Ledger", "StepLedger", "check_limit", "check_prune"]
