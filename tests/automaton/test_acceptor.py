"""The acceptor: chunking never matters, the first impossible byte is found, and the place is named in words."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from automaton.schemas import TEN
from hypothesis import given
from hypothesis import strategies as st

from commitgate.automaton import compile
from commitgate.errors import LimitExceededError
from commitgate.json_value import JsonValue
from commitgate.languages import Choices, Grammar, Regex
from commitgate.limits import Limits

PAY: JsonValue = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "to": {"type": "string", "maxLength": 5}},
    "required": ["amount", "to"],
    "additionalProperties": False,
}


@given(
    text=st.sampled_from([b'{"amount": 100, "to": "b\\u00e9"}', '{"to":"é😀","amount":1}'.encode(), b'{"amount": x}']),
    cuts=st.lists(st.integers(0, 30), max_size=8),
)
def test_chunking_never_matters(text: bytes, cuts: list[int]) -> None:
    whole, pieces = compile(PAY).acceptor(), compile(PAY).acceptor()
    whole.feed(text)
    edges = [0, *sorted(cuts), len(text)]
    for start, end in pairwise(edges):
        pieces.feed(text[start:end])
    assert (whole.position, whole.is_accepting, whole.is_dead) == (pieces.position, pieces.is_accepting, pieces.is_dead)
    assert whole.explain() == pieces.explain()


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        (b'{"amount": "1"', 11, "an integer"),
        (b'{"total', 4, "'to'"),
        (b'{"x', 2, "'amount', 'to'"),
        (b'{"amount": 1, "amount', 15, "'to'"),
        (b'{"amount": 1}', 12, "','"),
        (b'{"amount": 1, "to": "abcdef', 26, "closing quote"),
        (b'{"amount": 1.5,', 14, "an integer"),
        (b'{"amount": 1, "to": "x"} {', 25, "white space"),
        (b"[", 0, "'{'"),
    ],
)
def test_first_impossible_byte_is_found_and_explained(text: bytes, position: int, words: str) -> None:
    acceptor = compile(PAY).acceptor()
    assert not acceptor.feed(text)
    assert acceptor.is_dead
    assert acceptor.position == position
    assert words in acceptor.explain()
    assert not acceptor.feed(b"}")
    assert acceptor.position == position


def test_explanation_names_the_place_in_the_schema() -> None:
    acceptor = compile(PAY).acceptor()
    acceptor.feed(b'{"amount": ')
    assert "/properties/amount" in acceptor.explain()


def test_whole_text_is_accepting_and_only_the_generating_dialect_is_finished() -> None:
    text = b'{"amount": 1, "to": "x"}'
    accept, generate = compile(PAY).acceptor(), compile(PAY, dialect="generate").acceptor()
    assert accept.feed(text)
    assert generate.feed(text)
    assert accept.is_accepting
    assert generate.is_accepting
    assert generate.is_finished
    assert not accept.is_finished


def test_root_number_is_accepting_before_its_end() -> None:
    acceptor = compile({"type": "integer"}, dialect="generate").acceptor()
    acceptor.feed(b"12")
    assert acceptor.is_accepting
    assert not acceptor.is_finished


@pytest.mark.parametrize("text", [b'{"a": 1, "a": 2}', b'{"a": 1, "\\u0061": 2}', b'{"x": 1, "\\u0078": 2}'])
def test_key_that_comes_twice_is_refused_however_it_is_spelled(text: bytes) -> None:
    assert not compile({"properties": {"a": {}}}).accepts(text)
    assert not compile(True).accepts(text)


def test_free_keys_are_never_written_twice() -> None:
    automaton = compile(TEN["dictionary"], dialect="generate")
    assert automaton.accepts(b'{"a": 1, "b": 2}')
    assert not automaton.accepts(b'{"a": 1, "a": 2}')
    assert automaton.accepts(b'{"a": 1, "aa": 2}')


def test_nesting_up_to_the_limit_is_accepted_and_one_more_is_not() -> None:
    automaton = compile(True)
    assert automaton.accepts(b"[" * 64 + b"]" * 64)
    assert not automaton.accepts(b"[" * 65 + b"]" * 65)


def test_any_json_is_accepted_by_the_empty_schema() -> None:
    value = {"k": [1, 2.5e3, None, True, {"é": "😀\n"}], "": {}, "m": [[], {}]}
    assert compile({}).accepts(json.dumps(value).encode())
    assert compile(True).accepts(json.dumps(value, ensure_ascii=False, indent=2).encode())


def test_many_undeclared_keys_cost_a_bounded_number_of_states_each() -> None:
    automaton = compile(True)
    sizes: list[int] = []
    for count in (100, 200):
        text = json.dumps({f"key {number} {'x' * 50}": number for number in range(count)}).encode()
        before = len(automaton.arena)
        assert compile(True).accepts(text)
        assert automaton.accepts(text)
        sizes.append((len(automaton.arena) - before) // count)
    assert sizes[1] <= sizes[0] < 40


def test_undeclared_key_is_accepted_up_to_its_limit_and_a_declared_one_beyond_it() -> None:
    limits = Limits(key_bytes=8)
    automaton = compile({"properties": {"a long declared key": {}}}, limits=limits)
    assert automaton.accepts(b'{"1234567": 1}')
    assert not compile(True, limits=limits).accepts(b'{"12345678": 1}')
    assert automaton.accepts(b'{"a long declared key": 1}')
    assert automaton.accepts(b'{"\\u0061 long declared key": 1}')


def test_keys_of_a_wide_object_are_accepted_in_any_order_and_each_once() -> None:
    names = [f"p{number}" for number in range(120)]
    schema: JsonValue = {
        "properties": {name: {"type": "integer"} for name in names},
        "required": names[:2],
        "additionalProperties": False,
    }
    automaton = compile(schema)
    backwards = dict.fromkeys(reversed(names), 1)
    assert automaton.accepts(json.dumps(backwards).encode())
    assert automaton.accepts(b'{"p1": 1, "p0": 2}')
    assert not automaton.accepts(b'{"p1": 1, "p1": 2, "p0": 3}')
    assert not automaton.accepts(b'{"p1": 1, "p2": 2}')


def test_text_that_went_wrong_behind_a_whole_one_is_neither_accepting_nor_finished() -> None:
    for source, text in ((Regex("a*"), b"ab"), (Regex("a"), b"ab")):
        acceptor = compile(source).acceptor()
        assert acceptor.feed(text[:1])
        assert acceptor.is_accepting
        assert not acceptor.feed(text[1:])
        assert (acceptor.is_dead, acceptor.is_accepting, acceptor.is_finished) == (True, False, False)
        assert not acceptor.feed(text[:1]), "what follows is not read"
        assert acceptor.position == 1


def test_language_without_a_text_is_dead_before_any_byte() -> None:
    acceptor = compile(Choices(["x"]), dialect="generate", alphabet=b"ab").acceptor()
    assert acceptor.is_dead
    assert not acceptor.feed(b"")


def test_end_of_the_text_is_named_once() -> None:
    acceptor = compile(Regex("ab?")).acceptor()
    acceptor.feed(b"a")
    assert acceptor.explain().count("the end") == 1
    acceptor.feed(b"b")
    assert acceptor.explain().count("the end") == 1


def test_each_piece_that_is_fed_has_the_work_of_one_step() -> None:
    automaton = compile(
        Grammar('root ::= "a" root "a" | "b" root "b" | [ab] [ab] | root root'), limits=Limits(step_work=100)
    )
    with pytest.raises(LimitExceededError) as caught:
        automaton.acceptor().feed(b"ab" * 8)
    assert caught.value.limit_name == "step_work"
