"""A whole model thinks: its chat template, its own tokens, its end mark, and an answer by the contract."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from guide import blocks_of, run_blocks
from local.conftest import save_model, save_tokenizer
from local.test_reasoning import text_of, thoughts_of
from tokenizers import AddedToken

from commitgate import Client, Contract, Message, Reasoning, Sampling
from commitgate.backends.base import (
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Notice,
    ReasoningDelta,
    Usage,
)
from commitgate.backends.local import LocalBackend
from commitgate_local import LocalModel

SCHEMA = {"enum": [{"item": "printer"}, {"item": "door"}]}
ANSWERS = ({"item": "printer"}, {"item": "door"})


def asked(model: LocalModel, reasoning: Reasoning, *, schema: Any = SCHEMA, **options: Any) -> list[Event]:
    events: list[Event] = []
    sampling = Sampling(temperature=1.0, seed=3, max_tokens=40)
    request = GenerationRequest(
        model="",
        contract=Contract.of(schema),
        messages=(Message("user", "What is broken?"),),
        **{"sampling": sampling, **options},
        reasoning=reasoning,
    )
    model.generate(request, events.append, lambda: False)
    return events


def check(events: Sequence[Event], budget: int) -> None:
    assert isinstance(events[-1], Finish)
    assert events[-1].reason is FinishReason.STOP
    assert json.loads(text_of(events)) in ANSWERS
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.reasoning_tokens is not None
    assert (Notice("reasoning_cut") in events) == (usage.reasoning_tokens > budget)


@pytest.fixture(scope="module", params=["text", "added", "special"])
def thinker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    """Return a tiny model whose mark is text, an added token with a text, or a special token without any."""
    from transformers import AutoTokenizer

    folder: Path = tmp_path_factory.mktemp("thinker")
    save_tokenizer(folder)
    if request.param != "text":
        fast = AutoTokenizer.from_pretrained(folder)
        marks = [AddedToken(mark, special=request.param == "special") for mark in ("<think>", "</think>")]
        fast.add_tokens(marks, special_tokens=request.param == "special")
        fast.save_pretrained(folder)
    save_model(folder)
    return LocalModel.load(str(folder), cache_dir=tmp_path_factory.mktemp("cache"))


def test_thoughts_that_do_not_end_are_ended(thinker: LocalModel) -> None:
    events = asked(thinker, Reasoning(max_tokens=12, begin="<think>"))
    check(events, 12)
    assert Notice("reasoning_cut") in events
    assert thoughts_of(events)
    assert b"</think>" not in thoughts_of(events)


@pytest.mark.parametrize("seed", range(4))
def test_thoughts_end_where_the_model_ends_them(thinker: LocalModel, seed: int) -> None:
    # One letter is a mark that even a random model writes soon.
    events = asked(
        thinker,
        Reasoning(max_tokens=300, end="e", gap=""),
        sampling=Sampling(temperature=1.5, seed=seed, max_tokens=40),
    )
    check(events, 300)
    assert Notice("reasoning_cut") not in events
    assert b"e" not in thoughts_of(events)


def test_no_thoughts_at_all_may_be_asked_for(thinker: LocalModel) -> None:
    events = asked(thinker, Reasoning(max_tokens=0, begin="<think>\n\n"))
    assert not thoughts_of(events)
    assert Notice("reasoning_cut") not in events
    assert json.loads(text_of(events)) in ANSWERS


def test_prompt_is_opened_as_the_template_would(thinker: LocalModel) -> None:
    def read(begin: str | None) -> int:
        usage = asked(thinker, Reasoning(max_tokens=0, begin=begin))[-2]
        assert isinstance(usage, Usage)
        assert usage.input_tokens is not None
        return usage.input_tokens

    mark = thinker._tokenizer.encode_part("<think>", begins=False, is_template=True)  # pyright: ignore[reportPrivateUsage] - what the prompt is made with
    assert read("<think>") == read(None) + len(mark)
    # The template ends with a line break, and the mark's own does not repeat it.
    assert read("assistant\n") == read(None)


def test_mark_that_cannot_be_written_is_a_bad_request(tiny: LocalModel) -> None:
    class Unwritable:
        def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
            return [[] for _ in texts]

    from commitgate.errors import MisuseError
    from commitgate_local.reasoning import EndMark

    with pytest.raises(MisuseError):
        EndMark("</think>", "", vocabulary=tiny.engine.vocabulary, encoder=Unwritable())


def test_cancel_is_heard_while_the_model_thinks(tiny: LocalModel) -> None:
    events: list[Event] = []
    stop = threading.Event()

    def emit(event: Event) -> None:
        events.append(event)
        if len(events) == 3:
            stop.set()

    request = GenerationRequest(
        model="",
        contract=Contract.of(SCHEMA),
        messages=(Message("user", "What is broken?"),),
        sampling=Sampling(max_tokens=40),
        reasoning=Reasoning(max_tokens=400),
    )
    tiny.generate(request, emit, stop.is_set)
    assert all(isinstance(event, ReasoningDelta) for event in events)
    assert not text_of(events)


def test_thoughts_that_fill_the_context_leave_room_for_the_answer(tiny: LocalModel) -> None:
    check(asked(tiny, Reasoning(max_tokens=100_000)), 0)


def test_many_think_side_by_side(tiny: LocalModel) -> None:
    alone = asked(tiny, Reasoning(max_tokens=20))
    found: list[list[Event]] = []
    threads = [threading.Thread(target=lambda: found.append(asked(tiny, Reasoning(max_tokens=20)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for events in found:
        check(events, 20)
    assert not any(isinstance(event, Fault) for events in found for event in events)
    assert isinstance(alone[-1], Finish)


@pytest.mark.anyio
async def test_client_gets_the_answer_alone(thinker: LocalModel) -> None:
    async with Client(backends={"tiny": LocalBackend(load=lambda _: thinker)}) as client:
        outcome = await client.generate_structured(
            "tiny",
            SCHEMA,
            prompt="What is broken?",
            reasoning=Reasoning(max_tokens=12),
            sampling=Sampling(seed=1, max_tokens=40),
        )
    assert outcome.unwrap() in ANSWERS
    assert outcome.receipt.usage.reasoning_tokens is not None
    assert outcome.receipt.usage.reasoning_tokens > 12


@pytest.mark.model
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_bundled_model_thinks_and_answers(bundled: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: LocalBackend(load=lambda _: bundled))
    names = await run_blocks(blocks_of("reasoning.md"), "reasoning_guide")
    assert isinstance(names["change"].coins, int)
    assert 0 < names["thought"] <= 48 + 8


@pytest.mark.model
def test_bundled_model_ends_its_thoughts_by_itself(bundled: LocalModel) -> None:
    # It was never taught to think, but it ends a sentence.
    events = asked(bundled, Reasoning(max_tokens=200, end="."), sampling=Sampling(max_tokens=40))
    check(events, 200)
    assert Notice("reasoning_cut") not in events
    assert len(thoughts_of(events).decode()) > 3
    assert b"." not in thoughts_of(events)
