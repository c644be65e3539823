"""Turns of tools are JSON: a text that is none is refused before anything is sent."""

from typing import Any

import pytest
from till import Till, answering, backend_of, calling

from commitgate import AnyJson, Choices, Committed, Contract, Edge, Grammar, Machine, Regex, sync
from commitgate.client import Client
from commitgate.errors import MisuseError
from commitgate.ledger import MemoryLedger
from commitgate.tools.tool import Tool

TEXTS = [
    Regex("[a-z]+"),
    Grammar('root ::= "a"'),
    Choices(["yes"]),
    Machine(start="s", accepting=["e"], edges=[Edge("s", "a", "e")]),
]


@pytest.mark.anyio
@pytest.mark.parametrize("source", TEXTS)
@pytest.mark.parametrize("is_contract", [False, True])
async def test_answer_that_is_no_json_is_refused_before_anything_is_sent(source: Any, is_contract: bool) -> None:
    backend, answer = backend_of(answering()), Contract.of(source) if is_contract else source
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        asked: dict[str, Any] = {"tools": Till().both(), "prompt": "x", "answer": answer, "operation_key": "k"}
        with pytest.raises(MisuseError, match=r"answer must be JSON.*generate_structured"):
            await client.run_tools("scripted", **asked)
        with pytest.raises(MisuseError, match="answer must be JSON"):
            client.stream_tools("scripted", **asked)
        with pytest.raises(MisuseError, match="answer must be JSON"):
            await client.next_turn("scripted", **asked)
    assert backend.requests == []


def test_blocking_client_refuses_it_too() -> None:
    refused: Any = Regex("a")
    with (
        sync.Client(backends={"scripted": backend_of(answering())}, ledger=MemoryLedger()) as client,
        pytest.raises(MisuseError, match="answer must be JSON"),
    ):
        client.run_tools("scripted", tools=Till().both(), prompt="x", answer=refused, operation_key="k")


@pytest.mark.anyio
async def test_answer_may_be_any_json() -> None:
    backend = backend_of([{"text": '{"answer": [1, {"a": null}]}'}, {"finish": "stop"}])
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.run_tools(
            "scripted", tools=Till().both(), prompt="x", answer=Contract.of(AnyJson()), operation_key="k"
        )
    assert outcome.unwrap() == [1, {"a": None}]


@pytest.mark.anyio
@pytest.mark.parametrize(("text", "is_good"), [("[1]", True), ("[[1]]", False)])
async def test_shallow_answer_keeps_no_call_from_being_made(text: str, is_good: bool) -> None:
    till = Till()
    backend = backend_of(calling(("pay", '{"amount":1}')), [{"text": f'{{"answer": {text}}}'}, {"finish": "stop"}])
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.run_tools(
            "scripted", tools=till.both(), prompt="x", answer=Contract.of(AnyJson(nesting=1)), operation_key="k"
        )
    assert till.paid == [(1, "me")]
    assert isinstance(outcome, Committed) is is_good


def test_arguments_of_a_tool_are_always_json() -> None:
    found: Any = Till().both()[0]
    given = {name: getattr(found, name) for name in ("name", "description", "kind", "version", "effect")}
    refused: Any = Contract.of(Regex("a"))
    with pytest.raises(MisuseError, match=r"arguments of the tool .* must be JSON"):
        Tool(found.function, contract=refused, **given)
