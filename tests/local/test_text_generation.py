"""The local backend needs nothing of its own for texts: what it writes is in the language, whatever the model wants."""

from __future__ import annotations

import re
from contextlib import aclosing

import pytest

from commitgate import (
    AnyJson,
    Choices,
    Client,
    Committed,
    Contract,
    Edge,
    Grammar,
    Machine,
    Message,
    Refused,
    Regex,
    Sampling,
)
from commitgate.automaton import compile
from commitgate.backends.base import DeadEndReached, Event, Finish, FinishReason, GenerationRequest, TextDelta
from commitgate.backends.local import LocalBackend
from commitgate.languages import TextSource
from commitgate.ledger import MemoryLedger
from commitgate_local.local_model import LocalModel

DATE = Regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SUM = Grammar('root ::= num ("+" num)*\nnum ::= [0-9] [0-9]?')
LIST = Grammar('start: item ("," item)*\nitem: /[a-z]{1,8}/', "lark")
DOOR = Machine(
    start="shut",
    accepting=["shut"],
    edges=[Edge("shut", "open;", "open"), Edge("open", "shut;", "shut"), Edge("open", Choices(["wait;"]), "open")],
)
SOURCES: list[TextSource] = [DATE, SUM, LIST, DOOR, Choices(["yes", "no", "not sure", "é€😀"])]


def write(model: LocalModel, contract: Contract[str], seed: int) -> list[Event]:
    request = GenerationRequest(
        model="",
        contract=contract,
        messages=(Message("user", "go"),),
        sampling=Sampling(temperature=20.0, seed=seed, max_tokens=60),
    )
    events: list[Event] = []
    model.generate(request, events.append, lambda: False)
    return events


def text_of(events: list[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("source", SOURCES)
def test_random_model_writes_texts_of_the_language_and_meets_no_dead_end(tiny: LocalModel, source: TextSource) -> None:
    contract = Contract.of(source)
    automaton, whole = compile(contract), 0
    for seed in range(12):
        events = write(tiny, contract, seed)
        assert not any(isinstance(event, DeadEndReached) for event in events)
        text = text_of(events)
        if isinstance(events[-1], Finish) and events[-1].reason is FinishReason.STOP:
            whole += 1
            assert automaton.accepts(text)
        else:
            assert automaton.acceptor().feed(text)
    assert whole


def test_every_choice_can_be_drawn(tiny: LocalModel) -> None:
    texts = ["a", "ab", "abc", "x y", "\n"]
    found = {text_of(write(tiny, Contract.of(Choices(texts)), seed)).decode() for seed in range(40)}
    assert found == set(texts)


def test_random_model_declines_or_writes_the_text(tiny: LocalModel) -> None:
    contract = Contract.of(DATE, refusal=True)
    for seed in range(12):
        text = text_of(write(tiny, contract, seed))
        assert compile(contract).acceptor().feed(text)


@pytest.mark.model
@pytest.mark.anyio
async def test_bundled_model_writes_each_kind_of_text() -> None:
    backend = LocalBackend()
    async with aclosing(backend), Client(backends={"local": backend}, ledger=MemoryLedger()) as client:
        answer = await client.generate_structured("local", Choices(["yes", "no"]), prompt="Is the sky blue?")
        assert answer.unwrap() in ("yes", "no")
        date = await client.generate_structured("local", DATE, prompt="On which day was the moon landing?")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", date.unwrap())
        for source in (SUM, LIST, DOOR):
            outcome = await client.generate_structured(
                "local", source, prompt="Write something short.", sampling=Sampling(max_tokens=12)
            )
            if isinstance(outcome, Committed):
                assert compile(source).accepts(outcome.value.encode())
            else:
                assert outcome.name == "truncated"
        few = Sampling(max_tokens=12)
        found = await client.generate_structured("local", AnyJson(root="object"), prompt="Name a cat.", sampling=few)
        assert found.name in ("committed", "truncated")


@pytest.mark.model
@pytest.mark.anyio
async def test_bundled_model_may_decline_a_text() -> None:
    backend = LocalBackend()
    async with aclosing(backend), Client(backends={"local": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "local", Contract.of(Choices(["yes", "no"]), refusal=True), prompt="Say yes."
        )
    assert isinstance(outcome, Committed | Refused)
