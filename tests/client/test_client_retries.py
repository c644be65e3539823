"""Ask again: which endings are, how often, under which keys, and what is said to whoever watched."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from client.scripts import GOOD, PAY, PAYMENT, STOP, Pay, Payments, client_with

from commitgate import (
    Client,
    Committed,
    Contract,
    Disconnected,
    Invalid,
    Preview,
    Refused,
    Reset,
    Retry,
    RetryBudget,
    RuleViolation,
    Sampling,
    TimedOut,
    Timeouts,
    Truncated,
    Unavailable,
)
from commitgate.errors import KeyConflictError, MisuseError
from commitgate.ledger import MemoryLedger
from commitgate.testing import ScriptedBackend, Step, fake_time


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, Mapping[str, Any]]:
    """Run each test on both event loops, in time that jumps over waits."""
    return fake_time(request.param)


pytestmark = pytest.mark.anyio

OVERLOAD: list[Step] = [{"fault": "overload"}]
CUT: list[Step] = [{"text": '{"amount":1'}]
BAD: list[Step] = [{"text": '{"amount":"x","to":"b"}'}, STOP]


def playing(*scripts: list[Step]) -> ScriptedBackend:
    first, *then = scripts
    return ScriptedBackend(first, then=then)


async def ask(backend: ScriptedBackend, **arguments: Any) -> Any:
    async with client_with(backend) as client:
        return await client.generate_structured("scripted", arguments.pop("schema", Pay), prompt="x", **arguments)


async def watch(backend: ScriptedBackend, **arguments: Any) -> tuple[list[tuple[str, int]], Any]:
    shown: list[tuple[str, int]] = []
    async with (
        client_with(backend) as client,
        client.stream_structured("scripted", Pay, prompt="x", **arguments) as run,
    ):
        async for item in run:
            entry = (type(item).__name__, item.attempt)
            if not shown or shown[-1] != entry:
                shown.append(entry)
        return shown, await run.outcome()


async def test_failure_that_passes_by_itself_is_asked_again_under_the_same_key() -> None:
    backend = playing(OVERLOAD, GOOD)
    outcome = await ask(backend)
    assert isinstance(outcome, Committed)
    first, second = backend.requests
    assert first.idempotency_key == second.idempotency_key != ""
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.messages is second.messages
    assert [(record.ending, record.detail) for record in outcome.receipt.tries] == [
        ("unavailable", "overload"),
        ("committed", None),
    ]
    assert outcome.receipt.attempts == 2


async def test_two_calls_alike_have_different_keys() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        for _ in range(2):
            await client.generate_structured("scripted", Pay, prompt="x")
    first, second = backend.requests
    assert first.idempotency_key != second.idempotency_key


async def test_key_gives_no_operation_key_away_and_comes_again_with_it() -> None:
    keys: list[str] = []
    for _ in range(2):
        backend = ScriptedBackend(GOOD)
        await ask(backend, operation_key="invoice-4711")
        keys.append(backend.requests[0].idempotency_key)
    assert keys[0] == keys[1]
    assert "4711" not in keys[0]


async def test_requests_are_used_up_and_each_is_on_record() -> None:
    backend = ScriptedBackend([{"fault": "server", "status": 503}])
    outcome = await ask(backend)
    assert isinstance(outcome, Unavailable)
    assert len(backend.requests) == outcome.receipt.attempts == 3
    assert [record.status for record in outcome.receipt.tries] == [503, 503, 503]
    assert outcome.receipt.tries[0].waited_s == 0.0 <= outcome.receipt.tries[1].waited_s <= 0.5


@pytest.mark.parametrize(
    "script",
    [
        [{"refusal": "no"}, STOP],
        [{"fault": "auth"}],
        [{"fault": "bad_request"}],
        [{"text": PAYMENT}, {"finish": "length"}],
        [{"text": "Sure!"}, STOP],
        [{"dead_end": "schema"}],
        BAD,
    ],
)
async def test_what_would_end_the_same_way_is_asked_once(script: list[Step]) -> None:
    backend = ScriptedBackend(script)
    await ask(backend)
    assert len(backend.requests) == 1


async def test_nothing_is_asked_again_once_text_came_unless_restarts_are_allowed() -> None:
    backend = playing(CUT, GOOD)
    outcome = await ask(backend)
    assert isinstance(outcome, Disconnected)
    assert len(backend.requests) == 1


async def test_restart_is_announced_and_joins_no_text() -> None:
    other = '{"amount":2,"to":"eve"}'
    backend = playing([*CUT, {"close": "rst"}], [{"text": other}, STOP])
    shown, outcome = await watch(backend, retry=Retry(restarts=1))
    assert shown == [("Preview", 1), ("Reset", 2), ("Preview", 2)]
    assert outcome.value == Pay(amount=2, to="eve")
    assert outcome.text == other
    assert backend.requests[0].idempotency_key == backend.requests[1].idempotency_key


async def test_nothing_is_taken_back_where_nothing_was_shown() -> None:
    shown, outcome = await watch(playing(OVERLOAD, GOOD))
    assert shown == [("Preview", 2)]
    assert isinstance(outcome, Committed)


async def test_finish_that_was_read_is_never_asked_for_again() -> None:
    backend = ScriptedBackend([*GOOD, {"close": "rst"}])
    payments = Payments()
    outcome = await ask(backend, retry=Retry(restarts=1), effect=payments, operation_key="k")
    assert outcome.receipt.warnings == ("transport_closed_after_terminal",)
    assert (len(backend.requests), len(payments.made)) == (1, 1)


async def test_wait_is_at_least_what_the_server_asks_for() -> None:
    backend = playing([{"fault": "rate_limit", "retry_after_s": 2.0}], GOOD)
    outcome = await ask(backend)
    assert 2.0 <= outcome.receipt.tries[1].waited_s <= 2.5


async def test_wait_past_the_deadline_is_not_begun() -> None:
    backend = ScriptedBackend([{"fault": "server", "status": 503, "retry_after_s": 30.0}])
    start = anyio.current_time()
    outcome = await ask(backend, timeouts=Timeouts(total_s=1.0))
    assert isinstance(outcome, TimedOut)
    assert outcome.phase == "total"
    assert isinstance(outcome.last, Unavailable)
    assert outcome.last.status == 503
    assert len(backend.requests) == 1
    assert anyio.current_time() - start < 1.0


async def test_longer_wait_than_allowed_gives_up_and_says_how_long() -> None:
    backend = ScriptedBackend([{"fault": "rate_limit", "retry_after_s": 3600.0}])
    outcome = await ask(backend)
    assert isinstance(outcome, Unavailable)
    assert (outcome.kind, outcome.retry_after_s, len(backend.requests)) == ("rate_limit", 3600.0, 1)


async def test_deadline_that_runs_out_in_a_later_attempt_keeps_the_ending_before_it() -> None:
    backend = playing(OVERLOAD, [{"wait": None}])
    outcome = await ask(backend, timeouts=Timeouts(total_s=5.0, first_event_s=None, idle_s=None, progress_s=None))
    assert isinstance(outcome, TimedOut)
    assert outcome.phase == "total"
    assert isinstance(outcome.last, Unavailable)
    assert len(backend.requests) == 2
    assert [(record.ending, record.detail) for record in outcome.receipt.tries] == [
        ("unavailable", "overload"),
        ("timed_out", "total"),
    ]


async def test_calls_of_one_client_share_a_budget() -> None:
    backend = ScriptedBackend(OVERLOAD)
    budget = RetryBudget(tokens=5, refill=0.1)
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger(), retry_budget=budget) as client:
        for _ in range(50):
            await client.generate_structured("scripted", Pay, prompt="x")
    assert 50 + 5 <= len(backend.requests) <= 50 + 5 + 5


async def test_reask_feeds_the_reasons_back_as_another_question() -> None:
    backend = playing(BAD, GOOD)
    shown, outcome = await watch(backend, retry=Retry(reasks=1))
    assert isinstance(outcome, Committed)
    assert shown == [("Preview", 1), ("Reset", 2), ("Preview", 2)]
    first, second = backend.requests
    assert second.messages[: len(first.messages)] == first.messages
    answer, reason = second.messages[len(first.messages) :]
    assert (answer.role, answer.content) == ("assistant", BAD[0]["text"])
    assert reason.role == "user"
    assert "/amount" in reason.content
    assert second.idempotency_key != first.idempotency_key


async def test_reasks_are_bounded_and_the_last_ending_stands() -> None:
    backend = ScriptedBackend(BAD)
    outcome = await ask(backend, retry=Retry(reasks=2))
    assert isinstance(outcome, Invalid)
    assert len(backend.requests) == 3
    assert [record.detail for record in outcome.receipt.tries] == ["schema"] * 3


async def test_answer_after_a_reask_is_judged_by_every_layer_anew() -> None:
    calls: list[int] = []

    def at_most_100(value: Pay) -> RuleViolation | None:
        calls.append(value.amount)
        return RuleViolation("too_much", "at most 100", pointer="/amount") if value.amount > 100 else None

    backend = playing([{"text": '{"amount":900,"to":"b"}'}, STOP], GOOD)
    outcome = await ask(backend, rules=[at_most_100], retry=Retry(reasks=1))
    assert isinstance(outcome, Committed)
    assert calls == [900, 100]
    assert "too_much" in backend.requests[1].messages[-1].content
    assert all(record.passed in (True, None) for record in outcome.receipt.layers)


async def test_denial_is_never_argued_with() -> None:
    backend = playing(GOOD, GOOD)
    outcome = await ask(backend, authorize=lambda value, context: False, retry=Retry(reasks=3))
    assert isinstance(outcome, Invalid)
    assert outcome.layer == "authorize"
    assert len(backend.requests) == 1


async def test_what_a_person_must_decide_about_is_named_by_its_digest() -> None:
    payments = Payments()
    waiting = await ask(
        ScriptedBackend(GOOD), approve=lambda value, context: "above 50", effect=payments, operation_key="k"
    )
    assert (waiting.name, waiting.reason, waiting.partial_text) == ("needs_approval", "above 50", PAYMENT)
    committed = await ask(ScriptedBackend(GOOD), operation_key="other")
    assert waiting.receipt.value_digest == committed.receipt.value_digest is not None
    assert payments.made == []


async def test_broken_rule_is_not_asked_about() -> None:
    def broken(value: Pay) -> None:
        raise ZeroDivisionError

    backend = playing(GOOD, GOOD)
    outcome = await ask(backend, rules=[broken], retry=Retry(reasks=3))
    assert outcome.failures[0].code == "rule_error"
    assert len(backend.requests) == 1


async def test_larger_limit_is_tried_once_where_it_is_asked_for() -> None:
    backend = playing([{"text": '{"amount":1'}, {"finish": "length"}], GOOD)
    outcome = await ask(backend, sampling=Sampling(max_tokens=16), retry=Retry(larger_max_tokens=64))
    assert isinstance(outcome, Committed)
    assert [request.sampling.max_tokens for request in backend.requests] == [16, 64]
    assert backend.requests[0].idempotency_key != backend.requests[1].idempotency_key
    again = playing([{"text": "{"}, {"finish": "length"}])
    assert isinstance(await ask(again, retry=Retry(larger_max_tokens=1024)), Truncated)
    assert len(again.requests) == 2


async def test_larger_limit_that_is_not_larger_is_misuse() -> None:
    with pytest.raises(MisuseError, match="larger_max_tokens"):
        await ask(ScriptedBackend(GOOD), sampling=Sampling(max_tokens=64), retry=Retry(larger_max_tokens=64))


async def test_tokens_of_all_requests_are_counted() -> None:
    backend = playing([BAD[0], {"usage": [10, 4]}, STOP], [*GOOD[:-1], {"usage": [20, 6]}, STOP])
    outcome = await ask(backend, retry=Retry(reasks=1))
    assert (outcome.receipt.usage.input_tokens, outcome.receipt.usage.output_tokens) == (30, 10)
    assert [record.usage.output_tokens for record in outcome.receipt.tries] == [4, 6]


async def test_key_that_the_server_knows_from_another_body_is_a_conflict() -> None:
    with pytest.raises(KeyConflictError):
        await ask(ScriptedBackend([{"fault": "conflict", "status": 422}]))


async def test_cancelling_during_a_wait_ends_the_call_at_once() -> None:
    backend = ScriptedBackend([{"fault": "rate_limit", "retry_after_s": 100.0}])
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        await anyio.sleep(1.0)  # in time that jumps: the call waits for its second request by then
        assert len(backend.requests) == 1
        start = anyio.current_time()
        run.cancel()
        assert (await run.outcome()).name == "cancelled"
        assert anyio.current_time() - start < 1.0


async def test_restart_after_items_gives_them_anew_after_a_reset() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    backend = playing([{"text": "[1,2,3"}], [{"text": "[4,5]"}, STOP])
    found: list[object] = []
    async with (
        client_with(backend) as client,
        client.stream_structured("scripted", numbers, prompt="x", retry=Retry(restarts=1)) as run,
    ):
        async for item in run.items():
            found.append(item.attempt if isinstance(item, Reset) else item.value)
    assert found[-3:] == [2, 4, 5]
    assert found[:-3] in ([], [1, 2], [1])  # what was not looked at in time is gone with its attempt


async def test_items_come_once_each_however_slow_the_reader_is() -> None:
    text = str(list(range(200)))
    backend = ScriptedBackend([{"text": text}, STOP], chunking=3)
    found: list[object] = []
    numbers = {"type": "array", "items": {"type": "integer"}}
    async with client_with(backend) as client, client.stream_structured("scripted", numbers, prompt="x") as run:
        async for item in run.items():
            assert not isinstance(item, Reset)
            found.append(item.value)
            await anyio.sleep(0.5)
        assert isinstance(await run.outcome(), Committed)
    assert found == list(range(200))


async def test_latest_shows_a_slow_reader_the_newest_and_takes_nothing_from_others() -> None:
    backend = ScriptedBackend([{"text": '{"amount":100,'}, {"text": '"to":"bob"}'}, STOP], chunking="bytes")
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        assert isinstance(await run.outcome(), Committed)
        for _ in range(2):
            last = [item async for item in run.latest()]
            assert [item.value for item in last if isinstance(item, Preview)] == [{"amount": 100, "to": "bob"}]


async def test_refusal_in_the_contracts_own_language() -> None:
    contract = Contract.of(PAY, refusal=True)
    backend = ScriptedBackend([{"text": '{"refusal": "I must not"}'}, STOP])
    payments = Payments()
    outcome = await ask(backend, schema=contract, effect=payments, operation_key="k", retry=Retry(reasks=2))
    assert isinstance(outcome, Refused)
    assert outcome.text == "I must not"
    assert len(backend.requests) == 1
    assert payments.made == []
    assert "refusal" in backend.requests[0].messages[0].content
    assert isinstance(await ask(ScriptedBackend(GOOD), schema=contract), Committed)
    assert "refusal" not in PAY["properties"]  # the schema itself knows of none
