"""Measure what one model writes for several requests at once, each under a contract of its own, through the client."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from results import Row

from commitgate import Client, Contract, Message, Sampling
from commitgate.backends.local import LocalBackend
from commitgate_local import LocalModel

AT_ONCE = (1, 4, 8, 16)
REQUESTS = 16
MOST_TOKENS = 48

_THINGS = (
    ("city", "Lisbon", ("mayor", "river", "sights")),
    ("animal", "the red fox", ("food", "habitat", "enemies")),
    ("planet", "Saturn", ("moons", "colour", "discovery")),
    ("dish", "lentil soup", ("taste", "origin", "ingredients")),
    ("tool", "a spirit level", ("use", "material", "makers")),
    ("tree", "the silver birch", ("bark", "height", "regions")),
    ("game", "chess", ("aim", "pieces", "champions")),
    ("metal", "copper", ("symbol", "ores", "uses")),
    ("bird", "the barn owl", ("call", "nest", "prey")),
    ("bridge", "a suspension bridge", ("parts", "load", "examples")),
    ("instrument", "the cello", ("sound", "strings", "players")),
    ("sport", "rowing", ("boat", "crew", "races")),
    ("fruit", "the quince", ("shape", "season", "recipes")),
    ("language", "Basque", ("speakers", "grammar", "words")),
    ("machine", "a water pump", ("drive", "seal", "faults")),
    ("cloud", "cumulus", ("form", "cause", "weather")),
)


@dataclass(frozen=True, slots=True)
class _Job:
    prompt: str
    schema: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Hold what was written in a time.

    Attributes:
        seconds: from the first question to the last answer.
        answers: how many.
        tokens: of all.
    """

    seconds: float
    answers: int
    tokens: int


def _jobs(variant: int) -> list[_Job]:
    """Return the requests; each number gives schemas that differ from all others by their bounds."""
    return [
        _Job(
            prompt=f"Describe {name}, a {kind}, as a JSON object. Be thorough.",
            schema={
                "type": "object",
                "properties": {
                    kind: {"type": "string", "minLength": 2, "maxLength": 40 + variant},
                    first: {"type": "string", "minLength": 40, "maxLength": 400 + variant},
                    second: {"type": ["string", "null"], "maxLength": 400 + variant},
                    many: {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 9},
                },
                "required": [kind, first, second, many],
                "additionalProperties": False,
            },
        )
        for kind, name, (first, second, many) in _THINGS
    ]


class ConcurrentAnswers:
    """Ask one model by many callers.

    Args:
        model: the model; it has a slot for each of them.
    """

    def __init__(self, model: LocalModel) -> None:
        self._backend = LocalBackend(load=lambda _: model, answers=max(AT_ONCE))
        self._seen = [Contract.of(job.schema) for job in _jobs(0)]
        self._variant = 0

    async def measure(self, rounds: int) -> dict[tuple[bool, int], list[Rate]]:
        """Return the rates by whether the schemas were seen before, and requests at once; taken in turn."""
        found: dict[tuple[bool, int], list[Rate]] = {}
        async with Client(backends={"local": self._backend}) as client:
            # Once for nothing: the states of the schemas are then known.
            await self._run(client, self._seen, max(AT_ONCE))
            for _ in range(rounds):
                for at_once in AT_ONCE:
                    found.setdefault((True, at_once), []).append(await self._run(client, self._seen, at_once))
                    self._variant += 1
                    found.setdefault((False, at_once), []).append(await self._run(client, None, at_once))
        return found

    async def _run(self, client: Client, contracts: Sequence[Contract[object]] | None, at_once: int) -> Rate:
        """Have all requests answered; callers take the next one as long as there is one."""
        jobs = _jobs(self._variant)
        places = iter(range(len(jobs)))
        tokens = 0

        async def caller() -> None:
            nonlocal tokens
            for place in places:
                contract = Contract.of(jobs[place].schema) if contracts is None else contracts[place]
                outcome = await client.generate_structured(
                    "local",
                    contract,
                    messages=[Message("user", jobs[place].prompt)],
                    prompt_schema="none",
                    sampling=Sampling(temperature=0.0, max_tokens=MOST_TOKENS),
                )
                tokens += outcome.receipt.usage.output_tokens or 0

        begun = time.perf_counter()
        async with anyio.create_task_group() as callers:
            for _ in range(at_once):
                callers.start_soon(caller)
        return Rate(seconds=time.perf_counter() - begun, answers=len(jobs), tokens=tokens)


def rows_of(found: dict[tuple[bool, int], list[Rate]]) -> list[Row]:
    """Return what the report shows of the rates; the ratio is to one request at a time."""
    rows: list[Row] = []
    for is_seen in (True, False):
        alone = _values(found[is_seen, 1])
        what = "Throughput, schemas seen before" if is_seen else "Throughput, new schemas"
        for at_once in AT_ONCE:
            values = _values(found[is_seen, at_once])
            ratio = {name: value / alone[name] for name, value in values.items()}
            rows.append(Row(what=what, who=f"{at_once} at once", unit="tokens/s", values=values, ratio=ratio))
            answers = {name: value * _answers_a_token(found[is_seen, at_once]) for name, value in values.items()}
            rows.append(
                Row(what=what.replace(",", " in answers,"), who=f"{at_once} at once", unit="1/s", values=answers)
            )
    return sorted(rows, key=lambda row: row.unit, reverse=True)


def _values(rates: Sequence[Rate]) -> dict[str, float]:
    each = [rate.tokens / rate.seconds for rate in rates]
    return {"best": max(each), "median": statistics.median(each)}


def _answers_a_token(rates: Sequence[Rate]) -> float:
    return sum(rate.answers for rate in rates) / sum(rate.tokens for rate in rates)


__all__ = ["AT_ONCE", "MOST_TOKENS", "REQUESTS", "ConcurrentAnswers", "Rate", "rows_of"]
