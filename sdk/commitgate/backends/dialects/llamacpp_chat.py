"""Speak the chat completions of llama.cpp's server.

A schema stands inside of ``json_schema``: in the shorter form of the server's own documentation it is read as any
object. It takes no grammar beside a schema, and none beside tools. Its samplers come in another order than ours, and
with another cut in between, so the order is sent.

Source: llama.cpp 0c1e570, tools/server/server-common.cpp, server-schema.cpp and server-context.cpp; its answers here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity, UnwritableError
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import drawing_of, json_schema_format
from commitgate.backends.dialects.identity_reading import is_ready, names, object_in, objects, word
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject

_ALL_TOKENS: Final = 0
_MOST_SEED: Final = 2**32 - 2
"""A seed has 32 bits here, and all of them set mean none."""

_FACTS: Final = ServerFacts(
    name="llamacpp_chat",
    title="llama.cpp's server",
    vendor="llama_cpp",
    base_url=None,
    base_url_variable="LLAMA_CPP_BASE_URL",
    version_segment="v1",
    key_variables=("LLAMA_CPP_API_KEY",),
    forms=frozenset({"json_schema", "grammar"}),
    notations=frozenset({"gbnf"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)


class LlamaCppChatDialect(ChatDialect):
    """Write and read the chat completions of llama.cpp's server."""

    def __init__(self) -> None:
        super().__init__(_FACTS)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health, properties and models."""
        return asked("//health", "//props", "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read health, properties and models; the file that was loaded is the revision."""
        health, properties, models = answers
        about = object_in(properties)
        return ServerIdentity(
            is_ready=is_ready(health, properties),
            version=word(about, "build_info"),
            models=names(objects(object_in(models), "data"), "id"),
            revision=word(about, "model_path"),
            engine="llama.cpp",
        )

    def _drawing(self, sampling: Sampling) -> JsonObject:
        if sampling.seed is not None and not 0 <= sampling.seed <= _MOST_SEED:
            raise UnwritableError(f"{_FACTS.title} takes a Sampling.seed from 0 to {_MOST_SEED}")
        top_k = _ALL_TOKENS if sampling.top_k is None else sampling.top_k
        return {
            "max_tokens": sampling.max_tokens,
            **drawing_of(sampling),
            "top_k": top_k,
            "samplers": ["temperature", "top_k", "top_p"],
        }

    def _constraint(self, translation: Translation) -> JsonObject:
        if translation.form == "grammar":
            return {"grammar": translation.grammar}
        return {"response_format": json_schema_format(translation)}


__all__ = ["LlamaCppChatDialect"]
