"""Run many calls at once, over real sockets and over scripts, cancel half at random, and count what is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import anyio
import anyio.abc
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.backends.base import (
    BackendIdentity,
    Event,
    EventStream,
    Finish,
    FinishReason,
    GenerationRequest,
    TextDelta,
)
from commitgate.client import Client, StructuredRun
from commitgate.json_value import JsonValue
from commitgate.ledger import MemoryLedger
from commitgate.retry import Retry
from commitgate.testing import ScriptedBackend, Step

RUNS = 250
"""Calls of a large unit, all at once."""

RUNS_SHORT = 40
"""Calls of a small one, fewer than there are connections."""

RUNS_TIMED = 10
"""Calls of a unit that tells how soon a socket is free: so few that the event loop has time to look."""

RUNS_SCRIPTED = 1_000
"""Calls of a unit without sockets, all at once."""

CONNECTIONS = 50
LOOPS = ("asyncio", "trio")
SCHEMA: dict[str, JsonValue] = {"type": "array", "items": {"type": "integer"}}
PIECES = (b"[1,", b"22,3", b"33,", b"4444", b",5]")
END = b"."
"""Ends the server's answer; a line that breaks before it has no proof of its end."""

RELEASED_S = 0.1
"""Longest time from a cancel to the server's seeing its socket closed."""


@dataclass
class _Server:
    """Write pieces of an answer to whoever connects, slowly, and note when a peer leaves."""

    random: Random
    open_now: int = 0
    left_at: dict[int, float] = field(default_factory=dict)

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        self.open_now += 1
        number = -1
        try:
            async with stream:
                number = int.from_bytes(await stream.receive(4), "big")
                for piece in PIECES:
                    await stream.send(piece)
                    await self._pause(stream)
                await stream.send(END)
                with suppress(anyio.EndOfStream):
                    await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self.left_at[number] = anyio.current_time()
            self.open_now -= 1

    async def _pause(self, stream: anyio.abc.SocketStream) -> None:
        """Wait a moment; whoever hangs up meanwhile is noticed at once."""
        with anyio.move_on_after(self.random.uniform(0.0, 0.2)):
            await stream.receive()


class _SocketBackend:
    """Ask the server over a socket of its own, one of so many at a time."""

    name = "socket"

    def __init__(self, port: int) -> None:
        self._port = port
        self.places = anyio.Semaphore(CONNECTIONS)

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncGenerator[EventStream]:
        number = int(request.messages[-1].content)
        async with self.places, await anyio.connect_tcp("127.0.0.1", self._port) as stream:
            await stream.send(number.to_bytes(4, "big"))
            yield _SocketStream(stream)

    async def aclose(self) -> None:
        """Free nothing."""


class _SocketStream:
    identity = BackendIdentity(backend="socket", model="")

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events()

    async def _events(self) -> AsyncGenerator[Event]:
        with suppress(anyio.EndOfStream):
            while True:
                data = await self._stream.receive()
                if data.endswith(END):
                    if data != END:
                        yield TextDelta(data.removesuffix(END))
                    yield Finish(FinishReason.STOP, "stop")
                    return
                yield TextDelta(data)


@dataclass
class _Followed:
    """Follow one call to its end, as one of the ways to leave it early has it."""

    client: Client
    number: int
    random: Random
    names: dict[int, str]
    cancelled_at: dict[int, float]

    def _run(self) -> StructuredRun[JsonValue, None]:
        return self.client.stream_structured(
            "socket", SCHEMA, prompt=str(self.number), retry=Retry(attempts=1), prompt_schema="none"
        )

    async def to_the_end(self) -> None:
        async with self._run() as run:
            self.names[self.number] = (await run.outcome()).name

    async def cancelled(self) -> None:
        async with self._run() as run, anyio.create_task_group() as tasks:

            async def cancel() -> None:
                await self._wait()
                self._note()
                run.cancel()

            tasks.start_soon(cancel)
            self.names[self.number] = (await run.outcome()).name

    async def left(self) -> None:
        async with self._run() as run:
            await self._wait()
            self._note()
        self.names[self.number] = (await run.outcome()).name

    async def scoped(self) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks, self._run() as run:

                async def cancel() -> None:
                    await self._wait()
                    self._note()
                    scope.cancel()

                tasks.start_soon(cancel)
                self.names[self.number] = (await run.outcome()).name
                tasks.cancel_scope.cancel()
        self.names.setdefault(self.number, "cancelled")

    async def natively(self) -> None:
        if not _is_asyncio():
            await self.scoped()
            return
        task = asyncio.create_task(self.to_the_end())
        await self._wait()
        self._note()
        for _ in range(self.random.choice((1, 2))):
            task.cancel()
            await asyncio.sleep(0)
        with suppress(asyncio.CancelledError):
            await task
        self.names.setdefault(self.number, "cancelled")

    async def dropped(self) -> None:
        run = await self._run().__aenter__()
        await self._wait()
        self._note()
        del run
        self.names[self.number] = "dropped"

    async def _wait(self) -> None:
        await anyio.sleep(self.random.uniform(0.0, 0.8))

    def _note(self) -> None:
        self.cancelled_at[self.number] = anyio.current_time()

    def way(self) -> Callable[[], Coroutine[None, None, None]]:
        if self.number % 2:
            return self.to_the_end
        return (self.cancelled, self.left, self.scoped, self.natively, self.dropped)[self.number // 2 % 5]


def _is_asyncio() -> bool:
    return issubclass(anyio.get_cancelled_exc_class(), asyncio.CancelledError)


_SCRIPT: list[Step] = [
    *(step for piece in PIECES for step in ({"text": piece}, {"wait_s": 0.1})),
    {"finish": "stop"},
]


async def _follow(client: Client, runs: int, seed: int, names: dict[int, str], cancelled_at: dict[int, float]) -> None:
    random = Random(seed)
    async with anyio.create_task_group() as calls:
        for number in range(runs):
            followed = _Followed(client, number, Random(random.random()), names, cancelled_at)
            calls.start_soon(followed.way())
    gc.collect()


async def _until(is_so: Callable[[], bool]) -> None:
    """Wait for what dropped calls still have to close, up to five seconds."""
    for _ in range(500):
        if is_so():
            return
        await anyio.sleep(0.01)


async def _play_scripts(runs: int, seed: int) -> tuple[dict[str, int], list[str], list[float]]:
    tasks, names, cancelled_at = len(anyio.get_running_tasks()), dict[int, str](), dict[int, float]()
    backend = ScriptedBackend(_SCRIPT)
    async with Client(backends={"socket": backend}, ledger=MemoryLedger()) as client:
        await _follow(client, runs, seed, names, cancelled_at)
        await _until(lambda: backend.open_streams == 0)
        left = {"streams left": backend.open_streams}
    left["tasks left"] = len(anyio.get_running_tasks()) - tasks
    return _counted(seed, runs, names, cancelled_at, left), _wrong(seed, names), []


async def _play(runs: int, seed: int) -> tuple[dict[str, int], list[str], list[float]]:
    descriptors, running = len(os.listdir("/proc/self/fd")), len(anyio.get_running_tasks())
    names, cancelled_at = dict[int, str](), dict[int, float]()
    left, server = dict[str, int](), _Server(Random(seed + 1))
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        port: int = listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.start_soon(listener.serve, server.serve)
        backend = _SocketBackend(port)
        async with Client(backends={"socket": backend}, ledger=MemoryLedger()) as client:
            await _follow(client, runs, seed, names, cancelled_at)
            await _until(lambda: server.open_now == 0)
            left |= {"pool slots left": CONNECTIONS - backend.places.value, "connections left": server.open_now}
        tasks.cancel_scope.cancel()
    left["descriptors left"] = max(0, len(os.listdir("/proc/self/fd")) - descriptors)
    left["tasks left"] = len(anyio.get_running_tasks()) - running
    released = [server.left_at[number] - at for number, at in cancelled_at.items() if number in server.left_at]
    counts = _counted(seed, runs, names, cancelled_at, left)
    return counts, _wrong(seed, names), [wait for wait in released if wait >= 0]


def _counted(
    seed: int, runs: int, names: Mapping[int, str], cancelled_at: Mapping[int, float], left: Mapping[str, int]
) -> dict[str, int]:
    wrong = len(_wrong(seed, names)) + runs - len(names)
    return {"runs": runs, "cancelled": len(cancelled_at), "wrong endings": wrong, **left}


def _wrong(seed: int, names: Mapping[int, str]) -> list[str]:
    """Name the calls with an ending that they cannot have."""
    may_be = {True: ("committed",), False: ("cancelled", "committed", "dropped")}
    return [
        f"run {number} of seed {seed}, {'not cancelled' if number % 2 else 'cancelled'}, ended as {name}"
        for number, name in names.items()
        if name not in may_be[bool(number % 2)]
    ]


class Concurrency:
    """Run calls at once on both event loops."""

    name = "concurrency"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return [f"{loop} {kind} {RUNS_SHORT} 1" for loop in LOOPS for kind in ("sockets", "scripts")]
        large = [f"{LOOPS[seed % 2]} sockets {RUNS} {seed}" for seed in range(8)]
        scripts = [f"{loop} scripts {RUNS_SCRIPTED} 1" for loop in LOOPS]
        # How soon a socket is free can be told only where the event loop has time to look.
        return [*large, *scripts, *(f"{LOOPS[seed % 2]} sockets {RUNS_TIMED} {seed}" for seed in range(100, 140))]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of(""), PROOFS / "concurrency.py"]

    def run(self, unit: str) -> Result:
        loop, kind, runs, seed = unit.split()
        play = _play if kind == "sockets" else _play_scripts
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4_096)), hard))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # runs are dropped on purpose
                counts, faults, released = anyio.run(play, int(runs), int(seed), backend=loop)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        waits = sorted(released) if int(runs) <= RUNS_TIMED else []
        late = sum(wait > RELEASED_S for wait in waits)
        middle, longest = (waits[len(waits) // 2], waits[-1]) if waits else (0.0, 0.0)
        notes = {"median": f"{1_000 * middle:.0f}", "longest": f"{1_000 * longest:.0f}"}
        return Result(counts={**counts, "sockets": len(waits), "late": late}, faults=faults, notes=notes)

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        kinds = ("descriptors left", "pool slots left", "connections left", "streams left", "tasks left")
        longest = max((int(result.notes["longest"]) for result in results.values()), default=0)
        return [
            Row(
                promise="calls at once leave nothing behind, half of them cancelled at random",
                measured=f"{counts['runs']:,} calls, {counts['cancelled']:,} cancelled in five ways: "
                + ", ".join(f"{counts.get(kind, 0)} {kind}" for kind in kinds),
                held=not any(counts.get(kind, 0) for kind in kinds),
            ),
            Row(
                promise="each ends as what it is",
                measured=f"{counts['wrong endings']} wrong",
                held=counts["wrong endings"] == 0,
            ),
            Row(
                promise=f"a cancelled call's socket is free within {1_000 * RELEASED_S:.0f} ms",
                measured=f"{counts['late']} of {counts['sockets']:,} later; longest {longest} ms",
                held=counts["late"] == 0,
            ),
        ]


CONCURRENCY = Concurrency()
