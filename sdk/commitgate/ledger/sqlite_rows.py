"""Turn records into rows of the ledger's table and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, TypeAlias

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger.record import PRUNABLE, Fingerprint, Record, Scanned, State
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    import sqlite3

Row: TypeAlias = """tuple[
    bytes, str, int, int, str, float | None, float | None, str, str | None, str | None, str | None, str, float, float,
    bytes | None, bytes | None, bytes | None, bytes | None, bytes | None
]"""

_COLUMNS = (
    "key, state, fence, attempt, owner, lease_expires_at, expires_at, language_digest, effect_name, effect_version, "
    "effect_kind, input_fingerprint, created_at, updated_at, decided_by, reason, receipt, result, value"
)
_PLACES = ", ".join("?" * len(_COLUMNS.split(",")))
_SELECT = f"SELECT {_COLUMNS} FROM commitgate_operation"

# One state at a time, so that each is read from the index in the order wanted, and no row that is not returned is read.
_OF_STATE = (
    "SELECT * FROM (SELECT rowid AS id, updated_at, key FROM commitgate_operation WHERE state = ? {order} LIMIT ?)"
)
_ENDED = ", ".join(f"'{state}'" for state in sorted(PRUNABLE | {State.CLAIMED}))
_WAITING = f"'{State.AWAITING_APPROVAL}', '{State.APPROVED}'"
_MOST_COUNTED = 2**62
"""Highest fence and attempt of a row that was not damaged: no claim can count beyond what SQLite holds."""

# A damaged fence would be kept as the floor, and no key could be claimed any more.
_IS_WHOLE = f"typeof(fence) = 'integer' AND fence BETWEEN 1 AND {_MOST_COUNTED}"
_IS_OLD = f"updated_at <= :before AND coalesce(lease_expires_at, :before) <= :before AND {_IS_WHOLE}"

# What ``states.is_prunable`` says. Each part names its states, so that it is found in the index.
SELECT_PRUNABLE = f"""
    SELECT rowid, fence FROM commitgate_operation WHERE state IN ({_ENDED}) AND {_IS_OLD}
    UNION ALL
    SELECT rowid, fence FROM commitgate_operation WHERE state IN ({_WAITING}) AND {_IS_OLD} AND expires_at <= :before
    LIMIT :limit
"""


def load(connection: sqlite3.Connection, key: OperationKey) -> Record | None:
    """Return the record of ``key``, None where there is none."""
    row = connection.execute(f"{_SELECT} WHERE key = ?", (key.encode(),)).fetchone()
    return None if row is None else _record(row)


def load_latest(
    connection: sqlite3.Connection, states: Collection[State], limit: int, *, is_oldest_first: bool = False
) -> tuple[Record, ...]:
    """Return at most ``limit`` records in one of ``states``, in the order of their last change, latest first."""
    if not states:
        return ()
    wanted = list(dict.fromkeys(states))
    parameters = [parameter for state in wanted for parameter in (state.value, limit)]
    statement = select_latest(len(wanted), is_oldest_first=is_oldest_first)
    return tuple(_record(row) for row in connection.execute(statement, (*parameters, limit)))


def load_after(connection: sqlite3.Connection, after: bytes, limit: int) -> tuple[Scanned, ...]:
    """Return at most ``limit`` rows whose keys come after ``after``, in the order of their keys."""
    rows = connection.execute(f"{_SELECT} WHERE key > ? ORDER BY key LIMIT ?", (after, limit))
    return tuple(_scanned(row) for row in rows)


def select_latest(states: int, *, is_oldest_first: bool = False) -> str:
    """Return the statement that lists rows of as many states; it takes a state and a limit for each, and a limit."""
    order = f"ORDER BY updated_at {'ASC' if is_oldest_first else 'DESC'}, key"
    found = " UNION ALL ".join([_OF_STATE.format(order=order)] * states)
    return f"{_SELECT} WHERE rowid IN (SELECT id FROM ({found}) {order} LIMIT ?) {order}"


def insert(connection: sqlite3.Connection, record: Record) -> None:
    """Add a record whose key is new."""
    _write(connection, f"INSERT INTO commitgate_operation ({_COLUMNS}) VALUES ({_PLACES})", _row(record))


def update(connection: sqlite3.Connection, record: Record) -> None:
    """Write a record over the one of its key."""
    row = _row(record)
    _write(connection, f"UPDATE commitgate_operation SET ({_COLUMNS}) = ({_PLACES}) WHERE key = ?", (*row, row[0]))


def _write(connection: sqlite3.Connection, statement: str, cells: tuple[object, ...]) -> None:
    if connection.execute(statement, cells).rowcount != 1:
        # RAISE(IGNORE) ends a statement without an error.
        raise LedgerUnavailableError(
            "the ledger's row was not written, though SQLite reports no error; remove the trigger from its table"
        )


def fence_floor(connection: sqlite3.Connection) -> int:
    """Return the highest fence of all rows that were ever deleted."""
    row = connection.execute("SELECT fence_floor FROM commitgate_ledger").fetchone()
    if row is None or not isinstance(row[0], int) or not 0 <= row[0] <= _MOST_COUNTED:
        # Taken for 0, it would give out fences a second time.
        raise LedgerUnavailableError("the ledger has lost its fence floor; restore it from a copy")
    return row[0]


def delete_prunable(connection: sqlite3.Connection, *, before: float, limit: int) -> int:
    """Delete at most ``limit`` rows that may be deleted, keep the fence floor, and return how many there were."""
    found = connection.execute(SELECT_PRUNABLE, {"before": before, "limit": limit}).fetchall()
    if not found:
        return 0
    connection.executemany("DELETE FROM commitgate_operation WHERE rowid = ?", [(row[0],) for row in found])
    highest = max(row[1] for row in found)
    connection.execute("UPDATE commitgate_ledger SET fence_floor = max(fence_floor, ?)", (highest,))
    return len(found)


def _row(record: Record) -> Row:
    fingerprint = record.fingerprint
    return (
        record.key.encode(),
        record.state.value,
        record.fence,
        record.attempt,
        record.owner,
        record.lease_expires_at,
        record.expires_at,
        fingerprint.language_digest,
        fingerprint.effect_name,
        fingerprint.effect_version,
        None if record.effect_kind is None else record.effect_kind.value,
        fingerprint.input_fingerprint,
        record.created_at,
        record.updated_at,
        _told(record.decided_by),
        _told(record.reason),
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


def _scanned(row: Row) -> Scanned:
    try:
        return Scanned(row[0], _checked_record(row))
    except (AttributeError, TypeError, ValueError):
        return Scanned(row[0], None)


def _checked_record(row: Row) -> Record:
    key, state, fence, attempt, owner, lease_expires_at, expires_at = row[:7]
    language_digest, effect_name, effect_version, effect_kind, input_fingerprint, created_at, updated_at = row[7:14]
    decided_by, reason, receipt, result, value = row[14:]
    return Record(
        key=OperationKey(key.decode()),
        state=State(state),
        # Columns of SQLite take values of any type.
        fence=_count(fence),
        attempt=_count(attempt),
        owner=_text(owner),
        lease_expires_at=_time(lease_expires_at),
        expires_at=_time(expires_at),
        fingerprint=Fingerprint(
            _text(language_digest),
            _optional_text(effect_name),
            _optional_text(effect_version),
            _text(input_fingerprint),
        ),
        effect_kind=None if effect_kind is None else EffectKind(effect_kind),
        decided_by=_words(decided_by),
        value=_bytes(value),
        receipt=_bytes(receipt),
        result=_bytes(result),
        reason=_words(reason),
        created_at=float(created_at),
        updated_at=float(updated_at),
    )


def _count(cell: object) -> int:
    if not isinstance(cell, int) or abs(cell) > _MOST_COUNTED:
        raise ValueError("a fence or an attempt is a count")
    return cell


def _text(cell: object) -> str:
    if not isinstance(cell, str):
        raise TypeError("a name or a digest is text")
    return cell


def _optional_text(cell: object) -> str | None:
    return None if cell is None else _text(cell)


def _time(cell: float | None) -> float | None:
    return None if cell is None else float(cell)


def _told(words: str | None) -> bytes | None:
    # Bytes, because what an effect or a person says may hold NUL or a lone surrogate.
    return None if words is None else words.encode("utf-8", "surrogatepass")


def _words(cell: object) -> str | None:
    told = _bytes(cell)
    return None if told is None else told.decode("utf-8", "surrogatepass")


def _bytes(cell: object) -> bytes | None:
    """Return a payload; one that was written back by hand may have become text."""
    if cell is None or isinstance(cell, bytes):
        return cell
    if isinstance(cell, str):
        return cell.encode()
    raise TypeError("a payload is bytes")


__all__ = [
    "SELECT_PRUNABLE",
    "Row",
    "delete_prunable",
    "fence_floor",
    "insert",
    "load",
    "load_after",
    "load_latest",
    "select_latest",
    "update",
]
