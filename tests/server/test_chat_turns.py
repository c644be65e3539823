"""A turn is read while it is written, however it is cut; what is no turn is told at once."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate_local.server.turn_reader import AnswerPiece, ArgumentsPiece, CallStarted, TurnReader
from commitgate_local.server.value_reader import NotATurnError

Calls = list[tuple[str, str]]
EVERYWHERE = list(range(200))


def read(data: bytes, cuts: list[int] | None = None, *, words: bool = True) -> tuple[str, Calls, bool]:
    """Return the answer, the calls and whether the turn is whole."""
    reader = TurnReader(answers_in_words=words)
    answer, calls = "", list[list[str]]()
    places = [0, *sorted({cut % (len(data) + 1) for cut in cuts or []}), len(data)]
    for start, end in pairwise(places):
        for piece in reader.feed(data[start:end]):
            match piece:
                case AnswerPiece():
                    answer += piece.text
                case CallStarted():
                    assert piece.index == len(calls)
                    calls.append([piece.name, ""])
                case ArgumentsPiece():
                    calls[piece.index][1] += piece.text
    return answer, [(name, arguments) for name, arguments in calls], reader.is_done


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        ('{"answer": "Warm."}', "Warm."),
        ('{"answer":""}', ""),
        (' {\n"answer"\t:"a\\"b\\\\c\\n\\u00e9\\ud83d\\ude00é😀 "} ', 'a"b\\c\né😀é😀 '),
        ('{"\\u0061nswer": "x"}', "x"),
    ],
)
def test_answer_in_words_is_its_characters(data: str, answer: str) -> None:
    for cuts in ([], EVERYWHERE):
        assert read(data.encode(), cuts) == (answer, [], True)


@pytest.mark.parametrize(
    "value", ['{"a": [1, {"b": "]}\\""}]}', "[]", '"a\\"b\\\\"', '""', "12.50", "-1e5", "true", "null", "[{}]"]
)
def test_answer_in_json_is_as_it_is_spelled(value: str) -> None:
    for data in (f'{{"answer": {value}}}', f'{{"answer":{value} }}'):
        for cuts in ([], EVERYWHERE):
            assert read(data.encode(), cuts, words=False) == (value, [], True)


def test_calls_are_told_with_their_arguments_as_they_are_spelled() -> None:
    data = b'{"calls" : [ {"name": "a\\u0062", "arguments": {"x":  1.50}}, {"arguments":{"y":"}"},"name":"c"} ]}'
    for cuts in ([], EVERYWHERE):
        assert read(data, cuts) == ("", [("ab", '{"x":  1.50}'), ("c", '{"y":"}"}')], True)


def test_name_is_told_before_its_arguments_are_whole() -> None:
    reader = TurnReader(answers_in_words=True)
    assert reader.feed(b'{"calls": [{"name": "a"') == (CallStarted(index=0, name="a"),)
    assert reader.feed(b', "arguments": {"x": "') == (ArgumentsPiece(index=0, text='{"x": "'),)
    assert reader.feed(b"y") == (ArgumentsPiece(index=0, text="y"),)


def test_half_a_character_waits_for_its_other_half() -> None:
    reader = TurnReader(answers_in_words=True)
    emoji = "😀".encode()
    assert reader.feed(b'{"answer": "a' + emoji[:3]) == (AnswerPiece(text="a"),)
    assert reader.feed(emoji[3:]) == (AnswerPiece(text="😀"),)
    assert reader.feed(b"\\ud83d\\u") == ()
    assert reader.feed(b"de00") == (AnswerPiece(text="😀"),)


@pytest.mark.parametrize(
    "data",
    [
        b"[",
        b'"answer"',
        b"{}",
        b'{"other": "x"}',
        b'{"answer": "a", "calls": []}',
        b'{"answer": "a"} x',
        b'{"answer": 1}',
        b'{"answer" "a"}',
        b'{"answer": "\xff"}' + b" " * 12,
        b'{"answer": "\\x' + b" " * 12,
        b'{"answer": "\\ud83d plain text that follows',
        b'{"calls": {}}',
        b'{"calls": [1]}',
        b'{"calls": [{"id": 1}]}',
        b'{"calls": [{"name": "a", "other": {}}]}',
        b'{"calls": [{"name": "a"}]}',
        b'{"calls": [{"name": "a", "arguments": {}, "arguments": {}}]}',
        b'{"calls": [{"arguments": {}}]}',
        b'{"calls": [{"name": 1}]}',
        b'{"calls": [{"name": "a", "name": "b"}]}',
        b'{"calls": [{"name": "\xff"}]}',
        b'{"calls": [{"name": "a", "arguments": {"x": "\xff"}}]}',
        b'{"calls": [{"name": "a", "arguments": ,}]}',
    ],
)
def test_bytes_that_are_no_turn_are_told(data: bytes) -> None:
    for cuts in ([], EVERYWHERE):
        with pytest.raises(NotATurnError):
            read(data, cuts)


@pytest.mark.parametrize("data", [b"", b" ", b'{"answer": "a"', b'{"calls": [{"name": "a", "arguments": {}}]'])
def test_turn_that_is_cut_is_not_whole(data: bytes) -> None:
    assert not read(data)[2]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3)
CUTS = st.lists(st.integers(0, 10_000), max_size=8)


@settings(deadline=None)
@given(st.text(), st.booleans(), CUTS)
def test_cuts_change_no_answer_in_words(text: str, is_ascii: bool, cuts: list[int]) -> None:
    data = json.dumps({"answer": text}, ensure_ascii=is_ascii).encode()
    assert read(data, cuts) == (text, [], True)


@settings(deadline=None)
@given(VALUES, st.booleans(), CUTS)
def test_cuts_change_no_answer_in_json(value: object, is_ascii: bool, cuts: list[int]) -> None:
    spelled = json.dumps(value, ensure_ascii=is_ascii)
    assert read(b'{"answer": %s}' % spelled.encode(), cuts, words=False) == (spelled, [], True)


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=5), OBJECTS), min_size=1, max_size=4), st.booleans(), CUTS)
def test_cuts_change_no_calls(calls: list[tuple[str, dict[str, object]]], name_first: bool, cuts: list[int]) -> None:
    keys = ("name", "arguments") if name_first else ("arguments", "name")
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    data = json.dumps({"calls": [{key: call[key] for key in keys} for call in made]}).encode()
    assert read(data, cuts) == ("", [(name, json.dumps(arguments)) for name, arguments in calls], True)


@settings(deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_are_read_or_are_no_turn(data: bytes, words: bool) -> None:
    for head in (b"", b'{"answer": ', b'{"answer": "', b'{"calls": [{"name": "a", "arguments": '):
        try:
            read(head + data, words=words)
        except NotATurnError:
            continue
