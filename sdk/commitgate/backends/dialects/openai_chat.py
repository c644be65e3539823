"""Speak OpenAI's chat completions.

Regular expressions and grammars hold for the input of a custom tool alone, so the answer is asked for as that: one
tool, that must be called. ``strict`` is always sent: without it a schema is a mere hint.

Source: OpenAI's reference of chat completions as the types of openai-python 3.57 have it, and its guide to structured
outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from commitgate.backends.base import GenerationRequest, Sampling
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect
from commitgate.backends.dialects.chat_writing import effort_of, json_schema_format, translation_of, without_top_k
from commitgate.backends.dialects.identity_reading import word
from commitgate.backends.dialects.model_list import asked_for, identity
from commitgate.backends.translation import Translation
from commitgate.json_value import JsonObject
from commitgate.reasoning import Reasoning

ANSWER_TOOL: Final = "answer"
"""The custom tool whose input is the answer, where a pattern or a grammar holds for it."""

_TOLD: Final = "Give the whole answer as the input of this tool."
_FACTS: Final = ServerFacts(
    name="openai_chat",
    title="OpenAI's chat completions",
    vendor="openai",
    base_url="https://api.openai.com/v1",
    base_url_variable="OPENAI_BASE_URL",
    version_segment="v1",
    key_variables=("OPENAI_API_KEY",),
    needs_key=True,
    forms=frozenset({"json_schema", "regex", "grammar"}),
    notations=frozenset({"lark"}),
    proof_of_end="a finish_reason of the first choice",
    end_marker="[DONE]",
    shows_schema=True,
    tells_in_finish=True,
    refuses=True,
    offers_tools=True,
)


class OpenAIChatDialect(ChatDialect):
    """Write and read OpenAI's chat completions."""

    def __init__(self) -> None:
        super().__init__(_FACTS, needs_model=True)

    def expected(self, request: GenerationRequest) -> Expected:
        """Return what the answer is expected to hold."""
        is_tool = translation_of(request).form in ("regex", "grammar")
        return replace(super().expected(request), answer_tool=ANSWER_TOOL if is_tool else None)

    def handshake(self, model: str) -> Sequence[Outgoing]:
        """Return the requests for the list of models, and for what is told of the asked one."""
        return asked_for(model, "/models")

    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        """Read what is told of the models; what a name stands for is a revision, where a gateway tells it."""
        version = word({**answers[0].headers}, "openai-version")
        return identity(model, answers, version=version, revision="root")

    def _drawing(self, sampling: Sampling) -> JsonObject:
        without_top_k(_FACTS, sampling)
        members: JsonObject = {"max_completion_tokens": sampling.max_tokens}
        # Models that think take no temperature, so one that nobody asked for is left out.
        if sampling.temperature is not None:
            members["temperature"] = sampling.temperature
        if sampling.top_p != 1:
            members["top_p"] = sampling.top_p
        if sampling.seed is not None:
            members["seed"] = sampling.seed
        return members

    def _thoughts(self, reasoning: Reasoning | None) -> JsonObject:
        return effort_of(_FACTS, reasoning)

    def _constraint(self, translation: Translation) -> JsonObject:
        match translation.form:
            case "regex":
                return _answer_tool("regex", translation.pattern)
            case "grammar":
                return _answer_tool("lark", translation.grammar)
            case _:
                return {"response_format": json_schema_format(translation)}


def _answer_tool(syntax: str, definition: str | None) -> JsonObject:
    grammar: JsonObject = {"syntax": syntax, "definition": definition}
    custom: JsonObject = {
        "name": ANSWER_TOOL,
        "description": _TOLD,
        "format": {"type": "grammar", "grammar": grammar},
    }
    return {
        "tools": [{"type": "custom", "custom": custom}],
        "tool_choice": {"type": "custom", "custom": {"name": ANSWER_TOOL}},
        "parallel_tool_calls": False,
    }


__all__ = ["ANSWER_TOOL", "OpenAIChatDialect"]
