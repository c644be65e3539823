"""Speak the chat completions of NVIDIA NIM, which are those of the engine that an image holds.

``response_format`` works on every engine; the engine's own field is sent for all else. What NIM 1.x called ``nvext``
and ``guided_json`` is gone from 2.x and ignored there, so it is never sent.

Source: NVIDIA's documentation of NIM for LLMs 2.1, "Structured generation" and the guide to migrate from 1.x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from commitgate.argument import check_choice
from commitgate.backends.base import Sampling
from commitgate.backends.dialect import Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import drawing_of
from commitgate.backends.dialects.identity_reading import is_ready, joined, named, names, object_in, objects, word
from commitgate.backends.dialects.sglang_chat import constraint_of_sglang
from commitgate.backends.dialects.vllm_chat import structured_outputs
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject

NimEngine: TypeAlias = Literal["vllm", "sglang"]
"""What runs inside of an image."""

_ON_VLLM: Final = ServerFacts(
    name="nim_chat",
    title="NVIDIA NIM",
    vendor="vllm",
    base_url="https://integrate.api.nvidia.com/v1",
    base_url_variable="NIM_BASE_URL",
    version_segment="v1",
    key_variables=("NVIDIA_API_KEY",),
    forms=frozenset({"json_schema", "regex", "choices", "grammar"}),
    notations=frozenset({"gbnf", "lark"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
)
_ON_SGLANG: Final = replace(
    _ON_VLLM,
    vendor="sglang",
    forms=frozenset({"json_schema", "regex", "grammar"}),
    notations=frozenset({"gbnf"}),
)


class NimChatDialect(ChatDialect):
    """Write and read NIM's chat completions.

    Args:
        engine: what runs inside of the image.

    Raises:
        MisuseError: the engine is another word.
    """

    def __init__(self, engine: NimEngine = "vllm") -> None:
        check_choice("engine", engine, ("vllm", "sglang"))
        super().__init__(_ON_VLLM if engine == "vllm" else _ON_SGLANG, needs_model=True)
        self._engine: NimEngine = engine

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health, version, what the image holds, and models."""
        return asked("//v1/health/ready", "//v1/version", "//v1/metadata", "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what the server says of itself; the hosted one answers with its models alone."""
        health, version, metadata, models = answers
        served, about = objects(object_in(models), "data"), object_in(metadata)
        return ServerIdentity(
            is_ready=is_ready(health, models),
            version=joined(word(object_in(version), "release"), word(about, "version")),
            models=names(served, "id"),
            revision=joined(word(named(served, model, "id"), "root"), word(about, "selectedModelProfileId")),
        )

    def _drawing(self, sampling: Sampling) -> JsonObject:
        # Hosted models refuse what is not in OpenAI's reference, so it is sent only where it is asked for.
        members: JsonObject = {"max_tokens": sampling.max_tokens, **drawing_of(sampling)}
        if sampling.top_k is not None:
            members["top_k"] = sampling.top_k
        return members

    def _constraint(self, translation: Translation) -> JsonObject:
        return structured_outputs(translation) if self._engine == "vllm" else constraint_of_sglang(translation)


__all__ = ["NimChatDialect", "NimEngine"]
