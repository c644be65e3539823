"""Thoughts come apart from the answer, are counted, and are asked for within what the server allows."""

from typing import Any

import pytest
from asgi_calls import SMALL, client_of, post
from chats import (
    CITY,
    LIMITS,
    STOP,
    USER,
    answer,
    data_of,
    function,
    json_schema,
    parsed,
    prepared,
    streamed,
    texts,
    whole,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from served_app import served

from commitgate import Reasoning
from commitgate.backends.base import ReasoningDelta, StreamEvent, TextDelta, Usage
from commitgate.errors import MisuseError
from commitgate.testing import ScriptedBackend
from commitgate_local.server.app import create_app
from commitgate_local.server.chat_reasoning import Effort
from commitgate_local.server.prepared_chats import PreparedChats
from commitgate_local.server.refusal import RequestRefused

ALLOWED = Reasoning(max_tokens=100, begin="<think>\n")
THOUGHT: list[Any] = [
    {"reasoning": "Warm, "},
    {"reasoning": "I think."},
    {"text": "It is warm."},
    {"usage": [7, 25, 20]},
    {"finish": "stop"},
]


def thoughts(data: bytes, cuts: Any = ()) -> list[StreamEvent]:
    return [ReasoningDelta(event.data) for event in texts(data, cuts) if isinstance(event, TextDelta)]


def test_whole_answer_has_thoughts_beside_its_content() -> None:
    found = whole(prepared(), [*thoughts(b"hm"), *texts(b"Warm."), Usage(7, 25, 20), STOP])
    checked = ChatCompletion.model_validate(found, strict=True)
    message = found["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Warm.", "hm")
    assert checked.usage is not None
    assert checked.usage.completion_tokens_details is not None
    assert checked.usage.completion_tokens_details.reasoning_tokens == 20
    assert (checked.usage.completion_tokens, checked.usage.total_tokens) == (25, 32)


def test_answer_without_thoughts_says_nothing_of_them() -> None:
    found = whole(prepared(), answer(b"Warm."))
    assert "reasoning_content" not in found["choices"][0]["message"]
    assert "completion_tokens_details" not in found["usage"]


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 40)), tail=st.sampled_from([b"", b"\xff", b"\xe4\xb8", b"\xf0"]))
def test_stream_has_the_thoughts_of_the_whole_answer_before_its_content(cuts: list[int], tail: bytes) -> None:
    data = "Grüße, 日本 😀".encode() + tail
    events = [*thoughts(data, cuts), *texts(b"Warm.", cuts), Usage(7, 25, 20), STOP]
    deltas: list[Any] = []
    for each in data_of(streamed(prepared(), events))[:-1]:
        ChatCompletionChunk.model_validate(each, strict=True)
        deltas.append(each["choices"][0]["delta"])
    said = "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert said == data.decode(errors="replace")
    assert said == whole(prepared(), events)["choices"][0]["message"]["reasoning_content"]
    kinds = ["reasoning_content" in delta for delta in deltas if delta.get("content") or "reasoning_content" in delta]
    assert kinds == sorted(kinds, reverse=True)


def test_calls_of_tools_may_follow_thoughts() -> None:
    turn = b'{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}'
    found = whole(prepared(tools=[function()]), [*thoughts(b"hm"), *answer(turn)])
    message = found["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == (None, "hm")
    assert message["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'


def test_thoughts_alone_are_no_answer() -> None:
    with pytest.raises(RequestRefused):
        whole(prepared(response_format=json_schema(CITY)), thoughts(b"hm"))


@pytest.mark.parametrize(("effort", "tokens"), [(None, 100), ("high", 100), ("medium", 50), ("low", 25), ("none", 0)])
@pytest.mark.parametrize("form", [{}, {"response_format": json_schema(CITY)}, {"tools": [function()]}])
def test_effort_takes_its_share_of_the_budget(effort: str | None, tokens: int, form: Any) -> None:
    chats = PreparedChats(LIMITS, "none", ALLOWED)
    for _ in range(2):  # the second one from what is kept
        found = chats.prepare(parsed(**form, reasoning_effort=effort), "").generation.reasoning
        assert found == Reasoning(max_tokens=tokens, begin="<think>\n")
    # Another request with the same form has thoughts of its own.
    assert chats.prepare(parsed(**form), "").generation.reasoning == ALLOWED


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_server_without_thoughts_refuses_to_be_asked_for_some(effort: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        PreparedChats(LIMITS, "none").prepare(parsed(reasoning_effort=effort), "")
    error = caught.value
    assert (error.status, error.code, error.param) == (400, "unsupported_parameter", "reasoning_effort")


@pytest.mark.parametrize("effort", [None, "none"])
def test_server_without_thoughts_is_asked_for_none(effort: str | None) -> None:
    chats = PreparedChats(LIMITS, "none")
    assert chats.prepare(parsed(reasoning_effort=effort), "").generation.reasoning is None


def test_refusal_of_an_effort_says_the_words_that_there_are() -> None:
    with pytest.raises(RequestRefused) as caught:
        parsed(reasoning_effort="minimal")
    assert "'none' or 'low' or 'medium' or 'high'," in caught.value.message


@pytest.mark.parametrize("effort", ["minimal", "", 5, ["low"]])
def test_effort_that_is_no_such_word_is_refused(effort: Any) -> None:
    with pytest.raises(RequestRefused) as caught:
        parsed(reasoning_effort=effort)
    assert (caught.value.status, caught.value.param) == (400, "reasoning_effort")


def test_every_effort_is_on_the_page() -> None:
    from guide import DOCS

    section = (DOCS / "server-protocol.md").read_text(encoding="utf-8").split("\n## Thoughts\n")[1].split("\n## ")[0]
    assert all(f"`{effort}`" in section for effort in Effort)


def test_former_thoughts_are_taken_and_not_shown() -> None:
    earlier = {"role": "assistant", "content": "Warm.", "reasoning_content": "hm"}
    found = parsed(messages=[USER, earlier, USER]).messages
    assert [message.content for message in found] == [USER["content"], "Warm.", USER["content"]]
    with pytest.raises(RequestRefused):
        parsed(messages=[USER, {**earlier, "reasoning_content": 5}, USER])
    with pytest.raises(RequestRefused):
        parsed(messages=[{**USER, "reasoning_content": "hm"}])


def test_reasoning_of_another_kind_is_misuse() -> None:
    with pytest.raises(MisuseError, match="reasoning"):
        create_app(ScriptedBackend(THOUGHT), models=[SMALL], reasoning=512)  # pyright: ignore[reportArgumentType] - what a caller may do


@pytest.mark.anyio
async def test_application_asks_for_thoughts_and_hands_them_on() -> None:
    backend = ScriptedBackend(THOUGHT)
    app = create_app(backend, models=[SMALL], reasoning=ALLOWED)
    async with client_of(app) as client:
        reply = await post(client, reasoning_effort="low")
        metrics = (await client.get("/metrics")).text
    message = reply.json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("It is warm.", "Warm, I think.")
    assert backend.requests[0].reasoning == Reasoning(max_tokens=25, begin="<think>\n")
    assert 'commitgate_tokens_total{kind="completion"} 25' in metrics


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_official_client_reads_thoughts() -> None:
    with served(ScriptedBackend(THOUGHT), reasoning=ALLOWED) as server:
        async with server.client() as client:
            ask = client.chat.completions.create
            found = await ask(model="small", messages=[USER], reasoning_effort="medium")
            stream = await ask(model="small", messages=[USER], stream=True)
            pieces = [getattr(each.choices[0].delta, "reasoning_content", None) async for each in stream]
    assert getattr(found.choices[0].message, "reasoning_content", None) == "Warm, I think."
    assert "".join(filter(None, pieces)) == "Warm, I think."
