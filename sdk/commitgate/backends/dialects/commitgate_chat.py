"""Speak the chat completions of this project's own server, ``commitgate serve``.

The server enforces every keyword or refuses it, knows every field or refuses it, and answers a repeated
``Idempotency-Key`` with the answer that it gave: nothing has to be probed there.

Source: docs/server-protocol.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from commitgate.backends.base import Sampling
from commitgate.backends.dialect import OWNER, Answer, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect, asked
from commitgate.backends.dialects.chat_writing import effort_of, json_schema_format
from commitgate.backends.dialects.identity_reading import is_ready, names, object_in, objects
from commitgate.backends.dialects.vllm_chat import structured_outputs
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning

_FACTS: Final = ServerFacts(
    name="commitgate_chat",
    title="commitgate serve",
    vendor=None,
    base_url=None,
    base_url_variable="COMMITGATE_SERVER_URL",
    version_segment="v1",
    key_variables=("COMMITGATE_SERVER_KEY",),
    forms=frozenset({"json_schema", "regex", "choices", "grammar"}),
    notations=frozenset({"gbnf", "lark"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
    offers_tools=True,
    honours_keys=True,
    is_trusted=True,
)


class CommitgateChatDialect(ChatDialect):
    """Write and read the chat completions of ``commitgate serve``."""

    def __init__(self) -> None:
        super().__init__(_FACTS, needs_model=True)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for health and the list of models."""
        return asked("//health", "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read health and the list of models."""
        health, models = answers
        served = objects(object_in(models), "data")
        is_ours = bool(served) and all(each.get("owned_by") == OWNER for each in served)
        return ServerIdentity(
            is_ready=is_ready(health, models), models=names(served, "id"), engine=OWNER if is_ours else None
        )

    def _drawing(self, sampling: Sampling) -> JsonObject:
        members: JsonObject = {
            "max_completion_tokens": sampling.max_tokens,
            "temperature": sampling.heat,
            "top_p": sampling.top_p,
        }
        if sampling.seed is not None:
            members["seed"] = sampling.seed
        if sampling.top_k is not None:
            members["top_k"] = sampling.top_k
        return members

    def _thoughts(self, reasoning: Reasoning | None) -> JsonObject:
        return effort_of(_FACTS, reasoning)

    def _constraint(self, translation: Translation) -> JsonObject:
        if translation.form == "json_schema":
            # What is listed as checked stands in the schema; under strict the server refuses what it cannot enforce.
            return {"response_format": json_schema_format(translation, is_strict=translation.is_decoded)}
        return structured_outputs(translation)


__all__ = ["CommitgateChatDialect"]
