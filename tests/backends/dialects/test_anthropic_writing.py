"""Write requests of Anthropic's Messages API: exact bodies for every form, and what it cannot be asked."""

from typing import Any, cast

import pytest
from backends.dialects.chat_requests import ASKED, CITY, QUIET, SEARCH, offering, request, translation

from commitgate.backends.anthropic import AnthropicBackend
from commitgate.backends.base import Message
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerIdentity, UnwritableError
from commitgate.backends.dialects.anthropic_messages import AnthropicMessagesDialect
from commitgate.errors import MisuseError, UnsupportedError
from commitgate.reasoning import Reasoning

DIALECT = AnthropicMessagesDialect()
VERSION = {"anthropic-version": "2023-06-01"}
ASKING: Any = {
    "model": "m",
    "messages": [{"role": "user", "content": "Which city is it?"}],
    "stream": True,
    "max_tokens": 512,
}
SCHEMA: Any = {"format": {"type": "json_schema", "schema": CITY}}


def body(*given: Any, **fields: Any) -> Any:
    found = DIALECT.write(request(*given, **fields))
    assert (found.method, found.path, found.headers) == ("POST", "/messages", VERSION)
    return found.body


def offered(**given: Any) -> Any:
    return DIALECT.write(offering(**given)).body


def test_a_schema_is_asked_for_with_every_keyword() -> None:
    assert body() == {**ASKING, "output_config": SCHEMA}


def test_an_answer_that_nobody_constrains_is_asked_for_by_words_alone() -> None:
    assert body(translation("prompt")) == {**ASKING}


@pytest.mark.parametrize("form", ["regex", "grammar", "choices"])
def test_forms_other_than_a_schema_have_no_field(form: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{form}: Anthropic's Messages API has no field for it"):
        body(translation(form))


def test_what_nobody_asked_for_is_left_out() -> None:
    assert body(temperature=0)["temperature"] == 0
    assert body(top_p=1.0) == {**ASKING, "output_config": SCHEMA}
    drawn = body(temperature=0.5, top_p=0.5, top_k=3, max_tokens=1)
    assert drawn == {
        **ASKING,
        "output_config": SCHEMA,
        "temperature": 0.5,
        "top_p": 0.5,
        "top_k": 3,
        "max_tokens": 1,
    }


THOUGHTS = Reasoning(max_tokens=2_000)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"seed": 7}, "Sampling.seed"),
        ({"temperature": 1.01}, "Sampling.temperature above 1"),
        ({"reasoning": Reasoning(max_tokens=1_023), "temperature": 1}, "Reasoning.max_tokens"),
        ({"reasoning": THOUGHTS, "temperature": 0.0}, "no temperature"),
        ({"reasoning": THOUGHTS, "temperature": 1, "top_k": 4}, "no top_k"),
        ({"reasoning": THOUGHTS, "temperature": 1, "top_p": 0.9}, "top_p"),
        ({"model": ""}, "name of a model"),
        ({"messages": (Message("system", "Be short."),)}, "message of the user"),
        ({"messages": (ASKED, Message("assistant", "The city is"))}, "message of the user"),
        ({"messages": (ASKED, Message("system", "Be short."), ASKED)}, "at the beginning"),
    ],
)
def test_what_the_api_cannot_be_asked_is_said_and_never_left_out(fields: Any, named: str) -> None:
    with pytest.raises(UnwritableError, match=named) as caught:
        body(**fields)
    assert caught.value.code
    assert "Be short" not in str(caught.value)


def test_thoughts_and_answer_share_one_limit() -> None:
    found = body(reasoning=THOUGHTS, top_p=0.95, max_tokens=300)
    assert found == {
        **ASKING,
        "output_config": SCHEMA,
        "thinking": {"type": "enabled", "budget_tokens": 2_000},
        "max_tokens": 2_300,
        "top_p": 0.95,
    }
    assert body(reasoning=Reasoning(max_tokens=1_024), temperature=1)["thinking"]["budget_tokens"] == 1_024


def test_no_thoughts_at_all_can_be_asked_for() -> None:
    found = body(reasoning=Reasoning(max_tokens=0), top_k=4)
    assert (found["thinking"], found["max_tokens"], found["top_k"]) == ({"type": "disabled"}, 512, 4)
    assert "thinking" not in body()


def test_the_words_of_the_system_stand_beside_the_conversation() -> None:
    system = Message("system", "Be short.")
    found = body(messages=(system, ASKED, Message("assistant", "Hm?"), ASKED))
    assert found["system"] == "Be short."
    assert [each["role"] for each in found["messages"]] == ["user", "assistant", "user"]
    two = body(messages=(system, Message("system", "Be kind."), ASKED))
    assert two["system"] == [{"type": "text", "text": "Be short."}, {"type": "text", "text": "Be kind."}]
    assert two["messages"] == ASKING["messages"]


class TestTools:
    def test_tools_are_offered_in_the_apis_own_form(self) -> None:
        assert offered() == {
            **ASKING,
            "tools": [
                {
                    "name": "search",
                    "description": "Search the web.",
                    "strict": True,
                    "input_schema": SEARCH.parameters,
                },
                {"name": "quiet", "strict": False, "input_schema": QUIET.parameters},
            ],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": False},
        }

    def test_an_answer_may_be_constrained_beside_tools(self) -> None:
        found = offered(answer="json", form="json_schema")
        assert found["output_config"] == SCHEMA
        assert "tools" in found

    def test_a_turn_that_must_call_once_says_so(self) -> None:
        found = offered(answer="none", most_calls=1)
        assert found["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}

    def test_a_call_cannot_be_demanded_of_a_model_that_thinks(self) -> None:
        with pytest.raises(UnwritableError, match="reasoning"):
            DIALECT.write(offering(answer="none", reasoning=THOUGHTS, temperature=1))
        DIALECT.write(offering(answer="none", reasoning=Reasoning(max_tokens=0)))
        DIALECT.write(offering(answer="text", reasoning=THOUGHTS, temperature=1))


def test_what_is_expected_follows_what_was_asked() -> None:
    assert DIALECT.expected(request()) == Expected()
    assert DIALECT.expected(offering()) == Expected(offers_tools=True)


class TestIdentities:
    def test_a_handshake_asks_for_the_models_and_for_one(self) -> None:
        every = Outgoing(method="GET", path="/models?limit=1000", headers=VERSION)
        assert DIALECT.handshake("") == (every,)
        assert DIALECT.handshake("claude-x") == (
            every,
            Outgoing(method="GET", path="/models/claude-x", headers=VERSION),
        )

    def test_a_server_is_its_models(self) -> None:
        body = b'{"data":[{"type":"model","id":"claude-x","created_at":"2026-02-04T00:00:00Z"}],"has_more":false}'
        listed = Answer(status=200, headers={}, body=body)
        one = Answer(status=200, headers={}, body=b'{"type":"model","id":"c","created_at":"2026-03-01T00:00:00Z"}')
        known = {"is_ready": True, "models": ("claude-x",)}
        assert DIALECT.identify("c", [listed, one]) == ServerIdentity(**known, revision="2026-03-01T00:00:00Z")
        assert DIALECT.identify("", [listed]) == ServerIdentity(**known)


class TestCredentials:
    def test_a_key_goes_into_a_header_of_its_own_and_a_token_does_not(self) -> None:
        facts, token = DIALECT.facts, AnthropicMessagesDialect("token").facts
        assert (facts.key_header, facts.key_variables) == ("x-api-key", ("ANTHROPIC_API_KEY",))
        assert (token.key_header, token.key_variables) == ("bearer", ("ANTHROPIC_AUTH_TOKEN",))

    def test_other_credentials_are_misuse(self) -> None:
        with pytest.raises(MisuseError, match="credential"):
            AnthropicMessagesDialect(cast("Any", "oauth"))

    def test_a_backend_takes_either(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token")
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        assert AnthropicBackend(credential="token").name == "anthropic"
        with pytest.raises(MisuseError, match="ANTHROPIC_API_KEY"):
            AnthropicBackend()


def test_the_facts_name_what_the_api_takes() -> None:
    facts = DIALECT.facts
    assert facts.forms == {"json_schema"}
    assert facts.vendor == "anthropic"
    assert all((facts.shows_schema, facts.tells_in_finish, facts.refuses, facts.offers_tools, facts.needs_key))
    assert facts.end_marker == "message_stop"
