"""Make calls that are killed, in processes forked from this one: a program, so that nothing runs beside it.

One argument, a JSON object: ``place`` (see ``Store``), ``folder`` of the traces, ``kind`` of the effect, ``seed``, and
``trials``: pairs of a key and the points at which the first, second ... process is killed; ``random`` for any moment.
Each process makes the same call with the same key; the last one, which nothing kills, settles it and tells how. Prints
one JSON list: for each trial the points at which a process was indeed killed, and what the last one told.

This process opens no database, and has no thread and no event loop when it forks, so its children begin as fresh ones
do; but all that they need is loaded already.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from random import Random

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio
from proofs.commit_scene import Model, Store, Traces, Watched, call, contract, effect_of, told

from commitgate.client import Client
from commitgate.effect_kind import EffectKind
from commitgate.ledger import MemoryLedger

LEASE_S = 0.05
PATIENCE_S = 60.0
MOST_PROCESSES = 12
RANDOM = "random"


async def _call(store: Store, traces: Traces, kind: EffectKind, key: str, killed_at: str, pipe: int) -> None:
    async def reach(point: str) -> None:
        if point == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    effect = effect_of(kind, key, traces, store.mark, reach)
    ledger = Watched(store.ledger(), reach, lease_s=LEASE_S)
    async with Client(backends={"model": Model(traces)}, ledger=ledger) as client:
        os.write(pipe, b"\n")
        first = told(await call(client, key, effect))
        again = told(await call(client, key, effect))
        outcome = told(await client.outcome(key, contract()))
    await ledger.aclose()
    os.write(pipe, json.dumps([first, again, outcome]).encode())


class Trials:
    """Run trials one after the other."""

    def __init__(self, store: Store, traces: Traces, kind: EffectKind, seed: int) -> None:
        self._scene = (store, traces, kind)
        self._random = Random(seed)
        self._typical_s = 0.05

    def run(self, key: str, points: Sequence[str]) -> dict[str, object]:
        """Kill at the points in turn, then let the call come to its end."""
        killed: list[str] = []
        todo = list(points)
        for _ in range(MOST_PROCESSES):
            point = todo.pop(0) if todo else ""
            status, said = self._process(key, point)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL and point:
                killed.append(point)
            elif status:
                return {"key": key, "killed": killed, "told": None}
            elif not todo:
                return {"key": key, "killed": killed, "told": json.loads(said)}
        return {"key": key, "killed": killed, "told": None}

    def _process(self, key: str, point: str) -> tuple[int, bytes]:
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            _in_child(*self._scene, key, point, writing)
        os.close(writing)
        if point == RANDOM:
            self._kill_at_random(process, reading)
        started = time.monotonic()
        said = _read(reading, process)
        _, status = os.waitpid(process, 0)
        if not point and not status:
            self._typical_s = max(0.01, 0.5 * self._typical_s + 0.5 * (time.monotonic() - started))
        return status, said

    def _kill_at_random(self, process: int, reading: int) -> None:
        """Kill at any moment of the call; what the process says before is not needed."""
        select.select([reading], [], [], PATIENCE_S)
        time.sleep(self._random.uniform(0.0, 0.8 * self._typical_s))
        os.kill(process, signal.SIGKILL)


def _read(reading: int, process: int) -> bytes:
    """Read all that the process says; one that does not end is ended."""
    said, ends_at = b"", time.monotonic() + PATIENCE_S
    while select.select([reading], [], [], max(0.0, ends_at - time.monotonic()))[0]:
        data = os.read(reading, 65_536)
        if not data:
            break
        said += data
    else:
        os.kill(process, signal.SIGTERM)
    os.close(reading)
    return said


def _in_child(store: Store, traces: Traces, kind: EffectKind, key: str, point: str, pipe: int) -> None:
    status = 1
    try:
        anyio.run(_call, store, traces, kind, key, point, pipe)
        status = 0
    except BaseException:  # noqa: BLE001 - a forked child must not come back from here
        traceback.print_exc()
    finally:
        os._exit(status)


async def _load(traces: Traces) -> None:
    """Make one call in memory, so that everything is imported and compiled."""
    async with Client(backends={"model": Model(traces)}, ledger=MemoryLedger()) as client:
        await call(client, "loading", effect_of(EffectKind.ONCE, "loading", traces, "?"))


def main() -> None:
    """Run what the argument asks for."""
    given = json.loads(sys.argv[1])
    anyio.run(_load, Traces(Path(given["folder"])))
    while threading.active_count() > 1:
        time.sleep(0.001)
    trials = Trials(Store(given["place"]), Traces(Path(given["folder"])), EffectKind(given["kind"]), given["seed"])
    print(json.dumps([trials.run(key, points) for key, points in given["trials"]]))


if __name__ == "__main__":
    main()
