"""Servers that fail in ways that were reported from the field, and what is asked again, when and under which key."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest
from ending_words import WORDS, is_named
from scripts import GOOD, PAY, client_with

from commitgate.errors import KeyConflictError
from commitgate.outcome import Committed, Outcome, TimedOut, Unavailable
from commitgate.preview import Reset
from commitgate.retry import Retry
from commitgate.testing import ScriptedBackend, Step, fake_time
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

HALF: list[Step] = [{"text": '{"amount":1'}, {"close": "rst"}]
OTHER: list[Step] = [{"text": '{"amount":2,"to":"eve"}'}, {"finish": "stop"}, {"done": True}, {"close": "eof"}]
WRONG: list[Step] = [{"text": '{"amount":"x","to":"b"}'}, {"finish": "stop"}, {"done": True}]
BUSY = {"status": 503}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


async def ask(*responses: dict[str, Any], **options: Any) -> tuple[Outcome[Any, Any], ScriptedBackend]:
    backend = ScriptedBackend.of_responses(responses, answer=GOOD)
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", PAY, prompt="x", **options)
    assert outcome.receipt.attempts == len(backend.requests) == len(outcome.receipt.tries)
    assert backend.open_streams == 0
    return outcome, backend


def keys(backend: ScriptedBackend) -> list[str]:
    return [request.idempotency_key for request in backend.requests]


async def test_retry_goes_out_under_the_key_of_the_first_request() -> None:
    outcome, backend = await ask(BUSY, {})
    assert isinstance(outcome, Committed)
    first, second = keys(backend)
    assert first
    assert first == second
    assert [request.attempt for request in backend.requests] == [1, 2]


async def test_two_equal_calls_have_two_keys() -> None:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        for _ in range(2):
            await client.generate_structured("scripted", PAY, prompt="x")
    assert len(set(keys(backend))) == 2


async def test_server_that_stays_down_is_asked_as_often_as_allowed() -> None:
    outcome, backend = await ask(BUSY, retry=Retry(attempts=3))
    assert is_named(outcome, "provider_error")
    assert len(backend.requests) == 3
    assert [each.status for each in outcome.receipt.tries] == [503, 503, 503]


@pytest.mark.parametrize(
    ("headers", "least_s", "most_s"),
    [
        ({"retry-after": "2"}, 2.0, 2.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, 0.5),
        ({"retry-after": "nan"}, 0.0, 0.5),
        ({"retry-after": "-5"}, 0.0, 0.5),
    ],
)
async def test_wait_is_what_the_server_asks_for(headers: dict[str, str], least_s: float, most_s: float) -> None:
    outcome, backend = await ask({"status": 429, "headers": headers}, {})
    assert isinstance(outcome, Committed)
    first, second = backend.opened_at
    assert least_s <= second - first <= most_s


async def test_wait_can_be_a_date() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=3_600), usegmt=True)
    outcome, backend = await ask(
        {"status": 503, "headers": {"retry-after": date}},
        {},
        retry=Retry(retry_after_most_s=4_000),
        timeouts=Timeouts(total_s=5_000),
    )
    assert isinstance(outcome, Committed)
    first, second = backend.opened_at
    # The date is read against the real clock, which may be busy; the wait follows the fake one.
    assert 3_000 < second - first <= 3_610


async def test_wait_that_is_too_long_is_told_and_not_begun() -> None:
    outcome, backend = await ask({"status": 429, "headers": {"retry-after": "3600"}})
    assert isinstance(outcome, Unavailable)
    assert (outcome.kind, outcome.retry_after_s, len(backend.requests)) == ("rate_limit", 3600, 1)
    assert is_named(outcome, "rate_limited")


async def test_restart_is_announced_and_joins_no_texts() -> None:
    backend = ScriptedBackend(HALF, then=[OTHER])
    shown: list[str] = []
    async with (
        client_with(backend) as client,
        client.stream_structured("scripted", PAY, prompt="x", retry=Retry(restarts=1)) as run,
    ):
        async for item in run:
            shown.append(f"reset {item.attempt}" if isinstance(item, Reset) else str(item.value))
        outcome = await run.outcome()
    assert isinstance(outcome, Committed)
    assert outcome.value == {"amount": 2, "to": "eve"}
    at = shown.index("reset 2")
    assert at > 0
    assert len(set(keys(backend))) == 1
    assert not any("1" in each for each in shown[at + 1 :])


async def test_nothing_is_asked_again_once_text_was_shown() -> None:
    outcome, backend = await ask({"script": HALF}, {}, retry=Retry(attempts=5))
    assert is_named(outcome, "connection_lost")
    assert len(backend.requests) == 1


async def test_nothing_is_asked_again_after_the_finish() -> None:
    outcome, backend = await ask({"script": [*GOOD, {"close": "rst"}]}, {}, retry=Retry(restarts=1))
    assert isinstance(outcome, Committed)
    assert len(backend.requests) == 1


async def test_server_that_still_works_on_the_key_is_asked_again() -> None:
    outcome, backend = await ask({"status": 409, "body": {"code": "idempotency_in_progress"}}, {})
    assert isinstance(outcome, Committed)
    assert len(backend.requests) == 2
    assert len(set(keys(backend))) == 1


async def test_key_that_the_server_knows_from_another_body_is_a_conflict() -> None:
    backend = ScriptedBackend.of_responses([{"status": 422, "body": {"code": "idempotency_key_reused"}}, {}])
    async with client_with(backend) as client:
        with pytest.raises(KeyConflictError):
            await client.generate_structured("scripted", PAY, prompt="x")
    assert WORDS["idempotency_conflict"].ending is KeyConflictError
    assert len(backend.requests) == 1


async def test_messages_changed_during_the_wait_change_no_request() -> None:
    messages: list[dict[str, str]] = [{"role": "user", "content": "first"}]
    backend = ScriptedBackend.of_responses([{"status": 429, "headers": {"retry-after": "5"}}, {}], answer=GOOD)
    async with client_with(backend) as client, anyio.create_task_group() as tasks:

        async def change() -> None:
            await anyio.sleep(2)
            messages[0]["content"] = "second"
            messages.append({"role": "user", "content": "third"})

        tasks.start_soon(change)
        given: Any = messages
        outcome = await client.generate_structured("scripted", PAY, messages=given)
    assert isinstance(outcome, Committed)
    first, second = backend.requests
    assert first.messages == second.messages


async def test_another_question_has_another_key() -> None:
    outcome, backend = await ask({"script": WRONG}, {}, retry=Retry(reasks=1))
    assert isinstance(outcome, Committed)
    assert len(set(keys(backend))) == len(backend.requests) == 2
    assert len(backend.requests[1].messages) > len(backend.requests[0].messages)


async def test_cut_answer_is_not_asked_for_in_the_same_way() -> None:
    script: list[Step] = [{"text": '{"amount":1'}, {"finish": "length"}, {"done": True}]
    outcome, backend = await ask({"script": script}, retry=Retry(reasks=2))
    assert is_named(outcome, "truncated_length")
    assert len(backend.requests) == 1


async def test_usage_counts_every_request() -> None:
    script: list[Step] = [{"usage": [10, 3]}, *HALF]
    outcome, _ = await ask({"script": script}, {"script": [*GOOD, {"usage": [10, 7]}]}, retry=Retry(restarts=1))
    assert isinstance(outcome, Committed)
    assert (outcome.receipt.usage.input_tokens, outcome.receipt.usage.output_tokens) == (20, 10)


async def test_refusal_is_not_asked_again() -> None:
    outcome, backend = await ask({"script": [{"refusal": "no"}, {"finish": "stop"}]}, {}, retry=Retry(reasks=2))
    assert is_named(outcome, "refused")
    assert len(backend.requests) == 1


async def test_wait_past_the_deadline_is_not_begun() -> None:
    began = anyio.current_time()
    head = {"status": 503, "headers": {"retry-after": "30"}}
    outcome, backend = await ask(head, {}, timeouts=Timeouts(total_s=1))
    assert isinstance(outcome, TimedOut)
    assert is_named(outcome, "timeout")
    assert (outcome.phase, len(backend.requests)) == ("total", 1)
    assert anyio.current_time() - began <= 1.2
    assert isinstance(outcome.last, Unavailable)
    assert outcome.last.status == 503


async def test_all_calls_together_retry_within_one_budget() -> None:
    backend = ScriptedBackend.of_responses([BUSY])
    async with client_with(backend) as client:
        for _ in range(50):
            await client.generate_structured("scripted", PAY, prompt="x")
        once_empty = len(backend.requests)
        for _ in range(50):
            await client.generate_structured("scripted", PAY, prompt="x")
    assert once_empty <= 50 + 10 + 5
    assert len(backend.requests) - once_empty <= 50 * 1.2
