"""Chunks and whole answers in the form of OpenAI's chat completions, for tests of the reader."""

import json
from collections.abc import Iterable
from typing import Any

from commitgate.backends.base import ProseDelta, ReasoningDelta, RefusalDelta, StreamEvent, TextDelta, ToolDelta
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.chat_reading import ChatReader
from commitgate.backends.wire.wire_event import WireEvent

DONE = WireEvent(data=b"[DONE]", value=None)


def event(value: Any, *, name: str = "", data: bytes | None = None) -> WireEvent:
    """Return an event of some JSON; ``data`` says how it is spelled."""
    return WireEvent(name=name, data=json.dumps(value).encode() if data is None else data, value=value)


def chunk(finish: Any = None, *, further: Any = None, **delta: Any) -> WireEvent:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **(further or {})}
    return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def call(index: int, **function: Any) -> dict[str, Any]:
    """Return a piece of a call; ``id`` goes beside the function."""
    piece = {"index": index, "type": "function", "function": function}
    return {"id": function.pop("id"), **piece} if "id" in function else piece


def whole(finish: Any = "stop", **message: Any) -> WireEvent:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return event({"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]})


def reader(**expected: Any) -> ChatReader:
    return ChatReader(Expected(**expected))


def read(events: Iterable[WireEvent], **expected: Any) -> list[StreamEvent]:
    """Return what a whole stream says, with what its clean end adds."""
    found = reader(**expected)
    read = [each for given in events for each in found.read(given)]
    return [*read, *found.close()]


def text(events: Iterable[StreamEvent]) -> str:
    return b"".join(each.data for each in events if isinstance(each, TextDelta)).decode()


def prose(events: Iterable[StreamEvent]) -> str:
    return b"".join(each.data for each in events if isinstance(each, ProseDelta)).decode()


def thoughts(events: Iterable[StreamEvent]) -> str:
    return b"".join(each.data for each in events if isinstance(each, ReasoningDelta)).decode()


def refusal(events: Iterable[StreamEvent]) -> str:
    return "".join(each.text for each in events if isinstance(each, RefusalDelta))


def calls(events: Iterable[StreamEvent]) -> list[tuple[int, str | None, str | None, bytes]]:
    return [(each.index, each.id, each.name, each.arguments) for each in events if isinstance(each, ToolDelta)]
