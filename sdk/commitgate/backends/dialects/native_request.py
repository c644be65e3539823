"""Write what a request says for servers with APIs of their own, and refuse what these cannot be told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from commitgate.argument import check_words
from commitgate.backends.base import GenerationRequest, Message
from commitgate.backends.dialect import ServerFacts, UnwritableError
from commitgate.backends.dialects.chat_writing import native_offer, translation_of
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning

Template: TypeAlias = Callable[[Sequence[Message]], str]
"""Writes a conversation as the text that a model continues, in the form in which the model was trained."""

_MARKS = Reasoning(max_tokens=0)


def spoken(request: GenerationRequest, facts: ServerFacts) -> tuple[list[str], list[Message]]:
    """Return what the system says, and the turns of the conversation, for a server that takes them apart.

    Raises:
        UnwritableError: the system speaks after the conversation began, or nobody else does.
    """
    turns = list(told_messages(request))
    instructions: list[str] = []
    while turns and turns[0].role == "system":
        instructions.append(turns.pop(0).content)
    if any(turn.role == "system" for turn in turns):
        raise UnwritableError(f"messages: {facts.title} takes system messages at the beginning alone", code="messages")
    if not turns:
        raise UnwritableError(
            f"messages: {facts.title} takes no conversation of system messages alone", code="messages"
        )
    return instructions, turns


def told_messages(request: GenerationRequest) -> tuple[Message, ...]:
    """Return the messages, without the words that describe tools where the server is told of these in its own form."""
    offer = native_offer(request)
    return request.messages if offer is None else offer.untold(request.messages)


def functions_of(request: GenerationRequest, *, parameters: str) -> list[JsonObject]:
    """Return the tools that are offered in the server's own form, as it takes functions.

    Args:
        request: the request.
        parameters: what the server calls the schema of a function's parameters.
    """
    offer, translation = native_offer(request), translation_of(request)
    found: list[JsonObject] = []
    for tool in () if offer is None else offer.tools:
        if tool.name in translation.tools:
            function: JsonObject = {"name": tool.name}
            if tool.description:
                function["description"] = tool.description
            function[parameters] = translation.tools[tool.name]
            found.append(function)
    return found


def schema_of(request: GenerationRequest) -> JsonObject:
    """Return the schema as sent, as an object: one that allows everything is an empty one."""
    schema = translation_of(request).schema
    return schema if isinstance(schema, dict) else {}


def raw_prompt(request: GenerationRequest, template: Template | None, facts: ServerFacts) -> str:
    """Return the text that the model continues.

    Args:
        request: the request.
        template: writes conversations; None where nobody gave one.
        facts: what is known of the server.

    Raises:
        MisuseError: the template gives no text, or a blank one.
        UnwritableError: there is no template, and the messages are more than one of the user.
    """
    messages = request.messages
    if template is not None:
        written = template(messages)
        check_words("what template gives", written)
        return written
    if len(messages) != 1 or messages[0].role != "user":
        raise UnwritableError(
            f"messages: {facts.title} continues a text and knows no chat template: give template=, or one user message",
            code="messages",
        )
    return messages[0].content


def no_marks(reasoning: Reasoning, facts: ServerFacts) -> None:
    """Check that thoughts are bounded by their number alone, for a server whose models' marks are its own business.

    Raises:
        UnwritableError: they are not.
    """
    if (reasoning.begin, reasoning.end, reasoning.gap) != (_MARKS.begin, _MARKS.end, _MARKS.gap):
        raise UnwritableError(f"reasoning: {facts.title} cannot be told marks of thoughts; set max_tokens alone")


__all__ = [
    "Template",
    "functions_of",
    "no_marks",
    "raw_prompt",
    "schema_of",
    "spoken",
    "told_messages",
]
