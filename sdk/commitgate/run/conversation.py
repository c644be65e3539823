"""Write the conversation that the model gets: the caller's words, and the schema where the model should see it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from commitgate.argument import check_words, wrong_kind
from commitgate.backends.base import Message, Role
from commitgate.errors import MisuseError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.refusal import REFUSAL_KEY
from commitgate.run.outline import any_outline, outline
from commitgate.run.text_outline import text_outline, text_prompt

if TYPE_CHECKING:
    from commitgate.contract import Contract

PromptSchema: TypeAlias = Literal["append", "none"]

MessageLike: TypeAlias = Message | Mapping[str, str]
"""A message, or a dict of its ``role`` and ``content``."""

PROMPT_LINES = 200
"""Most lines of a prompt that is made from a schema's own descriptions."""

_BARE_PROMPT = "Write one JSON value."

HOW_TO_REFUSE = f'If you cannot or must not answer, write {{"{REFUSAL_KEY}": "<why>"}} instead.'


@dataclass(frozen=True, slots=True)
class Conversation:
    """Hold what the caller asks, before the schema is added.

    Attributes:
        messages: the caller's own, empty where the schema's descriptions are to be the prompt.
    """

    messages: tuple[Message, ...] = field(repr=False)

    @staticmethod
    def of(prompt: str | None, messages: Sequence[MessageLike] | None, system: str | None) -> Conversation:
        """Check and join the three ways of asking.

        Raises:
            MisuseError: they contradict each other, or one is of another type, not encodable, or says nothing.
        """
        if prompt is not None and messages is not None:
            raise MisuseError("give prompt or messages, not both")
        for name, text in (("prompt", prompt), ("system", system)):
            if text is not None:
                check_words(name, text)
        found = () if messages is None else _messages(messages)
        if system is not None and any(message.role == "system" for message in found):
            raise MisuseError("give system or a system message, not both")
        head = () if system is None else (Message("system", system),)
        return Conversation((*head, *found) if prompt is None else (*head, Message("user", prompt)))

    def asked(self, contract: Contract[object]) -> tuple[Message, ...]:
        """Return what is asked, never empty: where the caller has no words, the schema's own are the prompt."""
        if all(message.role == "system" for message in self.messages):
            return (*self.messages, Message("user", _prompt(contract)))
        return self.messages

    def to_send(
        self, contract: Contract[object], prompt_schema: PromptSchema, *, shown: Contract[object] | None = None
    ) -> tuple[Message, ...]:
        """Return the messages as the model gets them, never empty.

        Args:
            contract: what the answer must satisfy.
            prompt_schema: whether the model is shown its schema, and how to refuse where it may.
            shown: the contract that the model is shown in its place: that of the form in which it must write.
        """
        messages = self.asked(contract)
        if prompt_schema == "none":
            return messages
        told = _outline(contract if shown is None else shown)
        if contract.refusal:
            told.append(HOW_TO_REFUSE)
        return _with_system(messages, "\n\n".join(told)) if told else messages


def _outline(contract: Contract[object]) -> list[str]:
    """Return what the model is told of the answer's form, if anything."""
    if contract.text is not None:
        return [text_outline(contract.text, shows_words=contract.prose == "keep")]
    schema, deepest = contract.shown_schema, contract.limits.nesting
    nesting = deepest if deepest < Limits().nesting else None
    if isinstance(schema, bool):
        return [] if nesting is None else [any_outline(nesting)]
    return [outline(schema, contract.shown_documents, nesting=nesting)]


def _prompt(contract: Contract[object]) -> str:
    return described(contract.shown_schema) if contract.text is None else text_prompt(contract.text)


def _messages(given: object) -> tuple[Message, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray):
        raise wrong_kind("messages", "a list of Message or dict", given)
    if not given:
        raise MisuseError("messages is empty; leave it out instead")
    return tuple(_message(f"messages[{index}]", item) for index, item in enumerate(cast("Sequence[object]", given)))


def _message(name: str, given: object) -> Message:
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping):
        raise wrong_kind(name, "a Message or a dict", given)
    fields = cast("Mapping[object, object]", given)
    if set(fields) != {"role", "content"}:
        # Other keys may carry meaning, as calls of tools do, and would be lost without a word.
        raise MisuseError(f"{name} must have exactly the keys role and content, found {len(fields)} keys")
    try:
        return Message(cast(Role, fields["role"]), cast(str, fields["content"]))
    except MisuseError as error:
        raise MisuseError(f"{name}: {error}") from None


def described(schema: JsonSchema) -> str:
    """Return a schema's own title and descriptions as a prompt."""
    lines = list(dict.fromkeys(_descriptions(schema)))[:PROMPT_LINES]
    return "\n".join(lines) or _BARE_PROMPT


def _descriptions(schema: JsonValue) -> Iterator[str]:
    waiting: deque[tuple[str, JsonValue]] = deque([("", schema)])
    while waiting:
        name, node = waiting.popleft()
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


__all__ = ["HOW_TO_REFUSE", "Conversation", "MessageLike", "PromptSchema", "described"]
