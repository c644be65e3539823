"""One step of a character-level automaton is the step that its ranges give, and one byte what the partition says."""

from __future__ import annotations

import pytest

from commitgate.automaton.character_steps import after_character
from commitgate.automaton.regex import pattern_language
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import CharacterState, Length, TextTable, none_of, one_left, one_of
from commitgate.automaton.terms import Arena


def _pattern(pattern: str) -> CharacterState:
    language = pattern_language(pattern)
    assert language is not None
    return language.state()


def _bounded(pattern: str, least: int, most: int) -> CharacterState:
    return _pattern(pattern).counted(least, most)


NAMES = ("", "a", "aa", "ab", "abc", "b", "ba", "\u00e9", "\U0001f600")
LEFT = one_left(TextTable(NAMES), 0b100101010)
assert LEFT is not None
STATES = {
    "anything": Length(0, None),
    "nothing more": Length(0, 0),
    "one or two": Length(1, 2),
    "listed": one_of(NAMES),
    "listed, some read": LEFT,
    "all but listed": none_of(NAMES, Length(0, None)),
    "few but listed": none_of(("", "a", "ab"), one_of(NAMES)),
    "listed but a branch": none_of(("b", "ba"), one_of(NAMES)),
    "pattern": _pattern("^[a-c]+x?$"),
    "counted pattern": _bounded("^[ab]*$", 2, 3),
    "pattern but listed": none_of(("a", "ab"), _pattern("^a?b?c?$")),
}


@pytest.mark.parametrize("name", STATES)
def test_one_step_is_that_of_the_ranges(name: str) -> None:
    points = [*range(0x20, 0x80), 0xE9, 0x1F600, 0x10FFFF]
    open_states, seen = [STATES[name]], set[CharacterState]()
    while open_states and len(seen) < 40:
        state = open_states.pop()
        if state in seen:
            continue
        seen.add(state)
        ranges = state.ranges()
        for point in points:
            found = [following for first, last, following in ranges if first <= point <= last]
            assert after_character(state, point) == (found[0] if found else None)
        open_states.extend(following for _, _, following in ranges)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("spelling", [Spelling(False), Spelling(True), Spelling(True, b' "abx\\u06')])
def test_first_byte_leads_where_the_partition_says(name: str, spelling: Spelling) -> None:
    for byte in range(256):
        fresh = StringBody.make(Arena(), STATES[name], spelling).step(byte)
        split = StringBody.make(Arena(), STATES[name], spelling)
        assert (split.partition.class_of[byte] == 0) == (fresh is fresh.arena.empty)
        assert split.step(byte).shared_key == fresh.shared_key
        assert split.step(byte).nullable == fresh.nullable


def test_a_first_byte_stays_right_once_others_are_met() -> None:
    term = StringBody.make(Arena(), one_of(("ab", "b")), Spelling(False))
    first = term.step(0x61)
    assert term.step(0x62) is not first
    assert term.step(0x61) is first
    assert term.step(0x63) is term.arena.empty


def test_a_dead_first_byte_leaves_the_others_alive() -> None:
    term = StringBody.make(Arena(), one_of(("ab", "b")), Spelling(False))
    assert term.step(0x63) is term.arena.empty
    assert term.step(0x63) is term.arena.empty
    assert term.walk(b'ab"').nullable
