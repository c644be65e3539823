"""Turn records into rows of the ledger's table and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypeAlias

from commitgate.errors import LedgerUnavailableError
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    import sqlite3

Row: TypeAlias = """tuple[
    bytes, str, int, int, str, float | None, str, str | None, str | None, str, float, float,
    bytes | None, bytes | None, bytes | None, bytes | None
]"""

_COLUMNS = (
    "key, state, fence, attempt, owner, lease_expires_at, language_digest, effect_name, effect_version, "
    "input_fingerprint, created_at, updated_at, reason, receipt, result, value"
)
_PLACES = ", ".join("?" * len(_COLUMNS.split(",")))
_SELECT = f"SELECT {_COLUMNS} FROM operation"


def load(connection: sqlite3.Connection, key: OperationKey) -> Record | None:
    """Return the record of ``key``, None where there is none."""
    row = connection.execute(f"{_SELECT} WHERE key = ?", (key.encode(),)).fetchone()
    return None if row is None else _record(row)


def load_latest(connection: sqlite3.Connection, states: Collection[State], limit: int) -> tuple[Record, ...]:
    """Return at most ``limit`` records in one of ``states``, latest change first."""
    places = ", ".join("?" * len(states))
    statement = f"{_SELECT} WHERE state IN ({places}) ORDER BY updated_at DESC, key LIMIT ?"
    return tuple(_record(row) for row in connection.execute(statement, (*states, limit)))


def insert(connection: sqlite3.Connection, record: Record) -> None:
    """Add a record whose key is new."""
    connection.execute(f"INSERT INTO operation ({_COLUMNS}) VALUES ({_PLACES})", _row(record))


def update(connection: sqlite3.Connection, record: Record) -> None:
    """Write a record over the one of its key."""
    row = _row(record)
    connection.execute(f"UPDATE operation SET ({_COLUMNS}) = ({_PLACES}) WHERE key = ?", (*row, row[0]))


def _row(record: Record) -> Row:
    fingerprint = record.fingerprint
    return (
        record.key.encode(),
        record.state.value,
        record.fence,
        record.attempt,
        record.owner,
        record.lease_expires_at,
        fingerprint.language_digest,
        fingerprint.effect_name,
        fingerprint.effect_version,
        fingerprint.input_fingerprint,
        record.created_at,
        record.updated_at,
        # Bytes, because what an effect says may hold NUL or a lone surrogate.
        None if record.reason is None else record.reason.encode("utf-8", "surrogatepass"),
        record.receipt,
        record.result,
        record.value,
    )


def _record(row: Row) -> Record:
    try:
        return _checked_record(row)
    except (AttributeError, TypeError, ValueError) as error:
        raise LedgerUnavailableError(
            "a ledger row is damaged, or of a state that this release does not know; restore the ledger from a copy"
        ) from error


def _checked_record(row: Row) -> Record:
    key, state, fence, attempt, owner, lease_expires_at, language_digest, effect_name, effect_version = row[:9]
    input_fingerprint, created_at, updated_at, reason, receipt, result, value = row[9:]
    return Record(
        key=OperationKey(key.decode()),
        state=State(state),
        # Columns of SQLite take values of any type.
        fence=int(fence),
        attempt=int(attempt),
        owner=owner,
        lease_expires_at=None if lease_expires_at is None else float(lease_expires_at),
        fingerprint=Fingerprint(language_digest, effect_name, effect_version, input_fingerprint),
        value=_bytes(value),
        receipt=_bytes(receipt),
        result=_bytes(result),
        reason=None if reason is None else (_bytes(reason) or b"").decode("utf-8", "surrogatepass"),
        created_at=float(created_at),
        updated_at=float(updated_at),
    )


def _bytes(cell: object) -> bytes | None:
    """Return a payload; one that was written back by hand may have become text."""
    if cell is None or isinstance(cell, bytes):
        return cell
    if isinstance(cell, str):
        return cell.encode()
    raise TypeError("a payload is bytes")


__all__ = ["Row", "insert", "load", "load_latest", "update"]
