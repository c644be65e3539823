"""Prove at full size what the tests try in small: ``PYTHONPATH=tests python -m backends.remote.line_proof [part ...]``.

Each part prints one line: what was done, and what came of it. It fails where a promise is broken. The parts take from
seconds to minutes, so they are no part of the tests.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from types import ModuleType

import anyio
import httpx
import httpx2
from anyio.lowlevel import checkpoint
from backends.remote.chat_words import ANSWER, CONTRACT, answering, backend_at, delta, events_of, request
from backends.remote.loopback import Asked, Line, loopback
from backends.remote.memory_client import Memory, streamed, unreachable

from commitgate import Client, Disconnected, Retry, Unavailable
from commitgate.backends.base import Finish
from commitgate.backends.http import IDLE_CONNECTIONS
from commitgate.backends.remote import RemoteBackend
from commitgate.timeouts import Timeouts

CANCELS = 1_000
FAULTS = 10_000
DEAD_CALLS = 1_000
STREAMS = 1_000
DRIPS = 40
MOST_STEPS = 30
AT_ONCE = Retry(attempts=3, backoff_s=0.001, backoff_most_s=0.001)


async def _cancel_after(steps: int, work: Callable[[], Awaitable[object]]) -> None:
    async def run(scope: anyio.CancelScope) -> None:
        with scope:
            await work()

    scope = anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, scope)
        for _ in range(steps):
            await checkpoint()
        scope.cancel()


async def _next_in_s(backend: RemoteBackend) -> float:
    began = time.perf_counter()
    with anyio.fail_after(60):
        assert any(isinstance(event, Finish) for event in await events_of(backend))
    return time.perf_counter() - began


async def cancels(library: ModuleType) -> None:
    """Cancel requests of a client with one connection wherever that may be, beside others that wait for it."""
    chance, slowest = random.Random(1), 0.0
    async with (
        loopback(answering(ANSWER[:30], ANSWER[30:])) as server,
        library.AsyncClient(limits=library.Limits(max_connections=1)) as client,
    ):
        backend = backend_at(server, http_client=client)
        for number in range(CANCELS):
            async with anyio.create_task_group() as tasks:
                if number % 2:
                    tasks.start_soon(events_of, backend)
                tasks.start_soon(_cancel_after, chance.randrange(MOST_STEPS), lambda: events_of(backend))
            slowest = max(slowest, await _next_in_s(backend))
    print(f"{library.__name__}: {CANCELS} requests cancelled, each next one answered, the slowest in {slowest:.3f} s")
    assert slowest < 1


async def faults() -> None:
    """Break the line of every answer after something of it was shown."""
    memory = Memory(lambda number: streamed(delta('{"a": ') + delta("1"), breaks=True))
    backend = backend_at("http://far", http_client=memory.client)
    shown = 0
    async with memory.client, Client(backends={"far": backend}) as client:
        for _ in range(FAULTS):
            async with client.stream_structured("far/m", CONTRACT, prompt="say", retry=AT_ONCE) as run:
                shown += 1 if [item async for item in run] else 0
                assert isinstance(await run.outcome(), Disconnected)
    silent = len(memory.asked) - FAULTS
    print(f"{FAULTS} lines broken after something was shown ({shown} times): {silent} silent retries")
    assert shown == FAULTS
    assert silent == 0


async def dead() -> None:
    """Call a server that is not there."""
    memory = Memory(unreachable)
    backend = backend_at("http://far", http_client=memory.client)
    async with memory.client, Client(backends={"far": backend}) as client:
        for number in range(DEAD_CALLS):
            outcome = await client.generate_structured("far/m", CONTRACT, prompt="say", retry=AT_ONCE)
            assert isinstance(outcome, Unavailable)
            if number == 99:
                warm = len(memory.asked)
    rate = (len(memory.asked) - warm) / (DEAD_CALLS - 100)
    print(f"{DEAD_CALLS} calls of a dead server: {len(memory.asked)} requests, {rate:.3f} a call after the first 100")
    assert rate <= 1.2


async def drips() -> None:
    """Read from a server that never stops, and see how late the end of the time is noticed."""

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta('{"a": '))
        while True:
            await line.chunk(delta("1") if pauses else b": still here\n\n")
            await anyio.sleep(0.002)

    pauses, latest, limit_s = False, 0.0, 0.3
    async with (
        loopback(respond) as server,
        aclosing(backend_at(server)) as backend,
        Client(backends={"far": backend}) as client,
    ):
        for number in range(DRIPS):
            pauses = bool(number % 2)
            began = time.perf_counter()
            outcome = await client.generate_structured(
                "far/m", CONTRACT, prompt="say", timeouts=Timeouts(total_s=limit_s), retry=Retry(attempts=1)
            )
            assert outcome.name == "timed_out", outcome
            latest = max(latest, time.perf_counter() - began - limit_s)
    print(f"{DRIPS} calls of a dripping server: the latest ended {latest * 1_000:.0f} ms after its time")
    assert latest <= 0.25


async def streams() -> None:
    """Hold many answers open at once in one event loop, cancel as many, and see that nothing is left over."""
    everyone, is_mute = anyio.Event(), False

    async def respond(asked: Asked, line: Line) -> None:
        await line.head()
        await line.chunk(ANSWER[:40])
        if len(server.asked) % STREAMS == 0:
            everyone.set()
        if is_mute:
            await line.closed()
            return
        await everyone.wait()
        await line.chunk(ANSWER[40:])
        await line.end()

    async def follow(backend: RemoteBackend) -> None:
        nonlocal ended
        events = await events_of(backend)
        ended += any(isinstance(event, Finish) for event in events)

    async def follow_all(backend: RemoteBackend) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(STREAMS):
                tasks.start_soon(follow, backend)

    ended = 0
    async with loopback(respond) as server, aclosing(backend_at(server, connections=STREAMS)) as backend:
        began = time.perf_counter()
        await follow_all(backend)
        took = time.perf_counter() - began
        everyone, is_mute = anyio.Event(), True
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow_all, backend)
            await everyone.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(30):
            while server.open_now > IDLE_CONNECTIONS:
                await checkpoint()
        everyone, is_mute = anyio.Event(), False
        await follow_all(backend)
    print(f"{STREAMS} answers at once in {took:.1f} s, as many cancelled, then as many again: {ended} whole")
    assert ended == 2 * STREAMS


async def closing() -> None:
    """Leave answers early, and see when the server notices."""
    slowest = 0.0

    async def respond(asked: Asked, line: Line) -> None:
        nonlocal slowest
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()
        slowest = max(slowest, time.perf_counter() - left)
        seen.set()

    async with loopback(respond) as server, aclosing(backend_at(server)) as backend:
        for number in range(200):
            seen, left = anyio.Event(), 0.0
            with anyio.CancelScope() as scope:
                async with backend.open(request()) as stream:
                    await anext(aiter(stream))
                    left = time.perf_counter()
                    if number % 2:
                        scope.cancel()
                        await anext(aiter(stream))
            await seen.wait()
    print(f"200 answers left early: the server saw it in {slowest * 1_000:.1f} ms at most")
    assert slowest < 1


async def all_cancels() -> None:
    """Cancel requests with both libraries."""
    for library in (httpx, httpx2):
        await cancels(library)


PARTS = {
    "cancels": all_cancels,
    "dead": dead,
    "drips": drips,
    "streams": streams,
    "closing": closing,
    "faults": faults,
}


def main(names: list[str]) -> None:
    """Run parts, under both event loops."""
    for name in names or PARTS:
        for loop in ("asyncio", "trio"):
            print(f"{name}, {loop}: ", end="", flush=True)
            anyio.run(PARTS[name], backend=loop)


if __name__ == "__main__":
    main(sys.argv[1:])
