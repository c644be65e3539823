"""What a model thinks is counted and told of, and is in no value, preview, partial text, ledger or record."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from commitgate import (
    Client,
    Committed,
    Outcome,
    Preview,
    Reasoning,
    Sampling,
    TimedOut,
    Timeouts,
    tool,
)
from commitgate.backends.base import (
    BackendIdentity,
    EventStream,
    Finish,
    FinishReason,
    GenerationRequest,
    Notice,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    Usage,
)
from commitgate.errors import MisuseError
from commitgate.run.receipt_json import dump_receipt, load_receipt
from commitgate.sync import Client as BlockingClient
from commitgate.testing import MemoryLedger, ScriptedBackend, Step, fake_time

pytestmark = pytest.mark.anyio

SECRET = "the caller owes 7 to somebody"
SCHEMA = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
THOUGHT: list[Step] = [
    {"reasoning": f"{SECRET}, so "},
    {"reasoning": b'{"amount":9} \xff'},
    {"text": '{"amount":7}'},
    {"usage": [10, 25, 20]},
    {"finish": "stop"},
]
THINKING = Reasoning(max_tokens=100)


class ListedBackend:
    """Answer with a list of events."""

    name = "listed"

    def __init__(self, events: Sequence[StreamEvent]) -> None:
        self.identity = BackendIdentity(backend="listed", model="")
        self._events = iter(events)

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncIterator[EventStream]:
        yield self

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self

    async def __anext__(self) -> StreamEvent:
        try:
            return next(self._events)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Free nothing."""


async def asked(script: Sequence[Step] = THOUGHT, **arguments: Any) -> tuple[Outcome[Any, Any], ScriptedBackend]:
    backend = ScriptedBackend(script)
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "scripted", SCHEMA, **{"prompt": "How much?", "reasoning": THINKING, **arguments}
        )
    return outcome, backend


async def test_thoughts_are_no_part_of_the_value() -> None:
    outcome, backend = await asked()
    assert outcome.unwrap() == {"amount": 7}
    assert isinstance(outcome, Committed)
    assert outcome.text == '{"amount":7}'
    assert backend.requests[0].reasoning == THINKING
    assert SECRET not in repr(outcome) + repr(backend.requests)


async def test_receipt_counts_thoughts_apart_and_survives_its_record() -> None:
    outcome, _ = await asked()
    assert outcome.receipt.usage == Usage(10, 25, 20)
    assert outcome.receipt.tries[0].usage == Usage(10, 25, 20)
    record = dump_receipt(outcome.receipt)
    assert load_receipt(record).usage == Usage(10, 25, 20)
    assert SECRET.encode() not in record


async def test_no_preview_holds_thoughts() -> None:
    backend = ScriptedBackend(THOUGHT, chunking=1)
    async with (
        Client(backends={"scripted": backend}) as client,
        client.stream_structured("scripted", SCHEMA, prompt="How much?", reasoning=THINKING) as run,
    ):
        seen = [item async for item in run]
        outcome = await run.outcome()
    assert outcome.unwrap() == {"amount": 7}
    assert all(isinstance(item, Preview) for item in seen)
    assert "owes" not in "".join(map(repr, seen))
    last = seen[-1]
    assert isinstance(last, Preview)
    assert last.value == {"amount": 7}


async def test_thoughts_that_were_cut_are_told_of() -> None:
    events: list[StreamEvent] = [
        ReasoningDelta(b"hm"),
        Notice("reasoning_cut"),
        TextDelta(b'{"amount":7}'),
        Finish(FinishReason.STOP, "accept"),
    ]
    async with Client(backends={"listed": ListedBackend(events)}) as client:
        outcome = await client.generate_structured("listed", SCHEMA, prompt="How much?", reasoning=THINKING)
    assert outcome.unwrap() == {"amount": 7}
    assert outcome.receipt.warnings == ("reasoning_cut",)


async def test_stream_that_ends_in_thoughts_is_no_answer() -> None:
    outcome, _ = await asked([{"reasoning": "hm"}, {"close": "eof"}], retry=None)
    assert outcome.name == "disconnected"
    outcome, _ = await asked([{"reasoning": '{"amount":7}'}, {"finish": "stop"}])
    assert not isinstance(outcome, Committed)


async def test_thought_behind_the_finish_is_an_event_too_many() -> None:
    outcome, _ = await asked([{"text": '{"amount":7}'}, {"finish": "stop"}, {"reasoning": "hm"}])
    assert not isinstance(outcome, Committed)


async def test_limit_of_the_answer_is_compared_without_thoughts() -> None:
    outcome, _ = await asked(sampling=Sampling(max_tokens=25))
    assert outcome.receipt.warnings == ()
    outcome, _ = await asked(sampling=Sampling(max_tokens=5))
    assert outcome.receipt.warnings == ("usage_equals_limit",)


@pytest.mark.parametrize("anyio_backend", [fake_time("asyncio"), fake_time("trio")], ids=["asyncio", "trio"])
async def test_thoughts_are_progress_and_the_total_bounds_them() -> None:
    slow: list[Step] = [{"repeat": {"reasoning": "hm", "every_s": 5, "for_s": 300}}, *THOUGHT]
    outcome, _ = await asked(slow, timeouts=Timeouts(idle_s=10, progress_s=20, total_s=None))
    assert outcome.unwrap() == {"amount": 7}
    outcome, _ = await asked(slow, timeouts=Timeouts(idle_s=10, progress_s=20, total_s=100))
    assert isinstance(outcome, TimedOut)
    assert outcome.phase == "total"


async def test_every_turn_of_tools_thinks() -> None:
    @tool(effect="read")
    async def look(order: str) -> str:
        """Look at an order."""
        return order

    call = [{"text": '{"calls":[{"name":"look","arguments":{"order":"7"}}]}'}, {"finish": "stop"}]
    answer = [{"reasoning": "hm"}, {"text": '{"answer":"It is 7."}'}, {"finish": "stop"}]
    backend = ScriptedBackend(call, then=[answer])
    async with Client(backends={"scripted": backend}) as client:
        outcome = await client.run_tools("scripted", tools=[look], prompt="Look at 7.", reasoning=THINKING)
    assert outcome.unwrap() == "It is 7."
    assert [request.reasoning for request in backend.requests] == [THINKING, THINKING]


def test_blocking_client_asks_for_thoughts_too() -> None:
    backend = ScriptedBackend(THOUGHT)
    with BlockingClient(backends={"scripted": backend}) as client:
        outcome = client.generate_structured("scripted", SCHEMA, prompt="How much?", reasoning=THINKING)
    assert outcome.unwrap() == {"amount": 7}
    assert backend.requests[0].reasoning == THINKING


async def test_question_with_other_thoughts_has_another_key() -> None:
    keys: list[str] = []
    for reasoning in (None, THINKING, Reasoning(max_tokens=5)):
        _, backend = await asked(operation_key="invoice-7", reasoning=reasoning)
        keys.append(backend.requests[0].idempotency_key)
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_tokens": -1},
        {"max_tokens": 1.0},
        {"max_tokens": True},
        {"max_tokens": 1, "end": ""},
        {"max_tokens": 1, "begin": ""},
        {"max_tokens": 1, "end": None},
        {"max_tokens": 1, "gap": None},
        {"max_tokens": 1, "end": "é" * 65},
        {"max_tokens": 1, "gap": "\n" * 129},
        {"max_tokens": 1, "begin": "x" * 129},
        {"max_tokens": 1, "end": "\ud800"},
    ],
)
async def test_reasoning_that_cannot_be_is_misuse(arguments: Any) -> None:
    with pytest.raises(MisuseError, match=r"Reasoning\."):
        Reasoning(**arguments)


async def test_marks_may_be_as_long_as_the_limit() -> None:
    made = Reasoning(max_tokens=0, end="é" * 64, begin="x" * 128, gap="")
    assert made.gap == ""


async def test_something_else_than_a_reasoning_is_misuse() -> None:
    with pytest.raises(MisuseError, match="reasoning must be a Reasoning, found int"):
        await asked(reasoning=512)
