"""Streams of tool calls that were reported from the field: which tools run on them, and how the run ends."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import anyio
import pytest
from till import CALLS, DONE, STOP, Script, Till, answering, client_of, piece

from commitgate.backends.base import Sampling
from commitgate.effect import EffectContext
from commitgate.outcome import (
    Committed,
    Disconnected,
    Filtered,
    Invalid,
    NeedsApproval,
    Outcome,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
)
from commitgate.retry import Retry
from commitgate.testing import Chunking, ScriptedBackend, Step, fake_time
from commitgate.timeouts import Timeouts
from commitgate.tools import call_key, tool

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


EOF: Step = {"close": "eof"}
PAID = '{"amount":100}'


@dataclass
class Case:
    """Hold one stream.

    Attributes:
        script: what the server sends.
        ending: how the run ends.
        paid: what was paid.
        facts: attributes that the ending has.
        codes: codes and places of its failures.
        options: how the run is made.
    """

    script: Script
    ending: type[object]
    paid: list[tuple[int, str]] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)
    codes: list[tuple[str, str]] | None = None
    options: dict[str, Any] = field(default_factory=dict)


def one(args: str, *rest: Step, name: str = "pay") -> Script:
    return [piece(0, args, name=name, id="c1"), *rest]


PARALLEL = [piece(0, '{"amount":5}', name="pay", id="c1"), piece(1, '{"amount":7', name="pay", id="c2")]
FULL = one('{"amount":1}', {"event": {"usage": {"completion_tokens": 16}}}, CALLS, DONE, EOF)

CASES = {
    # A stream that ends inside a number: the number could go on, and the call is not whole.
    "cut in a number": Case(one('{"amount": 1', EOF), Disconnected),
    # Whole arguments prove nothing: another call, or a refusal, may have followed.
    "ends after whole arguments": Case(one(PAID, EOF), Disconnected, facts={"kind": "ended"}),
    "cut by the limit after whole arguments": Case(
        one(PAID, {"finish": "length"}, DONE, EOF), Truncated, facts={"kind": "max_tokens"}
    ),
    "whole": Case([*one('{"amount":1'), piece(0, "00}"), CALLS, DONE, EOF], Committed, paid=[(100, "me")]),
    # A turn is one: the first call of it is not run where the second was cut.
    "second of two is cut": Case([*PARALLEL, {"finish": "max_tokens"}, DONE, EOF], Truncated),
    "refused after a whole call": Case(
        one(
            '{"amount":5}', {"event": {"type": "content_block_stop", "index": 0}}, {"wait_s": 1}, {"finish": "refusal"}
        ),
        Refused,
    ),
    "two calls on one index": Case(
        [*one('{"amount":1}'), piece(0, '{"amount":2}', name="pay", id="c2"), CALLS, DONE, EOF],
        Unavailable,
        facts={"kind": "protocol", "code": "id_changed_on_index"},
    ),
    "name in two pieces": Case(
        [*one("", name="pa"), piece(0, '{"amount":1}', name="y"), CALLS, DONE, EOF], Committed, paid=[(1, "me")]
    ),
    "name sent again": Case(
        [*one('{"amount"'), piece(0, ":1}", name="pay", id="c1"), CALLS, DONE, EOF], Committed, paid=[(1, "me")]
    ),
    # The server may have turned a cut into a finish: it says that its limit was reached.
    "whole, with as many tokens as the limit": Case(
        FULL, Committed, paid=[(1, "me")], options={"sampling": Sampling(max_tokens=16)}
    ),
    "whole, with as many tokens as the limit, and strict": Case(
        FULL, Truncated, options={"sampling": Sampling(max_tokens=16), "strict_limit": True}
    ),
    "tool that does not exist": Case(
        one("{}", CALLS, DONE, EOF, name="rm_rf"), Invalid, codes=[("unknown_tool", "/calls/0/name")]
    ),
    "argument of another type": Case(
        one('{"amount":"ten"}', CALLS, DONE, EOF), Invalid, codes=[("type", "/calls/0/arguments/amount")]
    ),
    # JavaScript would make 9007199254740992 of it.
    "number that no double holds": Case(
        one('{"amount":9007199254740993}', CALLS, DONE, EOF), Committed, paid=[(9007199254740993, "me")]
    ),
    # What answers in place of a call is handed over once, whole, and is no call.
    "words in place of a call": Case([{"prose": '{"amount":1'}, {"prose": "00}"}, STOP, DONE, EOF], Committed),
    "line that breaks in a call": Case(one('{"amount":5}', {"close": "rst"}), Disconnected, facts={"kind": "lost"}),
    "finish that nobody knows": Case(
        one(PAID, {"finish": "moon_phase"}, DONE, EOF), Unavailable, facts={"kind": "unknown_finish"}
    ),
    "filtered after a whole call": Case(one(PAID, {"finish": "content_filter"}, DONE, EOF), Filtered),
    "finish for calls that never came": Case(
        [{"prose": "I pay now."}, CALLS, DONE, EOF],
        Unavailable,
        facts={"kind": "protocol", "code": "calls_missing"},
    ),
    "call after the finish": Case(
        [*one(PAID, CALLS), piece(1, '{"amount":2}', name="pay", id="c2"), DONE, EOF],
        Unavailable,
        facts={"kind": "protocol"},
    ),
    "call that would close itself and make another": Case(
        one('{"amount":5}},{"name":"pay","arguments":{"amount":9}', CALLS, DONE, EOF),
        Unavailable,
        facts={"kind": "protocol", "code": "arguments_not_one_value"},
    ),
}


@pytest.mark.parametrize("chunking", ["whole", "bytes", Random(3)], ids=["whole", "bytes", "random"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_stream_runs_what_it_must_and_has_its_ending(case: Case, chunking: Chunking) -> None:
    till = Till()
    backend = ScriptedBackend(case.script, then=[answering()], chunking=chunking)
    retry = Retry(attempts=1)
    async with client_of(backend) as client:
        outcome: Outcome[Any, Any] = await client.run_tools(
            "scripted", tools=[till.tool()], prompt="pay", operation_key="k", **{"retry": retry, **case.options}
        )
    assert isinstance(outcome, case.ending), outcome
    assert not isinstance(outcome, Committed) or case.ending is Committed
    assert till.paid == case.paid
    assert {name: getattr(outcome, name) for name in case.facts} == case.facts
    if case.codes is not None:
        assert isinstance(outcome, Invalid)
        assert [(each.code, each.pointer) for each in outcome.failures] == case.codes
    if isinstance(outcome, Committed):
        assert [each.call.name for each in outcome.result] == ["pay"] * len(case.paid)
    assert backend.open_streams == 0


async def test_warning_of_a_full_turn_is_in_its_receipt() -> None:
    till = Till()
    async with client_of(ScriptedBackend(FULL)) as client:
        turn = await client.next_turn(
            "scripted", tools=[till.tool()], prompt="pay", operation_key="k", sampling=Sampling(max_tokens=16)
        )
    assert isinstance(turn, Committed)
    assert turn.receipt.warnings == ("usage_equals_limit",)


@pytest.mark.parametrize("last", [answering(), [{"close": "eof"}]], ids=["answered", "broken off"])
async def test_warning_of_a_full_turn_is_told_of_the_whole_run(last: Script) -> None:
    backend = ScriptedBackend(FULL, then=[last])
    options: dict[str, Any] = {"sampling": Sampling(max_tokens=16), "retry": Retry(attempts=1)}
    async with client_of(backend) as client:
        outcome = await client.run_tools("scripted", tools=[Till().tool()], prompt="pay", operation_key="k", **options)
    assert outcome.receipt.warnings == ("usage_equals_limit",)
    assert len(backend.requests) == 2


async def test_cut_turn_is_not_asked_for_again() -> None:
    backend = ScriptedBackend(one('{"amount":5', {"finish": "length"}))
    async with client_of(backend) as client:
        outcome = await client.run_tools("scripted", tools=[Till().tool()], prompt="pay", operation_key="k")
    assert isinstance(outcome, Truncated)
    assert len(backend.requests) == 1


async def test_call_of_a_dropped_attempt_is_not_joined_to_the_next() -> None:
    till = Till()
    broken = [piece(0, '{"amount":5', name="pay", id="c1"), {"usage": [1, 2]}, {"close": "rst"}]
    whole = [{"text": '{"answer":"nothing to pay"}'}, {"usage": [3, 4]}, STOP, DONE]
    backend = ScriptedBackend(broken, then=[whole])
    shown: list[object] = []
    async with (
        client_of(backend) as client,
        client.stream_tools(
            "scripted", tools=[till.tool()], prompt="pay", operation_key="k", retry=Retry(restarts=1)
        ) as run,
    ):
        async for item in run:
            shown.append(item)
        outcome = await run.outcome()
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.result, till.paid) == ("nothing to pay", (), [])
    assert (outcome.receipt.attempts, outcome.receipt.usage.output_tokens) == (2, 6)
    assert any(getattr(item, "attempt", None) == 2 for item in shown)


@pytest.mark.parametrize("length", range(0, 90, 3))
async def test_turn_that_ends_anywhere_before_its_finish_runs_nothing(length: int) -> None:
    till = Till()
    text = '{"calls":[{"name":"pay","arguments":{"amount":5}},{"name":"pay","arguments":{"amount":7}}]}'
    backend = ScriptedBackend([{"text": text[:length]} if length else {"ping": True}])
    async with client_of(backend) as client:
        outcome = await client.run_tools(
            "scripted", tools=[till.tool()], prompt="pay", operation_key="k", retry=Retry(attempts=1)
        )
    assert isinstance(outcome, Disconnected)
    assert till.paid == []


async def test_run_has_one_limit_on_its_time() -> None:
    till = Till()
    slow = [{"wait_s": 40.0}, piece(0, '{"amount":1}', name="pay"), CALLS]
    limits = Timeouts(total_s=100.0, progress_s=None, idle_s=None, first_event_s=None)
    async with client_of(ScriptedBackend(slow)) as client:  # type: ignore[arg-type] # a script
        outcome = await client.run_tools(
            "scripted", tools=[till.tool()], prompt="pay", operation_key="k", timeouts=limits
        )
    assert isinstance(outcome, TimedOut)
    assert (outcome.phase, outcome.limit_s) == ("total", 100.0)
    assert till.paid == [(1, "me"), (1, "me")]


async def test_person_who_allows_a_call_has_the_time_of_a_whole_run() -> None:
    till = Till()

    async def pay(amount: int, context: EffectContext) -> int:
        await anyio.sleep(20)
        till.paid.append((amount, "me"))
        return amount

    late: Script = [{"wait_s": 95.0}, piece(0, '{"amount":1}', name="pay"), CALLS]
    limits = Timeouts(total_s=100.0, progress_s=None, idle_s=None, first_event_s=None)
    slow = tool(effect="once", approve=lambda arguments, context: True)(pay)
    async with client_of(ScriptedBackend(late)) as client:
        waits = await client.run_tools("scripted", tools=[slow], prompt="p", operation_key="k", timeouts=limits)
        assert isinstance(waits, NeedsApproval)
        assert isinstance(await client.approve(call_key("k", 1, 1), by="ann"), Committed)
    assert till.paid == [(1, "me")]
