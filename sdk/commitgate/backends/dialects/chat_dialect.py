"""Define what the dialects of all servers have in common that speak OpenAI's chat completions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from commitgate.backends.base import GenerationRequest, Sampling
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_reading import ChatReader
from commitgate.backends.dialects.chat_writing import (
    CHAT_PATH,
    conversation_of,
    model_of,
    native_offer,
    not_in_form,
    tools_of,
    translation_of,
    without_thoughts,
)
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning


class ChatDialect(ABC):
    """Write and read one server's chat completions; a subclass says where the server has words of its own.

    Args:
        facts: what is known of the server.
        needs_model: a request must name its model; else the server takes its only one.
    """

    def __init__(self, facts: ServerFacts, *, needs_model: bool = False) -> None:
        self._facts = facts
        self._needs_model = needs_model

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return self._facts

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a streamed answer.

        Raises:
            UnsupportedError: the server has no field for a contract of this form.
            UnwritableError: it has no field for a way to draw or to think, or needs the name of a model.
        """
        translation = translation_of(request)
        if translation.form not in self._facts.forms and translation.form != "prompt":
            raise not_in_form(self._facts, translation)
        body: JsonObject = {
            **model_of(self._facts, request.model, is_needed=self._needs_model),
            **conversation_of(request),
            **self._drawing(request.sampling),
            **self._thoughts(request.reasoning),
            **self._tools(request),
        }
        if translation.form != "prompt":
            body.update(self._constraint(translation))
        return Outgoing(path=CHAT_PATH, body=body)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        return Expected(offers_tools=native_offer(request) is not None)

    def reader(self, expected: Expected) -> ChatReader:
        """Return a reader for one answer."""
        return ChatReader(expected)

    @abstractmethod
    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests by which the server says what it is."""

    @abstractmethod
    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the answers to ``handshake``, in its order."""

    @abstractmethod
    def _drawing(self, sampling: Sampling) -> JsonObject:
        """Return how to draw, and the limit on tokens.

        Raises:
            UnwritableError: the server cannot draw so.
        """

    @abstractmethod
    def _constraint(self, translation: Translation) -> JsonObject:
        """Return the constraint, of one of the forms that the facts list."""

    def _tools(self, request: GenerationRequest) -> JsonObject:
        """Return the tools that are offered in the server's own form, and what may be done with them.

        Raises:
            UnsupportedError: the server cannot be told what may be done.
        """
        return tools_of(request)

    def _thoughts(self, reasoning: Reasoning | None) -> JsonObject:
        """Return how the model may think.

        Raises:
            UnwritableError: the server cannot be told so.
        """
        without_thoughts(self._facts, reasoning)
        return {}


def asked(*paths: str) -> tuple[Outgoing, ...]:
    """Return the requests of a handshake."""
    return tuple(Outgoing(method="GET", path=path) for path in paths)


__all__ = ["ChatDialect", "asked"]
