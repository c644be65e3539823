"""Read responses of OpenAI's Responses API: texts, thoughts, refusals, ends, failures and counts."""

import json
from itertools import accumulate
from typing import Any

import pytest
from backends.dialects.responses_events import (
    completed,
    created,
    message,
    read_body,
    read_stream,
    response,
    say,
    stream,
    text,
    text_done,
)
from backends.dialects.wire_answer import event, read
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import ConnectionLost, Fault, Finish, FinishReason, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError

DIALECT = OpenAIResponsesDialect()
STOP = Finish(FinishReason.STOP, "completed")
WHOLE = '{"city":"Quito"}'
ITEM = {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}
PART = {"type": "output_text", "text": "", "annotations": []}
USUAL = (
    created(),
    say("in_progress", response=response("in_progress")),
    say("output_item.added", output_index=0, item=ITEM),
    say("content_part.added", item_id="msg_1", output_index=0, content_index=0, part=PART),
    text('{"city'),
    {"type": "keepalive", "sequence_number": 5},
    text('":"Quito"}'),
    text_done(WHOLE),
    say("content_part.done", item_id="msg_1", output_index=0, content_index=0, part={**PART, "text": WHOLE}),
    say("output_item.done", output_index=0, item=message(WHOLE)),
    completed(message(WHOLE)),
)


def fault_code(*events: Any, **expected: Any) -> str | None:
    """Return the code of the fault that ends a stream, which must be its only end."""
    (end,) = read_stream(*events, **expected).ends
    assert isinstance(end, Fault), end
    assert end.kind == "protocol"
    return end.code


def test_a_usual_stream_is_its_text_its_counts_and_its_end() -> None:
    found = read_stream(*USUAL)
    assert found.text == WHOLE.encode()
    assert found.usage == Usage(21, 9, 3)
    assert found.ends == [STOP]
    assert (found.native, found.is_terminal) == ("completed", True)


def test_a_stream_cut_behind_any_event_proves_no_end() -> None:
    sizes = list(accumulate(len(event(each)) for each in USUAL))
    body = stream(*USUAL)
    for size in sizes[:-1]:
        for is_clean in (True, False):
            found = read(DIALECT, body[:size], is_clean=is_clean)
            assert found.ends == ([] if is_clean else [ConnectionLost()])
            assert (found.native, found.is_terminal) == (None, False)
            assert WHOLE.encode().startswith(found.text)


@settings(deadline=None)
@given(st.sets(st.integers(0, len(stream(*USUAL)))))
def test_any_cut_into_chunks_reads_the_same(cuts: set[int]) -> None:
    assert read(DIALECT, stream(*USUAL), cuts=cuts) == read_stream(*USUAL)


def test_the_end_of_a_text_is_not_the_end_of_the_answer() -> None:
    assert read_stream(*USUAL[:-1]).ends == []


@pytest.mark.parametrize("at", range(len(USUAL)))
def test_events_of_unknown_kinds_and_borrowed_end_markers_mean_nothing(at: int) -> None:
    odd = [
        {"type": "response.sparkle.delta", "delta": "NOT TEXT", "item_id": "msg_1"},
        say("mcp_call_arguments.delta", item_id="mcp_1", output_index=7, delta="NOT TEXT"),
        say("audio.transcript.delta", delta="NOT TEXT"),
        say("code_interpreter_call_code.delta", item_id="ci_1", output_index=8, delta="NOT TEXT"),
        say("output_text.annotation.added", item_id="msg_1", annotation={"text": "NOT TEXT"}),
        {"sequence_number": 3},
    ]
    body = stream(*USUAL[:at], *odd, *USUAL[at:]) + b"data: [DONE]\n\n"
    found = read(DIALECT, body)
    assert (found.text, found.ends) == (WHOLE.encode(), [STOP])


def test_an_event_is_known_by_its_data_and_else_by_its_name() -> None:
    named = b"".join(
        f"event: {each['type']}\ndata: {json.dumps({key: each[key] for key in each if key != 'type'})}\n\n".encode()
        for each in (text(WHOLE), completed(message(WHOLE)))
    )
    unnamed = b"".join(event(each, is_named=False) for each in (text(WHOLE), completed(message(WHOLE))))
    for body in (named, unnamed):
        assert (read(DIALECT, body).text, read(DIALECT, body).ends) == (WHOLE.encode(), [STOP])


def test_thoughts_stay_out_of_the_answer() -> None:
    found = read_stream(
        say("output_item.added", output_index=0, item={"id": "rs_1", "type": "reasoning", "summary": []}),
        say("reasoning_summary_text.delta", item_id="rs_1", output_index=0, summary_index=0, delta="Need "),
        say("reasoning_summary_text.delta", item_id="rs_1", output_index=0, summary_index=0, delta="a city. \ud83e"),
        say("reasoning_summary_text.delta", item_id="rs_1", output_index=0, summary_index=1, delta="\uddea"),
        say("reasoning_summary_text.done", item_id="rs_1", output_index=0, summary_index=0, text="Need a city."),
        say("reasoning_text.delta", item_id="rs_1", output_index=0, content_index=0, delta=" Quito."),
        text(WHOLE, output=1),
        completed({"id": "rs_1", "type": "reasoning", "summary": []}, message(WHOLE)),
    )
    assert found.reasoning.decode() == "Need a city. \U0001f9ea Quito."
    assert (found.text, found.ends) == (WHOLE.encode(), [STOP])


def test_a_comment_before_the_answer_is_no_part_of_it() -> None:
    comment = message("Let me see.", id="msg_0", phase="commentary")
    found = read_stream(
        say("output_item.added", output_index=0, item={**comment, "content": []}),
        text("Let me ", item="msg_0"),
        text("see.", item="msg_0"),
        text_done("Let me see.", item="msg_0"),
        say("output_item.added", output_index=1, item={**ITEM, "phase": "final_answer"}),
        text(WHOLE, output=1),
        completed(comment, message(WHOLE, phase="final_answer")),
    )
    assert (found.text, found.reasoning, found.ends) == (WHOLE.encode(), b"Let me see.", [STOP])


def test_a_refusal_is_told_apart_from_text() -> None:
    said = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    # The first two pieces hold half a character each, for those who count in units of UTF-16.
    found = read_stream(
        say("refusal.delta", **said, delta="I cannot \ud83e"),
        say("refusal.delta", **said, delta="\uddea help."),
        say("refusal.done", **said, refusal="I cannot \U0001f9ea help."),
        completed(message(refusal="I cannot \U0001f9ea help.")),
    )
    assert found.refusal == "I cannot \U0001f9ea help."
    assert (found.text, found.ends) == (b"", [STOP])


@pytest.mark.parametrize(
    ("details", "reason", "native"),
    [
        ({"reason": "max_output_tokens"}, FinishReason.LENGTH, "incomplete:max_output_tokens"),
        ({"reason": "max_tokens"}, FinishReason.LENGTH, "incomplete:max_tokens"),
        ({"reason": "content_filter"}, FinishReason.CONTENT_FILTER, "incomplete:content_filter"),
        ({"reason": "max_messages"}, FinishReason.UNKNOWN, "incomplete:max_messages"),
        ({"reason": "steered"}, FinishReason.UNKNOWN, "incomplete:steered"),
        ({"reason": "stop"}, FinishReason.UNKNOWN, "incomplete:stop"),
        ({"reason": "failed"}, FinishReason.UNKNOWN, "incomplete:failed"),
        ({"reason": None}, FinishReason.LENGTH, "incomplete"),
        (None, FinishReason.LENGTH, "incomplete"),
    ],
)
def test_an_incomplete_response_says_why_and_is_never_complete(details: Any, reason: FinishReason, native: str) -> None:
    members = {"incomplete_details": details, "usage": None}
    for end in (
        say("incomplete", response=response("incomplete", message('{"ci'), **members)),
        say("completed", response=response("incomplete", message('{"ci'), **members)),
        say("incomplete", response=response("completed", message('{"ci'), **members)),
    ):
        found = read_stream(text('{"ci'), end)
        assert found.ends == [Finish(reason, native)]
        assert (found.native, found.text) == (native, b'{"ci')


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", "server"),
        ("rate_limit_exceeded", "rate_limit"),
        ("insufficient_quota", "quota"),
        ("invalid_prompt", "bad_request"),
        ("something_new", "server"),
    ],
)
def test_a_failed_response_tells_its_failure(code: str, kind: str) -> None:
    end = say("failed", response=response("failed", error={"code": code, "message": "Try again in 2.5s."}))
    found = read_stream(text('{"ci'), end)
    (fault,) = found.ends
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code, fault.retry_after_s, fault.detail) == (kind, code, 2.5, "Try again in 2.5s.")
    assert (found.native, found.is_terminal, found.text) == ("failed", True, b'{"ci')


@pytest.mark.parametrize("code", ["bio_policy", "misalignment_policy_violation", "image_content_policy_violation"])
def test_a_response_that_failed_by_a_policy_is_filtered(code: str) -> None:
    found = read_stream(say("failed", response=response("failed", error={"code": code, "message": "No."})))
    assert found.ends == [Finish(FinishReason.CONTENT_FILTER, f"failed:{code}")]
    assert found.native == "failed"


def test_a_response_that_failed_without_a_word_is_a_failure_of_the_server() -> None:
    (fault,) = read_stream(say("failed", response=response("failed"))).ends
    assert isinstance(fault, Fault)
    assert fault.kind == "server"


@pytest.mark.parametrize(
    ("status", "reason"),
    [("cancelled", FinishReason.CANCELLED), ("queued", FinishReason.UNKNOWN), ("stop", FinishReason.UNKNOWN)],
)
def test_other_states_of_a_response_are_no_success(status: str, reason: FinishReason) -> None:
    for found in (
        read_stream(text(WHOLE), completed(message(WHOLE), status=status)),
        read_body(json.dumps(response(status, message(WHOLE))).encode()),
    ):
        assert found.ends == [Finish(reason, status)]


FLAT = {"type": "error", "sequence_number": 7, "code": "server_error", "message": "Something broke", "param": None}
NESTED = {"type": "error", "sequence_number": 2, "error": {"type": "server_error", "code": None, "message": "Broke"}}
BARE = {"error": {"type": "server_error", "message": "Broke"}}


@pytest.mark.parametrize("error", [FLAT, NESTED, BARE])
@pytest.mark.parametrize("at", range(len(USUAL) + 1))
def test_an_error_wins_wherever_it_comes(error: Any, at: int) -> None:
    found = read_stream(*USUAL[:at], error, *USUAL[at:])
    fault = found.ends[-1]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("server", "server_error")


@pytest.mark.parametrize("error", [FLAT, NESTED, BARE])
def test_the_reader_alone_knows_an_error(error: Any) -> None:
    (fault,) = DIALECT.reader(Expected()).read(WireEvent(data=b"", value=error))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("server", "server_error")


def test_a_schema_that_is_refused_behind_the_head_is_told_so() -> None:
    words = "Invalid schema for response_format 'city': In context=(), 'oneOf' is not permitted."
    error = {"type": "invalid_request_error", "code": "invalid_json_schema", "message": words, "param": "text.format"}
    (fault,) = read_stream(created(), {"type": "error", "error": error}).ends
    assert isinstance(fault, Fault)
    assert fault.kind == "constraint"


def test_what_came_in_no_delta_is_taken_from_what_repeats_it() -> None:
    for events in (
        (completed(message(WHOLE)),),
        (text_done(WHOLE), completed(message(WHOLE))),
        (text_done(WHOLE), completed()),
        (text('{"city":'), text_done('{"city":'), completed(message('{"city":', '"Quito"}'))),
        (text('{"city":'), text_done('"Quito"}', content=1), completed(message('{"city":', '"Quito"}'))),
    ):
        found = read_stream(*events)
        assert (found.text, found.ends) == (WHOLE.encode(), [STOP]), events


def test_a_character_cut_in_two_is_the_one_that_is_repeated() -> None:
    whole = '{"city":"\U0001f9ea"}'
    found = read_stream(text('{"city":"\ud83e'), text('\uddea"}'), text_done(whole), completed(message(whole)))
    assert (found.text, found.ends) == (whole.encode(), [STOP])


def test_an_end_under_another_name_says_no_text_twice() -> None:
    found = read_stream(text(WHOLE, item="msg_1"), text_done(WHOLE, item="msg_2"), completed(message(WHOLE)))
    assert (found.text, found.ends) == (WHOLE.encode(), [STOP])


def test_several_messages_are_one_text() -> None:
    found = read_stream(
        text('{"city":'),
        text_done('{"city":'),
        text('"Quito"}', item="msg_2", output=1),
        text_done('"Quito"}', item="msg_2", output=1),
        completed(message('{"city":'), message('"Quito"}', id="msg_2")),
    )
    assert (found.text, found.ends) == (WHOLE.encode(), [STOP])


def test_a_server_that_repeats_nothing_or_names_nothing_is_read_all_the_same() -> None:
    bare = [say("output_text.delta", delta=each) for each in ('{"city":', '"Quito"}')]
    for end in (completed(), completed(output=None), say("completed", response={}), say("completed")):
        found = read_stream(*bare, say("output_text.done", text=WHOLE), end)
        assert (found.text, found.ends) == (WHOLE.encode(), [STOP])


@pytest.mark.parametrize(
    "events",
    [
        (text('{"a":1}'), text_done('{"a":2}')),
        (text('{"a":1'), text_done('{"a":1}')),
        (text('{"a":1}'), completed(message('{"a":2}'))),
        (text('{"a":1}'), completed(message('{"a":1'))),
        (text('{"a":1'), completed(message('{"a":1}'))),
        (text('{"a":1}'), completed(message(refusal="No."))),
        (text("{}"), text("{}"), completed(message("{}"))),
    ],
)
def test_a_text_that_differs_from_what_repeats_it_is_no_answer(events: Any) -> None:
    assert fault_code(*events) in ("text_differs", "output_differs")
    assert read_stream(*events).native is None


def test_an_incomplete_response_may_repeat_less_than_it_told() -> None:
    end = say(
        "incomplete", response=response("incomplete", message(""), incomplete_details={"reason": "content_filter"})
    )
    found = read_stream(text('{"ci'), end)
    assert found.ends == [Finish(FinishReason.CONTENT_FILTER, "incomplete:content_filter")]


def test_a_piece_behind_the_end_of_its_part_is_no_answer() -> None:
    assert fault_code(text("{}"), text_done("{}"), text(" ")) == "delta_after_end"


def test_text_behind_the_end_is_given_to_whoever_judges_it() -> None:
    found = read_stream(*USUAL, text(" more", item="msg_9", output=9))
    assert found.text == WHOLE.encode() + b" more"


def test_a_second_end_that_says_another_thing_spoils_the_answer() -> None:
    cut = {"reason": "max_output_tokens"}
    other = say("incomplete", response=response("incomplete", incomplete_details=cut))
    failed = say("failed", response=response("failed", error={"code": "server_error", "message": "gone"}))
    assert read_stream(*USUAL, USUAL[-1]).ends == [STOP]
    assert read_stream(*USUAL, other).ends == [STOP, Finish(FinishReason.LENGTH, "incomplete:max_output_tokens")]
    assert [type(end) for end in read_stream(*USUAL, failed).ends] == [Finish, Fault]


def test_a_complete_response_that_says_why_it_is_not_is_incomplete() -> None:
    said = response("completed", message(WHOLE), incomplete_details={"reason": "max_output_tokens"})
    cut = Finish(FinishReason.LENGTH, "incomplete:max_output_tokens")
    assert read_stream(*USUAL[:-1], say("completed", response=said)).ends == [cut]
    assert read_body(json.dumps(said).encode()).ends == [cut]


def test_an_answer_that_reached_its_limit_is_cut_whatever_it_says() -> None:
    cut = Finish(FinishReason.LENGTH, "completed")
    usage = {"input_tokens": 8, "output_tokens": 16}
    for limit, end in ((16, cut), (15, cut), (17, STOP), (None, STOP)):
        found = read_stream(text("{}"), completed(message("{}"), usage=usage), most_tokens=limit)
        assert (found.ends, found.native) == ([end], "completed")


def test_an_answer_whose_message_is_incomplete_is_cut_whatever_it_says() -> None:
    found = read_stream(text("{}"), completed(message("{}", status="incomplete")))
    assert found.ends == [Finish(FinishReason.LENGTH, "completed")]


def test_a_server_says_which_model_answers_and_which_format_it_took() -> None:
    format = {"type": "json_schema", "name": "city", "strict": True, "schema": {"type": "object"}}
    reader = DIALECT.reader(Expected())
    assert (reader.model_revision, reader.echoed_format) == (None, None)
    reader.read(WireEvent(data=b"", value=created(text={"format": format, "verbosity": "medium"})))
    assert (reader.model_revision, reader.echoed_format) == ("gpt-x-2026-01-01", format)
    for bare in (None, {}, {"format": None}):
        reader.read(WireEvent(data=b"", value=say("in_progress", response=response("in_progress", text=bare))))
    assert reader.echoed_format == format
    assert reader.answer_id == "resp_1"


class TestWholeResponses:
    def test_a_whole_response_is_read_as_its_stream_would_be(self) -> None:
        thoughts = {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Need a city."}],
            "content": [{"type": "reasoning_text", "text": "Quito. "}],
        }
        body = json.dumps(response("completed", thoughts, message(WHOLE), usage={"input_tokens": 1})).encode()
        found = read_body(body)
        assert (found.text, found.reasoning.decode()) == (WHOLE.encode(), "Quito. Need a city.")
        assert (found.usage, found.ends) == (Usage(1), [STOP])
        assert (found.native, found.is_terminal) == ("completed", False)

    def test_a_whole_response_may_refuse_fail_or_be_cut(self) -> None:
        refused = read_body(json.dumps(response("completed", message(refusal="No."))).encode())
        assert (refused.refusal, refused.ends) == ("No.", [STOP])
        details = {"reason": "max_output_tokens"}
        cut = read_body(json.dumps(response("incomplete", message("{"), incomplete_details=details)).encode())
        assert cut.ends == [Finish(FinishReason.LENGTH, "incomplete:max_output_tokens")]
        error = {"code": "rate_limit_exceeded", "message": "Slower."}
        (fault,) = read_body(json.dumps(response("failed", error=error)).encode()).ends
        assert isinstance(fault, Fault)
        assert fault.kind == "rate_limit"

    @pytest.mark.parametrize(
        "body", [b"{}", b'{"status":"completed"}', b'{"output":[]}', b'{"choices":[]}', b'{"status":1,"output":[]}']
    )
    def test_another_object_is_no_response(self, body: bytes) -> None:
        (fault,) = read_body(body).ends
        assert isinstance(fault, Fault)
        assert fault.kind == "protocol"

    def test_an_error_in_place_of_a_response_is_told(self) -> None:
        (fault,) = read_body(b'{"error":{"code":"model_not_found","message":"There is none."}}').ends
        assert isinstance(fault, Fault)
        assert fault.kind == "bad_request"


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": 5},
        text(5),
        text({"a": 1}),
        {**text("a"), "item_id": []},
        text("a", output=-1),
        text("a", content=True),
        text_done(["a"]),
        say("refusal.delta", delta=False),
        say("reasoning_text.delta", delta=1.5),
        say("output_item.added", item="message"),
        say("output_item.done", item=[]),
        say("output_item.added", item={"type": ["function_call"]}),
        say("created", response="resp"),
        created(text="plain"),
        created(text={"format": "plain"}),
        created(model=7),
        say("completed", response=[]),
        completed(status=200),
        completed(output={}),
        completed("text"),
        completed({"type": "message", "content": "text"}),
        completed({"type": "message", "content": [{"type": "output_text", "text": 5}]}),
        completed({"type": {}, "content": []}),
        completed(usage=[9]),
        completed(usage={"output_tokens": "9"}),
        completed(usage={"output_tokens_details": 9}),
        say("incomplete", response=response("incomplete", incomplete_details="max_tokens")),
        say("incomplete", response=response("incomplete", incomplete_details={"reason": 5})),
    ],
)
def test_members_of_other_types_are_no_such_format(wrong: Any) -> None:
    assert fault_code(wrong) == "wrong_type"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.sampled_from(["", "a", "completed", "message", "function_call", "custom_tool_call"]),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["type", "item", "item_id", "output_index", "delta", "text", "response", "status", "output",
                         "content", "usage", "name", "call_id", "id", "arguments", "error", "reason"]),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([each["type"] for each in USUAL]), json_values), max_size=6))
def test_no_event_however_odd_breaks_the_reader(events: list[tuple[str, Any]]) -> None:
    reader = DIALECT.reader(Expected(answer_tool="a"))
    for kind, value in events:
        odd = {**(value if isinstance(value, dict) else {"response": value, "item": value}), "type": kind}
        try:
            assert all(each is not None for each in reader.read(WireEvent(data=b"", value=odd)))
        except WireFaultError:
            return
