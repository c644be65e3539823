"""What a request asks of an answer becomes a contract that is enforced whole, or a refusal before any token."""

import json
from typing import Any

import pytest
from chats import CITY, LIMITS, USER, function, json_schema, parsed, prepared
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import compile
from commitgate.backends.base import GenerationRequest, Message
from commitgate.limits import Limits
from commitgate_local.server.chat_contract import ReplyForm, prepare_chat
from commitgate_local.server.refusal import RequestRefused
from commitgate_local.server.server_limits import ServerLimits

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
UNDECODED = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
UNREADABLE = {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0}}}
EMPTY_LANGUAGE = {"type": "object", "properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}}


def accepts(generation: GenerationRequest, text: str) -> bool:
    acceptor = compile(generation.contract).acceptor()
    return acceptor.feed(text.encode()) and acceptor.is_accepting


def refused(limits: ServerLimits = LIMITS, **fields: Any) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught:
        prepared(limits, **fields)
    return caught.value


def test_request_without_a_form_is_not_constrained() -> None:
    chat = prepared(temperature=0, seed=4, max_tokens=9)
    generation = chat.generation
    assert (chat.form, generation.is_constrained, generation.tools) == (ReplyForm.TEXT, False, None)
    assert generation.messages == (Message("user", USER["content"]),)
    assert generation.sampling == parsed(temperature=0, seed=4, max_tokens=9).sampling


@pytest.mark.parametrize(
    ("fields", "yes", "no"),
    [
        ({"response_format": json_schema(CITY)}, '{"city": "Oslo"}', '{"town": "Oslo"}'),
        ({"response_format": json_schema({"type": "integer"})}, "12", '"12"'),
        ({"response_format": {"type": "json_object"}}, '{"a": [1]}', "[1]"),
        ({"structured_outputs": {"json": CITY}}, '{"city": "Oslo"}', "{}"),
        ({"structured_outputs": {"json_object": True}}, "{}", "null"),
        ({"structured_outputs": {"regex": "[ab]+"}}, "abba", "abc"),
        ({"structured_outputs": {"choice": ["yes", "no"]}}, "no", "nope"),
        ({"structured_outputs": {"grammar": 'root ::= "a" root?'}}, "aaa", "ab"),
        ({"structured_outputs": {"grammar": 'start: "a" start?'}}, "aaa", "ab"),
        ({"guided_json": CITY}, '{"city": "Oslo"}', "{}"),
    ],
)
def test_form_becomes_the_language_of_the_answer(fields: dict[str, Any], yes: str, no: str) -> None:
    chat = prepared(**fields)
    assert (chat.form, chat.generation.is_constrained) == (ReplyForm.TEXT, True)
    assert accepts(chat.generation, yes)
    assert not accepts(chat.generation, no)


def test_no_white_space_is_a_style_of_writing() -> None:
    chat = prepared(structured_outputs={"json": CITY, "disable_any_whitespace": True})
    assert chat.generation.contract.style.white_space == "compact"
    assert prepared(structured_outputs={"json": CITY}).generation.contract.style.white_space == "python"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": json_schema(UNDECODED)}, "response_format.json_schema.schema"),
        ({"response_format": json_schema(UNDECODED, strict=True)}, "response_format.json_schema.schema"),
        ({"structured_outputs": {"json": UNDECODED}}, "structured_outputs.json"),
        ({"guided_json": UNDECODED}, "guided_json"),
    ],
)
def test_keyword_that_decoding_cannot_enforce_is_refused_with_its_place(fields: Any, param: str) -> None:
    error = refused(**fields)
    assert (error.status, error.code, error.param) == (400, "unsupported_schema", param)
    assert (error.keyword, error.pointer) == ("uniqueItems", "")


def test_keyword_that_decoding_cannot_enforce_is_left_to_the_client_that_says_so() -> None:
    chat = prepared(response_format=json_schema(UNDECODED, strict=False))
    assert accepts(chat.generation, '["a"]')
    assert not accepts(chat.generation, "[1]")


@pytest.mark.parametrize(
    ("schema", "code", "keyword", "pointer"),
    [
        (UNREADABLE, "invalid_json_schema", "multipleOf", "/properties/a"),
        ({"$ref": "#/$defs/none"}, "invalid_json_schema", "$ref", ""),
        ({"$ref": "https://example.org/x"}, "unsupported_schema", "$ref", ""),
        ({**EMPTY_LANGUAGE, "required": ["a"]}, "unsatisfiable_schema", None, ""),
        (False, "unsatisfiable_schema", None, ""),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_schema_that_cannot_be_built_is_refused_with_its_place(
    schema: Any, code: str, keyword: str | None, pointer: str, strict: bool
) -> None:
    error = refused(response_format=json_schema(schema, strict=strict))
    assert (error.status, error.code, error.param) == (400, code, "response_format.json_schema.schema")
    assert error.keyword == keyword or keyword is None
    assert (error.pointer or "").startswith(pointer)
    assert error.error_object()["error"] == {  # what a client sees
        "message": str(error),
        "type": "invalid_request_error",
        "param": error.param,
        "code": code,
        "pointer": error.pointer,
        **({} if error.keyword is None else {"keyword": error.keyword}),
    }


@pytest.mark.parametrize(
    ("given", "keyword", "position"),
    [
        ({"regex": "ab("}, "regex", 2),
        ({"grammar": 'root ::= "a" other'}, "grammar", 13),
        ({"choice": []}, "choices", None),
    ],
)
def test_text_language_that_is_malformed_is_refused_with_its_position(
    given: Any, keyword: str, position: int | None
) -> None:
    error = refused(structured_outputs=given)
    assert (error.status, error.code, error.keyword, error.position) == (400, "invalid_language", keyword, position)


def test_refusal_of_a_grammar_says_when_it_was_read_as_lark() -> None:
    assert "read as Lark" in refused(structured_outputs={"grammar": 'root := "a"'}).message
    assert "Lark" not in refused(structured_outputs={"grammar": 'root ::= "a" other'}).message


def test_schema_over_a_limit_is_refused_with_the_limit() -> None:
    limits = ServerLimits(contract=Limits(properties=2))
    schema = {"type": "object", "properties": {name: {} for name in "abc"}}
    error = refused(limits, response_format=json_schema(schema))
    assert (error.status, error.code) == (400, "schema_too_large")
    assert "2" in error.message
    assert refused(limits, tools=[function("a", parameters=schema)]).param == "tools[0].function.parameters"


def test_field_of_the_contract_is_kept_for_what_only_the_backend_finds() -> None:
    assert prepared().param is None
    assert prepared(structured_outputs={"regex": "a"}).param == "structured_outputs.regex"
    assert prepared(tools=[function()], response_format=json_schema(CITY)).param == "tools"


# The prompt


def test_messages_are_handed_on_as_they_are_unless_the_server_shows_schemas() -> None:
    request = parsed(response_format=json_schema(CITY))
    shown = prepare_chat(request, limits=LIMITS, prompt_schema="append").generation.messages
    assert prepare_chat(request, limits=LIMITS).generation.messages == request.messages
    assert (shown[0].role, shown[1:]) == ("system", request.messages)
    assert "city" in shown[0].content


def test_messages_stay_as_they_are_where_there_is_no_schema_to_show_or_none_is_shown() -> None:
    plain = parsed()
    assert prepare_chat(plain, limits=LIMITS, prompt_schema="append").generation.messages == plain.messages
    system = parsed(messages=[{"role": "system", "content": "S"}], response_format=json_schema(CITY))
    assert prepare_chat(system, limits=LIMITS).generation.messages == (Message("system", "S"),)


def test_model_is_named_as_the_backend_knows_it() -> None:
    assert prepare_chat(parsed(), limits=LIMITS, model="folder/model").generation.model == "folder/model"
    assert prepared().generation.model == ""


# Tools


CALL = '{"calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}'
TWO = '{"calls": [{"name": "weather", "arguments": {"city": "a"}}, {"name": "weather", "arguments": {"city": "b"}}]}'
OTHER = '{"calls": [{"name": "other", "arguments": {"city": "Oslo"}}]}'
MISFIT = '{"calls": [{"name": "weather", "arguments": {"town": "Oslo"}}]}'
WORDS = '{"answer": "Warm."}'
JSON = '{"answer": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    ("fields", "form", "yes", "no"),
    [
        ({}, ReplyForm.WORDS_OR_CALLS, [CALL, TWO, WORDS], [OTHER, MISFIT, JSON, "Warm."]),
        ({"parallel_tool_calls": False}, ReplyForm.WORDS_OR_CALLS, [CALL, WORDS], [TWO]),
        ({"tool_choice": "required"}, ReplyForm.WORDS_OR_CALLS, [CALL, TWO], [WORDS]),
        (
            {"tool_choice": {"type": "function", "function": {"name": "weather"}}},
            ReplyForm.WORDS_OR_CALLS,
            [CALL],
            [TWO, WORDS],
        ),
        ({"response_format": json_schema(CITY)}, ReplyForm.JSON_OR_CALLS, [CALL, JSON], [WORDS]),
        ({"response_format": {"type": "json_object"}}, ReplyForm.JSON_OR_CALLS, [CALL, JSON], [WORDS]),
        ({"response_format": json_schema({"type": "string"})}, ReplyForm.JSON_OR_CALLS, [WORDS], [JSON]),
        ({"tool_choice": "none", "response_format": json_schema(CITY)}, ReplyForm.TEXT, ['{"city": "a"}'], [CALL]),
    ],
)
def test_turn_is_calls_that_fit_or_an_answer(fields: Any, form: ReplyForm, yes: list[str], no: list[str]) -> None:
    chat = prepared(tools=[function()], **fields)
    assert (chat.form, chat.generation.is_constrained) == (form, True)
    assert [accepts(chat.generation, text) for text in yes] == [True] * len(yes)
    assert [accepts(chat.generation, text) for text in no] == [False] * len(no)


def test_model_is_told_of_tools_and_the_client_s_words_stay_as_they_are() -> None:
    chat = prepared(tools=[function(description="how warm it is")], messages=[{"role": "system", "content": "S"}, USER])
    offer = chat.generation.tools
    assert offer is not None
    assert "how warm it is" in chat.generation.messages[0].content
    assert offer.untold(chat.generation.messages) == (Message("system", "S"), Message("user", USER["content"]))
    assert [(each.name, each.description) for each in offer.tools] == [("weather", "how warm it is")]


def test_text_language_beside_tools_is_refused() -> None:
    error = refused(tools=[function()], structured_outputs={"regex": "a+"})
    assert (error.status, error.param) == (400, "structured_outputs.regex")
    assert not prepared(tools=[function()], tool_choice="none", structured_outputs={"regex": "a+"}).generation.tools


def parameters(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}


def test_arguments_that_decoding_cannot_enforce_are_refused_with_their_place() -> None:
    error = refused(tools=[function(), function("b", parameters(UNDECODED))])
    assert (error.status, error.code, error.param) == (400, "unsupported_schema", "tools[1].function.parameters")
    assert (error.keyword, error.pointer) == ("uniqueItems", "/properties/a")
    chat = prepared(tools=[function("b", parameters(UNDECODED), strict=False)])
    assert accepts(chat.generation, '{"calls": [{"name": "b", "arguments": {"a": ["x", "y"]}}]}')
    assert not accepts(chat.generation, '{"calls": [{"name": "b", "arguments": {"a": [1]}}]}')


def test_parameters_that_cannot_be_built_are_refused_with_their_place() -> None:
    error = refused(tools=[function("b", parameters({"type": "strng"}))])
    assert (error.status, error.code, error.param) == (
        400,
        "invalid_function_parameters",
        "tools[0].function.parameters",
    )
    assert (error.pointer or "").startswith("/properties/a")


def test_tools_that_do_not_go_together_are_refused() -> None:
    limits = ServerLimits(contract=Limits(properties=8))
    four = {"type": "object", "properties": {name: {} for name in "abcd"}}
    for choice in ("auto", "required"):
        assert prepared(limits, tools=[function("a", four)], tool_choice=choice)
        error = refused(limits, tools=[function("a", four), function("b", four)], tool_choice=choice)
        assert (error.status, error.code, error.param) == (400, "schema_too_large", "tools")


@pytest.mark.parametrize("name", ["https://example.org/a", None])
def test_tools_whose_schemas_have_one_name_keep_their_meanings(name: str | None) -> None:
    def of(kind: str) -> dict[str, Any]:
        return {**parameters({"$ref": "#/$defs/t"}), "$defs": {"t": {"type": kind}}, **({"$id": name} if name else {})}

    chat = prepared(tools=[function("a", of("string")), function("b", of("integer"))])
    written = {(tool, value): accepts(chat.generation, called(tool, value)) for tool in "ab" for value in ('"x"', "1")}
    assert written == {("a", '"x"'): True, ("a", "1"): False, ("b", '"x"'): False, ("b", "1"): True}


def called(tool: str, value: str) -> str:
    return f'{{"calls": [{{"name": "{tool}", "arguments": {{"a": {value}}}}}]}}'


def test_parameters_of_an_older_draft_keep_their_meaning() -> None:
    pair = {"type": "array", "items": [{"type": "integer"}], "additionalItems": False}
    older = {"$schema": DRAFT_7, **parameters({"$ref": "#/definitions/pair"}), "definitions": {"pair": pair}}
    chat = prepared(tools=[function("b", older), function()])
    assert accepts(chat.generation, '{"calls": [{"name": "b", "arguments": {"a": [1]}}]}')
    assert not accepts(chat.generation, '{"calls": [{"name": "b", "arguments": {"a": [1, 2]}}]}')
    assert accepts(chat.generation, CALL)


SCHEMAS = st.recursive(
    st.sampled_from([True, {}, {"type": "string"}, {"type": "integer", "minimum": 3}, {"enum": ["a", 1, None]}, 3, "x"])
    | st.dictionaries(st.sampled_from(["type", "$ref", "pattern", "format", "not"]), st.text(max_size=4), max_size=2),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(["object", "array"])},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b/c", "~"]), inner, max_size=2),
            "required": st.lists(st.sampled_from(["a", "d"]), max_size=2),
            "items": inner,
            "anyOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, max_size=2),
            "not": inner,
            "$defs": st.dictionaries(st.sampled_from(["x"]), inner, max_size=1),
            "uniqueItems": st.booleans(),
        },
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(SCHEMAS, st.booleans())
def test_any_schema_becomes_a_contract_or_a_refusal_with_a_pointer(schema: Any, as_tool: bool) -> None:
    fields = {"tools": [function("a", schema)]} if as_tool else {"structured_outputs": {"json": schema}}
    refusal = None
    try:
        compile(prepared(**fields).generation.contract)
    except RequestRefused as error:
        refusal = error
    if refusal is not None:
        assert refusal.status == 400
        assert refusal.param
        assert json.loads(refusal.body())["error"]["type"] == "invalid_request_error"
