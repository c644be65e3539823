"""Turn records into rows of the ledger's table in Postgres and back, under the locks that make a step whole.

The isolation level is READ COMMITTED, and that is enough: whatever a step decides by is one row that is locked before
it is looked at, and the statement that waited for the lock gives the row as it is afterwards. Only a key without a row
has nothing to lock. Two calls that find none both insert, the primary key lets one of them through, and the other
begins again. A higher level would only add failures that have to be tried again.

The time is the database's, read after the lock is there: waiting for it must not make the time stale.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, LiteralString, TypeAlias, cast

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger.postgres_schema import FENCE_LOCK, LOCK_SPACE, check_version
from commitgate.ledger.record import PRUNABLE, Fingerprint, Record, Scanned, State
from commitgate.retry.keys import OperationKey

if TYPE_CHECKING:
    from psycopg import Connection

    OpenConnection: TypeAlias = Connection[tuple[object, ...]]

Cell: TypeAlias = "bytes | str | int | float | None"

_PLAIN: LiteralString = (
    "key, state, fence, attempt, owner, lease_expires_at, expires_at, language_digest, effect_name, effect_version, "
    "input_fingerprint, effect_kind, decided_by, created_at, updated_at, reason"
)
_PAYLOADS: LiteralString = "receipt, result, value"
_COLUMNS: LiteralString = f"{_PLAIN}, {_PAYLOADS}"
_PLAIN_COLUMNS: LiteralString = f"{_PLAIN}, NULL::bytea AS receipt, NULL::bytea AS result, NULL::bytea AS value"
_NAMES = tuple(_COLUMNS.split(", "))

NOW: LiteralString = "extract(epoch FROM clock_timestamp())::double precision"
"""The database's Unix time in seconds, at the moment in which it is asked."""

_PLACES = ", ".join(["%s"] * len(_NAMES))
_INSERT = f"INSERT INTO commitgate_operation ({_COLUMNS}) VALUES ({_PLACES}) ON CONFLICT (key) DO NOTHING".encode()


def load(
    connection: OpenConnection, key: OperationKey, place: str, *, lock: LiteralString, has_payloads: bool
) -> tuple[Record | None, float]:
    """Return the record of ``key``, None where there is none, and the time.

    Args:
        connection: in a transaction.
        key: the operation key.
        place: the ledger, for messages.
        lock: ``FOR UPDATE`` to write, ``FOR SHARE`` to wait for whoever writes, or nothing.
        has_payloads: whether receipt, result and value are wanted; None stands in their place otherwise.

    Raises:
        LedgerUnavailableError: the tables are a newer version's, or the row is damaged.
    """
    columns: LiteralString = _COLUMNS if has_payloads else _PLAIN_COLUMNS
    # The row is locked inside of the query with a name of its own, and the clock is read outside: in one and the same
    # query it would be read before the lock is waited for.
    statement: LiteralString = (
        f"WITH found AS MATERIALIZED (SELECT {columns} FROM commitgate_operation WHERE key = %s {lock}) "
        f"SELECT version, {NOW}, found.* FROM commitgate_schema LEFT JOIN found ON true"
    )
    row = connection.execute(statement, (key.encode(),), binary=True).fetchone()
    check_version(None if row is None else row[0], place)
    assert row is not None, "a missing version was refused"
    return None if row[2] is None else _record(row[2:]), cast("float", row[1])


def load_latest(
    connection: OpenConnection, states: Collection[State], limit: int, *, is_oldest_first: bool = False
) -> tuple[Record, ...]:
    """Return at most ``limit`` records in one of ``states``, in the order of their last change, latest first."""
    order: LiteralString = "ASC" if is_oldest_first else "DESC"
    statement: LiteralString = (
        f"SELECT {_COLUMNS} FROM commitgate_operation WHERE state = ANY(%s) ORDER BY updated_at {order}, key LIMIT %s"
    )
    rows = connection.execute(statement, ([state.value for state in states], limit), binary=True)
    return tuple(_record(row) for row in rows)


def load_after(connection: OpenConnection, after: bytes, limit: int) -> tuple[Scanned, ...]:
    """Return at most ``limit`` rows whose keys come after ``after``, in the order of their keys."""
    statement: LiteralString = f"SELECT {_COLUMNS} FROM commitgate_operation WHERE key > %s ORDER BY key LIMIT %s"
    return tuple(_scanned(row) for row in connection.execute(statement, (after, limit), binary=True))


def lock_fence_floor(connection: OpenConnection) -> int:
    """Return the highest fence of all rows that were deleted, and let none be deleted until the transaction ends.

    The lock keeps a fence from being given out twice: without it, a row could be made by another call and deleted again
    between the look at the floor and the insert.
    """
    connection.execute("SELECT pg_advisory_xact_lock_shared(%s, %s)", (LOCK_SPACE, FENCE_LOCK))
    # A statement of its own: its snapshot is taken when the lock is there.
    row = connection.execute("SELECT fence_floor FROM commitgate_schema").fetchone()
    return 0 if row is None else cast("int", row[0])


def insert(connection: OpenConnection, record: Record) -> bool:
    """Add a record and return True; False where another call has made one of its key meanwhile."""
    return connection.execute(_INSERT, _cells(record)).rowcount == 1


def update(connection: OpenConnection, before: Record, after: Record) -> None:
    """Write what differs between two records of one key, so that renewing a lease does not write payloads again.

    Raises:
        LedgerUnavailableError: the database did not keep the write: a trigger can swallow it without an error.
    """
    cells = zip(_NAMES, _cells(before), _cells(after), strict=True)
    changed = [(name, new) for name, old, new in cells if new != old]
    if not changed:
        return
    assignments = ", ".join(f"{name} = %s" for name, _ in changed)
    statement = f"UPDATE commitgate_operation SET {assignments} WHERE key = %s"
    written = connection.execute(statement.encode(), (*(cell for _, cell in changed), after.key.encode()))
    if written.rowcount != 1:
        raise LedgerUnavailableError(
            "the database took a write of the ledger's and did not keep it; remove the trigger or rule from its tables"
        )


def delete_old(connection: OpenConnection, older_than_s: float, limit: int) -> int:
    """Delete rows on which nothing can hang any more, and return how many; see ``states.is_prunable``."""
    connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_SPACE, FENCE_LOCK))
    # Rows that a call is working on are locked, and left for the next time.
    statement: LiteralString = f"""
        WITH moment AS MATERIALIZED (SELECT {NOW} - %(age)s AS before),
        old AS MATERIALIZED (
            SELECT key FROM commitgate_operation, moment
            WHERE updated_at <= before AND coalesce(lease_expires_at, before) <= before
            AND (state = ANY(%(settled)s) OR (state = ANY(%(waiting)s) AND expires_at <= before))
            ORDER BY updated_at LIMIT %(limit)s FOR UPDATE OF commitgate_operation SKIP LOCKED
        ),
        gone AS (DELETE FROM commitgate_operation USING old WHERE commitgate_operation.key = old.key RETURNING fence),
        counted AS (SELECT count(*) AS rows, coalesce(max(fence), 0) AS highest FROM gone),
        kept AS (UPDATE commitgate_schema SET fence_floor = highest FROM counted WHERE fence_floor < highest)
        SELECT rows FROM counted
    """
    parameters = {
        "age": older_than_s,
        "settled": [state.value for state in (*PRUNABLE, State.CLAIMED)],
        "waiting": [State.AWAITING_APPROVAL.value, State.APPROVED.value],
        "limit": limit,
    }
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None, "counting gives one row"
    return cast("int", row[0])


def _cells(record: Record) -> tuple[Cell, ...]:
    fingerprint = record.fingerprint
    return (
        record.key.encode(),
        record.state.value,
        record.fence,
        record.attempt,
        _encoded(record.owner),
        record.lease_expires_at,
        record.expires_at,
        _encoded(fingerprint.language_digest),
        _encoded(fingerprint.effect_name),
        _encoded(fingerprint.effect_version),
        _encoded(fingerprint.input_fingerprint),
        None if record.effect_kind is None else record.effect_kind.value,
        _encoded(record.decided_by),
        record.created_at,
        record.updated_at,
        _encoded(record.reason),
        record.receipt,
        record.result,
        record.value,
    )


def _record(row: tuple[object, ...]) -> Record:
    try:
        return _checked_record(row)
    except (AttributeError, TypeError, ValueError) as error:
        raise LedgerUnavailableError(
            "a ledger row is damaged, or of a state that this release does not know; restore the ledger from a copy"
        ) from error


def _scanned(row: tuple[object, ...]) -> Scanned:
    try:
        return Scanned(cast("bytes", row[0]), _checked_record(row))
    except (AttributeError, TypeError, ValueError):
        return Scanned(cast("bytes", row[0]), None)


def _checked_record(row: tuple[object, ...]) -> Record:
    key, state, fence, attempt, owner, lease_expires_at, expires_at, language_digest, effect_name = row[:9]
    effect_version, input_fingerprint, effect_kind, decided_by, created_at, updated_at, reason = row[9:16]
    receipt, result, value = cast("tuple[bytes | None, bytes | None, bytes | None]", row[16:])
    return Record(
        key=OperationKey(cast("bytes", key).decode()),
        state=State(cast("str", state)),
        fence=cast("int", fence),
        attempt=cast("int", attempt),
        owner=_text(owner),
        lease_expires_at=cast("float | None", lease_expires_at),
        expires_at=cast("float | None", expires_at),
        fingerprint=Fingerprint(
            _text(language_digest),
            _optional_text(effect_name),
            _optional_text(effect_version),
            _text(input_fingerprint),
        ),
        effect_kind=None if effect_kind is None else EffectKind(cast("str", effect_kind)),
        decided_by=_optional_text(decided_by),
        value=value,
        receipt=receipt,
        result=result,
        reason=_optional_text(reason),
        created_at=cast("float", created_at),
        updated_at=cast("float", updated_at),
    )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _text(cell: object) -> str:
    return cast("bytes", cell).decode("utf-8", "surrogatepass")


def _optional_text(cell: object) -> str | None:
    return None if cell is None else _text(cell)


def time_of(connection: OpenConnection) -> float:
    """Return the database's Unix time in seconds."""
    statement: LiteralString = f"SELECT {NOW}"
    row = connection.execute(statement, binary=True).fetchone()
    assert row is not None, "a SELECT without a table has one row"
    return cast("float", row[0])


__all__ = [
    "NOW",
    "delete_old",
    "insert",
    "load",
    "load_after",
    "load_latest",
    "lock_fence_floor",
    "time_of",
    "update",
]
