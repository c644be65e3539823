"""Gemini's responses are read for what candidate 0 says, and its own words decide how the answer ended."""

from itertools import pairwise
from typing import Any

import pytest
from backends.dialects.native_streams import (
    CITY,
    PIECES,
    calls,
    counts,
    escaped,
    event,
    gemini,
    gemini_answer,
    spelled,
    sse,
    text,
)

from commitgate.backends.base import Finish, FinishReason, ProseDelta, ReasoningDelta, TextDelta, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.gemini_reading import GeminiReader
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.testing.replay import Replay, replay

JSON = {"content-type": "application/json; charset=UTF-8"}


def played(*values: Any, **how: Any) -> Replay:
    return replay("gemini", b"".join(sse(values, newline="\r\n")), **how)


def test_answer_in_pieces_is_whole_at_its_finish() -> None:
    found = replay("gemini", b"".join(gemini_answer()))
    assert (found.outcome, found.text, found.finish_native, found.terminal) == ("complete", CITY, "STOP", True)
    assert found.usage == Usage(5, 9)


def test_thoughts_are_no_part_of_the_answer_and_count_as_output() -> None:
    found = played(
        gemini({"text": "Hm. ", "thought": True}, {"text": "[1", "thought": False}),
        gemini({"text": "]"}, {"thoughtSignature": "c2ln"}, finish="STOP", usageMetadata=counts(5, 2, 7)),
    )
    assert (found.text, found.reasoning, found.usage) == ("[1]", "Hm. ", Usage(5, 9, 7))


def test_counts_that_are_left_out_are_nought() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 5}}
    assert played(blocked).usage == Usage(5, 0)


def test_counts_that_did_not_change_are_told_once() -> None:
    reader = GeminiReader(Expected())
    said = event(gemini({"text": "1"}, usageMetadata=counts(5, 1)))
    told = [each for _ in range(2) for each in reader.read(said) if isinstance(each, Usage)]
    assert told == [Usage(5, 1)]


def test_candidate_0_alone_is_the_answer() -> None:
    second = {"index": 1, "content": {"parts": [{"text": "no"}]}, "finishReason": "SAFETY"}
    first = {"content": {"parts": [{"text": "[2]"}]}, "finishReason": "STOP"}  # an index of 0 is left out
    found = played({"candidates": [second]}, {"candidates": [second, first]})
    assert (found.outcome, found.text, found.finish_native) == ("complete", "[2]", "STOP")


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("STOP", "complete"),
        ("MAX_TOKENS", "truncated"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("LANGUAGE", "filtered"),
        ("BLOCKLIST", "filtered"),
        ("PROHIBITED_CONTENT", "filtered"),
        ("SPII", "filtered"),
        ("MODEL_ARMOR", "filtered"),
        ("IMAGE_SAFETY", "filtered"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("MALFORMED_RESPONSE", "malformed"),
        ("UNEXPECTED_TOOL_CALL", "malformed"),
        ("TOO_MANY_TOOL_CALLS", "malformed"),
        ("MISSING_THOUGHT_SIGNATURE", "malformed"),
        ("OTHER", "unknown"),
        ("FINISH_REASON_UNSPECIFIED", "unknown"),
        ("CONTINUATION", "unknown"),
        ("NEVER_HEARD_OF", "unknown"),
    ],
)
def test_finish_reason_has_its_meaning(word: str, outcome: str) -> None:
    found = played(gemini({"text": CITY}), gemini(finish=word))
    assert (found.outcome, found.text, found.finish_native, found.terminal) == (outcome, CITY, word, True)


def test_candidate_without_content_ends_the_answer() -> None:
    found = played(gemini({"text": "[]"}), {"candidates": [{"finishReason": "STOP"}]})
    assert (found.outcome, found.text) == ("complete", "[]")


def test_finish_that_is_repeated_is_one() -> None:
    found = played(gemini({"text": "[]"}, finish="STOP"), gemini(finish="STOP", usageMetadata=counts(1, 2)))
    assert (found.outcome, found.usage) == ("complete", Usage(1, 2))


def test_text_behind_the_finish_spoils_the_answer() -> None:
    assert played(gemini({"text": "[]"}, finish="STOP"), gemini({"text": "[]"})).outcome == "protocol_error"


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "JAILBREAK", "NEW"])
def test_blocked_prompt_is_filtered(reason: str) -> None:
    found = played({"promptFeedback": {"blockReason": reason}})
    assert (found.outcome, found.finish_native, found.terminal) == ("filtered", f"prompt:{reason}", True)


def test_feedback_without_a_block_is_none() -> None:
    found = played(gemini({"text": "[]"}, finish="STOP", promptFeedback={"safetyRatings": []}))
    assert (found.outcome, found.finish_native) == ("complete", "STOP")


OVERLOADED = {"error": {"code": 503, "message": "Too much asked of it.", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    "tail", [b"".join(sse([OVERLOADED])), b'{\n  "error": {\n "code": 503,\n"status":"UNAVAILABLE"}\n}']
)
def test_error_in_the_middle_is_one_in_either_form(tail: bytes) -> None:
    found = replay("gemini", b"".join(gemini_answer(None)) + tail)
    assert (found.outcome, found.finish_native, found.terminal) == ("server_error", None, False)
    assert found.fault is not None
    assert (found.fault.kind, found.fault.code) == ("overload", "UNAVAILABLE")


def test_error_behind_the_finish_wins() -> None:
    assert replay("gemini", b"".join([*gemini_answer(), *sse([OVERLOADED])])).outcome == "server_error"


def test_error_in_a_list_is_read_with_its_wait() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Later.", "details": details}}
    found = replay("gemini", spelled([error]), status=429, headers=JSON)
    assert (found.outcome, found.fault and found.fault.retry_after_s) == ("rate_limited", 12.5)


def test_array_is_a_stream_of_responses() -> None:
    values = [gemini({"text": piece}) for piece in PIECES]
    body = spelled([*values, gemini(finish="STOP", usageMetadata=counts(5, 9))])
    for cuts in ((), range(1, len(body))):
        found = replay("gemini", body, headers=JSON, split_at=[*cuts])
        assert (found.outcome, found.text, found.usage) == ("complete", CITY, Usage(5, 9))
    assert replay("gemini", body[:-2], headers=JSON, end="reset").outcome == "interrupted"


def test_error_in_an_array_is_one() -> None:
    found = replay("gemini", spelled([gemini({"text": "[]"}, finish="STOP"), OVERLOADED]), headers=JSON)
    assert (found.outcome, found.text) == ("server_error", "[]")


def test_one_whole_response_is_read_in_place_of_a_stream() -> None:
    found = replay("gemini", spelled(gemini({"text": CITY}, finish="STOP")), headers=JSON)
    assert (found.outcome, found.text) == ("complete", CITY)


@pytest.mark.parametrize("body", [{}, {"models": []}, {"object": "chat.completion", "choices": []}])
def test_body_of_another_api_is_no_answer(body: dict[str, Any]) -> None:
    assert replay("gemini", spelled(body), headers=JSON).outcome == "protocol_error"


def test_arguments_of_a_call_are_its_own_bytes() -> None:
    arguments = b'{ "n":1.0,\t"big":12345678901234567890123, "s":"caf\\u00e9 \xe2\x98\x83", "e":1E2 }'
    part = b'{"functionCall":{"name":"search","id":"c1","args":%s}}' % arguments
    said = b'{"candidates":[{"index":1},{"content":{"parts":[{"text":"Well"},%s]},"finishReason":"STOP"}]}' % part
    found = played(said)
    assert (found.outcome, found.text) == ("tool_call", "Well")
    assert [(each.id, each.name, each.arguments.encode()) for each in found.tool_calls] == [("c1", "search", arguments)]


def test_each_call_is_another_one() -> None:
    same = {"functionCall": {"name": "now"}}
    found = list(GeminiReader(Expected(offers_tools=True)).read(event(gemini(same, same))))
    assert calls(found) == [(0, None, "now", b"{}"), (1, None, "now", b"{}")]


def test_words_beside_calls_are_told_apart_where_tools_are_offered() -> None:
    said = event(gemini({"text": "One moment."}))
    assert list(GeminiReader(Expected(offers_tools=True)).read(said)) == [ProseDelta(b"One moment.")]
    assert list(GeminiReader(Expected()).read(said)) == [TextDelta(b"One moment.")]


def test_character_in_two_halves_is_one() -> None:
    reader = GeminiReader(Expected())
    parts = [gemini({"text": "\ud83e", "thought": thought}) for thought in (True, False)]
    halves = [gemini({"text": "\udd8a", "thought": thought}) for thought in (True, False)]
    found = [each for value in (*parts, *halves) for each in reader.read(event(escaped(value)))]
    assert text(found).decode() == "🦊"
    assert b"".join(each.data for each in found if isinstance(each, ReasoningDelta)).decode() == "🦊"


@pytest.mark.parametrize(
    "value",
    [
        {"candidates": {}},
        {"candidates": [1]},
        {"candidates": [{"index": "0"}]},
        {"candidates": [{"content": []}]},
        {"candidates": [{"content": {"parts": "x"}}]},
        {"candidates": [{"content": {"parts": [{"text": 1}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": "x"}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": {}}}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "a", "args": "{}"}}]}}]},
        {"candidates": [{"content": {"parts": [{"text": "1", "thought": "true"}]}}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "a", "willContinue": 1}}]}}]},
        {"candidates": [{"finishReason": 1}]},
        {"promptFeedback": "x"},
        {"usageMetadata": {"promptTokenCount": -1}},
        {"usageMetadata": {"candidatesTokenCount": True}},
        {"usageMetadata": []},
    ],
)
def test_member_of_another_type_is_no_such_format(value: dict[str, Any]) -> None:
    assert played(gemini({"text": "[]"}), value).outcome == "protocol_error"


def test_thousands_of_calls_in_one_event_are_cut_out_in_one_walk() -> None:
    # Walking the event once for each would take minutes.
    part = {"functionCall": {"name": "f", "args": {"q": "x" * 150}}}
    found = list(GeminiReader(Expected(offers_tools=True)).read(event(gemini(*[part] * 4_000))))
    assert len(calls(found)) == 4_000


def test_version_of_the_model_is_kept() -> None:
    reader = GeminiReader(Expected())
    assert reader.model_revision is None
    list(reader.read(event(gemini({"text": "1"}))))
    assert reader.model_revision == "g-1"


def piece(path: str, *, more: bool = False, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value, **({"willContinue": True} if more else {})}


def pieces_of_a_call(*groups: list[dict[str, Any]] | bytes, name: str = "search") -> list[dict[str, Any]]:
    """Return the parts by which Vertex AI sends one call in pieces."""
    parts: list[dict[str, Any]] = [{"functionCall": {"name": name, "willContinue": True}}]
    parts += [{"functionCall": {"partialArgs": group, "willContinue": True}} for group in groups]
    return [*parts, {"functionCall": {}}]


def joined(*groups: list[dict[str, Any]]) -> bytes:
    reader = GeminiReader(Expected(offers_tools=True))
    found = [each for part in pieces_of_a_call(*groups) for each in reader.read(event(gemini(part)))]
    assert {(index, name) for index, _, name, _ in calls(found)} == {(0, "search"), (0, None)}
    return b"".join(arguments for _, _, _, arguments in calls(found))


def test_arguments_in_pieces_are_joined() -> None:
    found = joined(
        [piece("$.q", stringValue="caf", more=True)],
        [piece("$.q", stringValue='é "x" ', more=True), piece("$.q", stringValue="☃")],
        [piece("$.n", numberValue=3), piece("$.on", boolValue=False), piece("$.no", nullValue="NULL_VALUE")],
        [piece("$.at[0].city", stringValue="Lima"), piece("$.at[0].alt", numberValue=154)],
        [piece("$.at[1]['the city']", stringValue=""), piece('$["a.b"][0][0]', numberValue=-1)],
    )
    assert found.decode() == (
        '{"q":"café \\"x\\" ☃","n":3,"on":false,"no":null,'
        '"at":[{"city":"Lima","alt":154},{"the city":""}],"a.b":[[-1]]}'
    )


def test_text_of_a_piece_may_end_with_nothing_more() -> None:
    assert joined([piece("$.q", stringValue="a", more=True)], [piece("$.q", stringValue="")]) == b'{"q":"a"}'
    assert joined([piece("$.q", stringValue="a", more=True)], [piece("$.q")]) == b'{"q":"a"}'


def test_call_may_end_with_its_last_piece_and_be_closed_all_the_same() -> None:
    begun = {"functionCall": {"name": "f", "willContinue": True}}
    last = {"functionCall": {"partialArgs": [piece("$.n", numberValue=1)]}}
    found = played(gemini(begun), gemini(last), gemini({"functionCall": {}}, finish="STOP"))
    assert [(each.name, each.arguments) for each in found.tool_calls] == [("f", '{"n":1}')]
    assert played(gemini({"functionCall": {}}, finish="STOP")).outcome == "protocol_error"


def test_call_without_pieces_has_no_arguments() -> None:
    assert joined() == b"{}"


def test_numbers_of_pieces_are_kept_as_spelled() -> None:
    group = b'[{"jsonPath":"$.n","numberValue":1.50},{"jsonPath":"$.m","numberValue":9007199254740993}]'
    spelled_part = b'{"functionCall":{"name":"f","partialArgs":%s}}' % group
    said = b'{"candidates":[{"content":{"parts":[%s]},"finishReason":"STOP"}]}' % spelled_part
    (call,) = played(said).tool_calls
    assert call.arguments == '{"n":1.50,"m":9007199254740993}'


def test_character_in_two_pieces_is_one() -> None:
    reader = GeminiReader(Expected(offers_tools=True))
    groups = [[piece("$.q", stringValue="\ud83e", more=True)], [piece("$.q", stringValue="\udd8a")]]
    found = [each for part in pieces_of_a_call(*groups) for each in reader.read(event(escaped(gemini(part))))]
    assert b"".join(arguments for _, _, _, arguments in calls(found)).decode() == '{"q":"🦊"}'


@pytest.mark.parametrize(
    "groups",
    [
        [[piece("$.q", stringValue="a"), piece("$.q", stringValue="b")]],
        [[piece("$.q", stringValue="a", more=True), piece("$.r", stringValue="b")]],
        [[piece("$.q", stringValue="a", more=True)]],
        [[piece("$.q", numberValue=1, more=True)]],
        [[piece("$.q")]],
        [[piece("$.q", numberValue="1")]],
        [[piece("$.q", numberValue=True)]],
        [[piece("$.q", boolValue=1)]],
        [[piece("$.q", stringValue=1)]],
        [[piece("$.q", stringValue="a", numberValue=1)]],
        [[piece("$.q", numberValue=1, boolValue=True)]],
        [[piece("$.q", numberValue=1), piece("$.q.r", numberValue=1)]],
        [[piece("$.q[1]", numberValue=1)]],
        [[piece("$.q[0]", numberValue=1), piece("$.q.r", numberValue=1)]],
        [[piece("$.q.r", numberValue=1), piece("$.q", numberValue=1)]],
        [[piece("$[0]", numberValue=1)]],
        [[piece("$", numberValue=1)]],
        [[piece("q", numberValue=1)]],
        [[piece("$..q", numberValue=1)]],
        [[piece("$.*", numberValue=1)]],
        [[piece("$.q[-1]", numberValue=1)]],
        [[piece("$.q[?@.a]", numberValue=1)]],
        [[piece("$" + ".a" * 65, numberValue=1)]],
        [[{"stringValue": "a"}]],
        [[{"jsonPath": 1, "stringValue": "a"}]],
    ],
)
def test_pieces_that_do_not_fit_are_refused_by_name(groups: list[list[dict[str, Any]]]) -> None:
    with pytest.raises(WireFaultError) as found:
        joined(*groups)
    assert found.value.code == "partial_args"


def test_pieces_without_end_are_refused() -> None:
    reader = GeminiReader(Expected(offers_tools=True))
    begun, half, rest = (
        event(gemini({"functionCall": {"willContinue": True, **each}}))
        for each in (
            {"name": "f"},
            {"partialArgs": [piece("$.q", stringValue="x" * 600_000)]},
            {"partialArgs": [piece("$.r", stringValue="x" * 600_000)]},
        )
    )
    assert len([*reader.read(begun), *reader.read(half)]) == 1
    with pytest.raises(WireFaultError, match="more than an answer may hold"):
        reader.read(rest)


def test_call_that_begins_inside_another_is_refused() -> None:
    begun = {"functionCall": {"name": "a", "willContinue": True}}
    found = played(gemini(begun), gemini({"functionCall": {"name": "b", "args": {}}}, finish="STOP"))
    assert (found.outcome, found.fault and found.fault.code) == ("protocol_error", "call_not_ended")


def test_arguments_in_pieces_and_whole_are_refused() -> None:
    begun = {"functionCall": {"name": "a", "willContinue": True}}
    found = played(gemini(begun), gemini({"functionCall": {"args": {"q": 1}}}, finish="STOP"))
    assert (found.outcome, found.fault and found.fault.code) == ("protocol_error", "partial_args")


@pytest.mark.parametrize(("word", "outcome"), [("STOP", "protocol_error"), ("MAX_TOKENS", "truncated")])
def test_call_that_does_not_end_is_no_call(word: str, outcome: str) -> None:
    open_call = pieces_of_a_call([piece("$.q", stringValue="a", more=True)])[:-1]
    assert played(*(gemini(part) for part in open_call), gemini(finish=word)).outcome == outcome


def test_finish_comes_last_of_its_event() -> None:
    said = event(gemini({"text": "[]"}, finish="STOP", usageMetadata=counts(1, 1)))
    found = list(GeminiReader(Expected()).read(said))
    assert found == [TextDelta(b"[]"), Usage(1, 1), Finish(FinishReason.STOP, "STOP")]
    assert all(not isinstance(each, Finish) for each, _ in pairwise(found))
