"""Say what is wrong with one row of a ledger: what its state promises, its digests, its texts.

What a row should hold follows from the table in ``ledger.states``: where no way through it leads to such a row, the row
was changed by hand or damaged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite

from commitgate.gate.strict_parse import PARSER_NESTING, Parsed, strict_parse
from commitgate.ledger.record import LEASED, Record, State
from commitgate.outcome import Receipt
from commitgate.retry.keys import effect_key, operation_key_digest
from commitgate.run.receipt_json import load_receipt

_WITHOUT_VALUE = frozenset((State.CLAIMED, State.RELEASED))
_WITH_LEASE = frozenset((State.CLAIMED, State.EFFECT_STARTED))
_OF_EFFECTS = frozenset((State.EFFECT_STARTED, State.FAILED_BEFORE_EFFECT, State.IN_DOUBT, State.NOT_APPLIED))


def faults_of(row: Record) -> Iterator[tuple[str, str]]:
    """Yield a short stable name and a sentence without payload for each thing that is wrong with a row."""
    yield from _numbers(row)
    yield from _effect(row)
    yield from _lease(row)
    if row.state in _WITHOUT_VALUE:
        if row.value is not None or row.receipt is not None:
            yield "unexpected_value", f"a row in state {row.state} holds no value, but this one does"
    else:
        yield from _value(row)
    yield from _result(row)


def _numbers(row: Record) -> Iterator[tuple[str, str]]:
    if not 1 <= row.attempt <= row.fence:
        yield "counters", f"attempt {row.attempt} and fence {row.fence} do not fit: 1 <= attempt <= fence"
    times = (row.created_at, row.updated_at, row.lease_expires_at, row.expires_at)
    if not all(time is None or isfinite(time) for time in times):
        yield "time", "a time is not a finite number"


def _effect(row: Record) -> Iterator[tuple[str, str]]:
    fingerprint = row.fingerprint
    parts = (fingerprint.effect_name, fingerprint.effect_version, row.effect_kind)
    if any(part is None for part in parts) and any(part is not None for part in parts):
        yield "effect", "an effect has a name, a version and a kind, and this one lacks one of them"
    if fingerprint.effect_name is None and row.state in _OF_EFFECTS:
        yield "effect", f"a row in state {row.state} has an effect, but this one has none"


def _lease(row: Record) -> Iterator[tuple[str, str]]:
    if row.state in _WITH_LEASE and row.lease_expires_at is None:
        yield "lease", f"a row in state {row.state} has a lease, but this one has none"
    if row.state not in LEASED and row.lease_expires_at is not None:
        yield "lease", f"a row in state {row.state} has no lease, but this one has"
    if row.state is State.APPROVED and row.decided_by is None:
        yield "approval", "it is approved, but nobody is named who did it"


def _value(row: Record) -> Iterator[tuple[str, str]]:
    if row.value is None:
        yield "missing_value", f"a row in state {row.state} holds its value, but this one does not"
    else:
        parsed = strict_parse(row.value, nesting=PARSER_NESTING)
        if not isinstance(parsed, Parsed):
            yield "value", f"the value is not JSON as it is stored: {parsed.code}"
    if row.receipt is None:
        yield "missing_receipt", f"a row in state {row.state} holds a receipt, but this one does not"
        return
    try:
        receipt = load_receipt(row.receipt)
    except ValueError:
        yield "receipt", "the receipt cannot be read"
        return
    yield from _receipt(row, receipt)


def _receipt(row: Record, receipt: Receipt) -> Iterator[tuple[str, str]]:
    if receipt.value_digest is None:
        yield "missing_digest", "the receipt has no digest of the value, so nothing vouches for it"
    elif row.value is not None and row.value_digest != receipt.value_digest:
        yield "value_digest", "the value is not the one of which the receipt holds the digest"
    if receipt.operation_key_digest not in (None, operation_key_digest(row.key)):
        yield "key_digest", "the receipt is that of another key"
    name, version = row.fingerprint.effect_name, row.fingerprint.effect_version
    if (
        name is not None
        and version is not None
        and receipt.effect_key not in (None, effect_key(row.key, name, version))
    ):
        yield "effect_key", "the receipt is that of another effect"


def _result(row: Record) -> Iterator[tuple[str, str]]:
    has_effect = row.fingerprint.effect_name is not None
    if row.state is State.COMMITTED and has_effect and row.result is None:
        yield "missing_result", "the effect ran, but what it returned is not there"
    if row.result is None:
        return
    if not has_effect:
        yield "unexpected_result", "a row without an effect has no result, but this one does"
    elif row.state is not State.COMMITTED:
        yield "unexpected_result", f"a row in state {row.state} has no result, but this one does"
    if not _is_json(row.result):
        yield "result", "the result is not JSON"


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


__all__ = ["faults_of"]
