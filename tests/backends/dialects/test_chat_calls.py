"""Read calls of tools in chat completions: in pieces, mixed, in older forms, and where a call is the answer."""

from typing import Any

import pytest
from backends.dialects.chat_chunks import DONE, call, calls, chunk, event, read, reader, text, whole

from commitgate import Regex
from commitgate.backends.base import Finish, FinishReason, TextDelta, ToolDelta
from commitgate.backends.wire.wire_event import WireFaultError
from commitgate.testing import replay
from commitgate.tools import slices
from commitgate.tools.one_value import ValueEnd

END = Finish(FinishReason.STOP, "tool_calls")


def called(*pieces: Any, **expected: Any) -> list[Any]:
    """Return what calls say that come one piece a chunk."""
    expected = expected or {"offers_tools": True}
    return read([*(chunk(tool_calls=[piece]) for piece in pieces), chunk("tool_calls"), DONE], **expected)


def test_a_call_comes_in_pieces() -> None:
    found = called(call(0, id="c1", name="search", arguments=""), call(0, arguments='{"q":'), call(0, arguments='"x"}'))
    assert calls(found) == [(0, "c1", "search", b""), (0, None, None, b'{"q":'), (0, None, None, b'"x"}')]
    assert found[-1] == END


def test_names_and_ids_that_come_as_null_say_nothing() -> None:
    found = called(call(0, id="c1", name="search"), call(0, id=None, name=None, arguments="{}"))
    assert calls(found) == [(0, "c1", "search", b""), (0, None, None, b"{}")]


def test_a_piece_that_says_nothing_gives_nothing() -> None:
    assert calls(called(call(0, id="", name="", arguments=""), call(0, arguments=None))) == []


def test_calls_may_be_mixed() -> None:
    pieces = (call(0, id="a", name="f"), call(1, id="b", name="g"), call(1, arguments="{}"), call(0, arguments="[]"))
    found = called(*pieces)
    assert [(each[0], each[3]) for each in calls(found)] == [(0, b""), (1, b""), (1, b"{}"), (0, b"[]")]


def test_several_calls_may_come_in_one_chunk() -> None:
    both = [call(0, id="a", name="f", arguments="{}"), call(1, id="b", name="g", arguments="{}")]
    found = read([chunk("tool_calls", tool_calls=both), DONE], offers_tools=True)
    assert calls(found) == [(0, "a", "f", b"{}"), (1, "b", "g", b"{}")]


def test_a_character_cut_in_two_halves_is_whole_in_each_call() -> None:
    found = called(
        call(0, name="f", arguments='"\ud83e'),
        call(1, name="g", arguments='"\ud83d'),
        call(0, arguments='\uddea"'),
        call(1, arguments='\ude00"'),
    )
    joined = {index: b"".join(each[3] for each in calls(found) if each[0] == index).decode() for index in (0, 1)}
    assert joined == {0: '"\U0001f9ea"', 1: '"\U0001f600"'}


def test_arguments_that_come_as_an_object_are_kept_as_they_are_spelled() -> None:
    spelled = b'{"a" : 1.50, "b":"\\u00e9", "a":2}'
    data = (
        b'{"choices":[{"index":1,"delta":{}},{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":{}}},'
        b'{"function":{"arguments":{"no":1}},"index":1,"function":{"name":"g","arguments":' + spelled + b"}}]}}]}"
    )
    value: Any = {
        "choices": [
            {"index": 1, "delta": {}},
            {
                "delta": {
                    "tool_calls": [
                        {"index": 0, "function": {"name": "f", "arguments": {}}},
                        {"index": 1, "function": {"name": "g", "arguments": {"a": 2, "b": "é"}}},
                    ]
                }
            },
        ]
    }
    found = calls(reader(offers_tools=True).read(event(value, data=data)))
    assert found == [(0, None, "f", b"{}"), (1, None, "g", spelled)]


def test_calls_without_a_number_are_told_apart_by_their_ids() -> None:
    first = {"id": "a", "function": {"name": "f", "arguments": "{"}}
    further = {"function": {"arguments": "}"}}
    second = {"id": "b", "function": {"name": "g", "arguments": "{}"}}
    again = {"id": "a", "function": {"arguments": " "}}
    found = called(first, further, second, again)
    assert [(each[0], each[3]) for each in calls(found)] == [(0, b"{"), (0, b"}"), (1, b"{}"), (0, b" ")]


def test_a_whole_answers_calls_are_numbered_by_their_places() -> None:
    both = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "a", "type": "function", "function": {"name": "g", "arguments": {"x": 1}}},
    ]
    found = list(reader(offers_tools=True).read_whole(whole("tool_calls", content=None, tool_calls=both)))
    assert calls(found) == [(0, "a", "f", b"{}"), (1, "a", "g", b'{"x": 1}')]


def test_the_deprecated_form_of_a_call_is_read() -> None:
    events = [chunk(function_call={"name": "f", "arguments": ""}), chunk(function_call={"arguments": "{}"})]
    found = read([*events, chunk("function_call"), DONE], offers_tools=True)
    assert calls(found) == [(0, None, "f", b""), (0, None, None, b"{}")]


def test_a_call_that_is_said_in_both_forms_counts_once() -> None:
    both = chunk(tool_calls=[call(0, name="f", arguments="{}")], function_call={"name": "f", "arguments": "{}"})
    assert calls(read([both, DONE], offers_tools=True)) == [(0, None, "f", b"{}")]


def test_a_call_that_is_said_anew_in_the_older_form_counts_once() -> None:
    events = [chunk(tool_calls=[call(0, name="f", arguments="{}")]), chunk(function_call={"arguments": "{}"})]
    assert calls(read([*events, DONE], offers_tools=True)) == [(0, None, "f", b"{}")]


def test_a_call_that_nobody_offered_is_told() -> None:
    assert calls(called(call(0, id="a", name="f", arguments="{}"), answer_tool=None)) == [(0, "a", "f", b"{}")]


def custom(index: int | None = 0, **given: Any) -> Any:
    return {"index": index, "type": "custom", "custom": given}


def test_the_input_of_a_custom_tool_is_its_arguments() -> None:
    found = called({"id": "c", **custom(name="emit", input="")}, custom(input="2026"))
    assert calls(found) == [(0, "c", "emit", b""), (0, None, None, b"2026")]


def test_the_input_of_the_answers_tool_is_the_answer() -> None:
    events = [
        chunk(content="Here it is:"),
        chunk(tool_calls=[{"id": "c", **custom(name="answer", input="")}]),
        chunk(tool_calls=[custom(input="2026\ud83e")]),
        chunk(tool_calls=[custom(name=None, input="\uddea")]),
        chunk("tool_calls"),
        DONE,
    ]
    found = read(events, answer_tool="answer")
    assert text(found) == "2026\U0001f9ea"
    assert found[-1] == END
    assert calls(found) == []


@pytest.mark.parametrize("word", ["stop", "tool_calls"])
def test_a_forced_answer_may_end_with_either_word(word: str) -> None:
    found = read([chunk(tool_calls=[custom(name="answer", input="a")]), chunk(word), DONE], answer_tool="answer")
    assert found == [TextDelta(b"a"), Finish(FinishReason.STOP, word)]


def test_words_in_place_of_the_call_are_judged_as_the_answer() -> None:
    events = [chunk(content="20\ud83e"), chunk(content="\uddea"), chunk("stop"), DONE]
    found = read(events, answer_tool="answer")
    assert text(found) == "20\U0001f9ea"
    assert found[-1] == Finish(FinishReason.STOP, "stop")


def test_an_answer_that_was_not_called_is_no_answer() -> None:
    with pytest.raises(WireFaultError) as raised:
        read([chunk("stop"), DONE], answer_tool="answer")
    assert raised.value.code == "answer_missing"
    assert read([chunk(refusal="no"), chunk("stop"), DONE], answer_tool="answer")[-1] == Finish(
        FinishReason.STOP, "stop"
    )
    assert read([chunk("length"), DONE], answer_tool="answer") == [Finish(FinishReason.LENGTH, "length")]


def test_words_beside_the_call_are_held_within_bounds() -> None:
    many = [chunk(content="x" * 600_000)] * 2
    with pytest.raises(WireFaultError) as raised:
        read(many, answer_tool="answer")
    assert raised.value.code == "too_much_aside"
    assert read([chunk(tool_calls=[custom(name="answer", input="a")]), *many], answer_tool="answer") == [
        TextDelta(b"a")
    ]


@pytest.mark.parametrize(("words", "finish"), [("hello", "stop"), ("", "stop"), ("aa", "tool_calls")])
def test_nothing_is_committed_where_the_call_never_came(words: str, finish: str) -> None:
    events = [chunk(content=words), chunk(finish), DONE]
    body = b"".join(b"data: %b\n\n" % each.data for each in events)
    assert replay("openai_chat", body, contract=Regex("a*")).outcome in ("violated", "unavailable")


@pytest.mark.parametrize(
    ("pieces", "code"),
    [
        ([custom(name="other", input="a")], "call_not_offered"),
        ([call(0, name="answer", arguments="{}")], "call_not_offered"),
        ([custom(name="answer", input="a"), custom(1, name="answer", input="b")], "two_answers"),
    ],
)
def test_another_call_beside_the_answer_is_a_fault(pieces: Any, code: str) -> None:
    with pytest.raises(WireFaultError) as raised:
        called(*pieces, answer_tool="answer")
    assert raised.value.code == code


@pytest.mark.parametrize(
    "wrong",
    [
        {"index": "0", "function": {}},
        {"index": -1, "function": {}},
        {"index": True, "function": {}},
        {"index": 0, "function": "f"},
        {"index": 0, "id": 7, "function": {}},
        {"index": 0, "function": {"name": 7}},
        {"index": 0, "function": {"arguments": [1]}},
        {"index": 0, "function": {"arguments": 1}},
        {"index": 0, "custom": "emit"},
        {"index": 0, "custom": {"input": {}}},
    ],
)
def test_a_piece_of_another_type_is_no_such_format(wrong: Any) -> None:
    with pytest.raises(WireFaultError) as raised:
        called(wrong)
    assert raised.value.code == "wrong_type"


@pytest.mark.parametrize("numbered", [True, False])
def test_calls_without_end_are_a_fault(numbered: bool) -> None:
    pieces = [call(at, arguments="{") if numbered else {"id": f"c{at}", "function": {}} for at in range(2_000)]
    with pytest.raises(WireFaultError) as raised:
        called(*pieces)
    assert raised.value.code == "too_many_calls"


def test_an_event_is_walked_once_however_many_calls_stand_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[int] = []

    class Counting(ValueEnd):
        def feed(self, data: bytes | bytearray, start: int = 0) -> int:
            end = super().feed(data, start)
            walked.append(end - start)
            return end

    monkeypatch.setattr(slices, "ValueEnd", Counting)
    given = chunk(tool_calls=[{"index": 0, "function": {"arguments": {}}}] * 50)
    assert read([given], offers_tools=True) == [ToolDelta(0, arguments=b"{}")] * 50
    assert sum(walked) < 12 * len(given.data)
