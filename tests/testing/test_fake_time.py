"""Fake time jumps to the next timer when nothing else can happen, under both event loops."""

import time
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest

from commitgate.errors import MisuseError
from commitgate.testing import fake_time
from commitgate.testing.thread_waits import awaited_codes

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


async def test_long_sleeps_take_no_time_and_end_in_order() -> None:
    ended: list[tuple[str, float]] = []

    async def sleep(name: str, seconds: float) -> None:
        for _ in range(2):
            await anyio.sleep(seconds)
            ended.append((name, anyio.current_time()))

    began = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleep, "long", 3_000)
        tasks.start_soon(sleep, "short", 1_000)
    assert ended == [("short", 1_000), ("short", 2_000), ("long", 3_000), ("long", 6_000)]
    assert time.perf_counter() - began < 100


async def test_time_starts_at_zero_and_stands_still_while_tasks_run() -> None:
    assert anyio.current_time() == 0
    for _ in range(1_000):
        await anyio.lowlevel.checkpoint()
    assert anyio.current_time() == 0


async def test_deadlines_run_out_at_their_moment() -> None:
    with anyio.move_on_after(300) as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert anyio.current_time() == 300
    with pytest.raises(TimeoutError):
        with anyio.fail_after(60):
            await anyio.sleep(61)
    assert anyio.current_time() == 360


async def test_timer_that_lies_later_does_not_run_out_first() -> None:
    told = anyio.Event()

    async def tell() -> None:
        await anyio.sleep(1)
        told.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tell)
        with anyio.fail_after(2):
            await told.wait()
    assert anyio.current_time() == 1


@pytest.mark.parametrize("has_limiter", [False, True], ids=["default threads", "threads of their own"])
async def test_work_in_a_thread_takes_no_fake_time(has_limiter: bool) -> None:
    limiter = anyio.CapacityLimiter(1) if has_limiter else None
    with anyio.fail_after(1):
        await anyio.to_thread.run_sync(time.sleep, 0.05, limiter=limiter)
    assert anyio.current_time() == 0


async def test_thread_behind_an_asynchronous_generator_is_seen() -> None:
    async def numbers() -> Any:
        await anyio.to_thread.run_sync(time.sleep, 0.05, limiter=anyio.CapacityLimiter(1))
        yield 1

    with anyio.fail_after(1):
        assert [number async for number in numbers()] == [1]
    assert anyio.current_time() == 0


def test_thread_that_waits_for_a_timer_does_not_hang_for_ever() -> None:
    async def program() -> float:
        await anyio.to_thread.run_sync(lambda: anyio.from_thread.run(anyio.sleep, 5))
        return anyio.current_time()

    for name in ("asyncio", "trio"):
        backend, options = fake_time(cast(Any, name), thread_patience_s=0.02)
        assert anyio.run(program, backend=backend, backend_options=options) == 5


def test_executor_of_asyncio_takes_no_fake_time() -> None:
    import asyncio

    async def program() -> float:
        await asyncio.wait_for(asyncio.to_thread(time.sleep, 0.05), timeout=1)
        return asyncio.get_running_loop().time()

    backend, options = fake_time("asyncio")
    assert anyio.run(program, backend=backend, backend_options=options) == 0


def test_chain_of_awaits_ends_where_nothing_is_awaited() -> None:
    async def idle() -> None: ...

    coroutine = idle()
    assert list(awaited_codes(coroutine)) == [idle.__code__]
    coroutine.close()


@pytest.mark.parametrize(
    ("backend", "options"),
    [("curio", {}), ("asyncio", {"quiet_s": 0}), ("trio", {"thread_patience_s": float("nan")})],
)
def test_clock_that_cannot_be_is_refused(backend: Any, options: Any) -> None:
    with pytest.raises(MisuseError):
        fake_time(backend, **options)
