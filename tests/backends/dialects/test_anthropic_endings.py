"""End calls to Anthropic's Messages API as their messages say: whole, cut, refused, paused, failed, odd."""

import json
from typing import Any, Literal

import pytest
from backends.dialects.anthropic_events import STOP, begin, close_block, end, message, open_block, stream, text
from backends.dialects.wire_answer import EVENTS, JSON

from commitgate.contract import Contract
from commitgate.testing import replay

CITY: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WHOLE = '{"city":"caf\u00e9"}'
TOLD = begin(), open_block(0), text('{"city":"ca'), text('f\u00e9"}'), close_block()
FULL = stream(*TOLD, end(), STOP)
# As servers write it whose JSON is not escaped to ASCII.
RAW = FULL.replace(b"\\u00e9", "\u00e9".encode())
OVERLOADED: Any = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
REFUSED: Any = {"type": "refusal", "explanation": "Not this."}


def ending(body: bytes, *, headers: Any = EVENTS, how: Literal["clean", "reset"] = "clean") -> str:
    return replay("anthropic", body, contract=Contract.json_schema(CITY), headers=headers, end=how).outcome


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (FULL, "committed"),
        (RAW, "committed"),
        (stream(*TOLD, end()), "committed"),
        (FULL + b"<html>junk</html>", "committed"),
        (stream(*TOLD), "disconnected"),
        (stream(*TOLD, STOP), "disconnected"),
        (stream(*TOLD, end(None), STOP), "disconnected"),
        (stream(*TOLD) + b"data: <html>\n\n", "unavailable"),
        (stream(*TOLD)[:-40], "disconnected"),
        (RAW[: RAW.index("\u00e9".encode()) + 1], "disconnected"),
        (b"", "disconnected"),
        (stream(*TOLD[:3], close_block(), end(), STOP), "violated"),
        (stream(*TOLD, open_block(1), text("x", 1), close_block(1), end(), STOP), "violated"),
        (stream(*TOLD, end(), open_block(1), text("x", 1), STOP), "unavailable"),
        (stream(*TOLD, text("x", 1), end(), STOP), "unavailable"),
        (stream(*TOLD[:3], close_block(), end("max_tokens"), STOP), "truncated"),
        (stream(*TOLD, end("max_tokens"), STOP), "truncated"),
        (stream(*TOLD[:3], close_block(), end("model_context_window_exceeded"), STOP), "truncated"),
        (stream(*TOLD[:3], close_block(), end("pause_turn"), STOP), "truncated"),
        (stream(*TOLD[:3], close_block(), end("refusal", stop_details=REFUSED), STOP), "refused"),
        (stream(begin(), open_block(0), text("I am sorry"), end("refusal"), STOP), "refused"),
        (stream(begin(), end("refusal", stop_details=REFUSED), STOP), "refused"),
        (stream(*TOLD, end("compaction"), STOP), "unavailable"),
        (stream(*TOLD, end("tool_use"), STOP), "unavailable"),
        (stream(*TOLD[:3], OVERLOADED), "unavailable"),
        (stream(*TOLD, end(), OVERLOADED), "unavailable"),
        (stream(*TOLD, end(), STOP, OVERLOADED), "unavailable"),
        (stream(begin(), open_block(0, "tool_use"), close_block(), end("tool_use"), STOP), "unavailable"),
    ],
)
def test_an_answer_ends_as_the_message_says(body: bytes, wanted: str) -> None:
    assert ending(body) == wanted


@pytest.mark.parametrize("size", range(0, len(stream(*TOLD)), 100))
def test_a_line_that_breaks_before_the_end_never_commits(size: int) -> None:
    assert ending(RAW[:size], how="reset") == "disconnected"


def test_a_line_that_breaks_behind_the_end_changes_nothing() -> None:
    assert ending(stream(*TOLD, end()), how="reset") == "committed"


def test_a_whole_message_is_an_answer() -> None:
    assert ending(json.dumps(message({"type": "text", "text": WHOLE})).encode(), headers=JSON) == "committed"
    unfinished = json.dumps(message({"type": "text", "text": WHOLE}, reason=None)).encode()
    assert ending(unfinished, headers=JSON) == "disconnected"
