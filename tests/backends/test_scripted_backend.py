"""The scripted backend plays what is written, cut as asked."""

from random import Random
from typing import Any

import anyio
import pytest

from commitgate.backends.base import (
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    RefusalDelta,
    TextDelta,
    Usage,
)
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.testing import Chunking, ScriptedBackend, Step

pytestmark = pytest.mark.anyio

REQUEST = GenerationRequest(model="m", contract=Contract.of(True), messages=(Message("user", "x"),))


async def played(script: list[Step], chunking: Chunking = "whole") -> list[Event]:
    backend = ScriptedBackend(script, chunking=chunking)
    async with backend.open(REQUEST) as stream:
        assert (stream.identity.backend, stream.identity.model) == ("scripted", "m")
        assert backend.open_streams == 1
        events = [event async for event in stream]
    assert backend.open_streams == 0
    assert backend.requests == [REQUEST]
    return events


async def test_each_step_is_its_event() -> None:
    script: list[Step] = [
        {"text": "é", "legal_mass": 0.5, "forced": True, "tokens": 2},
        {"text": b"\xff"},
        {"refusal": "no"},
        {"usage": [1, 2]},
        {"finish": "length", "native": "max_tokens"},
        {"finish": "strange"},
        {"fault": "quota", "message": "m", "status": 402, "code": "c", "retry_after_s": 1.0},
        {"dead_end": "schema", "prefix_tokens": 3, "explanation": "e"},
    ]
    assert await played(script) == [
        TextDelta("é".encode(), 0.5, True, 2),
        TextDelta(b"\xff"),
        RefusalDelta("no"),
        Usage(1, 2),
        Finish(FinishReason.LENGTH, "max_tokens"),
        Finish(FinishReason.UNKNOWN, "strange"),
        Fault("quota", "m", 402, "c", 1.0),
        DeadEndReached("schema", 3, "e"),
    ]


@pytest.mark.parametrize("chunking", ["whole", "bytes", 1, 3, 100, Random(1)])
async def test_chunking_changes_no_byte(chunking: Chunking) -> None:
    text = "häßlich und lang genug".encode()
    pieces = [event.data for event in await played([{"text": text}], chunking) if isinstance(event, TextDelta)]
    assert b"".join(pieces) == text
    assert all(pieces)
    if chunking in ("bytes", 1):
        assert all(len(piece) == 1 for piece in pieces)


@pytest.mark.parametrize("word", ["eof", "fin", "rst"])
async def test_nothing_is_played_after_close(word: str) -> None:
    events = await played([{"text": "a"}, {"close": word}, {"text": "b"}])
    assert [event for event in events if isinstance(event, TextDelta)] == [TextDelta(b"a")]


async def test_wait_holds_the_stream_until_it_is_told() -> None:
    told, seen = anyio.Event(), list[Event]()
    backend = ScriptedBackend([{"text": "a"}, {"wait": told}, {"text": "b"}])

    async def read() -> None:
        async with backend.open(REQUEST) as stream:
            async for event in stream:
                seen.append(event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        assert len(seen) == 1
        told.set()
    assert len(seen) == 2


async def test_backend_can_break() -> None:
    with pytest.raises(OSError, match="gone"):
        await played([{"raise": OSError("gone")}])


@pytest.mark.parametrize("step", [{}, {"txet": "a"}, {"text": "a", "finish": "stop"}])
async def test_step_must_have_one_main_key(step: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        ScriptedBackend([step])


async def test_chunks_have_at_least_one_byte() -> None:
    with pytest.raises(MisuseError):
        ScriptedBackend([], chunking=0)
