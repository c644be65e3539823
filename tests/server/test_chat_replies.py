"""Answers are what the official client takes: whole or streamed they say the same, and a failure never looks whole."""

import json
from collections.abc import Sequence

import pytest
from chats import (
    CITY,
    CUT,
    HEAD,
    STOP,
    answer,
    data_of,
    function,
    joined,
    json_schema,
    prepared,
    streamed,
    texts,
    whole,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from commitgate.backends.base import (
    BackendIdentity,
    ConnectionLost,
    DeadEndReached,
    Fault,
    Finish,
    FinishReason,
    Notice,
    Ping,
    ProseDelta,
    RefusalDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate_local.server.chat_contract import PreparedChat
from commitgate_local.server.chat_reply import DONE, ReplyHead, ReplyStream, WholeReply, system_fingerprint
from commitgate_local.server.refusal import CONTEXT_LENGTH, RequestRefused, cut_off

PLAIN = prepared()
HELD = prepared(response_format=json_schema({"type": "string"}))
TOOLS = prepared(tools=[function(), function("news")])
TOOLS_OR_CITY = prepared(tools=[function()], response_format=json_schema(CITY))
CALLS = (
    b'{"calls": [{"name": "weather", "arguments": {"city": "Troms\xc3\xb8"}}, '
    b'{"name": "news", "arguments": {"city":  "a\\u00e9"}}]}'
)


def completion(chat: PreparedChat, events: list[StreamEvent]) -> ChatCompletion:
    """Return a whole answer as the official client's own type, which checks it."""
    found = whole(chat, events)
    checked = ChatCompletion.model_validate(found, strict=True)
    assert set(found) <= set(ChatCompletion.model_fields)
    return checked


def chunks(frames: bytes) -> list[ChatCompletionChunk]:
    *given, last = data_of(frames)
    assert last == "[DONE]"
    assert all(set(each) <= set(ChatCompletionChunk.model_fields) for each in given)
    return [ChatCompletionChunk.model_validate(each, strict=True) for each in given]


# Whole answers


def test_answer_is_one_object() -> None:
    found = completion(PLAIN, answer("Varmt i Tromsø 😀".encode(), cuts=[13, 17, 18]))
    assert (found.id, found.object, found.created, found.model) == (
        "chatcmpl-1",
        "chat.completion",
        HEAD.created,
        "small",
    )
    assert found.system_fingerprint == "fp_1"
    (choice,) = found.choices
    assert (choice.index, choice.finish_reason, choice.logprobs) == (0, "stop", None)
    assert (choice.message.role, choice.message.content) == ("assistant", "Varmt i Tromsø 😀")
    assert (choice.message.refusal, choice.message.tool_calls) == (None, None)
    assert found.usage is not None
    assert (found.usage.prompt_tokens, found.usage.completion_tokens, found.usage.total_tokens) == (7, 5, 12)


def test_empty_answer_is_an_empty_text() -> None:
    assert completion(PLAIN, [STOP]).choices[0].message.content == ""


def test_usage_that_is_not_known_is_left_out() -> None:
    assert completion(PLAIN, [*texts(b"a"), STOP]).usage is None
    assert completion(PLAIN, [*texts(b"a"), Usage(3, None), STOP]).usage is None


def test_last_usage_counts_also_behind_the_finish() -> None:
    found = completion(PLAIN, [Usage(1, 1), *texts(b"a"), STOP, Usage(2, 3)]).usage
    assert found is not None
    assert found.total_tokens == 5


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (FinishReason.STOP, "stop"),
        (FinishReason.LENGTH, "length"),
        (FinishReason.PAUSED, "length"),
        (FinishReason.CONTENT_FILTER, "content_filter"),
        (FinishReason.REFUSAL, "stop"),
    ],
)
def test_finish_is_told_in_the_client_s_word(reason: FinishReason, word: str) -> None:
    events = answer(b"a", finish=Finish(reason, "native"))
    assert completion(PLAIN, events).choices[0].finish_reason == word
    assert joined(streamed(PLAIN, events))["finish"] == word


@pytest.mark.parametrize("reason", [FinishReason.MALFORMED, FinishReason.CANCELLED, FinishReason.UNKNOWN])
def test_finish_that_is_no_proof_of_an_answer_is_an_error(reason: FinishReason) -> None:
    with pytest.raises(RequestRefused) as caught:
        whole(PLAIN, answer(b"a", finish=Finish(reason, "native")))
    assert (caught.value.status, caught.value.code) == (500, "unknown_finish")


def test_refusal_of_the_model_is_no_content() -> None:
    events: list[StreamEvent] = [RefusalDelta("I "), RefusalDelta("won't."), Finish(FinishReason.REFUSAL, "refusal")]
    message = completion(PLAIN, events).choices[0].message
    assert (message.content, message.refusal) == (None, "I won't.")
    assert joined(streamed(PLAIN, events))["refusal"] == "I won't."


def test_calls_of_tools_have_names_and_arguments_as_they_are_spelled() -> None:
    (choice,) = completion(TOOLS, answer(CALLS)).choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    assert choice.message.tool_calls is not None
    made = [
        (call.type, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls
        if call.type == "function"
    ]
    assert made == [("function", "weather", '{"city": "Tromsø"}'), ("function", "news", '{"city":  "a\\u00e9"}')]
    names = [call.id for call in choice.message.tool_calls]
    assert len(set(names)) == 2
    assert names == [HEAD.call_id(0), HEAD.call_id(1)]
    assert names != [ReplyHead(id="chatcmpl-2", created=1, model="small").call_id(index) for index in (0, 1)]


def test_answer_beside_tools_is_content() -> None:
    (choice,) = completion(TOOLS, answer(b'{"answer": "Warm\\n\\u2603"}')).choices
    assert (choice.finish_reason, choice.message.content, choice.message.tool_calls) == ("stop", "Warm\n☃", None)
    (choice,) = completion(TOOLS_OR_CITY, answer(b'{"answer": {"city":  "\\u2603"}}')).choices
    assert choice.message.content == '{"city":  "\\u2603"}'


def test_calls_in_a_server_s_own_form_are_calls_too() -> None:
    events: list[StreamEvent] = [
        ToolDelta(index=0, id="x", name="weather", arguments=b'{"city": "Os'),
        ToolDelta(index=0, arguments=b'lo"}'),
        Finish(FinishReason.STOP, "tool_calls"),
    ]
    for found in (
        whole(TOOLS, events)["choices"][0]["message"]["tool_calls"],
        joined(streamed(TOOLS, events))["calls"],
    ):
        (call,) = found
        assert '{"city": "Oslo"}' in (call.get("arguments"), call.get("function", {}).get("arguments"))
    words: list[StreamEvent] = [ProseDelta(b"Wa"), ProseDelta(b"rm."), STOP]
    assert whole(TOOLS, words)["choices"][0]["message"]["content"] == "Warm."
    assert whole(PLAIN, words)["choices"][0]["message"]["content"] == "Warm."


def test_call_that_was_not_offered_is_an_error() -> None:
    with pytest.raises(RequestRefused) as caught:
        whole(PLAIN, [ToolDelta(index=0, name="rm", arguments=b"{}"), STOP])
    assert caught.value.status == 500


def test_answer_that_was_cut_says_so_and_is_as_long_as_it_got() -> None:
    (choice,) = completion(PLAIN, answer("aé".encode()[:2], finish=CUT)).choices
    assert (choice.finish_reason, choice.message.content) == ("length", "a")
    (choice,) = completion(TOOLS, answer(CALLS[:60], finish=CUT)).choices
    assert choice.finish_reason == "length"
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert '{"city": "Tromsø"}'.startswith(call.function.arguments)


@pytest.mark.parametrize(
    "events",
    [
        [],
        texts(b"a"),
        [*texts(b"a"), ConnectionLost()],
        [*texts(b"\xc3"), STOP],
    ],
)
def test_answer_without_proof_of_its_end_is_an_error(events: list[StreamEvent]) -> None:
    with pytest.raises(RequestRefused) as caught:
        whole(HELD, events)
    assert (caught.value.status, caught.value.code) == (500, "incomplete")
    stream = ReplyStream(HELD, HEAD)
    frames = b""
    try:
        frames = b"".join(map(stream.feed, events)) + stream.end()
    except RequestRefused:
        assert not stream.has_begun
    else:
        assert "error" in data_of(frames)[-1]
    assert (stream.is_over, stream.is_whole) == (True, False)


def test_turn_that_stops_before_its_end_is_an_error() -> None:
    with pytest.raises(RequestRefused) as caught:
        whole(TOOLS, answer(CALLS[:-1]))
    assert caught.value.code == "incomplete"


@pytest.mark.parametrize(
    ("chat", "data"), [(HELD, b"\xff"), (HELD, b"\xc3a"), (TOOLS, b"Warm."), (TOOLS, b'{"answer": 1}')]
)
def test_text_that_cannot_be_the_answer_is_an_error(chat: PreparedChat, data: bytes) -> None:
    with pytest.raises(RequestRefused) as caught:
        whole(chat, answer(data))
    assert (caught.value.status, caught.value.code) == (500, "protocol_error")


@pytest.mark.parametrize("cuts", [(), (1,), (1, 2, 3)])
def test_bytes_that_are_no_text_are_replaced_where_nothing_holds_the_model_to_a_form(cuts: Sequence[int]) -> None:
    events = answer(b"a\xffb\xc3", cuts=cuts)
    assert completion(PLAIN, events).choices[0].message.content == "a\ufffdb"
    assert joined(streamed(PLAIN, events))["content"] == "a\ufffdb"


def test_text_behind_the_finish_is_an_error_and_a_lost_line_is_none() -> None:
    assert completion(PLAIN, [*answer(b"a"), ConnectionLost()]).choices[0].message.content == "a"
    with pytest.raises(RequestRefused) as caught:
        whole(PLAIN, [*answer(b"a"), TextDelta(b"b")])
    assert caught.value.code == "protocol_error"


# Streams


def test_stream_says_who_speaks_then_the_text_then_how_it_ended() -> None:
    frames = streamed(PLAIN, answer("aé😀".encode(), cuts=[1, 2, 4, 5, 6]))
    found = chunks(frames)
    assert frames.endswith(DONE)
    assert {(each.id, each.object, each.created, each.model, each.system_fingerprint) for each in found} == {
        ("chatcmpl-1", "chat.completion.chunk", HEAD.created, "small", "fp_1")
    }
    deltas = [each.choices[0].delta for each in found]
    assert [delta.role for delta in deltas] == ["assistant", None, None, None, None]
    assert [delta.content for delta in deltas] == ["", "a", "é", "😀", None]
    assert [each.choices[0].finish_reason for each in found] == [None, None, None, None, "stop"]
    assert not any("usage" in each for each in data_of(frames)[:-1])


def test_usage_comes_last_where_it_is_asked_for() -> None:
    found = chunks(streamed(PLAIN, answer(b"ab", cuts=[1]), include_usage=True))
    assert [each.usage for each in found[:-1]] == [None] * (len(found) - 1)
    assert found[-1].choices == []
    assert found[-1].usage is not None
    assert found[-1].usage.total_tokens == 12
    assert all(each.choices for each in found[:-1])


def test_call_is_announced_by_id_and_name_and_its_arguments_follow() -> None:
    found = chunks(streamed(TOOLS, answer(CALLS, cuts=[50, 55])))
    pieces = [piece for each in found for piece in each.choices[0].delta.tool_calls or ()]
    heads = [(piece.index, piece.id, piece.type) for piece in pieces if piece.id]
    assert heads == [(0, HEAD.call_id(0), "function"), (1, HEAD.call_id(1), "function")]
    assert all(piece.function is not None and piece.function.name is None for piece in pieces if not piece.id)
    assert found[0].choices[0].delta.content is None
    assert found[-1].choices[0].finish_reason == "tool_calls"


def test_events_that_say_nothing_write_nothing() -> None:
    stream = ReplyStream(PLAIN, HEAD)
    for event in (Ping(), Notice("missing_done"), Usage(1, 2)):
        assert stream.feed(event) == b""
    assert not stream.has_begun


def test_wire_is_ascii_and_each_frame_one_line() -> None:
    frames = streamed(PLAIN, answer("\u2028\u2029\x85\r\n\x0b\x1c\ud7ff😀".encode()))
    assert frames.isascii()
    assert all(line.startswith(b"data: ") or not line for line in frames.splitlines())
    assert b"\r" not in frames


FAILURES: list[tuple[StreamEvent, int, str]] = [
    (Fault("overload", "the queue is full"), 503, "overloaded"),
    (Fault("model", "the logits are not numbers"), 500, "model_error"),
    (Fault("bad_request", "the prompt is too long", code=CONTEXT_LENGTH), 400, CONTEXT_LENGTH),
    (DeadEndReached("tokenizer", 3, "expected a digit"), 422, "dead_end"),
]


@pytest.mark.parametrize(("event", "status", "code"), FAILURES)
def test_failure_before_the_first_frame_is_raised_with_its_status(event: StreamEvent, status: int, code: str) -> None:
    for reply in (WholeReply(PLAIN, HEAD), ReplyStream(PLAIN, HEAD)):
        with pytest.raises(RequestRefused) as caught:
            reply.feed(event)
        assert (caught.value.status, caught.value.code) == (status, code)


@pytest.mark.parametrize(("event", "status", "code"), FAILURES)
def test_failure_behind_the_first_frame_ends_the_stream_without_done(
    event: StreamEvent, status: int, code: str
) -> None:
    del status
    frames = streamed(PLAIN, [*texts(b"ab"), event])
    assert data_of(frames)[-1]["error"]["code"] == code
    assert DONE not in frames
    assert joined(frames.rpartition(b"data: ")[0])["finish"] is None


def test_limit_on_time_ends_a_stream() -> None:
    stream = ReplyStream(PLAIN, HEAD)
    with pytest.raises(RequestRefused):
        ReplyStream(PLAIN, HEAD).fail(cut_off(5))
    assert stream.feed(TextDelta(b"a"))
    assert data_of(stream.fail(cut_off(5)))[0]["error"]["code"] == "time_limit"
    assert (stream.is_over, stream.is_whole) == (True, False)


def test_whole_stream_is_known_to_be_whole() -> None:
    stream = ReplyStream(PLAIN, HEAD)
    for event in answer(b"a"):
        stream.feed(event)
    assert (stream.has_begun, stream.is_over, stream.is_whole) == (True, False, False)
    assert stream.end().endswith(DONE)
    assert (stream.is_over, stream.is_whole) == (True, True)


# Laws

TEXTS = st.text(max_size=30)
CUTS = st.lists(st.integers(0, 200), max_size=8)


def law(chat: PreparedChat, data: bytes, cuts: list[int], finish: Finish) -> None:
    """Check that neither cuts nor streaming change what is said."""
    at_once, cut = answer(data, finish=finish), answer(data, cuts=cuts, finish=finish)
    (choice,) = whole(chat, at_once)["choices"]
    assert whole(chat, cut)["choices"] == [choice]
    message = choice["message"]
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls", ())]
    for events in (at_once, cut):
        frames = streamed(chat, events)
        chunks(frames)
        assert joined(frames) == {
            "content": message["content"] or "",
            "refusal": "",
            "calls": calls,
            "finish": choice["finish_reason"],
        }


@settings(deadline=None)
@given(TEXTS, CUTS, st.sampled_from([STOP, CUT]))
def test_cuts_and_streaming_change_no_text(text: str, cuts: list[int], finish: Finish) -> None:
    law(PLAIN, text.encode(), cuts, finish)


@settings(deadline=None)
@given(st.data(), TEXTS, st.booleans(), CUTS, st.booleans())
def test_cuts_and_streaming_change_no_turn(
    data: st.DataObject, text: str, is_call: bool, cuts: list[int], is_cut: bool
) -> None:
    call = {"name": "weather", "arguments": {"city": text}}
    turn = json.dumps(
        {"calls": [call, call]} if is_call else {"answer": text}, ensure_ascii=bool(len(text) % 2)
    ).encode()
    end = data.draw(st.integers(0, len(turn))) if is_cut else len(turn)
    law(TOOLS, turn[:end], cuts, CUT if is_cut else STOP)


# Identity


def test_fingerprint_tells_models_and_vocabularies_apart() -> None:
    def of(revision: str | None, tokenizer: str | None) -> str | None:
        identity = BackendIdentity(backend="local", model="m", model_revision=revision, tokenizer_fingerprint=tokenizer)
        return system_fingerprint(identity)

    found = [of("a", "b"), of("a", "c"), of("c", "b"), of("a", None), of(None, "a"), of("ab", "")]
    assert len(set(found)) == len(found)
    assert all(each is not None and each.startswith("fp_") for each in found)
    assert of("a", "b") == of("a", "b")
    assert of(None, None) is None
