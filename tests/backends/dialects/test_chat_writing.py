"""Write requests for chat completions: exact bodies for every server and form, and what a server cannot be asked."""

import json
from typing import Any

import pytest
from backends.dialects.chat_requests import ASKED, CITY, CONTRACT, offering, request, translation

from commitgate.backends.base import Message
from commitgate.backends.dialect import Dialect, Expected, UnwritableError
from commitgate.backends.dialects.commitgate_chat import CommitgateChatDialect
from commitgate.backends.dialects.llamacpp_chat import LlamaCppChatDialect
from commitgate.backends.dialects.nim_chat import NimChatDialect
from commitgate.backends.dialects.ollama_v1_chat import OllamaV1ChatDialect
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.dialects.sglang_chat import SglangChatDialect
from commitgate.backends.dialects.tgi_chat import TgiChatDialect
from commitgate.backends.dialects.vllm_chat import VllmChatDialect
from commitgate.contract import Contract
from commitgate.difference import Difference
from commitgate.errors import MisuseError, UnsupportedError
from commitgate.reasoning import Reasoning

OPENAI, VLLM, SGLANG, LLAMA = OpenAIChatDialect(), VllmChatDialect(), SglangChatDialect(), LlamaCppChatDialect()
NIM, NIM_ON_SGLANG, OLLAMA, TGI, OWN = (
    NimChatDialect(),
    NimChatDialect("sglang"),
    OllamaV1ChatDialect(),
    TgiChatDialect(),
    CommitgateChatDialect(),
)
ALL: tuple[Dialect, ...] = (OPENAI, VLLM, NIM, NIM_ON_SGLANG, SGLANG, LLAMA, OLLAMA, TGI, OWN)
SCHEMA: Any = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": CITY}}
ASKING: Any = {
    "messages": [{"role": "user", "content": "Which city is it?"}],
    "stream": True,
    "stream_options": {"include_usage": True},
}


def names(dialect: Dialect) -> str:
    return dialect.facts.name


def body(dialect: Dialect, *given: Any, **fields: Any) -> Any:
    found = dialect.write(request(*given, **fields))
    assert (found.method, found.path) == ("POST", "/chat/completions")
    return found.body


@pytest.mark.parametrize(
    ("dialect", "own"),
    [
        (OPENAI, {"max_completion_tokens": 512}),
        (VLLM, {"max_completion_tokens": 512, "temperature": 0.0, "top_p": 1.0, "top_k": -1}),
        (NIM, {"max_tokens": 512, "temperature": 0.0, "top_p": 1.0}),
        (SGLANG, {"max_completion_tokens": 512, "temperature": 0.0, "top_p": 1.0, "top_k": -1}),
        (
            LLAMA,
            {
                "max_tokens": 512,
                "temperature": 0.0,
                "top_p": 1.0,
                "top_k": 0,
                "samplers": ["temperature", "top_k", "top_p"],
            },
        ),
        (OLLAMA, {"max_tokens": 512, "temperature": 0.0, "top_p": 1.0}),
        (OWN, {"max_completion_tokens": 512, "temperature": 0.0, "top_p": 1.0}),
    ],
    ids=lambda each: names(each) if hasattr(each, "facts") else "",
)
def test_a_schema_is_asked_for_with_every_keyword(dialect: Dialect, own: Any) -> None:
    assert body(dialect) == {"model": "m", **ASKING, **own, "response_format": SCHEMA}


def test_tgi_takes_a_schema_as_a_value_of_its_own_and_no_top_p_that_keeps_all() -> None:
    value = {"name": "city", "schema": CITY}
    assert body(TGI) == {
        "model": "m",
        **ASKING,
        "max_tokens": 512,
        "temperature": 0.0,
        "response_format": {"type": "json_schema", "value": value},
    }
    assert body(TGI, top_p=0.5)["top_p"] == 0.5


@pytest.mark.parametrize(
    ("dialect", "field"),
    [
        (VLLM, {"structured_outputs": {"regex": "a+"}}),
        (NIM, {"structured_outputs": {"regex": "a+"}}),
        (NIM_ON_SGLANG, {"regex": "a+"}),
        (SGLANG, {"regex": "a+"}),
        (TGI, {"response_format": {"type": "regex", "value": "a+"}}),
        (OWN, {"structured_outputs": {"regex": "a+"}}),
    ],
    ids=lambda each: names(each) if hasattr(each, "facts") else "",
)
def test_a_pattern_goes_into_the_servers_own_field(dialect: Dialect, field: Any) -> None:
    plain = body(dialect, translation("prompt"))
    assert body(dialect, translation("regex", pattern="a+")) == {**plain, **field}


@pytest.mark.parametrize(
    ("dialect", "field"),
    [
        (VLLM, {"structured_outputs": {"grammar": 'root ::= "a"'}}),
        (NIM, {"structured_outputs": {"grammar": 'root ::= "a"'}}),
        (NIM_ON_SGLANG, {"ebnf": 'root ::= "a"'}),
        (SGLANG, {"ebnf": 'root ::= "a"'}),
        (LLAMA, {"grammar": 'root ::= "a"'}),
        (OWN, {"structured_outputs": {"grammar": 'root ::= "a"'}}),
    ],
    ids=lambda each: names(each) if hasattr(each, "facts") else "",
)
def test_a_grammar_goes_into_the_servers_own_field(dialect: Dialect, field: Any) -> None:
    asked = translation("grammar", grammar='root ::= "a"', notation="gbnf")
    assert body(dialect, asked) == {**body(dialect, translation("prompt")), **field}


@pytest.mark.parametrize("dialect", [VLLM, NIM, OWN], ids=names)
def test_choices_go_into_the_servers_own_field(dialect: Dialect) -> None:
    asked = translation("choices", choices=("yes", "no"))
    assert body(dialect, asked)["structured_outputs"] == {"choice": ["yes", "no"]}


@pytest.mark.parametrize(
    ("form", "given", "grammar"),
    [
        ("regex", {"pattern": "a+"}, {"syntax": "regex", "definition": "a+"}),
        ("grammar", {"grammar": 'start: "a"', "notation": "lark"}, {"syntax": "lark", "definition": 'start: "a"'}),
    ],
)
def test_openai_is_asked_for_a_text_as_the_input_of_one_tool(form: Any, given: Any, grammar: Any) -> None:
    asked = request(translation(form, **given))
    found: Any = OPENAI.write(asked).body
    (tool,) = found["tools"]
    assert tool["type"] == "custom"
    assert tool["custom"]["name"] == "answer"
    assert tool["custom"]["format"] == {"type": "grammar", "grammar": grammar}
    assert found["tool_choice"] == {"type": "custom", "custom": {"name": "answer"}}
    assert found["parallel_tool_calls"] is False
    assert "response_format" not in found
    assert OPENAI.expected(asked) == Expected(answer_tool="answer")


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_without_a_constraint_none_is_sent(dialect: Dialect) -> None:
    found = body(dialect, translation("prompt"))
    assert not found.keys() & {"response_format", "structured_outputs", "regex", "ebnf", "grammar", "tools"}


@pytest.mark.parametrize("dialect", ALL, ids=names)
@pytest.mark.parametrize(
    ("form", "given"),
    [
        ("regex", {"pattern": "a+"}),
        ("choices", {"choices": ("a",)}),
        ("grammar", {"grammar": 'root ::= "a"', "notation": "gbnf"}),
    ],
)
def test_a_form_that_a_server_has_no_field_for_is_refused_and_no_other(dialect: Dialect, form: Any, given: Any) -> None:
    asked = request(translation(form, **given))
    if form in dialect.facts.forms:
        dialect.write(asked)
        return
    with pytest.raises(UnsupportedError) as raised:
        dialect.write(asked)
    assert raised.value.keyword == form
    assert dialect.facts.title in str(raised.value)


@pytest.mark.parametrize("dialect", [VLLM, OWN], ids=names)
def test_lark_that_would_be_read_as_another_notation_is_refused(dialect: Dialect) -> None:
    body(dialect, translation("grammar", grammar='start: "a"', notation="lark"))
    with pytest.raises(UnsupportedError) as raised:
        body(dialect, translation("grammar", grammar='start: "::="', notation="lark"))
    assert raised.value.keyword == "grammar"


def test_our_own_server_is_told_where_a_keyword_is_left_to_the_gate() -> None:
    checked = Difference(kind="checked", pointer="", keyword="uniqueItems", reason="it is only checked")
    for dialect, is_strict in ((OWN, False), (OPENAI, True)):
        found = body(dialect, translation(differences=(checked,)))
        assert found["response_format"]["json_schema"]["strict"] is is_strict


def test_a_schema_that_allows_everything_is_sent_as_an_object() -> None:
    assert body(VLLM, translation(schema=True))["response_format"]["json_schema"]["schema"] == {}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("city", "city"),
        ("Order line (v2)", "Order_line_v2"),
        ("Größe", "Gr_e"),
        ("日本", "answer"),
        ("x" * 70, "x" * 64),
        ("a-b_c", "a-b_c"),
    ],
)
@pytest.mark.parametrize("dialect", [OPENAI, OWN], ids=names)
def test_a_schemas_name_is_one_that_the_servers_take(dialect: Dialect, name: str, sent: str) -> None:
    named = translation(sent=Contract.json_schema(CITY, name=name))
    assert body(dialect, named)["response_format"]["json_schema"]["name"] == sent


def test_the_constraint_comes_from_the_translation_alone() -> None:
    other: Any = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
    sent = translation(schema=other, sent=Contract.json_schema(other, name="other"))
    schema = body(OPENAI, sent, contract=CONTRACT)["response_format"]["json_schema"]
    assert schema == {"name": "other", "strict": True, "schema": other}


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_messages_are_sent_as_they_are(dialect: Dialect) -> None:
    said = (Message("system", "Be short."), ASKED, Message("assistant", "{}"), Message("user", "Again."))
    found = body(dialect, messages=said)
    assert found["messages"] == [{"role": each.role, "content": each.content} for each in said]


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_ways_to_draw_are_sent_or_refused_by_their_name(dialect: Dialect) -> None:
    found = body(dialect, temperature=0.5, top_p=0.9, seed=7, max_tokens=5)
    assert (found["temperature"], found["top_p"], found["seed"]) == (0.5, 0.9, 7)
    assert found.get("max_tokens", found.get("max_completion_tokens")) == 5
    if dialect in (OPENAI, OLLAMA, TGI):
        with pytest.raises(UnwritableError, match="top_k"):
            body(dialect, top_k=4)
    else:
        assert body(dialect, top_k=4)["top_k"] == 4


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_a_seed_that_a_server_takes_for_none_is_refused(dialect: Dialect) -> None:
    assert body(dialect, seed=0)["seed"] == 0
    if dialect in (OPENAI, OWN):
        assert body(dialect, seed=-1)["seed"] == -1
    else:
        with pytest.raises(UnwritableError, match="seed"):
            body(dialect, seed=-1)


@pytest.mark.parametrize("seed", [-2, 2**32 - 1, 2**40])
def test_a_seed_that_llama_cpp_would_cut_or_ignore_is_refused(seed: int) -> None:
    assert body(LLAMA, seed=2**32 - 2)["seed"] == 2**32 - 2
    with pytest.raises(UnwritableError, match="seed"):
        body(LLAMA, seed=seed)


def test_openai_is_not_told_how_to_draw_where_nobody_said_it() -> None:
    # Models that think take no temperature, not even their own.
    assert not body(OPENAI).keys() & {"temperature", "top_p", "seed"}
    assert body(OPENAI, temperature=0.0)["temperature"] == 0.0


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_thoughts_are_asked_for_truly_or_refused(dialect: Dialect) -> None:
    with pytest.raises(UnwritableError, match="reasoning"):
        body(dialect, reasoning=Reasoning(max_tokens=100))
    if dialect in (OPENAI, OLLAMA, OWN):
        assert body(dialect, reasoning=Reasoning(max_tokens=0))["reasoning_effort"] == "none"
    else:
        with pytest.raises(UnwritableError, match="reasoning"):
            body(dialect, reasoning=Reasoning(max_tokens=0))


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_a_model_without_a_name_is_left_to_the_server_or_refused(dialect: Dialect) -> None:
    if dialect in (VLLM, SGLANG, LLAMA, TGI):
        assert "model" not in body(dialect, model="")
    else:
        with pytest.raises(UnwritableError, match="name of a model"):
            body(dialect, model="")


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_tools_are_offered_in_the_servers_own_form(dialect: Dialect) -> None:
    asked = offering()
    found: Any = dialect.write(asked).body
    search, quiet = found["tools"]
    function = {"name": "search", "description": "Search the web.", "parameters": CITY, "strict": True}
    assert search == {"type": "function", "function": function}
    assert quiet["function"] == {
        "name": "quiet",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
    if dialect is OLLAMA:
        assert not found.keys() & {"tool_choice", "parallel_tool_calls"}
    else:
        assert (found["tool_choice"], found["parallel_tool_calls"]) == ("auto", True)
    # The server tells the model of the tools itself.
    assert found["messages"] == [{"role": "user", "content": "Which city is it?"}]
    assert dialect.expected(asked) == Expected(offers_tools=True)


def test_a_turn_that_must_call_and_call_once_says_so() -> None:
    found: Any = OPENAI.write(offering(answer="none", most_calls=1)).body
    assert (found["tool_choice"], found["parallel_tool_calls"]) == ("required", False)


def test_ollama_cannot_be_told_that_a_tool_must_be_called() -> None:
    with pytest.raises(UnsupportedError) as raised:
        OLLAMA.write(offering(answer="none"))
    assert raised.value.keyword == "tools"


def test_a_turn_whose_answer_is_json_is_asked_for_with_its_schema() -> None:
    found: Any = OPENAI.write(offering(answer="json", form="json_schema")).body
    assert found["response_format"] == SCHEMA
    assert len(found["tools"]) == 2


def test_tools_that_are_told_as_text_leave_the_messages_as_they_are() -> None:
    told = offering()
    asked = request(translation(), messages=told.messages, tools=told.tools)
    found: Any = VLLM.write(asked).body
    assert "tools" not in found
    assert found["messages"][0] == {"role": "system", "content": "You have tools."}
    assert VLLM.expected(asked) == Expected()


@pytest.mark.parametrize("dialect", ALL, ids=names)
def test_the_same_request_is_written_alike(dialect: Dialect) -> None:
    first, again = (json.dumps(dialect.write(request(seed=1)).body) for _ in range(2))
    assert first == again


def test_nim_knows_two_engines() -> None:
    with pytest.raises(MisuseError, match="engine"):
        NimChatDialect("tensorrt")  # pyright: ignore[reportArgumentType]  # the wrong word is the test
