"""Write requests of OpenAI's Responses API: exact bodies for every form, and what it cannot be asked."""

import json
from typing import Any

import pytest
from backends.dialects.chat_requests import ASKED, CITY, CONTRACT, QUIET, SEARCH, offering, request, translation

from commitgate.backends.base import Message
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerIdentity, UnwritableError
from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect
from commitgate.contract import Contract
from commitgate.errors import UnsupportedError
from commitgate.reasoning import Reasoning
from commitgate.tools.offer import ToolOffer

DIALECT = OpenAIResponsesDialect()
ASKING: Any = {
    "model": "m",
    "input": [{"role": "user", "content": "Which city is it?"}],
    "stream": True,
    "store": False,
    "max_output_tokens": 512,
}
SCHEMA: Any = {"format": {"type": "json_schema", "name": "city", "strict": True, "schema": CITY}}


def body(*given: Any, **fields: Any) -> Any:
    found = DIALECT.write(request(*given, **fields))
    assert (found.method, found.path, found.headers) == ("POST", "/responses", {})
    return found.body


def asked_with_a_tool(form: str, syntax: str, **given: Any) -> Any:
    tool = body(translation(form, **given))
    format = {"type": "grammar", "syntax": syntax, "definition": given.get("pattern", given.get("grammar"))}
    told = "Give the whole answer as the input of this tool."
    assert tool == {
        **ASKING,
        "tools": [{"type": "custom", "name": "answer", "description": told, "format": format}],
        "tool_choice": {"type": "custom", "name": "answer"},
        "parallel_tool_calls": False,
    }


def offered(**given: Any) -> Any:
    return DIALECT.write(offering(**given)).body


def test_a_schema_is_asked_for_with_every_keyword() -> None:
    assert body() == {**ASKING, "text": SCHEMA}


def test_a_pattern_or_grammar_is_asked_for_as_the_input_of_a_tool() -> None:
    asked_with_a_tool("regex", "regex", pattern="[0-9]{4}")
    asked_with_a_tool("grammar", "lark", grammar='start: "a"', notation="lark")


def test_an_answer_that_nobody_constrains_is_asked_for_by_words_alone() -> None:
    assert body(translation("prompt")) == {**ASKING}


def test_choices_have_no_field() -> None:
    with pytest.raises(UnsupportedError, match="choices: OpenAI's Responses API has no field for it"):
        body(translation("choices", choices=("a", "b")))


def test_the_name_of_the_contract_is_one_that_the_api_takes() -> None:
    named = Contract.json_schema(CITY, name="Größe: " + "x" * 80)
    name = body(translation(sent=named))["text"]["format"]["name"]
    assert name.startswith("Gr_e_x")
    assert len(name) <= 64


def test_what_nobody_asked_for_is_left_out() -> None:
    assert body(temperature=1)["temperature"] == 1
    assert body(top_p=1.0) == {**ASKING, "text": SCHEMA}
    drawn = body(temperature=2, top_p=0.5, max_tokens=16)
    assert drawn == {**ASKING, "text": SCHEMA, "temperature": 2, "top_p": 0.5, "max_output_tokens": 16}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"seed": 7}, "Sampling.seed"),
        ({"top_k": 5}, "Sampling.top_k"),
        ({"max_tokens": 15}, "Sampling.max_tokens >= 16"),
        ({"temperature": 2.1}, "Sampling.temperature above 2"),
        ({"reasoning": Reasoning(max_tokens=100)}, "extra_body"),
        ({"model": ""}, "name of a model"),
    ],
)
def test_what_the_api_cannot_be_asked_is_said_and_never_left_out(fields: Any, named: str) -> None:
    with pytest.raises(UnwritableError, match=named) as caught:
        body(**fields)
    assert caught.value.code


def test_no_thoughts_at_all_can_be_asked_for() -> None:
    assert body(reasoning=Reasoning(max_tokens=0))["reasoning"] == {"effort": "none"}
    assert "reasoning" not in body()


SYSTEM, LATER, REPLY = Message("system", "Be short."), Message("system", "Be kind."), Message("assistant", "Hm?")
USER = {"role": "user", "content": "Which city is it?"}


@pytest.mark.parametrize(
    ("messages", "written"),
    [
        ((SYSTEM, ASKED), {"instructions": "Be short.", "input": [USER]}),
        ((SYSTEM,), {"input": [{"role": "system", "content": "Be short."}]}),
        (
            (SYSTEM, LATER, ASKED),
            {"instructions": "Be short.", "input": [{"role": "system", "content": "Be kind."}, USER]},
        ),
        (
            (ASKED, REPLY, LATER, ASKED),
            {
                "input": [
                    USER,
                    {"role": "assistant", "content": "Hm?"},
                    {"role": "system", "content": "Be kind."},
                    USER,
                ]
            },
        ),
    ],
)
def test_the_first_words_of_the_system_are_the_instructions(messages: Any, written: Any) -> None:
    found = body(messages=messages)
    assert {key: found[key] for key in ("instructions", "input") if key in found} == written


class TestTools:
    def test_tools_are_offered_in_the_apis_own_form(self) -> None:
        assert offered() == {
            **ASKING,
            "tools": [
                {
                    "type": "function",
                    "name": "search",
                    "description": "Search the web.",
                    "strict": True,
                    "parameters": SEARCH.parameters,
                },
                {"type": "function", "name": "quiet", "strict": False, "parameters": QUIET.parameters},
            ],
            "tool_choice": "auto",
            "parallel_tool_calls": False,
        }

    def test_an_answer_may_be_constrained_beside_tools(self) -> None:
        found = offered(answer="json", form="json_schema")
        assert found["text"] == SCHEMA
        assert len(found["tools"]) == 2

    def test_a_turn_that_must_call_says_so(self) -> None:
        found = offered(answer="none")
        assert found["tool_choice"] == "required"

    def test_several_calls_at_once_are_asked_for_where_no_tool_is_strict(self) -> None:
        loose = translation("prompt", tools={"quiet": QUIET.parameters})
        for most_calls, is_parallel in ((8, True), (1, False)):
            offer = ToolOffer(tools=(QUIET,), most_calls=most_calls, answer="text", instruction="Call.")
            found = body(loose, tools=offer, messages=offer.told((ASKED,)))
            assert found["parallel_tool_calls"] is is_parallel

    def test_a_pattern_cannot_be_asked_for_beside_tools(self) -> None:
        with pytest.raises(UnsupportedError):
            DIALECT.write(offering(form="regex"))

    def test_tools_asked_for_as_text_are_told_in_words(self) -> None:
        offer = offering().tools
        assert offer is not None
        found = body(translation(), tools=offer, messages=offer.told((ASKED,)))
        assert found == {**ASKING, "text": SCHEMA, "instructions": "You have tools."}


def test_what_is_expected_follows_what_was_asked() -> None:
    assert DIALECT.expected(request()) == Expected(most_tokens=512)
    assert DIALECT.expected(request(translation("regex", pattern="a"), max_tokens=20)) == Expected(
        answer_tool="answer", most_tokens=20
    )
    assert DIALECT.expected(offering()) == Expected(offers_tools=True, most_tokens=512)
    as_text = offering().tools
    assert DIALECT.expected(request(tools=as_text)) == Expected(most_tokens=512)


def test_what_is_written_is_json() -> None:
    assert json.loads(json.dumps(body())) == body()
    assert body()["text"]["format"]["schema"] == CONTRACT.shown_schema


class TestIdentities:
    MODELS = (
        b'{"object":"list","data":[{"id":"m","created":17,"object":"model"},{"id":"n","created":18,"root":"org/n"}]}'
    )

    def test_a_handshake_asks_for_the_models_and_for_one(self) -> None:
        assert DIALECT.handshake("") == (Outgoing(method="GET", path="/models"),)
        assert DIALECT.handshake("ft:m/a?b") == (
            Outgoing(method="GET", path="/models"),
            Outgoing(method="GET", path="/models/ft%3Am%2Fa%3Fb"),
        )

    def test_a_server_is_its_api_and_its_models(self) -> None:
        listed = Answer(status=200, headers={"openai-version": "2020-10-01"}, body=self.MODELS)
        one = Answer(status=200, headers={}, body=b'{"id":"m","created":19,"root":"org/m"}')
        none = Answer(status=404, headers={}, body=b'{"error":{}}')
        known = {"is_ready": True, "version": "2020-10-01", "models": ("m", "n")}
        assert DIALECT.identify("", [listed]) == ServerIdentity(**known)
        assert DIALECT.identify("m", [listed, one]) == ServerIdentity(**known, revision="org/m")
        assert DIALECT.identify("n", [listed, none]) == ServerIdentity(**known, revision="org/n")
        # The moment of creation changes with every answer of some servers.
        assert DIALECT.identify("m", [listed, none]) == ServerIdentity(**known)
        assert DIALECT.identify("x", [listed, none]) == ServerIdentity(**known)

    @pytest.mark.parametrize(
        ("status", "content"), [(401, b"{}"), (0, b""), (200, b"<html>"), (200, b"[]"), (200, b'{"data":{"a":1}}')]
    )
    def test_a_server_that_tells_nothing_is_known_by_nothing(self, status: int, content: bytes) -> None:
        answer = Answer(status=status, headers={}, body=content)
        assert DIALECT.identify("m", [answer, answer]) == ServerIdentity(is_ready=status == 200)


def test_the_facts_name_what_the_api_takes() -> None:
    facts = DIALECT.facts
    assert facts.forms == {"json_schema", "regex", "grammar"}
    assert facts.notations == {"lark"}
    assert (facts.vendor, facts.key_variables) == ("openai", ("OPENAI_API_KEY",))
    assert all((facts.shows_schema, facts.tells_in_finish, facts.refuses, facts.offers_tools, facts.needs_key))
    assert facts.end_marker is None
