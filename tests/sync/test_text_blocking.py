"""The blocking client makes calls for texts as the other one does."""

from typing import assert_type

import pytest

from commitgate import AnyJson, Choices, CompileFailed, Edge, Grammar, Machine, Outcome, Preview, Regex
from commitgate.json_value import JsonValue
from commitgate.languages import TextSource
from commitgate.ledger import MemoryLedger
from commitgate.sync import Client
from commitgate.testing import ScriptedBackend


def client_of(text: str) -> Client:
    backend = ScriptedBackend([{"text": text[:1]}, {"text": text[1:]}, {"finish": "stop"}])
    return Client(backends={"scripted": backend}, ledger=MemoryLedger())


@pytest.mark.parametrize(
    "source",
    [
        Regex("[a-z]+"),
        Grammar('root ::= "yes" | "no"'),
        Choices(["yes", "no"]),
        Machine(start="s", accepting=["e"], edges=[Edge("s", "yes", "e")]),
    ],
)
def test_value_is_the_text(source: TextSource) -> None:
    with client_of("yes") as client:
        outcome = client.generate_structured("scripted", source, prompt="x", operation_key="k")
        again = client.generate_structured("scripted", source, prompt="x", operation_key="k")
        told = client.outcome("k", source)
    assert_type(outcome, Outcome[str, None])
    assert outcome.unwrap() == again.unwrap() == "yes"
    assert told is not None
    assert told.unwrap() == "yes"


def test_any_json_gives_json() -> None:
    with client_of("[1]") as client:
        outcome = client.generate_structured("scripted", AnyJson(), prompt="x")
    assert_type(outcome, Outcome[JsonValue, None])
    assert outcome.unwrap() == [1]


def test_previews_are_texts() -> None:
    with client_of("yes") as client, client.stream_structured("scripted", Regex("[a-z]+"), prompt="x") as run:
        values = [item.value for item in run if isinstance(item, Preview)]
        assert run.outcome().unwrap() == "yes"
    assert values[-1] == "yes"


def test_faulty_pattern_ends_the_call() -> None:
    with client_of("yes") as client:
        outcome = client.generate_structured("scripted", Regex("ab("), prompt="x")
    assert isinstance(outcome, CompileFailed)
    assert outcome.position == 2
