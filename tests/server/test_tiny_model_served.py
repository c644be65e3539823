"""A real model behind a real server, asked by the official client: forms, tools, streams, errors, keys and a drop."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import openai
import pytest
import torch
from asgi_calls import numbers
from chats import CITY, USER, function, json_schema
from local.tiny_model import in_one_thread, save_model, save_tokenizer
from pydantic import BaseModel, Field
from served_app import Served, served

from commitgate.backends.local import LocalBackend
from commitgate.testing import ScriptedBackend
from commitgate_local.local_model import LocalModel
from commitgate_local.runtime.base import Row
from commitgate_local.runtime.llama import LlamaRuntime
from commitgate_local.server.app import admission_of
from commitgate_local.server.model_gauges import model_gauges
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio

KEY = {"Idempotency-Key": "order-7"}
WORDS: dict[str, Any] = json_schema({"enum": ["low", "high"]})
LONG: dict[str, Any] = json_schema({"type": "array", "items": {"enum": [1, 2]}, "minItems": 100, "maxItems": 100})


class Ticket(BaseModel):
    """Describe a ticket."""

    device: str = Field(max_length=8)
    floor: int = Field(ge=0, le=99)


@pytest.fixture
def anyio_backend() -> str:
    """Run the client under asyncio alone: the server has a loop of its own."""
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    with in_one_thread():
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    folder = tmp_path_factory.mktemp("tiny")
    save_tokenizer(folder)
    save_model(folder)
    return LocalModel.load(str(folder), cache_dir=folder / "cache", slots=2)


def serving(model: LocalModel, **arguments: Any) -> Any:
    return served(LocalBackend(load=lambda _: model), gauges=lambda: model_gauges(model), **arguments)


@pytest.fixture(scope="module")
def server(model: LocalModel) -> Iterator[Served]:
    with serving(model) as found:
        yield found


@pytest.fixture
async def completions(server: Served) -> Any:
    """Return what the official client calls ``client.chat.completions``, over a connection of its own."""
    async with server.client(timeout=60) as client:
        yield client.chat.completions


async def test_form_is_enforced(completions: Any) -> None:
    for schema in ({"enum": ["low", "high"]}, CITY | {"properties": {"city": {"type": "string", "maxLength": 5}}}):
        found = await completions.create(model="small", messages=[USER], response_format=json_schema(schema))
        json.loads(found.choices[0].message.content)
        assert found.choices[0].finish_reason == "stop"
        assert found.usage.completion_tokens > 0


async def test_type_is_asked_for_and_read(completions: Any) -> None:
    found = await completions.parse(model="small", messages=[USER], response_format=Ticket, temperature=1, seed=3)
    assert 0 <= found.choices[0].message.parsed.floor <= 99


async def test_stream_is_the_answer_in_pieces(completions: Any) -> None:
    asked = {"model": "small", "messages": [USER], "response_format": Ticket, "seed": 5}
    async with completions.stream(**asked, stream_options={"include_usage": True}) as run:
        deltas = [event.delta async for event in run if event.type == "content.delta"]
        found = await run.get_final_completion()
    assert len(deltas) > 1
    assert "".join(deltas) == found.choices[0].message.content
    assert found.choices[0].message.parsed.floor <= 99
    assert found.usage.total_tokens > 0


@pytest.mark.parametrize("streams", [True, False])
async def test_tool_is_called_with_arguments_that_fit(completions: Any, streams: bool) -> None:
    asked: Any = {
        "model": "small",
        "messages": [USER],
        "tools": [openai.pydantic_function_tool(Ticket, name="repair")],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    if streams:
        async with completions.stream(**asked) as run:
            found = await run.get_final_completion()
    else:
        found = await completions.parse(**asked)
    (call,) = found.choices[0].message.tool_calls
    assert call.function.name == "repair"
    assert call.function.parsed_arguments.floor <= 99
    assert found.choices[0].finish_reason == "tool_calls"


async def test_answers_of_several_clients_at_once_each_keep_their_form(completions: Any) -> None:
    found: dict[int, Any] = {}

    async def ask(number: int) -> None:
        form = json_schema({"type": "array", "items": {"const": number}, "minItems": 3, "maxItems": 3})
        answer = await completions.create(model="small", messages=[USER], response_format=form)
        found[number] = json.loads(answer.choices[0].message.content)

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(ask, number)
    assert found == {number: [number] * 3 for number in range(12)}


async def test_metrics_tell_what_the_model_did(completions: Any, server: Served) -> None:
    for _ in range(2):
        await completions.create(model="small", messages=[USER], response_format=WORDS)
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{server.url}/metrics")).text
    found = numbers(text)
    assert found["commitgate_model_passes_total"] > 0
    # The second question began as the first one did.
    assert found["commitgate_model_tokens_reused_total"] > 0
    assert found["commitgate_model_tokens_fed_total"] > 0
    assert found["commitgate_model_cache_bytes"] > 0
    assert found["commitgate_model_slots"] == 2
    assert found["commitgate_model_requests_in_flight"] == found["commitgate_model_requests_queued"] == 0
    assert "# TYPE commitgate_model_passes_total counter" in text
    assert "# TYPE commitgate_model_cache_bytes gauge" in text


class Passes:
    """Count the passes of the model, and hold it in one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, held: int = 0) -> None:
        self.count = 0
        self.is_there, self.may_go_on = threading.Event(), threading.Event()
        step = LlamaRuntime.step

        def counted(runtime: LlamaRuntime, rows: Sequence[Row]) -> torch.Tensor:
            self.count += 1
            if self.count == held:
                self.is_there.set()
                assert self.may_go_on.wait(30)
            return step(runtime, rows)

        monkeypatch.setattr(LlamaRuntime, "step", counted)

    async def are_held(self) -> None:
        assert await anyio.to_thread.run_sync(self.is_there.wait, 30)


@pytest.mark.parametrize("streams", [True, False])
async def test_schema_that_cannot_be_enforced_is_refused_before_any_pass(
    completions: Any, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    passes = Passes(monkeypatch)
    form = json_schema({"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}})
    with pytest.raises(openai.BadRequestError) as caught:
        await completions.create(model="small", messages=[USER], response_format=form, stream=streams)
    body: Any = caught.value.body
    assert (body["code"], body["keyword"], body["pointer"]) == ("unsupported_schema", "uniqueItems", "/properties/a")
    tools: Any = [function(parameters=CITY | {"not": {"required": ["city"]}}, strict=True)]
    with pytest.raises(openai.BadRequestError) as caught:
        await completions.create(model="small", messages=[USER], tools=tools, stream=streams)
    assert caught.value.code in ("unsupported_schema", "unsatisfiable_schema")
    assert passes.count == 0


async def test_other_errors_are_raised_by_their_kind(model: LocalModel) -> None:
    limits = ServerLimits(body_bytes=5_000, drain_s=5)
    with serving(model, limits=limits, token="token-of-tests") as server:
        async with server.client() as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.chat.completions.create(model="small", messages=[USER])
        async with server.client(api_key="token-of-tests") as client:
            ask = client.chat.completions.create
            with pytest.raises(openai.NotFoundError):
                await ask(model="large", messages=[USER])
            with pytest.raises(openai.APIStatusError) as caught:
                await ask(model="small", messages=[{"role": "user", "content": "a" * 5_000}])
            assert caught.value.status_code == 413
            with pytest.raises(openai.BadRequestError) as refused:
                await ask(model="small", messages=[{"role": "user", "content": "word " * 900}])
            assert refused.value.code == "context_length_exceeded"
            await ask(model="small", messages=[USER], response_format=WORDS)


@pytest.mark.parametrize(("kind", "status"), [("rate_limit", 429), ("overload", 503)])
async def test_fault_that_passes_says_when_to_ask_again(kind: str, status: int) -> None:
    with served(ScriptedBackend([{"fault": kind, "retry_after_s": 2.5}])) as server:
        async with server.client() as client:
            with pytest.raises(openai.APIStatusError) as caught:
                await client.chat.completions.create(model="small", messages=[USER])
    assert caught.value.status_code == status
    assert caught.value.response.headers["Retry-After"] == "3"


@pytest.mark.parametrize("streams", [True, False])
async def test_key_is_in_progress_then_replayed_and_never_another_question_s(
    server: Served, model: LocalModel, monkeypatch: pytest.MonkeyPatch, streams: bool
) -> None:
    passes = Passes(monkeypatch, held=1)
    key = {"Idempotency-Key": f"order-{streams}"}
    asked: Any = {"model": "small", "messages": [USER], "stream": streams, "extra_headers": key}
    got: list[Any] = []
    async with server.client(timeout=60) as client:
        ask = client.chat.completions.with_raw_response.create

        async def first() -> None:
            got.append(await ask(**asked, response_format=WORDS))
            # Of a stream the headers come first.
            await got[0].http_response.aread()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await passes.are_held()
            with pytest.raises(openai.ConflictError) as caught:
                await ask(**asked, response_format=WORDS)
            assert int(caught.value.response.headers["Retry-After"]) >= 1
            with pytest.raises(openai.UnprocessableEntityError) as other:
                await ask(**asked, response_format=LONG)
            assert other.value.code == "idempotency_key_reused"
            passes.may_go_on.set()
        before = passes.count
        again = await ask(**asked, response_format=WORDS)
        await again.http_response.aread()
    assert "Idempotency-Replayed" not in got[0].headers
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.text == got[0].text
    assert passes.count == before


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what the server's own threads bring about."""
    with anyio.fail_after(30):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("held", [1, 20], ids=["in the prompt", "in the answer"])
async def test_client_that_drops_stops_the_model_within_its_pass_and_frees_the_key(
    server: Served, model: LocalModel, monkeypatch: pytest.MonkeyPatch, streams: bool, held: int
) -> None:
    passes = Passes(monkeypatch, held=held)
    key = {"Idempotency-Key": f"order-{streams}-{held}"}
    words = f"{held} {streams} " * 40 if held == 1 else "a"
    asked: Any = {"model": "small", "messages": [{"role": "user", "content": words}], "extra_headers": key}

    async def ask(form: Any) -> Any:
        async with server.client(timeout=60) as client:
            found: Any = await client.chat.completions.create(**asked, response_format=form, stream=streams)
            return "".join([each.choices[0].delta.content or "" async for each in found]) if streams else found

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, LONG)
        await passes.are_held()
        tasks.cancel_scope.cancel()
    # The place and the key are free while the model is still in its pass.
    store = server.app.state.serving.store
    await until(lambda: admission_of(server.app).in_flight == store.in_progress == 0)
    assert model.stats().in_flight == 1
    passes.may_go_on.set()
    await until(lambda: model.stats().in_flight == 0)
    assert passes.count == held
    assert await ask(WORDS)


@pytest.mark.parametrize("slots", [1, 16])
async def test_number_of_slots_is_that_of_the_answers_at_once(model: LocalModel, tmp_path: Any, slots: int) -> None:
    save_tokenizer(tmp_path)
    save_model(tmp_path)
    other = LocalModel.load(str(tmp_path), slots=slots)
    limits = ServerLimits(concurrent_requests=slots, drain_s=5)
    with served(LocalBackend(load=lambda _: other, answers=slots), limits=limits) as server:
        async with server.client(timeout=60) as client, anyio.create_task_group() as tasks:
            for _ in range(16):
                tasks.start_soon(lambda: client.chat.completions.create(model="small", messages=[USER], max_tokens=8))
    assert other.stats().queued == other.stats().in_flight == 0
    assert other.slots == slots
