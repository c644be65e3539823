"""Set the clock an hour forth or back at every step of a call, and back again at every later one.

A call goes along its way from claim to commit. At one point the clock jumps, at a later one it may jump back; there
another call with the same key may come; the first one may die there. A lease after the last jump the key must be free
or settled, for the call that came first after the jump, and no effect may have been lost or run twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import cast

import anyio
from proofs.aftermath import Scene
from proofs.clocked_store import ClockedStore, clocked_store
from proofs.commit_scene import INSIDE, KINDS, Watched, call, scratch, stores, told
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.effect_kind import EffectKind
from commitgate.errors import InProgressError, LedgerError, LedgerUnavailableError
from commitgate.ledger import FaultPoint, Ledger, State
from commitgate.retry import operation_key

HOUR_S = 3_600.0
LEASE_S = 30.0
"""Lease of every call, in seconds on the clock that jumps."""

POINTS = (
    FaultPoint.BEFORE_CLAIM.value,
    FaultPoint.AFTER_CLAIM.value,
    FaultPoint.BEFORE_INTENT.value,
    FaultPoint.AFTER_INTENT.value,
    INSIDE,
    FaultPoint.INSIDE_EFFECT.value,
    FaultPoint.AFTER_EFFECT.value,
    FaultPoint.AFTER_COMMIT.value,
)
LOCKED = (INSIDE, FaultPoint.INSIDE_EFFECT.value)
"""Points at which a transactional effect holds the database's lock: nobody else comes there, and nobody dies there."""

SLICES = 4
"""Units of each store and kind."""

MOST_FAULTS = 20
SOURCES = ("clock_jumps.py", "clocked_store.py", "aftermath.py", "commit_scene.py")


@dataclass(frozen=True)
class Jump:
    """Hold one case.

    Attributes:
        sign: 1 for forth, -1 for back.
        at: the point of the jump.
        undone_at: the point of the jump back; None where there is none.
        other_comes: whether another call comes right after each jump.
        dies: whether the first call dies after its last jump.
    """

    sign: int
    at: str
    undone_at: str | None
    other_comes: bool
    dies: bool

    @property
    def last(self) -> str:
        return self.undone_at or self.at


def jumps(kind: EffectKind, points: Collection[str] = POINTS) -> list[Jump]:
    """Return all cases for a kind of effect."""
    way = [point for point in points if kind is not EffectKind.TRANSACTIONAL or point != FaultPoint.AFTER_EFFECT]
    pairs = [
        (at, undone_at) for at, undone_at in product(way, (None, *way)) if undone_at is None or _later(undone_at, at)
    ]
    cases = [
        Jump(sign, *pair, comes, dies)
        for sign, pair, comes, dies in product((1, -1), pairs, (False, True), (False, True))
    ]
    return [case for case in cases if not (kind is EffectKind.TRANSACTIONAL and case.dies and case.last in LOCKED)]


def _later(point: str, than: str) -> bool:
    return POINTS.index(point) > POINTS.index(than)


@dataclass
class _Way:
    """Lead the first call along its points."""

    scene: Scene
    store: ClockedStore
    jump: Jump
    key: str
    stands: anyio.Event = field(default_factory=anyio.Event)
    over: anyio.Event = field(default_factory=anyio.Event)
    is_dead: bool = False
    told: list[object] = field(default_factory=list[object])
    others: list[list[object]] = field(default_factory=list[list[object]])

    async def reach(self, point: str) -> None:
        if self.is_dead:
            raise LedgerUnavailableError("a dead call reaches nothing")
        clock, jump = self.store.clock, self.jump
        if point == jump.at:
            clock.set(clock.now + jump.sign * HOUR_S)
        if point == jump.undone_at:
            clock.set(clock.now - jump.sign * HOUR_S)
        if point in (jump.at, jump.undone_at) and jump.other_comes and not self._is_locked(point):
            self.others.append(await come(self.scene, self.store, self.key))
        if point == jump.last and jump.dies:
            self.is_dead = True
            self.stands.set()
            await self.over.wait()
            raise LedgerUnavailableError("a dead call goes no further")

    def _is_locked(self, point: str) -> bool:
        return self.scene.kind is EffectKind.TRANSACTIONAL and point in LOCKED

    async def first(self) -> None:
        ledger = self.store.another()
        watched = Watched(cast("Ledger", _Mortal(ledger, self)), self.reach, lease_s=LEASE_S)
        effect = self.scene.effect(self.key, self.reach)
        try:
            async with self.scene.client(watched) as client:
                self.told = told(await call(client, self.key, effect, in_progress="raise"))
        except LedgerError as error:
            self.told = [type(error).__name__]
        finally:
            self.stands.set()
            await ledger.aclose()


class _Mortal:
    """Pass everything on to a ledger, and nothing once the call is dead."""

    def __init__(self, ledger: Ledger, way: _Way) -> None:
        self._ledger = ledger
        self._way = way

    def __getattr__(self, name: str) -> object:
        return _refuse if self._way.is_dead else getattr(self._ledger, name)


async def _refuse(*given: object, **named: object) -> None:
    del given, named
    raise LedgerUnavailableError("a dead call writes nothing")


async def come(scene: Scene, store: ClockedStore, key: str) -> list[object]:
    """Make the call as another process; return what it was told, or that the key is held and for how long."""
    ledger = Watched(store.another(), lease_s=LEASE_S)
    try:
        async with scene.client(ledger) as client:
            return told(await call(client, key, scene.effect(key), in_progress="raise"))
    except InProgressError as error:
        return ["in progress", error.lease_remaining_s]
    finally:
        await ledger.aclose()


async def _play(scene: Scene, store: ClockedStore, jump: Jump, key: str) -> list[str]:
    store.clock.set(store.clock.now + 10 * HOUR_S)
    way = _Way(scene, store, jump, key)
    last: list[object] = []
    faults: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(way.first)
        await way.stands.wait()
        if jump.dies:
            way.others.append(await come(scene, store, key))
        store.clock.set(store.clock.now + LEASE_S + 1)
        last = await come(scene, store, key)
        way.over.set()
    if jump.dies and way.others[-1][0] == "in progress" and float(str(way.others[-1][1])) > LEASE_S:
        faults.append(f"blocked: for {way.others[-1][1]} s")
    if last[0] == "in progress":
        faults.append("blocked: a lease after the jump")
    return faults + await _broken(scene, way, last)


async def _broken(scene: Scene, way: _Way, last: list[object]) -> list[str]:
    row = await scene.ledger.read(operation_key(way.key))
    numbers = scene.happened(way.key)
    if row is None:
        return ["lost: no row"]
    faults: list[str] = []
    is_committed = row.state is State.COMMITTED
    if not is_committed and not (scene.kind is EffectKind.ONCE and row.state is State.IN_DOUBT):
        faults.append(f"not settled: {row.state}")
    if is_committed and not numbers:
        faults.append("lost: committed without its effect")
    if scene.kind is not EffectKind.BY_KEY and len(numbers) > 1:
        faults.append(f"double: {len(numbers)} effects")
    if len(set(numbers)) > 1:
        faults.append("double: effects with several values")
    if last[0] == "committed" and [last[1]] != numbers[:1]:
        faults.append("told otherwise: another value than the effect's")
    for said in (way.told, *way.others):
        if said and said[0] == "committed" and (not is_committed or said[1] != numbers[0]):
            faults.append(f"told otherwise: {said[0]}, but the ledger says {row.state}")
        if said and said[0] == "effect_failed":
            faults.append("told otherwise: the effect failed")
    return faults


class ClockJumps:
    """Let clocks jump on each store, for each kind of effect."""

    name = "clock-jumps"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["memory once asyncio 0/7", "sqlite transactional trio 3/7"]
        pairs = [(store, kind) for store, kind in product(("memory", *stores()), KINDS)]
        loops = ("asyncio", "trio")
        able = [pair for pair in pairs if pair != ("memory", EffectKind.TRANSACTIONAL)]
        return [
            f"{store} {kind} {loops[at % 2]} {slice_}/{SLICES}"
            for at, (store, kind) in enumerate(able)
            for slice_ in range(SLICES)
        ]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, kind, loop, *_ = unit.split()
        first, step = map(int, unit.split()[-1].split("/"))
        counts, faults = Counter[str](), list[str]()
        with scratch() as folder, clocked_store(store_kind, Path(folder)) as store:
            scene = Scene(store.store, store.ledger, EffectKind(kind))

            async def play() -> None:
                for at, jump in enumerate(jumps(EffectKind(kind))[first::step]):
                    found = await _play(scene, store, jump, f"key-{at}")
                    counts["cases"] += 1
                    counts["dead"] += jump.dies
                    counts["broken"] += bool(found)
                    faults.extend(f"{unit}, {jump}: {fault}" for fault in found)
                    for fault in found:
                        counts[fault.split(":")[0]] += 1
                await store.ledger.aclose()

            anyio.run(play, backend=loop)
        return Result(counts=dict(counts), faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        return [
            Row(
                promise="a clock that jumps an hour, at any step and back at any later one, does no harm",
                measured=f"{counts.get('broken', 0)} of {counts.get('cases', 0):,} cases with an effect lost, double "
                f"or told otherwise; in {counts.get('dead', 0):,} of them a call dies",
                held=not counts.get("broken"),
            ),
            Row(
                promise="no key is blocked for longer than a lease after the jump",
                measured=f"{counts.get('blocked', 0)} of {counts.get('cases', 0):,}",
                held=not counts.get("blocked"),
            ),
        ]


CLOCK_JUMPS = ClockJumps()
