"""Looking at every row of a ledger, in bounded memory."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commitgate.ledger import Claimed, Fingerprint, Ledger, SqliteLedger
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio

NAMES = ["b", "a", "ä", "\x00", "zz", "Z", "\U0001f600", "z"]


async def fill(ledger: Ledger, fingerprint: Fingerprint, names: list[str]) -> None:
    for name in names:
        claimed = await ledger.claim(operation_key(name), fingerprint, owner="first", lease_s=30.0)
        assert isinstance(claimed, Claimed)


@pytest.mark.parametrize("limit", [1, 3, 8, 9])
async def test_every_row_comes_once_in_the_order_of_its_key(
    ledger: Ledger, fingerprint: Fingerprint, limit: int
) -> None:
    await fill(ledger, fingerprint, NAMES)
    found: list[bytes] = []
    for _ in range(len(NAMES) + 1):
        page = await ledger.scan(after=found[-1] if found else b"", limit=limit)
        assert len(page) <= limit
        assert all(row.record is not None and row.record.key.encode() == row.key for row in page)
        found += [row.key for row in page]
    assert page == ()
    assert found == sorted(name.encode() for name in NAMES)


async def test_a_row_that_changes_meanwhile_is_neither_missed_nor_seen_twice(
    ledger: Ledger, fingerprint: Fingerprint, clock
) -> None:
    await fill(ledger, fingerprint, ["a", "b", "c"])
    (first,) = await ledger.scan(limit=1)
    clock.now += 10
    for name in ("a", "c"):
        await ledger.extend(operation_key(name), 1, lease_s=30.0)
    assert [row.key for row in await ledger.scan(after=first.key)] == [b"b", b"c"]


async def test_a_damaged_row_hides_no_other(sqlite_path: Path, fingerprint: Fingerprint) -> None:
    ledger = SqliteLedger(sqlite_path)
    await fill(ledger, fingerprint, ["a", "b", "c"])
    with closing(sqlite3.connect(sqlite_path)) as database, database:
        database.execute("UPDATE commitgate_operation SET state = 'lost' WHERE key = ?", (b"b",))
        database.execute("UPDATE commitgate_operation SET key = ? WHERE key = ?", (b"\xff", b"c"))
    assert [(row.key, row.record is None) for row in await ledger.scan()] == [
        (b"a", False),
        (b"b", True),
        (b"\xff", True),
    ]
    await ledger.aclose()
