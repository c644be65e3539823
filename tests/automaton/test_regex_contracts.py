"""Patterns as contracts of their own: the texts that a pattern matches whole, and what is refused with its place."""

from __future__ import annotations

import pytest

from commitgate.automaton import compile
from commitgate.automaton.grammar.expression import NOTHING, Characters, Either, Expression, Row, Times, Word
from commitgate.automaton.regex.expression import LARK_FLAGS, pattern_expression
from commitgate.contract import Contract
from commitgate.errors import LimitExceededError, NotationError, UnsatisfiableError, UnsupportedError
from commitgate.languages import Regex
from commitgate.limits import Limits


def read(pattern: str, flags: str = "") -> Expression:
    return pattern_expression(pattern, flags, Limits())


def check(pattern: str, valid: list[str], invalid: list[str], flags: str = "") -> None:
    automaton = compile(Regex(pattern, flags))
    assert [text for text in valid if not automaton.accepts(text.encode())] == []
    assert [text for text in invalid if automaton.accepts(text.encode())] == []


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        # A range whose last character ends in no round byte.
        ("[一-龥]+", ["道", "部金", "中", "龥"], ["a", "あ", "龦", ""]),
        # What is no space may be a bracket.
        (r"\S+", ["[", "a[b]", "x"], [" ", "a b", ""]),
        # Alternatives may be empty.
        ("(a|)b(c|d|)", ["ab", "b", "bc", "abd"], ["a", "abcd", ""]),
        # A lazy quantifier matches the same whole texts.
        ("a+?b{2,3}?", ["abb", "aaabbb"], ["ab", "bb", "abbbb"]),
        # The dot is a character, however many bytes it takes.
        (".{1,2}", ["😀", "a😀", "é"], ["", "abc", "😀😀😀"]),
    ],
)
def test_whole_text_is_matched(pattern: str, valid: list[str], invalid: list[str]) -> None:
    check(pattern, valid, invalid)


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        ("", [""], ["a"]),
        ("^yes$|^no", ["yes", "no"], ["yesno", "not"]),
        ("(?:^a|b)c$", ["ac", "bc"], ["abc"]),
        ("(?:a|^b|c$)*", ["", "aa", "ba", "ac", "bac"], ["ab", "ca"]),
        ("(^a|b)(c$|d)", ["ac", "bd"], ["abcd"]),
        ("a?^b", ["b"], ["ab"]),
        ("b$a?", ["b"], ["ba"]),
        ("(?:a$)?b|c", ["b", "c"], ["ab"]),
        ("(?:(?:^|,)x)+", ["x", "x,x", ",x,x"], ["xx", "x,"]),
        (r"\bcat\b(?: \w+)?", ["cat", "cat nap"], ["cats", ""]),
        (r"(?=.*\d)(?=.*[a-z])[a-z\d]{4,40}", ["a123", "abc4"], ["abcd", "1234", "a1", "a1" * 21]),
        ("(?!admin|root$)[a-z]{1,9}", ["adam", "rooty"], ["admin", "admins", "root"]),
        ("(?<!a)b|(?<=x)c", ["b"], ["c", "ab", "xc"]),
        ("[a-z]{2,}(?<!ing)", ["sang", "in"], ["sing", "ing"]),
        ("a{0000000000000000000002}", ["aa"], ["a", "aaa"]),
        ("(?:a{2}){2}|(?:ab?){0,2}", ["aaaa", "", "aab", "abab"], ["aaa", "ababa"]),
        ("(?:a*)*b", ["b", "aab"], ["a", "bb"]),
        (r"\p{Lu}\p{Ll}+\P{L}", ["Émile!"], ["émile!", "Émilee"]),
        ("[\\s\\S]", ["\n", "a", "\U0010ffff"], [""]),
        (".", ["\v", "\x85"], ["\n", "\r", "\u2028"]),
        (r"\d+\w", ["1_", "12a"], ["1é", "١a"]),
    ],
)
def test_construct_matches_whole_texts(pattern: str, valid: list[str], invalid: list[str]) -> None:
    check(pattern, valid, invalid)


@pytest.mark.parametrize(
    ("pattern", "valid", "invalid"),
    [
        ("(?P<year>[0-9]{2})-(?<month>1)", ["23-1"], ["23-"]),
        (r"\Aab\Z|\Acd\z", ["ab", "cd"], ["ab\n", "abcd"]),
        (r"\x{1F600}\U0001F600\u{1F600}\a", ["😀😀😀\a"], ["😀"]),
        ("a(?#the (first)b(?#last)+", ["ab", "abb"], ["a"]),
        ("(?i)straße", ["STRAẞE", "straße"], ["strasse"]),
        ("(?i)(?s)a.", ["A\n"], ["\n"]),
        ("(?is)a.", ["A\n"], ["b\n"]),
        ("a(?i:b)c", ["abc", "aBc"], ["Abc", "abC"]),
        ("(?i)a(?-i:b)c", ["AbC"], ["aBc"]),
        ("(?s:.)(?i:a(?-i:b)c).", ["\nAbC!"], ["\nABC!", "\nAbC\n"]),
        ("(?s-i:.(?i:a))(?:a)", ["\nAa"], ["\nAA"]),
        ("[[]{2}[{}]", ["[[{"], ["[{"]),
        ("{}{a}", ["{}{a}"], [""]),
    ],
)
def test_what_other_engines_write_is_read(pattern: str, valid: list[str], invalid: list[str]) -> None:
    check(pattern, valid, invalid)


@pytest.mark.parametrize(
    ("pattern", "flags", "valid", "invalid"),
    [
        ("kelvin", "i", ["KELVIN", "\u212aelvin"], ["kelvins"]),
        ("[a-c]", "i", ["B", "b"], ["d", "D"]),
        ("[^k]", "i", ["x"], ["k", "K", "\u212a"]),
        (r"[^\W]", "i", ["\u017f", "\u212a", "S"], ["é"]),
        (r"\W", "i", ["é"], ["\u017f", "\u212a"]),
        (r"\w", "", ["k"], ["\u017f", "\u212a"]),
        (r"\p{Lu}", "i", ["a", "A", "é"], ["1", "漢"]),
        (r"\P{Lu}", "i", ["a", "A", "1"], []),
        ("ῼ", "i", ["ῳ", "ῼ"], ["ωι"]),
        ("ı|İ", "i", ["ı", "İ"], ["i", "I"]),
        (r"\u212a", "i", ["k"], ["l"]),
        (r".*\bk\b.*", "i", ["k", "a k"], ["k\u017f", "\u017fk"]),
        (r".*\bk\b.*", "", ["k\u017f"], ["kk"]),
        ("^a$\n^b$", "m", ["a\nb"], ["ab"]),
        ("(?:^a$[\n\u2028]?)+", "m", ["a", "a\na", "a\u2028a\n"], ["aa"]),
        (r"\Aa$\n\Ab", "m", [], ["a\nb"]),
        ("^a$.b", "s", [], ["a\nb"]),
        ("a.b", "s", ["a\nb"], ["ab"]),
        ("^a$.^B", "ims", ["a\nb", "A\nB"], ["a b"]),
    ],
)
def test_flag_changes_what_is_matched(pattern: str, flags: str, valid: list[str], invalid: list[str]) -> None:
    if not valid:
        with pytest.raises(UnsatisfiableError):
            compile(Regex(pattern, flags))
        return
    check(pattern, valid, invalid, flags)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("ab|c", Either((Word("ab"), Word("c")))),
        ("[a-z]{1,100000}", Times(read("[a-z]"), 1, 100_000)),
        ("(?:ab|c){0,100000}", Times(read("ab|c"), 0, 100_000)),
        ("(a{1000}){1000}", Times(Times(Word("a"), 1000, 1000), 1000, 1000)),
        ("(a{1000}?){2,1000}?", Times(Times(Word("a"), 1000, 1000), 2, 1000)),
        ("x(?:yz)w", Word("xyzw")),
        ("x[ab]y", Row((Word("x"), read("a|b"), Word("y")))),
        ("a|b|c", read("[a-c]")),
        ("^(?:ab)$", Word("ab")),
        ("a{0}b{1}", Word("b")),
        ("a^b|c", Word("c")),
        ("c[a^b$]{0}", Word("c")),
        ("(?:a^b)?c", Word("c")),
    ],
)
def test_pattern_stays_small(pattern: str, found: Expression) -> None:
    assert read(pattern) == found


@pytest.mark.parametrize(
    "pattern", ["a^b", "a$b", "(?!)", r"[\ud800]", "(?=a)b", r"a\bb", "(?<=a)b", "x(?:a^b)+", r"a\Ab", "(?:$a|b^c)d"]
)
def test_pattern_of_no_text_is_nothing(pattern: str) -> None:
    assert read(pattern) == NOTHING
    with pytest.raises(UnsatisfiableError):
        compile(Regex(pattern))


def test_long_count_is_held_at_both_ends() -> None:
    automaton = compile(Regex("[ab]{2,100000}"))
    assert automaton.accepts(b"a" * 100_000)
    assert not automaton.accepts(b"a" * 100_001)
    assert not automaton.accepts(b"a")


@pytest.mark.parametrize(
    ("pattern", "flags", "same"),
    [
        (r"\b[a-z]{1,100000}\b", "", "[a-z]{1,100000}"),
        (r"(?:\bab\b ){0,100000}", "", "(?:ab ){0,100000}"),
        (r"(?:\b[a-z]+\b[ .])+\B", "i", "(?i)(?:[a-z]+[ .])+"),
        (r"(?:^[^\n]{1,1000}$\n){0,100000}", "m", r"(?:[^\n]{1,1000}\n){0,100000}"),
        (r"(?:\Ba\B|b\B)\Bc", "", "bc"),
        (r"x(?!\d)(?<=x)[a-z]{9999}(?=\.)\.(?!ab)", "", r"x[a-z]{9999}\."),
    ],
)
def test_assertion_that_its_neighbours_decide_leaves_counts_alone(pattern: str, flags: str, same: str) -> None:
    assert read(pattern, flags) == read(same)


def test_long_count_beside_a_look_ahead_stays_a_count() -> None:
    automaton = compile(Regex("(?!x)[a-z]{2,20000}|(?=y)[a-z]{30000}"))
    assert automaton.accepts(b"a" * 20_000)
    assert not automaton.accepts(b"a" * 20_001)
    assert automaton.accepts(b"y" * 30_000)
    assert not automaton.accepts(b"xa")


@pytest.mark.parametrize(
    ("pattern", "position", "words"),
    [
        (r"(a)b\1", 4, "back to a group"),
        (r"(?<x>a)\k<x>", 7, "back to a group"),
        (r"(?P<x>a)\k<x>", 8, "back to a group"),
        ("(?P<x>a)(?P=x)", 8, "back to a group"),
        ("ab*+", 3, "leave the second"),
        ("a?+", 2, "give back"),
        ("a{2}+b", 4, "give back"),
        ("a++", 2, "give back"),
        ("b(?>a)", 1, r"write \(\?:"),
        ("b(?R)", 1, "write a grammar"),
        ("(?R)", 0, "write a grammar"),
        ("a(?1)", 1, "write a grammar"),
        ("a(?+1)", 1, "write a grammar"),
        ("(?P<x>a)(?&x)", 8, "write a grammar"),
        ("(?P<x>a)(?P>x)", 8, "write a grammar"),
        ("(a)(?(1)b|c)", 3, "alternatives"),
        ("(" * 51 + ")" * 51, 50, "50 groups"),
        ("(" * 9_999, 50, "50 groups"),
    ],
)
def test_what_is_not_regular_is_refused_with_its_place(pattern: str, position: int, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words) as caught:
        Contract.of(Regex(pattern))
    error = caught.value
    assert (error.keyword, error.pointer, error.position) == ("regex", "", position)
    assert error.reason in str(error)


@pytest.mark.parametrize(
    ("pattern", "position", "words"),
    [
        ("a(b", 1, "never closed"),
        ("a)b", 1, "closes no group"),
        ("a[b", 1, "never closed"),
        ("[a" * 5_000, 0, "never closed"),
        ("a(?#b", 1, "comment is never closed"),
        ("*a", 0, "nothing to repeat"),
        ("a**", 2, "nothing to repeat"),
        ("a{3,2}", 1, "out of order"),
        ("[z-a]", 1, "out of order"),
        (r"\A+", 0, "assertion"),
        ("a\\", 1, "backslash"),
        (r"a\q", 1, "no escape"),
        (r"\K", 0, "no escape"),
        (r"\U0001F60", 0, "8 hexadecimal"),
        (r"\U00110000", 0, "no such code point"),
        (r"\x{110000}", 0, "no such code point"),
        (r"\p{Nope}", 0, "Unicode property"),
        (r"(a)\2", 3, "no group 2"),
        ("a(?i)b", 1, r"write \(\?i:\.\.\.\)"),
        ("(?i)a(?-i)", 5, "middle"),
        ("(?-i)a", 0, "start"),
        ("(?x)a b", 0, "'x'"),
        ("(?ii)a", 0, "twice"),
        ("b(?i-i:a)", 1, "once"),
        ("(?-:a)", 0, "once"),
        ("(?'x'a)", 0, "no such group"),
        ("(?|a)", 0, "no such group"),
        ("(?<1>a)", 0, "no such group"),
        ("a[]b]", 1, "for the bracket"),
        ("[^]]", 0, "for the bracket"),
        ("[a[:alpha:]]", 2, "Alphabetic"),
        (r"[\w&&\d]", 3, "write"),
        ("[a-z--b]", 4, "write"),
        (r"[\w--b]", 3, "write"),
        ("[a||b]", 2, "write"),
        ("[a~~b]", 2, "write"),
        ("a{,3}", 1, r"\{2,3\}"),
        ("a{1, 3}", 1, r"\{2,3\}"),
        ("a\ud800", 1, "lone surrogate"),
    ],
)
def test_malformed_pattern_is_refused_with_its_place(pattern: str, position: int, words: str) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        Contract.of(Regex(pattern))
    assert (caught.value.keyword, caught.value.position) == ("regex", position)


@pytest.mark.parametrize(("flags", "words"), [("g", "'g'"), ("x", "'x'"), ("iI", "'I'"), ("imi", "'i' is given twice")])
def test_unknown_or_repeated_flag_is_named(flags: str, words: str) -> None:
    with pytest.raises(NotationError, match=words) as caught:
        Contract.of(Regex("a", flags))
    assert caught.value.position is None


@pytest.mark.parametrize(
    ("verbose", "plain"),
    [
        (" a b # c (\n + ", "ab+"),
        (r"a\ b\#[ #]", r"a\x20b\x23[\x20\x23]"),
        ("a (?#note) {2} | \t c", "a{2}|c"),
        ("( ? : a )", None),
    ],
)
def test_verbose_terminal_is_read_without_its_space(verbose: str, plain: str | None) -> None:
    if plain is None:
        with pytest.raises(NotationError):
            pattern_expression(verbose, "x", Limits(), known_flags=LARK_FLAGS)
        return
    expected = read(plain)
    assert pattern_expression(verbose, "x", Limits(), known_flags=LARK_FLAGS) == expected
    assert pattern_expression(f"(?ux){verbose}", "", Limits(), known_flags=LARK_FLAGS) == expected


class TestPatternCharacters:
    def test_pattern_at_the_limit_is_read(self) -> None:
        limits = Limits(pattern_characters=5)
        assert pattern_expression("abcd", "", limits) == Word("abcd")
        assert pattern_expression("ééééé", "", limits) == Word("ééééé")

    def test_pattern_over_the_limit_is_refused_before_it_is_read(self) -> None:
        with pytest.raises(LimitExceededError) as caught:
            pattern_expression("((((((", "", Limits(pattern_characters=5))
        error = caught.value
        assert (error.limit_name, error.limit, error.found, error.keyword) == ("pattern_characters", 5, 6, "regex")

    def test_limit_holds_by_default(self) -> None:
        assert read("a" * 10_000) == Word("a" * 10_000)
        with pytest.raises(LimitExceededError, match="pattern_characters = 10000"):
            read("(" * 30_000)

    def test_each_pattern_has_its_own_count(self) -> None:
        limits = Limits(pattern_characters=3)
        assert [pattern_expression("abc", "", limits) for _ in range(2)] == [Word("abc")] * 2


def test_size_in_bytes_is_limited_too() -> None:
    with pytest.raises(LimitExceededError) as caught:
        pattern_expression("é", "", Limits(schema_bytes=1))
    assert caught.value.limit_name == "schema_bytes"


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a|b)*a(?:a|b){20}(?=$)$",
        "(?=(?:a|b)*a(?:a|b){12}$)[ab]{5,9999}",
        "(?m)" + "(?:^|a)" * 1_400,
        r"a?\b" * 2_500,
        "".join(f"(?=.*{chr(97 + index)}.{{11}}$)" for index in range(20)) + ".*",
        "|".join(f"(?=.*{chr(0x4E00 + index)}.{{9}}$)x*" for index in range(20)),
        "((a?){9999}){9999}(?=a+b)a",
        "".join(f"[{chr(97 + index % 30)}-{chr(0x4E00 + index)}]" for index in range(1_990)) + r"\b",
    ],
)
def test_look_arounds_that_take_too_much_are_refused(pattern: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        read(pattern)
    assert (caught.value.limit_name, caught.value.keyword) == ("pattern_states", "regex")


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [
        ("(?:" * 50 + r"\p{L}" * 1_880 + "|x)" * 50, ""),
        ("(?:" * 50 + "a" * 9_500 + "|b)*" * 50, "i"),
        ("".join(f"[{chr(97 + index % 30)}-{chr(0x4E00 + index)}]" for index in range(2_000)), "i"),
        ("[" + r"\p{L}\P{Lu}" * 900 + "]", "i"),
        ("{" * 10_000, ""),
        ("|" * 10_000, ""),
        ("(?i:a)" * 1_600, ""),
        ("(?:^a|b)" * 1_200, ""),
        ("(?m)" + "^a$" * 3_000, ""),
        ("(?s)" * 2_500, ""),
        ("(?#)" * 2_500, ""),
        ("(((a{9999}){9999}){9999}){9007199254740993}", ""),
    ],
)
def test_large_pattern_is_read(pattern: str, flags: str) -> None:
    assert isinstance(read(pattern, flags), Word | Characters | Row | Either | Times)


def test_pattern_is_read_the_same_for_generation() -> None:
    automaton = compile(Regex("(?i)ab+|[^a]{2}"), dialect="generate")
    assert automaton.accepts(b"ABb")
    assert not automaton.accepts(b"xA")
