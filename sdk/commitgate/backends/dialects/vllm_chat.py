"""Speak the chat completions of vLLM.

A field that vLLM does not know is ignored, so what it once called ``guided_json`` and the like is never sent. A form
of answer is ``response_format`` for schemas and ``structured_outputs`` for all else, which hold whatever ``strict``
says.

Source: vLLM 0.33, entrypoints/openai/chat_completion/protocol.py and sampling_params.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import drawing_of, json_schema_format, told_by_its_arrow
from commitgate.backends.dialects.identity_reading import is_ready, named, names, object_in, objects, word
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject

_ALL_TOKENS: Final = -1
_FACTS: Final = ServerFacts(
    name="vllm_chat",
    title="vLLM",
    vendor="vllm",
    base_url=None,
    base_url_variable="VLLM_BASE_URL",
    version_segment="v1",
    key_variables=("VLLM_API_KEY",),
    forms=frozenset({"json_schema", "regex", "choices", "grammar"}),
    notations=frozenset({"gbnf", "lark"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)


class VllmChatDialect(ChatDialect):
    """Write and read vLLM's chat completions."""

    def __init__(self) -> None:
        super().__init__(_FACTS)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health, version and models."""
        return asked("//health", "//version", "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read health, version and models; what a name stands for is the revision."""
        health, version, models = answers
        served = objects(object_in(models), "data")
        return ServerIdentity(
            is_ready=is_ready(health, models),
            version=word(object_in(version), "version"),
            models=names(served, "id"),
            revision=word(named(served, model, "id"), "root"),
        )

    def _drawing(self, sampling: Sampling) -> JsonObject:
        # The model's own generation config may say another default for each.
        top_k = _ALL_TOKENS if sampling.top_k is None else sampling.top_k
        return {"max_completion_tokens": sampling.max_tokens, **drawing_of(sampling), "top_k": top_k}

    def _constraint(self, translation: Translation) -> JsonObject:
        return structured_outputs(translation)


def structured_outputs(translation: Translation) -> JsonObject:
    """Return the constraint as vLLM takes it."""
    match translation.form:
        case "regex":
            return {"structured_outputs": {"regex": translation.pattern}}
        case "choices":
            return {"structured_outputs": {"choice": list(translation.choices)}}
        case "grammar":
            return {"structured_outputs": {"grammar": told_by_its_arrow(translation)}}
        case _:
            return {"response_format": json_schema_format(translation)}


__all__ = ["VllmChatDialect", "structured_outputs"]
