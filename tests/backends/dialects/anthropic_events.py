"""Events and whole messages in the form of Anthropic's Messages API, for tests of its dialect."""

import json
from typing import Any

from backends.dialects.wire_answer import EVENTS, JSON, Answer, event, read

from commitgate.backends.dialects.anthropic_messages import AnthropicMessagesDialect

USAGE = {"input_tokens": 21, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 9}
STOP = {"type": "message_stop"}
PING = {"type": "ping"}


def begin(**members: Any) -> dict[str, Any]:
    usage = {"input_tokens": 21, "output_tokens": 1, "service_tier": "standard"}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "content": []}
    return {"type": "message_start", "message": {**head, "stop_reason": None, "usage": usage, **members}}


def open_block(index: Any, kind: Any = "text", **members: Any) -> dict[str, Any]:
    usual: dict[Any, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": f"toolu_{index}", "name": "search", "input": {}},
    }
    block = {"type": kind, **usual.get(kind, {}), **members}
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, kind: Any, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def text(words: Any, index: Any = 0) -> dict[str, Any]:
    return delta(index, "text_delta", text=words)


def piece(json_text: Any, index: Any = 0) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=json_text)


def close_block(index: Any = 0) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: Any = "end_turn", *, usage: Any = USAGE, **members: Any) -> dict[str, Any]:
    told = {"stop_reason": reason, "stop_sequence": None, **members}
    return {"type": "message_delta", "delta": told, "usage": usage}


def message(*content: Any, reason: Any = "end_turn", **members: Any) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "content": list(content)}
    return {**head, "stop_reason": reason, "stop_sequence": None, "usage": USAGE, **members}


def stream(*events: Any) -> bytes:
    """Return the body of a stream."""
    return b"".join(event(each) for each in events)


def read_stream(*events: Any, **options: Any) -> Answer:
    """Return what a stream says."""
    return read(AnthropicMessagesDialect(), stream(*events), headers=EVENTS, **options)


def read_whole(value: Any, **options: Any) -> Answer:
    """Return what one whole message says; ``value`` is its JSON, or how that is spelled."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read(AnthropicMessagesDialect(), body, headers=JSON, **options)
