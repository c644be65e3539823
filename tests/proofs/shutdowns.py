"""Close clients while a hundred of their calls are committing: what had begun is finished, and the report is true.

Each call is held at a point between its intent and its last write; others are still waiting for their model. Then the
client is closed, left, or cancelled together with the program, natively, by a scope or by SIGTERM, and only when that
has begun are the calls let go on.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from proofs.aftermath import Scene
from proofs.commit_scene import INSIDE, KINDS, Model, Watched, call, scratch, store_of, stores, told
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.client import Client
from commitgate.effect_kind import EffectKind
from commitgate.errors import MisuseError
from commitgate.ledger import FaultPoint, State
from commitgate.ledger.transaction import Transaction
from commitgate.retry import operation_key
from commitgate.retry.keys import OperationKey
from commitgate.testing import ScriptedBackend

COMMITTING = 100
GENERATING = 20
TIMES = 100
A_UNIT = 4
WAYS = ("aclose", "leave", "scope", "task", "signal")
LOOPS = ("asyncio", "trio")
MOST_FAULTS = 20
TURNS = 30
"""Turns of the event loop for which the calls are held after the end has begun."""

SOURCES = ("shutdowns.py", "aftermath.py", "commit_scene.py")

# What holds a transactional effect inside its transaction holds the database's lock, and so all the other calls.
POINTS: Mapping[EffectKind, Sequence[str]] = {
    kind: ("before_intent", "after_intent", "after_commit")
    if kind is EffectKind.TRANSACTIONAL
    else ("before_intent", "after_intent", INSIDE, FaultPoint.INSIDE_EFFECT.value, "after_effect", "after_commit")
    for kind in KINDS
}


@dataclass
class _Hold:
    """Hold each key at its point until the end has begun."""

    points: Mapping[str, str]
    arrived: int = 0
    all_there: anyio.Event = field(default_factory=anyio.Event)
    go_on: anyio.Event = field(default_factory=anyio.Event)

    async def at(self, key: str, point: str) -> None:
        if self.points.get(key) != point:
            return
        self.arrived += 1
        if self.arrived == len(self.points):
            self.all_there.set()
        await self.go_on.wait()


class _Held(Watched):
    """Hold calls around the writes of the ledger."""

    def __init__(self, scene: Scene, hold: _Hold) -> None:
        super().__init__(scene.ledger)
        self._hold = hold

    async def start_effect(
        self, key: OperationKey, fence: int, *, value: bytes, receipt: bytes, lease_s: float
    ) -> None:
        await self._hold.at(key, "before_intent")
        await super().start_effect(key, fence, value=value, receipt=receipt, lease_s=lease_s)
        await self._hold.at(key, "after_intent")

    async def commit(self, key: OperationKey, fence: int, *, result: bytes) -> None:
        await self._hold.at(key, "after_effect")
        await super().commit(key, fence, result=result)
        await self._hold.at(key, "after_commit")

    async def transact(self, key: OperationKey, fence: int, work: Callable[[Transaction], bytes]) -> bytes:
        result = await super().transact(key, fence, work)
        await self._hold.at(key, "after_commit")
        return result


@dataclass
class _Shutdown:
    """Close one client in one way."""

    scene: Scene
    way: str
    seed: int
    slow: ScriptedBackend = field(default_factory=lambda: ScriptedBackend([{"wait": None}]))
    said: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    faults: list[str] = field(default_factory=list[str])

    async def run(self) -> list[str]:
        draw, points = Random(self.seed), POINTS[self.scene.kind or EffectKind.ONCE]
        hold = _Hold({f"key-{self.seed}-{number}": draw.choice(points) for number in range(COMMITTING)})
        async with anyio.create_task_group() as outside:
            await self._program(hold, outside)
        await self._look(hold)
        return self.faults

    async def _program(self, hold: _Hold, outside: TaskGroup) -> None:
        if self.way in ("aclose", "leave"):
            await self._serve(hold, outside, outside)
        elif self.way == "task" and issubclass(anyio.get_cancelled_exc_class(), asyncio.CancelledError):
            task = asyncio.ensure_future(self._whole(hold, outside))
            outside.start_soon(self._end, hold, task.cancel)
            await asyncio.wait([task])
        else:
            with anyio.CancelScope() as scope:
                if self.way == "signal":
                    outside.start_soon(self._end, hold, lambda: os.kill(os.getpid(), signal.SIGTERM))
                    await self._listening(hold, outside, scope)
                else:
                    outside.start_soon(self._end, hold, scope.cancel)
                    await self._whole(hold, outside)

    async def _listening(self, hold: _Hold, outside: TaskGroup, scope: anyio.CancelScope) -> None:
        """Run until SIGTERM, as a service does."""

        async def listen(signals: object) -> None:
            async for _ in signals:  # pyright: ignore[reportGeneralTypeIssues] - anyio's receiver
                scope.cancel()

        with anyio.open_signal_receiver(signal.SIGTERM) as signals:
            async with anyio.create_task_group() as group:
                group.start_soon(listen, signals)
                await self._whole(hold, outside)

    async def _whole(self, hold: _Hold, outside: TaskGroup) -> None:
        async with anyio.create_task_group() as callers:
            await self._serve(hold, callers, outside)

    async def _serve(self, hold: _Hold, callers: TaskGroup, outside: TaskGroup) -> None:
        backends = {"model": Model(self.scene.notes), "slow": self.slow}
        async with Client(backends=backends, ledger=_Held(self.scene, hold)) as client:
            for key in hold.points:
                callers.start_soon(self._call, client, key, hold)
            for number in range(GENERATING):
                callers.start_soon(self._wait_for_model, client, f"slow-{self.seed}-{number}")
            await self._ready(hold)
            if self.way not in ("aclose", "leave"):
                await anyio.sleep_forever()
            outside.start_soon(self._let_go, hold)
            if self.way == "aclose":
                drained = await client.aclose()
                if dict(drained.endings) != {"committed": COMMITTING, "cancelled": GENERATING} or drained.in_doubt:
                    self.faults.append(f"report: {drained.endings}")
                await self._refuses(client)

    async def _refuses(self, client: Client) -> None:
        try:
            await call(client, f"late-{self.seed}", None)
        except MisuseError:
            return
        self.faults.append("report: a closed client took a call")

    async def _ready(self, hold: _Hold) -> None:
        """Wait until all calls are where they are to be when the end begins."""
        await hold.all_there.wait()
        while self.slow.open_streams < GENERATING:
            await checkpoint()

    async def _end(self, hold: _Hold, begin: Callable[[], object]) -> None:
        await self._ready(hold)
        begin()
        await self._let_go(hold)

    async def _let_go(self, hold: _Hold) -> None:
        for _ in range(TURNS):
            await checkpoint()
        hold.go_on.set()

    async def _call(self, client: Client, key: str, hold: _Hold) -> None:
        async def reach(point: str) -> None:
            await hold.at(key, point)

        is_threaded = self.scene.kind is EffectKind.TRANSACTIONAL
        effect = self.scene.effect(key, None if is_threaded else reach)
        self.said[key] = told(await call(client, key, effect))

    async def _wait_for_model(self, client: Client, key: str) -> None:
        outcome = await client.generate_structured("slow/m", True, prompt=key, operation_key=key)
        self.said[key] = [outcome.name]

    async def _look(self, hold: _Hold) -> None:
        """Hold the ledger against the effects and what the callers were told."""
        is_told = self.way in ("aclose", "leave")
        for key in hold.points:
            row = await self.scene.ledger.read(operation_key(key))
            numbers = self.scene.happened(key)
            if row is None or row.state is not State.COMMITTED:
                self.faults.append(f"unfinished: {None if row is None else row.state}, held at {hold.points[key]}")
            if len(numbers) != 1:
                self.faults.append(f"{len(numbers)} effects, held at {hold.points[key]}")
            said = self.said.get(key)
            if said is None if is_told else (said is not None and said[0] != "committed"):
                self.faults.append(f"told otherwise: {said}, held at {hold.points[key]}")
            if said is not None and said[:2] != ["committed", *numbers[:1]]:
                self.faults.append(f"told otherwise: {said[0]}, held at {hold.points[key]}")
        for number in range(GENERATING):
            key = f"slow-{self.seed}-{number}"
            row = await self.scene.ledger.read(operation_key(key))
            if row is None or row.state is not State.RELEASED:
                self.faults.append(f"unfinished: a call that had no value, {None if row is None else row.state}")
            if is_told and self.said.get(key) != ["cancelled"]:
                self.faults.append(f"told otherwise: a call that had no value, {self.said.get(key)}")


class Shutdowns:
    """Shut clients down; stores, kinds of effect, event loops and ways take turns."""

    name = "shutdowns"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["sqlite 0-2", "sqlite 5-6"]
        starts = range(0, TIMES, A_UNIT)
        able = stores()
        return [f"{able[at // A_UNIT % 4 == 3 and len(able) > 1]} {at}-{at + A_UNIT}" for at in starts]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, span = unit.split()
        counts, faults = Counter[str](), list[str]()
        with scratch() as folder, store_of(store_kind, Path(folder)) as store:
            ledger = store.ledger()
            for seed in range(*map(int, span.split("-"))):
                kind, loop, way = KINDS[seed % 3], LOOPS[seed // 5 % 2], WAYS[seed % 5]
                shutdown = _Shutdown(Scene(store, ledger, kind), way, seed)
                found = anyio.run(shutdown.run, backend=loop)
                faults += [f"{unit}, {kind} on {loop} by {way}: {fault}" for fault in found]
                counts["shutdowns"] += 1
                counts["commits"] += COMMITTING
                counts["reports"] += way == "aclose"
                counts["false reports"] += any(fault.startswith("report") for fault in found)
                counts["broken"] += sum(not fault.startswith("report") for fault in found)
            anyio.run(ledger.aclose)
        return Result(counts=dict(counts), faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        finished = counts.get("commits", 0) - counts.get("broken", 0)
        return [
            Row(
                promise=f"every commit that has begun is finished when its client is closed, {COMMITTING} at once",
                measured=f"{finished:,} of {counts.get('commits', 0):,} in {counts.get('shutdowns', 0)} shutdowns, in "
                f"{len(WAYS)} ways",
                held=not counts.get("broken"),
            ),
            Row(
                promise="the report of `aclose` agrees with the ledger",
                measured=f"{counts.get('false reports', 0)} of {counts.get('reports', 0)} false",
                held=not counts.get("false reports"),
            ),
        ]


SHUTDOWNS = Shutdowns()
