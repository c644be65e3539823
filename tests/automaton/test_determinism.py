"""Regular rules become one deterministic automaton of exactly their texts, in bounded work."""

from __future__ import annotations

from itertools import product

import pytest

from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.grammar.determinism import NotRegularError, regular_automaton
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    NOTHING,
    Characters,
    Embedded,
    Expression,
    Named,
    Regular,
    Rules,
    Times,
    Word,
    Words,
    either,
    row,
)
from commitgate.automaton.text_language import TextLanguage, over_characters
from commitgate.contract import Contract

TEXTS = ["".join(letters) for length in range(7) for letters in product("ab", repeat=length)]


def texts_of(start: Expression, **further: Expression) -> list[str]:
    """Return the texts of rules, out of all of up to six letters."""
    dfa = regular_automaton(Rules("start", {"start": start, **further}), most_steps=10_000)
    return [] if dfa is None else [text for text in TEXTS if dfa.accepts(text)]


def of_letters(least: int, most: int | None) -> Regular:
    letters = over_characters(CharacterSet.of_text("ab"))
    assert letters is not None
    return Regular(TextLanguage(letters.dfa, least, most))


@pytest.mark.parametrize(("least", "most"), [(0, None), (2, None), (0, 3), (2, 4), (3, 3)])
def test_lengths_that_an_automaton_keeps_outside_are_worked_in(least: int, most: int | None) -> None:
    found = texts_of(of_letters(least, most))
    assert found == [text for text in TEXTS if least <= len(text) and (most is None or len(text) <= most)]


def test_lengths_hold_for_their_own_part_alone() -> None:
    found = texts_of(row([Word("b"), of_letters(1, 2), Word("b")]))
    assert found == [text for text in TEXTS if text[:1] == text[-1:] == "b" and 3 <= len(text) <= 4]


@pytest.mark.parametrize(("least", "most"), [(0, 1), (1, 1), (0, 3), (2, 5), (0, None), (1, None), (3, None)])
def test_counts_are_unrolled(least: int, most: int | None) -> None:
    found = texts_of(Times(Word("a"), least, most))
    assert found == ["a" * count for count in range(7) if least <= count and (most is None or count <= most)]


def test_a_name_at_the_end_is_a_loop() -> None:
    found = texts_of(either([row([Word("ab"), Named("start")]), row([Word("a"), Named("end")])]), end=Word("a"))
    assert found == ["aa", "abaa", "ababaa"]


def test_a_name_within_goes_on_behind_it() -> None:
    assert texts_of(row([Named("one"), Named("one"), Word("b")]), one=either([Word("a"), EMPTY_TEXT])) == [
        "b",
        "ab",
        "aab",
    ]


def test_a_circle_of_names_that_reads_nothing_ends() -> None:
    assert texts_of(either([Named("other"), Word("a")]), other=Named("start")) == ["a"]


@pytest.mark.parametrize("nothing", [NOTHING, Words(()), Characters(CharacterSet(())), Named("start")])
def test_rules_without_a_text_have_no_automaton(nothing: Expression) -> None:
    assert regular_automaton(Rules("start", {"start": row([Word("a"), nothing])}), most_steps=1_000) is None


def test_the_automaton_is_the_smallest() -> None:
    dfa = regular_automaton(Rules("start", {"start": Words(("aab", "abb", "b"))}), most_steps=1_000)
    assert dfa is not None
    assert len(dfa) == 4


@pytest.mark.parametrize(
    "expression",
    [
        Times(EMPTY_TEXT, 10**9, 10**9),
        Times(Word("a"), 0, 10**9),
        Times(Times(Word("a"), 0, 1_000), 0, 1_000),
        of_letters(0, 10**9),
        of_letters(10**9, None),
        row([Named("start"), Word("a")]),
        row([Word("a"), Named("start"), Word("b")]),
        Word("a" * 10_001),
    ],
    ids=["nothing", "count", "counts", "most", "least", "left", "within", "word"],
)
def test_what_takes_too_much_is_refused_in_time(expression: Expression) -> None:
    with pytest.raises(TooManyStates, match="10000 steps"):
        texts_of(expression)


def test_json_within_is_refused() -> None:
    with pytest.raises(NotRegularError):
        texts_of(row([Word("a"), Embedded(Contract.json_schema({"type": "integer"}))]))
