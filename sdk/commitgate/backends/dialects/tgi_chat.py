"""Speak the chat completions of Text Generation Inference.

``response_format`` has a form of its own, a type with a value; OpenAI's is refused. It knows no ``top_k``, and its
``top_p`` lies below 1: left out, all tokens are kept.

Source: text-generation-inference db931fc, router/src/lib.rs, validation.rs and chat.rs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import drawing_of, name_of, schema_object, without_top_k
from commitgate.backends.dialects.identity_reading import is_ready, joined, object_in, word
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject

_FACTS: Final = ServerFacts(
    name="tgi_chat",
    title="Text Generation Inference",
    vendor="tgi",
    base_url=None,
    base_url_variable="TGI_BASE_URL",
    version_segment="v1",
    key_variables=("TGI_API_KEY", "HF_TOKEN"),
    forms=frozenset({"json_schema", "regex"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)


class TgiChatDialect(ChatDialect):
    """Write and read the chat completions of Text Generation Inference."""

    def __init__(self) -> None:
        super().__init__(_FACTS)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health and what the server holds."""
        return asked("//health", "//info")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read health and what the server holds."""
        return identify_tgi(answers)

    def _drawing(self, sampling: Sampling) -> JsonObject:
        without_top_k(_FACTS, sampling)
        members: JsonObject = {"max_tokens": sampling.max_tokens, **drawing_of(sampling)}
        if sampling.top_p == 1:
            del members["top_p"]
        return members

    def _constraint(self, translation: Translation) -> JsonObject:
        if translation.form == "regex":
            return {"response_format": {"type": "regex", "value": translation.pattern}}
        value: JsonObject = {"name": name_of(translation), "schema": schema_object(translation)}
        return {"response_format": {"type": "json_schema", "value": value}}


def identify_tgi(answers: Sequence[Answer]) -> ServerIdentity:
    """Read the answers of ``/health`` and ``/info`` of Text Generation Inference."""
    health, info = answers
    about = object_in(info)
    name = word(about, "model_id")
    return ServerIdentity(
        is_ready=is_ready(health, info),
        version=joined(word(about, "version"), word(about, "sha")),
        models=() if name is None else (name,),
        revision=joined(name, word(about, "model_sha")),
        engine="outlines",
    )


__all__ = ["TgiChatDialect", "identify_tgi"]
