"""Write messages as OpenTelemetry's conventions have them, within a bound: only where content was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from commitgate.outcome import Committed, Refused

if TYPE_CHECKING:
    from commitgate.backends.base import Message
    from commitgate.json_value import JsonObject
    from commitgate.outcome import Outcome

MAX_CONTENT_CHARACTERS = 16_000
"""Most characters of all texts in one attribute together: exporters cut or drop what is much longer, and spans that
carry whole documents are how collectors run out of memory."""

_OVERHEAD = 64
_CUT = "…"


def input_messages(messages: Iterable[Message]) -> str:
    """Return what was sent to the model, as JSON. What is beyond the bound is cut off."""
    left = MAX_CONTENT_CHARACTERS
    written: list[JsonObject] = []
    for message in messages:
        if left <= 0:
            break
        written.append({"role": message.role, "parts": [_part(cut(message.content, left))]})
        left -= len(message.content) + _OVERHEAD
    return json.dumps(written, ensure_ascii=False)


def output_messages(outcome: Outcome[object, object], finish: str) -> str:
    """Return what the model wrote, as JSON.

    Args:
        outcome: how the call ended.
        finish: why the model stopped, in the conventions' words.
    """
    parts: list[JsonObject] = [_part(cut(text_of(outcome), MAX_CONTENT_CHARACTERS))]
    return json.dumps([{"role": "assistant", "parts": parts, "finish_reason": finish}], ensure_ascii=False)


def text_of(outcome: Outcome[object, object]) -> str:
    """Return the text that an outcome carries."""
    if isinstance(outcome, Committed):
        return outcome.text
    if isinstance(outcome, Refused) and outcome.text:
        return outcome.text
    return outcome.partial_text


def cut(text: str, most: int) -> str:
    """Return a text of at most that many characters."""
    return text if len(text) <= most else text[: most - 1] + _CUT


def _part(text: str) -> JsonObject:
    return {"type": "text", "content": text}


__all__ = ["MAX_CONTENT_CHARACTERS", "cut", "input_messages", "output_messages", "text_of"]
