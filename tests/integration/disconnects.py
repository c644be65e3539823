"""Leave a real server in the middle of an answer, and see how soon it stops writing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import anyio
import httpx
from integration.parts import Part, asking, model_name
from integration.servers import Server, ServerName
from proofs.part import Result, Row

from commitgate import Contract, Sampling

_WAYS = ("cancel", "leave", "scope", "close")
_TIMES = 3
_MOST_S = 2.0
_CONTRACT = Contract.json_schema(
    {"type": "array", "items": {"enum": ["alpha", "beta"]}, "minItems": 200, "maxItems": 200}, name="long"
)


def _units(server: ServerName) -> Sequence[str]:
    del server
    return [f"{way}-{turn}" for turn in range(_TIMES) for way in _WAYS]


async def _run(server: Server, unit: str) -> Result:
    way = unit.partition("-")[0]
    async with httpx.AsyncClient(base_url=server.url, trust_env=False) as control:
        before = await _at_work(server, control)
        was_at_work = await _leave(server, way, control)
        left_at = time.monotonic()
        with anyio.move_on_after(10 * _MOST_S):
            await _until_idle(server, control)
        took_s = time.monotonic() - left_at
    faults = [f"{unit}: the server was at work before"] if before else []
    if not was_at_work:
        faults.append(f"{unit}: the server was not at work when it was left")
    if took_s > _MOST_S:
        faults.append(f"{unit}: the server wrote on for {took_s:.1f} s")
    return Result(counts={"left": 1}, faults=faults, notes={"stopped_after_ms": f"{1000 * took_s:.0f}"})


async def _leave(server: Server, way: str, control: httpx.AsyncClient) -> bool:
    """Begin an answer and leave it after its first piece; return whether the server was at work on it."""
    with anyio.CancelScope() as scope:
        async with asking(server) as client:
            run = client.stream_structured(
                model_name(server.name), _CONTRACT, prompt="List.", sampling=Sampling(max_tokens=1500)
            )
            async with run:
                async for _ in run:
                    break
                was_at_work = await _at_work(server, control)
                if way == "cancel":
                    run.cancel()
                    await run.outcome()
                elif way == "scope":
                    scope.cancel()
                elif way == "close":
                    return was_at_work
            return was_at_work
    return was_at_work


async def _until_idle(server: Server, control: httpx.AsyncClient) -> None:
    while await _at_work(server, control):  # noqa: ASYNC110 - another process: it can only be asked again
        await anyio.sleep(0.01)


async def _at_work(server: Server, control: httpx.AsyncClient) -> bool:
    """Ask the server itself whether it works on an answer."""
    if server.name == "llama":
        return any(slot["is_processing"] for slot in (await control.get("/slots")).json())
    lines = (await control.get("/metrics")).text.splitlines()
    running = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("vllm:num_requests_running")]
    return sum(running) > 0


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    longest = max((int(result.notes["stopped_after_ms"]) for result in results.values() if result.notes), default=0)
    faults = sum(len(result.faults) for result in results.values())
    measured = f"{len(results)} answers left in {len(_WAYS)} ways; the server was idle {longest} ms later at the latest"
    held = faults == 0 and len(results) == len(_units(server))
    return [Row(promise=f"a server that is left stops writing within {_MOST_S:.0f} s", measured=measured, held=held)]


DISCONNECTS = Part(name="disconnects", units=_units, run=_run, summarise=_summarise, at_once={})
