"""What a server is sent: the key, the header fields, and a body that is the same for the same request."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import anyio
import pytest
from backends.remote.chat_words import answering, backend_at, events_of, request
from backends.remote.loopback import Asked, loopback

from commitgate.backends.base import Fault, Message, Sampling
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.dialects.vllm_chat import VllmChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.errors import MisuseError
from commitgate.reasoning import Reasoning

pytestmark = pytest.mark.anyio

HOST = "http://127.0.0.1:1"
SECRET = "s3cret"


async def sent(options: RemoteOptions | None = None, **changes: object) -> Asked:
    """Return what the server is asked."""
    async with loopback(answering()) as server:
        backend = backend_at(server, **(options or {}))
        await events_of(backend, request(**changes))
        await backend.aclose()
        (asked,) = server.asked
        return asked


async def test_request_carries_its_key_its_number_and_what_it_takes() -> None:
    asked = await sent(attempt=3)
    assert (asked.method, asked.target) == ("POST", "/v1/chat/completions")
    fields = asked.headers
    assert fields["authorization"] == "Bearer k"
    assert fields["idempotency-key"] == "key-1"
    assert fields["x-retry-count"] == "2"
    assert fields["accept"] == "text/event-stream"
    assert fields["accept-encoding"] == "identity"
    assert fields["content-type"] == "application/json"
    assert fields["user-agent"].startswith("commitgate/")


async def test_same_request_is_the_same_bytes() -> None:
    first, second = await sent(attempt=1), await sent(attempt=2)
    assert first.body == second.body
    assert json.loads(first.body)["messages"] == [{"role": "user", "content": "say"}]


async def test_fields_and_members_of_the_caller_are_sent() -> None:
    options: RemoteOptions = {
        "extra_headers": {"X-Team": "a b", "User-Agent": "mine"},
        "extra_body": {"user": "u", "metadata": {"a": [1, 0.5, None]}},
    }
    asked = await sent(options)
    assert (asked.headers["x-team"], asked.headers["user-agent"]) == ("a b", "mine")
    body = json.loads(asked.body)
    assert (body["user"], body["metadata"], body["model"]) == ("u", {"a": [1, 0.5, None]}, "m")


async def test_members_are_kept_as_they_were_given() -> None:
    given: dict[str, Any] = {"metadata": {"a": 1}}
    async with loopback(answering()) as server:
        backend = backend_at(server, extra_body=given)
        given["metadata"]["a"] = 2
        await events_of(backend)
        assert json.loads(server.asked[0].body)["metadata"] == {"a": 1}
        await backend.aclose()


async def test_member_that_the_server_is_sent_anyway_is_refused() -> None:
    backend = backend_at(HOST, extra_body={"messages": []})
    with pytest.raises(MisuseError, match="'messages'"):
        await events_of(backend)


async def test_key_is_asked_for_anew_before_each_request() -> None:
    given: list[str] = []

    async def key() -> str:
        given.append(f"key{len(given)}")
        return given[-1]

    async with loopback(answering()) as server:
        backend = backend_at(server, api_key=key)
        assert not given
        await events_of(backend)
        await events_of(backend)
        assert [asked.headers["authorization"] for asked in server.asked] == ["Bearer key0", "Bearer key1"]
        await backend.aclose()


def raising(error: BaseException) -> Any:
    async def key() -> str:
        raise error

    return key


def giving(value: object) -> Any:
    async def key() -> object:
        return value

    return key


@pytest.mark.parametrize(
    "key",
    [raising(ValueError(SECRET)), giving(""), giving(None), giving(f"{SECRET}\n"), giving(f"é{SECRET}"), lambda: 3],
)
async def test_key_that_cannot_be_had_ends_the_attempt_by_its_name(key: Any) -> None:
    async with loopback(answering()) as server:
        backend = backend_at(server, api_key=key)
        (fault,) = await events_of(backend)
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.code) == ("auth", "api_key")
        assert SECRET not in fault.message
        assert not server.asked
        await backend.aclose()


async def test_wait_for_a_key_is_cancelled() -> None:
    async def key() -> str:
        await anyio.sleep_forever()
        return "k"

    backend = backend_at(HOST, api_key=key)
    with anyio.fail_after(5), anyio.move_on_after(0.01) as scope:
        await events_of(backend)
    assert scope.cancelled_caught


async def test_what_a_server_has_no_word_for_is_a_fault_and_sends_nothing() -> None:
    async with loopback(answering()) as server:
        backend = backend_at(server)
        for changes in ({"sampling": Sampling(top_k=3)}, {"reasoning": Reasoning(max_tokens=100)}):
            (fault,) = await events_of(backend, request(**changes))
            assert isinstance(fault, Fault)
            assert fault.kind == "bad_request"
        assert not server.asked
        await backend.aclose()


async def test_unconstrained_request_asks_by_its_words_alone() -> None:
    asked = await sent(translation=None, is_constrained=False)
    assert "response_format" not in json.loads(asked.body)


async def test_request_without_a_translation_is_translated() -> None:
    asked = await sent(translation=None)
    assert json.loads(asked.body)["response_format"]["type"] == "json_schema"


async def test_long_conversation_is_sent_whole() -> None:
    words = "word " * 200_000
    asked = await sent(messages=(Message("user", words),))
    assert json.loads(asked.body)["messages"][0]["content"] == words


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"base_url": 3}, "base_url must be a str"),
        ({"base_url": "host"}, "http://"),
        ({"api_key": ""}, "empty"),
        ({"api_key": f"{SECRET}\n"}, "visible ASCII"),
        ({"api_key": 3}, "api_key must be"),
        ({"extra_headers": {"Authorization": SECRET}}, "give api_key"),
        ({"extra_headers": {"Idempotency-Key": SECRET}}, "must not hold idempotency-key"),
        ({"extra_headers": {"Content-Type": SECRET}}, "must not hold content-type"),
        ({"extra_headers": {"x-a": f"{SECRET}\r\nx-b: c"}}, "visible ASCII"),
        ({"extra_headers": {"x a": SECRET}}, "name header fields"),
        ({"extra_headers": {"x-a": 3}}, "a str"),
        ({"extra_headers": {"x-a": "1", "X-A": "2"}}, "twice"),
        ({"extra_headers": [SECRET]}, "mapping"),
        ({"extra_body": [SECRET]}, "mapping"),
        ({"extra_body": {"a": object()}}, "JSON"),
        ({"extra_body": {"a": float("nan")}}, "JSON"),
        ({"connections": 0}, "at least 1"),
        ({"connections": True}, "an int"),
        ({"verify": 3}, "verify"),
        ({"http_client": object()}, "AsyncClient"),
        ({"unproven_effects": 1}, "a bool"),
        ({"tools": "both"}, "'native' or 'text'"),
        ({"name": " "}, "blank"),
        ({"probes": 3}, "a path"),
        ({"proxy": "x"}, "no option 'proxy'"),
    ],
)
def test_wrong_option_is_refused_before_anything_is_sent(options: Any, reason: str) -> None:
    with pytest.raises(MisuseError, match=reason) as raised:
        RemoteBackend(OpenAIChatDialect(), **{"base_url": HOST, "api_key": "k", **options})
    assert SECRET not in str(raised.value)


async def test_whom_to_trust_and_a_client_contradict_each_other() -> None:
    import httpx

    async with httpx.AsyncClient() as client:
        with pytest.raises(MisuseError, match="http_client decides"):
            backend_at(HOST, http_client=client, verify=False)


async def test_client_that_is_closed_is_refused() -> None:
    import httpx

    client = httpx.AsyncClient()
    await client.aclose()
    with pytest.raises(MisuseError, match="closed"):
        await events_of(backend_at(HOST, http_client=client))


async def test_fields_of_a_passed_client_are_sent_where_none_of_ours_is() -> None:
    import httpx

    async with loopback(answering()) as server, httpx.AsyncClient(headers={"x-a": "1", "accept": "no"}) as client:
        await events_of(backend_at(server, http_client=client))
        assert server.asked[0].headers["x-a"] == "1"
        assert server.asked[0].headers["accept"] == "text/event-stream"


def test_key_and_place_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here:1")
    backend = RemoteBackend(OpenAIChatDialect())
    assert backend.base_url == "http://here:1/v1"
    assert SECRET not in repr(backend)


def test_missing_key_is_refused_with_both_ways_to_give_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(MisuseError, match="api_key, or set the environment variable OPENAI_API_KEY"):
        RemoteBackend(OpenAIChatDialect(), base_url=HOST)


def test_unknown_place_is_refused_with_both_ways_to_give_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    with pytest.raises(MisuseError, match="base_url, or set the variable VLLM_BASE_URL"):
        RemoteBackend(VllmChatDialect())


async def test_server_without_a_key_is_sent_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    async with loopback(answering()) as server:
        backend = RemoteBackend(VllmChatDialect(), base_url=server.url)
        await events_of(backend)
        assert "authorization" not in server.asked[0].headers
        await backend.aclose()


def test_library_is_loaded_by_the_first_request_alone() -> None:
    program = (
        "import sys\n"
        "from commitgate.backends.openai_chat import OpenAIChatBackend\n"
        "OpenAIChatBackend(base_url='http://h', api_key='k')\n"
        "assert not {'httpx', 'httpx2', 'httpcore', 'h11'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
