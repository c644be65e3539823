"""Tell a backend which tools a turn may call, in the form in which servers that know tools take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Message
from commitgate.json_value import JsonSchema

AnswerForm: TypeAlias = Literal["text", "json", "none"]
"""``text``: a turn without calls answers in words. ``json``: it answers with a JSON value. ``none``: it must call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """Describe one tool to a server.

    Attributes:
        name: 1 to 64 of the characters ``A-Z a-z 0-9 _ -``.
        description: what it does, in words for the model; may be empty.
        parameters: JSON Schema of its arguments, whole in itself.
    """

    name: str
    description: str = field(repr=False)
    parameters: JsonSchema = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """Hold what one turn may call.

    Attributes:
        tools: the tools, at least one.
        most_calls: most calls in one turn, >= 1.
        answer: what a turn without calls is.
        instruction: the words that describe the tools and the form of an answer to a model whose server does not know
            tools. They end the system message; a server that knows tools is sent ``untold(messages)``.
    """

    tools: tuple[OfferedTool, ...]
    most_calls: int
    answer: AnswerForm
    instruction: str = field(repr=False)

    def told(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return messages with the instruction at the end of the system message, or as one where there is none."""
        first, *rest = messages
        if first.role != "system":
            return (Message("system", self.instruction), *messages)
        return (Message("system", f"{first.content}\n\n{self.instruction}"), *rest)

    def untold(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return messages without the instruction, for a server that is told of the tools in its own form."""
        first, *rest = messages
        if first == Message("system", self.instruction):
            return tuple(rest)
        return (Message(first.role, first.content.removesuffix(f"\n\n{self.instruction}")), *rest)


__all__ = ["AnswerForm", "OfferedTool", "ToolOffer"]
