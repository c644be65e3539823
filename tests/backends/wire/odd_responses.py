"""Write the events of each dialect as its server does."""

import json

SSE = {"content-type": "text/event-stream; charset=utf-8"}
JSON = {"content-type": "application/json"}
NDJSON = {"content-type": "application/x-ndjson"}


def _event(value: object, name: str = "", end: str = "\n\n") -> str:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}{end}"


def chat(delta: dict[str, object] | None = None, finish: str | None = None) -> str:
    """Return a chunk of a chat completion."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return _event({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def anthropic(kind: str, **members: object) -> str:
    """Return an event of Anthropic's messages."""
    return _event({"type": kind, **members}, kind)


def responses(kind: str, **members: object) -> str:
    """Return an event of OpenAI's responses that holds one."""
    return _event({"type": kind, "response": {"id": "r", "object": "response", "output": [], **members}}, kind)


def gemini(parts: list[dict[str, object]], finish: str | None = None) -> str:
    """Return a chunk of Gemini's."""
    candidate: dict[str, object] = {"index": 0, "content": {"parts": parts, "role": "model"}}
    return _event({"candidates": [{**candidate, "finishReason": finish} if finish else candidate]}, end="\r\n\r\n")


def interaction(status: str) -> str:
    """Return the events of one interaction with Gemini."""
    return interaction_text("{}") + interaction_end(status)


def interaction_text(text: str) -> str:
    """Return the events that begin an interaction and write a text."""
    return (
        _step("interaction.created", interaction={"id": "v"})
        + _step("step.start", index=0, step={"type": "model_output"})
        + _step("step.delta", index=0, delta={"type": "text", "text": text})
    )


def interaction_end(status: str) -> str:
    """Return the event that ends an interaction."""
    return _step("interaction.completed", interaction={"id": "v", "status": status})


def _step(kind: str, **members: object) -> str:
    return _event({"event_type": kind, **members}, kind)


def anthropic_text(text: str) -> str:
    """Return the events that begin a message and write a text."""
    return (
        ANTHROPIC_HEAD
        + anthropic("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + anthropic("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        + anthropic("content_block_stop", index=0)
    )


def anthropic_end(word: str) -> str:
    """Return the event that ends a message."""
    return anthropic("message_delta", delta={"stop_reason": word}, usage={"output_tokens": 1})


def responses_text(text: str) -> str:
    """Return the events that begin a response and write a text."""
    delta = {"item_id": "i", "output_index": 0, "content_index": 0, "delta": text}
    kind = "response.output_text.delta"
    return responses("response.created", status="in_progress") + _event({"type": kind, **delta}, kind)


def ollama(text: str, *, done_reason: str | None = None) -> str:
    """Return a line of Ollama's."""
    end = {"done": False} if done_reason is None else {"done": True, "done_reason": done_reason}
    return (
        json.dumps({"model": "m", "message": {"role": "assistant", "content": text}, **end}, ensure_ascii=False) + "\n"
    )


def tgi(finish: str | None = None, text: str = "") -> str:
    """Return an event of TGI's."""
    token = {"id": 1, "text": text, "logprob": -0.1, "special": finish is not None}
    details = None if finish is None else {"finish_reason": finish, "generated_tokens": 1, "seed": None}
    return _event({"index": 1, "token": token, "generated_text": finish and "{}", "details": details})


def llama(stop_type: str | None = None, text: str = "") -> str:
    """Return an event of llama.cpp's own API."""
    return _event({"index": 0, "content": text, "stop": stop_type is not None, "stop_type": stop_type or "none"})


CHAT_TEXT = chat({"role": "assistant", "content": ""}) + chat({"content": '{"a"'}) + chat({"content": ":1}"})
CHAT_USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3}}\n\n'
ANTHROPIC_HEAD = anthropic("message_start", message={"id": "m", "content": [], "usage": {"input_tokens": 1}})
RESPONSES_TEXT = responses_text("{}")
GEMINI_TEXT = gemini([{"text": "{"}]) + gemini([{"text": "}"}])
OLLAMA_TEXT = ollama("{") + ollama("}")
TGI_TEXT = tgi(text="{}")
LLAMA_TEXT = llama(text="{") + llama(text="}")
