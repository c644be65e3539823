"""Say once more, without the table, what a ledger does: the model that random histories are held against."""

from __future__ import annotations

from dataclasses import dataclass, field

from commitgate.effect_kind import EffectKind
from commitgate.errors import (
    DecisionError,
    IllegalTransitionError,
    InProgressError,
    KeyConflictError,
    LeaseLostError,
    LedgerError,
)
from commitgate.ledger import Fingerprint
from commitgate.retry import OperationKey

LEASE_S = 30.0
OVER = ("committed", "failed_before_effect", "not_applied", "rejected")
SETTLED = (*OVER, "awaiting_approval", "in_doubt")
RUNS_AGAIN = (EffectKind.BY_KEY, EffectKind.TRANSACTIONAL)

Refusal = type[LedgerError]


@dataclass
class Known:
    """What the model knows of one key."""

    fingerprint: Fingerprint
    owner: str
    kind: EffectKind | None
    fence: int
    lease_end: float | None
    written: float
    state: str = "claimed"
    attempt: int = 1
    expiry: float | None = None
    by: str | None = None
    value: bytes | None = None
    result: bytes | None = None
    started: list[bytes] = field(default_factory=list[bytes])
    """The value of every effect that a call was let start."""
    allowed: bytes | None = None
    """The value that a person approved."""

    def settle(self, state: str, now: float) -> None:
        self.state, self.lease_end, self.written = state, None, now

    def expire(self, now: float) -> None:
        self.settle("rejected", now)
        self.by = None

    def lease_runs(self, now: float) -> bool:
        return self.lease_end is not None and self.lease_end > now

    def has_expired(self, now: float) -> bool:
        return self.expiry is not None and self.expiry <= now


@dataclass(frozen=True)
class Got:
    """What a claim gives: the key, perhaps with a value that was chosen before."""

    fence: int
    attempt: int
    value: bytes | None


@dataclass(frozen=True)
class Replayed:
    """What a claim gives where nothing is to be done."""

    state: str


class Model:
    """Keep keys by the rules in plain words, each where a step asks for it."""

    def __init__(self) -> None:
        self.keys: dict[OperationKey, Known] = {}
        self.floor = 0

    def claim(
        self, key: OperationKey, fingerprint: Fingerprint, owner: str, kind: EffectKind | None, now: float
    ) -> Got | Replayed | Refusal:
        known = self.keys.get(key)
        if known is None:
            self.keys[key] = Known(fingerprint, owner, kind, self.floor + 1, now + LEASE_S, now)
            return Got(self.floor + 1, 1, None)
        if known.fingerprint != fingerprint:
            return KeyConflictError
        if known.lease_end is not None and known.owner == owner:
            # Its own claim, of which it missed the answer.
            known.lease_end, known.written = now + LEASE_S, now
            if known.state == "effect_started" and known.kind not in RUNS_AGAIN:
                return InProgressError
            return self._gives(known)
        if known.lease_runs(now):
            if known.written > now:
                assert known.lease_end is not None
                known.lease_end, known.written = min(known.lease_end, now + LEASE_S), now
            return InProgressError
        return self._claim_free(known, owner, kind, now)

    def _claim_free(self, known: Known, owner: str, kind: EffectKind | None, now: float) -> Got | Replayed:
        is_same_kind = known.kind in RUNS_AGAIN and known.kind == kind
        if known.state in ("awaiting_approval", "approved") and known.has_expired(now):
            known.expire(now)
        elif known.state in ("claimed", "released", "approved"):
            known.state = "approved" if known.state == "approved" else "claimed"
            known.kind = kind
            return self._take(known, owner, now)
        elif known.state in ("effect_started", "in_doubt") and is_same_kind:
            known.state = "effect_started"
            return self._take(known, owner, now)
        elif known.state == "effect_started":
            known.settle("in_doubt", now)
        return Replayed(known.state)

    def _take(self, known: Known, owner: str, now: float) -> Got:
        known.owner, known.fence, known.attempt = owner, known.fence + 1, known.attempt + 1
        known.lease_end, known.written = now + LEASE_S, now
        return self._gives(known)

    def _gives(self, known: Known) -> Got:
        if known.state == "effect_started":
            assert known.value is not None
            known.started.append(known.value)
        return Got(known.fence, known.attempt, known.value)

    def write(self, key: OperationKey, fence: int, allowed_in: tuple[str, ...]) -> Known | Refusal:
        """Return the key where a call may write under this fence."""
        known = self.keys.get(key)
        if known is None:
            return IllegalTransitionError
        if known.fence != fence or (known.state in SETTLED and known.state not in allowed_in):
            return LeaseLostError
        if known.state not in allowed_in:
            return IllegalTransitionError
        if known.state == "approved" and known.lease_end is None:
            return LeaseLostError
        return known

    def choose(self, key: OperationKey, fence: int, value: bytes) -> Known | Refusal:
        """Return the key where a call may act on this value now."""
        known = self.write(key, fence, ("claimed", "approved"))
        if isinstance(known, Known) and known.state == "approved" and known.value != value:
            return IllegalTransitionError
        return known

    def approve(self, key: OperationKey, is_this_value: bool, now: float) -> Known | Refusal:
        known = self.keys.get(key)
        if known is None or known.state not in ("awaiting_approval", "approved") or not is_this_value:
            return DecisionError
        if known.state == "awaiting_approval" and known.has_expired(now):
            known.expire(now)
        elif known.state == "awaiting_approval":
            known.settle("approved", now)
            known.by, known.allowed = "ann", known.value
        return known

    def reject(self, key: OperationKey, now: float) -> Known | Refusal:
        known = self.keys.get(key)
        if known is None or known.state not in ("awaiting_approval", "approved", "rejected"):
            return DecisionError
        if known.state != "rejected":
            known.settle("rejected", now)
            known.by = "bob"
        return known

    def reconcile(self, key: OperationKey, fence: int, found: str, now: float) -> Known | Refusal:
        known = self.keys.get(key)
        if known is None or known.state not in ("effect_started", "in_doubt"):
            return IllegalTransitionError
        if known.fence != fence:
            return LeaseLostError
        if known.lease_runs(now):
            return InProgressError
        known.settle({"applied": "committed", "not_applied": "not_applied", "unknown": "in_doubt"}[found], now)
        known.by, known.result = "eve", b"7" if found == "applied" else None
        return known

    def prune(self, before: float) -> int:
        doomed = [key for key, known in self.keys.items() if self._may_go(known, before)]
        for key in doomed:
            self.floor = max(self.floor, self.keys.pop(key).fence)
        return len(doomed)

    def _may_go(self, known: Known, before: float) -> bool:
        if known.written > before or known.lease_runs(before):
            return False
        if known.state in ("awaiting_approval", "approved"):
            return known.has_expired(before)
        return known.state not in ("effect_started", "in_doubt")
