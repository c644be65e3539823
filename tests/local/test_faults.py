"""Whatever is wrong with an input, a model or a disk has an ending of its own, and the next request is answered.

Each fault is looked at from the model itself, from the client and over HTTP, all of them with the real parts.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
import torch
from local.asking import GOOD, PATH, Server, client_over, is_well, written

from commitgate import Committed, Contract, DeadEnd, Limits, Sampling, Truncated, Unavailable, Violated
from commitgate.backends.base import DeadEndReached, Event, Fault, Finish, GenerationRequest, Message, TextDelta
from commitgate_local import local_model, models
from commitgate_local.engine import Matcher
from commitgate_local.local_model import LocalModel
from commitgate_local.runtime import make_runtime
from commitgate_local.runtime.base import Row
from commitgate_local.runtime.llama import LlamaRuntime

NO_NUMBER, NO_CHANCE = "~", "x"
"""A text that breaks the model of these tests, and one to which it gives no probability."""


def text_pattern(pattern: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern}


@dataclass(frozen=True)
class Case:
    """Hold one fault and how it looks from each side.

    Attributes:
        prompt: what is asked.
        schema: of the answer.
        event: the last one of the model.
        outcome: what the client's call comes to.
        status, code: what an HTTP client is told; a stream's finish word where it is no error.
        has_text: text was written before.
    """

    prompt: str
    schema: dict[str, Any]
    event: Callable[[Event], bool]
    outcome: Callable[[object], bool]
    status: int
    code: str
    has_text: bool = False
    limits: Limits = field(default_factory=Limits)


def is_fault(kind: str, event: object, code: str | None = None) -> bool:
    return isinstance(event, Fault | Unavailable) and (event.kind, event.code) == (kind, code)


def is_limit(outcome: object) -> bool:
    return isinstance(outcome, Violated) and outcome.kind == "limit"


BREAKS = partial(is_fault, "model")
TOO_LONG = partial(is_fault, "bad_request", code="context_length_exceeded")
CASES = {
    "logits that are no numbers": Case(f"a {NO_NUMBER} b", GOOD, BREAKS, BREAKS, 500, "model_error"),
    "logits that are no numbers in the middle": Case(
        "a", text_pattern(f"^{NO_NUMBER}[ab]$"), BREAKS, BREAKS, 500, "model_error", has_text=True
    ),
    "legal tokens at minus infinity": Case(
        "a", text_pattern(f"^[ab]{NO_CHANCE}[ab]$"), BREAKS, BREAKS, 500, "model_error", has_text=True
    ),
    "prompt longer than the context": Case("word " * 300, GOOD, TOO_LONG, TOO_LONG, 400, "context_length_exceeded"),
    "context spent in the answer": Case(
        "a",
        {"type": "array", "items": {"enum": [1, 2]}, "minItems": 900},
        lambda event: isinstance(event, Finish) and event.native == "context",
        lambda outcome: isinstance(outcome, Truncated),
        200,
        "length",
        has_text=True,
    ),
    "more states than the contract may have": Case(
        "a",
        {"type": "string", "maxLength": 400},
        lambda event: isinstance(event, DeadEndReached) and event.cause == "schema",
        # The client follows the text with an automaton of its own, which has the same bound and may meet it first.
        lambda outcome: isinstance(outcome, DeadEnd) or is_limit(outcome),
        422,
        "dead_end",
        has_text=True,
        limits=Limits(states=60),
    ),
}


def ids_with(loaded: models.LoadedModel, text: str) -> list[int]:
    strings = enumerate(loaded.tokenizer.strings)
    return [number for number, string in strings if string and text in string and number > 2]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> LocalModel:
    """Return a model that reads one text as no number, and gives another one no probability."""
    loaded = models.load(str(tiny_folder))
    network: Any = loaded.model
    network.model.embed_tokens.weight.data[ids_with(loaded, NO_NUMBER)] = float("nan")
    bias = torch.zeros(loaded.width)
    bias[ids_with(loaded, NO_CHANCE)] = float("-inf")
    network.lm_head.bias = torch.nn.Parameter(bias)
    return LocalModel(loaded, slots=2)


@pytest.mark.parametrize("name", CASES)
def test_fault_is_an_ending_of_the_model_and_the_next_answer_is_whole(model: LocalModel, name: str) -> None:
    case = CASES[name]
    contract = Contract.json_schema(case.schema, limits=case.limits)
    *before, last = written(model, contract, case.prompt, sampling=Sampling(max_tokens=4_000))
    assert case.event(last)
    assert any(isinstance(event, TextDelta) for event in before) is case.has_text
    assert is_well(model)


@pytest.mark.anyio
@pytest.mark.parametrize("name", CASES)
async def test_fault_is_an_outcome_of_the_call_and_the_next_one_is_whole(model: LocalModel, name: str) -> None:
    case = CASES[name]
    contract = Contract.json_schema(case.schema, limits=case.limits)
    async with client_over(model) as client:
        outcome = await client.generate_structured(
            "local", contract, prompt=case.prompt, prompt_schema="none", sampling=Sampling(max_tokens=4_000)
        )
        assert case.outcome(outcome)
        assert isinstance(await client.generate_structured("local", GOOD, prompt="a"), Committed)


@pytest.mark.anyio
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("name", CASES)
async def test_fault_is_told_over_http_and_the_next_request_is_answered(
    model: LocalModel, name: str, streams: bool
) -> None:
    case = CASES[name]
    server = Server(model, contract=case.limits)
    response = await server.ask(case.schema, case.prompt, stream=streams, max_tokens=4_000)
    if streams and case.has_text:
        assert response.status_code == 200
        frames = [frame.removeprefix("data: ") for frame in response.text.split("\n\n")[:-1]]
        is_whole = frames[-1] == "[DONE]"
        last = json.loads(frames[-2 if is_whole else -1])
        found = last["choices"][0]["finish_reason"] if is_whole else last["error"]["code"]
    else:
        assert response.status_code == case.status
        found = response.json()
        found = found["choices"][0]["finish_reason"] if case.status == 200 else found["error"]["code"]
    assert found == case.code
    assert NO_NUMBER not in response.text or case.has_text
    assert await server.is_well()


@pytest.mark.anyio
async def test_faults_side_by_side_with_good_requests_harm_none_of_them(model: LocalModel) -> None:
    server = Server(model, concurrent_requests=6)
    statuses: dict[str, int] = {}
    texts: list[str] = []

    async def ask_bad(name: str) -> None:
        case = CASES[name]
        statuses[name] = (await server.ask(case.schema, case.prompt, max_tokens=4_000)).status_code

    async def ask_good(number: int) -> None:
        schema = {"type": "array", "items": {"enum": [number]}, "minItems": 20, "maxItems": 20}
        texts.append((await server.ask(schema, max_tokens=4_000)).json()["choices"][0]["message"]["content"])

    bad = [name for name, case in CASES.items() if case.limits == Limits()]
    async with anyio.create_task_group() as tasks:
        for number, name in enumerate(bad):
            tasks.start_soon(ask_bad, name)
            tasks.start_soon(ask_good, number)
    assert statuses == {name: CASES[name].status for name in bad}
    assert sorted(map(json.loads, texts)) == [[number] * 20 for number in range(len(bad))]
    assert await server.is_well()


@pytest.mark.anyio
async def test_empty_legal_set_is_a_dead_end_everywhere(model: LocalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(model)
    with monkeypatch.context() as patch:
        # A vocabulary that spells all of printable ASCII never comes to it, so the mask is taken away.
        patch.setattr(Matcher, "mask", lambda self: np.zeros(model.engine.vocabulary.width, np.bool_))
        assert isinstance(written(model)[-1], DeadEndReached)
        async with client_over(model) as client:
            outcome = await client.generate_structured("local", GOOD, prompt="a")
        response = await server.ask()
    assert isinstance(outcome, DeadEnd)
    assert outcome.cause == "tokenizer"
    assert (response.status_code, response.json()["error"]["code"]) == (422, "dead_end")
    assert is_well(model)
    assert await server.is_well()


@pytest.mark.anyio
async def test_model_without_any_chance_for_any_token_is_told_each_time(tiny_folder: Path) -> None:
    loaded = models.load(str(tiny_folder))
    network: Any = loaded.model
    network.lm_head.bias = torch.nn.Parameter(torch.full((loaded.width,), float("-inf")))
    dead = LocalModel(loaded)
    server = Server(dead)
    for _ in range(2):
        assert BREAKS(written(dead)[-1])
        assert (await server.ask()).json()["error"]["code"] == "model_error"
        async with client_over(dead) as client:
            assert BREAKS(await client.generate_structured("local", GOOD, prompt="a"))
        async with server.client() as client:
            assert (await client.get("/health")).status_code == 200


@pytest.mark.anyio
async def test_prompt_longer_than_a_share_of_the_cache_is_refused_by_its_length(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = models.load(str(tiny_folder))
    # 128 bytes a token: 4 conversations have 64 tokens each, though the model itself takes 512.
    monkeypatch.setattr(local_model, "make_runtime", partial(make_runtime, cache_bytes=4 * 64 * 128))
    small = LocalModel(loaded, slots=4)
    assert (loaded.context_tokens, small.context_tokens) == (512, 64)
    *_, last = written(small, prompt="a b " * 30)
    assert TOO_LONG(last)
    assert isinstance(last, Fault)
    assert "64" in last.message
    *_, last = written(small, {"type": "array", "items": {"enum": [1, 2]}, "minItems": 90})
    assert isinstance(last, Finish)
    assert last.native == "context"
    server = Server(small)
    assert (await server.ask(prompt="a b " * 30)).json()["error"]["code"] == "context_length_exceeded"
    assert await server.is_well()


@pytest.mark.anyio
async def test_conversation_that_the_chat_template_refuses_is_a_fault_of_the_request(
    tiny_folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_folder, tmp_path, dirs_exist_ok=True)
    template = tmp_path / "chat_template.jinja"
    picky = "{% if messages[-1].role != 'user' %}{{ raise_exception('no') }}{% endif %}"
    template.write_text(picky + template.read_text("utf-8"), "utf-8")
    model = LocalModel.load(str(tmp_path))
    said = (Message("user", "a"), Message("assistant", "b"))
    events: list[Event] = []
    model.generate(
        GenerationRequest(model="", contract=Contract.json_schema(GOOD), messages=said), events.append, lambda: False
    )
    assert is_fault("bad_request", events[-1])
    server = Server(model)
    async with server.client() as client:
        messages = [{"role": message.role, "content": message.content} for message in said]
        response = await client.post(PATH, json={"model": "small", "messages": messages})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_request")
    assert await server.is_well()


class Prefill:
    """Hold the model in the middle of a prompt, and count its passes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, held: int = 2) -> None:
        self.passes = 0
        self.is_there, self.may_go_on = threading.Event(), threading.Event()
        step = LlamaRuntime.step

        def counted(runtime: LlamaRuntime, rows: Sequence[Row]) -> torch.Tensor:
            self.passes += 1
            if self.passes == held:
                self.is_there.set()
                assert self.may_go_on.wait(30)
            return step(runtime, rows)

        monkeypatch.setattr(LlamaRuntime, "step", counted)


LONG = "".join(f"word {number} " for number in range(70))
"""A prompt of several pieces."""


def test_cancel_in_the_middle_of_a_prompt_ends_within_its_pass(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefill = Prefill(monkeypatch)
    prefill.may_go_on.set()
    request = GenerationRequest(
        model="", contract=Contract.json_schema(GOOD), messages=(Message("user", LONG + "model"),)
    )
    events: list[Event] = []
    model.generate(request, events.append, prefill.is_there.is_set)
    assert events == []
    assert prefill.passes == 2
    assert is_well(model)


@pytest.mark.anyio
async def test_call_that_is_cancelled_in_the_middle_of_a_prompt_frees_the_model(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefill = Prefill(monkeypatch)
    async with client_over(model) as client:
        async with client.stream_structured("local", GOOD, prompt=LONG + "client", prompt_schema="none") as run:
            assert await anyio.to_thread.run_sync(prefill.is_there.wait, 30)
            run.cancel()
            prefill.may_go_on.set()
            assert (await run.outcome()).name == "cancelled"
        # The pass that was held, and the one in which the cancel is heard.
        assert prefill.passes <= 3
        assert isinstance(await client.generate_structured("local", GOOD, prompt="a"), Committed)


@pytest.mark.anyio
@pytest.mark.parametrize("streams", [True, False])
async def test_request_that_is_cancelled_in_the_middle_of_a_prompt_frees_its_place(
    model: LocalModel, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    prefill = Prefill(monkeypatch)
    server = Server(model, concurrent_requests=1, queued_requests=0)
    fields: dict[str, Any] = {"stream": streams, "prompt": f"{LONG} server {streams}"}
    async with server.client() as client, anyio.create_task_group() as tasks:
        tasks.start_soon(partial(server.ask, **fields))
        assert await anyio.to_thread.run_sync(prefill.is_there.wait, 30)
        assert (await client.get("/health")).status_code == 200
        tasks.cancel_scope.cancel()
        prefill.may_go_on.set()
    assert prefill.passes <= 3
    assert await server.is_well()
