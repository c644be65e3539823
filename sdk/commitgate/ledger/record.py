"""Define what the ledger knows of one operation key. Payloads are bytes and are never shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum

from commitgate.retry.keys import OperationKey


class State(StrEnum):
    """Name the state of one operation key. A key without a row has none."""

    CLAIMED = "claimed"
    """A call holds the key under a lease; no value was chosen yet."""
    EFFECT_STARTED = "effect_started"
    """The value was chosen and stored; its effect may have happened."""
    COMMITTED = "committed"
    """The value stands; its effect, if there is one, ran and its result is stored."""
    FAILED_BEFORE_EFFECT = "failed_before_effect"
    """The effect declined cleanly: nothing happened."""
    IN_DOUBT = "in_doubt"
    """It cannot be known whether the effect happened; it is never run again by itself."""
    RELEASED = "released"
    """The call ended without choosing a value; the next one may claim."""


SETTLED = frozenset((State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.IN_DOUBT))
"""States that a claim replays instead of running anything."""


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
        fingerprint: what the key stands for.
        value: the chosen value as JSON; None before it was chosen.
        receipt: the receipt as JSON; None before the value was chosen.
        result: what the effect returned, as JSON; None where there was no effect or it has not returned.
        reason: why it failed or is in doubt, or the name of the ending that released it.
        created_at: when the key was claimed first.
        updated_at: when the row last changed.
    """

    key: OperationKey = field(repr=False)
    state: State
    fence: int
    attempt: int
    owner: str
    lease_expires_at: float | None
    fingerprint: Fingerprint = field(repr=False)
    value: bytes | None = field(default=None, repr=False)
    receipt: bytes | None = field(default=None, repr=False)
    result: bytes | None = field(default=None, repr=False)
    reason: str | None = field(default=None, repr=False)
    created_at: float
    updated_at: float


__all__ = ["SETTLED", "Fingerprint", "Record", "State"]
