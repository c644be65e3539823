"""Responses that are odd and were seen, or may come any day, are read rightly in every dialect."""

import json

import pytest
from backends.wire.odd_responses import (
    ANTHROPIC_HEAD,
    CHAT_TEXT,
    CHAT_USAGE,
    GEMINI_TEXT,
    JSON,
    LLAMA_TEXT,
    NDJSON,
    OLLAMA_TEXT,
    RESPONSES_TEXT,
    SSE,
    TGI_TEXT,
    anthropic,
    chat,
    gemini,
    interaction,
    llama,
    ollama,
    responses,
    tgi,
)

from commitgate.testing import Replay, replay

ERROR = 'data: {"error":{"message":"m","type":"server_error"}}\n\n'
DONE = "data: [DONE]\n\n"
STOP = chat(finish="stop")
CHAT = ("openai_chat", "vllm_chat", "nim_chat", "sglang_chat", "llamacpp_chat", "tgi_chat", "ollama_v1_chat")


def read(dialect: str, body: str, headers: dict[str, str], end: str, status: int = 200) -> Replay:
    assert end in ("clean", "reset")
    raw = body.encode()
    whole = replay(dialect, raw, headers=headers, status=status, end=end)
    assert replay(dialect, raw, headers=headers, status=status, end=end, split_at=range(len(raw))) == whole
    return whole


@pytest.mark.parametrize("dialect", CHAT)
@pytest.mark.parametrize(
    ("body", "end", "outcome", "text"),
    [
        (CHAT_TEXT + STOP + CHAT_USAGE + DONE, "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + CHAT_USAGE + STOP + DONE, "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + STOP + ERROR + DONE, "clean", "server_error", '{"a":1}'),
        (CHAT_TEXT + STOP + DONE + ERROR, "clean", "server_error", '{"a":1}'),
        (CHAT_TEXT + DONE, "clean", "interrupted", '{"a":1}'),
        (CHAT_TEXT + STOP + STOP + DONE, "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + STOP + chat(finish="length") + DONE, "clean", "protocol_error", '{"a":1}'),
        (CHAT_TEXT + STOP + "data:   [DONE]  \n\n", "clean", "complete", '{"a":1}'),
        ("data:\n\ndata: \n\nevent: x\n\n" + CHAT_TEXT + STOP + DONE, "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + STOP + DONE + "data: {oops\n\n<html>", "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + STOP + "data: {oops\n\n" + DONE, "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + "data: {oops\n\n" + STOP + DONE, "clean", "protocol_error", '{"a":1}'),
        (CHAT_TEXT + STOP + chat({"content": "x"}) + DONE, "clean", "protocol_error", '{"a":1}x'),
        (chat({"content": "Hm"}) + chat({"refusal": "no"}) + STOP + DONE, "clean", "refused", "Hm"),
        (chat({"refusal": "no"}), "clean", "interrupted", ""),
        (
            'data: {"choices":[],"prompt_filter_results":[]}\n\n' + chat(finish="content_filter"),
            "clean",
            "filtered",
            "",
        ),
        (CHAT_TEXT + STOP.rstrip(), "clean", "complete", '{"a":1}'),
        (CHAT_TEXT + STOP.rstrip(), "reset", "interrupted", '{"a":1}'),
        (CHAT_TEXT + STOP[:-20], "clean", "interrupted", '{"a":1}'),
        (CHAT_TEXT + STOP, "reset", "complete", '{"a":1}'),
        ('data: {"error":"Unauthorized"}\n\n', "clean", "auth_error", ""),
    ],
)
def test_odd_stream_of_chat_chunks(dialect: str, body: str, end: str, outcome: str, text: str) -> None:
    found = read(dialect, body, SSE, end)
    assert (found.outcome, found.text) == (outcome, text)


CHAT_WHOLE = {"choices": [{"index": 0, "message": {"content": "{}"}, "finish_reason": "stop"}]}
ANTHROPIC_WHOLE = {"type": "message", "content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}
RESPONSES_WHOLE = {
    "object": "response",
    "status": "completed",
    "error": None,
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "{}"}]}],
}
GEMINI_WHOLE = {"candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP", "index": 0}]}
WHOLE: dict[str, dict[str, object]] = {
    **dict.fromkeys(CHAT, CHAT_WHOLE),
    "anthropic_messages": ANTHROPIC_WHOLE,
    "openai_responses": RESPONSES_WHOLE,
    "gemini": GEMINI_WHOLE,
    "gemini_interactions": {
        "status": "completed",
        "steps": [{"type": "model_output", "content": [{"type": "text", "text": "{}"}]}],
    },
    "ollama_chat": {"message": {"content": "{}"}, "done": True, "done_reason": "stop"},
    "tgi_generate": {"generated_text": "{}", "details": {"finish_reason": "eos_token", "generated_tokens": 1}},
    "llamacpp_completion": {"content": "{}", "stop": True, "stop_type": "eos"},
}


@pytest.mark.parametrize("dialect", WHOLE)
def test_server_that_ignores_the_wish_for_a_stream_is_read(dialect: str) -> None:
    body = "\n\n \n" + json.dumps(WHOLE[dialect], indent=1)
    for end in ("clean", "reset"):
        found = read(dialect, body, {"Content-Type": "Application/JSON; Charset=UTF-8"}, end)
        assert (found.outcome, found.text) == ("complete", "{}")
    for length in (0, 5, len(body) - 3):
        assert read(dialect, body[:length], JSON, "clean").outcome == "interrupted"


@pytest.mark.parametrize("dialect", WHOLE)
@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ('{"error":{"message":"m","type":"server_error"}}', "server_error"),
        ('{"error":"m"}', "server_error"),
        ('[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]', "rate_limited"),
        ("null", "protocol_error"),
        ("<html>", "protocol_error"),
    ],
)
def test_body_of_an_error_under_a_good_status(dialect: str, body: str, outcome: str) -> None:
    assert read(dialect, body, JSON, "clean").outcome == outcome


@pytest.mark.parametrize("dialect", WHOLE)
@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (302, "", "request_error"),
        (400, '{"error":{"message":"bad","type":"invalid_request_error"}}', "request_error"),
        (401, '"Unauthorized"', "auth_error"),
        (404, "<html>404</html>", "request_error"),
        (429, 'event: error\ndata: {"error":{"message":"slow"}}\n\n', "rate_limited"),
        (500, "", "server_error"),
        (502, "<html>bad gateway</html>", "server_error"),
    ],
)
def test_body_of_any_form_under_a_status_of_failure(dialect: str, status: int, body: str, outcome: str) -> None:
    for headers in (SSE, JSON, {"content-type": "text/html"}, {}):
        assert read(dialect, body, headers, "clean", status).outcome == outcome


@pytest.mark.parametrize(
    ("dialect", "body", "headers", "outcome"),
    [
        ("anthropic_messages", ANTHROPIC_HEAD + anthropic("message_stop"), SSE, "interrupted"),
        ("anthropic_messages", anthropic("ping") * 3, SSE, "interrupted"),
        (
            "anthropic_messages",
            ANTHROPIC_HEAD
            + anthropic("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
            + anthropic("error", error={"type": "overloaded_error", "message": "m"}),
            SSE,
            "server_error",
        ),
        (
            "anthropic_messages",
            anthropic("error", error={"type": "invalid_request_error", "message": "output_config.format.schema: no"}),
            SSE,
            "constraint_error",
        ),
        ("openai_responses", RESPONSES_TEXT + "data: [DONE]\n\n", SSE, "interrupted"),
        (
            "openai_responses",
            RESPONSES_TEXT + responses("response.completed", status="completed") + DONE,
            SSE,
            "complete",
        ),
        (
            "openai_responses",
            RESPONSES_TEXT + responses("response.failed", status="failed", error={"code": "rate_limit_exceeded"}),
            SSE,
            "rate_limited",
        ),
        (
            "openai_responses",
            RESPONSES_TEXT + responses("response.failed", status="failed", error={"code": "bio_policy"}),
            SSE,
            "filtered",
        ),
        ("openai_responses", RESPONSES_TEXT + responses("response.cancelled", status="cancelled"), SSE, "aborted"),
        (
            "gemini",
            GEMINI_TEXT + gemini([], "STOP") + '{\n"error": {"code": 500, "status": "INTERNAL"}}',
            SSE,
            "server_error",
        ),
        (
            "gemini",
            GEMINI_TEXT + '[{\n"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}\n}\n]',
            SSE,
            "rate_limited",
        ),
        ("gemini", GEMINI_TEXT.rstrip() + '\n{"error": {"code": 503, "status": "UNAVAILABLE"}}', SSE, "server_error"),
        ("gemini", GEMINI_TEXT + gemini([], "STOP") + "data: {oops", SSE, "complete"),
        ("gemini", "[]", JSON, "interrupted"),
        ("gemini", '[{"candidates":[{"content":{"parts":[{"text":"{}"}]}}]}', JSON, "interrupted"),
        ("gemini", '[{"candidates":[]},\n{"error":{"code":503,"status":"UNAVAILABLE"}}]', JSON, "server_error"),
        ("gemini_interactions", interaction("completed"), SSE, "complete"),
        ("gemini_interactions", interaction("cancelled"), SSE, "aborted"),
        ("gemini_interactions", interaction("anything"), SSE, "unknown"),
        ("gemini_interactions", interaction("requires_action"), SSE, "unknown"),
        ("ollama_chat", "\ufeff" + OLLAMA_TEXT + ollama("", done_reason="stop"), NDJSON, "complete"),
        (
            "ollama_chat",
            OLLAMA_TEXT + ollama("", done_reason="stop"),
            {"content-type": "application/jsonl"},
            "complete",
        ),
        ("ollama_chat", OLLAMA_TEXT + ollama("", done_reason="stop"), {}, "complete"),
        ("ollama_chat", OLLAMA_TEXT + ollama("", done_reason="stop") + "oops\n", NDJSON, "complete"),
        ("ollama_chat", OLLAMA_TEXT + "oops\n" + ollama("", done_reason="stop"), NDJSON, "protocol_error"),
        ("ollama_chat", OLLAMA_TEXT + '{"error":"runner stopped"}', NDJSON, "server_error"),
        ("ollama_chat", OLLAMA_TEXT + ollama("", done_reason="stop")[:-9], NDJSON, "interrupted"),
        ("ollama_chat", OLLAMA_TEXT + ollama("", done_reason=""), NDJSON, "unknown"),
        ("tgi_generate", TGI_TEXT + tgi("stop_sequence"), SSE, "complete"),
        ("tgi_generate", TGI_TEXT + tgi("eos_token") + "data:{x\n\n", SSE, "complete"),
        ("tgi_generate", 'data:{"error":"Model is overloaded","error_type":"overloaded"}\n\n', SSE, "rate_limited"),
        ("llamacpp_completion", LLAMA_TEXT + llama("none"), SSE, "unknown"),
        ("llamacpp_completion", LLAMA_TEXT + llama("word") + ERROR, SSE, "server_error"),
    ],
)
def test_odd_response_of_one_dialect(dialect: str, body: str, headers: dict[str, str], outcome: str) -> None:
    assert read(dialect, body, headers, "clean").outcome == outcome
