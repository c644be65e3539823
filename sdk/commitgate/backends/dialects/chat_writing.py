"""Write requests in the form of OpenAI's chat completions: what all servers that speak so share.

A dialect of one server puts its own words on top: the field of its constraints, the limit's name, how it draws.

Source: OpenAI's reference of chat completions.
"""

from __future__ import annotations

import re
from typing import Final

from commitgate.backends.base import GenerationRequest, Message, Sampling
from commitgate.backends.dialect import ServerFacts, UnwritableError
from commitgate.backends.translation import Translation
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.reasoning import Reasoning
from commitgate.tools.offer import ToolOffer

CHAT_PATH: Final = "/chat/completions"

_MOST_NAME_CHARACTERS: Final = 64
_NOT_OF_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]+")
_DEFAULT_NAME: Final = "answer"
_GBNF_ARROW: Final = "::="


def native_offer(request: GenerationRequest) -> ToolOffer | None:
    """Return the tools that are offered in the server's own form; None where they are asked for as text, or none."""
    translation = translation_of(request)
    return request.tools if translation.tools else None


def translation_of(request: GenerationRequest) -> Translation:
    """Return what a dialect writes of the contract."""
    assert request.translation is not None, "a dialect is asked with a translation"
    return request.translation


def conversation_of(request: GenerationRequest) -> JsonObject:
    """Return the messages, and the members that ask for a stream that ends with its count of tokens."""
    offer = native_offer(request)
    messages = request.messages if offer is None else offer.untold(request.messages)
    return {
        "messages": [_message(each) for each in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def tools_of(request: GenerationRequest) -> JsonObject:
    """Return the body's members that offer tools; none where they are asked for as text, or none are."""
    offer, translation = native_offer(request), translation_of(request)
    if offer is None:
        return {}
    return {
        "tools": [_tool(offer, name, translation) for name in translation.tools],
        "tool_choice": "required" if offer.answer == "none" else "auto",
        "parallel_tool_calls": offer.most_calls > 1,
    }


def json_schema_format(translation: Translation, *, is_strict: bool = True) -> JsonValue:
    """Return the value of ``response_format`` that asks for JSON of a schema.

    Args:
        translation: holds the schema.
        is_strict: each keyword of it must be enforced.
    """
    return {
        "type": "json_schema",
        "json_schema": {"name": name_of(translation), "strict": is_strict, "schema": schema_object(translation)},
    }


def schema_object(translation: Translation) -> JsonObject:
    """Return the schema as sent, as an object: one that allows everything is an empty one."""
    return translation.schema if isinstance(translation.schema, dict) else {}


def name_of(translation: Translation) -> str:
    """Return the contract's name as the servers take one: 1 to 64 letters, digits, ``_`` and ``-`` of ASCII."""
    name = _NOT_OF_A_NAME.sub("_", translation.sent.name)[:_MOST_NAME_CHARACTERS].strip("_")
    return name or _DEFAULT_NAME


def told_by_its_arrow(translation: Translation) -> str:
    """Return a grammar for a server that takes one for GBNF where ``::=`` stands in it, and else for Lark.

    Raises:
        UnsupportedError: it is Lark with such an arrow in a text of its own, and would be misread.
    """
    grammar = translation.grammar or ""
    if translation.notation == "lark" and _GBNF_ARROW in grammar:
        reason = f"the server takes a grammar for GBNF where {_GBNF_ARROW} stands in it; write it in GBNF"
        raise UnsupportedError(f"this Lark grammar: {reason}", pointer="", keyword="grammar", reason=reason)
    return grammar


def not_in_form(facts: ServerFacts, translation: Translation) -> UnsupportedError:
    """Return the error for a form of constraint that a server has no field for."""
    reason = f"{facts.title} has no field for it"
    return UnsupportedError(f"{translation.form}: {reason}", pointer="", keyword=translation.form, reason=reason)


def without_top_k(facts: ServerFacts, sampling: Sampling) -> None:
    """Check that a server which has no such field is not asked for the likeliest tokens alone.

    Raises:
        UnwritableError: it is.
    """
    if sampling.top_k is not None:
        raise UnwritableError(f"{facts.title} has no top_k; leave Sampling.top_k out")


def without_thoughts(facts: ServerFacts, reasoning: Reasoning | None) -> None:
    """Check that a server that has no field for it is not told how its model may think.

    Raises:
        UnwritableError: it is.
    """
    if reasoning is not None:
        raise UnwritableError(
            f"{facts.title} has no field for reasoning that holds for every model; leave reasoning out, and say in "
            "extra_body what this model's template knows"
        )


def effort_of(facts: ServerFacts, reasoning: Reasoning | None) -> JsonObject:
    """Return ``reasoning_effort`` for no thoughts at all; a number of tokens is nothing that it could say.

    Raises:
        UnwritableError: the model may think, and for so many tokens.
    """
    if reasoning is None:
        return {}
    if reasoning.max_tokens > 0:
        raise UnwritableError(
            f"{facts.title} cannot be told how many tokens its model may think; leave reasoning out and give "
            'extra_body={"reasoning_effort": ...}, or allow 0'
        )
    return {"reasoning_effort": "none"}


def model_of(facts: ServerFacts, model: str, *, is_needed: bool) -> JsonObject:
    """Return the member that names the model; none where the server takes its only one.

    Raises:
        UnwritableError: there is no name, and the server needs one.
    """
    if model:
        return {"model": model}
    if is_needed:
        raise UnwritableError(
            f"{facts.title} needs the name of a model: write it behind the backend's, as backend/name",
            code="missing_required_parameter",
        )
    return {}


def drawing_of(sampling: Sampling) -> JsonObject:
    """Return temperature, top_p and seed as they are; a server's own defaults are often others than ours.

    Raises:
        UnwritableError: the seed is -1, which servers take for none, so that no draw could be repeated.
    """
    if sampling.seed == -1:
        raise UnwritableError("a seed of -1 means none to this server; give Sampling.seed another number")
    members: JsonObject = {"temperature": sampling.heat, "top_p": sampling.top_p}
    if sampling.seed is not None:
        members["seed"] = sampling.seed
    return members


def _message(message: Message) -> JsonObject:
    return {"role": message.role, "content": message.content}


def _tool(offer: ToolOffer, name: str, translation: Translation) -> JsonObject:
    function: JsonObject = {"name": name}
    description = next((tool.description for tool in offer.tools if tool.name == name), "")
    if description:
        function["description"] = description
    function["parameters"] = translation.tools[name]
    function["strict"] = name in translation.strict_tools
    return {"type": "function", "function": function}


__all__ = [
    "CHAT_PATH",
    "conversation_of",
    "drawing_of",
    "effort_of",
    "json_schema_format",
    "model_of",
    "name_of",
    "native_offer",
    "not_in_form",
    "schema_object",
    "told_by_its_arrow",
    "tools_of",
    "translation_of",
    "without_thoughts",
    "without_top_k",
]
