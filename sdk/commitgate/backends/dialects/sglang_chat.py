"""Speak the chat completions of SGLang.

A pattern is the member ``regex``, a grammar ``ebnf``. A field that SGLang does not know is ignored, so vLLM's
``structured_outputs`` is never sent. It is the one server that says which engine enforces its constraints.

Source: SGLang 0.5.23, srt/entrypoints/openai/protocol.py and http_server.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import drawing_of, json_schema_format
from commitgate.backends.dialects.identity_reading import is_ready, joined, names, object_in, objects, word
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject

_ALL_TOKENS: Final = -1
_FACTS: Final = ServerFacts(
    name="sglang_chat",
    title="SGLang",
    vendor="sglang",
    base_url=None,
    base_url_variable="SGLANG_BASE_URL",
    version_segment="v1",
    key_variables=("SGLANG_API_KEY",),
    forms=frozenset({"json_schema", "regex", "grammar"}),
    notations=frozenset({"gbnf"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)


class SglangChatDialect(ChatDialect):
    """Write and read SGLang's chat completions."""

    def __init__(self) -> None:
        super().__init__(_FACTS)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health, the model, the server's settings, and the names that it serves."""
        return asked("//health", "//model_info", "//server_info", "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server says of itself; the engine ``none`` means that it can enforce nothing."""
        health, of_model, settings, models = answers
        about, server = object_in(of_model), object_in(settings)
        return ServerIdentity(
            is_ready=is_ready(health, models),
            version=word(server, "version"),
            models=names(objects(object_in(models), "data"), "id"),
            revision=joined(word(about, "model_path"), word(about, "weight_version")),
            engine=word(server, "grammar_backend"),
        )

    def _drawing(self, sampling: Sampling) -> JsonObject:
        # The model's own generation config may say another default for each.
        top_k = _ALL_TOKENS if sampling.top_k is None else sampling.top_k
        return {"max_completion_tokens": sampling.max_tokens, **drawing_of(sampling), "top_k": top_k}

    def _constraint(self, translation: Translation) -> JsonObject:
        return constraint_of_sglang(translation)


def constraint_of_sglang(translation: Translation) -> JsonObject:
    """Return the constraint as SGLang takes it."""
    match translation.form:
        case "regex":
            return {"regex": translation.pattern}
        case "grammar":
            return {"ebnf": translation.grammar}
        case _:
            return {"response_format": json_schema_format(translation)}


__all__ = ["SglangChatDialect", "constraint_of_sglang"]
