"""Lose the ledger's answers around each of its writes, and cancel calls there: reading back settles every one of them.

The trouble stands between the call and its ledger: the write is done and its answer lost, or it is not done at all; the
caller is cancelled right before or right after it; both at once. On Postgres, the server also ends the connection
right before COMMIT, while it runs, or before its answer is used.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from threading import Thread
from time import sleep
from typing import TypeVar
from unittest.mock import patch

import anyio
import psycopg
from proofs.aftermath import Scene
from proofs.commit_scene import KINDS, Watched, call, contract, scratch, store_of, stores, told
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger import Claimed, Fingerprint, Ledger, Record
from commitgate.ledger.postgres_connections import Loan
from commitgate.ledger.transaction import Transaction
from commitgate.retry.keys import OperationKey

T = TypeVar("T")

LOOPS = ("asyncio", "trio")
LOST = ("answer lost", "write lost", "stray cancellation")
CUT = ("cancelled before", "cancelled after", "cancelled before, answer lost", "cancelled after, answer lost")
CANCELS = ("scope", "task", "run")
SERVER = ("before", "while", "after")
"""When the server ends the connection: in relation to COMMIT."""

ROUNDS = 9
ROUNDS_CUT = 3
"""Of these so many with calls that are cancelled, which are more cases."""

ROUNDS_SERVER = 16
MOST_FAULTS = 20
SOURCES = ("lost_answers.py", "aftermath.py", "commit_scene.py")

WRITES: Mapping[EffectKind | None, Sequence[str]] = {
    None: ("claim", "commit_value"),
    EffectKind.ONCE: ("claim", "start_effect", "commit"),
    EffectKind.BY_KEY: ("claim", "start_effect", "commit"),
    EffectKind.TRANSACTIONAL: ("claim", "start_effect", "transact"),
}
"""The writes of a call, by the kind of its effect."""


@dataclass
class _Trouble:
    """Say what happens at which write, once."""

    write: str
    way: str
    cancel: Callable[[], None] = field(default=lambda: None)
    has_happened: bool = False

    async def at(self, write: str, do: Callable[[], Awaitable[T]]) -> T:
        """Do the write, with the trouble where it is due."""
        if write != self.write or self.has_happened:
            return await do()
        self.has_happened = True
        if self.way == "write lost":
            raise LedgerUnavailableError("the write was lost")
        if "cancelled before" in self.way:
            self.cancel()
        done = await do()
        if "cancelled after" in self.way:
            self.cancel()
        if "answer lost" in self.way:
            raise LedgerUnavailableError("the answer was lost")
        if self.way == "stray cancellation":
            raise _stray()
        return done


def _stray() -> BaseException:
    """Return a cancellation for which nobody asked, as the code of a store may let out; trio's cannot be made."""
    is_asyncio = issubclass(anyio.get_cancelled_exc_class(), asyncio.CancelledError)
    return asyncio.CancelledError() if is_asyncio else LedgerUnavailableError("the answer was lost")


class _Unsure(Watched):
    """Pass every call on, with one trouble."""

    def __init__(self, ledger: Ledger, trouble: _Trouble) -> None:
        super().__init__(ledger)
        self._trouble = trouble

    async def claim(
        self,
        key: OperationKey,
        fingerprint: Fingerprint,
        *,
        owner: str,
        lease_s: float,
        effect_kind: EffectKind | None = None,
    ) -> Claimed | Record:
        write = super().claim
        return await self._trouble.at(
            "claim", lambda: write(key, fingerprint, owner=owner, lease_s=lease_s, effect_kind=effect_kind)
        )

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        write = super().start_effect
        await self._trouble.at("start_effect", lambda: write(key, fence, value=value, receipt=receipt, lease_s=lease_s))

    async def commit(self, key: OperationKey, fence: int, *, result: bytes) -> None:
        write = super().commit
        await self._trouble.at("commit", lambda: write(key, fence, result=result))

    async def commit_value(self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes) -> None:
        write = super().commit_value
        await self._trouble.at("commit_value", lambda: write(key, fence, value=value, receipt=receipt))

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        write = super().transact
        return await self._trouble.at("transact", lambda: write(key, fence, work))


async def _call(scene: Scene, key: str, write: str, way: str, cancel: str) -> list[object]:
    """Make one call with trouble; return what it was told, nothing where it was cancelled."""
    trouble = _Trouble(write, way)
    found: list[list[object]] = []
    async with scene.client(_Unsure(scene.ledger, trouble)) as client:
        if way in LOST:
            found.append(told(await call(client, key, scene.effect(key))))
        elif cancel == "run":
            order = {"prompt": key, "prompt_schema": "none", "operation_key": key, "effect": scene.effect(key)}
            async with client.stream_structured("model/m", contract(), **order) as run:  # pyright: ignore[reportArgumentType, reportCallIssue] - options of the call
                trouble.cancel = run.cancel
                found.append(told(await run.outcome()))
        elif cancel == "task" and anyio.get_cancelled_exc_class() is asyncio.CancelledError:
            task = asyncio.ensure_future(call(client, key, scene.effect(key)))
            trouble.cancel = task.cancel  # pyright: ignore[reportAttributeAccessIssue] - what it returns is not used
            with suppress(asyncio.CancelledError):
                found.append(told(await task))
        else:
            with anyio.CancelScope() as scope:
                trouble.cancel = scope.cancel
                found.append(told(await call(client, key, scene.effect(key))))
    assert trouble.has_happened, f"{write} was never made"
    return found[0] if found else []


async def _call_and_look(scene: Scene, key: str, made: Callable[[], Awaitable[list[object]]]) -> list[str]:
    """Make a call, and name what is broken after it."""
    faults: list[str] = []
    said: list[object] = []
    try:
        said = await made()
    except Exception as error:  # noqa: BLE001 - what comes out is what is asked about
        faults.append(f"not settled: {type(error).__name__}: {error}")
    is_told = bool(said) and said[0] != "cancelled"
    if is_told and said[0] != "committed":
        faults.append(f"not settled: {said[0]}")
    state, found = await scene.look(key)
    if is_told and state != "committed":
        faults.append(f"told otherwise: {said[0]}, but the ledger says {state}")
    if said and said[0] == "cancelled" and state == "committed":
        faults.append("told otherwise: cancelled, but the ledger says committed")
    return faults + found


@contextmanager
def _ended_connection(admin: psycopg.Connection, when: str, at: int, random: Random) -> Generator[Counter[str]]:
    """Let the server end the connection in which the ledger's ``at``-th COMMIT is made; yield what was done."""
    commit, done = Loan.commit, Counter[str]()

    def end(process: int, delay_s: float = 0.0) -> None:
        sleep(delay_s)
        admin.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))

    def troubled(loan: Loan) -> None:
        done["commits"] += 1
        if done["commits"] != at:
            commit(loan)
            return
        done["ended"] += 1
        process = loan.connection.info.backend_pid
        if when == "before":
            end(process)
            commit(loan)
        elif when == "while":
            ender = Thread(target=end, args=(process, random.uniform(0.0, 0.001)))
            ender.start()
            try:
                commit(loan)
            finally:
                ender.join()
        else:
            commit(loan)
            end(process)
            loan.connection.execute("SELECT 1")

    with patch.object(Loan, "commit", troubled):
        yield done


class LostAnswers:
    """Lose answers on each store and event loop, for each kind of effect."""

    name = "lost-answers"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            lite = [f"sqlite {kind} {loop} 0" for kind, loop in zip(KINDS, ("asyncio", "trio", "asyncio"), strict=True)]
            return [*lite, *(f"{store} transactional trio server 0" for store in stores() if store == "postgres")]
        kinds = ("none", *KINDS)
        units = [f"{store} {kind} {loop} {ROUNDS}" for store, kind, loop in product(stores(), kinds, LOOPS)]
        if "postgres" in stores():
            units += [f"postgres {kind} {loop} server {ROUNDS_SERVER}" for kind, loop in product(kinds, LOOPS)]
        return units

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, kind, loop, *server, rounds = unit.split()
        effect = None if kind == "none" else EffectKind(kind)
        counts, faults = Counter[str](), list[str]()
        with scratch() as folder, store_of(store_kind, Path(folder)) as store:
            scene = Scene(store, store.ledger(), effect)
            play = _end_connections if server else _lose_answers
            for number in range(max(1, int(rounds))):
                faults += [f"{unit}, {fault}" for fault in play(scene, loop, number, counts)]
            anyio.run(scene.ledger.aclose)
        return Result(counts=dict(counts), faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        rows = [
            ("lost", "an answer of the ledger that is lost is settled by reading back"),
            ("ended", "a connection that the server ends around COMMIT, too"),
            ("cut", "a call that is cancelled around a write agrees with the ledger"),
        ]
        return [
            Row(
                promise=promise,
                measured=f"{counts[name] - counts.get(f'{name} broken', 0):,} of {counts[name]:,}",
                held=not counts.get(f"{name} broken"),
            )
            for name, promise in rows
            if name in counts
        ]


def _lose_answers(scene: Scene, loop: str, number: int, counts: Counter[str]) -> Iterable[str]:
    cases = [(write, way, "none") for write, way in product(WRITES[scene.kind], LOST)]
    if number < ROUNDS_CUT:
        cases += list(product(WRITES[scene.kind], CUT, CANCELS))
    for at, (write, way, cancel) in enumerate(cases):
        if write == "claim" and way == "stray cancellation":
            continue
        key = f"key-{number}-{at}"
        name = "lost" if way in LOST else "cut"
        counts[name] += 1
        made = partial(_call, scene, key, write, way, cancel)
        faults = anyio.run(_call_and_look, scene, key, made, backend=loop)
        counts[f"{name} broken"] += bool(faults)
        yield from (f"{write}, {way} ({cancel}): {fault}" for fault in faults)


def _end_connections(scene: Scene, loop: str, number: int, counts: Counter[str]) -> Iterable[str]:
    async def plain(key: str) -> list[object]:
        async with scene.client() as client:
            return told(await call(client, key, scene.effect(key)))

    with psycopg.connect(scene.store.place, autocommit=True) as admin:
        for (at, write), when in product(enumerate(WRITES[scene.kind], start=1), SERVER):
            key, random = f"server-{number}-{at}-{when}", Random(f"{number} {at} {when}")
            with _ended_connection(admin, when, at, random) as done:
                faults = anyio.run(_call_and_look, scene, key, partial(plain, key), backend=loop)
            assert done["ended"], f"{write} was never made"
            counts["ended"] += 1
            counts["ended broken"] += bool(faults)
            yield from (f"{write}, connection ended {when} COMMIT: {fault}" for fault in faults)


LOST_ANSWERS = LostAnswers()
