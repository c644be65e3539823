"""A real model behind a real server: the honest one passes, and one whose mask was switched off is caught."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from local.tiny_model import in_one_thread, save_model, save_tokenizer
from probe.scripted_server import ENFORCING

from commitgate.backends.base import BackendIdentity, EventStream, GenerationRequest, StreamEvent, TextDelta
from commitgate.backends.commitgate_server import CommitgateBackend
from commitgate.backends.local import LocalBackend
from commitgate.probe import ProbeReport, ProbeStore, Verdict, probe, standing
from commitgate_local.local_model import LocalModel
from commitgate_local.server.app import create_app
from commitgate_local.server.model_list import ServedModel
from commitgate_local.server.running import RunningServer, listen
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio


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
    save_model(folder, context_tokens=4_096)
    return LocalModel.load(str(folder), cache_dir=folder / "cache", slots=2)


class MaskOff(LocalBackend):
    """Write whatever the model likes, whatever the contract says."""

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncIterator[EventStream]:  # type: ignore[override]
        async with super().open(replace(request, is_constrained=False)) as stream:
            yield Readable(stream)


class Readable:
    """Put a sign in place of bytes that are no text, as servers do: a random model writes any."""

    def __init__(self, stream: EventStream) -> None:
        self._events = aiter(stream)
        self._stream = stream

    @property
    def identity(self) -> BackendIdentity:
        return self._stream.identity

    def __aiter__(self) -> Readable:
        return self

    async def __anext__(self) -> StreamEvent:
        event = await anext(self._events)
        return (
            replace(event, data=event.data.decode(errors="replace").encode()) if isinstance(event, TextDelta) else event
        )


@contextmanager
def served(backend: LocalBackend) -> Iterator[str]:
    """Serve a backend on the loopback in a thread, and yield its URL."""
    limits = ServerLimits(drain_s=5)
    app = create_app(backend, models=[ServedModel(name="small", created=1_790_000_000)], limits=limits)
    listening = listen("127.0.0.1", 0)
    server = RunningServer(app, limits)
    thread = threading.Thread(target=server.run, args=(listening,), name="server under test")
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.start()
    try:
        yield url
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def honest(model: LocalModel) -> Iterator[str]:
    with served(LocalBackend(load=lambda _: model)) as url:
        yield url


@pytest.fixture(scope="module")
def lying(model: LocalModel) -> Iterator[str]:
    with served(MaskOff(load=lambda _: model)) as url:
        yield url


async def probed(url: str) -> ProbeReport:
    async with aclosing(CommitgateBackend(base_url=url)) as backend:
        return await probe(backend, "small")


async def test_honest_server_passes_whole(honest: str) -> None:
    report = await probed(honest)
    found = {each.name: str(each.verdict) for each in report.results}
    assert report.verdict == "enforced", report.reason
    assert found == {**ENFORCING, "disconnect": "yes", "repeated_key": "yes"}


async def test_server_whose_mask_is_off_is_caught_and_stays_unproven(lying: str, tmp_path: Path) -> None:
    report = await probed(lying)
    assert report.verdict == "not_enforced"
    # It still reads the schema, and refuses one that is none: that alone proves nothing.
    found = {each.name: each.verdict for each in report.results}
    assert found["invalid_schema"] is Verdict.REJECTED
    assert found["enum"] is Verdict.DROPPED
    store = ProbeStore(tmp_path)
    store.keep(report)
    async with aclosing(CommitgateBackend(base_url=lying)) as backend:
        identity = await backend.handshake("small")
    told = standing(
        store,
        dialect_name=report.dialect,
        base_url=report.base_url,
        model="small",
        identity=identity,
        now=report.made_at + 1,
    )
    assert not told.is_proven
    assert "does not enforce constraints" in told.reason
