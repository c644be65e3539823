"""Events and whole responses in the form of OpenAI's Responses API, for tests of its dialect."""

from typing import Any

from backends.dialects.wire_answer import EVENTS, JSON, Answer, event, read

from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect

USAGE = {
    "input_tokens": 21,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 30,
}


def say(kind: str, **members: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **members}


def created(**members: Any) -> dict[str, Any]:
    return say("created", response=response("in_progress", **members))


def text(delta: Any, *, item: str = "msg_1", output: int = 0, content: int = 0, **members: Any) -> dict[str, Any]:
    place = {"item_id": item, "output_index": output, "content_index": content}
    return say("output_text.delta", **place, delta=delta, **members)


def text_done(whole: Any, *, item: str = "msg_1", output: int = 0, content: int = 0) -> dict[str, Any]:
    return say("output_text.done", item_id=item, output_index=output, content_index=content, text=whole)


def message(*texts: str, refusal: str | None = None, **members: Any) -> dict[str, Any]:
    parts: list[Any] = [{"type": "output_text", "text": each, "annotations": []} for each in texts]
    if refusal is not None:
        parts.append({"type": "refusal", "refusal": refusal})
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": parts}
    return {**item, **members}


def call(name: str = "search", arguments: Any = "{}", *, number: int = 1, **members: Any) -> dict[str, Any]:
    ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
    return {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed", **members}


def custom(text: str, name: str = "answer", *, number: int = 1) -> dict[str, Any]:
    ids = {"id": f"ctc_{number}", "call_id": f"call_{number}"}
    return {"type": "custom_tool_call", **ids, "name": name, "input": text, "status": "completed"}


def response(status: Any = "completed", *output: Any, **members: Any) -> dict[str, Any]:
    head = {"id": "resp_1", "object": "response", "status": status, "error": None, "incomplete_details": None}
    return {**head, "model": "gpt-x-2026-01-01", "output": list(output), "usage": None, **members}


def completed(*output: Any, **members: Any) -> dict[str, Any]:
    return say("completed", response={**response("completed", *output, usage=USAGE), **members})


def stream(*events: Any) -> bytes:
    """Return the body of a stream."""
    return b"".join(event(each) for each in events)


def read_stream(*events: Any, **options: Any) -> Answer:
    """Return what a stream says."""
    return read(OpenAIResponsesDialect(), stream(*events), headers=EVENTS, **options)


def read_body(body: bytes, **options: Any) -> Answer:
    """Return what one whole response says."""
    return read(OpenAIResponsesDialect(), body, headers=JSON, **options)
