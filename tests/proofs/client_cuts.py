"""Cut documents before the real client: the way of one call with ledger, layers and an effect that counts its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import get_args

import anyio
from automaton.oracle import Oracle
from proofs.cuts import MOST_FAULTS
from proofs.documents import Document, document, is_json
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.backends.base import FaultKind
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectContext
from commitgate.json_value import JsonValue
from commitgate.ledger import MemoryLedger
from commitgate.retry import Retry
from commitgate.testing import Chunking, ScriptedBackend, Step

DOCUMENTS = 60
DOCUMENTS_A_UNIT = 3

ENDINGS: tuple[tuple[list[Step], str], ...] = (
    ([], "disconnected"),
    ([{"close": "eof"}], "disconnected"),
    ([{"close": "rst"}], "disconnected"),
    ([{"finish": "length"}], "truncated"),
    ([{"finish": "content_filter"}], "filtered"),
    ([{"finish": "refusal"}], "refused"),
    ([{"refusal": "I will not"}, {"finish": "stop"}], "refused"),
    ([{"finish": "cancelled"}], "disconnected"),
    ([{"finish": "eos_maybe"}], "unavailable"),
    ([{"dead_end": "schema"}], "dead_end"),
    # A conflict over the idempotency key is no ending: it raises, as misuse does.
    *(
        ([{"fault": kind}], "unsupported" if kind == "constraint" else "unavailable")
        for kind in get_args(FaultKind)
        if kind != "conflict"
    ),
)
STOP: list[Step] = [{"finish": "stop"}]
ONCE = Retry(attempts=1)
"""A fault before any text would be asked again, after a wait."""


class _Effect:
    """Count the runs of an effect."""

    effect_name = "count"

    def __init__(self) -> None:
        self.values: list[JsonValue] = []

    async def __call__(self, value: JsonValue, context: EffectContext) -> None:
        self.values.append(value)


class ClientCuts:
    """Cut generated documents before the client."""

    name = "client-cuts"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["asyncio 1-2", "trio 2-3"]
        starts = range(0, DOCUMENTS, DOCUMENTS_A_UNIT)
        loops = ("asyncio", "trio")
        return [f"{loops[at // DOCUMENTS_A_UNIT % 2]} {at}-{at + DOCUMENTS_A_UNIT}" for at in starts]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), *(PROOFS / name for name in ("client_cuts.py", "documents.py"))]

    def run(self, unit: str) -> Result:
        loop, span = unit.split()
        first, end = map(int, span.split("-"))
        counts = dict.fromkeys(("documents", "calls", "committed controls", "values", "effects", "wrong endings"), 0)
        faults: list[str] = []
        for seed in range(first, end):
            counts["documents"] += 1
            anyio.run(_cut, document(seed), counts, faults, backend=loop)
        return Result(counts=counts, faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        size = f"{counts['calls']:,} cut calls of {counts['documents']} documents, on asyncio and trio"
        return [
            Row(
                promise="a cut call hands over no value and runs no effect",
                measured=f"{counts['values']} values, {counts['effects']} effects in {size}",
                held=counts["values"] + counts["effects"] == 0,
            ),
            Row(
                promise="each call has the right ending",
                measured=f"{counts['wrong endings']} wrong; whole answers with a stop: "
                f"{counts['committed controls']} committed, each with one effect",
                held=counts["wrong endings"] == 0 and counts["committed controls"] > 0,
            ),
        ]


async def _cut(found: Document, counts: dict[str, int], faults: list[str]) -> None:
    """Cut one document at every byte; the endings and chunkings take turns, so that each meets each over the bytes."""
    contract, oracle = Contract.of(found.schema, numbers="decimal"), Oracle(found.schema)
    turn = 0
    for length in range(len(found.text) + 1):
        cut = found.text[:length]
        is_whole = length == len(found.text) or (is_json(cut) and oracle.is_valid(cut))
        for steps, wanted in (ENDINGS[turn % len(ENDINGS)], ENDINGS[(turn + 7) % len(ENDINGS)]):
            await _check(contract, cut, steps, wanted, turn, counts, faults)
            turn += 1
        await _check(contract, cut, STOP, "committed" if is_whole else "violated", turn, counts, faults)


async def _check(
    contract: Contract[JsonValue],
    cut: bytes,
    steps: list[Step],
    wanted: str,
    turn: int,
    counts: dict[str, int],
    faults: list[str],
) -> None:
    chunking: Chunking = ("whole", "bytes", Random(turn))[turn % 3]
    script: list[Step] = [{"text": cut}, *steps] if cut else steps
    effect, backend = _Effect(), ScriptedBackend(script, chunking=chunking)
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "scripted", contract, prompt="p", effect=effect, operation_key="k", retry=ONCE
        )
    where = f"{cut!r} and {steps}"
    if wanted == "committed":
        is_right = outcome.name == wanted and len(effect.values) == 1
        counts["committed controls"] += is_right
    else:
        counts["calls"] += 1
        counts["values"] += outcome.name == "committed"
        counts["effects"] += len(effect.values)
        is_right = outcome.name == wanted and effect.values == [] and outcome.partial_text.encode() == _shown(cut)
    if not is_right or backend.open_streams:
        counts["wrong endings"] += 1
        faults.append(f"{where}: {outcome.name}, not {wanted}")


def _shown(cut: bytes) -> bytes:
    return cut.decode(errors="replace").encode()


CLIENT_CUTS = ClientCuts()
