"""Terms: made once, derivatives by class, saturation, and laws over all kinds of them."""

from __future__ import annotations

import pytest
from automaton.schemas import TEN
from hypothesis import given
from hypothesis import strategies as st

from commitgate.automaton import compile
from commitgate.automaton.partition import Partition
from commitgate.automaton.terms import Arena, Term
from commitgate.errors import LimitExceededError

BYTES = st.binary(max_size=4).map(lambda data: bytes(byte % 3 + 0x61 for byte in data))


def test_equal_terms_are_one() -> None:
    arena = Arena()
    first = arena.chain(arena.literal(b"a"), arena.run(1 << 0x62), arena.literal(b"c"))
    second = arena.sequence(arena.chain(arena.literal(b"a"), arena.run(1 << 0x62)), arena.literal(b"c"))
    assert first is second
    assert arena.choice((first, arena.empty, second)) is first


@given(texts=st.lists(BYTES, min_size=1, max_size=6, unique=True), text=BYTES)
def test_set_of_literals_accepts_its_members_alone(texts: list[bytes], text: bytes) -> None:
    term = Arena().literal_set(tuple(sorted(texts)))
    assert term.walk(text).nullable == (text in texts)
    assert (term.walk(text) is not term.arena.empty) == any(known.startswith(text) for known in texts)


@given(head=st.lists(BYTES, min_size=1, max_size=3), rest=st.lists(BYTES, min_size=1, max_size=3), text=BYTES)
def test_sequence_and_choice_mean_what_they_say(head: list[bytes], rest: list[bytes], text: bytes) -> None:
    arena = Arena()

    def union(texts: list[bytes]) -> Term:
        return arena.choice(arena.literal(known) for known in texts)

    term = arena.sequence(union(head), union(rest))
    assert term.walk(text).nullable == (text in {first + second for first in head for second in rest})


@given(least=st.integers(0, 3), extra=st.integers(0, 3), text=BYTES)
def test_run_counts_its_bytes(least: int, extra: int, text: bytes) -> None:
    term = Arena().run(1 << 0x61 | 1 << 0x62, least, least + extra)
    assert term.walk(text).nullable == (least <= len(text) <= least + extra and b"c" not in text)


@pytest.mark.parametrize("name", TEN)
def test_bytes_of_one_class_lead_to_one_state(name: str) -> None:
    automaton = compile(TEN[name])
    partition = automaton.start.partition
    for byte in range(256):
        following = automaton.start.step(byte)
        number = partition.class_of[byte]
        assert (following is automaton.arena.empty) or following is automaton.start.step(
            partition.representatives[number]
        )
        assert number or following is automaton.arena.empty


def test_partition_puts_dead_bytes_into_class_0() -> None:
    partition = Partition.of({5: "x"})
    assert partition.class_of[5] == 1
    assert partition.count == 2
    assert partition.representatives[1] == 5


@given(text=st.binary(max_size=6).map(lambda data: bytes(b'ab"\\\xc3\xa9'[byte % 6] for byte in data)))
def test_saturated_state_cannot_be_told_apart_within_its_reach(text: bytes) -> None:
    automaton = compile({"type": "string", "minLength": 50, "maxLength": 90}, dialect="generate")
    state = automaton.start.walk(b'"abc')
    saturated = state.saturated(6)
    assert saturated is not state
    assert saturated is automaton.start.walk(b'"abcd').saturated(6)
    here, there = state.walk(text), saturated.walk(text)
    assert (here is automaton.arena.empty) == (there is automaton.arena.empty)
    assert here.nullable == there.nullable


def test_more_states_than_the_limit_is_a_typed_error() -> None:
    arena = Arena(max_states=3)
    with pytest.raises(LimitExceededError) as caught:
        arena.literal(b"abcdefgh").walk(b"abcdefgh")
    assert caught.value.limit_name == "states"
    assert caught.value.limit == 3
