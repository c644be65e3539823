"""Bring the tables of a Postgres ledger up to date, however many processes come at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, LiteralString, TypeAlias

from commitgate.errors import LedgerUnavailableError

if TYPE_CHECKING:
    from psycopg import Connection

    OpenConnection: TypeAlias = Connection[tuple[object, ...]]

LOCK_SPACE = 0x434D4754
"""First half of the names of the ledger's advisory locks ("CMGT"), which are the whole database's."""

MIGRATION_LOCK = 1
FENCE_LOCK = 2
"""Held shared while a new key gets its first fence, and alone while rows are deleted: see ``postgres_rows``."""

OLDEST_SERVER = 140_000
"""Oldest server that is known to do, as ``server_version_num``."""

# Each entry brings the tables from version n, its index, to n + 1. Entries are only ever added; a new state is a new
# version too, though no table changes, so that no older program reads it. Every text that comes from outside is bytea:
# Postgres's own text takes no NUL, no lone surrogate, and only what the database's encoding has. Payloads that are not
# changed are not written again: large ones lie apart from their row.
MIGRATIONS: tuple[tuple[LiteralString, ...], ...] = (
    (
        """
        CREATE TABLE commitgate_schema (
            only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
            version integer NOT NULL,
            fence_floor bigint NOT NULL DEFAULT 0
        )
        """,
        "INSERT INTO commitgate_schema (version) VALUES (0)",
        """
        CREATE TABLE commitgate_operation (
            key bytea PRIMARY KEY,
            state text NOT NULL,
            fence bigint NOT NULL,
            attempt bigint NOT NULL,
            owner bytea NOT NULL,
            lease_expires_at double precision,
            expires_at double precision,
            language_digest bytea NOT NULL,
            effect_name bytea,
            effect_version bytea,
            input_fingerprint bytea NOT NULL,
            effect_kind text,
            decided_by bytea,
            created_at double precision NOT NULL,
            updated_at double precision NOT NULL,
            reason bytea,
            receipt bytea,
            result bytea,
            value bytea
        )
        """,
        "CREATE INDEX commitgate_operation_by_state ON commitgate_operation (state, updated_at)",
    ),
)


def prepare(connection: OpenConnection, place: str, *, lock_timeout_ms: int) -> None:
    """Make the tables, or bring them up to date. Blocks; raises what psycopg raises.

    Args:
        connection: outside of a transaction.
        place: the ledger, for messages.
        lock_timeout_ms: how long to wait for another process that does the same.

    Raises:
        LedgerUnavailableError: the server is too old, or the tables are a newer version's.
    """
    (server,) = _row(connection, "SELECT current_setting('server_version_num')::integer")
    if not isinstance(server, int) or server < OLDEST_SERVER:
        raise LedgerUnavailableError(f"the ledger {place} needs PostgreSQL {OLDEST_SERVER // 10_000} or later")
    if _version(connection, place, len(MIGRATIONS)) < len(MIGRATIONS):
        migrate(connection, place, lock_timeout_ms=lock_timeout_ms)


def migrate(
    connection: OpenConnection,
    place: str,
    *,
    lock_timeout_ms: int,
    migrations: Sequence[tuple[LiteralString, ...]] = MIGRATIONS,
) -> None:
    """Apply the migrations that are missing, all in one transaction, one process at a time."""
    with connection.transaction():
        connection.execute("SELECT set_config('lock_timeout', %s, true)", (str(lock_timeout_ms),))
        connection.execute("SET LOCAL synchronous_commit = on")
        # Before anything is looked at: what another process is making is then there or not there as a whole. Two
        # CREATE TABLE IF NOT EXISTS at once would fail on the catalog's own unique index.
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_SPACE, MIGRATION_LOCK))
        version = _version(connection, place, len(migrations))
        for migration in migrations[version:]:
            for statement in migration:
                connection.execute(statement)
        if version < len(migrations):
            connection.execute("UPDATE commitgate_schema SET version = %s", (len(migrations),))


def check_version(found: object, place: str, known: int = len(MIGRATIONS)) -> None:
    """Check that the tables are of the version that this release knows, or of an older one.

    Raises:
        LedgerUnavailableError: they are a newer version's, or nobody can say.
    """
    if not isinstance(found, int):
        raise LedgerUnavailableError(f"the ledger {place} has lost the row of its version; restore it from a copy")
    if found > known:
        raise LedgerUnavailableError(
            f"the ledger {place} was written by a newer commitgate (tables of version {found}, this one knows "
            f"{known}); upgrade commitgate"
        )


def _version(connection: OpenConnection, place: str, known: int) -> int:
    # Not to_regclass: it may answer from what the session knew before it waited for the lock.
    known_tables = "SELECT FROM pg_class WHERE relname = 'commitgate_schema' AND pg_table_is_visible(oid)"
    (is_there,) = _row(connection, f"SELECT EXISTS ({known_tables})")
    if not is_there:
        return 0
    (version,) = _row(connection, "SELECT max(version) FROM commitgate_schema")
    check_version(version, place, known)
    return version if isinstance(version, int) else 0


def _row(connection: OpenConnection, statement: LiteralString) -> tuple[object, ...]:
    row = connection.execute(statement).fetchone()
    assert row is not None, "an expression without a table gives one row"
    return row


__all__ = [
    "FENCE_LOCK",
    "LOCK_SPACE",
    "MIGRATIONS",
    "MIGRATION_LOCK",
    "OLDEST_SERVER",
    "check_version",
    "migrate",
    "prepare",
]
