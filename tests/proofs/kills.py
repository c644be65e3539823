"""Kill processes at every point of the way from claim to commit, and at random, until each call is settled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from proofs.commit_scene import INSIDE, KINDS, Store, Traces, store_of, stores
from proofs.killed_calls import RANDOM
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.effect_kind import EffectKind
from commitgate.ledger import FaultPoint, Record, State
from commitgate.retry import operation_key

POINTS = (*(point.value for point in FaultPoint), INSIDE)
DOUBTFUL = (FaultPoint.AFTER_INTENT.value, INSIDE, FaultPoint.INSIDE_EFFECT.value, FaultPoint.AFTER_EFFECT.value)
"""Points after which a killed effect of kind ``once`` is in doubt."""

ROUNDS = 2
RANDOM_KEYS = 30
PROGRAM = PROOFS / "killed_calls.py"
MOST_FAULTS = 20


@dataclass(frozen=True)
class Found:
    """Hold what is known of one key after its last call.

    Attributes:
        killed: the points at which a process was killed.
        told: what the last process told: the call, the call again, the outcome.
        row: the ledger's row.
        asked: the model's answers, in order.
        effects: the numbers with which the effect left traces.
        effect_keys: the idempotency keys under which it did.
    """

    key: str
    kind: EffectKind
    killed: Sequence[str]
    told: Sequence[Sequence[object]] | None
    row: Record | None
    asked: Sequence[int]
    effects: Sequence[int]
    effect_keys: frozenset[str]

    def faults(self) -> Iterable[str]:
        """Name what is broken, each as its kind and the rest."""
        if self.told is None or self.row is None or self.row.state not in (State.COMMITTED, State.IN_DOUBT):
            yield "not settled"
            return
        stored = json.loads(self.row.value or b"{}").get("number")
        if not self.asked or stored != self.asked[-1]:
            yield "asked again after the value was chosen"
        if any(number != stored for number in self.effects):
            yield "an effect with another value than the stored one"
        committed = [["committed", stored, f"T-{stored}"]] * 3
        doubtful = [["in_doubt", None, None]] * 3
        is_committed = self.row.state is State.COMMITTED
        if [list(each[:3]) for each in self.told] != (committed if is_committed else doubtful):
            yield "told otherwise than the ledger holds"
        if is_committed and not self.effects:
            yield "lost: committed without its effect"
        if self.kind is not EffectKind.BY_KEY and len(self.effects) > 1:
            yield "double"
        if self.kind is EffectKind.BY_KEY and len(self.effect_keys) > 1:
            yield "double: under two idempotency keys"
        if self.kind is not EffectKind.ONCE and not is_committed:
            yield "not settled"
        if self.kind is EffectKind.ONCE and RANDOM not in self.killed:
            is_doubtful = any(point in DOUBTFUL for point in self.killed)
            if is_doubtful is is_committed:
                yield "in doubt where it should not be, or the other way round"


class Kills:
    """Kill calls on each store, for each kind of effect."""

    name = "kills"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return [
                f"{store} {kind} short 1" for store in stores() for kind in (KINDS if store == "sqlite" else KINDS[2:])
            ]
        how = [*(f"points {number}" for number in range(ROUNDS)), *(f"random {number}" for number in range(ROUNDS))]
        return [f"{store} {kind} {each}" for store, each, kind in product(stores(), how, KINDS)]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in ("kills.py", "killed_calls.py", "commit_scene.py"))]

    def run(self, unit: str) -> Result:
        store_kind, kind, how, seed = unit.split()
        effect = EffectKind(kind)
        with TemporaryDirectory(prefix="commitgate-kills-") as folder, store_of(store_kind, Path(folder)) as store:
            found = _found(store, Path(folder), effect, _trials(how, effect), int(seed))
        faults = [(f"{unit}, {each.key} killed at {each.killed}: ", fault) for each in found for fault in each.faults()]
        counts = {
            f"{kind} keys": len(found),
            f"{kind} effects": sum(len(each.effects) for each in found),
            f"{kind} keys with an effect": sum(bool(each.effects) for each in found),
            f"{kind} in doubt": sum(each.row is not None and each.row.state is State.IN_DOUBT for each in found),
            f"{store_kind} kills": sum(len(each.killed) for each in found),
            "random kills": sum(each.killed.count(RANDOM) for each in found),
            "asked": sum(len(each.asked) for each in found),
        }
        for _, fault in faults:
            counts[fault.split(":")[0]] = counts.get(fault.split(":")[0], 0) + 1
        return Result(counts=counts, faults=["".join(fault) for fault in faults[:MOST_FAULTS]])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        kills = sum(counts.get(f"{store} kills", 0) for store in ("sqlite", "postgres"))
        size = (
            f"{kills:,} processes killed ({counts.get('random kills', 0):,} at random) on SQLite "
            f"({counts.get('sqlite kills', 0):,}) and Postgres ({counts.get('postgres kills', 0):,})"
        )
        broken = not all(result.faults == () or result.faults == [] for result in results.values())
        return [
            Row(promise="a killed process loses no effect and repeats none", measured=size, held=not broken),
            *(self._row(kind, counts) for kind in KINDS),
            Row(
                promise="a value is chosen once",
                measured=f"{counts.get('asked again after the value was chosen', 0)} times asked again after the "
                f"intent, of {counts.get('asked', 0):,} times asked",
                held=not counts.get("asked again after the value was chosen"),
            ),
        ]

    @staticmethod
    def _row(kind: EffectKind, counts: Mapping[str, int]) -> Row:
        keys, effects = counts.get(f"{kind} keys", 0), counts.get(f"{kind} effects", 0)
        reached, doubtful = counts.get(f"{kind} keys with an effect", 0), counts.get(f"{kind} in doubt", 0)
        if kind is EffectKind.TRANSACTIONAL:
            measured, held = f"{effects:,} rows written for {keys:,} keys", effects == reached == keys
        elif kind is EffectKind.BY_KEY:
            measured = f"{reached:,} distinct effects downstream for {keys:,} keys, asked for {effects:,} times"
            held = reached == keys
        else:
            measured = f"{effects:,} effects for {keys:,} keys, {doubtful:,} keys in doubt, none silently"
            held = effects == reached and reached + doubtful >= keys
        words = {"once": "at most once, or in doubt", "by_key": "one for each key", "transactional": "exactly once"}
        return Row(promise=f"effects of the kind `{kind}` through kills: {words[kind]}", measured=measured, held=held)


def _trials(how: str, kind: EffectKind) -> list[tuple[str, list[str]]]:
    points = [point for point in POINTS if kind is not EffectKind.TRANSACTIONAL or point != FaultPoint.AFTER_EFFECT]
    if how == "short":
        return [*((f"key-{at}", [point]) for at, point in enumerate(points)), ("key-random", [RANDOM])]
    if how == "random":
        return [(f"key-{at}", [RANDOM] * (1 + at % 4)) for at in range(RANDOM_KEYS)]
    return [(f"key-{at}", list(pair)) for at, pair in enumerate(product(points, points))]


def _found(
    store: Store, folder: Path, kind: EffectKind, trials: Sequence[tuple[str, Sequence[str]]], seed: int
) -> list[Found]:
    asked_for = {"place": store.place, "folder": str(folder), "kind": kind.value, "seed": seed, "trials": trials}
    command = [sys.executable, str(PROGRAM), json.dumps(asked_for)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    traces = Traces(folder)
    asked, effects, shop = traces.read("asked"), traces.read("effects"), store.shop()
    rows = anyio.run(_rows, store, [key for key, _ in trials])
    return [
        Found(
            key=each["key"],
            kind=kind,
            killed=each["killed"],
            told=each["told"],
            row=row,
            asked=[int(words[0]) for words in asked.get(each["key"], ())],
            effects=shop.get(each["key"], [int(words[1]) for words in effects.get(each["key"], ())]),
            effect_keys=frozenset(words[0] for words in effects.get(each["key"], ())),
        )
        for each, row in zip(json.loads(done.stdout), rows, strict=True)
    ]


async def _rows(store: Store, keys: Sequence[str]) -> list[Record | None]:
    ledger = store.ledger()
    rows = [await ledger.read(operation_key(key)) for key in keys]
    await ledger.aclose()
    return rows


KILLS = Kills()
