"""Measure how long a step of the SQLite ledger takes, beside a bare durable insert of the same payload.

Run: ``python tests/benchmarks/ledger_writes.py [--operations 1000] [--value-bytes 1000] [--folder FOLDER]``. Steps and
bare inserts take turns, one of each, in two files of one folder, so that both meet the same disk in the same mood.

A bare insert is what SQLite itself takes: one row in one transaction, write-ahead log, ``synchronous=FULL``, in the
thread that asks. A step of the ledger is measured as a call meets it: from the event loop, through the worker thread
and its transaction, and back.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from commitgate.effect_kind import EffectKind
from commitgate.ledger import Fingerprint, SqliteLedger
from commitgate.ledger.transaction import Transaction
from commitgate.retry import operation_key

BARE = "bare insert"
CLAIM, INTENT, FINAL = "claim", "intent", "commit"
WHOLE = "claim + intent + commit"
THREE = "three bare inserts"
TRANSACTIONAL = "transactional effect of one insert"
WARM_UP = 20


class Bare:
    """Insert rows durably, with nothing but the driver between."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE bare (key BLOB PRIMARY KEY, value BLOB)")

    def insert(self, key: str, value: bytes) -> float:
        """Return the seconds that one insert took."""
        started = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO bare VALUES (?, ?)", (key.encode(), value))
        self._connection.execute("COMMIT")
        return time.perf_counter() - started

    def close(self) -> None:
        self._connection.close()


async def timed(step: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await step()
    return time.perf_counter() - started


async def measure(folder: Path, operations: int, value_bytes: int) -> dict[str, list[float]]:
    """Return the seconds of every step."""
    bare = Bare(folder / "bare.sqlite")
    ledger = SqliteLedger(folder / "ledger.sqlite")
    value = b"x" * value_bytes
    fingerprint = Fingerprint("0" * 64, "shop.refund", "1", "0" * 64)
    taken: dict[str, list[float]] = {name: [] for name in (BARE, CLAIM, INTENT, FINAL, TRANSACTIONAL, THREE, WHOLE)}

    def insert(transaction: Transaction) -> bytes:
        transaction.execute("INSERT INTO refund VALUES (?, ?)", (1, value))
        return b'"T-1"'

    async def operate(name: str, kind: EffectKind) -> list[float]:
        key = operation_key(name)

        async def finish() -> None:
            if kind is EffectKind.TRANSACTIONAL:
                await ledger.transact(key, 1, insert)
            else:
                await ledger.commit(key, 1, result=b'"T-1"')

        inserts: list[float] = []
        steps: list[float] = []
        for step in (
            lambda: ledger.claim(key, fingerprint, owner="o" * 32, lease_s=30.0, effect_kind=kind),
            lambda: ledger.start_effect(key, 1, value=value, receipt=value, lease_s=30.0),
            finish,
        ):
            inserts.append(bare.insert(f"{name} {len(steps)}", value))
            steps.append(await timed(step))
        taken[BARE] += inserts
        taken[THREE].append(sum(inserts))
        return steps

    await ledger.list()
    with sqlite3.connect(folder / "ledger.sqlite") as tables:
        tables.execute("CREATE TABLE refund (cents INTEGER, note BLOB)")
    tables.close()
    for number in range(-WARM_UP, operations):
        if number == 0:
            for seconds in taken.values():
                seconds.clear()
        steps = await operate(f"once {number}", EffectKind.ONCE)
        for name, seconds in zip((CLAIM, INTENT, FINAL), steps, strict=True):
            taken[name].append(seconds)
        taken[WHOLE].append(sum(steps))
        taken[TRANSACTIONAL].append((await operate(f"transactional {number}", EffectKind.TRANSACTIONAL))[2])
    await ledger.aclose()
    bare.close()
    return taken


def percentiles(seconds: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return cuts[49] * 1_000, cuts[98] * 1_000


def table(taken: dict[str, list[float]]) -> str:
    """Return the results as a table; ratios are to as many bare inserts as a row is steps."""
    lines = ["| | ms p50 | ms p99 | p50 ratio | p99 ratio |", "|---|---:|---:|---:|---:|"]
    for name, seconds in taken.items():
        p50, p99 = percentiles(seconds)
        base50, base99 = percentiles(taken[THREE if name in (THREE, WHOLE) else BARE])
        lines.append(f"| {name} | {p50:.3g} | {p99:.3g} | ×{p50 / base50:.2f} | ×{p99 / base99:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=1_000)
    parser.add_argument("--value-bytes", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="where the two files lie; default: a temporary folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        taken = anyio.run(measure, Path(folder), asked.operations, asked.value_bytes)
    print(
        f"{asked.operations:,} operations of each kind, payloads of {asked.value_bytes:,} bytes, "
        f"{datetime.datetime.now(tz=datetime.UTC).date()}, {platform.machine()}, {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}.\n"
    )
    print(table(taken))


if __name__ == "__main__":
    main()
