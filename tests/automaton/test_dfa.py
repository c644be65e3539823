"""Deterministic automata over characters: one object for each language, set operations, bounds on their size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.automaton.alphabet import Alphabet
from commitgate.automaton.characters import ANY_CHARACTER, CharacterSet
from commitgate.automaton.dfa import ANY_DFA, MAX_DFA_STATES, Dfa, TooManyStates, explore
from commitgate.automaton.regex import pattern_language
from commitgate.automaton.text_language import of_texts

CODE_POINTS = st.one_of(
    st.integers(0, 0x10FFFF), st.sampled_from([0, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x10FFFF])
)
RANGES = st.lists(st.tuples(CODE_POINTS, CODE_POINTS).map(lambda ends: (min(ends), max(ends))), max_size=5)
TEXTS = st.text("abcé😀", max_size=4)
TABLES = st.lists(TEXTS, min_size=1, max_size=6)


def dfa_of(pattern: str) -> Dfa:
    language = pattern_language(pattern)
    assert language is not None
    return language.dfa


def dfa_of_texts(texts: list[str]) -> Dfa:
    language = of_texts(texts)
    assert language is not None
    return language.dfa


@given(first=RANGES, second=RANGES, point=CODE_POINTS)
def test_character_sets_obey_the_laws_of_sets(
    first: list[tuple[int, int]], second: list[tuple[int, int]], point: int
) -> None:
    mine, theirs = CharacterSet.of(first), CharacterSet.of(second)
    is_scalar = not 0xD800 <= point <= 0xDFFF
    in_mine = is_scalar and any(low <= point <= high for low, high in first)
    in_theirs = is_scalar and any(low <= point <= high for low, high in second)
    assert (point in mine) == in_mine
    assert (point in mine.union(theirs)) == (in_mine or in_theirs)
    assert (point in mine.intersection(theirs)) == (in_mine and in_theirs)
    assert (point in mine.complement()) == (is_scalar and not in_mine)
    assert mine.complement().complement() == mine
    assert mine.union(mine.complement()) == ANY_CHARACTER
    assert len(mine) + len(mine.complement()) == 0x110000 - 0x800


@given(first=RANGES, second=RANGES, point=CODE_POINTS)
def test_alphabet_tells_the_sets_apart(first: list[tuple[int, int]], second: list[tuple[int, int]], point: int) -> None:
    sets = [CharacterSet.of(first), CharacterSet.of(second)]
    alphabet, masks = Alphabet.telling_apart(sets)
    number = alphabet.number_of(point)
    assert [point in members for members in sets] == [number >= 0 and bool(mask >> number & 1) for mask in masks]


@given(texts=TABLES, pattern=st.sampled_from(["^[^a]*$", "^a", "[ab]b$", "^(?:a|é)?$", "^[^\\ud800-\\udfff]$"]))
def test_a_complement_is_what_all_texts_have_beside_it(texts: list[str], pattern: str) -> None:
    for dfa in (dfa_of(pattern), dfa_of_texts(texts), dfa_of(pattern).union(dfa_of_texts(texts))):
        any_text = Dfa(ANY_DFA.alphabet, ANY_DFA.rows, ANY_DFA.accepting)
        assert dfa.complement() == ANY_DFA.difference(dfa) == any_text.difference(dfa)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("^(?:a|b)$", "^[ab]$"),
        ("^(?:ab|ac)$", "^a[bc]$"),
        ("^(?:a*b*)*$", "^[ab]*$"),
        ("^(?=a)[a-z]$", "^a$"),
        ("^a{2,}$", "^aa+$"),
        ("^(?!b)[a-c]$", "^[ac]$"),
        ("^[^]*$", "^(?:.|[^.]|\n)*$"),
        ("a", "^[^a]*a"),
        ("(?<=a)b", "ab"),
    ],
)
def test_equal_languages_are_equal_objects(first: str, second: str) -> None:
    assert dfa_of(first) == dfa_of(second)
    assert hash(dfa_of(first)) == hash(dfa_of(second))


def test_states_are_numbered_breadth_first() -> None:
    assert dfa_of_texts(["ab", "cb", "d"]).transitions == (
        ((0x61, 0x61, 1), (0x63, 0x63, 1), (0x64, 0x64, 2)),
        ((0x62, 0x62, 2),),
        (),
    )


def test_surrogates_are_no_characters() -> None:
    assert ANY_DFA.transitions == (((0, 0xD7FF, 0), (0xE000, 0x10FFFF, 0)),)
    assert ANY_DFA.step(0, 0xD800) < 0


@given(first=TABLES, second=TABLES, text=TEXTS)
def test_operations_follow_membership(first: list[str], second: list[str], text: str) -> None:
    mine, theirs = dfa_of_texts(first), dfa_of_texts(second)
    in_mine, in_theirs = text in first, text in second
    assert mine.accepts(text) == in_mine
    assert mine.union(theirs).accepts(text) == (in_mine or in_theirs)
    both, difference, complement = mine.intersection(theirs), mine.difference(theirs), mine.complement()
    assert (both is not None and both.accepts(text)) == (in_mine and in_theirs)
    assert (difference is not None and difference.accepts(text)) == (in_mine and not in_theirs)
    assert complement is not None
    assert complement.accepts(text) == (not in_mine)


@given(first=TABLES, second=TABLES)
def test_operations_obey_the_laws_of_sets(first: list[str], second: list[str]) -> None:
    mine, theirs = dfa_of_texts(first), dfa_of_texts(second)
    others = mine.complement()
    assert others is not None
    assert others.complement() == mine
    assert others.union(mine) == ANY_DFA
    assert others.intersection(mine) is None
    their_others = theirs.complement()
    assert their_others is not None
    assert mine.union(theirs).complement() == others.intersection(their_others)
    assert mine.difference(theirs) == mine.intersection(their_others)


def test_every_state_is_live() -> None:
    both = dfa_of("^a.*x$").intersection(dfa_of("^.{0,4}$"))
    assert both is not None
    assert all(length >= 0 for length in both.lengths.shortest())


def test_nothing_is_left_of_everything() -> None:
    assert ANY_DFA.complement() is None
    assert dfa_of("^a").difference(dfa_of("a")) is None


def test_tail_of_an_automaton_is_the_automaton_of_what_remains() -> None:
    name = dfa_of("^ab[a-z]*$")
    tail, at = name.residual(name.step(name.step(0, ord("a")), ord("b")))
    assert (tail, at) == (dfa_of("^[a-z]*$"), 0)


def count_up_to(last: int) -> Dfa | None:
    alphabet, _ = Alphabet.telling_apart([ANY_CHARACTER])
    return explore(alphabet, 0, lambda state: [(0, state + 1)] if state < last else [], lambda state: state == last)


def test_automaton_at_the_bound_is_built() -> None:
    built = count_up_to(MAX_DFA_STATES - 1)
    assert built is not None
    assert len(built) == MAX_DFA_STATES


def test_automaton_over_the_bound_is_refused() -> None:
    with pytest.raises(TooManyStates) as caught:
        count_up_to(MAX_DFA_STATES)
    assert caught.value.limit == MAX_DFA_STATES
