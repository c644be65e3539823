"""Read calls of tools, and answers that are the input of one, in responses of OpenAI's Responses API."""

import json
from typing import Any

import pytest
from backends.dialects.responses_events import (
    call,
    completed,
    custom,
    message,
    read_body,
    read_stream,
    response,
    say,
    text,
)

from commitgate.backends.base import Fault, Finish, FinishReason, RefusalDelta
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect
from commitgate.backends.wire.wire_event import WireEvent

STOP = Finish(FinishReason.STOP, "completed")
SEARCH = '{"q":"caf\u00e9 \\u2603","n":1.50}'


def added(item: Any, output: int = 0) -> dict[str, Any]:
    blank = {"input": ""} if "input" in item else {"arguments": ""}
    return say("output_item.added", output_index=output, item={**item, **blank, "status": "in_progress"})


def done(item: Any, output: int = 0) -> dict[str, Any]:
    return say("output_item.done", output_index=output, item=item)


def piece(delta: Any, *, item: str = "fc_1", output: int = 0) -> dict[str, Any]:
    return say("function_call_arguments.delta", item_id=item, output_index=output, delta=delta)


def entry(delta: Any, *, item: str = "ctc_1", output: int = 0) -> dict[str, Any]:
    return say("custom_tool_call_input.delta", item_id=item, output_index=output, delta=delta)


def code(found: Any) -> str | None:
    (end,) = found.ends
    assert isinstance(end, Fault), end
    assert end.kind == "protocol"
    return end.code


def test_calls_come_in_pieces_under_the_names_of_their_items() -> None:
    found = read_stream(
        text("Looking."),
        added(call("search"), 1),
        added(call("fetch", number=2), 2),
        piece(SEARCH[:9], output=1),
        piece('{"id":', item="fc_2", output=2),
        piece(SEARCH[9:], output=1),
        piece("17}", item="fc_2", output=2),
        say("function_call_arguments.done", item_id="fc_1", output_index=1, arguments=SEARCH),
        done(call("search", SEARCH), 1),
        done(call("fetch", '{"id":17}', number=2), 2),
        completed(message("Looking."), call("search", SEARCH), call("fetch", '{"id":17}', number=2)),
        offers_tools=True,
    )
    assert found.calls == {
        0: ("call_1", "search", SEARCH.encode()),
        1: ("call_2", "fetch", b'{"id":17}'),
    }
    assert (found.prose, found.text, found.ends) == (b"Looking.", b"", [STOP])


@pytest.mark.parametrize(
    "events",
    [
        (completed(call("search", SEARCH)),),
        (done(call("search", SEARCH)), completed()),
        (added(call("search")), done(call("search", SEARCH)), completed(call("search", SEARCH))),
        (added(call("search")), completed(call("search", SEARCH))),
        (added(call("search")), say("function_call_arguments.done", item_id="fc_1", arguments=SEARCH), completed()),
    ],
)
def test_a_call_that_came_in_no_delta_is_taken_from_what_repeats_it(events: Any) -> None:
    found = read_stream(*events, offers_tools=True)
    assert found.calls == {0: ("call_1", "search", SEARCH.encode())}
    assert found.ends == [STOP]


@pytest.mark.parametrize(
    "place",
    [
        {"item_id": "fc_1"},
        {"output_index": 3},
        {"item_id": "call_1"},
        {"item_id": "unknown", "output_index": 3},
    ],
)
def test_a_piece_finds_its_call_by_any_name_that_it_has(place: Any) -> None:
    events = added(call("search"), 3), say("function_call_arguments.delta", **place, delta="{}")
    assert read_stream(*events, completed(call("search")), offers_tools=True).calls[0] == ("call_1", "search", b"{}")


def test_a_piece_of_a_call_that_never_began_is_no_answer() -> None:
    assert code(read_stream(piece("{}"))) == "delta_without_call"
    assert code(read_stream(added(call(), 1), piece("{}", item="fc_9", output=9))) == "delta_without_call"


@pytest.mark.parametrize(
    "end",
    [
        done(call("search", '{"q":2}')),
        completed(call("search", '{"q":2}')),
        completed(call("delete", '{"q":1}')),
        completed(call("search", '{"q":1}', number=2)),
        completed(message("Nothing.")),
    ],
)
def test_a_call_that_differs_from_what_repeats_it_is_no_answer(end: Any) -> None:
    found = read_stream(added(call("search")), piece('{"q":1}'), end, offers_tools=True)
    assert code(found) in ("text_differs", "output_differs")


def test_a_call_that_begins_twice_is_no_answer() -> None:
    assert code(read_stream(added(call()), added(call()), offers_tools=True)) == "call_repeated"


def test_a_piece_behind_the_end_of_its_call_is_no_answer() -> None:
    events = added(call()), piece("{}"), done(call()), piece("{}")
    assert code(read_stream(*events, offers_tools=True)) == "delta_after_end"


def test_a_call_without_arguments_has_none() -> None:
    found = read_stream(added(call("now", "")), done(call("now", "")), completed(call("now", "")), offers_tools=True)
    assert found.calls == {0: ("call_1", "now", b"")}


def test_a_call_may_be_cut_with_its_response() -> None:
    cut = call("search", '{"q":', status="incomplete")
    end = say("incomplete", response=response("incomplete", cut, incomplete_details={"reason": "max_output_tokens"}))
    found = read_stream(added(call("search")), piece('{"q":'), end, offers_tools=True)
    assert found.calls == {0: ("call_1", "search", b'{"q":')}
    assert found.ends == [Finish(FinishReason.LENGTH, "incomplete:max_output_tokens")]


def test_a_cut_response_may_repeat_less_of_a_call_than_it_told() -> None:
    end = say(
        "incomplete", response=response("incomplete", call("search", ""), incomplete_details={"reason": "steered"})
    )
    found = read_stream(added(call("search")), piece('{"q":'), end, offers_tools=True)
    assert found.calls == {0: ("call_1", "search", b'{"q":')}
    assert found.ends == [Finish(FinishReason.UNKNOWN, "incomplete:steered")]


def test_whole_responses_hold_whole_calls() -> None:
    body = json.dumps(
        response("completed", message("Looking."), call("search", SEARCH), custom("2026", "date", number=2))
    )
    found = read_body(body.encode(), offers_tools=True)
    assert found.calls == {0: ("call_1", "search", SEARCH.encode()), 1: ("call_2", "date", b"2026")}
    assert (found.prose, found.ends) == (b"Looking.", [STOP])


class TestAnswersAsTheInputOfATool:
    def test_its_pieces_are_the_answers_text(self) -> None:
        found = read_stream(
            added(custom("2026-03-14"), 1),
            entry("2026", output=1),
            entry("-03-14", output=1),
            say("custom_tool_call_input.done", item_id="ctc_1", output_index=1, input="2026-03-14"),
            done(custom("2026-03-14"), 1),
            completed(custom("2026-03-14")),
            answer_tool="answer",
        )
        assert (found.text, found.calls, found.ends) == (b"2026-03-14", {}, [STOP])

    def test_it_may_come_whole(self) -> None:
        for found in (
            read_stream(completed(custom("2026")), answer_tool="answer"),
            read_body(json.dumps(response("completed", custom("2026"))).encode(), answer_tool="answer"),
        ):
            assert (found.text, found.ends) == (b"2026", [STOP])

    def test_words_beside_it_are_no_part_of_it(self) -> None:
        for at in range(3):
            events = [added(custom("2026"), 1), entry("2026", output=1)]
            events.insert(at, text("Here it is."))
            end = completed(message("Here it is."), custom("2026"))
            found = read_stream(*events, end, answer_tool="answer")
            assert (found.text, found.prose, found.ends) == (b"2026", b"", [STOP])

    def test_words_without_it_are_the_answer_to_judge(self) -> None:
        found = read_stream(text("He"), text("llo"), completed(message("Hello")), answer_tool="answer")
        assert (found.text, found.ends) == (b"Hello", [STOP])

    def test_a_server_that_neither_calls_nor_speaks_gave_no_answer(self) -> None:
        assert code(read_stream(completed(), answer_tool="answer")) == "answer_missing"

    def test_a_refusal_needs_no_call(self) -> None:
        end = completed(message(refusal="No."))
        found = read_stream(end, answer_tool="answer")
        assert (found.refusal, found.ends) == ("No.", [STOP])

    def test_two_of_it_are_no_answer(self) -> None:
        events = added(custom("a"), 0), entry("a"), added(custom("b", number=2), 1)
        assert code(read_stream(*events, answer_tool="answer")) == "answer_repeated"

    def test_the_input_of_another_tool_is_none(self) -> None:
        found = read_stream(added(custom("2026", "other")), completed(custom("2026", "other")), answer_tool="answer")
        assert (found.calls, found.text) == ({0: ("call_1", "other", b"")}, b"")
        assert code(found) == "answer_missing"

    def test_words_aside_are_held_within_bounds(self) -> None:
        reader = OpenAIResponsesDialect().reader(Expected(answer_tool="answer"))
        many = WireEvent(data=b"", value=text("a" * 1_048_576))
        assert list(reader.read(many)) == []
        found = read_stream(text("a" * 524_288), text("a" * 524_288), text("a"), answer_tool="answer")
        assert code(found) == "too_much_aside"


@pytest.mark.parametrize(
    "events",
    [
        [say("output_item.added", item={**call(), "id": f"f{n}", "call_id": f"c{n}"}) for n in range(4_097)],
        [text("a", item=f"m{n}") for n in range(4_097)],
        [
            say("output_item.added", item={"type": "message", "phase": "commentary", "id": f"m{n}"})
            for n in range(4_097)
        ],
    ],
)
def test_an_answer_has_a_bounded_number_of_parts(events: Any) -> None:
    assert read_stream(*events[:-1], offers_tools=True).ends == []
    assert str(code(read_stream(*events, offers_tools=True))).startswith("too_many_")


def test_a_refusal_of_one_piece_is_one_event() -> None:
    reader = OpenAIResponsesDialect().reader(Expected())
    events = reader.read(WireEvent(data=b"", value=say("refusal.delta", delta="No.")))
    assert list(events) == [RefusalDelta("No.")]
