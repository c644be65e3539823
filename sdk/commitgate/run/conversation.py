"""Write the conversation that the model gets: the caller's words, and the schema where the model should see it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Message
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonValue

PromptSchema: TypeAlias = Literal["append", "none"]
Schema: TypeAlias = "JsonObject | bool"

PROMPT_LINES = 200
"""Most lines of a prompt that is made from a schema's own descriptions."""

_NOISE = frozenset({"$schema", "$id", "id", "$comment", "title", "examples", "default", "deprecated"})

_INSTRUCTION = "Answer with one JSON value that fits this JSON schema:"
_BARE_PROMPT = "Write one JSON value."


@dataclass(frozen=True, slots=True)
class Conversation:
    """Hold what the caller asks, before the schema is added.

    Attributes:
        messages: the caller's own, empty where the schema's descriptions are to be the prompt.
    """

    messages: tuple[Message, ...] = field(repr=False)

    @staticmethod
    def of(prompt: str | None, messages: Sequence[Message] | None, system: str | None) -> Conversation:
        """Check and join the three ways of asking.

        Raises:
            MisuseError: they contradict each other, or one is given and says nothing.
        """
        if prompt is not None and messages is not None:
            raise MisuseError("give prompt or messages, not both")
        for name, text in (("prompt", prompt), ("system", system)):
            if text is not None and not text.strip():
                raise MisuseError(f"{name} is blank; leave it out instead")
        if messages is not None and not messages:
            raise MisuseError("messages is empty; leave it out instead")
        found = tuple(messages or ())
        if system is not None and any(message.role == "system" for message in found):
            raise MisuseError("give system or a system message, not both")
        head = () if system is None else (Message("system", system),)
        return Conversation((*head, *found) if prompt is None else (*head, Message("user", prompt)))

    def to_send(self, schema: Schema, prompt_schema: PromptSchema) -> tuple[Message, ...]:
        """Return the messages as the model gets them, never empty."""
        messages = self.messages
        if all(message.role == "system" for message in messages):
            messages = (*messages, Message("user", described(schema)))
        if prompt_schema == "none" or isinstance(schema, bool):
            return messages
        shown = f"{_INSTRUCTION}\n{_plain(schema)}"
        place = max(at for at, message in enumerate(messages) if message.role != "assistant")
        message = messages[place]
        extended = Message(message.role, f"{message.content}\n\n{shown}")
        return (*messages[:place], extended, *messages[place + 1 :])


def described(schema: Schema) -> str:
    """Return a schema's own title and descriptions as a prompt."""
    lines = list(dict.fromkeys(_descriptions(schema)))[:PROMPT_LINES]
    return "\n".join(lines) or _BARE_PROMPT


def _descriptions(schema: JsonValue) -> Iterator[str]:
    waiting: list[tuple[str, JsonValue]] = [("", schema)]
    while waiting:
        name, node = waiting.pop(0)
        if not isinstance(node, dict):
            continue
        words = [word for word in (node.get("title"), node.get("description")) if isinstance(word, str) and word]
        if words:
            text = ": ".join(words)
            yield f"{name}: {text}" if name else text
        for keyword in ("properties", "$defs", "definitions"):
            members = node.get(keyword)
            if isinstance(members, dict):
                waiting.extend((key if keyword == "properties" else "", member) for key, member in members.items())
        items = node.get("items")
        waiting.append((name, items))


def _plain(schema: JsonObject) -> str:
    """Return the schema as compact JSON without words that tell a model nothing."""
    return json.dumps(_without_noise(schema), ensure_ascii=False, default=str)


def _without_noise(node: JsonValue, *, holds_names: bool = False) -> JsonValue:
    if isinstance(node, list):
        return [_without_noise(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_noise(value, holds_names=not holds_names and key in ("properties", "$defs", "definitions"))
        for key, value in node.items()
        if holds_names or key not in _NOISE
    }


__all__ = ["Conversation", "PromptSchema", "described"]
