"""Decode with a model on this machine: stands between the client's event loop and the decode loop's thread.

``commitgate_local`` and torch are loaded at the first request, in a worker thread. A model is loaded once and kept.
An answer is waited for in a worker thread of its own; its events come over through a bounded stream, so it never gets
far ahead of its reader. Leaving a stream tells it to stop and waits for that: at most one forward pass.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, TypeAlias

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from commitgate.argument import check_int
from commitgate.backends.base import BackendIdentity, EventStream, GenerationRequest, SentEvent, WaitExpired
from commitgate.errors import MissingExtraError, MisuseError, ModelLoadError

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from commitgate.contract import Contract

EVENTS_AHEAD = 64
"""Most events that an answer may be ahead of its reader."""

DECODE_THREADS = 16
"""Most answers in work at a time, some of them at the door of their model; more requests wait here, and do not take the
threads that the ledger needs."""

MODELS_KEPT = 2
"""Most loaded models kept; the one unused for longest makes room."""

EXTRA_PACKAGES = frozenset({"accelerate", "gguf", "numpy", "safetensors", "tokenizers", "torch", "transformers"})
"""What the extra ``local`` installs, directly or with its parts."""


class Model(Protocol):
    """Decode by one loaded model; every method blocks."""

    @property
    def identity(self) -> BackendIdentity:
        """Return what answers."""
        ...

    def prepare(self, contract: Contract[object]) -> None:
        """Compile the contract for this vocabulary."""
        ...

    def generate(
        self, request: GenerationRequest, emit: Callable[[SentEvent], None], cancelled: Callable[[], bool]
    ) -> None:
        """Decode, handing events to ``emit``, until done or ``cancelled()``."""
        ...


Loader: TypeAlias = Callable[[str], Model]


class LocalBackend:
    """Answer requests with models on this machine.

    Args:
        load: loads a model by name or path, blocking; None takes ``commitgate_local``'s own.
        precision: in which ``commitgate_local`` runs models: ``auto``, ``float32``, ``bfloat16``, ``int8`` (CPU) or
            ``float16`` (CUDA); None takes ``COMMITGATE_PRECISION``, else ``auto``, which measures. Not looked at where
            ``load`` is given.
        answers: most answers in work at a time, at least 1; more requests wait. A model may hold some of them at its
            own door.

    Raises:
        MisuseError: ``answers`` is out of its range.
    """

    def __init__(
        self, *, load: Loader | None = None, precision: str | None = None, answers: int = DECODE_THREADS
    ) -> None:
        check_int("answers", answers)
        if answers < 1:
            raise MisuseError(f"answers must be at least 1, found {answers}")
        self._answers = answers
        self._load = load or partial(_load_installed, precision=precision)
        self._models: OrderedDict[str, Model] = OrderedDict()
        self._loading = threading.Lock()
        self._places: _Places | None = None

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return "local"

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt.

        Raises:
            MissingExtraError: torch or transformers is not installed.
            ModelLoadError: the model cannot be loaded.
            ContractError: the contract cannot be enforced with the model's vocabulary.
            WaitExpired: no place to decode became free within ``pool_s``.
        """
        if self._places is None:
            self._places = _Places(
                free=anyio.Semaphore(self._answers),
                threads=anyio.CapacityLimiter(self._answers),
                preparing=anyio.CapacityLimiter(self._answers),
            )
        return _LocalStream(self._ready_model, request, self._places)

    async def aclose(self) -> None:
        """Forget the loaded models."""
        self._models.clear()

    def _ready_model(self, request: GenerationRequest) -> Model:
        # Runs in a worker thread that is left alone when its caller is cancelled: what it loads is kept for the next.
        with self._loading:
            model = self._models.get(request.model)
            if model is None:
                model = self._models[request.model] = self._load(request.model)
            self._models.move_to_end(request.model)
            while len(self._models) > MODELS_KEPT:
                self._models.popitem(last=False)
        if request.is_constrained:
            model.prepare(request.contract)
        return model


def _load_installed(name: str, *, precision: str | None) -> Model:
    try:
        from commitgate_local import LocalModel
    except (ImportError, OSError) as error:
        # A library that is there but broken is not cured by installing it; torch's own may raise OSError.
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing == "commitgate_local" or (missing or "").partition(".")[0] in EXTRA_PACKAGES:
            raise MissingExtraError("local", "running a model on this machine") from error
        raise ModelLoadError(
            f"the code that runs models cannot be imported: {type(error).__name__}: {error}"
        ) from error
    return LocalModel.load(name, precision=precision)


@dataclass(frozen=True, slots=True)
class _Places:
    """Bound the answers in work.

    Attributes:
        free: whoever holds one of it may decode; waiting for it has a limit.
        threads: the threads that they run in, as many.
        preparing: the threads that load a model and compile for it. Calls that are cancelled leave theirs behind until
            it is done, so they must not be those that other work needs.
    """

    free: anyio.Semaphore
    threads: anyio.CapacityLimiter
    preparing: anyio.CapacityLimiter


class _LocalStream:
    """Hold one answer in work while its events are read."""

    def __init__(
        self,
        ready_model: Callable[[GenerationRequest], Model],
        request: GenerationRequest,
        places: _Places,
    ) -> None:
        self._ready_model = ready_model
        self._request = request
        self._places = places
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._identity: BackendIdentity | None = None
        self._tasks: TaskGroup | None = None
        self._sending: MemoryObjectSendStream[SentEvent]
        self._receiving: MemoryObjectReceiveStream[SentEvent]
        self._sending, self._receiving = anyio.create_memory_object_stream[SentEvent](EVENTS_AHEAD)

    @property
    def identity(self) -> BackendIdentity:
        assert self._identity is not None, "the stream is entered first"
        return self._identity

    async def __aenter__(self) -> _LocalStream:
        try:
            model = await anyio.to_thread.run_sync(
                self._ready_model, self._request, abandon_on_cancel=True, limiter=self._places.preparing
            )
            await self._take_place()
        except BaseException:
            self._close()
            raise
        self._identity = model.identity
        try:
            self._tasks = await anyio.create_task_group().__aenter__()
        except BaseException:
            self._places.free.release()
            self._close()
            raise
        self._tasks.start_soon(self._decode, model, name="commitgate local decode")
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del error_type, error, trace
        self._stop.set()
        self._receiving.close()
        assert self._tasks is not None, "the stream was entered"
        # A running thread is waited for all the same.
        self._tasks.cancel_scope.cancel()
        try:
            # The loop's own task never raises, and no exception of the reader is handed in: the group would wrap it.
            await self._tasks.__aexit__(None, None, None)
        finally:
            self._places.free.release()

    async def _take_place(self) -> None:
        limit_s = self._request.timeouts.pool_s
        with anyio.move_on_after(limit_s):
            await self._places.free.acquire()
            return
        assert limit_s is not None, "only a limit ends the wait"
        raise WaitExpired("pool", limit_s)

    def __aiter__(self) -> AsyncIterator[SentEvent]:
        return self

    async def __anext__(self) -> SentEvent:
        try:
            return await self._receiving.receive()
        except anyio.EndOfStream:
            if self._error is not None:
                raise self._error from None
            raise StopAsyncIteration from None

    async def _decode(self, model: Model) -> None:
        try:
            await anyio.to_thread.run_sync(self._decode_in_thread, model, limiter=self._places.threads)
        finally:
            self._sending.close()

    def _decode_in_thread(self, model: Model) -> None:
        try:
            model.generate(self._request, self._emit, self._stop.is_set)
        except Exception as error:  # noqa: BLE001 - the reader raises it; here it would be wrapped in a group
            if not self._stop.is_set():
                self._error = error

    def _emit(self, event: SentEvent) -> None:
        try:
            # Costs half of what waiting in a task would; that is left for a reader who is far behind.
            anyio.from_thread.run_sync(self._sending.send_nowait, event)
        except anyio.WouldBlock:
            anyio.from_thread.run(self._sending.send, event)

    def _close(self) -> None:
        self._sending.close()
        self._receiving.close()


__all__ = ["DECODE_THREADS", "EVENTS_AHEAD", "EXTRA_PACKAGES", "MODELS_KEPT", "LocalBackend", "Model"]
