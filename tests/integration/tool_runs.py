"""Let the model of a real server call a function, and look at every call that ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from integration.parts import Part, asking, model_name
from integration.servers import Server, ServerName
from proofs.part import Result, Row, total

from commitgate import EffectContext, Sampling, Timeouts, tool

City = Literal["Paris", "Rome", "Oslo"]
_RUNS = 6
_PROMPT = "Book a table in Rome for two. Use the tool."
_MOST_TOKENS = 160


def _units(server: ServerName) -> Sequence[str]:
    del server
    return [f"booking-{number}" for number in range(_RUNS)]


async def _run(server: Server, unit: str) -> Result:
    calls: list[tuple[object, object, str]] = []

    @tool(effect="by_key")
    def book(city: City, guests: Literal[1, 2, 3], context: EffectContext) -> str:
        """Book a table."""
        calls.append((city, guests, context.key))
        return "booked"

    drawn = Sampling(temperature=0.5, seed=int(unit.rpartition("-")[2]), max_tokens=_MOST_TOKENS)
    endings: list[str] = []
    with TemporaryDirectory() as folder:
        async with asking(server, ledger=Path(folder) / "ledger.sqlite") as client:
            for _ in range(2):  # the second time it all comes from the ledger, or goes on where it ended
                outcome = await client.run_tools(
                    model_name(server.name),
                    tools=[book],
                    prompt=_PROMPT,
                    sampling=drawn,
                    operation_key=unit,
                    most_turns=2,
                    most_calls=4,
                    timeouts=Timeouts(total_s=300.0),
                )
                endings.append(outcome.name)
    faults = [
        f"{unit}: a call ran with {city!r}, {guests!r}"
        for city, guests, _ in calls
        if city not in get_args(City) or guests not in (1, 2, 3)
    ]
    if len({key for *_, key in calls}) != len(calls):
        faults.append(f"{unit}: a call ran twice under one key")
    faults += [f"{unit}: ended as {name}" for name in endings if name not in ("committed", "truncated")]
    return Result(counts={"runs": 1, "calls": len(calls), endings[0]: 1}, faults=faults)


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    counts = total(results)
    faults = sum(len(result.faults) for result in results.values())
    measured = (
        f"{counts.get('calls', 0)} calls in {counts.get('runs', 0)} runs, each run made twice under its key: "
        f"{counts.get('committed', 0)} with an answer, {counts.get('truncated', 0)} cut or out of turns"
    )
    held = not faults and len(results) == len(_units(server))
    return [Row(promise="each call of a tool runs once, with arguments of its types", measured=measured, held=held)]


TOOL_RUNS = Part(name="tools", units=_units, run=_run, summarise=_summarise, at_once={})
