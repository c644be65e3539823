"""Define what the ledger knows of one operation key. Payloads are bytes and are never shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from hashlib import sha256

from commitgate.effect_kind import EffectKind
from commitgate.retry.keys import OperationKey


class State(StrEnum):
    """Name the state of one operation key. A key without a row has none."""

    CLAIMED = "claimed"
    """A call holds the key under a lease; no value was chosen yet."""
    AWAITING_APPROVAL = "awaiting_approval"
    """A value was chosen and stored; a person must decide about it."""
    APPROVED = "approved"
    """A person allowed the stored value; the next call with the key goes on with it, under a lease."""
    REJECTED = "rejected"
    """A person forbade the stored value, or nobody decided in time: nothing happened."""
    EFFECT_STARTED = "effect_started"
    """The value was chosen and stored; its effect may have happened."""
    COMMITTED = "committed"
    """The value stands; its effect, if there is one, ran and its result is stored."""
    FAILED_BEFORE_EFFECT = "failed_before_effect"
    """The effect declined cleanly: nothing happened."""
    IN_DOUBT = "in_doubt"
    """It cannot be known whether the effect happened; one of kind ``once`` is never run again by itself."""
    NOT_APPLIED = "not_applied"
    """It was in doubt, and somebody found out that the effect did not happen."""
    RELEASED = "released"
    """The call ended without choosing a value; the next one may claim."""


LEASED = frozenset((State.CLAIMED, State.APPROVED, State.EFFECT_STARTED))
"""States in which a call may hold the key. An approved value waits for one where the row has no lease."""

SETTLED = frozenset(
    (
        State.AWAITING_APPROVAL,
        State.COMMITTED,
        State.FAILED_BEFORE_EFFECT,
        State.IN_DOUBT,
        State.NOT_APPLIED,
        State.REJECTED,
    )
)
"""States that a claim replays instead of running anything, unless the table says otherwise of the effect's kind."""

PRUNABLE = frozenset((State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.NOT_APPLIED, State.REJECTED, State.RELEASED))
"""States of which rows may be deleted by age. What is in progress, in doubt or waits for a person is kept for ever."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Say what an operation key stands for; another call under the same key must agree in all four parts.

    Attributes:
        language_digest: digest of what constrains the value.
        effect_name: the effect's name, None without an effect.
        effect_version: the effect's version, None without an effect.
        input_fingerprint: digest of the input.
    """

    language_digest: str
    effect_name: str | None
    effect_version: str | None
    input_fingerprint: str

    def differences(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the names of the parts that differ."""
        return tuple(part.name for part in fields(self) if getattr(self, part.name) != getattr(other, part.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Hold the ledger's row of one operation key. Times are Unix times in seconds.

    Attributes:
        key: the operation key.
        state: where the operation stands.
        fence: rises with every claim; a write under an older one is refused.
        attempt: how often the key was claimed, from 1.
        owner: random id of the call that claimed it last.
        lease_expires_at: when that call's claim ends unless it is renewed; None where none is held.
        expires_at: when a proposal, or an approval of which nobody has made use, ends by itself; None for never.
        fingerprint: what the key stands for.
        effect_kind: what keeps the effect from happening twice; None without an effect.
        decided_by: who approved, rejected or reconciled it last; None where nobody did.
        value: the chosen value as JSON; None before it was chosen.
        receipt: the receipt as JSON; None before the value was chosen.
        result: what the effect returned, as JSON; None where there was no effect or it has not returned.
        reason: why it failed, waits, was rejected or is in doubt, or the name of the ending that released it.
        created_at: when the key was claimed first.
        updated_at: when the row last changed.
    """

    key: OperationKey = field(repr=False)
    state: State
    fence: int
    attempt: int
    owner: str
    lease_expires_at: float | None
    expires_at: float | None = None
    fingerprint: Fingerprint = field(repr=False)
    effect_kind: EffectKind | None = None
    decided_by: str | None = field(default=None, repr=False)
    value: bytes | None = field(default=None, repr=False)
    receipt: bytes | None = field(default=None, repr=False)
    result: bytes | None = field(default=None, repr=False)
    reason: str | None = field(default=None, repr=False)
    created_at: float
    updated_at: float

    @property
    def value_digest(self) -> str | None:
        """Return the hexadecimal SHA-256 of the stored value; None where there is none."""
        return None if self.value is None else sha256(self.value).hexdigest()


@dataclass(frozen=True, slots=True)
class Scanned:
    """Hold one row as ``Ledger.scan`` found it.

    Attributes:
        key: bytes of the operation key, whether they are text or not.
        record: the row; None where it is damaged, or of a state that this release does not know.
    """

    key: bytes = field(repr=False)
    record: Record | None


__all__ = ["LEASED", "PRUNABLE", "SETTLED", "Fingerprint", "Record", "Scanned", "State"]
