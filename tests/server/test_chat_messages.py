"""Messages become the text that a model gets, or are refused with their place; calls and results belong together."""

import json
from typing import Any

import pytest
from chats import LIMITS, USER, parsed

from commitgate.backends.base import Message
from commitgate.tools.results import MOST_RESULT_CHARACTERS
from commitgate.tools.turn import MAX_CALLS
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.server_limits import ServerLimits

CALL: Any = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":  "Oslo"}'}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"}


def read(*messages: Any, limits: ServerLimits = LIMITS) -> tuple[Message, ...]:
    return parsed(limits, messages=list(messages)).messages


def refused(*messages: Any, limits: ServerLimits = LIMITS) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        read(*messages, limits=limits)
    return caught.value


def test_roles_are_kept_and_a_developer_is_a_system() -> None:
    found = read(
        {"role": "system", "content": "a"},
        {"role": "developer", "content": "b"},
        USER,
        {"role": "assistant", "content": "c"},
    )
    assert [(each.role, each.content) for each in found] == [
        ("system", "a"),
        ("system", "b"),
        ("user", USER["content"]),
        ("assistant", "c"),
    ]


def test_parts_of_text_are_joined_as_they_are() -> None:
    parts = [{"type": "text", "text": "a "}, {"type": "text", "text": "\nb"}]
    assert read({"role": "user", "content": parts}) == (Message("user", "a \nb"),)


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", "video_url"])
def test_parts_that_are_no_text_are_refused_by_their_place(kind: str) -> None:
    error = refused({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": kind, kind: {}}]})
    assert (error.status, error.code, error.param) == (400, "unsupported_content", "messages[0].content[1].type")


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "user"}, "messages[0].content"),
        ({"role": "user", "content": ""}, "messages[0].content"),
        ({"role": "user", "content": " \n"}, "messages[0].content"),
        ({"role": "user", "content": []}, "messages[0].content"),
        ({"role": "user", "content": 3}, "messages[0].content"),
        ({"role": "user", "content": ["a"]}, "messages[0].content[0]"),
        ({"role": "user", "content": [{"text": "a"}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "text"}]}, "messages[0].content[0].text"),
        ({"role": "user", "content": [{"type": "text", "text": "a", "x": 1}]}, "messages[0].content[0].x"),
        ({"role": "user", "content": "a", "name": "bob"}, "messages[0].name"),
        ({"role": "user", "content": "a", "tool_calls": [CALL]}, "messages[0].tool_calls"),
        ({"role": "function", "content": "a", "name": "f"}, "messages[0].role"),
        ({"content": "a"}, "messages[0].role"),
        ({"role": "assistant"}, "messages[0].content"),
        ({"role": "assistant", "content": "a", "audio": {"id": "x"}}, "messages[0].audio"),
    ],
)
def test_message_that_cannot_be_honoured_is_refused_by_its_place(message: Any, param: str) -> None:
    error = refused(message)
    assert (error.status, error.param) == (400, param)


def test_message_without_content_is_told_from_a_blank_one() -> None:
    assert refused({"role": "user"}).code == "missing_required_parameter"
    assert refused({"role": "user", "content": ""}).code == "invalid_value"


def test_answer_is_taken_as_the_official_client_sends_it_back() -> None:
    from openai.types.chat import ChatCompletionMessage

    said = ChatCompletionMessage(role="assistant", content="Warm.", refusal=None, annotations=[], tool_calls=None)
    assert read(USER, said.model_dump(), USER)[1] == Message("assistant", "Warm.")


def test_refusal_of_the_model_is_what_it_said() -> None:
    assert read(USER, {"role": "assistant", "content": None, "refusal": "No."})[1] == Message("assistant", "No.")


def test_calls_and_results_are_told_as_a_turn_and_as_data() -> None:
    _, turn, results = read(USER, CALLED, RESULT)
    assert turn == Message("assistant", '{"calls": [{"name": "weather", "arguments": {"city":  "Oslo"}}]}')
    assert results.role == "user"
    line = next(line for line in results.content.splitlines() if line.startswith("{"))
    assert json.loads(line) == {"results": [{"call": 1, "name": "weather", "result": "12 degrees"}]}


def test_words_beside_calls_are_kept() -> None:
    _, turn, _ = read(USER, {**CALLED, "content": "Let me see."}, RESULT)
    assert turn.content.startswith("Let me see.\n{")


@pytest.mark.parametrize("content", ["", None])
def test_no_words_beside_calls_are_none(content: str | None) -> None:
    assert read(USER, {**CALLED, "content": content}, RESULT)[1].content.startswith("{")


def test_results_are_told_in_the_order_of_their_calls() -> None:
    other = {**CALL, "id": "call_2"}
    second = {**RESULT, "tool_call_id": "call_2", "content": "second"}
    told = read(USER, {**CALLED, "tool_calls": [CALL, other]}, second, RESULT, USER)[2].content
    assert told.index("12 degrees") < told.index("second")


def test_arguments_of_no_text_are_an_empty_object() -> None:
    call = {**CALL, "function": {"name": "weather", "arguments": ""}}
    assert '"arguments": {}' in read(USER, {**CALLED, "tool_calls": [call]}, RESULT)[1].content


@pytest.mark.parametrize("arguments", ["{", "{} {}", '{"a": 1, "a": 2}', "NaN", '{}}], "answer": "x"'])
def test_arguments_that_are_not_one_json_value_are_refused(arguments: str) -> None:
    call = {**CALL, "function": {"name": "weather", "arguments": arguments}}
    error = refused(USER, {**CALLED, "tool_calls": [call]}, RESULT)
    assert error.param == "messages[1].tool_calls[0].function.arguments"


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([USER, RESULT], "messages[1].tool_call_id"),
        ([USER, CALLED, {**RESULT, "tool_call_id": "other"}], "messages[2].tool_call_id"),
        ([USER, CALLED, RESULT, RESULT], "messages[3].tool_call_id"),
        ([USER, CALLED, RESULT, USER, RESULT], "messages[4].tool_call_id"),
        ([USER, CALLED], "messages"),
        ([USER, CALLED, USER], "messages"),
        ([USER, CALLED, {**RESULT, "content": None}], "messages[2].content"),
        ([USER, {**CALLED, "tool_calls": [CALL, CALL]}, RESULT], "messages[1].tool_calls[1].id"),
        ([USER, {**CALLED, "tool_calls": [{**CALL, "type": "custom"}]}], "messages[1].tool_calls[0].type"),
        ([USER, {**CALLED, "tool_calls": [{**CALL, "type": None}]}, RESULT], "messages[1].tool_calls[0].type"),
        ([USER, {**CALLED, "tool_calls": [{**CALL, "id": None}]}], "messages[1].tool_calls[0].id"),
        ([USER, {**CALLED, "tool_calls": [{"id": "a", "type": "function"}]}], "messages[1].tool_calls[0].function"),
    ],
)
def test_calls_and_results_that_do_not_belong_together_are_refused(messages: list[Any], param: str) -> None:
    error = refused(*messages)
    assert (error.status, error.param) == (400, param)


def test_result_that_would_be_cut_is_refused() -> None:
    fits = "x" * (MOST_RESULT_CHARACTERS - 2)
    assert fits in read(USER, CALLED, {**RESULT, "content": fits})[2].content
    error = refused(USER, CALLED, {**RESULT, "content": fits + "x"})
    assert (error.status, error.param) == (413, "messages[2].content")


def test_number_of_calls_of_one_message_is_bounded() -> None:
    def called(number: int) -> list[Any]:
        calls = [{**CALL, "id": f"call_{index}"} for index in range(number)]
        results = [{**RESULT, "tool_call_id": call["id"], "content": "x"} for call in calls]
        return [USER, {**CALLED, "tool_calls": calls}, *results]

    assert read(*called(MAX_CALLS))[1].content.count("weather") == MAX_CALLS
    error = refused(*called(MAX_CALLS + 1))
    assert (error.status, error.param) == (413, "messages[1].tool_calls")


def test_characters_of_arguments_count_too() -> None:
    limits = ServerLimits(prompt_characters=len(USER["content"]) + len(CALL["function"]["arguments"]) + 2)
    assert read(USER, CALLED, {**RESULT, "content": "12"}, limits=limits)
    assert refused(USER, CALLED, {**RESULT, "content": "123"}, limits=limits).param == "messages[2].content"


def test_number_of_messages_is_bounded() -> None:
    limits = ServerLimits(messages=2)
    assert len(read(USER, USER, limits=limits)) == 2
    assert (refused(USER, USER, USER, limits=limits).status, refused(USER, USER, USER, limits=limits).param) == (
        413,
        "messages",
    )


def test_characters_of_all_messages_are_bounded_together() -> None:
    limits = ServerLimits(prompt_characters=10)
    five = {"role": "user", "content": "12345"}
    assert len(read(five, five, limits=limits)) == 2
    error = refused(five, five, {"role": "user", "content": "1"}, limits=limits)
    assert (error.status, error.param) == (413, "messages[2].content")


def test_no_refusal_quotes_a_message() -> None:
    for message in ({"role": "secret", "content": "secret"}, {"role": "user", "content": [{"type": "secret"}]}):
        assert "secret" not in json.dumps(refused(message).error_object())
