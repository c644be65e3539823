"""Make many calls at once with the same keys: a program, one of several processes that race on one store.

One argument, a JSON object: ``place`` (see ``Store``), ``folder`` of the traces, ``kind`` of the effect, ``callers``,
the ``keys``, and ``share``: each caller calls every key where that is 1, every fourth where it is 4. It says that it is
ready, waits for a line, and prints one JSON object: how often each ending and each error was met, and for each key the
values and results that were handed over.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio
from proofs.commit_scene import Model, Store, Traces, call, effect_of, told

from commitgate.client import Client
from commitgate.effect_kind import EffectKind

MOST_WORDS = 300


async def _race(store: Store, traces: Traces, kind: EffectKind, callers: int, share: int, keys: list[str]) -> None:
    endings, handed = Counter[str](), dict[str, set[tuple[object, ...]]]()
    ledger = store.ledger()
    effects = {key: effect_of(kind, key, traces, store.mark) for key in keys}

    async def caller(client: Client, at: int) -> None:
        for key in keys[at % share :: share]:
            try:
                outcome = await call(client, key, effects[key])
            except Exception as error:  # noqa: BLE001 - whatever comes out is counted
                endings[f"{type(error).__name__}: {error}"[:MOST_WORDS]] += 1
                continue
            name, number, result, is_replayed = told(outcome)
            endings[f"{name}{' again' if is_replayed else ''}"] += 1
            handed.setdefault(key, set()).add((number, result))

    async with Client(backends={"model": Model(traces)}, ledger=ledger) as client, anyio.create_task_group() as group:
        for number in range(callers):
            group.start_soon(caller, client, number)
    await ledger.aclose()
    print(json.dumps({"endings": endings, "handed": {key: sorted(found) for key, found in handed.items()}}))


def main() -> None:
    """Run what the argument asks for."""
    given = json.loads(sys.argv[1])
    traces = Traces(Path(given["folder"]))
    print("ready", flush=True)
    sys.stdin.readline()
    kind, callers, share = EffectKind(given["kind"]), given["callers"], given["share"]
    anyio.run(_race, Store(given["place"]), traces, kind, callers, share, given["keys"])


if __name__ == "__main__":
    main()
