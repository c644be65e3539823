"""Write a conversation as the ids of a prompt, with the model's chat template.

The template's own control tokens become tokens; what a message holds stays text, whatever it spells.
"""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import Protocol

from commitgate.errors import ModelRunError

_REWORDED = (
    "a message holds the spelling of a special token, and the chat template rewords its messages, so that it cannot be "
    "kept apart from the template's own; remove it from the message"
)

_REFUSED = (
    "the model's chat template refuses the conversation ({}); give roles in the order that the model knows (many want "
    "user and assistant in turn, beginning with user), or take another model"
)


class _TemplateError(ModelRunError):
    """Raised when the chat template fails."""


class TemplatedTokenizer(Protocol):
    """Render a conversation as text."""

    chat_template: object

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        """Return the prompt's text."""
        ...


class PartEncoder(Protocol):
    """Split the parts of a prompt into tokens."""

    def spells_control(self, text: str) -> bool:
        """Return whether a text holds the spelling of a token that is never text."""
        ...

    def spells_added(self, text: str) -> bool:
        """Return whether a text holds the spelling of such a token, or of markup that the chat template writes."""
        ...

    def encode_part(self, text: str, *, begins: bool, is_template: bool) -> list[int]:
        """Return the ids of a part."""
        ...


class ChatPrompt:
    """Render conversations and encode them.

    Args:
        template: renders a conversation.
        encoder: encodes its parts.
    """

    def __init__(self, template: TemplatedTokenizer, encoder: PartEncoder) -> None:
        self._template = template
        self._encoder = encoder

    def ids(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a conversation, given as role and content of each message.

        Raises:
            ModelRunError: the template fails, or rewords a message that spells a control token.
        """
        try:
            return self._encode(messages)
        except _TemplateError:
            if all(role != "system" for role, _ in messages):
                raise
        return self._encode(_without_system(messages))

    def _encode(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        rendered = self._render(messages)
        if any(self._must_stay_text(role, content) for role, content in messages):
            return self._encode_parts(self._parts(messages, rendered))
        return self._encoder.encode_part(rendered, begins=True, is_template=True)

    def _must_stay_text(self, role: str, content: str) -> bool:
        # What a model wrote before may hold its own markup, as of its thoughts, which templates look for and leave out.
        spells = self._encoder.spells_control if role == "assistant" else self._encoder.spells_added
        return spells(content)

    def _render(self, messages: Sequence[tuple[str, str]]) -> str:
        conversation = [{"role": role, "content": content} for role, content in messages]
        try:
            return self._template.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        except Exception as error:
            # A template is code that came with the model: it raises jinja2's exceptions and any of Python's. Their
            # messages may quote the conversation and are left out.
            raise _TemplateError(_REFUSED.format(type(error).__name__)) from error

    def _parts(self, messages: Sequence[tuple[str, str]], rendered: str) -> list[str]:
        """Return the template's parts and the messages' parts in turn; the template's come first and last.

        The template's own parts are found by rendering it around names that cannot occur in it; putting the contents
        (as they are, or trimmed, as many templates do) back between them must then give the same prompt.
        """
        names = [token_hex(16) for _ in messages]
        around = self._render([(role, name) for (role, _), name in zip(messages, names, strict=True)])
        befores: list[str] = []
        for name in names:
            before, found, around = around.partition(name)
            if not found or name in around:
                raise ModelRunError(_REWORDED)
            befores.append(before)
        for contents in ([content for _, content in messages], [content.strip() for _, content in messages]):
            parts = [part for pair in zip(befores, contents, strict=True) for part in pair] + [around]
            if rendered == "".join(parts):
                return parts
        raise ModelRunError(_REWORDED)

    def _encode_parts(self, parts: Sequence[str]) -> list[int]:
        ids: list[int] = []
        for number, part in enumerate(parts):
            ids += self._encoder.encode_part(part, begins=not ids, is_template=number % 2 == 0)
        return ids


def _without_system(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the messages with all system texts put before the first user message, or as one where there is none."""
    texts = [content for role, content in messages if role == "system"]
    others = [message for message in messages if message[0] != "system"]
    roles = [role for role, _ in others]
    if "user" not in roles:
        return [("user", "\n\n".join(texts)), *others]
    first = roles.index("user")
    others[first] = ("user", "\n\n".join([*texts, others[first][1]]))
    return others


__all__ = ["ChatPrompt", "PartEncoder", "TemplatedTokenizer"]
