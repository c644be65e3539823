"""How often an operation waits for the disk: once for the claim, and at most twice after the gate."""

import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from commitgate.effect import Effect, EffectContext, TransactionContext
from commitgate.effect_kind import EffectKind
from commitgate.errors import EffectRejected
from commitgate.ledger import Fingerprint, Operation, SqliteLedger
from commitgate.retry import operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")
PAYLOADS: dict[str, bytes] = {"value_json": b"1", "receipt_json": b"{}"}
WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|REPLACE)\b", re.IGNORECASE)


class Disk:
    """Count the transactions that were committed with something written in them."""

    def __init__(self) -> None:
        self.commits = 0
        self._has_written = False

    def hear(self, statement: str) -> None:
        if WRITES.match(statement):
            self._has_written = True
        elif statement.startswith("BEGIN"):
            self._has_written = False
        elif statement == "COMMIT" and self._has_written:
            self.commits += 1


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    connect = sqlite3.connect

    def connect_heard(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(disk.hear)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_heard)
    return disk


@pytest.fixture
async def ledger(sqlite_path: Path, disk: Disk) -> AsyncIterator[SqliteLedger]:
    made = SqliteLedger(sqlite_path)
    await made.list()
    disk.commits = 0
    yield made
    await made.aclose()


def ignore() -> None:
    pass


async def never(seconds: float) -> None:
    del seconds
    await anyio.sleep_forever()


def act(value: object, context: EffectContext) -> str:
    del value, context
    return "T-1"


def write_rows(value: object, context: TransactionContext) -> str:
    del value
    context.connection.execute("CREATE TABLE refund (cents INTEGER)")
    context.connection.executemany("INSERT INTO refund VALUES (?)", [(1,), (2,)])
    return "T-1"


def decline(value: object, context: EffectContext) -> str:
    raise EffectRejected("sold out")


def fail(value: object, context: EffectContext) -> str:
    raise OSError


async def run(
    ledger: SqliteLedger,
    fingerprint: Fingerprint,
    disk: Disk,
    drive: Callable[[Operation[object, str]], Any],
    *,
    function: Callable[[object, Any], str] | None = None,
    kind: EffectKind = EffectKind.ONCE,
) -> tuple[int, int]:
    """Return the writes of the claim, and those that came after it."""
    effect: Effect[object, str] | None = None
    if function is not None:
        effect = Effect(function, name="shop.refund", version="1", adapter=None, kind=kind)
    before = disk.commits
    async with anyio.create_task_group() as group:
        driven: Operation[object, str] = Operation(
            ledger, group, KEY, fingerprint, effect, owner="x", on_lease_lost=ignore, lease_s=30.0, sleep=never
        )
        async with driven:
            claimed = disk.commits - before
            await drive(driven)
    return claimed, disk.commits - before - claimed


async def commit(operation: Operation[object, str]) -> None:
    await operation.commit(1, **PAYLOADS)


async def propose(operation: Operation[object, str]) -> None:
    await operation.propose(**PAYLOADS, reason="over 100", expires_s=None)


async def release(operation: Operation[object, str]) -> None:
    await operation.release("truncated")


async def replay(operation: Operation[object, str]) -> None:
    assert operation.replay is not None


@pytest.mark.parametrize(
    ("function", "kind", "writes"),
    [
        (None, EffectKind.ONCE, 1),
        (act, EffectKind.ONCE, 2),
        (act, EffectKind.BY_KEY, 2),
        (decline, EffectKind.ONCE, 2),
        (fail, EffectKind.ONCE, 2),
        (write_rows, EffectKind.TRANSACTIONAL, 2),
        (fail, EffectKind.TRANSACTIONAL, 2),
    ],
)
async def test_a_commit_waits_for_the_disk_at_most_twice(
    ledger: SqliteLedger,
    fingerprint: Fingerprint,
    disk: Disk,
    function: Callable[[object, Any], str] | None,
    kind: EffectKind,
    writes: int,
) -> None:
    assert await run(ledger, fingerprint, disk, commit, function=function, kind=kind) == (1, writes)


async def test_a_replay_waits_for_no_disk(ledger: SqliteLedger, fingerprint: Fingerprint, disk: Disk) -> None:
    await run(ledger, fingerprint, disk, commit, function=act)
    assert await run(ledger, fingerprint, disk, replay, function=act) == (0, 0)


@pytest.mark.parametrize("drive", [propose, release])
async def test_a_call_that_commits_nothing_waits_for_the_disk_once_after_its_claim(
    ledger: SqliteLedger, fingerprint: Fingerprint, disk: Disk, drive: Callable[[Operation[object, str]], Any]
) -> None:
    assert await run(ledger, fingerprint, disk, drive, function=act) == (1, 1)


async def test_an_approved_value_waits_as_one_that_was_just_chosen(
    ledger: SqliteLedger, fingerprint: Fingerprint, disk: Disk
) -> None:
    await run(ledger, fingerprint, disk, propose, function=act)
    await ledger.approve(KEY, by="Ada")
    assert await run(ledger, fingerprint, disk, commit, function=act) == (1, 2)
