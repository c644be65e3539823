"""Hold grammars that are hard for the left corners to what their rules denote, worked out without the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

import pytest

from commitgate.automaton import Arena, Term
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.grammar.compiler import rules_term
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    NOTHING,
    Characters,
    Either,
    Expression,
    Named,
    Row,
    Rules,
    Times,
    Word,
    Words,
)
from commitgate.automaton.grammar.left_corner import LeftCorners
from commitgate.automaton.grammar.symbols import Nonterminal, Production, Terminal, prune

_A, _B, _C = Word("a"), Word("b"), Word("c")
_START, _ONE, _TWO = Named("start"), Named("one"), Named("two")
_BLANK = Either((Row((_B, Named("blank"), _B)), EMPTY_TEXT))
"""A rule of the name ``blank``: recursive, and it may be empty."""


def _any(*options: Expression) -> Expression:
    return Either(options)


def _row(*parts: Expression) -> Expression:
    return Row(parts)


_GRAMMARS: dict[str, dict[str, Expression]] = {
    "rounds of a goal that is not whole yet": {
        "start": _row(_ONE, _C),
        "one": _any(_row(_ONE, _A), _row(_TWO, _B), _B),
        "two": _any(_row(_TWO, _A), _row(_ONE, _A)),
    },
    "two circles through one corner": {
        "start": _any(_row(_ONE, _A), _C),
        "one": _any(_row(_ONE, _B), _row(_START, _B)),
    },
    "a circle that leaves for another": {
        "start": _any(_row(_START, _A), _row(_ONE, _B)),
        "one": _any(_row(_ONE, _C), _A),
    },
    "empty beginnings": {
        "start": _any(_row(Named("blank"), _START, _A), _C),
        "blank": _BLANK,
    },
    "empty ends": {
        "start": _any(_row(_START, Named("blank")), _row(_ONE, Named("blank"))),
        "one": _any(_row(_ONE, _A, Named("blank")), _C),
        "blank": _BLANK,
    },
    "a chain of names": {
        "start": _any(_ONE, _row(_START, _A)),
        "one": _any(_TWO, _row(_ONE, _B)),
        "two": _any(_START, _C),
    },
    "rounds of what is recursive": {
        "start": _any(_row(Times(_START, 2, 3), _A), _B),
    },
    "rounds of what may be empty": {
        "start": _row(Times(Named("blank"), 2, 3), _A),
        "blank": _any(_row(_B, Named("blank")), EMPTY_TEXT),
    },
    "rounds of what may be empty, behind a word": {
        "start": _row(_C, Times(Named("blank"), 2, 3), _A),
        "blank": _any(_row(_B, Named("blank")), EMPTY_TEXT),
    },
    "two rounds at most": {
        "start": _row(Times(_ONE, 1, 2), _C),
        "one": _any(_row(_B, _ONE), _A),
    },
    "rounds behind a recursion": {
        "start": _any(_row(_START, Times(_ONE, 0, 2), _A), _C),
        "one": _any(_row(_B, _ONE, _B), _B),
    },
    "at least so many rounds": {
        "start": _row(Times(_ONE, 3, None), _C),
        "one": _any(_row(_A, _ONE, _B), _A),
    },
    "rounds that begin alike and end apart": {
        "start": _any(_row(Times(_ONE, 1, 1), _A), _row(Times(_ONE, 0, 2), _B)),
        "one": _any(_row(_A, _ONE), _A),
    },
    "rounds of rounds": {
        "start": _row(Times(Times(_ONE, 2, 3), 1, 2), _C),
        "one": _any(_row(_B, _ONE), _A),
    },
    "a word that may be empty before a recursion": {
        "start": _any(_row(Times(_A, 0, 2), _START, _B), _C, EMPTY_TEXT),
    },
    "a rule without a text": {
        "start": _any(_row(_A, _ONE), _row(_B, NOTHING, _START), _row(_START, _C), _B),
        "one": _any(_row(_A, _ONE), _row(_ONE, _TWO)),
        "two": _any(_row(_A, _TWO), _row(Characters(CharacterSet.of([])), _START)),
    },
    "a rule with the empty text alone": {
        "start": _any(_row(_ONE, _START, _ONE, _A), _row(_ONE, _B, _ONE)),
        "one": _any(_row(_ONE, _ONE), EMPTY_TEXT),
    },
    "rounds of the empty text": {
        "start": _any(_row(Times(_ONE, 2, None), _START, _A), _B),
        "one": _any(_ONE, EMPTY_TEXT),
    },
    "rounds of nothing": {
        "start": _any(_row(Times(_ONE, 0, 2), _START, _A), _row(Times(_ONE, 1, 2), _B), _B),
        "one": _row(_ONE, _A),
    },
    "words and rules as options": {
        "start": _any(Words(("", "ab", "b")), _row(_START, _C), _row(_A, _START, _B)),
    },
    "what is learnt late": {
        "start": _any(_row(_ONE, _A), _B),
        "one": _any(_row(_TWO, _C), _TWO),
        "two": _any(_row(Named("blank"), _START), Named("blank")),
        "blank": _BLANK,
    },
    "one corner in two goals": {
        "start": _any(_row(_ONE, _ONE), _row(_A, _TWO)),
        "one": _any(_row(_TWO, _B), _A),
        "two": _any(_row(_ONE, _C), _A),
    },
    "terms around a recursion": {
        "start": _any(_row(_A, _B, _START, _B, _A), _row(_A, _B)),
    },
}

_GRAMMARS["counted letters of their own"] = {
    "start": _row(_any(_row(_A, Times(_A, 1, 2)), _row(_B, Times(_any(_A, EMPTY_TEXT), 2, 3))), Times(_C, 0, 1)),
}

_LONGEST = 6


def _joined(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    return frozenset(head + rest for head in first for rest in second if len(head + rest) <= _LONGEST)


def _denoted(expression: Expression, known: dict[str, frozenset[str]]) -> frozenset[str]:
    match expression:
        case Word(text):
            return frozenset({text})
        case Words(texts):
            return frozenset(texts)
        case Characters(members):
            return frozenset(letter for letter in "abc" if ord(letter) in members)
        case Named(name):
            return known[name]
        case Row(parts):
            found = frozenset({""})
            for part in parts:
                found = _joined(found, _denoted(part, known))
            return found
        case Either(options):
            return frozenset[str]().union(*(_denoted(option, known) for option in options))
        case Times(item, least, most):
            inner, found = _denoted(item, known), frozenset({""})
            for _ in range(least):
                found = _joined(found, inner)
            every = found
            for _ in range(_LONGEST if most is None else most - least):
                found = _joined(found, inner)
                every |= found
            return every
        case _:
            raise AssertionError


def _texts(rules: dict[str, Expression]) -> frozenset[str]:
    known = dict.fromkeys(rules, frozenset[str]())
    while True:
        following = {name: _denoted(expression, known) for name, expression in rules.items()}
        if following == known:
            return known["start"]
        known = following


def _walked(rules: dict[str, Expression], alphabet: bytes | None = None) -> tuple[Term, set[str], set[str]]:
    """Return the term, the short texts that it accepts, and those after which it lives."""
    start = rules_term(Rules("start", rules), Arena(max_states=20_000), "accept", alphabet)
    accepted: set[str] = set()
    alive: set[str] = set()
    level = [("", start)]
    while level:
        alive.update(text for text, _ in level)
        accepted.update(text for text, state in level if state.nullable)
        level = [
            (text + letter, following)
            for text, state in level
            if len(text) < _LONGEST
            for letter in "abc"
            if (following := state.step(ord(letter))) is not start.arena.empty
        ]
    return start, accepted, alive


@pytest.mark.parametrize("name", _GRAMMARS)
def test_a_hard_grammar_accepts_what_its_rules_denote_and_lives_no_longer(name: str) -> None:
    rules = _GRAMMARS[name]
    wanted = _texts(rules)
    assert any(wanted), "a grammar without a text would show nothing"
    _, accepted, alive = _walked(rules)
    assert accepted == wanted
    # Of texts this short, what lives is the beginning of a text that is a little longer.
    assert {text[:size] for text in wanted for size in range(len(text) + 1)} <= alive
    for text in sorted(alive):
        state = _walk(rules, text)
        assert _can_end(state), text


def _walk(rules: dict[str, Expression], text: str) -> Term:
    return rules_term(Rules("start", rules), Arena(), "accept", None).walk(text.encode())


def _can_end(state: Term) -> bool:
    seen = {state}
    level = [state]
    for _ in range(20):
        if any(each.nullable for each in level):
            return True
        following = dict.fromkeys(each for one in level for _, each in one.successors())
        level = [each for each in following if each not in seen]
        seen.update(level)
    return False


@pytest.mark.parametrize("name", _GRAMMARS)
def test_a_hard_grammar_over_fewer_letters_keeps_the_texts_of_those_letters(name: str) -> None:
    rules = _GRAMMARS[name]
    for alphabet in (b"ab", b"ac", b"bc"):
        wanted = {text for text in _texts(rules) if set(text.encode()) <= set(alphabet)}
        start, accepted, _ = _walked(rules, alphabet)
        assert accepted == wanted
        assert start is start.arena.empty or _can_end(start)


@pytest.mark.parametrize("name", _GRAMMARS)
def test_states_of_a_hard_grammar_agree_with_their_saturated_ones(name: str) -> None:
    start, _, alive = _walked(_GRAMMARS[name])
    empty = start.arena.empty
    for text in sorted(alive, key=len)[:40]:
        state = start.walk(text.encode())
        for reach in (1, 3):
            saturated = state.saturated(reach)
            for size in range(reach + 1):
                for word in product(b"abc", repeat=size):
                    here, there = state.walk(bytes(word)), saturated.walk(bytes(word))
                    assert (here is empty, here.nullable) == (there is empty, there.nullable)


@pytest.mark.parametrize(
    ("name", "pattern", "texts"),
    [
        ("two circles through one corner", "c(b+a)*", ["c" + "bba" * 40, "c" + "ba" * 40 + "b" * 40 + "a", "cabba"]),
        ("a circle that leaves for another", "ac*ba*", ["a" + "c" * 30 + "b" + "a" * 30, "acba" + "b"]),
        (
            "rounds of a goal that is not whole yet",
            "b(a|a+b)*c",
            ["b" + "a" * 40 + "bc", "b" + "aab" * 9 + "aaac", "bc", "b" + "a" * 9 + "bbc"],
        ),
    ],
)
def test_rounds_go_on_for_as_long_as_the_text(name: str, pattern: str, texts: list[str]) -> None:
    for text in texts:
        assert _walk(_GRAMMARS[name], text).nullable == (re.fullmatch(pattern, text) is not None), text


def test_a_goal_that_may_end_with_nothing_behind_it_is_finished() -> None:
    start, _, _ = _walked(_GRAMMARS["a rule with the empty text alone"])
    assert start.walk(b"b").nullable
    assert [members for members, _ in start.walk(b"b").successors()] == [b"a"]


def _goal(rows: Iterable[Production]) -> Nonterminal:
    goal = Nonterminal("goal", list(rows))
    prune([goal])
    return goal


def test_ways_to_begin_a_rule_are_work_and_are_kept() -> None:
    arena = Arena()
    terminals = [Terminal(arena.literal(b"%d" % number)) for number in range(200)]
    goal = _goal((terminal,) for terminal in terminals)
    work, states = arena.work, len(arena)
    assert len(LeftCorners(arena).uses(goal)) == 200
    assert arena.work >= work + 200
    assert len(arena) >= states + 200 // 4


def test_ways_to_go_on_behind_a_corner_are_work_and_are_kept() -> None:
    arena = Arena()
    first, *others = [Terminal(arena.literal(b"%d" % number)) for number in range(201)]
    goal = _goal((first, other) for other in others)
    corners = LeftCorners(arena)
    corners.uses(goal)
    work, states = arena.work, len(arena)
    corners.completion(goal, first)
    assert arena.work >= work + 200
    assert len(arena) >= states + 200 // 4
