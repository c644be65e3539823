"""Speak the Anthropic Messages API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from commitgate.argument import check_choice
from commitgate.backends.base import GenerationRequest
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.anthropic_messages_reading import AnthropicMessagesReader
from commitgate.backends.dialects.anthropic_messages_writing import (
    constraint_of,
    conversation_of,
    drawing_of,
    tools_of,
)
from commitgate.backends.dialects.chat_writing import model_of, native_offer, not_in_form, translation_of
from commitgate.backends.dialects.model_list import asked_for, identity
from commitgate.json_value import JsonObject

_VERSION: Final = {"anthropic-version": "2023-06-01"}
_FACTS: Final = ServerFacts(
    name="anthropic_messages",
    title="Anthropic's Messages API",
    vendor="anthropic",
    base_url="https://api.anthropic.com/v1",
    base_url_variable="ANTHROPIC_BASE_URL",
    version_segment="v1",
    key_variables=("ANTHROPIC_API_KEY",),
    key_header="x-api-key",
    needs_key=True,
    forms=frozenset({"json_schema"}),
    proof_of_end="the stop_reason in message_delta",
    end_marker="message_stop",
    shows_schema=True,
    tells_in_finish=True,
    refuses=True,
    offers_tools=True,
)
_TOKEN_FACTS: Final = replace(_FACTS, key_header="bearer", key_variables=("ANTHROPIC_AUTH_TOKEN",))


class AnthropicMessagesDialect:
    """Write requests of the Anthropic Messages API and read its answers.

    Args:
        credential: ``key``: a key of the API, in ``x-api-key``. ``token``: a token of OAuth, as ``Authorization:
            Bearer``; its variable is ``ANTHROPIC_AUTH_TOKEN``.

    Raises:
        MisuseError: the credential is neither.
    """

    def __init__(self, credential: Literal["key", "token"] = "key") -> None:
        check_choice("credential", credential, ("key", "token"))
        self._facts = _TOKEN_FACTS if credential == "token" else _FACTS

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return self._facts

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a streamed answer.

        Raises:
            UnsupportedError: the API has no field for a contract of this form.
            UnwritableError: it has no field for a way to draw or to think, does not take the conversation as it is, or
                the model has no name.
        """
        translation = translation_of(request)
        if translation.form not in ("json_schema", "prompt"):
            raise not_in_form(self._facts, translation)
        body: JsonObject = {
            **model_of(self._facts, request.model, is_needed=True),
            **conversation_of(self._facts, request),
            "stream": True,
            **drawing_of(self._facts, request.sampling, request.reasoning),
            **tools_of(self._facts, request),
            **constraint_of(translation),
        }
        return Outgoing(path="/messages", body=body, headers=_VERSION)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        return Expected(offers_tools=native_offer(request) is not None)

    def reader(self, expected: Expected) -> AnthropicMessagesReader:
        """Return a reader for one answer."""
        return AnthropicMessagesReader(expected)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for the list of models, and for what is told of one."""
        return asked_for(model, "/models?limit=1000", _VERSION)

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server says of its models."""
        return identity(model, answers, revision="created_at")


__all__ = ["AnthropicMessagesDialect"]
