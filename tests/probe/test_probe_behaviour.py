"""How a server behaves: it repeats its constraint, it stops when its client leaves; and its keywords, one by one."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import chain, repeat
from random import Random
from typing import Any

import pytest
from probe.scripted_server import FACTS, ScriptedServer, constrained

from commitgate.backends.base import GenerationRequest, WaitExpired
from commitgate.backends.dialect import Answer, Outgoing
from commitgate.contract import Contract
from commitgate.probe import ProbeReport, Verdict, probe
from commitgate.probe.behaviour import disconnect
from commitgate.probe.plan import ask_enum
from commitgate.probe.session import Session
from commitgate.testing import fake_time


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return fake_time(request.param)


pytestmark = pytest.mark.anyio
LLAMA = replace(FACTS, name="llamacpp_chat", vendor="llama_cpp", forms=frozenset({"json_schema"}), offers_tools=False)


class Told:
    """Answer what is asked beside answers: the grammar in force, and which slots are busy."""

    def __init__(self, busy: Iterator[int], *, grammar: bool = True) -> None:
        self.busy = busy
        self.grammar = grammar

    def __call__(self, outgoing: Outgoing) -> Answer:
        if outgoing.path == "//slots":
            value: Any = [{"is_processing": bool(next(self.busy))}]
        else:
            assert outgoing.body is not None
            shown = json.dumps(outgoing.body["schema"]) if self.grammar else ""
            value = {"__verbose": {"generation_settings": {"grammar": shown}}}
        return Answer(status=200, headers={}, body=json.dumps(value).encode())


async def probed(told: Told, **more: Any) -> ProbeReport:
    return await probe(ScriptedServer(facts=LLAMA, exchanged=told, **more), "m")


def verdict(report: ProbeReport, name: str) -> Verdict:
    found = report.result(name)
    assert found is not None
    return found.verdict


@pytest.mark.parametrize(
    ("busy", "told"),
    [
        (lambda: iter([0, 1, 0]), Verdict.YES),
        (lambda: iter([0, 1, 1, 1, 0]), Verdict.YES),
        (lambda: chain([0], repeat(1)), Verdict.NO),
        (lambda: repeat(1), Verdict.NOT_TOLD),
        (lambda: repeat(0), Verdict.NOT_TOLD),
    ],
)
async def test_server_is_watched_when_its_client_leaves(busy: Any, told: Verdict) -> None:
    report = await probed(Told(busy()))
    assert verdict(report, "disconnect") is told
    assert report.verdict == "enforced"


async def test_no_free_connection_tells_nothing_and_breaks_nothing() -> None:
    class Busy(ScriptedServer):
        @asynccontextmanager
        async def open(self, request: GenerationRequest) -> AsyncIterator[Any]:
            raise WaitExpired("pool", 1.0)
            yield

    told = Told(repeat(0))
    session = Session(
        Busy(facts=LLAMA, exchanged=told),
        "m",
        draw=Random(7).randrange,
        key=lambda: "key",
        timeout_s=1.0,
        most_requests=9,
        reasoning=None,
    )
    assert (await disconnect(session)).verdict is Verdict.NOT_TOLD
    reply = await session.ask(ask_enum(Random(7).randrange))
    assert reply is not None
    assert reply.is_late


async def test_grammar_in_force_is_read() -> None:
    assert verdict(await probed(Told(repeat(0))), "echo") is Verdict.ENFORCED


async def test_server_that_says_that_no_grammar_was_in_force_is_believed() -> None:
    report = await probed(Told(repeat(0), grammar=False))
    assert (verdict(report, "echo"), report.verdict) == (Verdict.DROPPED, "not_enforced")


SCHEMA = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
CONTRACT = Contract.json_schema(SCHEMA)


@pytest.mark.parametrize(
    ("unique", "free", "told"),
    [
        ("[0, 0, 0]", "[0, 0, 0]", Verdict.DROPPED),
        ("[0, 1, 2]", "[0, 0, 0]", Verdict.ENFORCED),
        ("[0, 1, 2]", "[2, 1, 0]", Verdict.UNCLEAR),
    ],
)
async def test_keyword_is_told_by_what_the_model_writes_without_it(unique: str, free: str, told: Verdict) -> None:
    def write(request: GenerationRequest) -> str:
        assert request.translation is not None
        if "three zeros" not in request.messages[-1].content:
            return constrained(request)
        return f'{{"v": {unique if "uniqueItems" in json.dumps(request.translation.schema) else free}}}'

    server = ScriptedServer(facts=LLAMA, write=write)
    report = await probe(server, "m", keywords=True, contract=CONTRACT)
    assert [each.name for each in report.results if each.kind == "keyword"] == ["unique_items"]
    assert (verdict(report, "unique_items"), report.verdict) == (told, "enforced")


async def test_keywords_are_asked_for_only_when_wanted() -> None:
    report = await probe(ScriptedServer(facts=LLAMA), "m")
    assert not [each for each in report.results if each.kind == "keyword"]
