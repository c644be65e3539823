"""What a reader holds of an answer is bounded, whatever a server calls its parts and however many there are."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from commitgate.backends.base import Fault, StreamEvent
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.fields import MAX_NAME_CHARACTERS
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.wire.response import ResponseReader

LONG = "x" * 500_000
SSE = {"content-type": "text/event-stream"}
Given = Callable[[int], dict[str, Any]]


def chat_call(**call: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


def item(**members: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "item": members}


def block(at: int, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": at, "content_block": {"type": "tool_use", "name": "f", **members}}


def step(at: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"event_type": "step.start", "index": at, "step": {"type": kind, "name": "f", **members}}


def say(kind: str, **members: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **members}


GIVEN: dict[str, tuple[str, Given]] = {
    "ids of calls without a number": ("vllm_chat", lambda at: chat_call(id=f"{at}{LONG}", function={"name": "f"})),
    "ids of calls with a number": ("vllm_chat", lambda at: chat_call(index=at, id=f"{at}{LONG}")),
    "names of counts": ("anthropic_messages", lambda at: {"type": "message_delta", "usage": {f"{at}{LONG}": 1}}),
    "ids of blocks": ("anthropic_messages", lambda at: block(at, id=f"{at}{LONG}")),
    "arguments in starts of blocks": ("anthropic_messages", lambda at: block(at, input={"a": f"{at}{LONG}"})),
    "types of steps": ("gemini_interactions", lambda at: step(at, f"{at}{LONG}")),
    "arguments of open steps": (
        "gemini_interactions",
        lambda at: step(at, "function_call", arguments={"a": f"{at}{LONG}"}),
    ),
    "names of parts": ("openai_responses", lambda at: say("output_text.delta", item_id=f"{at}{LONG}", delta="a")),
    "ids of comments": ("openai_responses", lambda at: item(type="message", phase="commentary", id=f"{at}{LONG}")),
    "ids of calls": ("openai_responses", lambda at: item(type="function_call", name="f", call_id=f"{at}{LONG}")),
}


def fed(name: str, given: Given, *, times: int) -> tuple[ResponseReader, list[StreamEvent]]:
    """Return a reader that read so many events, and what the last of them meant."""
    response = ResponseReader(DIALECTS[name]().reader(Expected(offers_tools=True)), 200, SSE, "sse", 0.0)
    events: list[StreamEvent] = []
    for at in range(times):
        events = response.feed(b"data: %s\n\n" % json.dumps(given(at)).encode()) or events
    return response, events


@pytest.mark.parametrize("case", GIVEN)
def test_no_more_is_held_than_an_answer_may_hold(case: str) -> None:
    name, given = GIVEN[case]
    tracemalloc.start()
    try:
        response, _ = fed(name, given, times=12)
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del response
    assert held_bytes < 2_500_000


@pytest.mark.parametrize("characters", [MAX_NAME_CHARACTERS, MAX_NAME_CHARACTERS + 1])
def test_name_of_a_part_has_a_limit(characters: int) -> None:
    response, events = fed(
        "openai_responses", lambda _: say("output_text.delta", item_id="x" * characters, delta="a"), times=1
    )
    assert response.is_over == (characters > MAX_NAME_CHARACTERS)
    assert [event.code for event in events if isinstance(event, Fault)] == ["name_too_long"] * response.is_over


@pytest.mark.parametrize("kind", ["output_text", "refusal"])
def test_response_that_tells_more_than_its_end_could_repeat_is_a_fault(kind: str) -> None:
    _, events = fed("openai_responses", lambda _: say(f"{kind}.delta", item_id="a", delta=LONG), times=18)
    (fault,) = events
    assert isinstance(fault, Fault)
    assert fault.code == "output_too_long"
