"""A run shows each turn while it is written and each call as it begins and ends; nothing runs on what is shown."""

from typing import Any

import pytest
from till import CALLS, STOP, Till, answering, backend_of, calling, client_of, piece

from commitgate.client import Client
from commitgate.errors import MisuseError
from commitgate.outcome import Committed
from commitgate.preview import Reset
from commitgate.retry import Retry
from commitgate.testing import ScriptedBackend
from commitgate.tools import CallEnded, CallStarted, ToolItem, TurnPreview

pytestmark = pytest.mark.anyio


async def shown(backend: ScriptedBackend, till: Till, **options: Any) -> list[ToolItem]:
    options = {"tools": till.both(), "prompt": "pay", "operation_key": "k", **options}
    async with client_of(backend) as client, client.stream_tools("scripted", **options) as run:
        return [item async for item in run]


async def test_arguments_are_shown_while_they_grow() -> None:
    seen: list[tuple[str | None, object]] = []
    till = Till()
    script = [piece(0, name="pay"), piece(0, '{"amount":1'), piece(0, '00,"to":"b'), piece(0, 'ob"}'), CALLS]
    waits = [step for each in script for step in (each, {"wait_s": 0.0})]
    for item in await shown(ScriptedBackend(waits, then=[answering()], chunking="bytes"), till):
        if isinstance(item, TurnPreview):
            seen += [(call.name, call.arguments) for call in item.calls]
    assert ("pay", {"amount": 100, "to": "bo"}) in seen or ("pay", {"amount": 100, "to": "bob"}) in seen
    assert all(name in (None, "pay") for name, _ in seen)


async def test_calls_are_shown_as_they_begin_and_end_after_the_turn_is_whole() -> None:
    till = Till()
    backend = backend_of(calling(("look_up", '{"name":"bob"}'), ("pay", '{"amount":2}')), answering("Done."))
    items = await shown(backend, till)
    told = [item for item in items if isinstance(item, CallStarted | CallEnded)]
    assert [type(item) for item in told] == [CallStarted, CallEnded] * 2
    ended = [item.result for item in told if isinstance(item, CallEnded)]
    assert [(each.call.ordinal, each.result) for each in ended] == [(1, {"name": "bob"}), (2, "paid 2")]
    turns = [getattr(item, "turn", 1) for item in items]
    assert turns == sorted(turns)
    assert isinstance(items[-1], TurnPreview)
    assert items[-1].answer == "Done."


async def test_slow_consumer_misses_previews_and_no_call() -> None:
    till = Till()
    backend = backend_of(calling(*[("pay", f'{{"amount":{n}}}') for n in range(8)]), answering())
    async with (
        client_of(backend) as client,
        client.stream_tools("scripted", tools=[till.tool()], prompt="pay", operation_key="k") as run,
    ):
        outcome = await run.outcome()
        items = [item async for item in run]
    assert isinstance(outcome, Committed)
    assert len([item for item in items if isinstance(item, CallEnded)]) == 8
    assert len([item for item in items if isinstance(item, TurnPreview)]) <= 2


async def test_reset_takes_back_the_turn_that_is_asked_for_again() -> None:
    till = Till()
    broken = [piece(0, '{"amount":5}', name="pay"), {"wait_s": 0.0}, {"close": "rst"}]
    backend = backend_of(broken, calling(("pay", '{"amount":6}')), answering())
    items = await shown(backend, till, retry=Retry(restarts=1))
    assert [item.attempt for item in items if isinstance(item, Reset)] == [2]
    assert till.paid == [(6, "me")]


async def test_replayed_run_shows_its_calls() -> None:
    till = Till()
    backend = backend_of(calling(("pay", '{"amount":2}')), answering())
    options: dict[str, Any] = {"tools": [till.tool()], "prompt": "pay", "operation_key": "k"}
    async with client_of(backend) as client:
        await client.run_tools("scripted", **options)
        async with client.stream_tools("scripted", **options) as run:
            items = [item async for item in run]
    assert [type(item) for item in items] == [CallStarted, CallEnded]
    assert till.paid == [(2, "me")]


async def test_preview_of_an_answer_that_is_written_shows_it() -> None:
    script = [{"text": '{"answer":"Do'}, {"wait_s": 0.0}, {"text": 'ne."}'}, STOP]
    items = await shown(ScriptedBackend(script), Till())
    answers = [item.answer for item in items if isinstance(item, TurnPreview)]
    assert answers[-1] == "Done."
    assert all(item.calls == () for item in items if isinstance(item, TurnPreview))


async def test_run_is_entered_once_and_before_it_is_used() -> None:
    async with client_of(backend_of(answering())) as client:
        run = client.stream_tools("scripted", tools=Till().both(), prompt="x", operation_key="k")
        with pytest.raises(MisuseError, match="enter the run first"):
            await run.outcome()
        with pytest.raises(MisuseError, match="enter the run first"):
            await anext(run)
        async with run:
            await run.outcome()
        with pytest.raises(MisuseError, match="entered once"):
            await run.__aenter__()


async def test_client_is_entered_before_a_run_is_made() -> None:
    client = Client(backends={"scripted": backend_of(answering())})
    with pytest.raises(MisuseError, match="enter the client first"):
        client.stream_tools("scripted", tools=Till().both(), prompt="x", operation_key="k")
    with pytest.raises(MisuseError, match="enter the client first"):
        await client.run_tools("scripted", tools=Till().both(), prompt="x", operation_key="k")
