"""Wrap a fast tokenizer behind the few typed operations that the local backend needs.

This is the only module that touches the untyped tokenizer API. Text from outside is always encoded as plain text:
where a message contains the spelling of a special token, it stays those characters and never becomes the token, so
nobody can close a chat turn from inside a message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Protocol, cast

from commitgate.errors import ModelLoadError, ModelRunError
from commitgate.json_value import JsonValue

# Special tokens by which chat models close their turn, whatever their configuration says.
CHAT_ENDS = frozenset({"<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|end|>", "<end_of_turn>"})

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


class _AddedToken(Protocol):
    content: str
    special: bool


class _Encoding(Protocol):
    ids: list[int]


class _Backend(Protocol):
    """Name what is used of ``tokenizers.Tokenizer``."""

    encode_special_tokens: bool
    decoder: object

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]: ...
    def get_added_tokens_decoder(self) -> dict[int, _AddedToken]: ...
    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> _Encoding: ...
    def encode_batch_fast(self, input: list[str], *, add_special_tokens: bool = True) -> list[_Encoding]: ...
    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str: ...


class _FastTokenizer(Protocol):
    """Name what is used of ``transformers``' fast tokenizer."""

    chat_template: object
    all_special_ids: list[int]
    eos_token_id: int | None
    backend_tokenizer: _Backend

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str: ...


class Tokenizer:
    """Encode and decode text, and say what is known about the tokens.

    Args:
        fast: a ``transformers`` fast tokenizer.

    Raises:
        ModelLoadError: it is not a fast tokenizer.

    Attributes:
        entries: token string to id, added tokens included.
        added: ids of added tokens.
        special_ids: ids that are never text.
        stop_ids: ids by which a chat turn or a text ends.
        decoder: the tokenizer's decoder as JSON; None where it has none.
    """

    def __init__(self, fast: object) -> None:
        if not hasattr(fast, "backend_tokenizer"):
            raise ModelLoadError("the model has no fast tokenizer (tokenizer.json), and only those can be read")
        self._fast = cast("_FastTokenizer", fast)
        self._backend = self._fast.backend_tokenizer
        # The switch "special tokens are text" is state of the tokenizer, so two threads must not share it unguarded.
        self._lock = Lock()
        added = self._backend.get_added_tokens_decoder()
        self.entries: Mapping[str, int] = self._backend.get_vocab(True)
        self.added = frozenset(added)
        self.special_ids = frozenset(number for number, token in added.items() if token.special) | frozenset(
            self._fast.all_special_ids
        )
        ends = {number for number, token in added.items() if token.special and token.content in CHAT_ENDS}
        end = self._fast.eos_token_id
        self.stop_ids = frozenset(ends if end is None else ends | {end})
        self.decoder = _state_of(self._backend.decoder)

    @staticmethod
    def load(folder: Path, *, gguf_file: str | None = None) -> Tokenizer:
        """Load the tokenizer of a model folder.

        Args:
            folder: folder of the model.
            gguf_file: name of the GGUF file in it that holds the tokenizer; None reads tokenizer.json.

        Raises:
            ModelLoadError: there is none that can be read.
        """
        from commitgate_local.transformers_runtime import load_tokenizer

        return Tokenizer(load_tokenizer(folder, gguf_file=gguf_file))

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, without any added at its ends; spellings of special tokens are plain text."""
        return self._encode([text], special=False)[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, as ``encode`` does."""
        return self._encode(texts, special=False)

    def decode(self, ids: Sequence[int]) -> str:
        """Return what the tokenizer itself makes of a run of ids."""
        return self._backend.decode(ids, skip_special_tokens=False)

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a conversation up to the point where the model answers.

        Args:
            messages: role and content of each message.

        The template's own special tokens become tokens; those spelled inside a message stay text. Without a chat
        template the contents are joined by empty lines. Where the template refuses a conversation with system
        messages, as those of models do that know no such role, they are put before the first user message instead.

        Raises:
            ModelRunError: the template fails; or a message spells a special token and the template does not keep
                messages as they are.
        """
        if not self._fast.chat_template:
            return self.encode("\n\n".join(content for _, content in messages))
        try:
            return self._encode_chat(messages)
        except _TemplateError:
            if all(role != "system" for role, _ in messages):
                raise
        return self._encode_chat(_without_system(messages))

    def _encode_chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        rendered = self._render(messages)
        if any(token in content for _, content in messages for token in self._special_strings()):
            return self._encode_guarded(messages, rendered)
        return self._encode([rendered], special=True)[0]

    def _special_strings(self) -> list[str]:
        return [string for string, number in self.entries.items() if number in self.special_ids]

    def _render(self, messages: Sequence[tuple[str, str]]) -> str:
        conversation = [{"role": role, "content": content} for role, content in messages]
        try:
            return self._fast.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        except Exception as error:
            # A template is code that came with the model: it raises jinja2's exceptions and any of Python's. Their
            # messages may quote the conversation and are left out.
            raise _TemplateError(_REFUSED.format(type(error).__name__)) from error

    def _encode_guarded(self, messages: Sequence[tuple[str, str]], rendered: str) -> list[int]:
        """Encode the template's parts and the messages' parts separately, so that only the former yield specials.

        The template's own parts are found by rendering it around names that cannot occur in it; putting the contents
        (as they are, or trimmed, as many templates do) back between them must then give the same prompt.
        """
        names = [token_hex(16) for _ in messages]
        around = self._render([(role, name) for (role, _), name in zip(messages, names, strict=True)])
        parts: list[str] = []
        for name in names:
            before, found, around = around.partition(name)
            if not found or name in around:
                raise ModelRunError(_REWORDED)
            parts.append(before)
        for contents in ([content for _, content in messages], [content.strip() for _, content in messages]):
            if rendered == "".join(map("".join, zip(parts, contents, strict=True))) + around:
                pieces = [piece for pair in zip(parts, contents, strict=True) for piece in pair]
                ids = [
                    self._encode([piece], special=number % 2 == 0)[0] for number, piece in enumerate([*pieces, around])
                ]
                return [number for part in ids for number in part]
        raise ModelRunError(_REWORDED)

    def _encode(self, texts: Sequence[str], *, special: bool) -> list[list[int]]:
        with self._lock:
            self._backend.encode_special_tokens = not special
            if len(texts) == 1:
                return [self._backend.encode(texts[0], add_special_tokens=False).ids]
            return [found.ids for found in self._backend.encode_batch_fast(list(texts), add_special_tokens=False)]


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


def _state_of(component: object) -> JsonValue:
    """Return a tokenizer component as JSON, which is how it pickles itself."""
    if component is None:
        return None
    state = cast("bytes | str", component.__getstate__())
    return cast("JsonValue", json.loads(state))


__all__ = ["Tokenizer"]
