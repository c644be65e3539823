"""Read messages of Anthropic's Messages API: texts, thoughts, calls, refusals, ends, failures and counts."""

from itertools import accumulate
from typing import Any

import pytest
from backends.dialects.anthropic_events import (
    PING,
    STOP,
    USAGE,
    begin,
    close_block,
    delta,
    end,
    message,
    open_block,
    piece,
    read_stream,
    read_whole,
    stream,
    text,
)
from backends.dialects.wire_answer import event, read
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import ConnectionLost, Fault, Finish, FinishReason, Notice, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.anthropic_messages import AnthropicMessagesDialect
from commitgate.backends.wire.wire_event import WireEvent, WireFaultError

DIALECT = AnthropicMessagesDialect()
TURN = Finish(FinishReason.STOP, "end_turn")
WHOLE = b'{"city":"Quito"}'
USUAL = (
    begin(),
    open_block(0),
    PING,
    text('{"city'),
    text('":"Quito"}'),
    close_block(),
    end(),
    STOP,
)


def fault_code(*events: Any, **expected: Any) -> str | None:
    """Return the code of the fault that ends a stream, which must be its only end."""
    (found,) = read_stream(*events, **expected).ends
    assert isinstance(found, Fault), found
    assert found.kind == "protocol"
    return found.code


def test_a_usual_stream_is_its_text_its_counts_and_its_end() -> None:
    found = read_stream(*USUAL)
    assert (found.text, found.usage, found.ends) == (WHOLE, Usage(21, 9), [TURN])
    assert (found.native, found.is_terminal) == ("end_turn", True)


def test_a_stream_cut_behind_any_event_ends_as_far_as_it_said_so() -> None:
    body = stream(*USUAL)
    for number, size in enumerate(accumulate(len(event(each)) for each in USUAL), start=1):
        for is_clean in (True, False):
            found = read(DIALECT, body[:size], is_clean=is_clean)
            is_proven, is_marked = number >= len(USUAL) - 1, number == len(USUAL)
            finishes = [each for each in found.ends if isinstance(each, Finish)]
            assert finishes == ([TURN] if is_proven else [])
            assert (ConnectionLost() in found.ends) == (not is_clean)
            assert (Notice("missing_done") in found.ends) == (is_proven and is_clean and not is_marked)
            assert (found.native, found.is_terminal) == ("end_turn" if is_proven else None, is_marked)


@settings(deadline=None)
@given(st.sets(st.integers(0, len(stream(*USUAL)))))
def test_any_cut_into_chunks_reads_the_same(cuts: set[int]) -> None:
    assert read(DIALECT, stream(*USUAL), cuts=cuts) == read_stream(*USUAL)


@pytest.mark.parametrize("at", range(2, 6))
def test_unknown_events_deltas_and_blocks_mean_nothing(at: int) -> None:
    odd = [
        {"type": "brand_new_event", "x": 1},
        {"y": 2},
        delta(0, "sparkle_delta", s="NOT TEXT"),
        delta(0, "citations_delta", citation={"cited_text": "NOT TEXT"}),
        open_block(7, "server_tool_use", id="srv_1", name="web_search", input={}),
        piece('{"query":"NOT TEXT"}', 7),
        text("NOT TEXT", 7),
        close_block(7),
        open_block(8, "redacted_thinking", data="NOT TEXT"),
        close_block(8),
        open_block(9, "compaction", content="NOT TEXT"),
        delta(9, "compaction_delta", content="NOT TEXT"),
        close_block(9),
    ]
    odd = odd if at < 5 else odd[:4]
    found = read(DIALECT, stream(*USUAL[:at], *odd, *USUAL[at:]) + b"data: [DONE]\n\n")
    assert (found.text, found.reasoning, found.calls, found.ends) == (WHOLE, b"", {}, [TURN])


def test_blocks_of_text_are_one_text() -> None:
    found = read_stream(
        begin(),
        open_block(0, text='{"ci'),
        text('ty":'),
        close_block(0),
        open_block(1),
        text('"Quito"}', 1),
        close_block(1),
        end(),
    )
    assert found.text == WHOLE


def test_a_character_cut_in_two_comes_together() -> None:
    found = read_stream(begin(), open_block(0), text("\ud83e"), close_block(0), open_block(1), text("\uddea", 1))
    assert found.text.decode() == "\U0001f9ea"


def test_thoughts_stay_out_of_the_answer() -> None:
    found = read_stream(
        begin(),
        open_block(0, "thinking", thinking="Hm. "),
        delta(0, "thinking_delta", thinking="Need a city."),
        delta(0, "signature_delta", signature="c2ln"),
        close_block(0),
        open_block(1),
        text(WHOLE.decode(), 1),
        close_block(1),
        end(usage={**USAGE, "output_tokens_details": {"thinking_tokens": 4}}),
        STOP,
    )
    assert (found.text, found.reasoning) == (WHOLE, b"Hm. Need a city.")
    assert found.usage == Usage(21, 9, 4)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("refusal", FinishReason.REFUSAL),
        ("pause_turn", FinishReason.PAUSED),
        ("compaction", FinishReason.UNKNOWN),
        ("moon_phase", FinishReason.UNKNOWN),
        ("tool_use", FinishReason.UNKNOWN),
    ],
)
def test_the_reason_to_stop_is_the_end(word: str, reason: FinishReason) -> None:
    found = read_stream(*USUAL[:6], end(word), STOP)
    assert (found.ends, found.native) == ([Finish(reason, word)], word)
    assert read_whole(message({"type": "text", "text": "{}"}, reason=word)).ends == [Finish(reason, word)]


def test_a_call_is_an_end_where_tools_were_offered() -> None:
    assert read_stream(begin(), end("tool_use"), STOP, offers_tools=True).ends == [
        Finish(FinishReason.STOP, "tool_use")
    ]


def test_the_words_of_a_refusal_come_before_its_end() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Blocked \ud83e by a policy."}
    for found in (
        read_stream(begin(), PING, end("refusal", stop_details=details), STOP),
        read_whole(message(reason="refusal", stop_details=details)),
    ):
        assert found.refusal == "Blocked \ufffd by a policy."
        assert found.ends == [Finish(FinishReason.REFUSAL, "refusal")]


@pytest.mark.parametrize("details", [None, {"type": "refusal", "category": None, "explanation": None}, {}])
def test_a_refusal_in_the_middle_may_say_nothing(details: Any) -> None:
    found = read_stream(*USUAL[:4], close_block(), end("refusal", stop_details=details), STOP)
    assert (found.text, found.refusal) == (b'{"city', "")
    assert found.ends == [Finish(FinishReason.REFUSAL, "refusal")]


def test_words_about_another_end_are_no_refusal() -> None:
    found = read_stream(*USUAL[:6], end(stop_details={"type": "other", "explanation": "Done."}), STOP)
    assert (found.refusal, found.ends) == ("", [TURN])


def test_counts_add_up_from_the_beginning_of_the_message() -> None:
    start = begin(usage={"input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 1})
    partial = end(None, usage={"output_tokens": 5})
    last = end(usage={"output_tokens": 9, "input_tokens": None, "cache_creation_input_tokens": 7})
    assert read_stream(start, partial).usage == Usage(320, 5)
    assert read_stream(start, partial, last, STOP).usage == Usage(327, 9)
    assert read_stream(begin(usage=None), end(usage={"output_tokens": 9})).usage == Usage(None, 9)
    assert read_stream(begin(usage=None), end(usage=None)).usage is None


def test_an_end_that_is_told_again_is_one_end() -> None:
    assert read_stream(*USUAL[:-1], end(usage={"output_tokens": 10}), STOP).ends == [TURN]


def test_the_reader_alone_tells_an_end_once() -> None:
    reader = DIALECT.reader(Expected())
    ends = [each for _ in range(2) for each in reader.read(WireEvent(data=b"", value=end(usage=None)))]
    assert ends == [TURN]


def test_text_behind_the_end_is_given_to_whoever_judges_it() -> None:
    assert read_stream(*USUAL, open_block(1), text(" more", 1)).text == WHOLE + b" more"


OVERLOADED: Any = {"type": "error", "error": {"details": None, "type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize("at", range(len(USUAL) + 1))
def test_an_error_wins_wherever_it_comes(at: int) -> None:
    fault = read_stream(*USUAL[:at], {**OVERLOADED, "request_id": "req_1"}, *USUAL[at:]).ends[-1]
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code, fault.request_id) == ("overload", "overloaded_error", "req_1")


@pytest.mark.parametrize(
    ("kind", "words", "meant"),
    [
        ("api_error", "Internal server error", "server"),
        ("rate_limit_error", "Slower", "rate_limit"),
        ("authentication_error", "invalid x-api-key", "auth"),
        ("invalid_request_error", "prompt is too long", "bad_request"),
        ("invalid_request_error", "output_config.format.schema: For 'array' type, 'maxItems' is not", "constraint"),
        ("invalid_request_error", "tools.0.custom.input_schema: JSON schema is invalid.", "constraint"),
        ("invalid_request_error", "The compiled grammar is too large, which would cause issues.", "constraint"),
        ("invalid_request_error", "Schema is too complex for compilation", "constraint"),
    ],
)
def test_errors_behind_the_head_are_told_as_what_they_are(kind: str, words: str, meant: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": words}}
    for found in (read_stream(begin(), error), read_whole(error)):
        (fault,) = found.ends
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.code, fault.detail) == (meant, kind, words)
        assert found.native is None


@pytest.mark.parametrize("error", [OVERLOADED, {"error": OVERLOADED["error"]}])
def test_the_reader_alone_knows_an_error(error: Any) -> None:
    event = WireEvent(data=b"", value=error)
    for found in (DIALECT.reader(Expected()).read(event), DIALECT.reader(Expected()).read_whole(event)):
        (fault,) = found
        assert isinstance(fault, Fault)
        assert fault.kind == "overload"


class TestCalls:
    def test_calls_come_as_blocks_beside_words(self) -> None:
        arguments = '{"q":"caf\u00e9 \\u2603","n":1.50}'
        found = read_stream(
            begin(),
            open_block(0),
            text("Looking."),
            close_block(0),
            open_block(1, "tool_use"),
            piece("", 1),
            *(piece(each, 1) for each in arguments),
            close_block(1),
            open_block(2, "tool_use", name="now"),
            close_block(2),
            end("tool_use"),
            STOP,
            offers_tools=True,
        )
        assert found.calls == {
            1: ("toolu_1", "search", arguments.encode()),
            2: ("toolu_2", "now", b""),
        }
        assert (found.prose, found.text) == (b"Looking.", b"")
        assert found.ends == [Finish(FinishReason.STOP, "tool_use")]

    def test_arguments_that_stand_in_the_start_are_cut_out_as_they_are_spelled(self) -> None:
        start = '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f",'
        spelled = '{ "n" : 1.50, "s":"\\u0041" }'
        body = f'data: {start}"input":{spelled}}}}}\n\n'.encode() + stream(close_block(), end("tool_use"))
        found = read(DIALECT, body, offers_tools=True)
        assert found.calls == {0: ("t", "f", spelled.encode())}

    def test_arguments_that_come_twice_are_no_call(self) -> None:
        assert fault_code(open_block(0, "tool_use", input={"a": 1}), piece('{"a":1}')) == "arguments_twice"

    def test_arguments_may_be_no_json(self) -> None:
        found = read_stream(begin(), open_block(0, "tool_use"), piece('{"q": tru'), close_block(), end("tool_use"))
        assert found.calls == {0: ("toolu_0", "search", b'{"q": tru')}

    def test_a_character_of_the_arguments_may_be_cut_in_two(self) -> None:
        found = read_stream(open_block(0, "tool_use"), piece('"\ud83e'), piece('\uddea"'))
        assert found.calls[0][2].decode() == '"\U0001f9ea"'


class TestWholeMessages:
    def test_a_whole_message_is_read_as_its_stream_would_be(self) -> None:
        spelled = b'{ "n" : 1.50, "s":"\\u0041" }'
        body = (
            b'{"id":"msg_1","type":"message","role":"assistant","model":"claude-x-1","content":['
            b'{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"Looking."},'
            b'{"type":"sparkle","text":"NOT TEXT"},'
            b'{"type":"tool_use","id":"t1","name":"search","input":' + spelled + b"},"
            b'{"type":"tool_use","id":"t2","name":"now","input":{}}],'
            b'"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}'
        )
        found = read_whole(body, offers_tools=True)
        assert (found.prose, found.reasoning) == (b"Looking.", b"Hm.")
        assert found.calls == {3: ("t1", "search", spelled), 4: ("t2", "now", b"{}")}
        assert (found.usage, found.ends) == (Usage(3, 4), [Finish(FinishReason.STOP, "tool_use")])
        assert (found.native, found.is_terminal) == ("tool_use", False)

    def test_a_whole_message_needs_no_end_marker(self) -> None:
        found = read_whole(message({"type": "text", "text": WHOLE.decode()}))
        assert (found.text, found.ends) == (WHOLE, [TURN])

    def test_a_message_without_a_reason_to_stop_proves_no_end(self) -> None:
        assert read_whole(message(reason=None)).ends == []

    @pytest.mark.parametrize("body", [b"{}", b'{"type":"completion"}', b'{"choices":[]}', b'{"type":5}'])
    def test_another_object_is_no_message(self, body: bytes) -> None:
        (fault,) = read_whole(body).ends
        assert isinstance(fault, Fault)
        assert fault.kind == "protocol"


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ((text("a"),), "delta_without_block"),
        ((open_block(0), text("a", 1)), "delta_without_block"),
        ((open_block(0), text("a", None)), "delta_without_block"),
        ((open_block(0), close_block(0), text("a")), "delta_without_block"),
        ((begin(),), "message_repeated"),
        ((close_block(0),), "stop_without_block"),
        ((open_block(0), close_block(0), close_block(0)), "stop_without_block"),
        ((open_block(0), close_block(None)), "stop_without_block"),
        ((open_block(0), open_block(0)), "block_repeated"),
        ((open_block(0), close_block(0), open_block(0)), "block_repeated"),
        ((open_block(None),), "block_unnamed"),
        (({"type": "content_block_start", "index": 0},), "block_unnamed"),
        ((open_block(0), piece("{}")), "delta_of_other_kind"),
        ((open_block(0, "tool_use"), text("a")), "delta_of_other_kind"),
        ((open_block(0, "thinking"), text("a")), "delta_of_other_kind"),
        ((open_block(0), delta(0, "thinking_delta", thinking="a")), "delta_of_other_kind"),
        ((open_block(0), open_block(1), text("a", 0)), "blocks_mixed"),
    ],
)
def test_blocks_out_of_order_are_no_answer(events: Any, code: str) -> None:
    assert fault_code(begin(), *events) == code


def test_an_answer_has_a_bounded_number_of_blocks() -> None:
    many = [each for index in range(4_097) for each in (open_block(index), close_block(index))]
    assert read_stream(*many[:-2]).ends == []
    assert fault_code(*many) == "too_many_blocks"


@pytest.mark.parametrize(
    "wrong",
    [
        ({"type": 5},),
        ({"type": "message_start", "message": "m"},),
        (begin(usage=[1]),),
        (begin(model=5),),
        (open_block("0"),),
        (open_block(-1),),
        (open_block(True),),
        (open_block(0, 5),),
        (open_block(0, text=5),),
        (open_block(0, "thinking", thinking=5),),
        (open_block(0, "tool_use", input="{}"),),
        (open_block(0, "tool_use", name=5),),
        (open_block(0), text(5)),
        (open_block(0), delta(0, 5)),
        (open_block(0), {"type": "content_block_delta", "index": 0, "delta": "a"}),
        (open_block(0, "tool_use"), piece({"a": 1})),
        (end(5),),
        (end(usage="9"),),
        (end(usage={"output_tokens": "9"}),),
        (end(usage={"output_tokens": 1.5}),),
        (end("refusal", stop_details="no"),),
        (end("refusal", stop_details={"explanation": 5}),),
    ],
)
def test_members_of_other_types_are_no_such_format(wrong: Any) -> None:
    assert fault_code(*wrong) == "wrong_type"
    assert read_stream(*wrong).native is None


@pytest.mark.parametrize(
    "content", [5, {}, ["text"], [{"type": 5}], [{"type": "text", "text": 5}], [{"type": "tool_use", "input": "{}"}]]
)
def test_content_of_other_types_is_no_such_format(content: Any) -> None:
    (fault,) = read_whole({**message(), "content": content}).ends
    assert isinstance(fault, Fault)
    assert fault.kind == "protocol"


def test_a_server_says_which_model_answers() -> None:
    reader = DIALECT.reader(Expected())
    reader.read(WireEvent(data=b"", value=begin()))
    assert (reader.model_revision, reader.answer_id) == ("claude-x-1", "msg_1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "a", "text", "tool_use", "text_delta"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["type", "index", "delta", "content_block", "text", "input", "message", "usage", "stop_reason"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([each["type"] for each in USUAL]), json_values), max_size=6))
def test_no_event_however_odd_breaks_the_reader(events: list[tuple[str, Any]]) -> None:
    reader = DIALECT.reader(Expected())
    for kind, value in events:
        odd = {**(value if isinstance(value, dict) else {"message": value, "index": value}), "type": kind}
        try:
            reader.read(WireEvent(data=event(odd).split(b"data: ")[1].strip(), value=odd))
        except WireFaultError:
            return
