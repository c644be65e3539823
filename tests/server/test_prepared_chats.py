"""Forms and tools that come again are not compiled again, and nothing of one request reaches another."""

from typing import Any

import pytest
from chats import CITY, LIMITS, USER, function, json_schema, parsed

from commitgate_local.server.chat_contract import prepare_chat
from commitgate_local.server.prepared_chats import KEPT_FORMS, LARGEST_FORM, PreparedChats
from commitgate_local.server.refusal import RequestRefused

FORMS: list[dict[str, Any]] = [
    {"response_format": json_schema(CITY)},
    {"response_format": {"type": "json_object"}},
    {"tools": [function()]},
    {"tools": [function()], "tool_choice": "required", "response_format": json_schema(CITY)},
]


@pytest.mark.parametrize("prompt_schema", ["none", "append"])
@pytest.mark.parametrize("form", FORMS)
def test_second_request_shares_the_contract_and_nothing_else(form: dict[str, Any], prompt_schema: Any) -> None:
    chats = PreparedChats(LIMITS, prompt_schema)
    first = chats.prepare(parsed(**form, seed=1), "a")
    request = parsed(**form, seed=2, max_tokens=5, messages=[{"role": "user", "content": "And in Bergen?"}])
    second = chats.prepare(request, "b")
    assert second.generation.contract is first.generation.contract
    expected = prepare_chat(request, limits=LIMITS, model="b", prompt_schema=prompt_schema)
    assert (second.form, second.param) == (expected.form, expected.param)
    for name in ("model", "messages", "sampling", "is_constrained"):
        assert getattr(second.generation, name) == getattr(expected.generation, name)
    assert second.generation.contract.language_digest == expected.generation.contract.language_digest


PAIRS: list[tuple[Any, Any]] = [
    ({"const": 1}, {"const": True}),
    ({"const": 1}, {"const": "1"}),
    ({"enum": ["1.0"]}, {"enum": [1.0]}),
    (
        {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a", "b"]},
        {"type": "object", "properties": {"b": {"const": 2}, "a": {"const": 1}}, "required": ["a", "b"]},
    ),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_schemas_that_python_takes_for_equal_are_told_apart(one: Any, other: Any) -> None:
    chats = PreparedChats(LIMITS, "none")
    first, second = (chats.prepare(parsed(response_format=json_schema(each)), "") for each in (one, other))
    assert first.generation.contract is not second.generation.contract


def test_strict_and_lenient_tools_are_told_apart() -> None:
    chats = PreparedChats(LIMITS, "none")
    schema = {**CITY, "properties": {"city": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}}
    chats.prepare(parsed(tools=[function(parameters=schema, strict=False)]), "")
    with pytest.raises(RequestRefused):
        chats.prepare(parsed(tools=[function(parameters=schema)]), "")


def test_form_unused_for_longest_makes_room() -> None:
    chats = PreparedChats(LIMITS, "none")
    schemas = [parsed(response_format=json_schema({"const": number})) for number in range(KEPT_FORMS + 1)]
    first, second, *rest = (chats.prepare(each, "") for each in schemas[:KEPT_FORMS])
    assert len(rest) == KEPT_FORMS - 2
    assert chats.prepare(schemas[0], "").generation.contract is first.generation.contract
    chats.prepare(schemas[-1], "")
    assert chats.prepare(schemas[0], "").generation.contract is first.generation.contract
    assert chats.prepare(schemas[1], "").generation.contract is not second.generation.contract


def test_large_form_is_not_kept() -> None:
    chats = PreparedChats(LIMITS, "none")
    request = parsed(
        response_format=json_schema({"type": "string", "description": "d" * LARGEST_FORM}), messages=[USER]
    )
    assert chats.prepare(request, "").generation.contract is not chats.prepare(request, "").generation.contract
