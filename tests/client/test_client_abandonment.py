"""What becomes of a run that nobody follows any more, and what the page on cancelling says."""

import gc
import re
import threading
import warnings
from dataclasses import fields
from pathlib import Path

import anyio
import pytest
from client.scripts import GOOD, Pay, client_with
from guide import DOCS, blocks_of, run_blocks

from commitgate import Cancelled, Committed, Timeouts
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

PAGE = (DOCS / "cancellation.md").read_text(encoding="utf-8")


async def until_closed(backend: ScriptedBackend) -> None:
    with anyio.fail_after(20):
        while backend.open_streams:
            await anyio.wait_all_tasks_blocked()


@pytest.mark.parametrize("by_thread", [False, True])
async def test_dropped_run_is_ended_and_its_place_named(by_thread: bool) -> None:
    backend = ScriptedBackend([{"text": '{"a'}, {"wait": None}])
    async with client_with(backend) as client:
        run = await client.stream_structured("scripted", Pay, prompt="x").__aenter__()
        await anext(run)
        holder = [run]
        del run
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if by_thread:
                await anyio.to_thread.run_sync(holder.clear)
            else:
                holder.clear()
            gc.collect()
        told = [warning for warning in caught if issubclass(warning.category, ResourceWarning)]
        assert len(told) == 1
        assert f"{Path(__file__).name}:" in str(told[0].message)
        await until_closed(backend)


async def test_run_that_was_left_or_has_ended_warns_of_nothing() -> None:
    backend = ScriptedBackend(GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with client_with(backend) as client:
            async with client.stream_structured("scripted", Pay, prompt="x") as left:
                pass
            ended = await client.stream_structured("scripted", Pay, prompt="x").__aenter__()
            assert isinstance(await ended.outcome(), Committed)
            del left, ended
            gc.collect()


async def test_run_that_is_never_entered_asks_nothing_and_warns_of_nothing() -> None:
    backend = ScriptedBackend(GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with client_with(backend) as client:
            client.stream_structured("scripted", Pay, prompt="x")
            gc.collect()
    assert backend.requests == []


async def test_leaving_the_client_ends_every_run() -> None:
    backend = ScriptedBackend([{"text": '{"a'}, {"wait": None}])
    async with client_with(backend) as client:
        runs = [await client.stream_structured("scripted", Pay, prompt="x").__aenter__() for _ in range(2)]
        for run in runs:
            await anext(run)
    assert backend.open_streams == 0
    for run in runs:
        assert isinstance(await run.outcome(), Cancelled)


def test_run_dropped_after_its_loop_is_closed_harms_nothing() -> None:
    kept: list[object] = []

    async def leave_open() -> None:
        async with client_with(ScriptedBackend(GOOD)) as client:
            kept.append(await client.stream_structured("scripted", Pay, prompt="x").__aenter__())

    anyio.run(leave_open)
    dropping = threading.Thread(target=kept.clear)
    dropping.start()
    dropping.join()
    gc.collect()


def test_limits_of_the_page_are_those_of_the_code() -> None:
    told = re.findall(r"^\| `(\w+_s)` \| ([\d.]+) \|", PAGE, flags=re.MULTILINE)
    assert [(name, float(value)) for name, value in told] == [
        (entry.name, getattr(Timeouts(), entry.name)) for entry in fields(Timeouts)
    ]


async def test_block_of_the_page_runs() -> None:
    (block,) = blocks_of("cancellation.md")
    await run_blocks([block], "page")
