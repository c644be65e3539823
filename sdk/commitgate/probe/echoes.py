"""Ask a server to repeat the constraint that it has in force, where its API can, and read what it repeats.

llama.cpp repeats the grammar that its sampler was given: empty means that there was none. The Responses API repeats the
format that it read, which says nothing of whether it is enforced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypeAlias, cast

from commitgate.backends.dialect import Answer, Outgoing
from commitgate.json_value import JsonObject, JsonValue
from commitgate.probe.judge import Judgement
from commitgate.probe.question import Question
from commitgate.probe.result import Verdict

_Way: TypeAlias = Literal["sampler", "format"]

_MEMBERS: Mapping[str, tuple[_Way, JsonObject, tuple[str, ...]]] = MappingProxyType(
    {
        "llamacpp_chat": ("sampler", {"verbose": True}, ("__verbose", "generation_settings", "grammar")),
        "llamacpp_completion": ("sampler", {}, ("generation_settings", "grammar")),
        "openai_responses": ("format", {}, ("text", "format")),
    }
)
"""By dialect: what is repeated, what to add to the request, and where it stands in the answer."""


def echo_request(dialect_name: str, outgoing: Outgoing) -> Outgoing | None:
    """Return a request whose answer repeats the constraint, in one piece; None where the API has none.

    Args:
        dialect_name: of the API.
        outgoing: the request for an answer as the dialect writes it.
    """
    if dialect_name not in _MEMBERS:
        return None
    kept = {name: value for name, value in (outgoing.body or {}).items() if name != "stream_options"}
    return replace(outgoing, body=kept | {"stream": False} | _MEMBERS[dialect_name][1])


def judge_echo(dialect_name: str, question: Question, answer: Answer) -> Judgement:
    """Return what the repeated constraint proves."""
    way, _, path = _MEMBERS[dialect_name]
    if answer.status != 200:
        return Judgement(verdict=Verdict.NOT_TOLD, reason=f"it did not answer (status {answer.status})")
    try:
        value = cast("JsonValue", json.loads(answer.body))
    except (ValueError, RecursionError):
        return Judgement(verdict=Verdict.NOT_TOLD, reason="its answer is no JSON")
    if not isinstance(value, dict):
        return Judgement(verdict=Verdict.NOT_TOLD, reason="its answer is no object")
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    told = value if isinstance(value, str) else json.dumps(value, default=str) if value is not None else None
    if way == "format":
        return _of_format(told, question.nonce)
    if told is None:
        return Judgement(verdict=Verdict.NOT_TOLD, reason="it repeats nothing")
    if not told.strip():
        return Judgement(verdict=Verdict.DROPPED, reason="its sampler had no grammar")
    if question.nonce not in told:
        return Judgement(verdict=Verdict.PARTIAL, reason="its sampler had another grammar than the schema's")
    return Judgement(verdict=Verdict.ENFORCED, reason="its sampler had the schema's grammar")


def _of_format(told: str | None, nonce: str) -> Judgement:
    if told is not None and nonce in told:
        return Judgement(verdict=Verdict.YES, reason="it read the format; that alone does not enforce it")
    return Judgement(verdict=Verdict.NO, reason="it repeats no such format: it may not have read it")


__all__ = ["echo_request", "judge_echo"]
