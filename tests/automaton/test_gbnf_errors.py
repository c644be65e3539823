"""Grammars in GBNF: what is refused, where, and in which words; and the limits."""

from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.automaton.grammar.expression import Word
from commitgate.automaton.grammar.gbnf import gbnf_rules
from commitgate.contract import Contract
from commitgate.errors import ContractError, LimitExceededError, NotationError, UnsupportedError
from commitgate.languages import Grammar
from commitgate.limits import Limits

HERE = "▲"
"""Marks in a grammar where the error points."""


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        # rules
        ('▲::= "a"', "the name of a rule, found ':'"),
        ('▲"a"', "the name of a rule, found '\"'"),
        ('▲é ::= "a"', "found U+00E9"),
        ('▲\ufeffroot ::= "a"', "found U+FEFF"),
        ('root ▲"a"', "'::=' behind the name of a rule"),
        ('root ▲:= "a"', "'::='"),
        ('root ▲\n::= "a"', "found the end of the line"),
        ("root▲", "found the end of the grammar"),
        ('root ::= "a" ▲::= "b"', "found ':'"),
        ('root ::= "a" |\nx ▲::= "b"', 'the next line goes on; write "" there'),
        ('root ::=\nx ▲::= "b"', "the next line goes on"),
        ('root ::= "a"▲)', "no group is open"),
        ('root ::= "a" ▲$', "found '$'"),
        ("root ::= ▲'a'", 'found "\'"'),
        ('root ::= "a"▲\u00a0"b"', "found U+00A0"),
        ('root ::= "a"\n▲| "b"', "the name of a rule, found '|'"),
        ('root ::= "a"\n▲root ::= "b"', "stands already at line 1, column 1"),
        ('root ::= "a" ▲x', "no rule 'x'"),
        ('root ::= "a"\nspare ::= ▲x x', "no rule 'x'"),
        ('root ::= ▲first "a"\nspare ::= second', "no rule 'first'"),
        # texts
        ('root ::= ▲"a', "closing '\"' is missing"),
        ('root ::= ▲"a\\"', "closing '\"' is missing"),
        ('root ::= "a▲\\', "an escape that GBNF does not have"),
        ('root ::= "▲\\q"', "an escape that GBNF does not have"),
        ('root ::= "▲\\/"', "an escape that GBNF does not have"),
        ('root ::= "▲\\x4"', "needs 2 hexadecimal digits, found 1"),
        ('root ::= "▲\\u12 4"', "needs 4 hexadecimal digits, found 2"),
        ('root ::= "▲\\U0001F60"', "needs 8 hexadecimal digits, found 7"),
        ('root ::= "▲\\x٣٣"', "found 0"),
        ('root ::= "a▲\\uD83D\\uDE00"', "surrogate"),
        ('root ::= "a▲\\U0000DFFF"', "surrogate"),
        ('root ::= "a▲\\U00110000"', "U+10FFFF"),
        ('root ::= "a▲\0"', "U+0000"),
        ('root ::= "a" # ▲\0', "U+0000"),
        # classes
        ("root ::= ▲[a", "closing ']' is missing"),
        ("root ::= ▲[a-", "closing ']' is missing"),
        ("root ::= ▲[", "closing ']' is missing"),
        ("root ::= ▲[]", 'write ""'),
        ("root ::= ▲[]a]", 'write ""'),
        ("root ::= ▲[^]", "write ."),
        ("root ::= [a▲z-b]", "U+0062, before its first U+007A"),
        ("root ::= [a▲\\--\\x20]", "U+0020, before its first U+002D"),
        ("root ::= [▲\\d]", "an escape that GBNF does not have"),
        ("root ::= [▲\\uD800-\\uDFFF]", "surrogate"),
        # groups
        ('root ::= ("a"▲', "the group that begins at line 1, column 10"),
        ('root ::= ("a" | ("b" "c")▲', "the group that begins at line 1, column 10"),
        ('root ::= (\n"a"\nx ▲::= "b"', "found ':'"),
        ("root ::= ( ▲]", "found ']'"),
        # repetitions
        ("root ::= ▲*", "something to repeat"),
        ('root ::= "a" | ▲+', "something to repeat"),
        ("root ::= (▲?)", "something to repeat"),
        ("root ::= ▲{2}", "something to repeat"),
        ('root ::= ""▲*', "found the empty text"),
        ('root ::= "a" ""▲*', "found the empty text"),
        ('root ::= "a"{0}▲*', "found the empty text"),
        ('root ::= ("a"){0,0}▲{2}', "found the empty text"),
        ('root ::= "a"{▲,}', "{0,n}"),
        ('root ::= "a"{▲,10}', "{0,n}"),
        ('root ::= "a"{▲}', "found '}'"),
        ('root ::= "a"{▲-1}', "found '-'"),
        ('root ::= "a"{▲٣}', "found U+0663"),
        ('root ::= "a"{1▲', "',' or '}'"),
        ('root ::= "a"{1▲;2}', "',' or '}'"),
        ('root ::= "a"{1,2▲', "'}' behind the counts"),
        ('root ::= "a"{1,▲x}', "wanted a count"),
        ('root ::= "a"{▲\n2}', "found the end of the line"),
        ('root ::= "a"{3,▲2}', "smaller than the least"),
        # tokens
        ("root ::= !▲x", "'<' behind '!'"),
    ],
)
def test_what_is_no_gbnf(marked: str, words: str) -> None:
    text, at = marked.replace(HERE, ""), marked.index(HERE)
    with pytest.raises(NotationError) as caught:
        gbnf_rules(text, None, Limits())
    assert caught.value.position == at
    assert caught.value.keyword == "grammar"
    assert words in str(caught.value)
    before = text[:at].split("\n")
    assert str(caught.value).startswith(f"line {len(before)}, column {len(before[-1]) + 1}: ")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_every_kind_of_line_end(end: str) -> None:
    with pytest.raises(NotationError, match=r"^line 4, column 5: "):
        gbnf_rules(f'# first{end}{end}root ::= "a"{end}  x $', None, Limits())


@pytest.mark.parametrize("token", ["<think>", "<[1000]>", "!<[1000]>", "!</think>", "<"])
def test_tokens_are_refused_with_the_reason(token: str) -> None:
    with pytest.raises(UnsupportedError, match=r"^line 1, column 14: .* token") as caught:
        gbnf_rules(f'root ::= "a" {token} .*', None, Limits())
    assert (caught.value.position, caught.value.keyword, caught.value.pointer) == (13, "grammar", "")
    assert "tokens" in caught.value.reason


@pytest.mark.parametrize("text", ["", " \n", "# nothing"])
def test_grammar_without_rules(text: str) -> None:
    with pytest.raises(NotationError, match="has no rules"):
        gbnf_rules(text, None, Limits())


def test_missing_start_names_rules_that_there_are() -> None:
    with pytest.raises(NotationError, match=r"no rule 'root' to start with; it has 'a', 'b'$"):
        gbnf_rules('a ::= "x"\nb ::= "y"', None, Limits())
    many = "".join(f'r{number} ::= "x"\n' for number in range(9))
    with pytest.raises(NotationError, match=r"no rule 'Root' to start with; it has 'r0', .*'r4' and 4 more$") as caught:
        gbnf_rules(many, "Root", Limits())
    assert (caught.value.position, caught.value.keyword) == (None, "grammar")


def test_long_names_are_cut_in_messages() -> None:
    with pytest.raises(NotationError) as caught:
        gbnf_rules(f"{'a' * 5000} ::= {'b' * 5000}", None, Limits())
    assert len(str(caught.value)) < 200


# Limits.

SIZES: list[tuple[str, Callable[[int], str], Callable[[int], int]]] = [
    ("grammar_rules", lambda count: "".join(f'r{number} ::= "x"\n' for number in range(count)), lambda _: 33),
    ("grammar_symbols", lambda count: "r0 ::= " + '"' + "x" * 20 + '" ' + "[x] " * (count - 1), lambda _: 38),
    ("grammar_symbols", lambda count: 'r0 ::= "xxxxxxxxxxxxxxxxxxxx"' + "|" * count, lambda count: 29 + count - 1),
    ("schema_nesting", lambda count: "r0 ::= " + "(" * count + '"x"' + ")" * count, lambda _: 10),
    ("schema_nesting", lambda count: 'r0 ::= "xx"' + "?" * (count + 1), lambda _: 15),
]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    ("name", "of", "at"), SIZES, ids=["rules", "symbols", "empty alternatives", "groups", "repetitions"]
)
def test_what_a_limit_takes(name: str, of: Callable[[int], str], at: Callable[[int], int], count: int) -> None:
    del at
    gbnf_rules(of(count), "r0", Limits(**{name: 3}))


@pytest.mark.parametrize(
    ("name", "of", "at"), SIZES, ids=["rules", "symbols", "empty alternatives", "groups", "repetitions"]
)
def test_what_passes_a_limit(name: str, of: Callable[[int], str], at: Callable[[int], int]) -> None:
    with pytest.raises(LimitExceededError) as caught:
        gbnf_rules(of(4), "r0", Limits(**{name: 3}))
    error = caught.value
    assert (error.limit_name, error.limit, error.found, error.keyword) == (name, 3, 4, "grammar")
    assert error.position == at(4)


@pytest.mark.parametrize(
    ("name", "of", "at"), SIZES, ids=["rules", "symbols", "empty alternatives", "groups", "repetitions"]
)
def test_limits_are_on_by_default(name: str, of: Callable[[int], str], at: Callable[[int], int]) -> None:
    del at
    with pytest.raises(LimitExceededError) as caught:
        Contract.of(Grammar(of(getattr(Limits(), name) + 1), start="r0"))
    assert caught.value.limit_name == name


def test_counting_begins_anew_with_each_grammar_and_depth_with_each_rule() -> None:
    limits = Limits(schema_nesting=2, grammar_symbols=6)
    text = 'a ::= (("x")) \n b ::= (("x"))'
    for _ in range(2):
        assert gbnf_rules(text, "a", limits).rules == {"a": Word("x"), "b": Word("x")}


def test_groups_side_by_side_do_not_nest() -> None:
    gbnf_rules("root ::= " + '("x" | "y")* ' * 50, None, Limits(schema_nesting=1))


@pytest.mark.parametrize("text", ['root ::= (("x"*)*)**', "root ::= (x*? y)**\nx ::= y\ny ::= x"])
def test_repetitions_within_groups_and_groups_within_repetitions_nest_together(text: str) -> None:
    gbnf_rules(text, None, Limits(schema_nesting=3))
    with pytest.raises(LimitExceededError) as caught:
        gbnf_rules(text, None, Limits(schema_nesting=2))
    assert caught.value.position == text.rindex("*")


def test_repetitions_of_a_repetition_deep_in_groups_nest() -> None:
    text = 'root ::= (("x"*?))'
    gbnf_rules(text, None, Limits(schema_nesting=3))
    with pytest.raises(LimitExceededError) as caught:
        gbnf_rules(text, None, Limits(schema_nesting=2))
    assert caught.value.position == text.index("?")


def calls(text: str) -> int:
    """Return how many functions are called to read a grammar, those in C counted: a measure of work without a clock."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        del frame, argument
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with contextlib.suppress(ContractError):
            gbnf_rules(text, None, Limits(grammar_symbols=1_000_000))
    finally:
        sys.setprofile(before)
    return count


def names(count: int, joint: str) -> str:
    return joint.join(f"n{number}" for number in range(count))


@pytest.mark.parametrize(
    "of",
    [
        lambda size: "root ::= " + '"a" ' * size,
        lambda size: "root ::= " + "|" * size,
        lambda size: "root ::= " + '"a" | ' * size,
        lambda size: "root ::= [" + r"\x41" * size + "]",
        lambda size: "root ::= [" + "a-b" * size + "]",
        lambda size: 'root ::= "' + r"\n" * size,
        lambda size: 'root ::= "a"' + " #\n" * size,
        lambda size: "root ::= " + "(" * size,
        lambda size: 'root ::= "a"' + "*" * size,
        lambda size: 'root ::= "a"{' + "9" * size + "}",
        lambda size: "".join(f"n{number} ::= n{number + 1}\n" for number in range(size)),
    ],
    ids=range(11),
)
def test_twice_the_text_is_twice_the_work(of: Callable[[int], str]) -> None:
    assert calls(of(2_000)) <= 2 * calls(of(1_000)) + 500


@pytest.mark.parametrize(
    "of",
    [
        lambda size: "root ::= " + "(" * 100 + names(size, " ") + ") x" * 100,
        lambda size: "root ::= " + "(x " * 100 + names(size, " ") + ")" * 100,
        lambda size: "root ::= " + "(" * 100 + names(size, "|") + ") | x" * 100,
        lambda size: "root ::= " + "(x | " * 100 + names(size, "|") + ")" * 100,
        lambda size: "root ::= " + "(x | y " * 100 + names(size, "|") + ")" * 100,
        lambda size: "root ::= " + "(x " * 100 + names(size, " ") + ")*" * 100,
    ],
    ids=range(6),
)
def test_groups_around_it_do_not_multiply_the_work(of: Callable[[int], str]) -> None:
    assert calls(of(2_000)) - calls(of(1_000)) <= 1.1 * (
        calls("root ::= " + names(2_000, "|")) - calls("root ::= " + names(1_000, "|"))
    )


PIECES = [
    '"a"',
    "[a-z]",
    "[^",
    "]",
    "(",
    ")",
    "|",
    "*",
    "{2,",
    "}",
    "root",
    "::=",
    "\n",
    " ",
    "\\",
    '"',
    "#",
    "<",
    "é",
    ".",
    "-",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_every_text_is_a_grammar_or_an_error_of_ours_with_its_place(text: str) -> None:
    position: int | None = 0
    try:
        gbnf_rules("root ::= " + text, None, Limits())
    except (NotationError, UnsupportedError) as error:
        position = error.position
    assert position is not None
    assert 0 <= position <= len(text) + 9


def test_comments_take_no_memory() -> None:
    text = "#\r" * 200_000 + 'root ::= "a"'
    tracemalloc.start()
    try:
        gbnf_rules(text, None, Limits())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(text)
