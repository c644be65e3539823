"""A turn of tools is asked for in the server's own form: each tool with its own parameters, the answer beside them."""

from __future__ import annotations

import json

import pytest
from backends.translation.vendor_servers import server

from commitgate import Contract, tool
from commitgate.automaton import compile
from commitgate.backends.translation import Translation, translate
from commitgate.json_value import JsonObject
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn_language import TurnLanguage

ANSWER = Contract.json_schema(
    {"type": "object", "properties": {"sum": {"type": "integer"}, "why": {"type": "string"}}, "required": ["sum"]}
)
WORDS = Contract.json_schema({"type": "string"})


@tool(effect="read")
async def look(city: str, days: int = 3, note: str | None = None) -> str:
    """Look up the weather."""
    return f"{city} {days} {note}"


@tool(effect="read")
async def count(days: int | None, city: str = "x") -> str:
    """Count."""
    return f"{days} {city}"


@tool(effect="read")
async def store(values: dict[str, int], days: int = 1) -> str:
    """Store values."""
    return f"{values} {days}"


def said(vendor: str | None, *tools: AnyTool, answer: Contract[object] | None = WORDS) -> Translation:
    language = TurnLanguage(ToolSet.of(tools), answer=answer)
    return translate(language.contract, server(vendor), tools=language.offer, native_tools=True)


def turn(**calls: JsonObject) -> bytes:
    listed = [{"name": name, "arguments": arguments} for name, arguments in calls.items()]
    return json.dumps({"calls": listed}).encode()


def restored(translation: Translation, text: bytes) -> object:
    restorer = translation.shape.restorer()
    found = b"".join(restorer.feed(text[at : at + 1]) for at in range(len(text))) + restorer.finish()
    return json.loads(found)


def test_each_tools_parameters_are_sent_in_the_vendors_words() -> None:
    translation = said("openai", look)
    parameters = translation.tools["look"]
    assert isinstance(parameters, dict)
    assert parameters["required"] == ["city", "days", "note"]
    assert translation.strict_tools == {"look"}
    assert {(each.kind, each.pointer, each.tool) for each in translation.differences} == {
        ("nullable", "/properties/days", "look"),
        ("narrowed", "/properties/note", "look"),
    }
    assert translation.is_decoded


def test_nulls_are_taken_out_by_the_tool_that_is_called() -> None:
    translation = said("openai", look, count)
    received = turn(look={"city": "a", "days": None, "note": None}, count={"days": None, "city": None})
    assert compile(translation.sent).accepts(received)
    assert restored(translation, received) == {
        "calls": [
            {"name": "look", "arguments": {"city": "a", "note": None}},
            {"name": "count", "arguments": {"days": None}},
        ]
    }


def test_a_tool_named_like_the_answer_keeps_its_own_shape() -> None:
    @tool(effect="read", name="answer")
    async def answering(days: int = 1) -> str:
        """Answer."""
        return str(days)

    translation = said("openai", answering, answer=ANSWER)
    assert restored(translation, turn(answer={"days": None})) == {"calls": [{"name": "answer", "arguments": {}}]}
    assert restored(translation, b'{"answer": {"sum": 1, "why": null}}') == {"answer": {"sum": 1}}


def test_a_tool_that_cannot_be_enforced_is_offered_as_it_is_and_named() -> None:
    translation = said("openai", store, look)
    assert translation.strict_tools == {"look"}
    assert [(each.kind, each.pointer) for each in translation.differences if each.tool == "store"] == [
        ("checked", "/properties/values")
    ]
    assert "additionalProperties" in str(translation.tools["store"])
    assert not translation.is_decoded


def test_arguments_that_are_only_checked_come_as_far_as_the_layers() -> None:
    translation = said("openai", store, look)
    assert compile(translation.sent).accepts(turn(store={"values": "none"}))
    assert not compile(translation.sent).accepts(turn(look={"city": 1}))


@pytest.mark.parametrize("vendor", ["llama_cpp", "sglang", "tgi"])
def test_a_server_that_enforces_no_arguments_is_not_called_strict(vendor: str) -> None:
    translation = said(vendor, look)
    assert translation.strict_tools == frozenset()
    assert [(each.kind, each.tool) for each in translation.differences] == [("checked", "look")]
    assert translation.shape.is_same


def test_no_more_tools_are_strict_than_the_vendor_takes_together() -> None:
    def numbered(number: int) -> AnyTool:
        @tool(effect="read", name=f"t{number}")
        async def made(a: int = 1, b: int = 2, c: int = 3) -> str:
            """Make."""
            return str(a + b + c)

        return made

    translation = said("anthropic", *map(numbered, range(12)))
    assert len(translation.strict_tools) == 8  # of three optional parameters each, 24 together
    assert len(translation.tools) == 12


def test_an_answer_that_is_json_is_asked_for_beside_the_tools() -> None:
    translation = said("vllm", look, answer=ANSWER)
    assert translation.form == "json_schema"
    assert translation.schema == {
        "type": "object",
        "properties": {"sum": {"type": "integer"}, "why": {"type": "string"}},
        "required": ["sum"],
    }
    assert compile(translation.sent).accepts(b'{"answer": {"sum": 1}}')


def test_an_answer_whose_root_is_not_taken_is_checked_alone() -> None:
    answer = Contract.json_schema({"type": "array", "items": {"type": "integer"}})
    translation = said("openai", look, answer=answer)
    assert translation.form == "prompt"
    assert any(each.kind == "checked" and each.tool is None for each in translation.differences)
    assert compile(translation.sent).accepts(b'{"answer": [1]}')


def test_what_words_must_be_is_checked_alone() -> None:
    translation = said("openai", look, answer=Contract.json_schema({"type": "string", "maxLength": 9}))
    assert [(each.kind, each.keyword) for each in translation.differences if each.tool is None] == [
        ("checked", "maxLength")
    ]


def test_a_turn_that_must_call_sends_no_schema_of_an_answer() -> None:
    translation = said("openai", look, answer=None)
    assert (translation.form, translation.schema) == ("prompt", None)
    assert translation.is_decoded


def test_a_server_of_our_own_is_offered_tools_as_they_are() -> None:
    language = TurnLanguage(ToolSet.of([look, store]), answer=ANSWER)
    translation = translate(language.contract, server(None), tools=language.offer, native_tools=True)
    assert translation.tools == {each.name: each.parameters for each in language.offer.tools}
    assert translation.strict_tools == {"look", "store"}
    assert (translation.differences, translation.sent) == ((), language.contract)


def test_without_a_form_for_tools_a_turn_is_a_schema_like_any_other() -> None:
    language = TurnLanguage(ToolSet.of([look]), answer=WORDS)
    translation = translate(language.contract, server("vllm"), tools=language.offer)
    assert translation.form == "json_schema"
    assert translation.tools == {}
    assert compile(translation.sent).accepts(turn(look={"city": "a"}))
