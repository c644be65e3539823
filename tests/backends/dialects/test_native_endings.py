"""A call to a server with an API of its own ends as the server's words say, and commits what it proved alone."""

from typing import Any

import pytest
from backends.dialects.native_streams import (
    gemini,
    gemini_answer,
    interaction,
    llama_answer,
    ndjson,
    ollama_answer,
    sse,
    tgi_answer,
)

from commitgate.testing.replay import replay

CONTRACT: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "alt": {"type": "integer"}},
    "required": ["city", "alt"],
    "additionalProperties": False,
}
FULL = {
    "gemini": gemini_answer(),
    "gemini_interactions": interaction(),
    "ollama_chat": ollama_answer(),
    "tgi_generate": tgi_answer(),
    "llamacpp_completion": llama_answer(),
}
AT_A_LIMIT = {
    "gemini": gemini_answer("MAX_TOKENS"),
    "gemini_interactions": interaction("incomplete"),
    "ollama_chat": ollama_answer("length"),
    "tgi_generate": tgi_answer("length"),
    "llamacpp_completion": llama_answer("limit"),
}
FAILURE = {
    "gemini": b"".join(sse([{"error": {"code": 500, "status": "INTERNAL"}}])),
    "gemini_interactions": b"".join(sse([{"event_type": "error", "error": {"code": "internal"}}], name="error")),
    "ollama_chat": b"".join(ndjson([{"error": "gone"}])),
    "tgi_generate": b"".join(sse([{"error": "gone", "error_type": "generation"}], head="data:")),
    "llamacpp_completion": b"".join(sse([{"error": {"code": 500, "type": "server_error"}}])),
}
NAMES = sorted(FULL)


def ending(name: str, events: list[bytes], **how: Any) -> str:
    return replay(name, b"".join(events), contract=CONTRACT, **how).outcome


@pytest.mark.parametrize("name", NAMES)
def test_whole_answer_is_committed(name: str) -> None:
    assert ending(name, FULL[name]) == "committed"
    assert ending(name, FULL[name], end="reset") == "committed"


@pytest.mark.parametrize("name", NAMES)
def test_whole_text_without_the_servers_word_is_not(name: str) -> None:
    assert ending(name, FULL[name][:-1]) == "disconnected"
    assert ending(name, FULL[name][:-1], end="reset") == "disconnected"


@pytest.mark.parametrize("name", NAMES)
def test_whole_text_at_a_limit_is_not(name: str) -> None:
    assert ending(name, AT_A_LIMIT[name]) == "truncated"


@pytest.mark.parametrize("name", NAMES)
def test_text_that_a_server_calls_whole_too_early_is_not(name: str) -> None:
    short = [FULL[name][0], FULL[name][-1]] if name != "gemini_interactions" else [*FULL[name][:4], FULL[name][-1]]
    assert ending(name, short) == "violated"


@pytest.mark.parametrize("name", NAMES)
def test_failure_wins_wherever_it_comes(name: str) -> None:
    assert ending(name, [*FULL[name][:-2], FAILURE[name]]) == "unavailable"
    assert ending(name, [*FULL[name], FAILURE[name]]) == "unavailable"


@pytest.mark.parametrize("name", NAMES)
def test_junk_behind_the_end_changes_nothing(name: str) -> None:
    assert ending(name, [*FULL[name], b"\n\n<html>\n\n"]) == "committed"


def test_filter_of_gemini_is_no_truncation_even_behind_text_of_another_form() -> None:
    assert ending("gemini", gemini_answer("SAFETY")) == "filtered"
    prose = [gemini({"text": "Sorry, that is not for me to say."}), gemini(finish="PROHIBITED_CONTENT")]
    assert ending("gemini", sse(prose)) == "filtered"
    assert ending("gemini", sse([{"promptFeedback": {"blockReason": "SAFETY"}}])) == "filtered"


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("gemini", gemini_answer("OTHER")),
        ("ollama_chat", ollama_answer("load")),
        ("llamacpp_completion", llama_answer("none")),
        ("gemini_interactions", interaction("requires_action")),
    ],
)
def test_word_that_says_nothing_proves_nothing(name: str, events: list[bytes]) -> None:
    assert ending(name, events) == "unavailable"


def test_call_that_was_not_asked_for_is_a_fault() -> None:
    call = gemini({"functionCall": {"name": "pay", "args": {"city": "Lima", "alt": 1}}}, finish="STOP")
    assert ending("gemini", sse([call])) == "unavailable"
