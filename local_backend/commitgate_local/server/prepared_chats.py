"""Keep what the latest forms and tools were compiled to, so that a client that asks again with them need not wait.

Compiling tools takes some 10 ms, a schema one (2 cores, November 2026); what is kept costs microseconds.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from threading import Lock
from typing import Final, cast

from commitgate.backends.base import Message
from commitgate.reasoning import Reasoning
from commitgate.run.conversation import Conversation, PromptSchema
from commitgate_local.server.chat_contract import PreparedChat, prepare_chat
from commitgate_local.server.chat_format import TextFormat
from commitgate_local.server.chat_reasoning import reasoning_of
from commitgate_local.server.chat_request import ChatRequest
from commitgate_local.server.server_limits import ServerLimits

KEPT_FORMS: Final = 64
"""Most forms kept; the one unused for longest makes room."""

LARGEST_FORM: Final = 65_536
"""Characters of the largest form that is kept, as Python spells it."""


class PreparedChats:
    """Make of requests what a backend takes, as ``prepare_chat`` does. For many threads at once.

    Args:
        limits: the server's limits.
        prompt_schema: whether models are shown the schema: see ``prepare_chat``.
        reasoning: how models may think before they answer; None lets them answer at once.
    """

    def __init__(self, limits: ServerLimits, prompt_schema: PromptSchema, reasoning: Reasoning | None = None) -> None:
        self._limits = limits
        self._prompt_schema: PromptSchema = prompt_schema
        self._reasoning = reasoning
        self._kept: OrderedDict[bytes, PreparedChat] = OrderedDict()
        self._lock = Lock()

    def prepare(self, request: ChatRequest, model: str) -> PreparedChat:
        """Return what a backend is asked. May block while schemas are compiled.

        Args:
            request: what the client asks for.
            model: the model's name as the backend knows it.

        Raises:
            RequestRefused: a schema or another language cannot be enforced, or does not go with the rest.
        """
        reasoning = reasoning_of(request.effort, self._reasoning)
        prepared = self._prepared(request, model)
        return replace(prepared, generation=replace(prepared.generation, reasoning=reasoning))

    def _prepared(self, request: ChatRequest, model: str) -> PreparedChat:
        key = _key(request)
        with self._lock:
            kept = None if key is None else self._kept.get(key)
            if kept is not None and key is not None:
                self._kept.move_to_end(key)
        if kept is not None:
            return self._asked_anew(kept, request, model)
        made = prepare_chat(request, limits=self._limits, model=model, prompt_schema=self._prompt_schema)
        if key is not None:
            with self._lock:
                # Nothing of the client's conversation stays behind.
                empty = replace(made.generation, messages=())
                self._kept[key] = replace(made, generation=empty)
                while len(self._kept) > KEPT_FORMS:
                    self._kept.popitem(last=False)
        return made

    def _asked_anew(self, kept: PreparedChat, request: ChatRequest, model: str) -> PreparedChat:
        generation = kept.generation
        messages: tuple[Message, ...] = request.messages
        if generation.tools is not None:
            messages = generation.tools.told(messages)
        elif self._prompt_schema == "append":
            messages = Conversation(messages).to_send(generation.contract, self._prompt_schema)
        return replace(kept, generation=replace(generation, model=model, messages=messages, sampling=request.sampling))


def _key(request: ChatRequest) -> bytes | None:
    """Return a digest of all that is compiled; None where it is not worth keeping."""
    if isinstance(request.answer_format, TextFormat) or (request.answer_format, request.tools) == (None, None):
        return None
    # Python's own spelling tells apart whatever JSON can hold, also 1, 1.0, true and "1", and the order of keys.
    text = repr(_plain((request.answer_format, request.tools)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() if len(text) <= LARGEST_FORM else None


def _plain(value: object) -> object:
    """Return a value with all fields of its dataclasses, also those that their own spelling hides."""
    if is_dataclass(value) and not isinstance(value, type):
        named: Mapping[str, object] = {entry.name: _plain(getattr(value, entry.name)) for entry in fields(value)}
        return type(value).__name__, named
    if isinstance(value, tuple):
        return tuple(map(_plain, cast("tuple[object, ...]", value)))
    return value


__all__ = ["KEPT_FORMS", "LARGEST_FORM", "PreparedChats"]
