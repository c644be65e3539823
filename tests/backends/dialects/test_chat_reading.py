"""Read chat completions: texts, thoughts, refusals, ends, failures and counts, from all servers that speak so."""

import json
from itertools import pairwise
from typing import Any

import pytest
from backends.dialects.chat_chunks import (
    DONE,
    chunk,
    event,
    prose,
    read,
    reader,
    refusal,
    text,
    thoughts,
    whole,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import Fault, Finish, FinishReason, Notice, ProseDelta, TextDelta, Usage
from commitgate.backends.wire.wire_event import WireFaultError

STOP = Finish(FinishReason.STOP, "stop")
COUNTS: Any = {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}


def counted(*choices: Any, usage: Any = COUNTS) -> Any:
    return event({"object": "chat.completion.chunk", "choices": list(choices), "usage": usage})


def test_text_comes_in_pieces_and_ends_with_the_servers_own_word() -> None:
    found = reader()
    events = [chunk(role="assistant", content=""), chunk(content='{"a"'), chunk(content=":1}"), chunk("stop"), DONE]
    read = [each for given in events for each in found.read(given)]
    assert read == [TextDelta(b'{"a"'), TextDelta(b":1}"), STOP]
    assert found.finish_native == "stop"
    assert found.is_terminal
    assert found.close() == ()


@pytest.mark.parametrize(
    "nothing",
    [
        chunk(role="assistant", content=""),
        chunk(role="assistant", content=None, refusal=None),
        chunk(role=None, content=None, reasoning_content=None, tool_calls=None),
        event({"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}),
        event({"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {"start_offset": 1}}]}),
        event({"choices": [{"index": 0, "delta": None, "finish_reason": None}], "usage": None}),
        event({"choices": None}),
        event({"object": "prompt_progress", "progress": 0.5}),
        event({"choices": [], "usage": None, "obfuscation": "x1"}),
        event({"error": None, "choices": []}),
    ],
)
def test_a_chunk_that_says_nothing_gives_nothing(nothing: Any) -> None:
    assert list(reader().read(nothing)) == []


def test_text_on_the_chunk_of_the_finish_comes_before_it() -> None:
    assert read([chunk("length", content="v"), DONE]) == [
        TextDelta(b"v"),
        Finish(FinishReason.LENGTH, "length"),
    ]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("abort", FinishReason.CANCELLED),
        ("repetition", FinishReason.MALFORMED),
        ("tool_calls", FinishReason.UNKNOWN),
        ("no_such_word", FinishReason.UNKNOWN),
    ],
)
def test_the_finish_word_decides(word: str, reason: FinishReason) -> None:
    assert read([chunk(content="x"), chunk(word), DONE])[1:] == [Finish(reason, word)]


def test_an_end_marker_alone_is_no_finish() -> None:
    found = reader()
    assert list(found.read(DONE)) == []
    assert (found.finish_native, found.is_terminal, found.close()) == (None, True, ())


def test_a_finish_without_the_end_marker_is_noted() -> None:
    assert read([chunk(content="1"), chunk("stop")])[-1] == Notice("missing_done")


def test_an_end_without_a_finish_adds_nothing() -> None:
    assert read([chunk(content="1")]) == [TextDelta(b"1")]


def test_a_finish_that_is_repeated_counts_once() -> None:
    repeated = counted({"index": 0, "delta": {"content": ""}, "finish_reason": "stop"})
    assert [each for each in read([chunk("stop"), repeated, DONE]) if isinstance(each, Finish)] == [STOP]


def test_text_behind_the_finish_is_given_to_be_judged() -> None:
    assert read([chunk("stop"), chunk(content="more"), DONE])[-1] == TextDelta(b"more")


def test_what_stands_behind_the_end_marker_is_no_text() -> None:
    assert read([chunk("stop"), DONE, chunk(content="more")]) == [STOP]


def test_only_the_first_of_several_answers_is_read() -> None:
    second = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    both = [second, {"index": 0, "delta": {"content": "yes"}, "finish_reason": None}]
    assert read([counted(second, usage=None), counted(*both, usage=None), chunk("stop"), DONE]) == [
        TextDelta(b"yes"),
        STOP,
    ]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_never_enter_the_answer(name: str) -> None:
    found = read([chunk(**{name: "Need a "}), chunk(**{name: "city."}), chunk(content="{}"), chunk("stop"), DONE])
    assert (thoughts(found), text(found)) == ("Need a city.", "{}")


def test_thoughts_that_come_under_two_names_are_read_once() -> None:
    assert thoughts(read([chunk(reasoning="Hm.", reasoning_content="Hm."), DONE])) == "Hm."


def test_a_refusal_is_no_text() -> None:
    found = read([chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"), DONE])
    assert (refusal(found), text(found), found[-1]) == ("I cannot.", "", STOP)


def test_a_refusal_cut_between_the_halves_of_a_character_is_whole() -> None:
    found = read([chunk(refusal="No \ud83e"), chunk(refusal="\uddea"), chunk("stop"), DONE])
    assert refusal(found) == "No \U0001f9ea"


@pytest.mark.parametrize("name", ["content", "reasoning_content"])
def test_a_character_cut_in_two_halves_is_whole(name: str) -> None:
    found = read([chunk(**{name: "a\ud83e"}), chunk(**{name: "\uddeab"}), chunk("stop"), DONE])
    assert (text(found) or thoughts(found)) == "a\U0001f9eab"


def test_half_a_character_is_no_text() -> None:
    data = b"".join(each.data for each in read([chunk(content="a\ud83e"), DONE]) if isinstance(each, TextDelta))
    with pytest.raises(UnicodeDecodeError):
        data.decode()


def test_text_beside_offered_tools_is_prose() -> None:
    found = read([chunk(content="Let me look."), chunk("stop"), DONE], offers_tools=True)
    assert found == [ProseDelta(b"Let me look."), STOP]


@pytest.mark.parametrize("word", ["tool_calls", "function_call", "stop"])
def test_finish_words_of_calls_are_an_end_where_tools_were_offered(word: str) -> None:
    assert read([chunk(word), DONE], offers_tools=True) == [Finish(FinishReason.STOP, word)]


def test_counts_are_those_that_came_last() -> None:
    events = [
        counted({"index": 0, "delta": {"content": "a"}}, usage={"prompt_tokens": 21, "completion_tokens": 1}),
        counted(
            {"index": 0, "delta": {}, "finish_reason": "stop"}, usage={"prompt_tokens": 21, "completion_tokens": 2}
        ),
        counted(usage={**COUNTS, "completion_tokens_details": {"reasoning_tokens": 4}}),
        DONE,
    ]
    counts = [each for each in read(events) if isinstance(each, Usage)]
    assert counts == [Usage(21, 1), Usage(21, 2), Usage(21, 9, 4)]


def test_counts_on_the_chunk_of_the_finish_come_before_it() -> None:
    found = read([counted({"index": 0, "delta": {}, "finish_reason": "stop"}), DONE])
    assert found == [Usage(21, 9), STOP]


def test_counts_may_stand_in_a_field_of_the_vendors_own() -> None:
    assert Usage(21, 9) in read([event({"choices": [], "x_groq": {"id": "r", "usage": COUNTS}}), DONE])


def test_counts_of_nothing_are_unknown() -> None:
    assert read([counted(usage={"prompt_tokens": None}), DONE]) == [Usage()]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "oops", "type": "server_error", "param": None, "code": None}},
        {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}},
        {"error": {"message": "oops", "http_status_code": 424}},
        {"error": "oops"},
        {"object": "error", "message": "oops", "type": "InternalServerError", "param": None, "code": 500},
    ],
)
def test_an_error_within_a_stream_is_a_failure_of_the_server(error: Any) -> None:
    found = reader()
    read = [each for given in (chunk(content='{"a'), event(error), DONE) for each in found.read(given)]
    (partial, fault) = read
    assert partial == TextDelta(b'{"a')
    assert isinstance(fault, Fault)
    assert fault.kind == "server"
    assert "oops" not in fault.message
    assert (found.finish_native, found.is_terminal, found.close()) == (None, True, ())


def test_an_event_that_is_named_an_error_is_one() -> None:
    (fault,) = read([event({"message": "oops", "type": "overloaded_error"}, name="error")])
    assert isinstance(fault, Fault)


def test_an_error_wins_over_a_finish_before_it() -> None:
    found = read([chunk(content="1"), chunk("stop"), event({"error": {"message": "oops"}}), DONE])
    assert [type(each) for each in found] == [TextDelta, Finish, Fault]


def test_a_gateways_error_keeps_its_finish_word() -> None:
    found = reader()
    choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
    given = event({"error": {"code": 502, "message": "upstream"}, "choices": [choice]})
    (fault,) = found.read(given)
    assert isinstance(fault, Fault)
    assert found.finish_native == "error"


@pytest.mark.parametrize(("word", "kind"), [("error", "server"), ("insufficient_system_resource", "overload")])
def test_a_finish_word_may_tell_of_a_failure(word: str, kind: str) -> None:
    found = read([chunk(content="1"), chunk(word), counted(), DONE])
    fault = next(each for each in found if isinstance(each, Fault))
    assert fault.kind == kind
    assert found[-1] == Usage(21, 9)  # what was counted is known all the same


def test_nothing_is_read_behind_a_failure() -> None:
    error = event({"error": {"message": "oops"}})
    assert len(read([error, chunk(content="1"), chunk("stop"), error, DONE])) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        event({"choices": {"0": {}}}),
        event({"choices": ["text"]}),
        event({"choices": [{"index": 0, "delta": "text"}]}),
        chunk(content=["text"]),
        chunk(content=7),
        chunk(refusal={"text": "no"}),
        chunk(reasoning_content=["hm"]),
        chunk(tool_calls={"index": 0}),
        chunk(tool_calls=["call"]),
        chunk(7),
        counted(usage="many"),
        counted(usage={"prompt_tokens": "21"}),
        counted(usage={"prompt_tokens": -1}),
        counted(usage={"completion_tokens": True}),
        counted(usage={"completion_tokens": 2**53}),
    ],
)
def test_a_known_field_of_another_type_is_no_such_format(wrong: Any) -> None:
    with pytest.raises(WireFaultError) as raised:
        list(reader().read(wrong))
    assert raised.value.code == "wrong_type"


def test_a_whole_answer_is_read_as_a_stream_would_be() -> None:
    found = reader()
    given = whole(content='{"a":1}', refusal=None, reasoning_content="Hm.")
    assert given.value is not None
    given.value["usage"] = COUNTS
    read = list(found.read_whole(given))
    assert (text(read), thoughts(read), read[-2:]) == ('{"a":1}', "Hm.", [Usage(21, 9), STOP])
    assert (found.finish_native, found.is_terminal, found.close()) == ("stop", False, ())


def test_a_whole_refusal_is_read() -> None:
    assert refusal(reader().read_whole(whole(content=None, refusal="No."))) == "No."


@pytest.mark.parametrize("body", [{}, {"detail": "Not Found"}, {"choices": []}])
def test_a_body_that_says_nothing_is_no_answer(body: Any) -> None:
    with pytest.raises(WireFaultError):
        list(reader().read_whole(event(body)))


def test_a_whole_answer_without_a_finish_proves_no_end() -> None:
    found = reader()
    assert list(found.read_whole(whole(None, content=""))) == []
    assert (found.finish_native, found.close()) == (None, ())


def test_a_whole_error_is_a_failure() -> None:
    (fault,) = reader().read_whole(event({"error": {"message": "oops", "type": "server_error"}}))
    assert isinstance(fault, Fault)


def test_a_chunk_may_carry_a_message_in_place_of_a_delta() -> None:
    found = read([event({"choices": [{"index": 0, "message": {"content": "1"}, "finish_reason": "stop"}]}), DONE])
    assert found == [TextDelta(b"1"), STOP]


def test_prose_is_put_together_as_text_is() -> None:
    assert prose(read([chunk(content="a"), chunk(content="b"), DONE], offers_tools=True)) == "ab"


@settings(deadline=None)
@given(st.text(), st.data())
def test_any_cut_of_a_text_between_its_units_gives_the_same_text(words: str, data: st.DataObject) -> None:
    units = words.encode("utf-16-le")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(units) // 2))))
    places = [0, *(2 * cut for cut in cuts), len(units)]
    pieces = [units[start:end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(places)]
    # As it goes over the wire: a string of JSON may hold half a character.
    parsed = [json.loads(json.dumps(piece)) for piece in pieces]
    assert text(read([*(chunk(content=piece) for piece in parsed), chunk("stop"), DONE])) == words


def test_answer_and_model_are_named_as_the_server_calls_them() -> None:
    found = reader()
    assert (found.answer_id, found.model_revision) == (None, None)
    for told in ({"id": 7, "choices": []}, {"id": "c-1", "choices": []}, {"id": "c-2", "system_fingerprint": "fp"}):
        list(found.read(event(told)))
    assert (found.answer_id, found.model_revision) == ("c-1", "fp")
