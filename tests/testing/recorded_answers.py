"""The recorded responses of servers, as the suite of laws takes them, and answers that say one thing alone."""

from __future__ import annotations

import json
from typing import Any, cast

from backends.recorded import Recorded, recorded

from commitgate.json_value import JsonObject
from commitgate.testing import RecordedAnswer

CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "alt": {"type": "integer"}},
    "required": ["city", "alt"],
    "additionalProperties": False,
}
TEXT = '{"city":"Quito","alt":2850}'
SSE = {"content-type": "text/event-stream"}
_SPEAK_ALIKE = {"commitgate_chat": "vllm_chat", "ollama_v1_chat": "llamacpp_chat"}
"""Dialects of which no whole answer was recorded, and one whose answers are of the same form."""


def answers_of(dialect: str) -> list[RecordedAnswer]:
    """Return the recorded responses of a server."""
    names = {dialect, _SPEAK_ALIKE.get(dialect, dialect)}
    return [_answer(each) for each in recorded() if each.dialect in names]


def chat_answer(
    *deltas: dict[str, str], finish: str | None = "stop", name: str = "made", **given: Any
) -> RecordedAnswer:
    """Return an answer of chat completions of some deltas."""
    choices: list[dict[str, object]] = [{"index": 0, "delta": delta} for delta in deltas]
    if finish is not None:
        choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    events = [json.dumps({"id": "c-1", "choices": [choice]}) for choice in choices]
    body = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]")).encode()
    text = "".join(delta.get("content", "") for delta in deltas)
    fields = {"outcome": "complete", "text": text, "finish_native": finish, "headers": SSE, "contract": CITY, **given}
    return RecordedAnswer(name=name, body=body, **fields)


def whole_answer() -> RecordedAnswer:
    """Return an answer of chat completions that ends as it should."""
    return chat_answer({"content": TEXT[:9]}, {"content": TEXT[9:14]}, {"content": TEXT[14:]}, name="whole")


def _answer(response: Recorded) -> RecordedAnswer:
    wanted = cast("dict[str, Any]", response.wanted)
    fits = wanted["text"] == TEXT or (wanted["outcome"] != "complete" and wanted["text"].startswith('{"city":"Quito'))
    return RecordedAnswer(
        name=response.name,
        body=response.body,
        outcome=wanted["outcome"],
        text=wanted["text"],
        finish_native=wanted["finish_native"],
        reasoning=wanted.get("reasoning"),
        status=response.status,
        headers=response.headers,
        end=response.end,
        offers_tools="tool_calls" in wanted,
        contract=CITY if fits else None,
    )
