"""What the model is asked: the caller's words, or the schema's own, and the schema where it is shown."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from scripts import GOOD, Pay, client_with

from commitgate.backends.base import Message
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.run.outline import CHOICES, DEPTH, LINES, outline
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


class Ticket(BaseModel):
    """File a support ticket for the mail below."""

    subject: Annotated[str, Field(description="what it is about, in a few words")]
    urgency: Literal["low", "high"] = "low"


async def sent(schema: Any = Ticket, **options: Any) -> list[tuple[str, str]]:
    backend = ScriptedBackend(GOOD)
    async with client_with(backend) as client:
        await client.generate_structured("scripted", schema, **options)
    (request,) = backend.requests
    return [(message.role, message.content) for message in request.messages]


async def test_prompt_is_one_user_message() -> None:
    assert await sent(prompt=" hello ", prompt_schema="none") == [("user", " hello ")]


async def test_system_comes_first() -> None:
    messages = await sent(prompt="hello", system="be brief", prompt_schema="none")
    assert messages == [("system", "be brief"), ("user", "hello")]


async def test_messages_are_sent_as_they_are() -> None:
    given = [Message("system", "a"), Message("user", "b"), Message("assistant", "c"), Message("user", "d")]
    messages = await sent(messages=given, prompt_schema="none")
    assert messages == [(message.role, message.content) for message in given]


async def test_without_words_of_the_callers_the_schemas_own_are_the_prompt() -> None:
    for options in ({}, {"system": "be brief"}):
        role, content = (await sent(prompt_schema="none", **options))[-1]
        assert role == "user"
        assert "File a support ticket for the mail below." in content
        assert "what it is about, in a few words" in content


async def test_schema_without_words_still_gives_a_prompt() -> None:
    ((role, content),) = await sent({"type": "integer"}, prompt_schema="none")
    assert role == "user"
    assert content.strip()


@pytest.mark.parametrize("system", [None, "be brief"])
async def test_appended_fields_stand_in_the_system_message_beside_the_callers_words(system: str | None) -> None:
    (first, shown), second = await sent(prompt="hello", system=system)
    assert (first, second) == ("system", ("user", "hello"))
    assert shown.startswith(system or "You answer")
    assert "- subject: what it is about, in a few words" in shown
    assert "- urgency: one of low, high" in shown


async def test_rest_of_the_conversation_is_left_alone() -> None:
    given = [Message("user", "first"), Message("assistant", "second"), Message("user", "third")]
    messages = await sent(messages=given)
    assert messages[0][0] == "system"
    assert messages[1:] == [(message.role, message.content) for message in given]


async def test_boolean_schema_is_not_shown() -> None:
    assert await sent(True, prompt="hello") == [("user", "hello")]


NODE = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}


@pytest.mark.parametrize(
    ("schema", "lines"),
    [
        ({"properties": {"a": {"type": "integer"}}}, ["- a: a whole number"]),
        ({"properties": {"a": {"const": 3}}}, ["- a: one of 3"]),
        ({"properties": {"a": {}}}, ["- a: any value"]),
        (
            {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
            ["- a: a text or null"],
        ),
        (
            {"properties": {"a": {"$ref": "#/$defs/b", "description": "own"}}, "$defs": {"b": {"enum": ["x", "y"]}}},
            ["- a: own, one of x, y"],
        ),
        (
            {"properties": {"a": {"type": "array", "items": {"properties": {"b": {"type": "boolean"}}}}}},
            ["- a: a list", "  - b: true or false"],
        ),
        ({"items": {"properties": {"a": {"type": "number"}}}}, ["- a: a number"]),
        (
            {"$ref": "#/$defs/node", "$defs": {"node": NODE}},
            ["- name: a text", "- next: an object", "  - name: a text", "  - next: an object"],
        ),
    ],
)
def test_outline_says_what_each_field_is(schema: JsonObject, lines: list[str]) -> None:
    assert outline(schema).splitlines()[1 : len(lines) + 1] == lines


def test_outline_of_a_schema_without_end_ends() -> None:
    shown = outline({"$ref": "#/$defs/node", "$defs": {"node": NODE}}).splitlines()
    assert len(shown) == 1 + 2 * DEPTH
    assert outline({"$ref": "#"}).startswith("You answer with JSON")
    wide: JsonObject = {"properties": {f"f{number}": {"enum": [*range(1_000)]} for number in range(1_000)}}
    shown = outline(wide).splitlines()
    assert len(shown) == 1 + LINES
    assert shown[1].count(",") == CHOICES


CIRCLE: JsonObject = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/circle"}]}
CROWD: list[JsonValue] = [{"anyOf": [{"$ref": f"#/$defs/c{number}"} for number in range(60)]} for _ in range(60)]


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/circle"}}, "$defs": {"circle": CIRCLE}}, "- a: null"),
        ({"properties": {"a": {"$ref": "#/$defs/own"}}, "$defs": {"own": {"$ref": "#/$defs/own"}}}, "- a: any value"),
        (
            {
                "properties": {"a": {"anyOf": [{"$ref": "#/$defs/c0"}, {"type": "string"}]}},
                "$defs": {f"c{number}": options for number, options in enumerate(CROWD)},
            },
            "- a: a text",
        ),
    ],
    ids=["circle", "own reference", "crowd"],
)
def test_outline_ends_however_options_refer_to_one_another(schema: JsonObject, line: str) -> None:
    assert outline(schema).splitlines()[1] == line


def test_outline_takes_no_more_fields_than_it_shows() -> None:
    crowd: JsonObject = {"properties": {f"f{number}": {"$ref": "#"} for number in range(1_000)}}
    assert len(outline(crowd).splitlines()) == 1 + LINES


def test_schema_that_is_no_object_is_shown_as_json_without_noise() -> None:
    shown = outline({"type": "array", "title": "Canary", "items": {"type": "integer", "default": 3}})
    assert shown.splitlines()[1] == '{"type": "array", "items": {"type": "integer"}}'
    named = {"anyOf": [{"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}]}
    assert '"title": {' in outline(named)


async def test_asking_does_not_change_with_the_backend_or_the_run() -> None:
    assert await sent(prompt="hello") == await sent(prompt="hello")
    assert [role for role, _ in await sent(Pay)] == ["system", "user"]


def test_outline_follows_references_into_documents_that_were_passed_in() -> None:
    documents: dict[str, JsonSchema] = {"https://example.com/b": {"$defs": {"x": {"type": "integer"}}}}
    schema: JsonObject = {"properties": {"a": {"$ref": "https://example.com/b#/$defs/x"}}}
    assert outline(schema, documents).splitlines()[1] == "- a: a whole number"
