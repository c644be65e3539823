"""Name the steps that a ledger can be asked to take. What each does to a row is in ``states``."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from commitgate.effect_kind import EffectKind
from commitgate.ledger.record import Fingerprint


class Finding(StrEnum):
    """Say what looking downstream found out about an effect that is in doubt."""

    APPLIED = "applied"
    NOT_APPLIED = "not_applied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Claim:
    """Ask for the key: before the first request is sent."""

    fingerprint: Fingerprint
    owner: str
    lease_s: float
    effect_kind: EffectKind | None = None


@dataclass(frozen=True, slots=True)
class Extend:
    """Renew the lease: the heartbeat."""

    fence: int
    lease_s: float


@dataclass(frozen=True, slots=True)
class Propose:
    """Choose the value and leave it to a person."""

    fence: int
    value: bytes = field(repr=False)
    receipt: bytes = field(repr=False)
    reason: str = field(repr=False)
    expires_s: float | None = None


@dataclass(frozen=True, slots=True)
class StartEffect:
    """Choose the value, where it was not chosen before, and say that its effect is about to start: the intent."""

    fence: int
    lease_s: float
    value: bytes = field(repr=False)
    receipt: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CommitValue:
    """Choose and commit a value that has no effect."""

    fence: int
    value: bytes = field(repr=False)
    receipt: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """Record that the effect ran, with what it returned."""

    fence: int
    result: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class FailBeforeEffect:
    """Record that the effect declined cleanly."""

    fence: int
    reason: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MarkInDoubt:
    """Record that nobody knows whether the effect happened."""

    fence: int
    reason: str


@dataclass(frozen=True, slots=True)
class Release:
    """Give the key back: the call ended without choosing a value, or without making use of an approved one."""

    fence: int
    ending: str


@dataclass(frozen=True, slots=True)
class Approve:
    """Allow the stored value. ``value_digest`` names the one that was looked at; None allows whichever it is."""

    by: str = field(repr=False)
    value_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """Forbid the stored value."""

    by: str = field(repr=False)
    reason: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Say what was found out about an effect that is in doubt.

    ``fence`` is that of the row that was looked at, so that a finding about an earlier try settles no later one.
    """

    fence: int
    by: str = field(repr=False)
    finding: Finding
    result: bytes | None = field(repr=False)
    reason: str = field(repr=False)


FencedStep: TypeAlias = Extend | Propose | StartEffect | CommitValue | Commit | FailBeforeEffect | MarkInDoubt | Release
Decision: TypeAlias = Approve | Reject
Step: TypeAlias = Claim | FencedStep | Decision | Reconcile

__all__ = [
    "Approve",
    "Claim",
    "Commit",
    "CommitValue",
    "Decision",
    "Extend",
    "FailBeforeEffect",
    "FencedStep",
    "Finding",
    "MarkInDoubt",
    "Propose",
    "Reconcile",
    "Reject",
    "Release",
    "StartEffect",
    "Step",
]
