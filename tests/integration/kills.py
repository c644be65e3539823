"""Kill a real server in the middle of an answer, start it again, and see that the act is done once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from anyio import to_thread
from integration.parts import Part, asking, model_name
from integration.servers import Server, ServerName
from proofs.part import Result, Row, total

from commitgate import Committed, Contract, EffectContext, Retry, Sampling, Timeouts, by_key

_TIMES: Mapping[ServerName, int] = {"llama": 6, "vllm": 2}
_CONTRACT = Contract.json_schema(
    {
        "type": "object",
        "properties": {"items": {"type": "array", "items": {"enum": ["alpha", "beta"]}, "minItems": 9, "maxItems": 9}},
        "required": ["items"],
        "additionalProperties": False,
    },
    name="items",
)
_PROMPT = "List items."
_SAMPLING = Sampling(max_tokens=160)
# A server takes up to a minute to come up, and until then each request finds no one: several restarts, seconds apart.
_PATIENT = Retry(attempts=40, restarts=40, backoff_s=2.0, backoff_most_s=8.0)
_IMPATIENT = Retry(attempts=1)
_TIMEOUTS = Timeouts(total_s=500.0)


def _units(server: ServerName) -> Sequence[str]:
    ways = ("retried", "repeated")
    return [f"{ways[number % 2]}-{number // 2}" for number in range(_TIMES[server])]


async def _run(server: Server, unit: str) -> Result:
    is_retried = unit.startswith("retried")
    done: list[object] = []

    @by_key(name="note")
    def note(value: object, context: EffectContext) -> None:
        del context
        done.append(value)

    key = f"{unit}-{uuid4()}"
    faults: list[str] = []
    with TemporaryDirectory() as folder:
        first, shown, resets = await _killed_call(server, note, key, folder, _PATIENT if is_retried else _IMPATIENT)
        if not is_retried and not (first[0] != "committed" and not done):
            faults.append(f"{unit}: the call whose server was killed ended as {first[0]}, with {len(done)} effects")
        again = await _call(server, note, key, folder)
    if is_retried and first[0] != "committed":
        faults.append(f"{unit}: the retried call ended as {first[0]}")
    if again[0] != "committed" or (is_retried and not again[1]):
        faults.append(f"{unit}: the same call again ended as {again[0]}, replayed: {again[1]}")
    if len(done) != 1:
        faults.append(f"{unit}: {len(done)} effects")
    if not shown:
        faults.append(f"{unit}: nothing was shown before the server was killed")
    counts = {"kills": 1, "effects": len(done), "restarts": resets, "retried": int(is_retried)}
    return Result(counts=counts, faults=faults, notes={"first": first[0], "again": again[0]})


async def _killed_call(
    server: Server, note: object, key: str, folder: str, retry: Retry
) -> tuple[tuple[str, bool], bool, int]:
    """Make the call and kill the server at the first item that is shown; return the ending, and what was seen."""
    shown, resets = False, 0
    async with (
        asking(server, ledger=Path(folder) / "ledger.sqlite") as client,
        client.stream_structured(
            model_name(server.name),
            _CONTRACT,
            prompt=_PROMPT,
            sampling=_SAMPLING,
            effect=note,
            operation_key=key,
            retry=retry,
            timeouts=_TIMEOUTS,
        ) as run,
    ):
        async for _ in run.items("/items"):
            if not shown:
                shown = True
                server.kill()
                await to_thread.run_sync(server.start)
        outcome = await run.outcome()
    resets = outcome.receipt.attempts - 1
    return (outcome.name, isinstance(outcome, Committed) and outcome.is_replayed), shown, resets


async def _call(server: Server, note: object, key: str, folder: str) -> tuple[str, bool]:
    async with asking(server, ledger=Path(folder) / "ledger.sqlite") as client:
        outcome = await client.generate_structured(
            model_name(server.name),
            _CONTRACT,
            prompt=_PROMPT,
            sampling=_SAMPLING,
            effect=note,
            operation_key=key,
            timeouts=_TIMEOUTS,
        )
    return outcome.name, isinstance(outcome, Committed) and outcome.is_replayed


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    counts = total(results)
    faults = sum(len(result.faults) for result in results.values())
    measured = (
        f"{counts.get('effects', 0)} effects for {counts.get('kills', 0)} keys, the server killed in the middle of "
        f"each first answer ({counts.get('retried', 0)} retried by the call itself, in {counts.get('restarts', 0)} "
        f"further requests; the others made again by their caller)"
    )
    held = faults == 0 and counts.get("effects") == counts.get("kills") == _TIMES[server]
    return [Row(promise="a call whose server is killed commits once", measured=measured, held=held)]


KILLS = Part(name="kills", units=_units, run=_run, summarise=_summarise, at_once={})
