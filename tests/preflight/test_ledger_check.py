"""The ledger is looked at before a launch, and left as it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from commitgate.ledger import MemoryLedger, SqliteLedger
from commitgate.ledger.sqlite_schema import VERSION
from commitgate.preflight.check import Check
from commitgate.preflight.ledger_check import ledger_check

pytestmark = pytest.mark.anyio


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a ledger that was used."""

    async def make() -> None:
        ledger = SqliteLedger(tmp_path / "ledger.sqlite")
        await ledger.list()
        await ledger.aclose()

    anyio.run(make)
    return tmp_path / "ledger.sqlite"


@pytest.fixture(autouse=True)
def default_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "default.sqlite"
    monkeypatch.setenv("COMMITGATE_LEDGER", str(place))
    return place


def set_version(file: Path, version: int) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE commitgate_ledger SET version = ?", (version,))
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()


def content(file: Path) -> bytes:
    return file.read_bytes()


def is_there(file: Path) -> bool:
    return file.exists()


def write(file: Path, text: str) -> None:
    file.write_text(text)


async def looked(place: object, *, is_used: bool = True) -> Check:
    return await ledger_check(place, is_used=is_used)  # pyright: ignore[reportArgumentType]


async def test_ledger_of_this_version_passes_and_is_left_as_it_was(file: Path) -> None:
    before = content(file)
    found = await looked(file)
    assert (found.verdict, f"version {VERSION}" in found.found) == ("passed", True)
    assert content(file) == before


async def test_ledger_does_not_matter_where_nothing_is_done(default_ledger: Path) -> None:
    assert (await looked(None, is_used=False)).verdict == "not_applicable"
    assert (await looked(None)).verdict == "warned"
    assert not is_there(default_ledger)


async def test_file_that_is_not_there_warns_and_is_not_made(tmp_path: Path) -> None:
    place = tmp_path / "new.sqlite"
    assert (await looked(place)).verdict == "warned"
    assert not is_there(place)
    assert (await looked(tmp_path / "gone" / "new.sqlite")).verdict == "failed"


async def test_older_tables_warn_and_are_not_migrated(file: Path) -> None:
    set_version(file, 1)
    before = content(file)
    found = await looked(file)
    assert (found.verdict, "older releases stop" in found.found) == ("warned", True)
    assert content(file) == before


async def test_newer_tables_fail(file: Path) -> None:
    set_version(file, VERSION + 1)
    found = await looked(file)
    assert (found.verdict, "newer commitgate" in found.found) == ("failed", True)


async def test_file_that_is_no_database_fails(tmp_path: Path) -> None:
    write(tmp_path / "no.sqlite", "this is no database, and is long enough to be looked at as one" * 20)
    assert (await looked(tmp_path / "no.sqlite")).verdict == "failed"


async def test_ledger_in_memory_fails() -> None:
    assert (await looked(MemoryLedger())).verdict == "failed"
    assert (await looked(":memory:")).verdict == "failed"


async def test_ledger_object_of_a_file_is_looked_at_like_its_path(file: Path) -> None:
    ledger = SqliteLedger(file)
    assert (await looked(ledger)).verdict == "passed"
    await ledger.aclose()


async def test_home_is_not_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (await looked(tmp_path / "new.sqlite")).found.startswith("~/new.sqlite does not exist yet")


async def test_database_is_looked_at_and_left_as_it_was(postgres_url: str) -> None:
    from commitgate.ledger import PostgresLedger

    found = await looked(postgres_url)
    # The servers of tests run without fsync, which no ledger may do.
    assert (found.verdict, "has no tables" in found.found, "fsync off" in found.found) == ("failed", True, True)
    ledger = PostgresLedger(postgres_url)
    await ledger.list()
    await ledger.aclose()
    found = await looked(postgres_url)
    assert "can be read, with tables of version 1" in found.found
    assert "canary" not in found.found


async def test_database_that_is_not_there_fails_without_its_password() -> None:
    found = await looked("postgresql://somebody:canary@127.0.0.1:9/none")
    assert found.verdict == "failed"
    assert "canary" not in found.found + found.instead
