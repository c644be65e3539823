"""Languages of texts: automata with counts beside them, and the states that string bodies stand in."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.regex import pattern_language
from commitgate.automaton.spelling import Spelling, StringBody
from commitgate.automaton.strings import CharacterState, Length, NoneOf, none_left, none_of
from commitgate.automaton.terms import Arena
from commitgate.automaton.text_language import ANY_TEXT, TextLanguage, bounded, of_lengths, of_texts

LETTERS = "abx"
SMALL_TEXTS = ["".join(text) for length in range(6) for text in product(LETTERS, repeat=length)]
PATTERNS = ["^a*$", "^(?:aa)*$", "^(?:aab)*x?$", "b$", "^[ab]*x[ab]*$", "^a(?:bb)*(?:xxx)*$", "^a?b?x?$", "^", "ab|x"]
LANGUAGES = st.builds(
    lambda pattern, least, extra: meet(of(pattern), of_lengths(least, None if extra is None else least + extra)),
    st.sampled_from(PATTERNS),
    st.integers(0, 5),
    st.one_of(st.none(), st.integers(0, 4)),
)


def of(pattern: str) -> TextLanguage:
    language = pattern_language(pattern)
    assert language is not None
    return language


def meet(*languages: TextLanguage) -> TextLanguage | None:
    found: TextLanguage | None = ANY_TEXT
    for language in languages:
        found = None if found is None else found.meet(language)
    return found


def texts_of(language: TextLanguage | None) -> set[str]:
    return set() if language is None else {text for text in SMALL_TEXTS if language.contains(text)}


def after(state: CharacterState | None, text: str) -> CharacterState | None:
    for character in text:
        ranges = () if state is None else state.ranges()
        state = next((following for low, high, following in ranges if low <= ord(character) <= high), None)
    return state


@given(first=LANGUAGES, second=LANGUAGES)
def test_meeting_and_taking_away_follow_membership(first: TextLanguage | None, second: TextLanguage | None) -> None:
    if first is None or second is None:
        return
    mine, theirs = texts_of(first), texts_of(second)
    assert texts_of(first.meet(second)) == mine & theirs
    left = [texts_of(part) for part in first.without(second)]
    assert set[str]().union(*left) == mine - theirs
    assert sum(len(part) for part in left) == len(mine - theirs)
    others = [texts_of(part) for part in first.complement()]
    assert set[str]().union(*others) == set(SMALL_TEXTS) - mine
    assert sum(len(part) for part in others) == len(SMALL_TEXTS) - len(mine)


@pytest.mark.parametrize(
    ("pattern", "least", "most", "is_empty"),
    [
        ("^(?:aa)*$", 5, 5, True),
        ("^(?:aa)*$", 5, 6, False),
        ("^(?:aaaaa)*(?:aaaaaaa)*$", 23, 23, True),
        ("^(?:aaaaa)*(?:aaaaaaa)*$", 24, 24, False),
        ("^(?:aaa)*$", 100_000, 100_001, True),
        ("^(?:aaa)*$", 99_998, 99_999, False),
        ("^a{3}$", 4, None, True),
        ("^a+$", 0, 0, True),
    ],
)
def test_emptiness_under_a_count_is_exact(pattern: str, least: int, most: int | None, is_empty: bool) -> None:
    assert (meet(of(pattern), of_lengths(least, most)) is None) == is_empty


def test_large_counts_stay_out_of_the_automaton() -> None:
    language = of("^[a-z]{1,65535}$")
    assert (len(language.dfa), language.least, language.most) == (1, 1, 65_535)
    assert (of("^a[^\n]{0,5000}$").most, of("^.{1,100000}$").most) == (5_001, 100_000)


def test_bounds_that_change_nothing_are_dropped() -> None:
    assert meet(of("^a{2,3}$"), of_lengths(1, 7)) == of("^a{2,3}$")
    assert meet(of("^a{2,9}$"), of_lengths(3, 4)) == of("^a{3,4}$")
    assert bounded(of("^a+$").dfa, 1) == TextLanguage(of("^a+$").dfa)


@given(language=LANGUAGES)
def test_every_state_is_live_and_tells_the_same_texts(language: TextLanguage | None) -> None:
    if language is None:
        return
    known = texts_of(language)
    for text in SMALL_TEXTS[:121]:
        state = after(language.state(), text)
        assert (state is not None and state.nullable) == (text in known)
        assert state is None or state.size(1) == 1


@settings(max_examples=200)
@given(
    pattern=st.sampled_from(PATTERNS),
    least=st.one_of(st.integers(0, 3), st.integers(0, 40)),
    extra=st.one_of(st.none(), st.integers(0, 4), st.integers(0, 40)),
    reach=st.integers(0, 3),
)
def test_saturated_state_agrees_as_far_as_it_must(pattern: str, least: int, extra: int | None, reach: int) -> None:
    language = meet(of(pattern), of_lengths(least, None if extra is None else least + extra))
    if language is None:
        return
    state = language.state()
    for text in ("".join(letters) for length in range(reach + 1) for letters in product(LETTERS, repeat=length)):
        exact, shared = after(state, text), after(state.saturated(reach), text)
        assert (exact is None) == (shared is None)
        assert exact is None or shared is None or exact.nullable == shared.nullable


def test_bounds_within_reach_are_kept() -> None:
    short = meet(of("^(?:aab)*$"), of_lengths(0, 2))
    assert short is not None
    assert short.state().saturated(2) == short.state()
    narrow = meet(of("^(?:aab)*$"), of_lengths(2, 4))
    assert narrow is not None
    assert after(narrow.state().saturated(1), "b") is None
    assert after(narrow.state().saturated(4), "aaba") is None


def test_exact_length_is_kept_where_it_decides_what_follows() -> None:
    exact = meet(of("^(?:aa)*$|^b(?:aa)*$"), of_lengths(40, 40))
    assert exact is not None
    assert after(exact.state(), "b") is None
    assert after(exact.state().saturated(3), "b") is None
    assert after(exact.state().saturated(3), "aaa") is not None


def test_count_that_keeps_a_character_out_is_not_shared() -> None:
    short = meet(of("^(?:aab)*$"), of_lengths(0, 2))
    assert short is not None
    assert short.state().uncounted() is None
    body = StringBody.make(Arena(), short.state(), Spelling(False))
    assert body.walk(b"a") is body.arena.empty
    assert body.walk(b'"').nullable


def test_lengths_repeat_with_their_period() -> None:
    assert of("^(?:aaaaa)*$").dfa.lengths.period() == (0, 5)
    assert of("^a{3}(?:aa)*$").dfa.lengths.period()[1] == 2


def test_states_with_far_counts_are_shared() -> None:
    state = of("^[a-z]{1,65535}$").state()
    early, late = after(state, "a" * 100), after(state, "a" * 200)
    assert early is not None
    assert late is not None
    assert early.saturated(32) == late.saturated(32)
    exact = meet(of("^(?:ab)*$"), of_lengths(2_000, 2_000))
    assert exact is not None
    first, second = after(exact.state(), "ab" * 10), after(exact.state(), "ab" * 20)
    assert first is not None
    assert second is not None
    assert first != second
    assert first.saturated(32) == second.saturated(32)


def test_text_after_a_settled_pattern_is_any_text() -> None:
    assert after(of("^ab").state(), "ab") == Length(0, None)
    assert of_lengths(2, 5).state() == Length(2, 5)


def test_tails_of_different_patterns_are_one_state() -> None:
    assert after(of("^ab[a-z]*$").state(), "ab") == after(of("^(?:c|d)[a-z]*$").state(), "c")


@given(language=LANGUAGES)
def test_count_is_the_number_of_texts(language: TextLanguage | None) -> None:
    short = None if language is None else meet(language, of("^[abx]*$"), of_lengths(0, 5))
    assert (0 if short is None else short.count(1_000)) == len(texts_of(language))


@pytest.mark.parametrize(
    ("pattern", "limit", "count"),
    [("^a{1,65535}$", 100_000, 65_535), ("^a{9,65535}$", 50, 50), ("^[^]$", 2_000_000, 1_112_064), ("^a*$", 7, 7)],
)
def test_count_reaches_far(pattern: str, limit: int, count: int) -> None:
    assert of(pattern).count(limit) == count


@given(table=st.lists(st.sampled_from(SMALL_TEXTS[:60]), min_size=1, max_size=8, unique=True), language=LANGUAGES)
def test_excluded_texts_are_taken_from_any_language(table: list[str], language: TextLanguage | None) -> None:
    if language is None:
        return
    narrow = meet(language, of("^[abx]*$"))
    state = None if narrow is None else none_left(tuple(sorted(table)), narrow.state())
    left = texts_of(narrow) - set(table)
    for text in SMALL_TEXTS[:121]:
        standing = after(state, text)
        assert (standing is not None and standing.nullable) == (text in left)
        assert standing is None or standing.size(1) == 1


def test_language_without_another_text_is_refused() -> None:
    language = of_texts(["a", "ab", "b"])
    assert language is not None
    assert none_left(("a", "ab", "b", "c"), language.state()) is None
    state = none_left(("a", "ab"), language.state())
    assert state is not None
    assert [chr(low) for low, _, _ in state.ranges()] == ["b"]


def test_excluded_texts_keep_a_bound_that_may_matter() -> None:
    base = meet(of("^a*$"), of_lengths(0, 100))
    assert base is not None
    state = none_of(tuple("a" * length for length in range(1, 101)), base.state())
    assert state.ranges() == ()
    assert after(state.saturated(10), "a") is None
    assert isinstance(none_of(("a",), Length(0, 500)).saturated(10), NoneOf)
    assert none_of(("a",), Length(0, 500)).saturated(10) == none_of(("a",), Length(0, None))


def test_lone_surrogate_is_no_text() -> None:
    assert of_texts(["\ud800"]) is None
    assert of_texts(["\ud800", "a"]) == of_texts(["a"])


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"^\p{L}+$", "straße😀"), (r"^[^\u{1F600}]*$", "é😀"), ("^é\n$", "é\n")]
)
def test_spelled_language_reads_escapes(pattern: str, text: str) -> None:
    body = StringBody.make(Arena(), of(pattern).state(), Spelling(False))
    for spelled in (json.dumps(text, ensure_ascii=False), json.dumps(text)):
        assert body.walk(spelled[1:].encode()).nullable == of(pattern).contains(text)


@given(language=LANGUAGES, text=st.sampled_from(SMALL_TEXTS[:121]), is_canonical=st.booleans())
def test_spelled_language_holds_the_same_texts(language: TextLanguage | None, text: str, is_canonical: bool) -> None:
    if language is not None:
        body = StringBody.make(Arena(), language.state(), Spelling(is_canonical))
        assert body.walk(f'{text}"'.encode()).nullable == language.contains(text)
        assert (body.walk(text.encode()) is body.arena.empty) == (after(language.state(), text) is None)


@pytest.mark.parametrize("pattern", [r"^[\p{L} ]{1,500}$", "^a[^/]{0,5000}$", "^(?:é{0,900})$"])
def test_states_that_differ_in_counts_alone_share_their_byte_classes(pattern: str) -> None:
    body = StringBody.make(Arena(), of(pattern).state(), Spelling(False))
    terms = [body.walk(("a" + "é" * length).encode()) for length in range(3, 90, 10)]
    if pattern.startswith("^(?"):
        terms = [body.walk(("é" * length).encode()) for length in range(3, 90, 10)]
    assert len({id(term) for term in terms}) == len(terms)
    assert len({id(term.partition) for term in terms}) == 1


def test_descriptions_are_words() -> None:
    assert of("^[a-z]$").describe() == "text that matches '^[a-z]$'"
    assert of("^[a-z]$").state().describe() == "a character of a-z"
    assert of("^[^/]+$").state().describe() == "string characters but /"
    assert of_lengths(1, 3).describe() == "any text, at least 1 and at most 3 characters long"
