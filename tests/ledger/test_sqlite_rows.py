"""What is read and deleted by SQL in SQLite agrees with the table of states, and is found by indexes."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger import Fingerprint, Record, State
from commitgate.ledger.sqlite_rows import (
    SELECT_PRUNABLE,
    delete_prunable,
    fence_floor,
    insert,
    load,
    load_after,
    load_latest,
    select_latest,
    update,
)
from commitgate.ledger.sqlite_schema import TABLES
from commitgate.ledger.states import is_prunable
from commitgate.retry import operation_key

NOW = 500.0
TIMES = st.sampled_from([1.0, 499.0, NOW, 501.0, 1e300])
WORDS = st.text(st.characters(), max_size=4)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
RECORDS = st.builds(
    Record,
    key=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=3)
    .filter(str.strip)
    .map(operation_key),
    state=st.sampled_from(State),
    fence=st.integers(1, 2**62),
    attempt=st.integers(1, 2**62),
    owner=NAMES,
    lease_expires_at=st.none() | TIMES,
    expires_at=st.none() | TIMES,
    fingerprint=st.builds(Fingerprint, NAMES, st.none() | NAMES, st.none() | NAMES, NAMES),
    effect_kind=st.none() | st.sampled_from(EffectKind),
    decided_by=st.none() | WORDS,
    value=st.none() | st.binary(max_size=4),
    receipt=st.none() | st.binary(max_size=4),
    result=st.none() | st.binary(max_size=4),
    reason=st.none() | WORDS,
    created_at=TIMES,
    updated_at=TIMES,
)
LEDGERS = st.lists(RECORDS, max_size=12, unique_by=lambda record: record.key)


def new_ledger(*records: Record) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for statement in TABLES:
        connection.execute(statement)
    for record in records:
        insert(connection, record)
    return connection


@pytest.fixture(scope="module")
def large_ledger() -> Iterator[sqlite3.Connection]:
    """Hold 100,000 rows, so that SQLite plans as it would in the field."""
    connection = new_ledger()
    states = list(State)
    connection.executemany(
        "INSERT INTO commitgate_operation (key, state, fence, attempt, owner, language_digest, input_fingerprint, "
        "created_at, updated_at) VALUES (?, ?, 1, 1, 'o', 'l', 'i', 0, ?)",
        ((str(number).encode(), states[number % len(states)], float(number)) for number in range(100_000)),
    )
    connection.execute("ANALYZE")
    yield connection
    connection.close()


def plan_of(connection: sqlite3.Connection, statement: str, parameters: object) -> list[str]:
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]


@settings(deadline=None)
@given(RECORDS, RECORDS)
def test_a_record_is_read_as_it_was_written(first: Record, second: Record) -> None:
    connection = new_ledger(first)
    assert load(connection, first.key) == first
    if second.key == first.key:
        update(connection, second)
        assert load(connection, first.key) == second
    connection.close()


@settings(deadline=None)
@given(LEDGERS, st.integers(1, 15))
def test_what_is_pruned_is_what_the_table_of_states_says(records: list[Record], limit: int) -> None:
    connection = new_ledger(*records)
    doomed = {record.key: record for record in records if is_prunable(record, before=NOW)}
    deleted = delete_prunable(connection, before=NOW, limit=limit)
    assert deleted == min(limit, len(doomed))
    left = {record.key for record in records if load(connection, record.key) is not None}
    gone = {record.key for record in records} - left
    assert len(gone) == deleted
    assert gone <= doomed.keys()
    assert fence_floor(connection) == max((doomed[key].fence for key in gone), default=0)
    connection.close()


@settings(deadline=None)
@given(LEDGERS, st.sets(st.sampled_from(State)), st.integers(1, 15))
def test_what_is_listed_is_the_latest_of_the_states_asked_for(
    records: list[Record], states: set[State], limit: int
) -> None:
    connection = new_ledger(*records)
    wanted = [record for record in records if record.state in states]
    wanted.sort(key=lambda record: (-record.updated_at, record.key.encode()))
    assert list(load_latest(connection, states, limit)) == wanted[:limit]
    assert list(load_latest(connection, [*states, *states], limit)) == wanted[:limit]
    wanted.sort(key=lambda record: (record.updated_at, record.key.encode()))
    assert list(load_latest(connection, states, limit, is_oldest_first=True)) == wanted[:limit]
    connection.close()


def test_the_fence_floor_never_falls(fingerprint: Fingerprint) -> None:
    connection = new_ledger()
    for fence in (7, 3):
        insert(connection, ended(fence, fingerprint))
        assert delete_prunable(connection, before=NOW, limit=10) == 1
        assert fence_floor(connection) == 7
    for damaged in ("many", -1, 2**63 - 1, 1.5):
        connection.execute("UPDATE commitgate_ledger SET fence_floor = ?", (damaged,))
        with pytest.raises(LedgerUnavailableError, match="fence floor"):
            fence_floor(connection)
    connection.close()


@pytest.mark.parametrize("count", [float("inf"), 2**63 - 1, 1.5, "one", b"\x01"], ids=repr)
@pytest.mark.parametrize("column", ["fence", "attempt"])
def test_a_row_with_a_damaged_count_is_told_and_kept(column: str, count: object, fingerprint: Fingerprint) -> None:
    connection = new_ledger(ended(7, fingerprint), ended(3, fingerprint))
    connection.execute(f"UPDATE commitgate_operation SET {column} = ? WHERE fence = 7", (count,))
    with pytest.raises(LedgerUnavailableError, match="damaged"):
        load(connection, operation_key("7"))
    assert [scanned.record is None for scanned in load_after(connection, b"", 9)] == [False, True]
    if column == "fence":
        assert delete_prunable(connection, before=NOW, limit=10) == 1
        assert fence_floor(connection) == 3
    connection.close()


@pytest.mark.parametrize(
    "column", ["owner", "language_digest", "effect_name", "effect_version", "effect_kind", "input_fingerprint"]
)
def test_a_row_with_bytes_for_a_text_is_told(column: str, fingerprint: Fingerprint) -> None:
    connection = new_ledger(ended(7, fingerprint))
    connection.execute(f"UPDATE commitgate_operation SET {column} = x'6f6e6365'")
    with pytest.raises(LedgerUnavailableError, match="damaged"):
        load(connection, operation_key("7"))
    connection.close()


def ended(fence: int, fingerprint: Fingerprint) -> Record:
    return Record(
        key=operation_key(str(fence)),
        state=State.RELEASED,
        fence=fence,
        attempt=1,
        owner="o",
        lease_expires_at=None,
        fingerprint=fingerprint,
        created_at=1.0,
        updated_at=1.0,
    )


@pytest.mark.parametrize("states", [[State.IN_DOUBT], list(State)], ids=["one state", "all states"])
def test_listing_reads_the_rows_it_returns_and_no_others(large_ledger: sqlite3.Connection, states: list[State]) -> None:
    parameters = [thing for state in states for thing in (state.value, 100)]
    plan = plan_of(large_ledger, select_latest(len(states)), (*parameters, 100))
    from_index = [step for step in plan if "commitgate_operation_state (state=?)" in step]
    assert len(from_index) == len(states)
    by_rowid = [step for step in plan if "commitgate_operation USING INTEGER PRIMARY KEY" in step]
    assert len(by_rowid) == 1
    assert not [step for step in plan if step.startswith("SCAN commitgate_operation")]


def test_pruning_looks_up_old_rows_in_the_index(large_ledger: sqlite3.Connection) -> None:
    plan = plan_of(large_ledger, SELECT_PRUNABLE, {"before": 10.0, "limit": 1_000})
    found = [step for step in plan if "commitgate_operation" in step]
    assert len(found) == 2
    assert all("commitgate_operation_state (state=? AND updated_at<?)" in step for step in found)


def test_a_key_is_looked_up_and_not_searched_for(large_ledger: sqlite3.Connection) -> None:
    (step,) = plan_of(large_ledger, "SELECT * FROM commitgate_operation WHERE key = ?", (b"1",))
    assert step.startswith("SEARCH commitgate_operation USING INDEX sqlite_autoindex_commitgate_operation_1 (key=?)")
