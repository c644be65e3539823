"""Set the scene for proofs of the commit: stores, a model that never answers twice alike, effects that leave traces.

What happened downstream is written down beside the ledger, by means that outlive a killed process: a line in a file for
an effect of the kinds ``once`` and ``by_key``, a row in a table of the ledger's own database for a transactional one.
Nothing there keeps an effect from being written twice, so a double one shows.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import psycopg
from ledger.postgres_server import find_binaries, running_server

from commitgate import by_key, once, transactional
from commitgate.backends.base import EventStream, GenerationRequest
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectContext, TransactionContext
from commitgate.effect_kind import EffectKind
from commitgate.json_value import JsonValue
from commitgate.ledger import (
    Claimed,
    FaultLedger,
    FaultPoint,
    Fingerprint,
    Ledger,
    PostgresLedger,
    Record,
    SqliteLedger,
)
from commitgate.outcome import Committed, Outcome
from commitgate.retry.keys import OperationKey
from commitgate.testing import ScriptedBackend

KINDS = tuple(EffectKind)
INSIDE = "inside_effect_before"
"""A point of the effects here, beside those of the library: inside the effect, before its trace is left."""

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}

Reach = Callable[[str], Coroutine[None, None, None]]


async def no_reach(point: str) -> None:
    """Let every point pass."""


def scratch() -> TemporaryDirectory[str]:
    """Return a folder in memory where there is one: for proofs in which no process dies, and many calls are made."""
    return TemporaryDirectory(prefix="commitgate-proof-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


@cache
def contract() -> Contract[JsonValue]:
    """Return the contract of all calls."""
    return Contract.of(SCHEMA)


class Traces:
    """Hold what happened, a line for each thing, in files below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, file: str, *words: object) -> None:
        """Add one line."""
        descriptor = os.open(self._folder / file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, (" ".join(map(str, words)) + "\n").encode())
        finally:
            os.close(descriptor)

    def read(self, file: str) -> dict[str, list[list[str]]]:
        """Return the lines by their first word, in order, each as its other words."""
        path, found = self._folder / file, dict[str, list[list[str]]]()
        for line in path.read_text().splitlines() if path.exists() else ():
            first, *rest = line.split()
            found.setdefault(first, []).append(rest)
        return found


class Notes(Traces):
    """Hold them in memory, for proofs within one process."""

    def __init__(self) -> None:
        super().__init__(Path())
        self._lines: dict[str, dict[str, list[list[str]]]] = {}

    def note(self, file: str, *words: object) -> None:
        """Add one line."""
        first, *rest = map(str, words)
        self._lines.setdefault(file, {}).setdefault(first, []).append(rest)

    def read(self, file: str) -> dict[str, list[list[str]]]:
        """Return the lines as ``Traces`` does."""
        return self._lines.get(file, {})


class Model:
    """Answer every request with a number that was never given before, and write down that it was asked.

    The prompt is the operation key.
    """

    name = "model"

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Answer."""
        number = secrets.randbits(52)
        self._traces.note("asked", request.messages[-1].content, number)
        return ScriptedBackend([{"text": f'{{"number": {number}}}'}, {"finish": "stop"}]).open(request)

    async def aclose(self) -> None:
        """Free nothing."""


def effect_of(
    kind: EffectKind, key: str, traces: Traces, mark: str, reach: Reach | None = None
) -> Callable[..., object]:
    """Return an effect that leaves a trace under the operation key.

    Args:
        kind: its kind.
        key: the operation key.
        traces: where the trace of one that is not transactional is left.
        mark: what stands for a parameter in the database's SQL.
        reach: awaited inside the effect: before the trace, and after it.
    """

    async def plain(value: dict[str, int], context: EffectContext) -> str:
        if reach is not None:
            await reach(INSIDE)
        traces.note("effects", key, context.key, value["number"])
        await anyio.lowlevel.checkpoint()
        if reach is not None:
            await reach(FaultPoint.INSIDE_EFFECT)
        return f"T-{value['number']}"

    def rows(value: dict[str, int], context: TransactionContext) -> str:
        if reach is not None:
            anyio.from_thread.run(reach, INSIDE)
        context.connection.execute(f"INSERT INTO shop VALUES ({mark}, {mark})", (key, value["number"]))
        return f"T-{value['number']}"

    if kind is EffectKind.TRANSACTIONAL:
        return transactional(name="leave_trace")(rows)
    marked = by_key if kind is EffectKind.BY_KEY else once
    return marked(name="leave_trace")(plain)


class Watched(FaultLedger):
    """Say which point is reached, and make every lease as long as it is told."""

    def __init__(self, ledger: Ledger, reach: Reach = no_reach, *, lease_s: float | None = None) -> None:
        super().__init__(ledger, reach)
        self._lease_s = lease_s

    async def claim(
        self,
        key: OperationKey,
        fingerprint: Fingerprint,
        *,
        owner: str,
        lease_s: float,
        effect_kind: EffectKind | None = None,
    ) -> Claimed | Record:
        lease_s = self._lease_s or lease_s
        return await super().claim(key, fingerprint, owner=owner, lease_s=lease_s, effect_kind=effect_kind)

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        await super().start_effect(key, fence, value=value, receipt=receipt, lease_s=self._lease_s or lease_s)

    async def extend(self, key: OperationKey, fence: int, *, lease_s: float) -> None:
        await super().extend(key, fence, lease_s=self._lease_s or lease_s)


@dataclass(frozen=True)
class Store:
    """Name a database that holds a ledger and the table ``shop``: the path of a SQLite file, or a URL of Postgres."""

    place: str

    @property
    def is_postgres(self) -> bool:
        return self.place.startswith("postgresql:")

    @property
    def mark(self) -> str:
        return "%s" if self.is_postgres else "?"

    def ledger(self, **settings: object) -> Ledger:
        """Return a ledger of its own at the store."""
        if self.is_postgres:
            return PostgresLedger(self.place, **settings)  # pyright: ignore[reportArgumentType] - settings of either kind
        return SqliteLedger(self.place, shares_database=True, **settings)  # pyright: ignore[reportArgumentType] - the same

    def shop(self, key: str | None = None) -> dict[str, list[int]]:
        """Return the rows of the shop by operation key; only those of ``key`` where one is given."""
        query = f"SELECT key, number FROM shop WHERE key = {self.mark}" if key else "SELECT key, number FROM shop"
        given = (key,) if key else ()
        if self.is_postgres:
            with psycopg.connect(self.place) as connection:
                rows = connection.execute(query.encode(), given).fetchall()
        else:
            lite = sqlite3.connect(self.place)
            rows = lite.execute(query, given).fetchall()
            lite.close()
        found: dict[str, list[int]] = {}
        for each, number in rows:
            found.setdefault(each, []).append(number)
        return found


def sqlite_store(folder: Path, name: str = "shop.sqlite") -> Store:
    """Make a SQLite database with an empty shop."""
    path = folder / name
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE shop (key TEXT, number INTEGER)")
    connection.execute("CREATE INDEX by_key ON shop (key)")
    connection.commit()
    connection.close()
    return Store(str(path))


@contextmanager
def store_of(kind: str, folder: Path) -> Generator[Store]:
    """Make a store of the kind ``sqlite`` or ``postgres`` while the block runs."""
    if kind == "sqlite":
        yield sqlite_store(folder)
        return
    binaries = find_binaries()
    assert binaries is not None, "units of Postgres are listed only where there is one"
    with running_server(binaries) as server:
        yield postgres_store(server.new_url())


def postgres_store(url: str) -> Store:
    """Make an empty shop in a schema."""
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE shop (key text, number bigint)")
    return Store(url)


def stores() -> tuple[str, ...]:
    """Return the kinds of store that this machine has."""
    return ("sqlite",) if find_binaries() is None else ("sqlite", "postgres")


async def call(
    client: Client, key: str, effect: Callable[..., object] | None, **options: object
) -> Outcome[JsonValue, object]:
    """Make the call that all proofs make, waiting for whoever else is at it."""
    given: dict[str, object] = {"prompt": key, "prompt_schema": "none", "operation_key": key, "in_progress": "wait"}
    given |= options
    return await client.generate_structured("model/m", contract(), effect=effect, **given)  # pyright: ignore[reportArgumentType, reportCallIssue] - options of the call, as they are


def told(outcome: Outcome[JsonValue, object] | None) -> list[object]:
    """Return the facts of an outcome: its name, the number, the result, whether it was replayed."""
    if not isinstance(outcome, Committed):
        return [None if outcome is None else outcome.name, None, None, None]
    value = outcome.value
    assert isinstance(value, dict)
    return [outcome.name, value["number"], outcome.result, outcome.is_replayed]
