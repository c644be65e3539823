"""Speak the chat completions of Ollama.

They take a schema and nothing else, know no ``top_k``, and ignore ``tool_choice``. A failure in the middle of a stream
is not told at all: the stream ends, without a finish.

Source: Ollama fb30760, openai/openai.go and docs/api/openai-compatibility.mdx.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import GenerationRequest, Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import (
    drawing_of,
    effort_of,
    json_schema_format,
    native_offer,
    tools_of,
    without_top_k,
)
from commitgate.backends.dialects.identity_reading import is_ready, named, names, object_in, objects, word
from commitgate.backends.translation import Translation
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning

_LATEST: Final = ":latest"
_FACTS: Final = ServerFacts(
    name="ollama_v1_chat",
    title="Ollama's chat completions",
    vendor="llama_cpp",
    base_url=None,
    base_url_variable="OLLAMA_BASE_URL",
    version_segment="v1",
    key_variables=("OLLAMA_API_KEY",),
    forms=frozenset({"json_schema"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)


class OllamaV1ChatDialect(ChatDialect):
    """Write and read Ollama's chat completions."""

    def __init__(self) -> None:
        super().__init__(_FACTS, needs_model=True)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for the version and the models."""
        return asked("//api/version", "//api/tags")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read the version and the models."""
        return identify_ollama(model, answers)

    def _drawing(self, sampling: Sampling) -> JsonObject:
        without_top_k(_FACTS, sampling)
        return {"max_tokens": sampling.max_tokens, **drawing_of(sampling)}

    def _tools(self, request: GenerationRequest) -> JsonObject:
        offer = native_offer(request)
        if offer is None:
            return {}
        if offer.answer == "none":
            reason = f"{_FACTS.title} offer tools and cannot be told that one must be called; let the turn answer, too"
            raise UnsupportedError(f"tools: {reason}", pointer="", keyword="tools", reason=reason)
        return {"tools": tools_of(request)["tools"]}

    def _thoughts(self, reasoning: Reasoning | None) -> JsonObject:
        return effort_of(_FACTS, reasoning)

    def _constraint(self, translation: Translation) -> JsonObject:
        return {"response_format": json_schema_format(translation)}


def identify_ollama(model: str, answers: Sequence[Answer]) -> ServerIdentity:
    """Read Ollama's version and the models that it holds; the digest of a model's files is its revision.

    Args:
        model: the asked one; its tag may be left out where it is ``latest``.
        answers: those of ``/api/version`` and ``/api/tags``.
    """
    version, tags = answers
    held = objects(object_in(tags), "models")
    full_name = model if ":" in model.rpartition("/")[2] or not model else f"{model}{_LATEST}"
    return ServerIdentity(
        is_ready=is_ready(version, tags),
        version=word(object_in(version), "version"),
        models=names(held, "name", "model"),
        revision=word(named(held, full_name, "name", "model"), "digest"),
    )


__all__ = ["OllamaV1ChatDialect", "identify_ollama"]
