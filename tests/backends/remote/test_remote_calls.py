"""Whole calls over a server: what is asked again, under which key, and how each ends."""

from __future__ import annotations

import json
from contextlib import aclosing

import anyio
import pytest
from backends.remote.chat_words import ANSWER, CONTRACT, DONE, answering, backend_at, delta, finish
from backends.remote.loopback import Asked, Line, loopback
from backends.remote.memory_client import Memory, streamed, unreachable

from commitgate import Client, Committed, Disconnected, Retry, RuleViolation, TimedOut, Unavailable
from commitgate.preview import Preview
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

AT_ONCE = Retry(attempts=3, backoff_s=0.001, backoff_most_s=0.001)
URL = "http://far"


async def test_call_is_answered_over_a_server() -> None:
    async with loopback(answering()) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            outcome = await client.generate_structured("far/m", CONTRACT, prompt="say")
        assert isinstance(outcome, Committed)
        assert outcome.value == {"a": 1}
        assert (outcome.receipt.backend, outcome.receipt.model) == ("openai_chat", "m")


async def test_retries_carry_the_same_key_and_body_and_count_themselves() -> None:
    said = [{"role": "user", "content": "say"}]

    async def respond(asked: Asked, line: Line) -> None:
        said[0]["content"] = "changed meanwhile"
        if len(server.asked) < 3:
            await line.rst()
        else:
            await answering()(asked, line)

    async with loopback(respond) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            outcome = await client.generate_structured("far/m", CONTRACT, messages=said, retry=AT_ONCE)
        assert isinstance(outcome, Committed)
        assert [asked.headers["x-retry-count"] for asked in server.asked] == ["0", "1", "2"]
        assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
        assert len({asked.body for asked in server.asked}) == 1
        assert json.loads(server.asked[0].body)["messages"] == [{"role": "user", "content": "say"}]


def is_one(value: object) -> RuleViolation | None:
    return None if value == {"a": 1} else RuleViolation("not_one", "a must be 1", pointer="/a")


async def test_another_question_carries_another_key() -> None:
    answers = [delta('{"a": 2}') + finish() + DONE, ANSWER]

    async def respond(asked: Asked, line: Line) -> None:
        await answering(answers[len(server.asked) - 1])(asked, line)

    async with loopback(respond) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            outcome = await client.generate_structured(
                "far/m", CONTRACT, prompt="say", rules=[is_one], retry=Retry(reasks=1)
            )
        assert isinstance(outcome, Committed), outcome
        first, second = server.asked
        assert first.headers["idempotency-key"] != second.headers["idempotency-key"]
        assert first.body != second.body


async def test_dead_server_is_not_asked_much_more_often_than_it_is_called() -> None:
    memory = Memory(unreachable)
    backend = backend_at(URL, http_client=memory.client)
    calls = 200
    async with memory.client, Client(backends={"far": backend}) as client:
        outcomes = [
            await client.generate_structured("far/m", CONTRACT, prompt="say", retry=AT_ONCE) for _ in range(calls)
        ]
    assert all(isinstance(each, Unavailable) and each.kind == "unreachable" for each in outcomes)
    # Ten retries are had at first; after that there is one for ten calls.
    assert calls <= len(memory.asked) <= calls * 1.1 + 10


async def test_nothing_is_asked_again_in_silence_once_something_was_shown() -> None:
    memory = Memory(lambda number: streamed(delta('{"a": ') + delta("1"), breaks=True))
    backend = backend_at(URL, http_client=memory.client)
    calls = 100
    async with memory.client, Client(backends={"far": backend}) as client:
        for _ in range(calls):
            async with client.stream_structured("far/m", CONTRACT, prompt="say", retry=AT_ONCE) as run:
                shown = [item async for item in run]
                outcome = await run.outcome()
            assert isinstance(outcome, Disconnected)
            assert all(isinstance(item, Preview) for item in shown)
            assert shown
    assert len(memory.asked) == calls


async def test_server_that_drips_ends_with_the_calls_time() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta('{"a": '))
        while True:
            await line.chunk(delta("1"))
            await anyio.sleep(0.01)

    async with loopback(respond) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            with anyio.fail_after(10):
                outcome = await client.generate_structured(
                    "far/m", CONTRACT, prompt="say", timeouts=Timeouts(total_s=0.3)
                )
        # Whatever keeps coming is progress to every other limit.
        assert isinstance(outcome, TimedOut)
        assert outcome.phase == "total"
        assert outcome.partial_text.startswith('{"a": 1')


async def test_signs_of_life_are_no_progress() -> None:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        while True:
            await line.chunk(b": still here\n\n")
            await anyio.sleep(0.005)

    async with loopback(respond) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            timeouts = Timeouts(progress_s=0.1, idle_s=5, total_s=5)
            outcome = await client.generate_structured(
                "far/m", CONTRACT, prompt="say", timeouts=timeouts, retry=Retry(attempts=1)
            )
        assert isinstance(outcome, TimedOut)
        assert outcome.phase == "progress"


async def test_server_that_says_nothing_is_waited_for_until_the_first_event_is_due() -> None:
    async with loopback(lambda asked, line: line.closed()) as server, aclosing(backend_at(server)) as backend:
        async with Client(backends={"far": backend}) as client:
            outcome = await client.generate_structured(
                "far/m", CONTRACT, prompt="say", timeouts=Timeouts(first_event_s=0.05), retry=Retry(attempts=1)
            )
        assert isinstance(outcome, TimedOut)
        assert outcome.phase == "first_event"


async def test_run_is_cancelled_and_the_server_sees_it() -> None:
    left = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta('{"a": ') + delta("1"))
        await line.closed()
        left.set()

    async with (
        loopback(respond) as server,
        aclosing(backend_at(server)) as backend,
        Client(backends={"far": backend}) as client,
    ):
        async with client.stream_structured("far/m", CONTRACT, prompt="say") as run:
            await anext(aiter(run))
            run.cancel()
            outcome = await run.outcome()
        assert outcome.name == "cancelled"
        with anyio.fail_after(5):
            await left.wait()


async def test_many_streams_run_in_one_loop() -> None:
    count = 100
    everyone = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        await line.head()
        await line.chunk(ANSWER[:40])
        if len(server.asked) == count:
            everyone.set()
        await everyone.wait()
        await line.chunk(ANSWER[40:])
        await line.end()

    ended: list[str] = []

    async def call(client: Client) -> None:
        ended.append((await client.generate_structured("far/m", CONTRACT, prompt="say")).name)

    async with loopback(respond) as server, aclosing(backend_at(server, connections=count)) as backend:
        async with Client(backends={"far": backend}) as client, anyio.create_task_group() as tasks:
            for _ in range(count):
                tasks.start_soon(call, client)
        assert ended == ["committed"] * count
        assert server.opened == count
