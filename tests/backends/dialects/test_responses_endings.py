"""End calls to OpenAI's Responses API as their responses say: whole, cut, filtered, refused, failed, odd."""

import json
from typing import Any, Literal

import pytest
from backends.dialects.responses_events import completed, created, custom, message, response, say, stream, text
from backends.dialects.wire_answer import EVENTS, JSON

from commitgate import Regex
from commitgate.contract import Contract
from commitgate.testing import replay

CITY: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WHOLE = '{"city":"caf\u00e9"}'
TOLD = created(), text('{"city":"ca'), text('f\u00e9"}')
FULL = stream(*TOLD, completed(message(WHOLE)))
# As servers write it whose JSON is not escaped to ASCII.
RAW = FULL.replace(b"\\u00e9", "\u00e9".encode())


def ending(body: bytes, *, headers: Any = EVENTS, end: Literal["clean", "reset"] = "clean", **given: Any) -> str:
    contract = given.get("contract", Contract.json_schema(CITY))
    return replay("openai", body, contract=contract, headers=headers, end=end).outcome


def stopped(reason: str) -> bytes:
    details = {"reason": reason}
    return stream(*TOLD[:2], say("incomplete", response=response("incomplete", incomplete_details=details)))


def failed(code: str) -> bytes:
    return stream(*TOLD[:2], say("failed", response=response("failed", error={"code": code, "message": "No."})))


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (FULL, "committed"),
        (RAW, "committed"),
        (FULL + b"data: [DONE]\n\n", "committed"),
        (FULL + b"<html>junk</html>", "committed"),
        (stream(*TOLD), "disconnected"),
        (stream(*TOLD) + b"data: [DONE]\n\n", "disconnected"),
        (stream(*TOLD) + b"data: <html>\n\n", "unavailable"),
        (FULL[:-40], "disconnected"),
        (RAW[: RAW.index("\u00e9".encode()) + 1], "disconnected"),
        (b"", "disconnected"),
        (stream(*TOLD[:2], completed(message('{"city":"ca'))), "violated"),
        (stream(*TOLD, completed(message('{"city":"other"}'))), "unavailable"),
        (stream(*TOLD, text(" ", item="msg_2"), completed()), "committed"),
        (stream(*TOLD, text("x", item="msg_2"), completed()), "violated"),
        (stream(*TOLD, completed(), text("x", item="msg_2")), "unavailable"),
        (stopped("max_output_tokens"), "truncated"),
        (stopped("content_filter"), "filtered"),
        (stopped("steered"), "unavailable"),
        (failed("server_error"), "unavailable"),
        (failed("bio_policy"), "filtered"),
        (stream(*TOLD[:2], say("failed", response=response("cancelled"))), "disconnected"),
        (stream(created(), say("refusal.delta", delta="No."), completed(message(refusal="No."))), "refused"),
        (stream(*TOLD, {"type": "error", "code": "server_error", "message": "No."}), "unavailable"),
        (stream(*TOLD, completed(), {"type": "error", "code": "server_error", "message": "No."}), "unavailable"),
    ],
)
def test_an_answer_ends_as_the_response_says(body: bytes, wanted: str) -> None:
    assert ending(body) == wanted


@pytest.mark.parametrize("size", range(0, len(RAW), len(RAW) // 8))
def test_a_line_that_breaks_before_the_end_never_commits(size: int) -> None:
    assert ending(RAW[:size], end="reset") == "disconnected"


def test_a_line_that_breaks_behind_the_end_changes_nothing() -> None:
    assert ending(FULL, end="reset") == "committed"


def test_a_whole_response_is_an_answer() -> None:
    assert ending(json.dumps(response("completed", message(WHOLE))).encode(), headers=JSON) == "committed"
    assert ending(json.dumps(response("in_progress", message(WHOLE))).encode(), headers=JSON) == "unavailable"


def test_a_pattern_is_answered_by_the_input_of_a_tool() -> None:
    year = Contract.of(Regex("[0-9]{4}"))
    assert ending(stream(completed(custom("2026"))), contract=year) == "committed"
    assert ending(stream(text("It is:"), completed(message("It is:"), custom("2026"))), contract=year) == "committed"
    assert ending(stream(text("It is 2026."), completed(message("It is 2026."))), contract=year) == "violated"
    assert ending(stream(completed(custom("26"))), contract=year) == "violated"


def test_a_server_that_ignores_the_tool_commits_no_empty_answer() -> None:
    assert ending(stream(created(), completed()), contract=Contract.of(Regex("[0-9]*"))) == "unavailable"
