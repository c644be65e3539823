"""Patterns of ECMA-262: what they match, what is refused, and that hostile ones end soon."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.regex import PatternError, PatternUnsupported, pattern_language

LETTERS = "ab1 _\n-"
CHARACTERS = st.sampled_from(
    ["a", "b", "1", "_", "-", ".", "[ab]", "[^a]", "[a-b1]", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "[^]"]
)
ASSERTIONS = st.sampled_from(["^", "$", r"\b", r"\B"])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,2}", "{0}", "*?", "+?", "??", "{1,2}?"])


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = inner.map(lambda text: f"(?:{text})")
    look = st.builds(lambda kind, text: f"({kind}{text})", st.sampled_from(["?=", "?!", "?<=", "?<!"]), inner)
    choice = st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda text: f"({text})")
    quantified = st.builds(lambda item, quantifier: item + quantifier, st.one_of(group, choice), QUANTIFIERS)
    row = st.lists(inner, min_size=2, max_size=4).map(lambda items: "".join(f"(?:{item})" for item in items))
    return st.one_of(group, look, choice, quantified, row)


PATTERNS = st.recursive(
    st.one_of(CHARACTERS, ASSERTIONS, st.builds(lambda item, times: item + times, CHARACTERS, QUANTIFIERS)),
    compound,
    max_leaves=8,
)


def matches(pattern: str, text: str) -> bool:
    language = pattern_language(pattern)
    return language is not None and language.contains(text)


def oracle(pattern: str) -> regex.Pattern[str]:
    """Return the same pattern for an engine that backtracks: a true end anchor, and the dot of ECMA-262."""
    adapted = pattern.replace("[^]", r"[\s\S]").replace("$", r"\Z").replace(".", r"[^\n\r\u2028\u2029]")
    return regex.compile(adapted, regex.ASCII)


@settings(max_examples=400, deadline=None)
@given(pattern=PATTERNS, texts=st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=15))
def test_language_is_what_a_backtracking_engine_matches(pattern: str, texts: list[str]) -> None:
    language = pattern_language(pattern)
    expected = oracle(pattern)
    for text in texts:
        assert (language is not None and language.contains(text)) == (expected.search(text) is not None), text


@pytest.mark.parametrize(
    ("pattern", "matching", "failing"),
    [
        ("a", ["a", "bab"], ["", "b"]),
        ("", ["", "x"], []),
        ("^$", [""], ["x", "\n"]),
        ("^a$|b", ["a", "xbx"], ["aa"]),
        ("^.$", ["a", "\v", "😀", "\x85"], ["\n", "\r", "\u2028", "\u2029", "ab"]),
        ("^[^]$", ["\n", "a"], ["", "ab"]),
        ("[]", [], ["", "a"]),
        (r"^\d$", ["7"], ["٣", "a"]),
        (r"^\w$", ["a", "_", "0"], ["é", "-"]),
        (r"^\W$", ["é"], ["a"]),
        (r"^\s$", ["\ufeff", "\u00a0", "\u2029", "\u3000", "\t", "\v"], ["\u200b", "\u180e", "\x85"]),
        (r"^\S$", ["\u200b"], ["\ufeff"]),
        (r"^[\s\d-]$", ["-", "4", " "], ["a"]),
        (r"^\cA\x41\u0042\u{1f600}\0$", ["\x01AB😀\0"], ["\x01AB😀0"]),
        (r"^\ud83d\ude00$", ["😀"], [""]),
        (r"^[\ud83d\ude00]$", ["😀"], []),
        (r"^\t\n\v\f\r[\b]$", ["\t\n\v\f\r\x08"], []),
        ("^🐲*$", ["", "🐲🐲"], ["🐉"]),
        (r"^\p{L}+$", ["aé漢"], ["1", ""]),
        (r"^\P{Letter}$", ["1"], ["a"]),
        (r"^\p{gc=Nd}\p{General_Category=Decimal_Number}$", ["1٣"], ["ab"]),
        (r"^[\p{Lu}\p{Zs}]$", ["A", "\u00a0"], ["a"]),
        (r"^\p{ASCII}\p{Any}\P{Assigned}$", ["a😀\u0378"], ["é😀\u0378"]),
        ("^(?<year>[0-9]{4})-(?:0|1)$", ["2023-0"], ["23-0"]),
        ("^a{2}b{2,}c{1,2}$", ["aabbc", "aabbbbcc"], ["abbc", "aabcc", "aabbccc"]),
        ("^a*?b+?c??$", ["b", "aabbc"], ["ac"]),
        (".{3,9}", ["abc", "a" * 20, "\nabcd"], ["ab", "ab\ncd"]),
        ("^(?=.*[0-9])(?=.*[a-z])[a-z0-9]{3,20}$", ["a1b", "11a"], ["abc", "123", "a1", "a1_"]),
        ("^(?!admin$)[a-z]+$", ["adminx", "admi"], ["admin"]),
        ("^(?!.{3,300}$)[a-z]*$", ["ab", "a" * 301], ["abc", "a" * 300]),
        ("^(?:(?!ab).)*$", ["ba", "", "aa"], ["ab", "xabx"]),
        ("(?<=^a)b|(?<!c)d", ["ab", "d", "ad"], ["b", "cd", "cab"]),
        ("(?<=a(?=b).)c", ["abc"], ["aac", "c"]),
        ("(?<!(?<=a)b)c", ["c", "bc"], ["abc"]),
        ("a(?=b(?<=ab))", ["ab"], ["b", "aa"]),
        ("^ab[a-z]{20,30}$", ["ab" + "c" * 20, "ab" + "c" * 30], ["ab" + "c" * 18, "ab" + "c" * 31]),
        (r"\bcat\b", ["cat", "a cat."], ["cats", "_cat"]),
        (r"\Bcat", ["scat"], ["cat"]),
        (r"^(?:\b|-)$", ["-"], ["", "a"]),
        ("(?=a)*b", ["b"], ["a"]),
        ("(?:^|,)x", ["x", "a,x"], ["ax"]),
        ("a$b", [], ["ab"]),
    ],
)
def test_construct_matches_what_ecma_says(pattern: str, matching: list[str], failing: list[str]) -> None:
    assert [text for text in matching if not matches(pattern, text)] == []
    assert [text for text in failing if matches(pattern, text)] == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^\-\_\"\'\@\:\/\ \#\%\,\<$", "-_\"'@:/ #%,<"),
        ("^]}{$", "]}{"),
        ("^{a}$", "{a}"),
        ("^a{,3}$", "a{,3}"),
        (r"^[\w-.]+$", "a-."),
        (r"^[\d-a]+$", "1-a"),
        ("^[a-]+[-a]+$", "a--a"),
        (r"^[\[\]\^\-&&(){}]+$", "[]^-&(){}"),
        ("^[[]$", "["),
    ],
)
def test_needless_escapes_and_lone_brackets_are_taken_literally(pattern: str, text: str) -> None:
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "position", "words"),
    [
        ("a(b", 1, "never closed"),
        ("a)b", 1, "closes no group"),
        ("[a", 0, "never closed"),
        ("*a", 0, "nothing to repeat"),
        ("a**", 2, "nothing to repeat"),
        ("a{2}{3}", 4, "nothing to repeat"),
        ("a{3,2}", 1, "out of order"),
        ("[z-a]", 1, "out of order"),
        ("^*", 0, "assertion"),
        (r"\b+", 0, "assertion"),
        ("b(?<=a)*", 1, "assertion"),
        ("a\\", 1, "backslash"),
        (r"a\Z", 1, "write \\$"),
        (r"\Aa", 0, "write \\^"),
        (r"\a", 0, "ECMA-262 has no"),
        (r"\x4g", 0, "hexadecimal"),
        (r"\u12", 0, "hexadecimal"),
        (r"\u{110000}", 0, "code point"),
        (r"\c1", 0, "letter"),
        (r"(a)\2", 3, "no group 2"),
        (r"\k<a>", 0, "names no group"),
        (r"\p{Nope}", 0, "Unicode property"),
        (r"\pL", 0, "write"),
        ("(?i)abc", 0, "flags"),
        ("(?P<a>b)", 0, "named groups"),
        ("(?>a)", 0, "no such group"),
        ("a++", 2, "nothing to repeat"),
    ],
)
def test_malformed_pattern_is_refused_with_its_place(pattern: str, position: int, words: str) -> None:
    with pytest.raises(PatternError, match=words) as caught:
        pattern_language(pattern)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("pattern", "position"), [(r"(a)\1", 3), (r"(?<x>a)\k<x>", 7), ("b(?i:a)", 1), ("(" * 60 + "a" + ")" * 60, 50)]
)
def test_pattern_beyond_automata_is_named_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(PatternUnsupported) as caught:
        pattern_language(pattern)
    assert caught.value.position == position


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a|b)*a(?:a|b){20}$",
        "(?:a?b?){999999999}",
        "((a{9999}){9999}){9999}",
        "^" + "a?" * 5_000 + "$",
        "x[a-z]{0,200000}y",
    ],
)
def test_pattern_with_too_large_an_automaton_is_refused(pattern: str) -> None:
    with pytest.raises(TooManyStates):
        pattern_language(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:" * 49 + "a" + "+)" * 49,
        "(?=a" * 49 + ")" * 49,
        "(?<!a" * 49 + ")" * 49,
        "|".join(f"word{number}" for number in range(1_500)),
        "(?:a{0}){999999999}",
        "(((a?b?){9}){9}){9}$",
        "a?" * 200 + "a{200}$",
        "(?:" * 40 + "(?!a*b).)*" + ")*" * 39,
    ],
)
def test_large_pattern_is_built(pattern: str) -> None:
    assert pattern_language(pattern) is not None


@pytest.mark.parametrize("pattern", ["[]", "a^b", "(?!)", "^(?=a)b", "^(?=.{5}$).{3}$", r"[\ud800]"])
def test_pattern_that_matches_nothing_is_no_language(pattern: str) -> None:
    assert pattern_language(pattern) is None
