"""Requests and answers that the tests of the server's protocol share."""

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from commitgate.backends.base import Finish, FinishReason, StreamEvent, TextDelta, Usage
from commitgate_local.server.chat_contract import PreparedChat, prepare_chat
from commitgate_local.server.chat_reply import ReplyHead, ReplyStream, WholeReply
from commitgate_local.server.chat_request import ChatRequest, parse_chat_request
from commitgate_local.server.server_limits import ServerLimits

LIMITS = ServerLimits()
HEAD = ReplyHead(id="chatcmpl-1", created=1_790_000_000, model="small", system_fingerprint="fp_1")
USER: Any = {"role": "user", "content": "How warm is it in Oslo?"}
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
STOP = Finish(FinishReason.STOP, "stop")
CUT = Finish(FinishReason.LENGTH, "max_tokens")


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "small", "messages": [USER], **fields}).encode()


def parsed(limits: ServerLimits = LIMITS, **fields: Any) -> ChatRequest:
    return parse_chat_request(body(**fields), limits=limits)


def prepared(limits: ServerLimits = LIMITS, **fields: Any) -> PreparedChat:
    return prepare_chat(parsed(limits, **fields), limits=limits)


def function(name: str = "weather", parameters: Any = CITY, **further: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **further}}


def json_schema(schema: Any, **further: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, **further}}


def texts(data: bytes, cuts: Iterable[int] = ()) -> list[StreamEvent]:
    """Return a text as events, cut at the given offsets."""
    places = [0, *sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    return [TextDelta(data[start:end]) for start, end in pairwise(places) if start < end]


def answer(data: bytes, *, cuts: Iterable[int] = (), finish: Finish = STOP) -> list[StreamEvent]:
    return [*texts(data, cuts), Usage(7, 5), finish]


def whole(chat: PreparedChat, events: Iterable[StreamEvent]) -> dict[str, Any]:
    reply = WholeReply(chat, HEAD)
    for event in events:
        reply.feed(event)
    return json.loads(reply.completion())


def streamed(chat: PreparedChat, events: Iterable[StreamEvent], *, include_usage: bool = False) -> bytes:
    """Return all frames of a stream; as soon as it is over, no further event is read."""
    stream = ReplyStream(chat, HEAD, include_usage=include_usage)
    frames = b""
    for event in events:
        frames += stream.feed(event)
        if stream.is_over:
            return frames
    return frames + stream.end()


def data_of(frames: bytes) -> list[Any]:
    """Return the data of each frame, parsed; ``[DONE]`` as it is."""
    found: list[Any] = []
    for frame in frames.decode("ascii").split("\n\n")[:-1]:
        name, _, data = frame.partition(": ")
        assert name == "data"
        assert "\n" not in data
        found.append(data if data == "[DONE]" else json.loads(data))
    return found


def joined(frames: bytes) -> dict[str, Any]:
    """Put a stream together as a client does: content, calls by their index, and the finish word."""
    content, refusal, finish, calls = "", "", None, {}
    for chunk in data_of(frames):
        if chunk == "[DONE]":
            continue
        for choice in chunk["choices"]:
            delta = choice["delta"]
            content += delta.get("content") or ""
            refusal += delta.get("refusal") or ""
            for piece in delta.get("tool_calls", ()):
                call = calls.setdefault(piece["index"], {"id": piece.get("id"), "name": "", "arguments": ""})
                call["name"] += piece["function"].get("name", "")
                call["arguments"] += piece["function"]["arguments"]
            finish = choice["finish_reason"] or finish
    return {"content": content, "refusal": refusal, "calls": [calls[at] for at in sorted(calls)], "finish": finish}
