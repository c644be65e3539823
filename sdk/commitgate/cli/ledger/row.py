"""Say what a row of the ledger tells without its payloads: as plain data for programs, and in words."""

from __future__ import annotations

import json
from enum import StrEnum
from hashlib import sha256
from math import isfinite

from commitgate.effect_kind import RESUMABLE, EffectKind
from commitgate.ledger.record import LEASED, Record, State
from commitgate.ledger.states import EXPIRED_REASON, is_expired
from commitgate.retry.keys import effect_key


class Need(StrEnum):
    """Name what a row waits for that no call will do by itself."""

    APPROVAL = "approval"
    """A person must allow or forbid the stored value."""
    RECONCILIATION = "reconciliation"
    """It is in doubt, and must not be run again: somebody must find out downstream whether the effect happened."""


def need_of(row: Record, now: float) -> Need | None:
    """Return what a row waits for, None for nothing.

    Args:
        row: it.
        now: Unix time in seconds.
    """
    if row.state is State.AWAITING_APPROVAL:
        return None if is_expired(row, now) else Need.APPROVAL
    return Need.RECONCILIATION if is_in_doubt(row, now) and row.effect_kind not in RESUMABLE else None


def is_in_doubt(row: Record, now: float) -> bool:
    """Say whether nobody can know if the effect happened; also where the next call with the key will find that out."""
    # A transactional effect that ran would have settled its row.
    may_have_run = row.state is State.EFFECT_STARTED and row.effect_kind is not EffectKind.TRANSACTIONAL
    return row.state is State.IN_DOUBT or (may_have_run and not is_held(row, now))


def is_held(row: Record, now: float) -> bool:
    """Say whether a call holds the key."""
    return row.state in LEASED and row.lease_expires_at is not None and row.lease_expires_at > now


def may_show_reason(row: Record) -> bool:
    """Say whether the row's reason is one of the library's own, which hold no payload.

    The others are words of an effect, of a check that asked for a person, or of a person.
    """
    if row.state is State.REJECTED:
        return row.decided_by is None and row.reason == EXPIRED_REASON
    return row.state is State.RELEASED or (row.state is State.IN_DOUBT and row.decided_by is None)


def row_report(row: Record, now: float, *, has_payloads: bool) -> dict[str, object]:
    """Return a row as data for ``json``, without value, result, receipt and reasons unless they are asked for.

    Args:
        row: it.
        now: Unix time in seconds.
        has_payloads: whether payloads are asked for; each then is the text that is stored.
    """
    is_told = has_payloads or may_show_reason(row)
    report: dict[str, object] = {
        "key": row.key,
        "state": row.state.value,
        "in_doubt": is_in_doubt(row, now),
        "needs": need_of(row, now),
        "effect_name": row.fingerprint.effect_name,
        "effect_version": row.fingerprint.effect_version,
        "effect_kind": row.effect_kind,
        "attempt": row.attempt,
        "fence": row.fence,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "age_s": _time(max(0.0, now - row.updated_at)),
        "lease_left_s": None if row.lease_expires_at is None else _time(max(0.0, row.lease_expires_at - now)),
        "expires_in_s": None if row.expires_at is None else _time(max(0.0, row.expires_at - now)),
        "decided_by": row.decided_by,
        "reason": row.reason if is_told else None,
        "reason_is_hidden": row.reason is not None and not is_told,
        "value_digest": row.value_digest,
    }
    return report | payloads(row) if has_payloads else report


def payloads(row: Record) -> dict[str, object]:
    """Return the texts that a row holds; a byte that is no text stands in them as an escape."""
    stored = {"value": row.value, "result": row.result, "receipt": row.receipt}
    return {name: None if data is None else data.decode(errors="backslashreplace") for name, data in stored.items()}


def whole_report(row: Record, now: float, *, has_payloads: bool) -> dict[str, object]:
    """Return all of a row: what ``row_report`` does, and what tells it apart from any other."""
    fingerprint = row.fingerprint
    name, version = fingerprint.effect_name, fingerprint.effect_version
    return row_report(row, now, has_payloads=has_payloads) | {
        "effect_key": None if name is None or version is None else effect_key(row.key, name, version),
        "owner": row.owner,
        "language_digest": fingerprint.language_digest,
        "input_fingerprint": fingerprint.input_fingerprint,
        "lease_expires_at": None if row.lease_expires_at is None else _time(row.lease_expires_at),
        "expires_at": None if row.expires_at is None else _time(row.expires_at),
        "value_bytes": None if row.value is None else len(row.value),
        "result_bytes": None if row.result is None else len(row.result),
        "result_digest": None if row.result is None else sha256(row.result).hexdigest(),
        "receipt_bytes": None if row.receipt is None else len(row.receipt),
        "receipt_digest": None if row.receipt is None else sha256(row.receipt).hexdigest(),
        "next": next_steps(row, now),
    }


def json_line(report: dict[str, object]) -> str:
    """Return data as one line of JSON, in ASCII: a terminal shows no character of it as anything else."""
    return json.dumps(report, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def next_steps(row: Record, now: float) -> str:
    """Return in words what may be done about a row."""
    match row.state:
        case State.CLAIMED | State.APPROVED | State.EFFECT_STARTED if is_held(row, now):
            return "a call is at it: wait until it has ended, or until its lease has"
        case State.CLAIMED:
            return "the call that held it is gone: the next call with this key takes it over"
        case State.AWAITING_APPROVAL if is_expired(row, now):
            return "nobody decided in time: it ends as rejected, and nothing has run"
        case State.AWAITING_APPROVAL:
            return "a person must decide: approve or reject it"
        case State.APPROVED if is_expired(row, now):
            return "nobody made use of the approval in time: it ends as rejected, and nothing has run"
        case State.APPROVED:
            return "make the call again with the same key: it goes on with the approved value; or reject it"
        case State.EFFECT_STARTED if row.effect_kind in RESUMABLE:
            return "the call that ran the effect is gone: the next call with this key runs it again, which does no harm"
        case State.IN_DOUBT if row.effect_kind in RESUMABLE:
            again = "the next call with this key runs the effect again, which does no harm"
            return f"{again}; or reconcile it with --fence {row.fence}"
        case State.EFFECT_STARTED | State.IN_DOUBT:
            return (
                f"look downstream, by the effect key, whether it happened; then reconcile it with --fence {row.fence}"
            )
        case _:
            return _LASTING[row.state]


_LASTING = {
    State.COMMITTED: "nothing: a call with this key replays it",
    State.FAILED_BEFORE_EFFECT: "nothing: the effect declined and nothing happened; use another key to try again",
    State.NOT_APPLIED: "nothing: the effect did not happen; use another key to try again",
    State.REJECTED: "nothing: it was forbidden and nothing happened; use another key to ask again",
    State.RELEASED: "nothing: no value was chosen; the next call with this key begins anew",
}


def _time(seconds: float) -> float | None:
    # JSON has no word for what a row may hold that was changed by hand.
    return seconds if isfinite(seconds) else None


__all__ = [
    "Need",
    "is_held",
    "is_in_doubt",
    "json_line",
    "may_show_reason",
    "need_of",
    "next_steps",
    "payloads",
    "row_report",
    "whole_report",
]
