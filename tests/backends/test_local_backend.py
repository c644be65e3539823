"""The local backend's shell: threads, cancellation between steps, and what is missing."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from commitgate.backends.base import (
    BackendIdentity,
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    TextDelta,
    Usage,
)
from commitgate.backends.local import DECODE_THREADS, EVENTS_AHEAD, MODELS_KEPT, LocalBackend
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import MissingExtraError, MisuseError, ModelLoadError, UnsupportedError
from commitgate.outcome import Cancelled, Committed, TimedOut, Unavailable, Unsupported
from commitgate.retry import Retry
from commitgate.risk import Risk
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "array", "items": {"type": "integer"}}


class FakeModel:
    """Plays events in the decode thread, asking before each whether to go on, as the real loop does."""

    def __init__(self, events: list[Event] | None = None) -> None:
        self.events = events or [TextDelta(b"[1,"), TextDelta(b"2]"), Usage(1, 2), Finish(FinishReason.STOP, "accept")]
        self.identity = BackendIdentity(backend="local", model="fake", model_revision="r", tokenizer_fingerprint="t")
        self.threads: list[threading.Thread] = []
        self.prepared: list[Contract[object]] = []
        self.running = 0
        self.most_running = 0
        self.steps = 0
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.has_stepped = threading.Event()

    def prepare(self, contract: Contract[object]) -> None:
        self.prepared.append(contract)

    def generate(
        self, request: GenerationRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> None:
        self.threads.append(threading.current_thread())
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            for event in self._stream():
                if cancelled():
                    return
                emit(event)
                self.steps += 1
                self.has_stepped.set()
                self.may_go_on.wait()
        finally:
            self.running -= 1

    def _stream(self) -> Iterator[Event]:
        yield from self.events


class EndlessModel(FakeModel):
    def _stream(self) -> Iterator[Event]:
        yield TextDelta(b"[1")
        while True:
            yield TextDelta(b",1")


def request(model: str = "") -> GenerationRequest:
    return GenerationRequest(model=model, contract=Contract.of(SCHEMA), messages=(Message("user", "x"),))


def client_of(backend: LocalBackend) -> Client:
    return Client(backends={"local": backend})


async def test_answer_is_decoded_in_a_worker_thread() -> None:
    model = FakeModel()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        outcome = await client.generate_structured("local", SCHEMA, prompt="x")
    assert isinstance(outcome, Committed)
    assert outcome.value == [1, 2]
    receipt = outcome.receipt
    assert (receipt.backend, receipt.model, receipt.model_revision) == ("local", "fake", "r")
    assert (receipt.tokenizer_fingerprint, receipt.usage) == ("t", Usage(1, 2))
    assert threading.main_thread() not in model.threads
    assert len(model.prepared) == 1


async def test_cancel_stops_the_loop_at_its_next_step_and_waits_for_it() -> None:
    model = EndlessModel()
    async with (
        client_of(LocalBackend(load=lambda name: model)) as client,
        client.stream_structured("local", SCHEMA, prompt="x") as run,
    ):
        async for _ in run:
            run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
        assert model.running == 0


async def test_loop_that_has_nothing_to_send_is_stopped_too() -> None:
    class Silent(FakeModel):
        def generate(
            self, request: GenerationRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
        ) -> None:
            self.running += 1
            self.has_stepped.set()
            while not cancelled():
                threading.Event().wait(0.001)
            self.running -= 1

    model = Silent()
    async with (
        client_of(LocalBackend(load=lambda name: model)) as client,
        client.stream_structured("local", SCHEMA, prompt="x") as run,
    ):
        await anyio.to_thread.run_sync(model.has_stepped.wait)
        run.cancel()
        assert isinstance(await run.outcome(), Cancelled)
        assert model.running == 0


async def test_leaving_early_stops_the_loop() -> None:
    model = EndlessModel()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        async with client.stream_structured("local", SCHEMA, prompt="x") as run:
            async for _ in run:
                break
        assert model.running == 0


async def test_time_limit_stops_the_loop() -> None:
    model = EndlessModel()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        outcome = await client.generate_structured("local", SCHEMA, prompt="x", timeouts=Timeouts(total_s=0.2))
    assert isinstance(outcome, TimedOut)
    assert model.running == 0


async def test_loop_never_runs_far_ahead_of_its_reader() -> None:
    model = EndlessModel()
    async with LocalBackend(load=lambda name: model).open(request()) as stream:
        assert await anext(aiter(stream)) == TextDelta(b"[1")
        await anyio.wait_all_tasks_blocked()
        assert model.steps <= EVENTS_AHEAD + 2
    assert model.running == 0


async def test_event_loop_is_free_while_the_model_works() -> None:
    model = FakeModel()
    model.may_go_on.clear()
    async with client_of(LocalBackend(load=lambda name: model)) as client, anyio.create_task_group() as tasks:
        outcomes: list[Any] = []

        async def call() -> None:
            outcomes.append(await client.generate_structured("local", SCHEMA, prompt="x"))

        tasks.start_soon(call)
        await anyio.to_thread.run_sync(model.has_stepped.wait)
        assert outcomes == []
        model.may_go_on.set()
    assert isinstance(outcomes[0], Committed)


async def test_model_is_loaded_once_for_many_calls() -> None:
    loaded: list[str] = []

    def load(name: str) -> FakeModel:
        loaded.append(name)
        return FakeModel()

    backend = LocalBackend(load=load)
    async with client_of(backend) as client, anyio.create_task_group() as tasks:
        for model in ("local", "local", "local/some/folder", "local/some/folder"):
            tasks.start_soon(lambda model=model: client.generate_structured(model, SCHEMA, prompt="x"))
    assert sorted(loaded) == ["", "some/folder"]


async def test_model_unused_for_longest_makes_room() -> None:
    loaded: list[str] = []

    def load(name: str) -> FakeModel:
        loaded.append(name)
        return FakeModel()

    backend = LocalBackend(load=load)
    names = [f"m{number}" for number in range(MODELS_KEPT + 1)]
    for name in [*names, names[-1], names[0]]:
        async with backend.open(request(name)):
            pass
    assert loaded == [*names, names[0]]


async def test_more_calls_than_threads_all_end() -> None:
    model = FakeModel()
    outcomes: list[Any] = []
    async with client_of(LocalBackend(load=lambda name: model)) as client, anyio.create_task_group() as tasks:

        async def call() -> None:
            outcomes.append(await client.generate_structured("local", SCHEMA, prompt="x"))

        for _ in range(3 * DECODE_THREADS):
            tasks.start_soon(call)
    assert [outcome.name for outcome in outcomes] == ["committed"] * 3 * DECODE_THREADS
    assert model.most_running <= DECODE_THREADS


async def test_call_that_waits_for_a_thread_can_be_cancelled() -> None:
    class Counting(FakeModel):
        def prepare(self, contract: Contract[object]) -> None:
            super().prepare(contract)
            if len(self.prepared) > DECODE_THREADS:
                all_prepared.set()

    all_prepared, model = threading.Event(), Counting()
    model.may_go_on.clear()
    async with client_of(LocalBackend(load=lambda name: model)) as client, AsyncExitStack() as others:
        for _ in range(DECODE_THREADS):
            run = await others.enter_async_context(client.stream_structured("local", SCHEMA, prompt="x"))
            await anext(run)
        async with client.stream_structured("local", SCHEMA, prompt="x") as waiting:
            await anyio.to_thread.run_sync(all_prepared.wait)
            await anyio.wait_all_tasks_blocked()
        assert isinstance(await waiting.outcome(), Cancelled)
        assert model.running == DECODE_THREADS
        model.may_go_on.set()


async def test_pool_limit_ends_the_wait_for_a_place_to_decode() -> None:
    model = FakeModel()
    model.may_go_on.clear()
    async with client_of(LocalBackend(load=lambda name: model)) as client, AsyncExitStack() as others:
        for _ in range(DECODE_THREADS):
            run = await others.enter_async_context(client.stream_structured("local", SCHEMA, prompt="x"))
            await anext(run)
        limits, once = Timeouts(pool_s=0.05), Retry(attempts=1)
        outcome = await client.generate_structured("local", SCHEMA, prompt="x", timeouts=limits, retry=once)
        assert isinstance(outcome, TimedOut)
        assert outcome.phase == "pool"
        model.may_go_on.set()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        assert isinstance(await client.generate_structured("local", SCHEMA, prompt="x"), Committed)


async def test_draft_that_the_vocabulary_cannot_be_held_to_may_be_asked_for_by_the_prompt_alone() -> None:
    class Unable(FakeModel):
        def prepare(self, contract: Contract[object]) -> None:
            raise UnsupportedError("not here", pointer="", keyword="type", reason="not here")

    model = Unable()
    draft = Contract.of(SCHEMA, risk=Risk.DRAFT)
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        for schema, fallback in ((draft, None), (draft, "prompt_only")):
            outcome = await client.generate_structured("local", schema, prompt="x", fallback=fallback)
            assert isinstance(outcome, Unsupported if fallback is None else Committed)
        assert isinstance(outcome, Committed)
        assert outcome.is_fallback
        assert outcome.receipt.fallback == "prompt_only"
        with pytest.raises(MisuseError, match="DRAFT"):
            await client.generate_structured("local", SCHEMA, prompt="x", fallback="prompt_only")


async def test_fault_of_the_model_is_an_ending() -> None:
    model = FakeModel([TextDelta(b"[1"), Fault("model", "logits are not numbers")])
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        outcome = await client.generate_structured("local", SCHEMA, prompt="x")
    assert isinstance(outcome, Unavailable)
    assert outcome.kind == "model"


async def test_bug_in_the_loop_is_raised_bare() -> None:
    class Broken(FakeModel):
        def _stream(self) -> Iterator[Event]:
            yield TextDelta(b"[1")
            raise ZeroDivisionError

    model = Broken()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        with pytest.raises(ZeroDivisionError):
            await client.generate_structured("local", SCHEMA, prompt="x")


async def test_contract_that_the_vocabulary_cannot_spell_ends_the_call() -> None:
    class Narrow(FakeModel):
        def prepare(self, contract: Contract[object]) -> None:
            raise UnsupportedError("no", pointer="/items", keyword="type", reason="no digits")

    model = Narrow()
    async with client_of(LocalBackend(load=lambda name: model)) as client:
        outcome = await client.generate_structured("local", SCHEMA, prompt="x")
    assert isinstance(outcome, Unsupported)
    assert (outcome.pointer, model.steps) == ("/items", 0)


async def test_model_that_cannot_be_loaded_raises_and_is_tried_again() -> None:
    tries: list[str] = []

    def load(name: str) -> FakeModel:
        tries.append(name)
        if len(tries) == 1:
            raise ModelLoadError("no such folder")
        return FakeModel()

    async with client_of(LocalBackend(load=load)) as client:
        with pytest.raises(ModelLoadError):
            await client.generate_structured("local/x", SCHEMA, prompt="x")
        assert (await client.generate_structured("local/x", SCHEMA, prompt="x")).name == "committed"


async def test_loading_goes_on_for_the_next_call_when_the_first_is_cancelled() -> None:
    started, may_load, loads = threading.Event(), threading.Event(), list[str]()

    def load(name: str) -> FakeModel:
        loads.append(name)
        started.set()
        may_load.wait()
        return FakeModel()

    async with client_of(LocalBackend(load=load)) as client:
        async with client.stream_structured("local", SCHEMA, prompt="x") as run:
            await anyio.to_thread.run_sync(started.wait)
            run.cancel()
            assert isinstance(await run.outcome(), Cancelled)
        may_load.set()
        assert (await client.generate_structured("local", SCHEMA, prompt="x")).name == "committed"
    assert loads == [""]


async def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "commitgate_local", None)
    async with Client() as client:
        with pytest.raises(MissingExtraError, match=r"commitgate\[local\]") as caught:
            await client.generate_structured("local", SCHEMA, prompt="x")
    assert caught.value.extra == "local"


class Broken:
    """Stands for the package of models, with an import in it that fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, name: str) -> object:
        if name == "LocalModel":
            raise self.error
        raise AttributeError(name)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ModuleNotFoundError("no", name="torch"), MissingExtraError),
        (ModuleNotFoundError("no", name="transformers.models"), MissingExtraError),
        (ModuleNotFoundError("no", name="safetensors"), MissingExtraError),
        (ModuleNotFoundError("no", name="commitgate_local.engine"), ModelLoadError),
        (ModuleNotFoundError("no", name="commitgate.gate.gone"), ModelLoadError),
        (ModuleNotFoundError("no"), ModelLoadError),
        (ImportError("cannot import name 'x' from 'torch'", name="torch"), ModelLoadError),
        (OSError("libtorch_cpu.so: cannot open shared object file"), ModelLoadError),
    ],
    ids=str,
)
async def test_broken_import_is_told_from_a_missing_extra(
    monkeypatch: pytest.MonkeyPatch, error: Exception, wanted: type[Exception]
) -> None:
    monkeypatch.setitem(sys.modules, "commitgate_local", Broken(error))
    async with Client() as client:
        with pytest.raises(wanted) as caught:
            await client.generate_structured("local", SCHEMA, prompt="x")
    assert type(caught.value) is wanted
    assert caught.value.__cause__ is error


async def test_making_a_backend_loads_nothing() -> None:
    def load(name: str) -> FakeModel:
        pytest.fail("loaded too early")

    backend = LocalBackend(load=load)
    assert backend.name == "local"
    await backend.aclose()


@pytest.mark.parametrize("answers", [0, -1, True, 1.5])
def test_number_of_answers_that_makes_no_sense_is_refused(answers: Any) -> None:
    with pytest.raises(MisuseError, match="answers"):
        LocalBackend(answers=answers)
