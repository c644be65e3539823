"""A ledger in a database of the caller's: it adds its own tables, and touches nothing that is the caller's."""

import os
import sqlite3
import stat
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger import Claimed, Fingerprint, Ledger, SqliteLedger, State
from commitgate.ledger.sqlite_schema import APPLICATION_ID
from commitgate.retry import operation_key

KEY = operation_key("case-4711")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.executescript("""
        PRAGMA application_id = 1234;
        PRAGMA user_version = 99;
        CREATE TABLE operation (id INTEGER PRIMARY KEY, patient TEXT);
        CREATE INDEX operation_patient ON operation (patient);
        CREATE VIEW patients AS SELECT patient FROM operation;
        INSERT INTO operation VALUES (1, 'Ada');
    """)
    connection.close()
    path.chmod(0o640)
    return path


def callers_part(path: Path) -> dict[str, Any]:
    connection = sqlite3.connect(path)
    found = {
        "schema": connection.execute(
            "SELECT * FROM sqlite_master WHERE tbl_name NOT LIKE 'commitgate_%' ORDER BY name"
        ).fetchall(),
        "rows": connection.execute("SELECT * FROM operation").fetchall(),
        "marks": [connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")],
        "mode": stat.S_IMODE(path.stat().st_mode),
    }
    connection.close()
    return found


def content(path: Path) -> bytes:
    return path.read_bytes()


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def whole_operation(ledger: Ledger, fingerprint: Fingerprint) -> None:
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    await ledger.start_effect(KEY, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    await ledger.commit(KEY, claimed.fence, result=b"2")


@pytest.mark.anyio
async def test_what_is_the_callers_is_not_touched(shop: Path, fingerprint: Fingerprint) -> None:
    before = callers_part(shop)
    first = SqliteLedger(shop, shares_database=True)
    await whole_operation(first, fingerprint)
    await first.aclose()
    assert callers_part(shop) == before
    again = SqliteLedger(shop, shares_database=True)
    row = await again.read(KEY)
    assert row is not None
    assert row.state is State.COMMITTED
    assert await again.prune(older_than_s=0.0) == 1
    await again.aclose()
    assert callers_part(shop) == before
    connection = sqlite3.connect(shop)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.anyio
@pytest.mark.parametrize("has_ledger", [False, True])
async def test_a_callers_database_is_refused_unless_sharing_is_asked_for(shop: Path, has_ledger: bool) -> None:
    if has_ledger:
        sharing = SqliteLedger(shop, shares_database=True)
        await sharing.list()
        await sharing.aclose()
    before = content(shop)
    ledger = SqliteLedger(shop)
    with pytest.raises(LedgerUnavailableError, match=r"another program.*shares_database=True"):
        await ledger.read(KEY)
    assert content(shop) == before
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("place", ["missing.db", "missing/shop.db", "dangling.db"])
async def test_a_missing_database_is_not_made(tmp_path: Path, place: str) -> None:
    (tmp_path / "dangling.db").symlink_to(tmp_path / "nowhere.db")
    before = files_in(tmp_path)
    ledger = SqliteLedger(tmp_path / place, shares_database=True)
    with pytest.raises(LedgerUnavailableError, match=r"no database .* to share; check the path, or make the database"):
        await ledger.read(KEY)
    assert files_in(tmp_path) == before
    await ledger.aclose()


@pytest.mark.anyio
async def test_an_empty_database_can_be_shared_and_stays_the_callers(tmp_path: Path, fingerprint: Fingerprint) -> None:
    path = tmp_path / "shop.db"
    path.touch()
    ledger = SqliteLedger(path, shares_database=True)
    await whole_operation(ledger, fingerprint)
    await ledger.aclose()
    connection = sqlite3.connect(path)
    marks = [connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")]
    connection.close()
    assert marks == [(0,), (0,)]


@pytest.mark.anyio
async def test_a_ledgers_own_file_can_be_shared_and_stays_its_own(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    for shares_database in (False, True, False):
        ledger = SqliteLedger(sqlite_path, shares_database=shares_database)
        if await ledger.read(KEY) is None:
            await whole_operation(ledger, fingerprint)
        await ledger.aclose()
    connection = sqlite3.connect(sqlite_path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


@pytest.mark.anyio
async def test_what_is_no_database_is_not_shared(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is no database, whatever its name says " * 100)
    before = path.read_bytes()
    ledger = SqliteLedger(path, shares_database=True)
    with pytest.raises(LedgerUnavailableError, match="not a SQLite database"):
        await ledger.read(KEY)
    assert path.read_bytes() == before
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["shares_database", "enforces_foreign_keys"])
async def test_a_switch_is_a_bool(shop: Path, name: str) -> None:
    options: Any = {name: "yes"}
    with pytest.raises(MisuseError, match=name):
        SqliteLedger(shop, **options)


@pytest.mark.anyio
async def test_a_database_that_the_caller_is_writing_is_waited_for(
    shop: Path, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = sqlite3.connect(shop, isolation_level=None, check_same_thread=False)
    caller.execute("BEGIN EXCLUSIVE")
    caller.execute("INSERT INTO operation VALUES (2, 'Eve')")
    connect = sqlite3.connect
    tries: list[int] = []

    def let_go_at_the_third_try(*args: Any, **options: Any) -> sqlite3.Connection:
        tries.append(1)
        if len(tries) == 3:
            caller.execute("COMMIT")
        return connect(*args, **{**options, "timeout": 0.0})

    monkeypatch.setattr(sqlite3, "connect", let_go_at_the_third_try)
    ledger = SqliteLedger(shop, shares_database=True, busy_timeout_s=60.0)
    await whole_operation(ledger, fingerprint)
    await ledger.aclose()
    caller.close()
    assert len(tries) == 3
    assert callers_part(shop)["rows"] == [(1, "Ada"), (2, "Eve")]


def test_ledgers_that_start_to_share_a_database_at_once_share_one_table(shop: Path, fingerprint: Fingerprint) -> None:
    barrier = threading.Barrier(8, timeout=60)

    async def claim(number: int) -> object:
        ledger = SqliteLedger(shop, shares_database=True)
        barrier.wait()
        try:
            return await ledger.claim(operation_key(str(number)), fingerprint, owner="x", lease_s=30.0)
        finally:
            await ledger.aclose()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda number: anyio.run(claim, number), range(8))) == [Claimed(1, 1)] * 8
    assert len(anyio.run(SqliteLedger(shop, shares_database=True).list)) == 8


@pytest.mark.anyio
@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
async def test_side_files_of_a_shared_database_have_its_mode(shop: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(shop, shares_database=True)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    modes = {stat.S_IMODE(file.stat().st_mode) for file in shop.parent.iterdir()}
    assert modes == {0o640}
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("event", ["INSERT", "UPDATE"])
async def test_a_row_that_a_trigger_of_the_callers_swallows_is_not_taken_for_written(
    shop: Path, fingerprint: Fingerprint, event: str
) -> None:
    ledger = SqliteLedger(shop, shares_database=True)
    other = operation_key("another")
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "INSERT": lambda: ledger.claim(other, fingerprint, owner="second", lease_s=30.0),
        "UPDATE": lambda: ledger.extend(KEY, claimed.fence, lease_s=60.0),
    }
    with sqlite3.connect(shop) as connection:
        connection.execute(f"CREATE TRIGGER eat BEFORE {event} ON commitgate_operation BEGIN SELECT RAISE(IGNORE); END")
    connection.close()
    with pytest.raises(LedgerUnavailableError, match="trigger"):
        await steps[event]()
    assert await ledger.read(other) is None
    row = await ledger.read(KEY)
    assert row is not None
    assert row.fence == claimed.fence
    await ledger.aclose()
