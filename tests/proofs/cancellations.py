"""Cancel a call in every turn of the event loop from its first to its last, in every way there is.

Time is counted in turns, and threads take turns too, so each way is asked to cancel in the first turn, the second, and
so on, until the call ends before it. After each, the ledger's row must agree with what the effect left behind, and what
the key is told to stand for, by ``outcome`` and by the same call again, must be true.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path

import anyio
import trio
from proofs.aftermath import Scene
from proofs.commit_scene import KINDS, call, scratch, store_of, stores
from proofs.part import PROOFS, Result, Row, modules_of, total
from proofs.turn_time import TURN_S, in_turns, threads_in_turns

from commitgate.client import Client
from commitgate.effect_kind import EffectKind

MOST_TURNS = 1_000
MOST_FAULTS = 20
SOURCES = ("cancellations.py", "turn_time.py", "aftermath.py", "commit_scene.py")
Work = Callable[[], Awaitable[None]]


class _Failed(Exception):  # noqa: N818 - it is the failure of a neighbour, and ends nothing else
    """Fail beside the call."""


async def _timeout(work: Work, after_s: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(after_s):
            await work()


async def _wait_for(work: Work, after_s: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(_coroutine(work), after_s)


async def _task_group(work: Work, after_s: float) -> None:
    async def fail() -> None:
        await asyncio.sleep(after_s)
        raise _Failed

    with suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
            group.create_task(_coroutine(work))


async def _cancel(work: Work, after_s: float, *, times: int = 1) -> None:
    task = asyncio.ensure_future(_coroutine(work))
    for each in range(times):
        asyncio.get_running_loop().call_later(after_s + each * TURN_S, task.cancel)
    with suppress(asyncio.CancelledError):
        await task


async def _coroutine(work: Work) -> None:
    await work()


async def _fail_after(work: Work, after_s: float) -> None:
    with suppress(TimeoutError), anyio.fail_after(after_s):
        await work()


async def _move_on_after(work: Work, after_s: float) -> None:
    with anyio.move_on_after(after_s):
        await work()


async def _neighbour(work: Work, after_s: float) -> None:
    async def fail() -> None:
        await anyio.sleep(after_s)
        raise _Failed

    with suppress(ExceptionGroup):
        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            await work()


async def _trio_move_on_after(work: Work, after_s: float) -> None:
    with trio.move_on_after(after_s):
        await work()


async def _trio_fail_after(work: Work, after_s: float) -> None:
    with suppress(trio.TooSlowError), trio.fail_after(after_s):
        await work()


async def _nursery(work: Work, after_s: float) -> None:
    async def cancel(scope: trio.CancelScope) -> None:
        await trio.sleep(after_s)
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel, nursery.cancel_scope)
        await work()


WAYS: Mapping[str, Mapping[str, Callable[[Work, float], Awaitable[None]]]] = {
    "asyncio": {
        "asyncio.timeout": _timeout,
        "asyncio.wait_for": _wait_for,
        "asyncio.TaskGroup": _task_group,
        "task.cancel": _cancel,
        "task.cancel twice": partial(_cancel, times=2),
        "anyio.fail_after": _fail_after,
        "anyio.move_on_after": _move_on_after,
        "anyio task group": _neighbour,
    },
    "trio": {
        "trio.move_on_after": _trio_move_on_after,
        "trio.fail_after": _trio_fail_after,
        "trio nursery": _nursery,
        "anyio.fail_after": _fail_after,
        "anyio.move_on_after": _move_on_after,
        "anyio task group": _neighbour,
    },
}
PLACES = ("call", "client")
"""What the cancelled block holds: the call alone, or the client with it."""


async def _cut(scene: Scene, key: str, way: Callable[[Work, float], Awaitable[None]], turn: int, place: str) -> bool:
    """Cancel one call in that turn; say whether it had come to its end before."""
    ended: list[object] = []

    async def make(client: Client) -> None:
        ended.append(await call(client, key, scene.effect(key)))

    async def both() -> None:
        async with scene.client() as client:
            await make(client)

    if place == "client":
        await way(both, turn * TURN_S)
    else:
        async with scene.client() as client:
            await way(lambda: make(client), turn * TURN_S)
    return bool(ended)


class Cancellations:
    """Cancel calls with each kind of effect, on each store and event loop."""

    name = "cancellations"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["sqlite transactional asyncio call asyncio.timeout", "sqlite once trio client trio nursery"]
        kinds = ("none", *KINDS)
        lite = [f"sqlite {kind} {loop} {place} all" for kind, loop, place in product(kinds, WAYS, PLACES)]
        others = [store for store in stores() if store != "sqlite"]
        return [*lite, *(f"{store} {kind} {loop} call all" for store, kind, loop in product(others, KINDS, WAYS))]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in SOURCES)]

    def run(self, unit: str) -> Result:
        store_kind, kind, loop, place, wanted = unit.split(maxsplit=4)
        effect = None if kind == "none" else EffectKind(kind)
        counts, faults = Counter[str](), list[str]()
        with scratch() as folder, store_of(store_kind, Path(folder)) as store:
            scene = Scene(store, store.ledger(), effect)
            for name, way in WAYS[loop].items():
                if wanted in ("all", name):
                    for fault in _cut_in_every_turn(scene, loop, name, way, place, counts):
                        faults.append(f"{unit}, {fault}")
            anyio.run(scene.ledger.aclose)
        return Result(counts=dict(counts), faults=faults[:MOST_FAULTS], notes={"ways": f"{loop} {len(WAYS[loop])}"})

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        settled = f"{counts.get('committed', 0):,} committed, {counts.get('released', 0) + counts.get('none', 0):,} not"
        ways = sum(len(each) for each in WAYS.values())
        return [
            Row(
                promise="a call cancelled at any await loses no effect and repeats none",
                measured=f"{counts.get('lost', 0)} lost, {counts.get('double', 0)} double in {counts.get('cuts', 0):,} "
                f"cancelled calls ({settled}), in every turn of the event loop and {ways} ways",
                held=not counts.get("lost") and not counts.get("double"),
            ),
            Row(
                promise="ledger, effect, `outcome` and the same call again agree",
                measured=f"{counts.get('faults', 0)} times not",
                held=not counts.get("faults") and counts.get("committed", 0) > 0,
            ),
        ]


def _cut_in_every_turn(
    scene: Scene,
    loop: str,
    name: str,
    way: Callable[[Work, float], Awaitable[None]],
    place: str,
    counts: Counter[str],
) -> Iterable[str]:
    for turn in range(MOST_TURNS):
        key = f"{loop}-{name.replace(' ', '-')}-{turn}"
        with threads_in_turns():
            has_ended = anyio.run(_cut, scene, key, way, turn, place, **in_turns(loop))  # pyright: ignore[reportArgumentType] - options of either loop
        state, faults = anyio.run(scene.look, key, backend=loop)
        counts["cuts"] += not has_ended
        counts[state] += not has_ended
        for fault in faults:
            counts["faults"] += 1
            counts[fault.split(":")[0]] += 1
            yield f"{name} in turn {turn}: {fault}"
        if has_ended:
            return
    yield f"{name}: never came to its end"


CANCELLATIONS = Cancellations()
