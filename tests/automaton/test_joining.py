"""Alternatives that begin alike are one beginning with the alternatives behind it."""

from __future__ import annotations

import json
from itertools import combinations

import pytest

from commitgate.automaton import compile
from commitgate.automaton.deferred import AnyFollow, Capture, Follow
from commitgate.automaton.terms import Arena, Choice, Sequence, Term

TEXTS = (b"", b"a", b"b", b"aa", b"ab", b"ba", b"aaa")


class Then(Follow):
    """Let a captured text be followed by itself and an end."""

    def __init__(self, end: bytes) -> None:
        self.end = end

    @property
    def is_transient(self) -> bool:
        return False

    @property
    def longest_bytes(self) -> int:
        return 9

    @property
    def place(self) -> str | None:
        return None

    def after(self, arena: Arena, captured: bytes) -> Term:
        return arena.literal(captured + self.end)


@pytest.mark.parametrize("head", [texts for count in (1, 2, 3) for texts in combinations(TEXTS, count)])
def test_a_beginning_that_is_a_whole_option_elsewhere_stays_apart(head: tuple[bytes, ...]) -> None:
    for rest in combinations(TEXTS, 2):
        arena = Arena()
        term = arena.sequence(arena.choice(map(arena.literal, head)), arena.choice(map(arena.literal, rest)))
        whole = {first + second for first in head for second in rest}
        for text in {*whole, *TEXTS, b"aaaa", b"aab"}:
            assert term.walk(text).nullable == (text in whole)


def test_options_with_one_head_share_it() -> None:
    arena = Arena()
    head, middle = arena.run(1 << 0x61), arena.literal(b"-")
    term = arena.choice(arena.chain(head, middle, arena.literal(end)) for end in (b"x", b"y", b"z"))
    assert isinstance(term, Sequence)
    assert term.head is head
    assert term is arena.chain(head, middle, arena.choice(arena.literal(end) for end in (b"z", b"y", b"x")))
    assert term.walk(b"aa-y").nullable
    assert term.walk(b"aa-w") is arena.empty


def test_captures_of_one_head_are_read_once() -> None:
    arena = Arena()
    head = arena.literal(b"k")
    term = arena.choice(Capture.make(arena, head, b"", Then(end)) for end in (b"1", b"2"))
    assert isinstance(term, Capture)
    assert isinstance(term.follow, AnyFollow)
    assert term.walk(b"kk1").nullable
    assert term.walk(b"kk2").nullable
    assert term.walk(b"kk3") is arena.empty


def test_captures_that_read_different_texts_stay_apart() -> None:
    arena = Arena()
    options = [Capture.make(arena, arena.literal(b"k"), before, Then(b"")) for before in (b"a", b"b")]
    term = arena.choice(options)
    assert isinstance(term, Choice)
    assert term.walk(b"kak").nullable
    assert term.walk(b"kbk").nullable


def test_alternatives_of_nested_objects_do_not_multiply() -> None:
    ways = [{"required": ["in", key]} for key in ("a", "b", "c", "d")]
    inner = {"properties": {"in": {"$ref": "#/$defs/object"}, "leaf": {}}, "type": "object"}
    schema = {"$defs": {"object": {**inner, "anyOf": [*ways, {"required": ["leaf"]}]}}, "$ref": "#/$defs/object"}
    automaton = compile(schema)
    value: dict[str, object] = {"leaf": 1}
    for key in "abcd" * 4:
        value = {"in": value, "other": True, key: 1}
    assert automaton.accepts(json.dumps(value).encode())
    # Without joining the alternatives of each level multiply those of the level above it: 5 ** 16.
    assert len(automaton.arena) < 20_000


def test_a_declared_key_is_walked_through_states_that_are_kept() -> None:
    automaton = compile({"properties": {"long_name": {"type": "integer"}}})
    before = automaton.start.walk(b'{"long_')
    assert before is automaton.start.walk(b'{"long_')
    assert automaton.start.walk(b'{"long_x') is not automaton.start.walk(b'{"long_y')
    assert automaton.accepts(b'{"long_name": 1, "long_nam": "x", "long_names": "y"}')
    assert not automaton.accepts(b'{"long_name": "x"}')
    assert not automaton.accepts(b'{"other": 1, "other": 2}')
