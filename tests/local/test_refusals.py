"""What a model may write where it may decline, and where it is asked by the prompt alone."""

from __future__ import annotations

from typing import Any

import pytest

from commitgate import Contract, Message, Risk, Sampling
from commitgate.automaton import compile
from commitgate.backends.base import DeadEndReached, Event, Finish, FinishReason, GenerationRequest, TextDelta
from commitgate.gate.refusal import refusal_reason
from commitgate_local.local_model import LocalModel

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


def write(model: LocalModel, contract: Contract[Any], *, seed: int, is_constrained: bool = True) -> list[Event]:
    request = GenerationRequest(
        model="",
        contract=contract,
        messages=(Message("user", "is it so?"),),
        sampling=Sampling(temperature=20.0, seed=seed, max_tokens=200),
        is_constrained=is_constrained,
    )
    events: list[Event] = []
    model.generate(request, events.append, lambda: False)
    return events


def text_of(events: list[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, TextDelta))


def test_model_that_may_decline_writes_a_value_or_a_refusal_and_nothing_else(tiny: LocalModel) -> None:
    contract = Contract.of(SCHEMA, refusal=True)
    accepts, plain = compile(contract), compile(Contract.of(SCHEMA))
    values = refusals = 0
    for seed in range(40):
        events = write(tiny, contract, seed=seed)
        assert not any(isinstance(event, DeadEndReached) for event in events)
        text = text_of(events)
        if isinstance(events[-1], Finish) and events[-1].reason is FinishReason.STOP:
            assert accepts.accepts(text)
            is_refusal = refusal_reason(text) is not None
            assert is_refusal is not plain.accepts(text)
            refusals += is_refusal
            values += not is_refusal
    assert min(values, refusals) > 0  # this random model takes both ways


def test_refusal_is_written_only_where_it_may_be(tiny: LocalModel) -> None:
    for seed in range(20):
        assert refusal_reason(text_of(write(tiny, Contract.of(SCHEMA), seed=seed))) is None


def test_prompt_alone_holds_the_model_to_nothing(tiny: LocalModel) -> None:
    draft = Contract.of(SCHEMA, risk=Risk.DRAFT)
    accepts = compile(draft)
    texts = [text_of(write(tiny, draft, seed=seed, is_constrained=False)) for seed in range(5)]
    assert not any(accepts.accepts(text) for text in texts)  # a random model, unmasked, writes noise


@pytest.mark.model
def test_bundled_model_declines_in_the_contracts_own_language_or_answers(bundled: LocalModel) -> None:
    contract = Contract.of(SCHEMA, refusal=True)
    events = write(bundled, contract, seed=1)
    assert isinstance(events[-1], Finish)
    assert events[-1].reason is FinishReason.STOP
    assert compile(contract).accepts(text_of(events))
