"""Sampled generations over ten schemas: what ends by itself is valid elsewhere, and nothing ever dead-ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from automaton.oracle import is_valid
from automaton.schemas import TEN
from local.one_answer import write

from commitgate.automaton import compile
from commitgate.backends.base import (
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    Sampling,
    TextDelta,
)
from commitgate.contract import Contract
from commitgate_local.answer import Question
from commitgate_local.local_model import LocalModel

pytestmark = pytest.mark.model

RANDOM_EACH = 50
MODEL_EACH = 6


class RandomLogits:
    """Stand in for the model where the masks are at stake: every legal token is about as likely."""

    def __init__(self, width: int, seed: int) -> None:
        self._width = width
        self._generator = torch.Generator().manual_seed(seed)

    def prefill(self, ids: Sequence[int]) -> None:
        """Take tokens in."""

    def forward(self, ids: Sequence[int]) -> torch.Tensor:
        """Return new random logits."""
        return torch.randn(self._width, generator=self._generator)


def judge(name: str, events: list[Event]) -> bool:
    """Check one generation against its schema; return whether it ended by itself."""
    text = b"".join(event.data for event in events if isinstance(event, TextDelta))
    last = events[-1]
    assert not isinstance(last, DeadEndReached | Fault), (text, last)
    assert isinstance(last, Finish)
    acceptor = compile(TEN[name]).acceptor()
    assert acceptor.feed(text), (text, acceptor.explain())
    if last.reason is not FinishReason.STOP:
        return False
    assert acceptor.is_accepting, text
    assert is_valid(TEN[name], text), text
    return True


@pytest.mark.parametrize("name", TEN)
def test_sampling_from_random_logits_ends_valid_and_never_in_a_dead_end(name: str, bundled: LocalModel) -> None:
    vocabulary = bundled.engine.vocabulary
    ended = 0
    for seed in range(RANDOM_EACH):
        events: list[Event] = []
        question = Question(
            matcher=bundled.engine.matcher(TEN[name]),
            vocabulary=vocabulary,
            prompt=[1],
            sampling=Sampling(temperature=1.0, seed=seed, max_tokens=120),
        )
        write(question, RandomLogits(vocabulary.width, seed), events.append)
        ended += judge(name, events)
    assert ended >= RANDOM_EACH // 2


@pytest.mark.timeout(900)
def test_sampling_from_the_model_ends_valid_and_never_in_a_dead_end(bundled: LocalModel) -> None:
    ended = 0
    for name, schema in TEN.items():
        contract: Contract[object] = Contract.of(schema)
        for seed in range(MODEL_EACH):
            events: list[Event] = []
            request = GenerationRequest(
                model="",
                contract=contract,
                messages=(Message("user", f"Write some JSON called {name}."),),
                sampling=Sampling(temperature=1.0, seed=seed, max_tokens=64),
                forced=seed % 2 == 0,
            )
            bundled.generate(request, events.append, lambda: False)
            ended += judge(name, events)
    assert ended >= len(TEN) * MODEL_EACH // 2
