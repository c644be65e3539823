"""The official client's own requests are taken, and it reads what is answered: objects, streams, calls and errors."""

from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest
from chats import CITY, LIMITS, USER, answer, function, json_schema, streamed, texts, whole
from pydantic import BaseModel

from commitgate.automaton import compile
from commitgate.backends.base import Fault, StreamEvent
from commitgate_local.server.chat_contract import PreparedChat, prepare_chat
from commitgate_local.server.chat_reply import KEEP_ALIVE
from commitgate_local.server.chat_request import parse_chat_request
from commitgate_local.server.refusal import RequestRefused

CALL = b'{"calls": [{"name": "weather", "arguments": {"city": "Troms\xc3\xb8"}}]}'


class City(BaseModel):
    """Name a city."""

    city: str


class Server:
    """Stand in for the I/O of a server whose model writes a given text.

    Attributes:
        events: what the model does.
        asked: what the last request became.
    """

    def __init__(self) -> None:
        self.events: list[StreamEvent] = answer(b"Warm.")
        self.asked: PreparedChat | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        try:
            asked = parse_chat_request(request.content, limits=LIMITS)
            self.asked = prepare_chat(asked, limits=LIMITS)
            if not asked.stream:
                return httpx2.Response(200, json=whole(self.asked, self.events))
            frames = KEEP_ALIVE + streamed(self.asked, self.events, include_usage=asked.include_usage)
            return httpx2.Response(200, headers={"Content-Type": "text/event-stream"}, content=frames)
        except RequestRefused as refused:
            return httpx2.Response(refused.status, headers=dict(refused.headers), content=refused.body())


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def completions(server: Server) -> Iterator[Any]:
    """Return what the official client calls ``client.chat.completions``."""
    with httpx2.Client(transport=httpx2.MockTransport(server)) as http_client:
        client = openai.OpenAI(
            api_key="none",
            base_url="http://localhost/v1",
            http_client=http_client,
            max_retries=0,
            _strict_response_validation=True,
        )
        yield client.chat.completions


def test_answer_is_read(completions: Any) -> None:
    found = completions.create(model="small", messages=[USER], temperature=0, user="u", metadata={"a": "b"})
    assert found.choices[0].message.content == "Warm."
    assert found.usage.total_tokens == 12


def test_answer_of_a_type_is_asked_for_and_read(server: Server, completions: Any) -> None:
    server.events = answer(b'{"city": "Oslo"}')
    found = completions.parse(model="small", messages=[USER], response_format=City)
    assert found.choices[0].message.parsed == City(city="Oslo")
    assert server.asked is not None
    acceptor = compile(server.asked.generation.contract).acceptor()
    assert not acceptor.feed(b'{"town')


@pytest.mark.parametrize("tool", [function(), openai.pydantic_function_tool(City, name="weather")])
def test_calls_are_asked_for_and_read(server: Server, completions: Any, tool: Any) -> None:
    server.events = answer(CALL)
    found = completions.create(model="small", messages=[USER], tools=[tool], tool_choice="required")
    (call,) = found.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("weather", '{"city": "Tromsø"}')
    assert found.choices[0].finish_reason == "tool_calls"


def test_conversation_goes_on_with_what_the_client_got(server: Server, completions: Any) -> None:
    server.events = answer(CALL)
    message = completions.create(model="small", messages=[USER], tools=[function()]).choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "4 degrees"}
    server.events = answer(b'{"answer": "4 degrees."}')
    found = completions.create(model="small", messages=[USER, message, result], tools=[function()])
    assert found.choices[0].message.content == "4 degrees."
    assert server.asked is not None
    assert "4 degrees" in server.asked.generation.messages[-1].content


def test_stream_is_read(server: Server, completions: Any) -> None:
    server.events = answer("é😀".encode(), cuts=range(6))
    stream = completions.create(model="small", messages=[USER], stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "é😀"


def test_stream_is_put_together_by_the_client(server: Server, completions: Any) -> None:
    server.events = answer(CALL, cuts=range(0, 100, 3))
    options = {"include_usage": True}
    with completions.stream(
        model="small", messages=[USER], tools=[function(strict=True)], stream_options=options
    ) as run:
        found = run.get_final_completion()
    (call,) = found.choices[0].message.tool_calls
    assert call.function.parsed_arguments == {"city": "Tromsø"}
    assert found.usage.total_tokens == 12


def test_stream_of_a_type_is_put_together_by_the_client(server: Server, completions: Any) -> None:
    server.events = answer(b'{"city": "Oslo"}', cuts=range(20))
    with completions.stream(model="small", messages=[USER], response_format=City) as run:
        assert run.get_final_completion().choices[0].message.parsed == City(city="Oslo")


@pytest.mark.parametrize("streams", [True, False])
def test_schema_that_cannot_be_enforced_raises_with_its_place(completions: Any, streams: bool) -> None:
    schema = {**CITY, "properties": {"city": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}}
    with pytest.raises(openai.BadRequestError) as caught:
        completions.create(model="small", messages=[USER], response_format=json_schema(schema), stream=streams)
    assert caught.value.code == "unsupported_schema"
    assert caught.value.param == "response_format.json_schema.schema"
    body: Any = caught.value.body
    assert (body["keyword"], body["pointer"]) == ("uniqueItems", "/properties/city")


@pytest.mark.parametrize("streams", [True, False])
def test_failure_before_any_text_raises_by_its_status(server: Server, completions: Any, streams: bool) -> None:
    server.events = [Fault("overload", "the queue is full", retry_after_s=3)]
    with pytest.raises(openai.InternalServerError) as caught:
        completions.create(model="small", messages=[USER], stream=streams)
    assert (caught.value.status_code, caught.value.code) == (503, "overloaded")
    assert caught.value.response.headers["Retry-After"] == "3"


def test_failure_behind_text_raises_where_it_happens(server: Server, completions: Any) -> None:
    server.events = [*texts(b"ab"), Fault("server", "it broke")]
    stream = completions.create(model="small", messages=[USER], stream=True)
    assert [next(stream).choices[0].delta.content for _ in range(2)] == ["", "ab"]
    with pytest.raises(openai.APIError, match="it broke"):
        next(stream)
