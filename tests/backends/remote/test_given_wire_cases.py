"""Streams and failures that were reported from the field, sent over a real line: how the call on each of them ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from backends.remote.given_calls import DONE, GOOD, PAY, PAYMENT, RST, STOP, Seen, ask, asking
from backends.remote.loopback import Asked, Line, Respond
from backends.remote.wire_script import Script, playing, whole
from client.ending_words import is_named, kind_of

from commitgate import Committed, Retry
from commitgate.backends.base import Sampling
from commitgate.errors import KeyConflictError
from commitgate.outcome import Invalid, TimedOut, Unavailable, Violated
from commitgate.preview import Preview, Reset
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

HALF: Script = [{"text": '{"amount":1'}, RST]
OTHER: Script = [{"text": '{"amount":2,"to":"eve"}'}, STOP, DONE]
FILE = Path(__file__).parents[2] / "client" / "given_cases.json"
GIVEN: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))["endings"]

ON_ANTHROPIC = {"prose-and-refusal", "overload-in-stream", "rate-limit-in-stream", "context-window"}
ON_RESPONSES = {"response-incomplete", "response-failed"}
NOT_ON_A_WIRE = {
    "connect-runs-out",  # nothing that listens on loopback can be made to do this
    "idle-runs-out",
    "pings-for-five-minutes",
    "endless-text",
}


def facts(seen: Seen) -> Mapping[str, object]:
    """Return what a call left behind, by the names that the given cases use."""
    outcome = seen.outcome
    return {
        "commits": seen.counted.runs,
        "requests": len(seen.server.asked),
        "rule_calls": seen.counted.rule_calls,
        "accept_state": outcome.receipt.is_accept_state,
        "warnings": list(outcome.receipt.warnings),
        "kind": kind_of(outcome),
        "value": outcome.value if isinstance(outcome, Committed) else None,
        "pointers": [each.pointer for each in outcome.failures] if isinstance(outcome, Invalid) else None,
        "position": outcome.position if isinstance(outcome, Violated) else None,
        "code": outcome.code if isinstance(outcome, Unavailable) else None,
    }


def dialect_of(name: str) -> str:
    if name in ON_ANTHROPIC:
        return "anthropic_messages"
    return "openai_responses" if name in ON_RESPONSES else "openai_chat"


ENDINGS = [case for case in GIVEN if case["name"] not in NOT_ON_A_WIRE]


@pytest.mark.parametrize("case", ENDINGS, ids=[case["name"] for case in ENDINGS])
async def test_stream_has_its_ending(case: dict[str, Any]) -> None:
    seen = await ask(
        playing(dialect_of(case["name"]), case["script"]),
        dialect=dialect_of(case["name"]),
        sampling=Sampling(max_tokens=case.get("max_tokens", 512)),
        retry=Retry(attempts=1),
    )
    wanted = dict(case["wanted"])
    assert is_named(seen.outcome, wanted.pop("word")), seen.outcome
    told = facts(seen)
    assert {name: told[name] for name in wanted} == wanted


async def test_server_that_never_stops_writing_is_left() -> None:
    left = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        piece = json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 500}}]}).encode()
        await line.chunk(b'data: {"choices":[{"index":0,"delta":{"content":"{\\"to\\":\\""}}]}\n\n')
        try:
            while True:
                await line.chunk(b"data: " + piece + b"\n\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            left.set()
            raise

    seen = await ask(respond)
    assert isinstance(seen.outcome, Violated)
    assert (seen.outcome.kind, left.is_set()) == ("limit", True)


ONCE: dict[str, object] = {"status": 503}


def after(*heads: Mapping[str, Any]) -> Respond:
    """Answer the first requests by heads alone, and further ones rightly."""
    waiting = list(heads)

    async def respond(asked: Asked, line: Line) -> None:
        if waiting:
            await whole(line, **waiting.pop(0))
        else:
            await playing("openai_chat", GOOD)(asked, line)

    return respond


async def test_key_goes_out_with_every_attempt_and_stays() -> None:
    seen = await ask(after(ONCE))
    assert isinstance(seen.outcome, Committed)
    first, second = seen.header("idempotency-key")
    assert first
    assert first == second
    assert first != "k"
    assert seen.header("x-retry-count") == ["0", "1"]
    assert seen.counted.runs == 1


async def test_calls_alike_have_keys_of_their_own() -> None:
    async with asking(playing("openai_chat", GOOD)) as (client, server):
        for _ in range(2):
            await client.generate_structured("far/m", PAY, prompt="pay")
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 2
    assert len({asked.body for asked in server.asked}) == 1


async def test_server_that_stays_down_is_asked_as_often_as_allowed() -> None:
    seen = await ask(after(ONCE, ONCE, ONCE, ONCE), retry=Retry(attempts=3, backoff_s=0.001))
    assert is_named(seen.outcome, "provider_error")
    assert len(seen.server.asked) == len(seen.outcome.receipt.tries) == 3


@pytest.mark.parametrize(
    ("headers", "least_s"),
    [
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "1"}, 1.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
    ],
    ids=["milliseconds before seconds", "seconds", "no number", "below zero"],
)
async def test_wait_is_at_least_what_the_server_asks_for(headers: dict[str, str], least_s: float) -> None:
    began = anyio.current_time()
    limits = Timeouts(total_s=8)
    seen = await ask(after({"status": 429, "headers": headers}), timeouts=limits, retry=Retry(backoff_s=0.001))
    assert isinstance(seen.outcome, Committed), seen.outcome
    assert len(seen.server.asked) == 2
    assert anyio.current_time() - began >= least_s


@pytest.mark.parametrize("is_date", [False, True], ids=["seconds", "date"])
async def test_wait_that_is_too_long_is_told_and_not_begun(is_date: bool) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=3_600), usegmt=True)
    seen = await ask(after({"status": 429, "headers": {"retry-after": date if is_date else "3600"}}))
    assert is_named(seen.outcome, "rate_limited")
    assert isinstance(seen.outcome, Unavailable)
    assert seen.outcome.retry_after_s is not None
    assert 3_500 < seen.outcome.retry_after_s <= 3_601
    assert len(seen.server.asked) == 1


async def test_wait_past_the_deadline_is_not_begun() -> None:
    busy = {"status": 503, "headers": {"retry-after": "30"}}
    seen = await ask(after(busy), timeouts=Timeouts(total_s=5))
    assert isinstance(seen.outcome, TimedOut)
    assert (seen.outcome.phase, len(seen.server.asked)) == ("total", 1)
    assert isinstance(seen.outcome.last, Unavailable)
    assert seen.outcome.last.status == 503


async def test_restart_is_announced_and_joins_no_texts() -> None:
    seen = await ask(playing("openai_chat", HALF, OTHER), retry=Retry(restarts=1))
    assert isinstance(seen.outcome, Committed)
    assert seen.outcome.value == {"amount": 2, "to": "eve"}
    assert len(set(seen.header("idempotency-key"))) == 1
    at = next(place for place, item in enumerate(seen.shown) if isinstance(item, Reset))
    assert [type(item) for item in seen.shown[:at]] == [Preview] * at
    assert at > 0
    later = [item for item in seen.shown[at + 1 :] if isinstance(item, Preview) and item.has_value]
    assert later
    assert all(item.value in ({}, {"amount": 2}) or "to" in str(item.value) for item in later)


async def test_nothing_is_asked_again_once_text_was_shown() -> None:
    seen = await ask(playing("openai_chat", HALF, GOOD), retry=Retry(attempts=5))
    assert is_named(seen.outcome, "connection_lost")
    assert (len(seen.server.asked), seen.counted.runs) == (1, 0)


async def test_nothing_is_asked_again_after_the_finish() -> None:
    seen = await ask(playing("openai_chat", [{"text": PAYMENT}, STOP, RST]), retry=Retry(restarts=1))
    assert isinstance(seen.outcome, Committed)
    assert (len(seen.server.asked), seen.counted.runs) == (1, 1)


async def test_server_that_works_on_the_key_is_asked_again_with_it() -> None:
    seen = await ask(after({"status": 409, "body": {"code": "idempotency_in_progress"}}))
    assert isinstance(seen.outcome, Committed)
    assert len(set(seen.header("idempotency-key"))) == 1
    assert len(seen.server.asked) == 2


async def test_key_that_the_server_knows_from_another_body_is_a_conflict() -> None:
    async with asking(after({"status": 422, "body": {"code": "idempotency_key_reused"}})) as (client, server):
        with pytest.raises(KeyConflictError):
            await client.generate_structured("far/m", PAY, prompt="pay")
    assert len(server.asked) == 1


async def test_messages_changed_during_the_wait_change_no_request() -> None:
    messages = [{"role": "user", "content": "first"}]

    async def respond(asked: Asked, line: Line) -> None:
        messages[0]["content"] = "second"
        messages.append({"role": "user", "content": "third"})
        await busy(asked, line)

    busy = after(ONCE)
    seen = await ask(respond, prompt=None, messages=messages)
    assert isinstance(seen.outcome, Committed)
    first, second = (asked.body for asked in seen.server.asked)
    assert first == second
    assert b"first" in first
    assert b"third" not in first


async def test_another_question_has_another_key() -> None:
    wrong = [{"text": '{"amount":"x","to":"b"}'}, STOP, DONE]
    seen = await ask(playing("openai_chat", wrong, GOOD), retry=Retry(reasks=1))
    assert isinstance(seen.outcome, Committed)
    assert len(set(seen.header("idempotency-key"))) == len(seen.server.asked) == 2


@pytest.mark.parametrize(
    ("script", "word"),
    [
        ([{"text": '{"amount":1'}, {"finish": "length"}, DONE], "truncated_length"),
        ([{"refusal": "no"}, STOP], "refused"),
    ],
    ids=["cut", "refused"],
)
async def test_cut_and_refused_answers_are_not_asked_for_again(script: Script, word: str) -> None:
    seen = await ask(playing("openai_chat", script, GOOD), retry=Retry(reasks=2, restarts=2, attempts=5))
    assert is_named(seen.outcome, word)
    assert (len(seen.server.asked), seen.counted.runs) == (1, 0)
