"""What only the SQLite store can get wrong: its file, its locks, its errors."""

import asyncio
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from commitgate.errors import LedgerUnavailableError, MisuseError
from commitgate.ledger import Claimed, Fingerprint, SqliteLedger, State, ledger_at
from commitgate.ledger.sqlite_errors import mapped
from commitgate.ledger.sqlite_schema import APPLICATION_ID, VERSION
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
SQLITE_EXCEPTIONS = sorted(
    (thing for thing in vars(sqlite3).values() if isinstance(thing, type) and issubclass(thing, Exception)),
    key=lambda kind: kind.__name__,
)


@pytest.fixture
def file_mask() -> object:
    """Let new files be readable by everybody unless the ledger asks for less."""
    before = os.umask(0)
    yield
    os.umask(before)


def script(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.anyio
@pytest.mark.usefixtures("file_mask")
async def test_all_files_of_a_new_ledger_are_their_owners_alone(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(sqlite_path)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    files = sorted(sqlite_path.parent.iterdir())
    assert [file.name for file in files] == ["ledger.sqlite", "ledger.sqlite-shm", "ledger.sqlite-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    await ledger.aclose()


@pytest.mark.anyio
async def test_every_commit_is_written_through_to_a_write_ahead_log(
    sqlite_path: Path, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remember(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)
        seen.append(connection)
        return connection

    monkeypatch.setattr(sqlite3, "connect", remember)
    ledger = SqliteLedger(sqlite_path, busy_timeout_s=2.5)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    (connection,) = seen
    values = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert values == {"journal_mode": "wal", "synchronous": 2}
    assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 2_500
    assert not connection.in_transaction
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_ledger_is_read_again_after_it_was_closed(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(sqlite_path)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    await ledger.aclose()
    with pytest.raises(LedgerUnavailableError, match="closed"):
        await ledger.read(KEY)
    again = SqliteLedger(sqlite_path)
    row = await again.read(KEY)
    assert row is not None
    assert row.owner == "first"
    await again.aclose()


def content(path: Path) -> bytes | None:
    return path.read_bytes() if os.path.isfile(path) else None


def move_away(path: Path, *, replaced: bool) -> None:
    path.rename(path.with_suffix(".moved"))
    if replaced:
        path.touch()


def put_back(path: Path) -> None:
    path.with_suffix(".moved").replace(path)


def make_missing_folder(path: Path) -> Path:
    return path.parent / "missing" / "ledger.sqlite"


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path


def make_text_file(path: Path) -> Path:
    path.write_text("this is no database, whatever its name says " * 100)
    return path


def make_foreign_database(path: Path) -> Path:
    script(path, "CREATE TABLE orders (id INTEGER)")
    return path


def make_newer_ledger(path: Path) -> Path:
    script(path, f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {VERSION + 1}")
    return path


def make_ledger_without_table(path: Path) -> Path:
    version = f"PRAGMA user_version = {VERSION}"
    script(path, "PRAGMA journal_mode = WAL", f"PRAGMA application_id = {APPLICATION_ID}", version)
    return path


def make_name_too_long(path: Path) -> Path:
    return path.parent / ("x" * 300)


def make_dangling_link(path: Path) -> Path:
    path.symlink_to(path.parent / "missing" / "ledger.sqlite")
    return path


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (make_missing_folder, "check the path"),
        (make_folder, "check that its folder exists"),
        (make_text_file, "not a SQLite database; name another"),
        (make_foreign_database, "another program; name another file"),
        (make_newer_ledger, "upgrade commitgate"),
        (make_ledger_without_table, "cannot be used"),
        (make_name_too_long, "check the path"),
        (make_dangling_link, "check that its folder exists"),
    ],
    ids=lambda thing: thing.__name__ if callable(thing) else None,
)
async def test_what_is_no_usable_ledger_is_unavailable_and_left_alone(
    sqlite_path: Path, make: Callable[[Path], Path], advice: str
) -> None:
    path = make(sqlite_path)
    before = content(path)
    ledger = SqliteLedger(path)
    with pytest.raises(LedgerUnavailableError, match=re.escape(advice)):
        await ledger.read(KEY)
    assert content(path) == before
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_that_vanishes_while_open_is_unavailable(
    sqlite_path: Path, fingerprint: Fingerprint, replaced: bool
) -> None:
    ledger = SqliteLedger(sqlite_path)
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    move_away(sqlite_path, replaced=replaced)
    with pytest.raises(LedgerUnavailableError, match="removed or replaced"):
        await ledger.start_effect(KEY, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    put_back(sqlite_path)
    row = await ledger.read(KEY)
    assert row is not None
    assert row.state is State.CLAIMED
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_full_disk_is_unavailable_and_changes_nothing(
    sqlite_path: Path, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def connect_small(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 10")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_small)
    ledger = SqliteLedger(sqlite_path)
    claimed = await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    assert isinstance(claimed, Claimed)
    before = await ledger.read(KEY)
    with pytest.raises(LedgerUnavailableError, match="disk is full; free space"):
        await ledger.start_effect(KEY, claimed.fence, value=b"1" * 1_000_000, receipt=b"{}", lease_s=30.0)
    assert await ledger.read(KEY) == before
    await ledger.start_effect(KEY, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    await ledger.aclose()


@pytest.mark.parametrize("kind", SQLITE_EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_every_exception_of_sqlite_is_mapped(kind: type[Exception]) -> None:
    raised = kind("canary")
    with pytest.raises(LedgerUnavailableError, match=r"the ledger /x cannot be used: ") as caught, mapped("/x"):
        raise raised
    assert caught.value.__cause__ is raised
    assert "canary" not in str(caught.value)


def test_the_exceptions_of_sqlite_are_those_known() -> None:
    assert [kind.__name__ for kind in SQLITE_EXCEPTIONS] == [
        "DataError",
        "DatabaseError",
        "Error",
        "IntegrityError",
        "InterfaceError",
        "InternalError",
        "NotSupportedError",
        "OperationalError",
        "ProgrammingError",
        "Warning",
    ]


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT, sqlite3.SQLITE_IOERR_FSYNC, 99])
def test_an_extended_or_unknown_result_code_has_advice(code: int) -> None:
    error = sqlite3.OperationalError("canary")
    error.sqlite_errorcode = code
    with pytest.raises(LedgerUnavailableError, match=r"held|holds it|check the disk|result code 99"), mapped("/x"):
        raise error


@pytest.mark.anyio
async def test_a_lock_held_by_another_is_unavailable_after_the_timeout(
    sqlite_path: Path, fingerprint: Fingerprint
) -> None:
    ledger = SqliteLedger(sqlite_path, busy_timeout_s=0.05)
    await ledger.read(KEY)
    other = sqlite3.connect(sqlite_path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerUnavailableError, match="another process holds it"):
        await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    other.execute("ROLLBACK")
    other.close()
    assert isinstance(await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0), Claimed)
    await ledger.aclose()


@pytest.mark.anyio
async def test_a_new_file_that_another_process_is_making_is_waited_for(
    sqlite_path: Path, fingerprint: Fingerprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = sqlite3.connect(sqlite_path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    connect = sqlite3.connect
    tries: list[int] = []

    def let_go_at_the_second_try(*args: object, **options: object) -> sqlite3.Connection:
        tries.append(1)
        if len(tries) == 2:
            other.execute("ROLLBACK")
            other.close()
        return connect(*args, **options)

    monkeypatch.setattr(sqlite3, "connect", let_go_at_the_second_try)
    ledger = SqliteLedger(sqlite_path)
    assert isinstance(await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0), Claimed)
    assert len(tries) == 2
    await ledger.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["", ":memory:", "a\0b"])
async def test_what_cannot_name_a_file_is_misuse(path: str) -> None:
    with pytest.raises(MisuseError):
        SqliteLedger(path)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_native_cancellation_leaves_no_lock_and_no_half_transaction(
    sqlite_path: Path, fingerprint: Fingerprint
) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def slow_clock() -> float:
        entered.set()
        assert go_on.wait(10)
        return 1_000.0

    ledger = SqliteLedger(sqlite_path, clock=slow_clock)
    task = asyncio.ensure_future(ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0))
    await anyio.to_thread.run_sync(entered.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    row = await ledger.read(KEY)
    assert row is not None
    assert row.state is State.CLAIMED
    other = SqliteLedger(sqlite_path, busy_timeout_s=0.05)
    await other.claim(operation_key("other"), fingerprint, owner="second", lease_s=30.0)
    await other.aclose()
    await ledger.aclose()


def test_one_ledger_serves_several_event_loops(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(sqlite_path)

    async def claim(name: str) -> object:
        return await ledger.claim(operation_key(name), fingerprint, owner="first", lease_s=30.0)

    assert anyio.run(claim, "a", backend="asyncio") == Claimed(1, 1)
    assert anyio.run(claim, "b", backend="trio") == Claimed(1, 1)
    anyio.run(ledger.aclose)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_the_file_for_itself(sqlite_path: Path) -> None:
    program = """
import os, sqlite3, sys, anyio
from commitgate.ledger import Claimed, Fingerprint, SqliteLedger
from commitgate.retry import operation_key
ledger = SqliteLedger(sys.argv[1])
fingerprint = Fingerprint("l", None, None, "i")
def claim(name):
    return anyio.run(lambda: ledger.claim(operation_key(name), fingerprint, owner=name, lease_s=30.0))
connect = sqlite3.connect
opened_by = []
def remember(*args, **options):
    opened_by.append(os.getpid())
    return connect(*args, **options)
sqlite3.connect = remember
assert claim("parent") == Claimed(1, 1)
child = os.fork()
if child == 0:
    is_right = claim("child") == claim("child 2") == Claimed(1, 1) and opened_by == [os.getppid(), os.getpid()]
    os._exit(0 if is_right else 1)
assert os.waitpid(child, 0)[1] == 0
assert claim("after") == Claimed(1, 1)
rows = anyio.run(ledger.list)
assert {row.key for row in rows} == {"parent", "child", "child 2", "after"}, rows
"""
    subprocess.run([sys.executable, "-c", program, str(sqlite_path)], check=True, timeout=60)


def test_importing_the_package_does_not_load_sqlite() -> None:
    program = "import sys, commitgate.ledger; sys.exit(bool('sqlite3' in sys.modules))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_place_is_a_ledger_a_path_the_variable_or_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SqliteLedger(tmp_path / "a")
    assert ledger_at(given, {}) is given
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = [
        ledger_at(place, environ)
        for place, environ in (
            (tmp_path / "b", {"COMMITGATE_LEDGER": "unused"}),
            (None, {"COMMITGATE_LEDGER": str(tmp_path / "c")}),
            (None, {}),
        )
    ]
    paths = [ledger.path for ledger in found if isinstance(ledger, SqliteLedger)]
    assert paths[:2] == [str(tmp_path / "b"), str(tmp_path / "c")]
    assert Path(paths[2]).name == "ledger.sqlite"
    assert Path(paths[2]).parent.is_dir()
    assert not Path(paths[2]).exists()


@pytest.mark.parametrize(
    "place",
    [
        "POSTGRESQL://u:canary@host/db",
        " postgresql://u:canary@host/db",
        "postgresql+psycopg://u:canary@host/db",
        "mysql://u:canary@host/db",
        "host=db password=canary",
        "password = canary host=db",
    ],
)
def test_an_address_in_another_spelling_is_no_name_of_a_file(place: str) -> None:
    for named, environ in ((place, {}), (None, {"COMMITGATE_LEDGER": place})):
        with pytest.raises(MisuseError, match="postgresql://") as caught:
            ledger_at(named, environ)
        assert "canary" not in str(caught.value)


def test_a_users_folder_that_cannot_be_made_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with pytest.raises(LedgerUnavailableError, match="COMMITGATE_LEDGER"):
        ledger_at(None, {})


@pytest.mark.anyio
@pytest.mark.parametrize("change", ["state = 'FOO'", "reason = x'ff'", "fence = 'first'", "lease_expires_at = 'soon'"])
async def test_a_row_that_is_damaged_is_a_ledger_error(
    sqlite_path: Path, fingerprint: Fingerprint, change: str
) -> None:
    ledger = SqliteLedger(sqlite_path)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    script(sqlite_path, f"UPDATE commitgate_operation SET {change}")
    for use in (ledger.read(KEY), ledger.list(), ledger.claim(KEY, fingerprint, owner="second", lease_s=30.0)):
        if "state" in change and use.__name__ == "list":
            assert await use == ()  # no state of this release
            continue
        with pytest.raises(LedgerUnavailableError, match="row is damaged"):
            await use
    await ledger.aclose()


@pytest.mark.anyio
async def test_payloads_that_were_written_back_as_text_are_read(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(sqlite_path)
    await ledger.claim(KEY, fingerprint, owner="first", lease_s=30.0)
    script(sqlite_path, "UPDATE commitgate_operation SET value = '1', result = '2', receipt = '{}', reason = 'é'")
    row = await ledger.read(KEY)
    assert row is not None
    assert (row.value, row.result, row.receipt, row.reason) == (b"1", b"2", b"{}", "é")
    await ledger.aclose()


@pytest.mark.parametrize(
    ("path", "options"),
    [("/x/\ud800", {}), ("x", {"busy_timeout_s": "x"}), ("x", {"busy_timeout_s": 0}), ("x", {"busy_timeout_s": None})],
    ids=["surrogate", "text", "zero", "none"],
)
def test_what_cannot_be_a_file_or_a_time_is_misuse(path: str, options: Any) -> None:
    with pytest.raises(MisuseError):
        SqliteLedger(path, **options)
