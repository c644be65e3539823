"""Whatever JSON a server sends, a reader gives events or says that it is no such format, and nothing else happens."""

import json
from typing import Any

import pytest
from backends.dialects.native_streams import (
    completed,
    escaped,
    event,
    gemini,
    interaction,
    llama,
    ollama,
    step,
    tgi,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import Fault, Finish, StreamEvent
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.wire.wire_event import WireFaultError

KNOWN: dict[str, list[Any]] = {
    "gemini": [
        gemini({"text": "a"}, {"functionCall": {"name": "f", "args": {"n": 1}}}, finish="STOP"),
        gemini({"functionCall": {"name": "f", "willContinue": True, "partialArgs": [{"jsonPath": "$.a[0]"}]}}),
        gemini({"text": "b", "thought": True}, usageMetadata={"promptTokenCount": 1}),
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"error": {"code": 500}},
    ],
    "gemini_interactions": [
        *(json.loads(each.split(b"data: ")[1]) for each in interaction()),
        step("start", 2, step={"type": "function_call", "name": "f", "arguments": {"n": 1}}),
        step("delta", 2, delta={"type": "arguments_delta", "arguments": "{"}),
        completed("requires_action", usage={"total_output_tokens": 1}),
        {"event_type": "error", "error": {"code": "internal"}},
    ],
    "ollama_chat": [
        ollama("a", message={"thinking": "b"}),
        ollama(message={"tool_calls": [{"id": "i", "function": {"name": "f", "arguments": {"n": 1}}}]}),
        ollama(done=True, done_reason="stop", eval_count=1),
        {"error": "gone"},
    ],
    "tgi_generate": [
        tgi("a"),
        tgi("</s>", special=True, generated_text="a", details={"finish_reason": "length", "generated_tokens": 1}),
        {"error": "gone", "error_type": "generation"},
    ],
    "llamacpp_completion": [
        llama("a"),
        llama("", stop=True, stop_type="eos", truncated=False, generation_settings={"grammar": ""}),
        {"error": {"code": 500}},
    ],
}
NAMES = sorted(KNOWN)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "a", "STOP", "$.a", "\ud83e", "model_output"]),
    st.sampled_from(["[]", "{}", "[{}]", "[[]]", '{"text": "a"}']).map(json.loads),
)


@st.composite
def mutated(draw: st.DrawFn, name: str) -> Any:
    """Draw a known event with some of its parts replaced, taken away or added to."""
    value = json.loads(json.dumps(draw(st.sampled_from(KNOWN[name]))))
    for _ in range(draw(st.integers(0, 3))):
        holder: Any = value
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and draw(st.booleans()):
                holder = holder[key]
                continue
            if draw(st.integers(0, 3)) == 0 and isinstance(holder, dict):
                del holder[key]
            else:
                holder[key] = draw(JUNK)
            break
    return value


def answer_of(name: str, values: list[Any]) -> list[StreamEvent] | None:
    """Return what a stream says up to its first fault; None where it is none of the format."""
    reader = DIALECTS[name]().reader(Expected(offers_tools=True))
    found: list[StreamEvent] = []
    for value in values:
        try:
            found.extend(reader.read(event(escaped(value))))
        except WireFaultError:
            return None
        if any(isinstance(each, Fault) for each in found):
            return found
    found.extend(reader.close())
    if any(isinstance(each, Finish) for each in found):
        assert reader.is_terminal
    return found


@pytest.mark.parametrize("name", NAMES)
def test_known_events_are_read(name: str) -> None:
    for value in KNOWN[name]:
        reader = DIALECTS[name]().reader(Expected(offers_tools=True))
        if value.get("delta", {}).get("type") != "arguments_delta" and "partialArgs" not in str(value):
            assert isinstance(list(reader.read(event(escaped(value)))), list)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_event_breaks_a_reader(name: str, data: st.DataObject) -> None:
    answer_of(name, data.draw(st.lists(mutated(name), min_size=1, max_size=4)))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_whole_body_breaks_a_reader(name: str, data: st.DataObject) -> None:
    reader = DIALECTS[name]().reader(Expected(offers_tools=True))
    whole = event(escaped(data.draw(mutated(name))))
    try:
        found = list(reader.read_whole(whole))
    except WireFaultError:
        return
    assert not any(isinstance(each, Finish) for each in found) or reader.is_terminal
