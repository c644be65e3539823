"""Know Gemini's ``generateContent``, of the Gemini API and of Vertex AI: what it is asked, and who answers.

Source: google-genai 3.6.1 and Google's reference of the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from commitgate.backends.base import GenerationRequest, Message
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity, UnwritableError
from commitgate.backends.dialects.chat_writing import model_of, native_offer, not_in_form, translation_of
from commitgate.backends.dialects.gemini_reading import GeminiReader
from commitgate.backends.dialects.identity_reading import names, object_in, objects, word
from commitgate.backends.dialects.native_request import functions_of, no_marks, schema_of, spoken
from commitgate.json_value import JsonObject, JsonValue

KEY_VARIABLES: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
"""Where Google's own libraries look for a key."""

BASE_URL: Final = "https://generativelanguage.googleapis.com/v1beta"
"""Where the Gemini API is."""


class GeminiDialect:
    """Speak Gemini's ``generateContent``.

    Of a model that thinks, the thoughts count among ``Sampling.max_tokens``, unless ``Reasoning`` says how many they
    may be: then they come beside them.

    Args:
        on_vertex: the server is Vertex AI, which takes an access token in place of a key, and whose base URL names a
            project: ``https://{region}-aiplatform.googleapis.com/v1/projects/{project}/locations/{region}/publishers/google``.
    """

    def __init__(self, *, on_vertex: bool = False) -> None:
        self._on_vertex = on_vertex
        self._facts = ServerFacts(
            name="gemini",
            title="Gemini on Vertex AI" if on_vertex else "Gemini",
            vendor="gemini",
            base_url=None if on_vertex else BASE_URL,
            base_url_variable="GEMINI_BASE_URL",
            version_segment="v1" if on_vertex else "v1beta",
            key_variables=("VERTEX_ACCESS_TOKEN",) if on_vertex else KEY_VARIABLES,
            key_header="bearer" if on_vertex else "x-goog-api-key",
            needs_key=True,
            forms=frozenset({"json_schema", "choices"}),
            proof_of_end="the finishReason of candidate 0, or the blockReason of the prompt",
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
            UnwritableError: no model is named, or one whose name cannot stand in a path; its thoughts are to be bounded
                by marks; or a system message comes late.
        """
        instructions, turns = spoken(request, self._facts)
        body: JsonObject = {"contents": [_content(turn) for turn in turns]}
        if instructions:
            body["systemInstruction"] = {"parts": [{"text": text} for text in instructions]}
        body["generationConfig"] = {**_drawing(request, self._facts), **_constraint(request, self._facts)}
        body |= _tools(request)
        path = f"{model_path(request.model, self._facts)}:streamGenerateContent?alt=sse"
        return Outgoing(path=path, body=body)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        return Expected(offers_tools=native_offer(request) is not None)

    def reader(self, expected: Expected) -> GeminiReader:
        """Return a reader for one answer."""
        return GeminiReader(expected)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Ask for the model's description. Vertex AI has none below such a base URL."""
        return () if self._on_vertex else model_questions(model, self._facts)

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the model's description."""
        return identify_gemini(answers) if answers else ServerIdentity(is_ready=True)


def model_path(model: str, facts: ServerFacts) -> str:
    """Return the path of a model; ``models/`` may be left out of its name.

    Raises:
        UnwritableError: there is no name, or one that cannot stand in a path.
    """
    model_of(facts, model, is_needed=True)
    if any(part in ("", ".", "..") for part in model.split("/")):
        raise UnwritableError(f"a model of {facts.title} is named by words with slashes between them", code="model")
    return "/" + quote(model if "/" in model else f"models/{model}", safe="/-._~")


def model_questions(model: str, facts: ServerFacts) -> Sequence[Outgoing]:
    """Return the request for a model's description, or for those of all where none is named."""
    path = model_path(model, facts) if model else "/models"
    return (Outgoing(method="GET", path=path),)


def identify_gemini(answers: Sequence[Answer]) -> ServerIdentity:
    """Read the answer to ``model_questions``."""
    (answer,) = answers
    about = object_in(answer)
    models = objects(about, "models") if "models" in about else [about]
    return ServerIdentity(
        is_ready=answer.status == 200,
        models=tuple(name.removeprefix("models/") for name in names(models, "name")),
        revision=word(about, "version"),
    )


def _content(message: Message) -> JsonValue:
    role = "model" if message.role == "assistant" else "user"
    return {"role": role, "parts": [{"text": message.content}]}


def _drawing(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    sampling, reasoning = request.sampling, request.reasoning
    written: JsonObject = {
        "maxOutputTokens": sampling.max_tokens,
        "topP": sampling.top_p,
    }
    if sampling.temperature is not None:
        written["temperature"] = sampling.temperature
    if sampling.top_k is not None:
        written["topK"] = sampling.top_k
    if sampling.seed is not None:
        written["seed"] = sampling.seed
    if reasoning is not None:
        no_marks(reasoning, facts)
        written["maxOutputTokens"] = sampling.max_tokens + reasoning.max_tokens  # its limit is on both together
        written["thinkingConfig"] = {
            "thinkingBudget": reasoning.max_tokens,
            "includeThoughts": reasoning.max_tokens > 0,
        }
    return written


def _constraint(request: GenerationRequest, facts: ServerFacts) -> JsonObject:
    translation = translation_of(request)
    match translation.form:
        case "json_schema":
            return {"responseMimeType": "application/json", "responseJsonSchema": schema_of(request)}
        case "choices":
            schema: JsonObject = {"type": "STRING", "enum": [*translation.choices]}
            return {"responseMimeType": "text/x.enum", "responseSchema": schema}
        case "prompt":
            return {}
        case _:
            raise not_in_form(facts, translation)


def _tools(request: GenerationRequest) -> JsonObject:
    offer = native_offer(request)
    if offer is None:
        return {}
    translation = translation_of(request)
    choice: JsonObject = {"mode": "VALIDATED" if translation.strict_tools else "AUTO"}
    if offer.answer == "none":
        choice = {"mode": "ANY", "allowedFunctionNames": [*translation.tools]}
    return {
        "tools": [{"functionDeclarations": [*functions_of(request, parameters="parametersJsonSchema")]}],
        "toolConfig": {"functionCallingConfig": choice},
    }


__all__ = [
    "BASE_URL",
    "KEY_VARIABLES",
    "GeminiDialect",
    "identify_gemini",
    "model_path",
    "model_questions",
]
