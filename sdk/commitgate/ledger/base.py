"""Define the seam behind which ledgers live, and what all of them share.

A ledger takes one step of the table in ``states`` at a time, each as one transaction. What a step means is the
table's business alone; a store only loads a row, calls ``advance`` and saves what comes out, atomically.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.states import (
    Claim,
    Commit,
    CommitValue,
    Extend,
    FailBeforeEffect,
    MarkInDoubt,
    Release,
    StartEffect,
    Step,
)
from commitgate.retry.keys import OperationKey


@dataclass(frozen=True, slots=True)
class Claimed:
    """Say that this call holds the key.

    Attributes:
        fence: proves the claim in every later step; higher than that of every earlier claim.
        attempt: how often the key was claimed, this claim included.
    """

    fence: int
    attempt: int


class Ledger(Protocol):
    """Keep one row for each operation key. Every method is one transaction: it happens as a whole or not at all.

    All methods raise ``LedgerUnavailableError`` where the store cannot be read or written. The steps that take a fence
    raise ``LeaseLostError`` where another call took the key over or settled it, and ``IllegalTransitionError`` where
    they do not belong to the row's state; either way nothing changed.
    """

    async def claim(
        self, key: OperationKey, fingerprint: Fingerprint, *, owner: str, lease_s: float
    ) -> Claimed | Record:
        """Take the key, or return the settled row to replay.

        Args:
            key: the operation key.
            fingerprint: what it stands for.
            owner: random id of the call, for diagnosis.
            lease_s: seconds for which the claim holds unless it is extended.

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

    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row, None where it was never claimed."""
        ...

    async def list(self, *, states: Collection[State] | None = None, limit: int = 100) -> tuple[Record, ...]:
        """Return rows, latest change first.

        Args:
            states: only rows in these; None for all.
            limit: most rows, >= 1.
        """
        ...

    async def aclose(self) -> None:
        """Free what the ledger holds; it must not be used afterwards."""
        ...


class StepLedger(ABC):
    """Turn the methods of ``Ledger`` into steps; a store implements the four that are left."""

    async def claim(
        self, key: OperationKey, fingerprint: Fingerprint, *, owner: str, lease_s: float
    ) -> Claimed | Record:
        """Take the key, or return the settled row to replay; see ``Ledger.claim``."""
        row = await self._take(key, Claim(fingerprint, owner, lease_s))
        # A claim leaves CLAIMED only where it took the key: another call's live claim raises.
        return Claimed(row.fence, row.attempt) if row.state is State.CLAIMED else row

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
    async def read(self, key: OperationKey) -> Record | None:
        """Return the key's row; see ``Ledger.read``."""

    @abstractmethod
    async def list(self, *, states: Collection[State] | None = None, limit: int = 100) -> tuple[Record, ...]:
        """Return rows, latest change first; see ``Ledger.list``."""

    @abstractmethod
    async def aclose(self) -> None:
        """Free what the ledger holds; see ``Ledger.aclose``."""

    @abstractmethod
    async def _take(self, key: OperationKey, step: Step) -> Record:
        """Take one step in one transaction and return the row after it."""


__all__ = ["Claimed", "Ledger", "StepLedger"]
