"""Write requests of the OpenAI Responses API.

Regular expressions and grammars hold for the input of a custom tool alone, so the answer is asked for as that: one
tool, that must be called. ``strict`` is always sent: without it a schema is a mere hint. Nothing is stored.

Source: OpenAI's reference of responses as the types of openai-python 3.57 and openai-openapi f85dbe2 have it.
"""

from __future__ import annotations

from typing import Final

from commitgate.backends.base import GenerationRequest, Message, Sampling
from commitgate.backends.dialect import ServerFacts, UnwritableError
from commitgate.backends.dialects.chat_writing import name_of, native_offer, translation_of, without_top_k
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning
from commitgate.tools.offer import ToolOffer

ANSWER_TOOL: Final = "answer"
"""The custom tool whose input is the answer, where a pattern or a grammar holds for it."""

_TOLD: Final = "Give the whole answer as the input of this tool."
_LEAST_TOKENS: Final = 16
_HIGHEST_TEMPERATURE: Final = 2


def input_of(request: GenerationRequest) -> JsonObject:
    """Return the members that hold the conversation: the first words of the system are its instructions."""
    offer = native_offer(request)
    first, *rest = request.messages if offer is None else offer.untold(request.messages)
    if first.role != "system" or not rest:
        return {"input": [_message(first), *map(_message, rest)]}
    return {"instructions": first.content, "input": [_message(each) for each in rest]}


def drawing_of(facts: ServerFacts, sampling: Sampling) -> JsonObject:
    """Return how to draw, and the limit on tokens.

    What nobody asked for is left out: models that think take no temperature and no top_p.

    Raises:
        UnwritableError: the API has no such field, or takes no such value.
    """
    without_top_k(facts, sampling)
    if sampling.seed is not None:
        raise UnwritableError(f"{facts.title} has no seed; leave Sampling.seed out")
    if sampling.max_tokens < _LEAST_TOKENS:
        raise UnwritableError(
            f"{facts.title} takes no limit below {_LEAST_TOKENS} tokens; give Sampling.max_tokens >= {_LEAST_TOKENS}",
            code="integer_below_min_value",
        )
    if sampling.heat > _HIGHEST_TEMPERATURE:
        raise UnwritableError(
            f"{facts.title} takes no Sampling.temperature above {_HIGHEST_TEMPERATURE}", code="decimal_above_max_value"
        )
    members: JsonObject = {"max_output_tokens": sampling.max_tokens}
    if sampling.temperature is not None:
        members["temperature"] = sampling.temperature
    if sampling.top_p != 1:
        members["top_p"] = sampling.top_p
    return members


def thoughts_of(facts: ServerFacts, reasoning: Reasoning | None) -> JsonObject:
    """Return ``reasoning`` for no thoughts at all; a number of tokens is nothing that it could say.

    Raises:
        UnwritableError: the model may think, and for so many tokens.
    """
    if reasoning is None:
        return {}
    if reasoning.max_tokens > 0:
        raise UnwritableError(
            f"{facts.title} cannot be told how many tokens its model may think; leave reasoning out, give "
            'extra_body={"reasoning": {"effort": ...}} and room for the thoughts in Sampling.max_tokens; or allow 0'
        )
    return {"reasoning": {"effort": "none"}}


def constraint_of(translation: Translation) -> JsonObject:
    """Return the members that say what the answer must be; none where nothing is enforced."""
    match translation.form:
        case "json_schema":
            schema: JsonObject = {
                "type": "json_schema",
                "name": name_of(translation),
                "strict": True,
                "schema": translation.schema,
            }
            return {"text": {"format": schema}}
        case "regex":
            return _answer_tool("regex", translation.pattern)
        case "grammar":
            return _answer_tool("lark", translation.grammar)
        case _:
            return {}


def tools_of(request: GenerationRequest) -> JsonObject:
    """Return the members that offer tools; none where they are asked for as text, or none are.

    Several calls at once are asked for only where no tool is strict: what is enforced of one call was not enforced of
    several.
    """
    offer, translation = native_offer(request), translation_of(request)
    if offer is None:
        return {}
    return {
        "tools": [_tool(offer, name, translation) for name in translation.tools],
        "tool_choice": "required" if offer.answer == "none" else "auto",
        "parallel_tool_calls": offer.most_calls > 1 and not translation.strict_tools,
    }


def _message(message: Message) -> JsonObject:
    return {"role": message.role, "content": message.content}


def _answer_tool(syntax: str, definition: str | None) -> JsonObject:
    grammar: JsonObject = {"type": "grammar", "syntax": syntax, "definition": definition}
    return {
        "tools": [{"type": "custom", "name": ANSWER_TOOL, "description": _TOLD, "format": grammar}],
        "tool_choice": {"type": "custom", "name": ANSWER_TOOL},
        "parallel_tool_calls": False,
    }


def _tool(offer: ToolOffer, name: str, translation: Translation) -> JsonObject:
    tool: JsonObject = {"type": "function", "name": name}
    description = next((tool.description for tool in offer.tools if tool.name == name), "")
    if description:
        tool["description"] = description
    tool["strict"] = name in translation.strict_tools
    tool["parameters"] = translation.tools[name]
    return tool


__all__ = ["ANSWER_TOOL", "constraint_of", "drawing_of", "input_of", "thoughts_of", "tools_of"]
