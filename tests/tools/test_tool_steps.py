"""Programs with a loop of their own ask for one turn and run one call at a time, with the same promises."""

from threading import get_ident
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator
from till import Till, answering, backend_of, calling, client_of

from commitgate.backends.base import Message
from commitgate.client import Client
from commitgate.errors import MisuseError
from commitgate.gate.rules import RuleViolation
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed, Invalid, Outcome
from commitgate.testing import ScriptedBackend
from commitgate.tools import CallPreview, CallResult, ToolCall, Turn, tool, turn_messages
from commitgate.worker_thread import LARGE_TEXT_BYTES

pytestmark = pytest.mark.anyio

SCRIPTS = [calling(("look_up", '{"name":"bob"}'), ("pay", '{"amount":1.0e0}')), answering("Done.")]


async def own_loop(client: Client, till: Till) -> tuple[str, list[CallResult]]:
    """Run tools as ``run_tools`` does."""
    tools, messages, results = till.both(), [Message("user", "pay bob")], list[CallResult]()
    number = 1
    while True:
        asked = await client.next_turn("scripted", tools=tools, messages=messages, operation_key="k", turn=number)
        turn = asked.unwrap()
        if not turn.calls:
            return turn.answer or "", results
        ended = [await client.run_call(call, tools=tools, operation_key="k") for call in turn.calls]
        results += ended
        messages += turn_messages(turn, ended, tools)
        number += 1


async def test_own_loop_does_what_the_ready_one_does() -> None:
    till, ledger, backend = Till(), MemoryLedger(), backend_of(*SCRIPTS)
    async with client_of(backend, ledger) as client:
        answer, results = await own_loop(client, till)
    assert answer == "Done."
    assert [each.result for each in results] == [{"name": "bob"}, "paid 1"]
    ready, second = Till(), backend_of(*SCRIPTS)
    async with client_of(second) as client:
        await client.run_tools("scripted", tools=ready.both(), prompt="pay bob", operation_key="k")
    assert [each.messages for each in backend.requests] == [each.messages for each in second.requests]


async def test_own_loop_resumes_without_asking_again() -> None:
    till, ledger, backend = Till(), MemoryLedger(), backend_of(*SCRIPTS)
    async with client_of(backend, ledger) as client:
        first = await own_loop(client, till)
    silent = ScriptedBackend([{"raise": "asked again"}])
    async with client_of(silent, ledger) as client:
        again = await own_loop(client, till)
    assert (again[0], [each.result for each in again[1]]) == (first[0], [each.result for each in first[1]])
    assert till.paid == [(1, "me")]
    assert silent.requests == []


async def test_turn_alone_runs_nothing() -> None:
    till = Till()
    async with client_of(backend_of(*SCRIPTS)) as client:
        asked: Outcome[Turn[str], None] = await client.next_turn(
            "scripted", tools=till.both(), prompt="pay", operation_key="k"
        )
    assert isinstance(asked, Committed)
    assert [call.name for call in asked.value.calls] == ["look_up", "pay"]
    assert (till.paid, till.looked_up) == ([], [])


async def test_turn_that_must_call_may_not_answer() -> None:
    async with client_of(backend_of(answering("no"))) as client:
        asked = await client.next_turn("scripted", tools=Till().both(), prompt="pay", operation_key="k", must_call=True)
    assert isinstance(asked, Invalid)


async def test_refused_call_stays_refused_under_its_key() -> None:
    refuses = [True]

    def rule(arguments: Any) -> RuleViolation | None:
        return RuleViolation("no", "not now") if refuses[0] else None

    till = Till()
    pay = till.tool(rules=[rule])
    async with client_of(backend_of(calling(("pay", '{"amount":1}')))) as client:
        turn = (await client.next_turn("scripted", tools=[pay], prompt="pay", operation_key="k")).unwrap()
        for _ in range(2):
            result = await client.run_call(turn.calls[0], tools=[pay], operation_key="k")
            assert isinstance(result.outcome, Invalid)
            assert result.is_told
            refuses[0] = False
    assert till.paid == []


async def test_call_of_another_tool_or_without_a_key_is_misuse() -> None:
    till = Till()
    async with client_of(backend_of(calling(("pay", '{"amount":1}')))) as client:
        turn = (await client.next_turn("scripted", tools=[till.tool()], prompt="p", operation_key="k")).unwrap()
        with pytest.raises(MisuseError, match="none of tools"):
            await client.run_call(turn.calls[0], tools=[till.reader()], operation_key="k")
        with pytest.raises(MisuseError, match="operation_key"):
            await client.run_call(turn.calls[0], tools=[till.tool()])


async def test_messages_need_the_results_of_all_calls() -> None:
    till = Till()
    tools = till.both()
    async with client_of(backend_of(*SCRIPTS)) as client:
        turn = (await client.next_turn("scripted", tools=tools, prompt="p", operation_key="k")).unwrap()
        results = [await client.run_call(call, tools=tools, operation_key="k") for call in turn.calls]
    for wrong in ([], results[:1], results[::-1]):
        with pytest.raises(MisuseError, match="one result for each call"):
            turn_messages(turn, wrong, tools)


async def test_ending_that_is_no_word_for_the_model_is_not_told() -> None:
    till = Till()
    pay = till.tool(authorize=lambda arguments, context: False)
    async with client_of(backend_of(calling(("pay", '{"amount":1}')))) as client:
        turn = (await client.next_turn("scripted", tools=[pay], prompt="p", operation_key="k")).unwrap()
        result = await client.run_call(turn.calls[0], tools=[pay], operation_key="k")
    assert not result.is_told
    with pytest.raises(MisuseError, match="end the run with it"):
        turn_messages(turn, [result], [pay])


async def test_large_arguments_are_judged_beside_the_event_loop() -> None:
    threads: list[int] = []

    def noted(text: str) -> str:
        threads.append(get_ident())
        return text

    @tool(effect="once")
    async def keep(text: Annotated[str, AfterValidator(noted)]) -> int:
        return len(text)

    backend = backend_of(calling(("keep", f'{{"text":"{"x" * LARGE_TEXT_BYTES}"}}')))
    async with client_of(backend) as client:
        turn = (await client.next_turn("scripted", tools=[keep], prompt="keep", operation_key="k")).unwrap()
        result = await client.run_call(turn.calls[0], tools=[keep], operation_key="k")
    assert isinstance(result.outcome, Committed)
    assert threads
    assert get_ident() not in threads


@pytest.mark.parametrize("turn", [0, -1, True, "1"])
@pytest.mark.parametrize("key", ["k", None])
async def test_turns_are_counted_from_one_with_and_without_a_key(turn: Any, key: str | None) -> None:
    backend = backend_of(answering())
    async with client_of(backend) as client:
        with pytest.raises(MisuseError, match="turn"):
            await client.next_turn("scripted", tools=[Till().reader()], prompt="x", operation_key=key, turn=turn)
    assert backend.requests == []


async def test_only_calls_are_run() -> None:
    preview: Any = CallPreview(name="look_up", arguments={"name": "bob"})
    till = Till()
    async with client_of(backend_of(answering())) as client:
        with pytest.raises(MisuseError, match="call must be a ToolCall"):
            await client.run_call(preview, tools=[till.reader()], operation_key="k")
        text: Any = '{"name":"bob"}'
        call = ToolCall(turn=1, ordinal=1, name="look_up", arguments_json=text)
        with pytest.raises(MisuseError, match="arguments_json must be bytes"):
            await client.run_call(call, tools=[till.reader()], operation_key="k")
    assert till.looked_up == []
