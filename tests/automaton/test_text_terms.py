"""Test the terms of plain text, and how grammars become terms: recursion of every kind ends, states stay few."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import Arena, Automaton, Term, compile
from commitgate.automaton.characters import CharacterSet
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    Characters,
    Either,
    Expression,
    Named,
    Row,
    Times,
    Word,
    either,
    row,
)
from commitgate.automaton.grammar.flattening import MAX_DEPTH, flattened, parts_of
from commitgate.automaton.raw_text import NonEmpty, OneCharacter, Repeat, spellable
from commitgate.errors import LimitExceededError, UnsatisfiableError
from commitgate.languages import Choices, Grammar, Regex
from commitgate.limits import Limits


def _grammar(text: str, limits: Limits | None = None) -> Automaton:
    return compile(Grammar(text), limits=limits)


def _accepted(automaton: Automaton, letters: str, longest: int) -> set[str]:
    texts = ("".join(word) for length in range(longest + 1) for word in product(letters, repeat=length))
    return {text for text in texts if automaton.accepts(text.encode())}


@pytest.mark.parametrize(
    ("text", "letters", "wanted"),
    [
        ('root ::= root "+" "1" | "1"', "1+", {"1", "1+1", "1+1+1"}),
        ('root ::= opt root "+" "1" | "1"\nopt ::= ""', "1+", {"1", "1+1", "1+1+1"}),
        ('root ::= a\na ::= b | "1"\nb ::= a "+" "1"', "1+", {"1", "1+1", "1+1+1"}),
        ('root ::= root | a\na ::= root | "1"', "1", {"1"}),
        ('root ::= root root | "1" | ""', "1", {"", "1", "11", "111", "1111", "11111"}),
        ('root ::= (root "x"){0,2} "1"', "1x", {"1", "1x1", "1x1x1"}),
        ('root ::= (root?){2,3} "1"', "1", {"1", "11", "111", "1111", "11111"}),
        ('root ::= "(" root ")" root | ""', "()", {"", "()", "()()", "(())"}),
    ],
    ids=["direct", "behind the empty", "mutual", "circle", "ambiguous", "in rounds", "empty rounds", "nested"],
)
def test_recursion_of_every_kind_ends(text: str, letters: str, wanted: set[str]) -> None:
    assert _accepted(_grammar(text), letters, 5) == wanted


def test_a_rule_that_never_ends_is_left_out_and_alone_is_refused() -> None:
    grammar = _grammar('root ::= "a" | "b" loop\nloop ::= "c" loop')
    assert _accepted(grammar, "abc", 4) == {"a"}
    assert not grammar.acceptor().feed(b"b"), "a live state can be finished"
    with pytest.raises(UnsatisfiableError):
        _grammar('root ::= "b" root')


def test_a_sum_comes_back_to_the_same_state() -> None:
    grammar = _grammar('root ::= root "+" num | root "-" num | num\nnum ::= [0-9]+ | "(" root ")"')
    start = grammar.start.walk(b"1+1")
    assert start.walk(b"-22+3") is start
    assert len(grammar.arena) < 60


def test_doubled_recursion_keeps_one_state() -> None:
    grammar = _grammar('root ::= root root | "a"')
    assert grammar.start.walk(b"a" * 5) is grammar.start.walk(b"a" * 5000)


def test_a_chain_of_operators_before_a_recursion_grows_no_stack() -> None:
    grammar = _grammar('root ::= "-" root | root "+" root | [0-9]')
    assert grammar.start.walk(b"-" * 2000 + b"1") is grammar.start.walk(b"-1")


def test_deep_nesting_is_walked_without_recursion() -> None:
    grammar = _grammar('root ::= "(" root ")" | root "+" root | "x"')
    text = b"(" * 5000 + b"x" + b")" * 5000
    assert grammar.accepts(text)
    assert not grammar.accepts(text + b")")


def test_many_empty_parts_in_a_row_are_walked_without_recursion() -> None:
    parts = " ".join(f"r{index}" for index in range(300))
    rules = "\n".join(f'r{index} ::= "a" r{index} | ""' for index in range(300))
    grammar = _grammar(f"root ::= {parts} end\nend ::= [b]\n{rules}", Limits(step_work=10_000_000))
    assert grammar.accepts(b"aab")


def test_long_chains_of_rules_are_compiled_and_walked_without_recursion() -> None:
    left = "\n".join(f'r{index} ::= r{index + 1} "a" | "b"' for index in range(3000))
    assert _grammar(f'root ::= r0\n{left}\nr3000 ::= "c"').accepts(b"c" + b"a" * 3000)
    right = "\n".join(f'r{index} ::= "a" r{index + 1}' for index in range(3000))
    assert _grammar(f'root ::= r0\n{right}\nr3000 ::= "c"').accepts(b"a" * 3000 + b"c")


def test_doubling_by_rules_is_not_written_out() -> None:
    rules = "\n".join(f"r{index + 1} ::= r{index} r{index}" for index in range(60))
    grammar = _grammar(f'root ::= r60\n{rules}\nr0 ::= "a"')
    assert len(grammar.arena) < 2000
    assert grammar.acceptor().feed(b"a" * 1000)


def test_counts_are_not_unrolled() -> None:
    automaton = compile(Regex("(?:ab|c){3,100000}"))
    assert len(automaton.arena) < 20
    assert automaton.accepts(b"abc" * 1000)
    assert not automaton.accepts(b"abc")
    assert not automaton.accepts(b"c" * 100_001)
    assert automaton.accepts(b"c" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        ("(?:a{1000}){1000}", 1_000_000, 1_000_000),
        ("(?:(?:a{0,100}){0,100}){0,100}", 0, 1_000_000),
        ("(?:a+)+", 1, None),
        ("(?:a*){5}", 0, None),
        ("(?:a?){7}", 0, 7),
        ("a{2}a{3,5}a*", 5, None),
        ("aa*", 1, None),
    ],
)
def test_counts_of_counts_are_one_count(pattern: str, least: int, most: int | None) -> None:
    start = compile(Regex(pattern)).start
    assert isinstance(start, Repeat)
    assert (start.least, start.most) == (least, most)


def test_counts_that_leave_gaps_are_kept_apart() -> None:
    automaton = compile(Regex("(?:a{3,4}){1,2}"))
    assert [length for length in range(12) if automaton.accepts(b"a" * length)] == [3, 4, 6, 7, 8]
    automaton = compile(Regex("(?:a{2})*|(?:a{2}){5}a"))
    assert [length for length in range(13) if automaton.accepts(b"a" * length)] == [0, 2, 4, 6, 8, 10, 11, 12]


def test_rounds_that_differ_in_their_counts_alone_are_joined() -> None:
    arena = Arena()
    item = arena.literal(b"ab")
    assert arena.choice([Repeat.make(item, 1, 3), Repeat.make(item, 4, 9)]) is Repeat.make(item, 1, 9)
    assert arena.choice([Repeat.make(item, 1, 3), arena.epsilon]) is Repeat.make(item, 0, 3)
    apart = arena.choice([Repeat.make(item, 2, 3), Repeat.make(item, 5, 9)])
    assert [apart.walk(b"ab" * rounds).nullable for rounds in range(11)] == [
        rounds in (2, 3, 5, 6, 7, 8, 9) for rounds in range(11)
    ]


@given(st.text(min_size=1, max_size=4), st.text(max_size=8))
def test_a_character_is_read_as_its_utf8(members: str, text: str) -> None:
    arena = Arena()
    some = CharacterSet.of_text(members.encode(errors="ignore").decode())
    term = Repeat.make(OneCharacter.make(arena, some), 0, None)
    shown = text.encode(errors="ignore").decode()
    assert term.walk(shown.encode()).nullable == all(ord(character) in some for character in shown)


@pytest.mark.parametrize("data", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\x80", b"\xe2\x82"])
def test_what_is_no_utf8_is_no_text(data: bytes) -> None:
    assert not compile(Regex(r"[\s\S]*")).accepts(data)


def test_bytes_that_cannot_be_written_are_left_out_of_words_classes_and_patterns() -> None:
    alphabet = bytes(sorted(set(range(256)) - {0xF0, ord("x"), ord("9")}))
    for source in (Choices(["ax", "ab"]), Regex("ax|ab"), Regex("a[xb]"), Regex("(?=a)a[xb]"), Regex("a[b\U0001f600]")):
        automaton = compile(source, dialect="generate", alphabet=alphabet)
        after = automaton.start.walk(b"a")
        assert [bytes(members) for members, _ in after.successors()] == [b"b"]
        assert compile(source).start.walk(b"ab").nullable
    assert compile(Regex("[xy9]*"), dialect="generate", alphabet=alphabet).start.walk(b"yy").nullable
    nothing = compile(Choices(["x"]), dialect="generate", alphabet=alphabet)
    assert nothing.start is nothing.arena.empty


def test_bytes_that_cannot_be_written_are_left_out_of_a_pattern_that_is_read_as_a_whole() -> None:
    alphabet = bytes(sorted(set(range(256)) - {ord("x")}))
    source = Regex("(?=.*b)[abx]+")
    written = compile(source, dialect="generate", alphabet=alphabet)
    texts = ["".join(letters) for length in range(1, 4) for letters in product("abx", repeat=length)]
    assert {text for text in texts if written.start.walk(text.encode()).nullable} == {
        text for text in texts if "b" in text and "x" not in text
    }
    assert all(compile(source).accepts(text.encode()) for text in texts if "b" in text)


def test_a_pattern_that_is_read_as_a_whole_is_finished_where_nothing_can_follow() -> None:
    acceptor = compile(Regex("(?=.*b)[abé]{2,3}")).acceptor()
    acceptor.feed(b"bb" + "é".encode()[:1])
    assert not acceptor.is_accepting
    acceptor.feed("é".encode()[1:])
    assert acceptor.is_finished


def test_fewest_bytes_count_each_round_and_what_a_character_lacks() -> None:
    arena = Arena()
    assert Repeat.make(arena.literal(b"ab"), 3, 5).least_bytes == 6
    term = compile(Regex("[\U0001f600-\U0001f602]")).start
    for at, byte in enumerate("\U0001f600".encode(), 1):
        term = term.step(byte)
        assert term.least_bytes == 4 - at


def test_rounds_that_meet_are_joined_with_all_their_counts() -> None:
    arena = Arena()
    item, end = arena.literal(b"ab"), arena.literal(b"c")
    few, more = Repeat.make(item, 1, 2), Repeat.make(item, 0, 3)
    within = arena.choice((Repeat.make(item, 1, 9), Repeat.make(item, 2, 3)))
    for term, last, counts in (
        (arena.sequence(few, more), b"", range(1, 6)),
        (arena.sequence(few, arena.sequence(more, end)), b"c", range(1, 6)),
        (within, b"", range(1, 10)),
    ):
        assert [count for count in range(12) if term.walk(b"ab" * count + last).nullable] == list(counts)


def test_an_alphabet_without_every_continuation_byte_writes_ascii_alone() -> None:
    assert spellable(bytes(range(0x80))).ranges == ((0, 0x7F),)
    assert spellable(bytes(sorted(set(range(256)) - {0x80}))).ranges == ((0, 0x7F),)
    assert spellable(None).complement().is_empty


def test_words_beside_each_other_are_one_sorted_set() -> None:
    words = " | ".join(f'"word{index:05}"' for index in range(5000))
    grammar = _grammar(f"root ::= {words}")
    assert len(grammar.arena) < 20
    assert grammar.accepts(b"word04711")
    assert not grammar.accepts(b"word05000")


def _ways(count: int) -> Regex:
    return Regex("|".join(f"[ab]{{{rounds}}}c{rounds:03}" for rounds in range(1, count + 1)))


def test_too_many_ways_at_once_are_a_typed_limit() -> None:
    assert compile(_ways(20), limits=Limits(alternatives=20)).accepts(b"aac002")
    with pytest.raises(LimitExceededError) as caught:
        compile(_ways(21), limits=Limits(alternatives=20))
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("alternatives", 20, 21)


def test_a_state_with_many_alternatives_counts_for_more_than_one() -> None:
    arena = Arena()
    before = len(arena)
    arena.choice(Repeat.make(arena.literal(b"a%d" % number), 2, 2) for number in range(1600))
    assert len(arena) == before + 1 + 400 + 2 * 1600


def test_rounds_of_one_thing_are_one_way() -> None:
    automaton = compile(Regex(".*a.{200}"), limits=Limits(alternatives=20))
    assert automaton.accepts(b"a" * 300)
    assert not automaton.accepts(b"a" * 200)


def test_work_of_one_step_is_bounded() -> None:
    arena = Arena(max_step_work=3)
    words = [arena.literal(b"%d" % number) for number in range(3)]
    arena.choice(words * 2)
    arena.begin_step()
    arena.choice(words)
    arena.begin_step()
    arena.choice(words)
    with pytest.raises(LimitExceededError) as caught:
        arena.choice(words[:2])
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("step_work", 3, 4)
    arena.begin_step()
    assert arena.choice(words[:2]).nullable is False, "the next step begins anew"


def _grammar_of_pairs() -> Grammar:
    return Grammar('root ::= "a" root "a" | "b" root "b" | [ab] [ab] | root root')


def test_work_of_a_long_text_is_allowed_by_its_length() -> None:
    automaton = compile(_grammar_of_pairs(), limits=Limits(step_work=30_000))
    assert automaton.accepts(b"ab" * 300)
    assert automaton.arena.work > 30_000


def test_what_is_not_empty_of_a_term_reads_as_the_term() -> None:
    arena = Arena()
    both = arena.choice([arena.epsilon, arena.literal(b"ab"), arena.literal(b"cd")])
    some = NonEmpty.make(both)
    assert not some.nullable
    assert some.step(ord("a")) is both.step(ord("a"))
    assert NonEmpty.make(arena.epsilon) is arena.empty
    assert not some.saturated(1).nullable


def _depth(expression: Expression) -> int:
    return 1 + max(map(_depth, parts_of(expression)), default=-1)


def test_deep_expressions_are_cut_into_rules() -> None:
    deep: Expression = Word("x")
    for _ in range(500):
        deep = Either((Row((Word("("), deep, Word(")"))), EMPTY_TEXT))
    found = flattened({"start": deep, "start·0": Word("y")})
    assert found["start·0"] == Word("y"), "a rule of the grammar keeps its name"
    assert all(_depth(expression) <= MAX_DEPTH for expression in found.values())
    assert len(found) > 500 * 2 // MAX_DEPTH


def test_groups_as_deep_as_the_limit_allows_are_read_and_walked() -> None:
    grammar = _grammar("root ::= " + '("y" | "z" ' * 127 + '"a"' + '"q")*' * 127)
    assert grammar.accepts(b"y" * 300)
    assert grammar.accepts(b"zyq" * 3)
    assert not grammar.accepts(b"zy")
    assert _grammar('root ::= "a"' + "?*" * 64).accepts(b"a" * 70)


_LETTERS = "ab"


def _expressions() -> st.SearchStrategy[Expression]:
    leaves: st.SearchStrategy[Expression] = st.sampled_from(
        [
            Word("a"),
            Word("b"),
            Word("ab"),
            Characters(CharacterSet.of_text("ab")),
            Named("start"),
            Named("other"),
            EMPTY_TEXT,
        ]
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3).map(row)
            | st.lists(inner, min_size=1, max_size=3).map(either)
            | st.tuples(inner, st.integers(0, 2), st.none() | st.integers(1, 3)).map(
                lambda found: Times(found[0], found[1], None if found[2] is None else max(found[1], found[2]))
            )
        ),
        max_leaves=6,
    )


def _texts_of(rules: dict[str, Expression], longest: int) -> set[str]:
    """Return the short texts of ``start``: the least fixpoint over sets of texts, whatever the engine does."""
    known: dict[str, frozenset[str]] = {name: frozenset() for name in rules}

    def found(expression: Expression) -> frozenset[str]:
        match expression:
            case Word(text):
                return frozenset({text} if len(text) <= longest else ())
            case Characters():
                return frozenset(_LETTERS)
            case Named(name):
                return known[name]
            case Row(parts):
                texts = frozenset({""})
                for part in parts:
                    texts = joined(texts, found(part))
                return texts
            case Either(options):
                return frozenset[str]().union(*map(found, options))
            case Times(item, least, most):
                inner = found(item)
                texts = frozenset({""})
                for _ in range(least):
                    texts = joined(texts, inner)
                every = texts
                for _ in range(longest if most is None else most - least):
                    texts = joined(texts, inner)
                    every |= texts
                return every
            case _:
                raise AssertionError

    def joined(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
        return frozenset(head + rest for head in first for rest in second if len(head + rest) <= longest)

    while True:
        following = {name: found(expression) for name, expression in rules.items()}
        if following == known:
            return set(known["start"])
        known = following


def _term(rules: dict[str, Expression]) -> Term:
    from commitgate.automaton.grammar.compiler import rules_term
    from commitgate.automaton.grammar.expression import Rules

    return rules_term(Rules("start", rules), Arena(), "accept", None)


@settings(max_examples=300, deadline=None)
@given(_expressions(), _expressions())
def test_a_grammar_accepts_what_its_rules_denote(start: Expression, other: Expression) -> None:
    rules = {"start": start, "other": other}
    wanted = _texts_of(rules, 4)
    term = _term(rules)
    texts = ["".join(word) for length in range(5) for word in product(_LETTERS, repeat=length)]
    assert {text for text in texts if term.walk(text.encode()).nullable} == wanted


@settings(max_examples=200, deadline=None)
@given(_expressions(), _expressions(), st.text(_LETTERS, max_size=4), st.integers(1, 3))
def test_a_saturated_state_agrees_as_far_as_it_promises(
    start: Expression, other: Expression, prefix: str, reach: int
) -> None:
    state = _term({"start": start, "other": other}).walk(prefix.encode())
    saturated = state.saturated(reach)
    empty = state.arena.empty
    for length in range(reach + 1):
        for word in product(_LETTERS.encode(), repeat=length):
            here, there = state.walk(bytes(word)), saturated.walk(bytes(word))
            assert (here is empty) == (there is empty)
            assert here.nullable == there.nullable


@settings(max_examples=200, deadline=None)
@given(_expressions(), _expressions(), st.text(_LETTERS, max_size=5))
def test_every_live_state_can_be_finished(start: Expression, other: Expression, prefix: str) -> None:
    state = _term({"start": start, "other": other}).walk(prefix.encode())
    if state is state.arena.empty:
        return
    reached = {state}
    level = [state]
    for _ in range(40):
        if any(each.nullable for each in reached):
            return
        level = [following for each in level for _, following in each.successors() if following not in reached]
        reached.update(level)
    raise AssertionError("no end within 40 bytes")


def test_a_step_of_another_reader_takes_nothing_from_a_long_text() -> None:
    automaton = compile(Regex("(?:a|[ab]c)*"), limits=Limits(step_work=100))
    arena = automaton.arena
    arena.begin_step()
    allowed = arena.work + 100
    arena.work += 60
    arena.begin_step()
    arena.spend(allowed - arena.work)
    with pytest.raises(LimitExceededError):
        arena.spend(61)


def test_a_walk_that_is_given_up_moves_nothing() -> None:
    acceptor = _grammar('root ::= "(" root ")" | "x"', Limits(states=200)).acceptor()
    assert acceptor.feed(b"((((")
    with pytest.raises(LimitExceededError):
        acceptor.feed(b"(" * 4000)
    assert acceptor.position == 4
    assert acceptor.feed(b"x))))")
    assert acceptor.is_accepting


def test_tables_of_left_corners_count_as_states() -> None:
    rules = "\n".join(f'r{index} ::= r{index + 1} o | "c{index}" o | "d{index}" r{index}' for index in range(60))
    grammar = _grammar(f'root ::= r0\n{rules}\nr60 ::= "e"\no ::= "(" o ")" | ""', Limits(step_work=100_000_000))
    before = len(grammar.arena)
    grammar.start.walk(b"d0d1")
    assert len(grammar.arena) - before > 3000
