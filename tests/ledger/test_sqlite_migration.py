"""A ledger's file of the first version becomes one of this version: with all its rows, whatever happens meanwhile."""

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from ledger.first_sqlite_tables import ROWS, make

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger import Claimed, Fingerprint, Record, SqliteLedger, State
from commitgate.ledger.sqlite_schema import APPLICATION_ID, MIGRATIONS, VERSION
from commitgate.retry import operation_key

OPENERS = 8


@pytest.fixture
def old_path(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    make(path)
    return path


def as_stored(row: tuple[Any, ...]) -> Record:
    """Return the record of a row as the first version wrote it."""
    key, state, fence, attempt, owner, lease, language, name, version, given, created, updated = row[:12]
    reason, receipt, result, value = row[12:]
    return Record(
        key=operation_key(key.decode()),
        state=State(state),
        fence=fence,
        attempt=attempt,
        owner=owner,
        lease_expires_at=lease,
        fingerprint=Fingerprint(language, name, version, given),
        effect_kind=None if name is None else EffectKind.ONCE,
        value=value,
        receipt=receipt,
        result=result,
        reason=None if reason is None else reason.decode("utf-8", "surrogatepass"),
        created_at=created,
        updated_at=updated,
    )


EXPECTED = tuple(as_stored(row) for row in reversed(ROWS))


async def rows_in(path: Path, **options: Any) -> tuple[Record, ...]:
    ledger = SqliteLedger(path, **options)
    try:
        return await ledger.list()
    finally:
        await ledger.aclose()


def ask(path: Path, statement: str) -> int:
    connection = sqlite3.connect(path)
    found = connection.execute(statement).fetchone()[0]
    connection.close()
    return found


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def content(path: Path) -> bytes:
    return path.read_bytes()


def tables_of(path: Path) -> dict[str, Any]:
    connection = sqlite3.connect(path)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')")]
    columns = {name: sorted(row[1:] for row in connection.execute(f"PRAGMA table_info({name})")) for name in names}
    indexed = {name: connection.execute(f"PRAGMA index_info({name})").fetchall() for name in names}
    found = {
        "columns": columns,
        "indexed": {name: [row[2] for row in rows] for name, rows in indexed.items()},
        "meta": connection.execute("SELECT * FROM commitgate_ledger").fetchall(),
        "marks": [connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")],
    }
    connection.close()
    return found


@pytest.mark.anyio
@pytest.mark.parametrize("shares_database", [False, True])
async def test_every_row_is_kept(old_path: Path, shares_database: bool) -> None:
    assert await rows_in(old_path, shares_database=shares_database) == EXPECTED
    assert await rows_in(old_path) == EXPECTED


@pytest.mark.anyio
async def test_a_migrated_file_is_as_a_new_one(old_path: Path, sqlite_path: Path) -> None:
    await rows_in(old_path)
    await rows_in(sqlite_path)
    assert tables_of(old_path) == tables_of(sqlite_path)
    assert tables_of(old_path)["meta"] == [(1, VERSION, 0)]
    # Where the first version looks, it finds a newer one, and refuses.
    assert tables_of(old_path)["marks"] == [(APPLICATION_ID,), (VERSION,)]


def test_every_older_version_has_a_way_up() -> None:
    assert list(MIGRATIONS) == list(range(1, VERSION))


@pytest.mark.anyio
async def test_operations_of_before_go_on(old_path: Path) -> None:
    ledger = SqliteLedger(old_path, clock=lambda: 1_000.0)
    fingerprint = Fingerprint("l", "refund", "1", "i")
    replayed = await ledger.claim(operation_key("done"), fingerprint, owner="new", lease_s=30.0)
    assert isinstance(replayed, Record)
    assert replayed.result == b'"T-1"'
    await ledger.commit(operation_key("started"), 2, result=b'"T-2"')
    claimed = await ledger.claim(operation_key("schlüssel"), Fingerprint("l", None, None, "i"), owner="n", lease_s=30.0)
    assert claimed == Claimed(5, 5)
    assert await ledger.prune(older_than_s=500.0) == 3
    assert {row.key for row in await ledger.list()} == {"claimed", "started", "doubt", "schlüssel"}
    # The highest fence that was deleted is that of "done".
    assert await ledger.claim(operation_key("done"), fingerprint, owner="new", lease_s=30.0) == Claimed(8, 1)
    await ledger.aclose()


KILLED = """
import os, signal, sqlite3, sys, anyio
from pathlib import Path
from ledger.first_sqlite_tables import make
from commitgate.ledger import SqliteLedger
connect = sqlite3.connect

def killed_at(statement):
    left = [statement]
    def count(_):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
    def connect_counted(*args, **options):
        connection = connect(*args, **options)
        connection.set_trace_callback(count)
        return connection
    return connect_counted

for statement in range(1000):
    path = Path(sys.argv[1]) / f"{statement}.sqlite"
    child = os.fork()
    if child == 0:
        make(path)
        sqlite3.connect = killed_at(statement)
        anyio.run(SqliteLedger(path).list)
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    if ended == 0:
        break
    assert os.WTERMSIG(ended) == signal.SIGKILL
print(statement)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_migration_that_is_killed_at_any_statement_is_done_by_the_next_opening(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", KILLED, str(tmp_path)]
    tests = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    whole = int(subprocess.run(command, env=tests, timeout=120, check=True, stdout=subprocess.PIPE, text=True).stdout)
    paths = [tmp_path / f"{statement}.sqlite" for statement in range(whole + 1)]
    versions = [ask(path, "PRAGMA user_version") for path in paths]
    # Nothing of it is there before all of it is.
    assert versions == sorted(versions)
    assert set(versions) == {1, VERSION}
    assert versions.count(1) > len(MIGRATIONS[1])
    assert [anyio.run(rows_in, path) for path in paths] == [EXPECTED] * len(paths)


def test_threads_that_open_an_old_file_at_once_all_find_its_rows(old_path: Path) -> None:
    barrier = threading.Barrier(OPENERS, timeout=60)

    def open_it(_: int) -> tuple[Record, ...]:
        barrier.wait()
        return anyio.run(rows_in, old_path)

    with ThreadPoolExecutor(OPENERS) as pool:
        assert list(pool.map(open_it, range(OPENERS))) == [EXPECTED] * OPENERS


def test_processes_that_open_an_old_file_at_once_all_find_its_rows(old_path: Path) -> None:
    program = """
import sys, anyio
from commitgate.ledger import SqliteLedger
sys.stdin.readline()
print(len(anyio.run(SqliteLedger(sys.argv[1]).list)))
"""
    command = [sys.executable, "-c", program, str(old_path)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(OPENERS // 2)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[0].strip() for process in started] == [str(len(ROWS))] * len(started)


@pytest.mark.anyio
@pytest.mark.parametrize("shares_database", [False, True])
@pytest.mark.parametrize(
    "statement",
    [f"PRAGMA user_version = {VERSION + 1}", f"UPDATE commitgate_ledger SET version = {VERSION + 1}"],
    ids=["file", "table"],
)
async def test_a_newer_file_is_refused_and_left_alone(sqlite_path: Path, shares_database: bool, statement: str) -> None:
    await rows_in(sqlite_path)
    change(sqlite_path, statement)
    before = content(sqlite_path)
    with pytest.raises(LedgerUnavailableError, match="upgrade commitgate"):
        await rows_in(sqlite_path, shares_database=shares_database)
    assert content(sqlite_path) == before


@pytest.mark.anyio
@pytest.mark.parametrize("statement", ["DELETE FROM commitgate_ledger", "UPDATE commitgate_ledger SET version = 'two'"])
async def test_a_file_that_lost_its_version_is_refused(sqlite_path: Path, statement: str) -> None:
    await rows_in(sqlite_path)
    change(sqlite_path, statement)
    with pytest.raises(LedgerUnavailableError, match="lost its version"):
        await rows_in(sqlite_path)


@pytest.mark.anyio
async def test_a_fence_floor_that_is_lost_while_the_file_is_open_gives_out_no_fence(
    sqlite_path: Path, fingerprint: Fingerprint
) -> None:
    ledger = SqliteLedger(sqlite_path)
    await ledger.list()
    change(sqlite_path, "DELETE FROM commitgate_ledger")
    with pytest.raises(LedgerUnavailableError, match="fence floor"):
        await ledger.claim(operation_key("x"), fingerprint, owner="first", lease_s=30.0)
    assert await ledger.list() == ()
    await ledger.aclose()
