"""Write requests of the Anthropic Messages API.

Source: Anthropic's reference of messages, structured outputs, tools and extended thinking, as the types of anthropic
2.14 have them.
"""

from __future__ import annotations

from typing import Final

from commitgate.backends.base import GenerationRequest, Message, Sampling
from commitgate.backends.dialect import ServerFacts, UnwritableError
from commitgate.backends.dialects.chat_writing import native_offer, translation_of
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject, JsonValue
from commitgate.reasoning import Reasoning
from commitgate.tools.offer import ToolOffer

_LEAST_THOUGHTS: Final = 1_024
_HIGHEST_TEMPERATURE: Final = 1
_LEAST_TOP_P_THINKING: Final = 0.95
_ORDER: Final = "unsupported_conversation"
_VALUE: Final = "unsupported_value"


def conversation_of(facts: ServerFacts, request: GenerationRequest) -> JsonObject:
    """Return the members that hold the conversation.

    Raises:
        UnwritableError: the API would not take it, or take it for something else: words of the system between others,
            none of a user, or a last word of the assistant, which the model would continue and not answer.
    """
    offer = native_offer(request)
    messages = list(request.messages if offer is None else offer.untold(request.messages))
    system: list[Message] = []
    while messages and messages[0].role == "system":
        system.append(messages.pop(0))
    if any(message.role == "system" for message in messages):
        raise UnwritableError(f"{facts.title} takes messages of the system at the beginning alone", code=_ORDER)
    if not messages or messages[-1].role != "user":
        raise UnwritableError(f"{facts.title} answers a message of the user alone; end messages with one", code=_ORDER)
    members: JsonObject = {} if not system else {"system": _system(system)}
    members["messages"] = [{"role": message.role, "content": message.content} for message in messages]
    return members


def drawing_of(facts: ServerFacts, sampling: Sampling, reasoning: Reasoning | None) -> JsonObject:
    """Return how to draw, how to think, and the limit on the tokens of both.

    What nobody asked for is left out: newer models take no temperature and no top_p.

    Raises:
        UnwritableError: the API has no such field, or takes no such value, or not while the model thinks.
    """
    if sampling.seed is not None:
        raise UnwritableError(f"{facts.title} has no seed; leave Sampling.seed out")
    if sampling.heat > _HIGHEST_TEMPERATURE:
        raise UnwritableError(f"{facts.title} takes no Sampling.temperature above {_HIGHEST_TEMPERATURE}", code=_VALUE)
    members: JsonObject = {"max_tokens": sampling.max_tokens}
    if reasoning is not None:
        _think(facts, reasoning, sampling, members)
    if sampling.temperature is not None:
        members["temperature"] = sampling.temperature
    if sampling.top_p != 1:
        members["top_p"] = sampling.top_p
    if sampling.top_k is not None:
        members["top_k"] = sampling.top_k
    return members


def constraint_of(translation: Translation) -> JsonObject:
    """Return the members that say what the answer must be; none where nothing is enforced."""
    if translation.form != "json_schema":
        return {}
    return {"output_config": {"format": {"type": "json_schema", "schema": translation.schema}}}


def tools_of(facts: ServerFacts, request: GenerationRequest) -> JsonObject:
    """Return the members that offer tools; none where they are asked for as text, or none are.

    Raises:
        UnwritableError: a call is demanded of a model that thinks, which the API does not take.
    """
    offer, translation = native_offer(request), translation_of(request)
    if offer is None:
        return {}
    must_call = offer.answer == "none"
    if must_call and request.reasoning is not None and request.reasoning.max_tokens > 0:
        raise UnwritableError(f"{facts.title} cannot demand a call of a model that thinks; leave reasoning out")
    choice: JsonObject = {"type": "any" if must_call else "auto", "disable_parallel_tool_use": offer.most_calls == 1}
    return {"tools": [_tool(offer, name, translation) for name in translation.tools], "tool_choice": choice}


def _system(messages: list[Message]) -> JsonValue:
    if len(messages) == 1:
        return messages[0].content
    return [{"type": "text", "text": message.content} for message in messages]


def _think(facts: ServerFacts, reasoning: Reasoning, sampling: Sampling, members: JsonObject) -> None:
    """Add how to think. The limit on tokens is one for thoughts and answer together."""
    if reasoning.max_tokens == 0:
        members["thinking"] = {"type": "disabled"}
        return
    if reasoning.max_tokens < _LEAST_THOUGHTS:
        raise UnwritableError(
            f"{facts.title} lets a model think for {_LEAST_THOUGHTS} tokens or more, or not at all; give "
            "Reasoning.max_tokens so",
            code=_VALUE,
        )
    if sampling.temperature not in (None, 1) or sampling.top_k is not None or sampling.top_p < _LEAST_TOP_P_THINKING:
        raise UnwritableError(
            f"{facts.title} draws as it will while a model thinks; give no temperature, no top_k, and top_p "
            f"from {_LEAST_TOP_P_THINKING} on",
            code=_VALUE,
        )
    members["thinking"] = {"type": "enabled", "budget_tokens": reasoning.max_tokens}
    members["max_tokens"] = reasoning.max_tokens + sampling.max_tokens


def _tool(offer: ToolOffer, name: str, translation: Translation) -> JsonObject:
    tool: JsonObject = {"name": name}
    description = next((tool.description for tool in offer.tools if tool.name == name), "")
    if description:
        tool["description"] = description
    tool["strict"] = name in translation.strict_tools
    tool["input_schema"] = translation.tools[name]
    return tool


__all__ = ["constraint_of", "conversation_of", "drawing_of", "tools_of"]
