"""Lose the ledger's answers again and again, at every method, and repeat each call until it is settled.

One lost answer is settled within the call; where several are lost, also those that would settle it, the call may end in
doubt or raise. What it must not do is lie: what is told as committed stands, with one effect and one value.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import cast

import anyio
from proofs.aftermath import Scene
from proofs.commit_scene import KINDS, Watched, call, scratch, store_of, stores, told
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerError, LedgerUnavailableError
from commitgate.ledger import Ledger, State
from commitgate.retry import operation_key

LEASE_S = 0.03
CHANCES = (0.05, 0.1, 0.2, 0.3)
"""How likely an answer is lost before it is done; as likely after."""

KEYS = 200
MOST_CALLS = 100
MOST_FAULTS = 20
SOURCES = ("storms.py", "aftermath.py", "commit_scene.py")


class _Stormy:
    """Lose what is asked of a ledger, or its answer, by chance."""

    def __init__(self, ledger: Ledger, random: Random, chance: float, counts: Counter[str]) -> None:
        self._ledger = ledger
        self._random = random
        self._chance = chance
        self._counts = counts
        self.has_transactions = ledger.has_transactions

    def __getattr__(self, name: str) -> object:
        method = getattr(self._ledger, name)

        async def pass_on(*given: object, **named: object) -> object:
            drawn = self._random.random()
            self._counts["lost answers"] += drawn < 2 * self._chance
            if drawn < self._chance:
                raise LedgerUnavailableError("it was lost")
            answer = await method(*given, **named)
            if drawn < 2 * self._chance:
                raise LedgerUnavailableError("the answer was lost")
            return answer

        return pass_on


async def _settle(scene: Scene, key: str, random: Random, chance: float, counts: Counter[str]) -> list[str]:
    """Repeat one call in the storm until it is settled, and then once without one; name what is broken."""
    faults: list[str] = []
    doubts = 0
    for _ in range(MOST_CALLS):
        counts["calls"] += 1
        ledger = Watched(cast("Ledger", _Stormy(scene.ledger, random, chance, counts)), lease_s=LEASE_S)
        try:
            async with scene.client(ledger) as client:
                said = told(await call(client, key, scene.effect(key)))
        except LedgerError:
            continue
        if said[0] == "committed":
            row = await scene.ledger.read(operation_key(key))
            if row is None or row.state is not State.COMMITTED or said[1] != _number(row.value):
                faults.append("told otherwise: committed")
            break
        doubts += said[0] == "in_doubt"
        if said[0] != "in_doubt":
            faults.append(f"told otherwise: {said[0]}")
        if scene.kind is EffectKind.ONCE and doubts > 3:
            break
    else:
        faults.append("not settled")
    async with scene.client(Watched(scene.ledger, lease_s=LEASE_S)) as client:
        last = told(await call(client, key, scene.effect(key)))
    return faults + await _broken(scene, key, last, counts)


async def _broken(scene: Scene, key: str, last: Sequence[object], counts: Counter[str]) -> list[str]:
    row = await scene.ledger.read(operation_key(key))
    numbers = scene.happened(key)
    asked = [int(words[0]) for words in scene.notes.read("asked").get(key, ())]
    assert row is not None
    stored = _number(row.value)
    is_committed = row.state is State.COMMITTED
    counts["committed"] += is_committed
    counts["in doubt"] += row.state is State.IN_DOUBT
    faults: list[str] = []
    if not is_committed and not (scene.kind is EffectKind.ONCE and row.state is State.IN_DOUBT):
        faults.append(f"not settled: {row.state}")
    if is_committed and not numbers:
        faults.append("lost: committed without its effect")
    if len(set(numbers)) > 1 or (len(numbers) > 1 and scene.kind is not EffectKind.BY_KEY):
        faults.append(f"double: {len(numbers)} effects")
    if any(number != stored for number in numbers) or stored != asked[-1]:
        faults.append("another value: the model was asked again after one was chosen")
    if list(last[:2]) != (["committed", stored] if is_committed else ["in_doubt", None]):
        faults.append(f"told otherwise: {last[0]}")
    return faults


def _number(value: bytes | None) -> int | None:
    return None if value is None else json.loads(value)["number"]


class Storms:
    """Lose answers by chance, on each store and event loop, for each kind of effect."""

    name = "storms"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["sqlite once trio 0-10", "sqlite transactional asyncio 0-10"]
        loops = ("asyncio", "trio")
        return [f"{store} {kind} {loop} 0-{KEYS}" for store, kind, loop in product(stores(), KINDS, loops)]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, kind, loop, span = unit.split()
        counts, faults = Counter[str](), list[str]()
        with scratch() as folder, store_of(store_kind, Path(folder)) as store:
            scene = Scene(store, store.ledger(), EffectKind(kind))

            async def settle() -> None:
                for seed in range(*map(int, span.split("-"))):
                    chance = CHANCES[seed % len(CHANCES)]
                    found = await _settle(scene, f"key-{seed}", Random(seed), chance, counts)
                    counts["keys"] += 1
                    counts["broken"] += bool(found)
                    faults.extend(f"{unit}, key {seed}: {fault}" for fault in found)
                await scene.ledger.aclose()

            anyio.run(settle, backend=loop)
        return Result(counts=dict(counts), faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        return [
            Row(
                promise="a ledger that loses answers again and again loses no effect, and nothing untrue is told",
                measured=f"{counts.get('broken', 0)} of {counts.get('keys', 0):,} keys wrong after "
                f"{counts.get('lost answers', 0):,} lost answers in {counts.get('calls', 0):,} calls; "
                f"{counts.get('committed', 0):,} committed, {counts.get('in doubt', 0):,} of the kind `once` in doubt",
                held=not counts.get("broken"),
            )
        ]


STORMS = Storms()
