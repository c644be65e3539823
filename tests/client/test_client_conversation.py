"""What the model is asked: the caller's words, or the schema's own, and the schema where it is shown."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from scripts import GOOD, Pay, client_with

from commitgate.backends.base import Message
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
async def test_appended_schema_is_shown_without_noise_beside_the_callers_words(system: str | None) -> None:
    messages = await sent(prompt="hello", system=system)
    whole = "\n".join(content for _, content in messages)
    assert [role for role, _ in messages] == (["user"] if system is None else ["system", "user"])
    assert all(given in whole for given in ("hello", system or ""))
    assert '"urgency"' in whole
    assert "in a few words" in whole
    for noise in ("title", "$schema", "default"):
        assert f'"{noise}"' not in whole


async def test_properties_that_are_called_like_noise_are_kept() -> None:
    schema = {
        "type": "object",
        "title": "Canary",
        "properties": {"title": {"type": "string", "title": "Canary"}, "default": {"type": "integer"}},
        "required": ["title"],
        "additionalProperties": False,
    }
    whole = "\n".join(content for _, content in await sent(schema, prompt="hello"))
    assert '"title": {' in whole
    assert '"default": {' in whole
    assert "Canary" not in whole


async def test_schema_is_put_where_the_model_looks_last() -> None:
    given = [Message("user", "first"), Message("assistant", "second"), Message("user", "third")]
    messages = await sent(messages=given)
    assert [role for role, _ in messages] == ["user", "assistant", "user"]
    assert "urgency" in messages[-1][1]
    assert messages[:2] == [("user", "first"), ("assistant", "second")]


async def test_asking_does_not_change_with_the_backend_or_the_run() -> None:
    assert await sent(prompt="hello") == await sent(prompt="hello")
    assert (await sent(Pay))[0][0] == "user"
