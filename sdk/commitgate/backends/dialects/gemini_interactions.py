"""Know Gemini's Interactions API: what it is asked, and who answers.

Source: google-genai 3.6.1, ``_gaos/types/interactions``, and Google's reference of the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import GenerationRequest, Message
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity, UnwritableError
from commitgate.backends.dialects.chat_writing import (
    drawing_of,
    model_of,
    native_offer,
    not_in_form,
    translation_of,
    without_top_k,
)
from commitgate.backends.dialects.gemini import BASE_URL, KEY_VARIABLES, identify_gemini, model_questions
from commitgate.backends.dialects.gemini_interactions_reading import GeminiInteractionsReader
from commitgate.backends.dialects.native_request import functions_of, schema_of, spoken
from commitgate.json_value import JsonObject, JsonValue

API_REVISION: Final = "2026-05-20"
"""The revision of the API whose events are read here."""


class GeminiInteractionsDialect:
    """Speak Gemini's Interactions API. The server is asked to store nothing.

    It has no choices of its own (they are asked for as JSON), knows no ``top_k``, and takes no number of thoughts.
    """

    def __init__(self) -> None:
        self._facts = ServerFacts(
            name="gemini_interactions",
            title="Gemini's Interactions API",
            vendor="gemini",
            base_url=BASE_URL,
            base_url_variable="GEMINI_BASE_URL",
            version_segment="v1beta",
            key_variables=KEY_VARIABLES,
            key_header="x-goog-api-key",
            needs_key=True,
            forms=frozenset({"json_schema"}),
            proof_of_end="the status that interaction.completed tells of",
            shows_schema=True,
            tells_in_finish=True,
            offers_tools=True,
        )

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return self._facts

    def write(self, request: GenerationRequest) -> Outgoing:
        """Write a request for a stream.

        Raises:
            UnsupportedError: the constraint is of another form.
            UnwritableError: no model is named, the server has no word for how tokens are drawn or how the model
                thinks, or a system message comes late.
        """
        instructions, turns = spoken(request, self._facts)
        body = model_of(self._facts, request.model, is_needed=True)
        body["input"] = [_step(turn) for turn in turns]
        if instructions:
            body["system_instruction"] = "\n\n".join(instructions)
        body |= {"stream": True, "store": False}
        body |= _constraint(request, self._facts)
        body |= _tools(request)
        body["generation_config"] = _drawing(request, self._facts)
        return Outgoing(path="/interactions", body=body, headers={"api-revision": API_REVISION})

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        return Expected(offers_tools=native_offer(request) is not None)

    def reader(self, expected: Expected) -> GeminiInteractionsReader:
        """Return a reader for one answer."""
        return GeminiInteractionsReader(expected)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Ask for the model's description."""
        return model_questions(model, self._facts)

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the model's description."""
        return identify_gemini(answers)


def _step(message: Message) -> JsonValue:
    kind = "model_output" if message.role == "assistant" else "user_input"
    return {"type": kind, "content": [{"type": "text", "text": message.content}]}


def _drawing(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    sampling = request.sampling
    without_top_k(facts, sampling)
    if request.reasoning is not None:
        raise UnwritableError(f"reasoning: {facts.title} takes no number of thoughts; leave it out, the model decides")
    written: JsonObject = {"max_output_tokens": sampling.max_tokens, **drawing_of(sampling)}
    if sampling.temperature is None:
        del written["temperature"]  # the model's own is the one that it was made for
    if (offer := native_offer(request)) is not None:
        is_strict = bool(translation_of(request).strict_tools)
        written["tool_choice"] = "any" if offer.answer == "none" else "validated" if is_strict else "auto"
    return written


def _constraint(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    translation = translation_of(request)
    match translation.form:
        case "json_schema":
            schema = schema_of(request)
            return {"response_format": {"type": "text", "mime_type": "application/json", "schema": schema}}
        case "prompt":
            return {}
        case _:
            raise not_in_form(facts, translation)


def _tools(request: GenerationRequest) -> JsonObject:
    tools: list[JsonValue] = [{"type": "function", **each} for each in functions_of(request, parameters="parameters")]
    return {"tools": tools} if tools else {}


__all__ = ["API_REVISION", "GeminiInteractionsDialect"]
