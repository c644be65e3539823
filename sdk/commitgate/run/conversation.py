"""Write the conversation that the model gets: the caller's words, and the schema where the model should see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Message
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.run.outline import outline

PromptSchema: TypeAlias = Literal["append", "none"]
Schema: TypeAlias = "JsonObject | bool"

PROMPT_LINES = 200
"""Most lines of a prompt that is made from a schema's own descriptions."""

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
        return _with_system(messages, outline(schema))


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


def _with_system(messages: tuple[Message, ...], text: str) -> tuple[Message, ...]:
    """Add ``text`` to the system message, or as one where there is none."""
    first, *rest = messages
    if first.role != "system":
        return (Message("system", text), *messages)
    return (Message("system", f"{first.content}\n\n{text}"), *rest)


__all__ = ["Conversation", "PromptSchema", "described"]
