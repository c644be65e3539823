"""Each way in which an answer can end is told by its name, on every wire, and only a finish commits."""

from dataclasses import dataclass
from typing import Literal

import pytest
from backends.wire.odd_responses import (
    NDJSON,
    SSE,
    anthropic,
    anthropic_end,
    anthropic_text,
    chat,
    gemini,
    interaction_end,
    interaction_text,
    llama,
    ollama,
    responses,
    responses_text,
    tgi,
)

from commitgate.testing import replay

TEXT = '{"t":"né東🧪"}'
"""The answer: characters of two, three and four bytes."""

CONTRACT = {
    "type": "object",
    "properties": {"t": {"type": "string"}},
    "required": ["t"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Wire:
    """Hold what one server writes.

    Attributes:
        text: the events that write the answer.
        stop: the events that end it by itself.
        length: those that end it at a limit.
        error: one that tells of a failure.
        filter: those that end it by a filter; None where the server has none.
        refusal: those that end it by a refusal; None where it has none.
        junk: what is no event.
        headers: the head.
    """

    text: str
    stop: str
    length: str
    error: str
    filter: str | None = None
    refusal: str | None = None
    junk: str = "data: {oops\n\n"
    headers: tuple[tuple[str, str], ...] = tuple(SSE.items())


DONE = "data: [DONE]\n\n"
ERROR = 'data: {"error":{"message":"m","type":"server_error","code":500}}\n\n'
CHAT = Wire(
    text=chat({"content": TEXT}),
    stop=chat(finish="stop") + DONE,
    length=chat(finish="length") + DONE,
    error=ERROR + DONE,
    filter=chat(finish="content_filter") + DONE,
    refusal=chat({"refusal": "no"}) + chat(finish="stop") + DONE,
)
STOP_MESSAGE = anthropic("message_stop")
WIRES = {
    **dict.fromkeys(
        ("openai_chat", "vllm_chat", "nim_chat", "sglang_chat", "llamacpp_chat", "tgi_chat", "ollama_v1_chat"), CHAT
    ),
    "commitgate_chat": CHAT,
    "openai_responses": Wire(
        text=responses_text(TEXT),
        stop=responses("response.completed", status="completed"),
        length=responses(
            "response.incomplete", status="incomplete", incomplete_details={"reason": "max_output_tokens"}
        ),
        error='event: error\ndata: {"type":"error","code":"server_error","message":"m"}\n\n',
        filter=responses("response.incomplete", status="incomplete", incomplete_details={"reason": "content_filter"}),
        refusal='data: {"type":"response.refusal.delta","delta":"no"}\n\n'
        + responses("response.completed", status="completed"),
    ),
    "anthropic_messages": Wire(
        text=anthropic_text(TEXT),
        stop=anthropic_end("end_turn") + STOP_MESSAGE,
        length=anthropic_end("max_tokens") + STOP_MESSAGE,
        error=anthropic("error", error={"type": "api_error", "message": "m"}),
        refusal=anthropic_end("refusal") + STOP_MESSAGE,
    ),
    "gemini": Wire(
        text=gemini([{"text": TEXT}]),
        stop=gemini([], "STOP"),
        length=gemini([], "MAX_TOKENS"),
        error='{\n  "error": {"code": 500, "message": "m", "status": "INTERNAL"}\n}\n',
        filter=gemini([], "SAFETY"),
    ),
    "gemini_interactions": Wire(
        text=interaction_text(TEXT),
        stop=interaction_end("completed"),
        length=interaction_end("incomplete"),
        error='event: error\ndata: {"error":{"code":"internal","message":"m"},"event_type":"error"}\n\n',
    ),
    "ollama_chat": Wire(
        text=ollama(TEXT),
        stop=ollama("", done_reason="stop"),
        length=ollama("", done_reason="length"),
        error='{"error":"runner stopped"}\n',
        junk="oops\n",
        headers=tuple(NDJSON.items()),
    ),
    "tgi_generate": Wire(
        text=tgi(text=TEXT),
        stop=tgi("eos_token"),
        length=tgi("length"),
        error='data:{"error":"m","error_type":"generation"}\n\n',
    ),
    "llamacpp_completion": Wire(text=llama(text=TEXT), stop=llama("eos"), length=llama("limit"), error=ERROR),
}


def ends(dialect: str, body: bytes, end: Literal["clean", "reset"] = "clean") -> tuple[str, str]:
    """Return how a body is read, on the wire alone and as the answer to a call."""
    headers = dict(WIRES[dialect].headers)
    alone = replay(dialect, body, headers=headers, end=end)
    called = replay(dialect, body, headers=headers, end=end, contract=CONTRACT)
    return alone.outcome, called.outcome


every_wire = pytest.mark.parametrize("dialect", WIRES)
CUT = ("interrupted", "disconnected")


@every_wire
def test_whole_answer_is_committed(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, (wire.text + wire.stop).encode()) == ("complete", "committed")


@every_wire
@pytest.mark.parametrize("end", ["clean", "reset"])
def test_end_before_the_finish_is_a_lost_line_wherever_it_comes(dialect: str, end: Literal["clean", "reset"]) -> None:
    wire = WIRES[dialect]
    text = wire.text.encode()
    # Without the mark that ends its event, within a line, within a character, and before the finish.
    character = text.index("🧪".encode()) + 2
    for length in (len(text) - 1, len(text) - 12, character, len(text)):
        assert ends(dialect, text[:length], end) == CUT
    finish = wire.stop.encode()
    for length in (1, 9, len(finish) // 3):
        assert ends(dialect, text + finish[:length], end) == CUT


@every_wire
def test_line_that_breaks_behind_the_finish_changes_nothing(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, (wire.text + wire.stop).encode(), "reset") == ("complete", "committed")


@every_wire
def test_answer_that_a_limit_cut_is_truncated(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, (wire.text + wire.length).encode()) == ("truncated", "truncated")


@pytest.mark.parametrize("dialect", [name for name, wire in WIRES.items() if wire.filter is not None])
def test_answer_that_a_filter_cut_is_filtered(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, f"{wire.text}{wire.filter}".encode()) == ("filtered", "filtered")


@pytest.mark.parametrize("dialect", [name for name, wire in WIRES.items() if wire.refusal is not None])
def test_refusal_is_refused(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, f"{wire.text}{wire.refusal}".encode()) == ("refused", "refused")


@every_wire
def test_error_within_the_stream_wins_wherever_it_comes(dialect: str) -> None:
    wire = WIRES[dialect]
    wanted = ("server_error", "unavailable")
    for body in (wire.error, wire.text + wire.error, wire.text + wire.stop + wire.error):
        assert ends(dialect, body.encode()) == wanted


@every_wire
def test_junk_counts_before_the_finish_alone(dialect: str) -> None:
    wire = WIRES[dialect]
    assert ends(dialect, (wire.text + wire.stop + wire.junk).encode()) == ("complete", "committed")
    assert ends(dialect, (wire.text + wire.junk + wire.stop).encode()) == ("protocol_error", "unavailable")
