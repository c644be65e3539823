"""Speak the OpenAI Responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import GenerationRequest
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_writing import model_of, native_offer, not_in_form, translation_of
from commitgate.backends.dialects.identity_reading import word
from commitgate.backends.dialects.model_list import asked_for, identity
from commitgate.backends.dialects.openai_responses_reading import OpenAIResponsesReader
from commitgate.backends.dialects.openai_responses_writing import (
    ANSWER_TOOL,
    constraint_of,
    drawing_of,
    input_of,
    thoughts_of,
    tools_of,
)
from commitgate.json_value import JsonObject

_AS_TOOLS: Final = ("regex", "grammar")
_FACTS: Final = ServerFacts(
    name="openai_responses",
    title="OpenAI's Responses API",
    vendor="openai",
    base_url="https://api.openai.com/v1",
    base_url_variable="OPENAI_BASE_URL",
    version_segment="v1",
    key_variables=("OPENAI_API_KEY",),
    needs_key=True,
    forms=frozenset({"json_schema", *_AS_TOOLS}),
    notations=frozenset({"lark"}),
    proof_of_end="the status in response.completed, response.incomplete or response.failed",
    shows_schema=True,
    tells_in_finish=True,
    refuses=True,
    offers_tools=True,
)


class OpenAIResponsesDialect:
    """Write requests of the OpenAI Responses API and read its answers."""

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return _FACTS

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a streamed answer.

        Raises:
            UnsupportedError: the API has no field for a contract of this form, or not beside tools.
            UnwritableError: it has no field for a way to draw or to think, or the model has no name.
        """
        translation = translation_of(request)
        is_known = translation.form in _FACTS.forms or translation.form == "prompt"
        if not is_known or (native_offer(request) is not None and translation.form in _AS_TOOLS):
            raise not_in_form(_FACTS, translation)
        body: JsonObject = {
            **model_of(_FACTS, request.model, is_needed=True),
            **input_of(request),
            "stream": True,
            "store": False,
            **drawing_of(_FACTS, request.sampling),
            **thoughts_of(_FACTS, request.reasoning),
            **tools_of(request),
            **constraint_of(translation),
        }
        return Outgoing(path="/responses", body=body)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        return Expected(
            offers_tools=native_offer(request) is not None,
            answer_tool=ANSWER_TOOL if translation_of(request).form in _AS_TOOLS else None,
            most_tokens=request.sampling.max_tokens,
        )

    def reader(self, expected: Expected) -> OpenAIResponsesReader:
        """Return a reader for one answer."""
        return OpenAIResponsesReader(expected)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for the list of models, and for what is told of one."""
        return asked_for(model, "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server says of its models; the version is the API's.

        The moment at which a model came to be is no revision: vLLM makes it up for every answer. What a name stands
        for, its ``root``, is one, where a server tells it.
        """
        version = word({**answers[0].headers}, "openai-version")
        return identity(model, answers, version=version, revision="root")


__all__ = ["OpenAIResponsesDialect"]
